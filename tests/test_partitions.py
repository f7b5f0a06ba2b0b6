"""experiments/analysis/partitions.py: inflection of 2022 over all test lines, by what is seen in training."""
import pytest

from tests.analysis import run_script, script
from tests.table_output import tsv_rows
from tests.test_tables import add_ensemble, add_run

TRAIN = "walk\twalked\tV;PST\nwalk\twalks\tV;PRS\nsing\tsang\tV;PST\n"
GOLD = {"ang": ["sing\tsings\tV;PRS", "walk\twalking\tV;PTCP", "jump\tjumped\tV;PST", "jump\tjumping\tV;PTCP"],
        "ara": ["jump\tjumped\tV;PST"]}
RIGHT = {"1": {"ang": [True, False, True, True], "ara": [False]},
         "2": {"ang": [False, True, True, False], "ara": [True]}}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two seeds on two languages and their vote, and an unfinished one."""
    monkeypatch.setattr(script("partitions"), "MEASURED", tmp_path / "partitions.tsv")
    data, results = tmp_path / "data", tmp_path / "results"
    data.mkdir()
    for language, lines in GOLD.items():
        (data / f"{language}_small.train").write_text(TRAIN)
        (data / f"{language}.gold").write_text("".join(f"{line}\n" for line in lines))
        for seed in (*RIGHT, "1+2", "3"):
            outputs = zip((line.split("\t") for line in lines), RIGHT.get(seed, RIGHT["1"])[language])
            predictions = "".join(f"{lemma}\t{form if right else 'x'}\t{tag}\n"
                                  for (lemma, form, tag), right in outputs)
            folder = results / "small" / "best" / language / seed
            if seed == "1+2":
                add_ensemble(folder, 50.0)
            else:
                add_run(folder, 50.0)
            (folder / "f.beam4.test.predictions").write_text(predictions)
            if seed == "3":
                (folder / "f.stats").unlink()
    return data, results


def test_lines_of_all_languages_are_counted_together(runs, capsys, tmp_path):
    data, results = runs
    assert run_script(capsys, "partitions", "measure", f"--data={data}", results).returncode == 0
    assert len((tmp_path / "partitions.tsv").read_text().splitlines()) == 1 + 3 * 2
    done = run_script(capsys, "partitions", "measure", f"--data={data}", results)  # the same runs again
    assert done.returncode == 0 and len((tmp_path / "partitions.tsv").read_text().splitlines()) == 1 + 3 * 2
    rows = [row for row in tsv_rows(run_script(capsys, "partitions", "--format=tsv").stdout) if row["system"] == "best"]
    assert [(row["models"], row["languages"], row["all"]) for row in rows] == [
        ("seed 1", "2 of 33", "60.00"), ("seed 2", "2 of 33", "60.00"), ("vote of 2", "2 of 33", "60.00")]
    assert [[row[name] for name in ("both seen", "features new", "lemma new", "both new")] for row in rows[:2]] == [
        ["100.00", "0.00", "50.00", "100.00"], ["0.00", "100.00", "100.00", "0.00"]]


def test_published_figures_stand_first(runs, capsys):
    first = tsv_rows(run_script(capsys, "partitions", "--format=tsv").stdout)[0]
    assert (first["system"], first["models"], first["all"]) == ("UBC", "–", "57.23")


def test_a_folder_without_finished_runs_is_refused(tmp_path, capsys):
    done = run_script(capsys, "partitions", "measure", f"--data={tmp_path}", tmp_path)
    assert done.returncode == 2 and "no finished runs" in done.stderr
