"""The files of a run, and the folders of a table's runs."""
from il_morph.run_folder import ResultsTree, RunFolder

OURS = ["f.model", "f.log", "f.stats", "f.greedy.dev.predictions", "f.greedy.test.eval", "f.beam4.test.predictions",
        "f.beam12.dev.eval", ".f.model.123.tmp", ".f.beam4.test.eval.x7_k.tmp", ".commit.9.tmp"]
NOT_OURS = ["notes.txt", "f.txt", "f.beam4", "f.beam4.test.predictions.old", "f.beamer.pdf", "f.model.bak", ".f.swp",
            ".f.txt.1.tmp", "lock", "train.log", "commit", "f.greedy.train.eval"]


def test_remains_of_a_run_are_what_a_training_writes_and_nothing_else(tmp_path):
    for name in OURS + NOT_OURS:
        (tmp_path / name).write_text("")
    (tmp_path / "f.beam2.dev.eval").mkdir()
    run = RunFolder(tmp_path)
    assert sorted(path.name for path in run.remains()) == sorted(OURS)
    assert {path.name for path in run.outcome()} == {name for name in OURS[2:] if not name.startswith(".")}


def test_folders_with_and_without_folds(tmp_path):
    tree = ResultsTree(tmp_path)
    assert tree.run("low", "ca-d", "welsh", "", "1").path == tmp_path / "low/ca-d/welsh/1"
    assert tree.run("0500", "ca-d", "rP-pA", "3", "1").path == tmp_path / "0500/ca-d/rP-pA/3/1"


def test_groups_are_folders_of_a_setting_model_and_language(tmp_path):
    for name in ("low/ca-d/welsh/1", "low/ca-d/irish", "high/ca-d/welsh", "slurm/a/b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "low/ca-d/file").write_text("")
    assert list(ResultsTree(tmp_path).groups(["low", "medium"])) == [
        ("low", "irish", tmp_path / "low/ca-d/irish"), ("low", "welsh", tmp_path / "low/ca-d/welsh")]
