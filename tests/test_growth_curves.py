"""experiments/analysis/curves.py: accuracy by the size of the training data."""
import json
from pathlib import Path

import pytest

from tests.analysis import run_script, script

LINES = [f"{letter}{number}\tpos=N\t{letter}{number}x\n" for letter in "abcd" for number in range(5)]


@pytest.fixture
def curves(tmp_path, monkeypatch, capsys):
    """Runs the script on a tiny language, with trainings that are made up."""
    trained = []
    for part in ("train", "dev", "test"):
        (tmp_path / f"tiny-task1-{part}").write_text("".join(LINES), encoding="utf-8")

    def finish(jobs, finished, slots):
        for (task,) in jobs:
            trained.append(task)
            task.folder.path.mkdir(parents=True, exist_ok=True)
            task.folder.commit.write_text("abc\n")
            task.folder.stats.write_text(json.dumps({
                "training": {"best_epoch": 0, "epochs": 2, "cpu_seconds": 90},
                "scores": {"beam4.test": {"accuracy": 10.0 * len(trained)}}}))
        return 0

    monkeypatch.setattr(script("curves"), "train_jobs", finish)

    def run(*flags):
        trained.clear()
        done = run_script(capsys, "curves", "run", f"--data={tmp_path}", f"--results={tmp_path / 'results'}",
                          f"--list={tmp_path / 'list.tsv'}", "--languages=tiny", *flags)
        return done, list(trained)

    return run


def test_lines_are_taken_at_even_distances_with_the_epochs_of_their_number(curves):
    done, (small, large) = curves("--lines=4,20")
    assert done.returncode == 0
    assert Path(small.spec.train).read_text(encoding="utf-8") == "".join(LINES[::5])
    assert Path(large.spec.train).read_text(encoding="utf-8") == "".join(LINES)
    assert small.spec.settings["epochs"] == 60 and small.spec.settings["patience"] == 15


def test_what_is_in_the_list_is_not_trained_again(curves, tmp_path):
    curves("--lines=4")
    before = (tmp_path / "list.tsv").read_text()
    assert curves("--lines=4")[1] == [] and (tmp_path / "list.tsv").read_text() == before
    assert [task.title for task in curves("--lines=4,5")[1]] == ["tiny 5 lines"]


def test_more_lines_than_there_are_are_refused(curves):
    done, trained = curves("--lines=21")
    assert (done.returncode, trained) == (2, [])
    assert "tiny has 20 lines: lower --lines=21" in done.stderr


def test_the_table_has_a_row_for_each_language_and_their_mean(curves, tmp_path, capsys):
    curves("--lines=4,20")
    shown = run_script(capsys, "curves", "--format=tsv", tmp_path / "list.tsv").stdout.splitlines()
    assert shown[0].split("\t") == ["language", "4 lines", "minutes", "20 lines", "minutes", "all", "minutes"]
    assert shown[1].split("\t") == ["tiny", "10.0", "1.5", "20.0", "1.5", "–", "–"]
    assert shown[2].split("\t") == ["mean", "10.0", "1.5", "20.0", "1.5", "–", "–"]
