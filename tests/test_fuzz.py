"""The fuzz targets for a minute each; a maintainer may leave them running for longer."""
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from tests import fuzz
from tests.cli import ROOT


@pytest.mark.slow
def test_a_minute_of_odd_things_leads_to_answers_and_clear_errors():
    """All targets at the same time, each in a process of its own."""
    processes = {target: subprocess.Popen([sys.executable, "-m", "tests.fuzz", target, "--minutes=1", "--seed=1"],
                                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for target in fuzz.TARGETS}
    for target, process in processes.items():
        said, errors = process.communicate()
        assert process.returncode == 0, errors
        attempts = re.match(rf"{target}: ([0-9,]+) attempts: ", said)[1]
        assert int(attempts.replace(",", "")) > 20


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
