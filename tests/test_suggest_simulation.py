"""experiments/analysis/suggest.py: lines chosen by `suggest` beside random ones."""
import json
import random

import pytest

from il_morph.data.formats import SIGMORPHON2017, read_samples
from il_morph.model.modelfile import save_model
from tests.analysis import run_script, script
from tests.random_models import random_model
from tests.table_output import tsv_rows

BUNDLES = ("V;PST", "V;PRS", "N;PL")


@pytest.fixture
def simulation(tmp_path, monkeypatch, capsys):
    """Runs the simulation in a tiny language, with models that are made up instead of trained."""
    chance, trained = random.Random(1), []
    words = [f"{''.join(chance.choices('abcd', k=4))}{number % 4}" for number in range(30)]
    lines = [f"{word}\t{word}x\t{chance.choice(BUNDLES)}\n" for word in words]
    for part, own in (("train-low", lines[:5]), ("train-medium", lines[:20]), ("dev", lines[20:]),
                      ("uncovered-test", lines[20:])):
        (tmp_path / f"tiny-{part}").write_text("".join(own), encoding="utf-8")

    def finish(jobs, finished, slots):
        for (task,) in jobs:
            trained.append(task.title)
            samples = read_samples(task.spec.train, SIGMORPHON2017, need_output=True)
            task.folder.path.mkdir(parents=True, exist_ok=True)
            save_model(task.folder.model, random_model(samples=samples))
            task.folder.commit.write_text("abc\n")
            task.folder.stats.write_text(json.dumps({
                "training": {"best_epoch": 0, "epochs": 2, "cpu_seconds": 30},
                "scores": {"beam4.test": {"accuracy": float(len(samples))}}}))
        return 0

    monkeypatch.setattr(script("suggest"), "train_jobs", finish)

    def run(*flags):
        trained.clear()
        done = run_script(capsys, "suggest", "run", f"--data={tmp_path}", f"--results={tmp_path / 'results'}",
                          f"--list={tmp_path / 'list.tsv'}", "--languages=tiny", "--seeds=1", "--add=5", *flags)
        return done, list(trained)

    return run


def lines_of(folder, arm: str, size: int) -> list:
    (path,) = folder.glob(f"results/*/tiny/1/{arm}/{size}.tsv")
    return read_samples(path, SIGMORPHON2017, need_output=True)


def test_both_arms_share_the_start_and_add_lines_of_the_pool(simulation, tmp_path):
    _, trained = simulation("--steps=2")
    assert sorted(trained) == ["tiny 1 random 10", "tiny 1 random 15", "tiny 1 start 5", "tiny 1 suggest 10",
                               "tiny 1 suggest 15"]
    start, pool = lines_of(tmp_path, "start", 5), read_samples(tmp_path / "tiny-train-medium", SIGMORPHON2017)
    for arm in ("suggest", "random"):
        some, more = lines_of(tmp_path, arm, 10), lines_of(tmp_path, arm, 15)
        assert some[:5] == start and more[:10] == some
        assert len({*more}) == 15 and {*more} <= {*pool}
    assert lines_of(tmp_path, "suggest", 15) != lines_of(tmp_path, "random", 15)


def test_what_is_in_the_list_is_not_trained_again(simulation, tmp_path):
    simulation("--steps=1")
    before = (tmp_path / "list.tsv").read_text()
    assert len(before.splitlines()) == 4
    assert simulation("--steps=1")[1] == []
    assert (tmp_path / "list.tsv").read_text() == before
    assert sorted(simulation("--steps=2")[1]) == ["tiny 1 random 15", "tiny 1 suggest 15"]
    assert len(simulation("--steps=1", "--epochs=3")[1]) == 3, "other settings are other trainings"


def test_a_folder_that_is_gone_is_made_again_when_a_later_step_needs_it(simulation, tmp_path):
    simulation("--steps=1")
    for path in tmp_path.glob("results/*/tiny/1/suggest/10/*"):
        path.unlink()
    assert sorted(simulation("--steps=2")[1]) == ["tiny 1 random 15", "tiny 1 suggest 10", "tiny 1 suggest 15"]


def test_the_pool_is_not_asked_for_more_than_it_has(simulation):
    done, trained = simulation("--steps=4")
    assert (done.returncode, trained) == (2, [])
    assert "tiny has 15 lines to choose from: lower --steps or --add" in done.stderr


def test_what_was_finished_is_listed_when_some_trainings_fail(simulation, tmp_path, monkeypatch):
    suggest = script("suggest")
    finish = suggest.train_jobs
    monkeypatch.setattr(suggest, "train_jobs", lambda jobs, *others: finish(jobs[:1], *others) or len(jobs) > 1)
    _, trained = simulation("--steps=2")
    assert trained == ["tiny 1 start 5", "tiny 1 suggest 10"]
    assert len((tmp_path / "list.tsv").read_text().splitlines()) == 3


def test_the_table_pairs_languages_and_seeds(tmp_path, capsys):
    suggest = script("suggest")
    tests = {("a", "1", "start", "100"): 40, ("a", "1", "random", "200"): 50, ("a", "1", "suggest", "200"): 53,
             ("b", "1", "start", "100"): 60, ("b", "1", "random", "200"): 70, ("b", "1", "suggest", "200"): 71,
             ("b", "2", "random", "200"): 72}
    how = ("ca-d", "native", "100", "200", "40", "10")
    measured = script("trainings").TrainingList(tmp_path / "list.tsv", suggest.KEYS)
    measured.add([dict(zip(measured.columns, (*how, *key, "1", "2", f"{test:.4f}", "0.5", "abc")))
                  for key, test in tests.items()])
    done = run_script(capsys, "suggest", tmp_path / "list.tsv", "--format=tsv")
    start, later = tsv_rows(done.stdout)
    assert (start["lines"], start["random"], start["suggest"], start["difference"]) == ("100", "50.0", "50.0", "–")
    assert (later["pairs"], later["random"], later["suggest"]) == ("2", "60.0", "62.0")
    assert (later["difference"], later["standard error"], later["p"]) == ("+2.00", "1.00", "0.500")
    by_language = run_script(capsys, "suggest", tmp_path / "list.tsv", "--by-language", "--format=markdown").stdout
    assert "| a | 40.0 | 50.0 | 53.0 |" in by_language


def test_a_list_that_is_none_is_refused(tmp_path, capsys):
    (tmp_path / "list.tsv").write_text("a\tb\n1\t2\n")
    for path, message in ((tmp_path / "list.tsv", "is no list of these trainings"),
                          (tmp_path / "none", "has no trainings")):
        done = run_script(capsys, "suggest", path)
        assert done.returncode == 2 and message in done.stderr
