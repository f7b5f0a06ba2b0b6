"""The fuzz targets for a minute each; a maintainer may leave them running for longer."""
import shutil
from collections import Counter

import pytest

from tests import fuzz


@pytest.mark.slow
@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_a_minute_of_odd_things_leads_to_answers_and_clear_errors(target):
    assert sum(fuzz.fuzz(target, 55, seed=1).values()) > 20


def test_the_first_failure_ends_it_and_its_files_are_kept(monkeypatch, capsys):
    def failing(folder):
        def attempt(chance):
            (folder / "in").write_text("odd")
            assert chance.random() < 0.5
            return "used"

        return attempt

    monkeypatch.setitem(fuzz.TARGETS, "data", failing)
    assert fuzz.run(["data", "--minutes=1", "--seed=3"]) == 1
    kept = capsys.readouterr().err.split("failed; see ")[-1].split()[0]
    with open(f"{kept}/in") as stream:
        assert stream.read() == "odd"
    shutil.rmtree(kept)


def test_the_same_seed_makes_the_same_attempts(monkeypatch):
    drawn = []
    monkeypatch.setitem(fuzz.TARGETS, "data", lambda folder: lambda chance: drawn.append(chance.random()) or "used")
    first = fuzz.fuzz("data", 0.02, seed=1)
    assert isinstance(first, Counter) and len(drawn) == first["used"] > 0
    once, drawn[:] = drawn[0], []
    fuzz.fuzz("data", 0.02, seed=1)
    assert drawn[0] == once


@pytest.mark.parametrize("arguments", [[], ["words"], ["data", "--hours=1"], ["data", "x"]])
def test_other_arguments_show_the_usage(arguments, capsys):
    assert fuzz.run(arguments) == 2
    assert "python -m tests.fuzz models|data|checkpoints|http" in capsys.readouterr().err
