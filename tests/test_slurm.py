"""bin/run_*.sh --slurm, against a real Slurm (tests/slurm/cluster.sh starts one)."""
import os
import re
import shutil
import subprocess

import pytest

from tests.tiny import LANGUAGES, LEARNING, environment, gold_path, journal, make_data, run_script, script, table_rows
from tests.waiting import wait_until

SELECTION = ["--models=ca-d", f"--languages={LANGUAGES['sigmorphon2016']}", "--slurm"]


def missing():
    """What keeps these tests from running."""
    if shutil.which("sbatch") is None:
        return "needs Slurm, and there is no sbatch"
    if subprocess.run(["sinfo"], capture_output=True).returncode:
        return "needs a running Slurm: tests/slurm/cluster.sh start DIR, SLURM_CONF=DIR/slurm.conf"
    return ""


pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]


def submit(folder, *options):
    """Submit and return the ids of the array and of the job after it."""
    done = run_script(folder, "sigmorphon2016", *SELECTION, *options, *LEARNING)
    assert done.returncode == 0, done.stderr
    told = r"job array (\d+): .*\njob (\d+): ensembles and table, to .*/table.txt\n"
    array, last = re.fullmatch(told, done.stdout).groups()
    return array, last, done.stdout


def job(number):
    done = subprocess.run(["scontrol", "show", "job", number], capture_output=True, text=True, check=True)
    return dict(word.split("=", 1) for word in done.stdout.split() if "=" in word)


def wait_for(*numbers):
    states = "PENDING,CONFIGURING,RUNNING,COMPLETING"
    queue = ["squeue", "--noheader", f"--states={states}", f"--jobs={','.join(numbers)}"]
    wait_until(lambda: not subprocess.run(queue, capture_output=True, text=True).stdout)


def runs_of(folder):
    finished = folder.glob("results/**/f.stats")
    return sorted(str(path.parent.relative_to(folder / "results/task1/ca-d")) for path in finished)


def test_a_table_on_slurm(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    array, last, told = submit(tmp_path, "--seeds=1,2,3", "--jobs=2", "--sbatch-options=--comment=hello --time=7")
    assert "4 tasks, 6 jobs" in told, "this Slurm takes arrays of four at most"
    held = job(last)
    assert (held["Comment"], held["TimeLimit"]) == ("hello", "00:07:00")
    assert held["Dependency"].startswith(f"afterany:{array}")
    assert job(array)["ArrayTaskThrottle"] == "2"
    wait_for(array, last)
    assert runs_of(tmp_path) == [f"{language}/{seed}" for language in ("german", "russian") for seed in "123"]
    assert job(last)["JobState"] == "COMPLETED"
    on_slurm = table_rows(tmp_path, "sigmorphon2016")
    assert on_slurm["CA-D", "runs"]["Avg"] == "6/50"
    assert "CA-D" in (tmp_path / "results" / "table.txt").read_text()

    os.rename(tmp_path / "results", tmp_path / "results-of-slurm")
    here = [option for option in SELECTION if option != "--slurm"]
    run_script(tmp_path, "sigmorphon2016", *here, "--seeds=1,2,3", *LEARNING)
    assert table_rows(tmp_path, "sigmorphon2016") == on_slurm


def test_submitting_again_continues(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    first, table, _ = submit(tmp_path, "--seeds=1,2")
    # The first jobs are still at it or waiting: nothing is trained twice.
    second, second_table, _ = submit(tmp_path, "--seeds=1,2,3")
    wait_for(first, table, second, second_table)
    assert len(runs_of(tmp_path)) == len(journal(tmp_path, "start")) == 6
    assert table_rows(tmp_path, "sigmorphon2016")["CA-D", "runs"]["Avg"] == "6/50"

    done = run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1,2,3", *LEARNING)
    assert "all of these runs are finished" in done.stderr and "CA-D" in done.stdout
    assert table_rows(tmp_path, "sigmorphon2016")["CA-D", "runs"]["Avg"] == "6/50"


def test_a_failing_job_on_slurm(tmp_path):
    data = make_data("sigmorphon2016", tmp_path / "data")
    gold_path("sigmorphon2016", data, "russian", part="train").write_text("only one column\n")
    array, last, _ = submit(tmp_path, "--seeds=1,2")
    wait_for(array, last)
    assert runs_of(tmp_path) == ["german/1", "german/2"]
    assert job(last)["JobState"] == "FAILED"
    told = (tmp_path / "results" / "slurm" / f"{last}-table.out").read_text()
    logs = re.findall("not finished, see (.*)", told)
    assert [os.path.relpath(log, tmp_path / "results") for log in logs] == [
        "task1/ca-d/russian/1/train.log", "task1/ca-d/russian/2/train.log"]
    assert "german" in told and table_rows(tmp_path, "sigmorphon2016")["CA-D", "runs"]["Avg"] == "2/50"


def test_sbatch_says_no(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    done = run_script(tmp_path, "sigmorphon2016", *SELECTION, "--sbatch-options=--partition=nowhere", *LEARNING)
    assert done.returncode != 0 and "partition" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("name", ["Übung ж", "tab\there\nnewline $(touch executed) ' \" \\ %j"])
def test_any_name_of_a_results_folder_in_the_c_locale(tmp_path, monkeypatch, name):
    monkeypatch.setenv("LC_ALL", "C")
    data, results = make_data("sigmorphon2016", tmp_path / "data"), tmp_path / name
    done = subprocess.run([script("sigmorphon2016"), "--data", data, "--results", results, "--models=ca-d",
                           "--languages=german", "--seeds=1,2", "--slurm", *LEARNING], env=environment(tmp_path),
                          cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    array, last = re.findall(rb"^job (?:array )?(\d+):", done.stdout, re.MULTILINE)
    wait_for(array.decode(), last.decode())
    assert job(last.decode())["JobState"] == "COMPLETED"
    assert sorted(path.parent.name for path in results.rglob("f.stats")) == ["1", "2"]
    for shown in (results / "table.txt", results / "slurm" / f"{last.decode()}-table.out"):
        assert "Votes beside published votes" in shown.read_text(encoding="utf-8")
    assert not list(tmp_path.rglob("executed"))
