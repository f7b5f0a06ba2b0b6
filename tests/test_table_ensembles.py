"""The votes of the seeds of a table."""
import os

import pytest

from il_morph.data.formats import SIGMORPHON2016
from il_morph.errors import InputError
from il_morph.reproduction.ensembles import finished_seeds, vote
from il_morph.results import RunFolder

GOLD = [("walk", "walked"), ("talk", "talked"), ("bake", "baked")]


def lines(outputs):
    return "".join(f"{word}\tpos=V\t{output}\n" for (word, _), output in zip(GOLD, outputs))


@pytest.fixture
def gold(tmp_path):
    (tmp_path / "gold").write_text(lines([form for _, form in GOLD]))
    return tmp_path / "gold"


def make_run(group, seed, outputs, finished=True):
    run = RunFolder(group / seed)
    run.path.mkdir(parents=True)
    run.predictions("beam4.test").write_text(lines(outputs))
    if finished:
        run.stats.write_text("{}")
    return run


def test_seeds_are_ordered_as_numbers_and_only_finished_ones_count(tmp_path):
    for seed, finished in (("10", True), ("2", True), ("3", False), ("1+2", True), ("old", True)):
        make_run(tmp_path, seed, ["a", "b", "c"], finished)
    RunFolder(tmp_path / "10").predictions("beam4.test").unlink()
    make_run(tmp_path, "7", ["a", "b", "c"])
    assert finished_seeds(tmp_path) == ["2", "7"]


def test_a_vote_is_written_with_its_scores(tmp_path, gold):
    make_run(tmp_path / "g", "1", ["walked", "x", "y"])
    make_run(tmp_path / "g", "2", ["walked", "talked", "z"])
    make_run(tmp_path / "g", "3", ["w", "talked", "baked"])
    vote(tmp_path / "g", ["1", "2", "3"], gold, SIGMORPHON2016)
    together = RunFolder(tmp_path / "g" / "1+2+3")
    assert together.predictions("beam4.test").read_text() == lines(["walked", "talked", "y"])
    assert together.evaluation("beam4.test").read_text().split()[:2] == ["accuracy", "66.6667"]
    assert not together.finished, "a vote is no run"


def test_a_vote_is_made_again_only_when_a_member_is_newer(tmp_path, gold):
    runs = [make_run(tmp_path / "g", seed, ["walked", "talked", "baked"]) for seed in "12"]
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    evaluation = RunFolder(tmp_path / "g" / "1+2").evaluation("beam4.test")
    written = evaluation.stat().st_mtime_ns
    os.utime(runs[0].predictions("beam4.test"), ns=(written - 10**9, written - 10**9))
    os.utime(runs[1].predictions("beam4.test"), ns=(written - 10**9, written - 10**9))
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    assert evaluation.stat().st_mtime_ns == written
    runs[1].predictions("beam4.test").write_text(lines(["x", "y", "z"]))
    os.utime(runs[1].predictions("beam4.test"), ns=(written + 10**9, written + 10**9))
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    assert evaluation.stat().st_mtime_ns > written


def test_a_member_that_is_trained_again_meanwhile_stops_nobody(tmp_path, gold):
    make_run(tmp_path / "g", "1", ["walked", "talked", "baked"])
    (tmp_path / "g" / "2").mkdir()
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    assert not (tmp_path / "g" / "1+2").exists()


def test_a_damaged_member_is_named(tmp_path, gold):
    make_run(tmp_path / "g", "1", ["walked", "talked", "baked"])
    make_run(tmp_path / "g", "2", ["walked"])
    with pytest.raises(InputError, match="has no counterpart in .*/g/2/f.beam4.test.predictions"):
        vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    assert not (tmp_path / "g" / "1+2").exists()
