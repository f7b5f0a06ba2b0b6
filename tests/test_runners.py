"""bin/run_*.sh: what they would do, real small tables from end to end, and everything that can come between."""
import io
import json
import os
import random
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest

from il_morph.commands import main
from il_morph.model.archive import archive_bytes
from il_morph.reproduction.paper_tables import load_table
from il_morph.runs.locks import FileLock
from tests.cli import error_of
from tests.tiny import (
    LANGUAGES,
    LEARNING,
    PROJECT,
    SMALL,
    environment,
    gold_path,
    journal,
    make_data,
    run_script,
    script,
    table_rows,
)
from tests.waiting import wait_until

TABLES = list(LANGUAGES)
SELECTION = ["--models=ca-d", f"--languages={LANGUAGES['sigmorphon2016']}"]
FOREIGN = archive_bytes({"format": "il-morph checkpoint", "version": 1000}, {})
ENDLESS = ["--", "--epochs=100000", "--patience=100000", "--input=8", "--enc-hidden=8", "--dec-hidden=8"]


def call(table, *options):
    """What the script does, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["run", table, *options])
    return subprocess.CompletedProcess(options, code, out.getvalue(), err.getvalue())


def call_script(table, *options):
    """The script with the il-morph beside this Python, and nothing kept of what it does."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return subprocess.run([script(table), *options], env={**os.environ, "PATH": path, "PYTHONPATH": str(PROJECT)},
                          capture_output=True, text=True)


def dry_run(table, *options):
    done = call(table, "--dry-run", "--data=/d", "--results=/r", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def refusal(table, *options):
    done = call(table, *options)
    assert done.returncode == 2
    return done.stderr


# What they would do


@pytest.mark.parametrize("table, models, runs", [
    ("sigmorphon2016", 7, 7 * 10 * 5), ("celex", 8, 8 * 4 * 5 * 5), ("lemmatization", 7, 7 * 4 * 10)])
def test_the_whole_table(table, models, runs):
    commands = dry_run(table)
    assert len(set(commands)) == len(commands) == runs
    assert len({re.search("--model=([^ ]+)", command)[1] for command in commands}) == models


def test_the_whole_table_of_2017():
    commands = dry_run("sigmorphon2017")
    settings = Counter(command.split("/r/")[-1].split("/")[0] for command in commands)
    # In the medium setting MRT starts from a CA of its own, which is not a row of the table; SGM17TOP are four models.
    assert settings == {"low": 12 * 52 * 5, "medium": 13 * 52 * 5}


@pytest.mark.parametrize("setting, ends", [("low", ["50 10", "60 30"]), ("medium", ["30 10", "60 20"])])
def test_a_system_that_is_a_vote_stands_for_those_that_vote(setting, ends):
    commands = dry_run("sigmorphon2017", "--models=sgm17top", "--languages=welsh", "--seeds=1,2",
                       f"--setting={setting}")
    folders = [command.split("/r/")[-1] for command in commands]
    models = ["hacm-crp", "hacm-dumb", "haem-crp", "haem-dumb"]
    assert sorted(folders) == sorted(f"{setting}/{model}/welsh/{seed}" for model in models for seed in "12")
    found = {(re.search("--model=([^ ]+)", each)[1], *re.search("--epochs=([0-9]+) --patience=([0-9]+)", each).groups())
             for each in commands}
    assert found == {("hacm", *ends[0].split()), ("haem-2017", *ends[1].split())}
    assert Counter(re.search("--align-([a-z]+)", command)[1] for command in commands) == {"smart": 4, "dumb": 4}


@pytest.mark.parametrize("table, options, command", [
    ("sigmorphon2016", ["--models=ca", "--languages=navajo", "--seeds=3"],
     "il-morph train --model=ca --epochs=30 --patience=5 --align-smart --dynet-seed=3 --test-path=/d/navajo-task1-test "
     "/d/navajo-task1-train /d/navajo-task1-dev /r/task1/ca/navajo/3"),
    ("sigmorphon2017", ["--models=ca-r", "--languages=welsh", "--seeds=1", "--setting=low"],
     "il-morph train --model=ca-r --sigm2017format --epochs=60 --patience=15 --dynet-seed=1 "
     "--test-path=/d/task1/welsh-uncovered-test /d/task1/welsh-train-low /d/task1/welsh-dev /r/low/ca-r/welsh/1"),
    ("sigmorphon2017", ["--models=ha", "--languages=welsh", "--seeds=1", "--setting=medium"],
     "il-morph train --model=ha --sigm2017format --epochs=50 --patience=10 --align-cls --dynet-seed=1 "
     "--test-path=/d/task1/welsh-uncovered-test /d/task1/welsh-train-medium /d/task1/welsh-dev /r/medium/ha/welsh/1"),
    ("celex", ["--models=ca-rm", "--tasks=rP-pA", "--folds=2", "--seeds=5"],
     "il-morph train --model=ca-rm --no-feat-format --epochs=50 --patience=10 --dynet-seed=5 "
     "--test-path=/d/rP-pA/0500/2/test /d/rP-pA/0500/2/train /d/rP-pA/0500/2/dev /r/0500/ca-rm/rP-pA/2/5"),
    ("lemmatization", ["--models=ha", "--languages=irish", "--folds=9"],
     "il-morph train --model=ha --no-feat-format --epochs=50 --patience=10 --align-cls --dynet-seed=1 "
     "--test-path=/d/irish_9_test.txt /d/irish_9_train.txt /d/irish_9_dev.txt /r/wicentowski/ha/irish/9/1"),
])
def test_exact_commands(table, options, command):
    assert dry_run(table, *options) == [command]


@pytest.mark.parametrize("setting, start, patience", [("low", "ca", "20"), ("medium", "ca-crp", "15")])
def test_risk_training_starts_from_a_trained_model(setting, start, patience):
    first, second = dry_run("sigmorphon2017", "--models=ca-mrt", "--languages=welsh", "--seeds=4", "--setting", setting)
    assert first.endswith(f" /r/{setting}/{start}/welsh/4") and "--model=ca " in first and "--reload" not in first
    assert second.endswith(f" /r/{setting}/ca-mrt/welsh/4") and "--model=ca-mrt " in second
    assert f" --reload-path=/r/{setting}/{start}/welsh/4/f.model " in second
    assert f" --patience={patience} " in second


@pytest.mark.parametrize("table, engine", [
    ("sigmorphon2016", "native"), ("celex", "dynet"), ("sigmorphon2017", "native")])
def test_an_engine_is_for_the_systems_that_it_trains(table, engine):
    """Those that have one engine only keep it."""
    commands = dry_run(table, f"--engine={engine}", "--seeds=1", "--languages", list(load_table(table).languages)[0])
    other, = {"dynet", "native"} - {engine}
    own = {**dict.fromkeys(("soft", "ha-2017", "hacm", "haem-2017"), "dynet"), **dict.fromkeys(("nwfst", "med", "lem"),
                                                                                             "native")}
    engines = {command: re.findall("--engine=([a-z]+)", command) for command in commands}
    assert [other] in engines.values()
    for command, given in engines.items():
        assert given == [own.get(re.findall("--model=([-a-z0-9]+)", command)[0], engine)]


def test_train_options_take_precedence():
    command, = dry_run("sigmorphon2016", "--models=ca-d", "--languages=german", "--seeds=1",
                       "--", "--epochs", "2", "--patience=1", "--il-k=6")
    assert command.count("--epochs") == command.count("--patience") == 1
    assert " --epochs=2 --patience=1 --il-k=6 " in command


@pytest.mark.parametrize("options", [["--align-cls"], ["--align-dumb", "--try-reverse"]])
def test_an_aligner_among_the_train_options_replaces_that_of_the_table(options):
    command, = dry_run("sigmorphon2016", "--models=ca", "--languages=german", "--seeds=1", "--", *options)
    assert "--align-smart" not in command and f" {' '.join(options)} " in command


def test_train_options_are_checked_before_anything_starts():
    selection = ["--models=ca-d", "--languages=german", "--seeds=1", "--"]
    assert "--epochs takes a whole number" in refusal("sigmorphon2016", *selection, "--epochs=many")
    assert "unknown flag --il-gamma" in refusal("sigmorphon2016", *selection, "--il-gamma=1")


def test_blanks_in_paths_are_quoted():
    done = call("sigmorphon2016", "--dry-run", "--data", "/my data", "--results=/r", "--models=ca-d",
                "--languages=german", "--seeds=1")
    assert done.stdout.endswith("'/my data/german-task1-train' '/my data/german-task1-dev' /r/task1/ca-d/german/1\n")
    assert shlex.split(done.stdout)[-3:] == [
        "/my data/german-task1-train", "/my data/german-task1-dev", "/r/task1/ca-d/german/1"]


def test_seed_1_of_everything_comes_first():
    commands = dry_run("sigmorphon2016", "--models=ca-d,ca-r", "--languages=german,navajo", "--seeds=1,2")
    assert [command.split("/r/task1/")[1] for command in commands] == [
        f"{model}/{language}/{seed}"
        for seed in "12" for model in ("ca-d", "ca-r") for language in ("german", "navajo")]


@pytest.mark.parametrize("table", TABLES)
def test_usage(table):
    done = call_script(table, "--help")
    assert done.returncode == 0 and done.stderr == ""
    for option in ("--data", "--results", "--models", "--languages", "--seeds", "--jobs", "--slurm", "--dry-run",
                   "--force"):
        assert re.search(rf"^  {option}[ =]", done.stdout, re.M)


@pytest.mark.parametrize("options, message", [
    (["--languages=german,klingon"], "--languages: no 'klingon' here; there is: russian german"),
    (["--models=ca-x"], "--models: no 'ca-x' here"),
    (["--setting=high"], "--setting: no 'high' here"),
    (["--folds=1"], "--folds: no '1' here"),
    (["--languages=*"], "--languages: no '*' here"),
    (["--languages=,"], "--languages: ',' names nothing; there is: russian"),
    (["--models", ""], "--models takes a value"),
    (["--seeds=one"], "--seeds takes whole numbers"),
    (["--seeds=,"], "--seeds takes whole numbers"),
    (["--jobs=0"], "--jobs takes a whole number from 1 up"),
    (["--jobs=00"], "--jobs takes a whole number from 1 up"),
    (["--jobs"], "--jobs takes a value"),
    (["--slurm=yes"], "--slurm takes no value"),
    (["--epochs=3"], "unknown option --epochs"),
    (["--sbatch-options=--mem=4G"], "--sbatch-options belongs to --slurm: leave it out"),
    (["--slurm", "--sbatch-options=--comment='x"], "--sbatch-options: No closing quotation in"),
])
def test_bad_options(options, message):
    assert message in refusal("sigmorphon2016", "--dry-run", *options)


@pytest.mark.parametrize("option, what_to_do", [
    ("--model=ca-r", "choose models with --models"),
    ("--dynet-seed=9", "choose seeds with --seeds"),
    ("--seeds=1-3", "choose seeds with --seeds"),
    ("--seed=1-3", "choose seeds with --seeds"),
    ("--jobs=2", "give --jobs before --"),
    ("--force", "give --force before --"),
    ("--test-path=x", "--data names the folder of the data"),
    ("--reload-path=x", "leave it out"),
    ("--sigm2017format", "leave it out"),
    ("--columns=input,output", "leave it out"),
])
def test_train_options_do_not_contradict_the_folder_of_a_run(option, what_to_do):
    """A model is found by the name of its folder: what that says, and what the runner sets, is not for all runs."""
    flag, _, value = option.partition("=")
    for words in ([option], [flag, value]) if value else ([option],):
        message = refusal("sigmorphon2016", "--dry-run", "--models=ca-d", "--", "--epochs=2", *words)
        assert f"{flag} after -- " in message and what_to_do in message


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_after_the_options_trains_nothing(flag):
    assert "`il-morph train --help` shows the flags" in refusal("celex", "--dry-run", "--", flag)


def test_a_mode_is_no_model():
    command, = dry_run("sigmorphon2016", "--models=ca-d", "--languages=german", "--seeds=1", "--", "--mode=mle")
    assert " --mode=mle " in command and " --model=ca-d " in command


def test_a_flag_that_another_begins_with_is_not_taken_for_it():
    """--input is not short for --input-separator, which a table does not take."""
    command, = dry_run("sigmorphon2016", "--models=ca-d", "--languages=german", "--seeds=1", "--", "--input=8")
    assert " --input=8 " in command
    assert "--input-s after -- contradicts" in refusal("sigmorphon2016", "--dry-run", "--", "--input-s=x")


def test_missing_data_is_named_before_anything_starts(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    gold_path("sigmorphon2016", tmp_path / "data", "german", part="dev").unlink()
    done = run_script(tmp_path, "sigmorphon2016", "--models=ca-d", "--languages=russian,german")
    assert done.returncode == 2
    assert f"cannot read {tmp_path}/data/german-task1-dev" in done.stderr and "bin/fetch_data.sh" in done.stderr
    assert not (tmp_path / "results").exists()


TOOLS = ["bash", "cat", "cksum", "dirname", "env", "git", "grep", "mkdir", "mv", "rm", "sh", "sleep"]


def bare_path(folder, il_morph=True):
    """A PATH with nothing but common tools: no Slurm."""
    tools = folder / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name))
    first = [environment(folder)["PATH"].split(os.pathsep)[0]] if il_morph else []
    return os.pathsep.join([*first, str(tools)])


def run_with_path(folder, path, table, *options):
    return subprocess.run([script(table), "--data", folder / "data", "--results", folder / "results", *options],
                          env={"PATH": path}, capture_output=True, text=True)


def environment_is_made():
    """Has bin/test.sh, or another script, installed what setup.py asks for now?"""
    check = 'source bin/environment.sh && environment_works && is_installed "" "$(installation_state)"'
    return subprocess.run(["bash", "-c", check], cwd=PROJECT, capture_output=True).returncode == 0


@pytest.mark.skipif(not environment_is_made(), reason="needs the environment that bin/test.sh makes")
def test_missing_data_costs_no_installation(tmp_path):
    done = run_with_path(tmp_path, bare_path(tmp_path, il_morph=False), "sigmorphon2016", "--languages=german")
    assert done.returncode == 2 and "cannot read" in done.stderr.splitlines()[0]


def test_slurm_is_missing(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    done = run_with_path(tmp_path, bare_path(tmp_path), "sigmorphon2016", "--slurm", "--languages=german")
    assert done.returncode == 2 and "--slurm needs sbatch" in done.stderr


def test_the_array_is_told_when_the_job_after_it_fails(tmp_path):
    """A Slurm that tells no limit, and takes arrays only."""
    make_data("sigmorphon2016", tmp_path / "data")
    path = bare_path(tmp_path)
    for name, body in (("scontrol", "exit 1"), ("sbatch", 'case $* in *--array=0-1000*) echo 42 ;; *) exit 3 ;; esac')):
        (tmp_path / "tools" / name).write_text(f"#!/usr/bin/env bash\n{body}\n")
        (tmp_path / "tools" / name).chmod(0o755)
    seeds = ",".join(map(str, range(1, 601)))
    done = run_with_path(tmp_path, path, "sigmorphon2016", "--slurm", *SELECTION, f"--seeds={seeds}")
    assert done.returncode == 3
    assert done.stdout == "job array 42: 1001 tasks, 1200 jobs\n"


def test_the_engine_is_passed_on():
    selection = ["--models=ca-d", "--languages=german", "--seeds=1"]
    command, = dry_run("sigmorphon2016", *selection, "--engine=native")
    assert " --engine=native " in command
    command, = dry_run("sigmorphon2016", *selection)
    assert "--engine" not in command
    command, = dry_run("sigmorphon2016", *selection, "--engine=native", "--", "--engine=dynet")
    assert command.count("--engine") == 1 and " --engine=dynet " in command
    assert "--engine takes one of dynet, native, not 'abacus'" in refusal("sigmorphon2016", "--engine=abacus")


def test_forced_runs_are_among_the_commands(tmp_path):
    for model in ("ca", "ca-mrt"):
        (tmp_path / "low" / model / "welsh" / "1").mkdir(parents=True)
        (tmp_path / "low" / model / "welsh" / "1" / "f.stats").write_text("{}")
    options = ["--setting=low", "--languages=welsh", "--seeds=1", f"--results={tmp_path}", "--dry-run"]
    assert call("sigmorphon2017", *options, "--models=ca-mrt").stdout == ""
    forced = call("sigmorphon2017", *options, "--models=ca-mrt", "--force").stdout.splitlines()
    assert [command.split("/low/")[-1] for command in forced] == ["ca-mrt/welsh/1"], "its start is finished"
    assert len(list(tmp_path.glob("**/f.stats"))) == 2, "a dry run removes nothing"


def test_help_lists_the_facts_of_the_table():
    text = call("sigmorphon2017", "--help").stdout
    for words in ("settings: low medium", "models: ha ca ha-mrt", "variants: ca-d-prefixes", " ca-r-uniform ",
                  "languages: albanian arabic", "seeds: 1 2 3 4 5", "SIGMORPHON 2017"):
        assert words in text
    assert "folds" not in text.split("SIGMORPHON 2017")[1], "this table has none"


def test_data_and_results_are_in_the_project_or_else_in_the_current_folder(tmp_path):
    options = ["--dry-run", "--models=ca-d", "--languages=german", "--seeds=1"]
    done = call_script("sigmorphon2016", *options)
    assert done.stdout.endswith(f" {PROJECT}/results/sigmorphon2016/task1/ca-d/german/1\n")
    done = subprocess.run([sys.executable, "-m", "il_morph", "run", "sigmorphon2016", *options, "--data=mine"],
                          cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PROJECT)}, capture_output=True, text=True)
    assert done.stdout.endswith(f" {tmp_path}/mine/german-task1-train {tmp_path}/mine/german-task1-dev "
                                f"{tmp_path}/results/sigmorphon2016/task1/ca-d/german/1\n")


def test_a_package_in_the_current_folder_is_not_taken_for_il_morph(tmp_path):
    data = make_data("sigmorphon2016", tmp_path / "data")
    (data / "il_morph").mkdir()
    (data / "il_morph" / "__init__.py").write_text("raise SystemExit('the wrong one')\n")
    code = "import sys; sys.path[0] = sys.argv.pop(1); from il_morph.commands import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, PROJECT, "run", "sigmorphon2016", "--data=.", "--results=r",
                           "--models=ca-d", "--languages=german", "--seeds=1", *SMALL], cwd=data, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert (data / "r/task1/ca-d/german/1/f.stats").exists()


# Slurm's commands as far as they concern the names of files; tests/test_slurm.py has the real ones

SBATCH = """#!/bin/sh
for argument; do case $argument in --wrap=*) script=${{argument#--wrap=}} ;; esac; done
cd {folder}
export SLURM_JOB_ID=7 SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=0
{shell} -c "$script" </dev/null >>{folder}/unexpected 2>&1
echo 7
"""
SHELLS = [words for words in ("sh", "dash", "bash --posix", "busybox sh") if shutil.which(words.split()[0])]
EVIL = "tab\there\nnewline $(touch executed) `touch executed` ; touch executed ' \" \\ %j ü ж"


def make_slurm(folder, shell):
    """An sbatch that runs the script there and then, with this shell; arrays have one task."""
    path = bare_path(folder)
    for name, content in (("sbatch", SBATCH.format(folder=folder, shell=shell)),
                          ("scontrol", "#!/bin/sh\necho 'MaxArraySize = 1'\n")):
        (folder / "tools" / name).write_text(content)
        (folder / "tools" / name).chmod(0o755)
    for word in shell.split()[:1]:
        if not (folder / "tools" / word).exists():
            (folder / "tools" / word).symlink_to(shutil.which(word))
    return path


def run_in(results, path, data, *options):
    return subprocess.run([script("sigmorphon2016"), "--data", data, "--results", results, "--models=ca-d",
                           "--languages=german", *options, *SMALL], env={"PATH": path, "LC_ALL": "C"}, cwd=data,
                          capture_output=True)


@pytest.mark.parametrize("shell", [None, "sh", *(pytest.param(shell, marks=pytest.mark.slow)
                                                for shell in SHELLS if shell != "sh")])
def test_names_of_folders_are_names_and_nothing_else(tmp_path, shell):
    """A results folder with all that means something to a shell or splits lines; a victim's folder is beside it."""
    data = make_data("sigmorphon2016", tmp_path / "data")
    results = tmp_path / "here" / EVIL
    results.mkdir(parents=True)
    victim = tmp_path / "here" / "tab"
    victim.mkdir()
    for name in ("f.model", "f.stats", "f.log"):
        (victim / name).write_text("precious")
    path, more = (make_slurm(tmp_path, shell), ["--slurm"]) if shell else (bare_path(tmp_path), [])
    done = run_in(results, path, data, "--seeds=1,2", *more)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.rglob("executed"))
    assert all((victim / name).read_text() == "precious" for name in ("f.model", "f.stats", "f.log"))
    found = sorted(str(path.relative_to(results)) for path in results.rglob("f.stats"))
    assert found == ["task1/ca-d/german/1/f.stats", "task1/ca-d/german/2/f.stats"]
    assert (results / "task1/ca-d/german/1+2/f.beam4.test.eval").exists()
    assert "CA-D" in (results / "table.txt").read_text()
    if shell:
        assert (tmp_path / "unexpected").read_bytes() == b"", "what the jobs say goes to their own files"
        assert "CA-D" in (results / "slurm" / "7-table.out").read_text()
        assert (results / "slurm" / "7_0.out").read_text() == ""


def test_job_lists_are_data(tmp_path):
    data = make_data("sigmorphon2016", tmp_path / "data")
    results = tmp_path / EVIL
    done = run_in(results, make_slurm(tmp_path, "true"), data, "--slurm", "--seeds=1,2")
    assert done.returncode == 0, done.stderr
    path, = (results / "slurm").glob("*.json")
    jobs = json.loads(path.read_text(encoding="utf-8"))
    assert (jobs["table"], jobs["data"], jobs["results"], jobs["tasks"]) == (
        "sigmorphon2016", str(data), str(results), 1)
    assert len(jobs["jobs"]) == 2
    for seed, job in zip("12", jobs["jobs"]):
        run, = job
        assert run["spec"]["results"] == f"{results}/task1/ca-d/german/{seed}"
        assert run["spec"]["train"] == f"{data}/german-task1-train" and run["spec"]["dynet_seed"] == int(seed)


@pytest.mark.parametrize("content, message", [
    ("", "is not a list of jobs"), ("[]", "is not a list of jobs"), ('{"jobs": 3}', "is not a list of jobs"),
    ('{"jobs": [[{"folder": "x"}]]}', "is not a list of jobs"), (None, "cannot read")])
@pytest.mark.parametrize("what", ["work", "finish"])
def test_damaged_job_lists_are_named(tmp_path, content, message, what):
    if content is not None:
        (tmp_path / "list.json").write_text(content)
    done = subprocess.run([sys.executable, "-m", "il_morph.reproduction.slurm", what, tmp_path / "list.json"],
                          cwd=PROJECT, env={**os.environ, "SLURM_ARRAY_TASK_ID": "0"}, capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr and str(tmp_path / "list.json") in done.stderr


# From end to end


def outputs(table, path):
    column = {"sigmorphon2017": 1}.get(table, -1)
    return [row.split("\t")[column] for row in path.read_text(encoding="utf-8").split("\n")[:-1]]


def accuracy(table, gold, predicted):
    return 100 * sum(g == p for g, p in zip(outputs(table, gold), predicted)) / 30


def vote_of_two(first, second):
    return first  # of two that differ the first wins, and of two that agree either


@pytest.mark.parametrize("table, setting, report, columns, average", [
    ("sigmorphon2016", "task1", "ensemble", ["RU", "DE"], "Avg"),
    pytest.param("sigmorphon2017", "low", "ensemble", [], "low", marks=pytest.mark.slow),
    pytest.param("celex", "0500", "mean", ["13SIA", "rP"], "Avg", marks=pytest.mark.slow),
    pytest.param("lemmatization", "wicentowski", "mean", ["EN", "GA"], "Avg", marks=pytest.mark.slow),
])
def test_from_end_to_end(tmp_path, table, setting, report, columns, average):
    data = make_data(table, tmp_path / "data")
    selection = ["--setting", setting, "--models=ca-d", "--languages", LANGUAGES[table], "--seeds=1,2"]
    selection += ["--folds=0"] if report == "mean" else []
    done = run_script(tmp_path, table, *selection, *LEARNING)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 done, 0 running, 0 failed" in done.stderr

    singles = []
    for language in LANGUAGES[table].split(","):
        group = tmp_path / "results" / setting / "ca-d" / language / ("0" if report == "mean" else "")
        gold = gold_path(table, data, language, "0")
        predictions = [outputs(table, group / seed / "f.beam4.test.predictions") for seed in "12"]
        singles.append([accuracy(table, gold, predicted) for predicted in predictions])
        if report == "ensemble":
            voted = outputs(table, group / "1+2" / "f.beam4.test.predictions")
            assert voted == vote_of_two(*predictions)

    assert any(first != second for first, second in singles), "the test is blind when the seeds do not differ"
    rows = table_rows(tmp_path, table)
    reported = [pair[0] if report == "ensemble" else statistics.fmean(pair) for pair in singles]
    assert [rows["CA-D", report][column] for column in columns] == [f"{value:.1f}" for value in reported[:len(columns)]]
    assert rows["CA-D", report][average] == f"{statistics.fmean(reported):.1f}"
    if report == "ensemble":
        assert rows["CA-D", "single mean"][average] == f"{statistics.fmean(map(statistics.fmean, singles)):.1f}"
    by_seed = [statistics.fmean(seed) for seed in zip(*singles)]
    assert rows["CA-D", "single sd"][average] == f"{statistics.stdev(by_seed):.2f}"
    assert rows["CA-D", "runs"][average].startswith("4/")
    assert done.stdout == (tmp_path / "results" / "table.txt").read_text()
    assert "CA-D" in done.stdout and "published" in done.stdout, "not all languages were run: a row for each that was"
    for language, ours in zip(LANGUAGES[table].split(","), reported):
        row = next(line.split() for line in done.stdout.splitlines() if line.split()[:1] == [language])
        assert f"{ours:.1f}" == row[1].rstrip("*")


def stats_of(folder):
    return sorted(folder.glob("results/**/f.stats"))


@pytest.mark.slow
def test_starting_again_continues(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    assert run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1,2", *SMALL).returncode == 0
    group = tmp_path / "results" / "task1" / "ca-d" / "german"
    (group / "2" / "f.stats").unlink()
    (group / "2" / "f.model").write_text("half of it")
    (group / "2" / ".f.model.1.tmp").write_text("half of it")
    (group / "1+2+3").mkdir()
    (group / "1+2+3" / ".f.beam4.test.eval.1.tmp").write_text("half of it")
    (tmp_path / "results" / ".table.txt.1.tmp").write_text("half of it")
    before = {path: path.stat().st_mtime_ns for path in stats_of(tmp_path)}
    assert len(before) == 3

    done = run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1,2,3", *SMALL)
    assert "3 of 3 done" in done.stderr
    assert len(stats_of(tmp_path)) == 6
    assert all(path.stat().st_mtime_ns == old for path, old in before.items())
    assert (group / "2" / "f.model").read_bytes()[:4] != b"half" and not (group / "2" / ".f.model.1.tmp").exists()
    assert (group / "1+2+3" / "f.beam4.test.eval").exists(), "a new ensemble of all seeds"
    assert not list((tmp_path / "results").rglob(".*.tmp"))

    done = run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1,2,3", *SMALL)
    assert "all of these runs are finished" in done.stderr and "CA-D" in done.stdout
    assert len(journal(tmp_path, "start")) == 7


@pytest.mark.slow
def test_with_more_seeds_than_the_papers_those_vote_alone_too(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    selection = ("--models=ca-d", "--languages=german")
    group = tmp_path / "results" / "task1" / "ca-d" / "german"
    assert run_script(tmp_path, "sigmorphon2016", *selection, "--seeds=2,3,4,5,10", *SMALL).returncode == 0
    assert {vote.name for vote in group.glob("*+*")} == {"2+3+4+5+10"}
    assert run_script(tmp_path, "sigmorphon2016", *selection, "--seeds=1", *SMALL).returncode == 0
    assert {vote.parent.name for vote in group.glob("*+*/f.beam4.test.eval")} == {
        "2+3+4+5+10", "1+2+3+4+5", "1+2+3+4+5+10"}


@pytest.mark.slow
def test_force_trains_again_and_votes_again(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1,2", *SMALL)
    vote = tmp_path / "results/task1/ca-d/german/1+2/f.beam4.test.eval"
    before = vote.stat().st_mtime_ns
    done = run_script(tmp_path, "sigmorphon2016", "--models=ca-d", "--languages=german", "--seeds=2", "--force", *SMALL)
    assert done.returncode == 0
    runs = Counter(os.path.relpath(folder, tmp_path / "results/task1/ca-d") for folder in journal(tmp_path, "start"))
    assert runs == {"german/1": 1, "german/2": 2, "russian/1": 1, "russian/2": 1}
    assert vote.stat().st_mtime_ns > before


@pytest.mark.parametrize("content, force, code", [
    (b"", [], 0), *(pytest.param(*values, marks=pytest.mark.slow) for values in (
        (b"PK\x03\x04 cut off", [], 0), (FOREIGN, [], 1), (FOREIGN, ["--force"], 0)))])
def test_a_checkpoint_that_nobody_can_go_on_from_is_no_dead_end(tmp_path, content, force, code):
    """What a power failure has left starts over; what another version may have left does so with --force."""
    make_data("sigmorphon2016", tmp_path / "data")
    checkpoint = tmp_path / "results/task1/ca-d/german/1/f.checkpoint"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_bytes(content)
    done = run_script(tmp_path, "sigmorphon2016", "--models=ca-d", "--languages=german", "--seeds=1", *force, *SMALL)
    assert done.returncode == code
    assert (checkpoint.parent / "f.stats").exists() == (not code) and checkpoint.exists() == bool(code)


@pytest.mark.slow
def test_risk_training_waits_for_the_model_it_starts_from(tmp_path):
    """CA and two models that start from it, all at once: CA is trained once, and before the others."""
    make_data("sigmorphon2017", tmp_path / "data")
    start = tmp_path / "results/low/ca/navajo/1"
    start.mkdir(parents=True)
    (start / "lock").write_text("process 1 on another machine\n")
    done = run_with_path(tmp_path, bare_path(tmp_path), "sigmorphon2017", "--setting=low",
                         "--models=ca,ca-mrt,ca-mrt-a", "--languages=navajo", "--seeds=1", "--jobs=3", *SMALL)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"process \d+ on .+\n", (start / "lock").read_text())
    assert "another machine" not in (start / "lock").read_text(), "a lock that was left behind is taken over"
    rows = [row.split()[:2] for row in (tmp_path / "journal").read_text().splitlines()]
    order = [(word, folder.split("/")[-3]) for word, folder in rows]
    assert order[:2] == [("start", "ca"), ("end", "ca")]
    assert sorted(order[2:]) == [(word, model) for word in ("end", "start") for model in ("ca-mrt", "ca-mrt-a")]
    assert len(stats_of(tmp_path)) == 3


@pytest.mark.slow
def test_risk_training_alone_brings_its_start_along(tmp_path):
    data = make_data("sigmorphon2017", tmp_path / "data")
    train = gold_path("sigmorphon2017", data, "navajo", part="train")
    good = train.read_text()
    train.write_text("only one column\n")
    options = ["--setting=low", "--models=ha-mrt", "--languages=navajo", "--seeds=1", *SMALL]
    done = run_script(tmp_path, "sigmorphon2017", *options)
    assert done.returncode == 1 and "/low/ha/navajo/1/train.log" in done.stderr, "the log of the one that failed"
    train.write_text(good)
    assert run_script(tmp_path, "sigmorphon2017", *options).returncode == 0
    assert [path.parts[-4] for path in stats_of(tmp_path)] == ["ha", "ha-mrt"]
    settings = json.loads(stats_of(tmp_path)[1].read_text())["settings"]
    assert "results/low/ha/navajo/1/f.model" in json.dumps(settings)


@pytest.mark.slow
def test_jobs_at_a_time_and_threads(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    process = start_script(tmp_path, *SELECTION, "--seeds=1,2,3", "--jobs=3", *ENDLESS)
    wait_until(lambda: len(journal(tmp_path, "start")) == 3, process)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    process.stderr.close()
    starts = [row for row in (tmp_path / "journal").read_text().splitlines() if row.startswith("start")]
    assert len(starts) == 3 and all(row.endswith("threads=1,1,1") for row in starts)

    short = tmp_path / "short"
    make_data("sigmorphon2016", short / "data")
    assert run_script(short, "sigmorphon2016", *SELECTION, "--seeds=1,2,3", "--jobs=3", *SMALL).returncode == 0
    at_work = 0
    for row in (short / "journal").read_text().splitlines():
        at_work += 1 if row.startswith("start") else -1
        assert at_work <= 3 and (row.startswith("end") or row.endswith("threads=1,1,1"))
    assert len(journal(short, "start")) == 6 and at_work == 0


@pytest.mark.slow
def test_a_failing_job_is_told_and_stops_nobody(tmp_path):
    data = make_data("sigmorphon2016", tmp_path / "data")
    broken = gold_path("sigmorphon2016", data, "russian", part="train")
    good = broken.read_text()
    broken.write_text("only one column\n")
    done = run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1,2", "--jobs=2", *SMALL)
    assert done.returncode == 1
    assert "2 of 4 done, 0 running, 2 failed" in done.stderr
    logs = re.findall("failed with exit code 2, see (.*)", done.stderr)
    assert [os.path.relpath(log, tmp_path / "results") for log in logs] == [
        "task1/ca-d/russian/1/train.log", "task1/ca-d/russian/2/train.log"]
    assert "russian-task1-train, line 1" in Path(logs[0]).read_text()
    assert "CA-D" in done.stdout, "the table of what is there"

    broken.write_text(good)
    done = run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1,2", *SMALL)
    assert done.returncode == 0 and "2 of 2 done, 0 running, 0 failed" in done.stderr


def code_version(project, folder):
    program = "from il_morph.runs.commit import code_version; print(code_version())"
    return subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(project)}, cwd=folder,
                          capture_output=True, text=True, check=True).stdout.strip()


def test_the_commit_is_that_of_the_code_that_runs(tmp_path):
    project = tmp_path / "project"
    shutil.copytree(PROJECT / "il_morph", project / "il_morph", ignore=shutil.ignore_patterns("__pycache__"))
    assert code_version(project, tmp_path) == "unknown", "no repository"
    git = ["git", "-C", project, "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    assert code_version(project, tmp_path) == "unknown", "no commit yet"
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message=nothing"], check=True)
    assert code_version(project, tmp_path) == "unknown", "a copy that the repository does not know"
    for arguments in (["add", "il_morph/*.py"], ["commit", "--quiet", "--message=all"]):
        subprocess.run([*git, *arguments], check=True)
    commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    assert code_version(project, tmp_path) == commit
    (project / "il_morph" / "__init__.py").write_text('__version__ = "another"\n')
    assert code_version(project, tmp_path) == f"{commit}-changed"
    shutil.copytree(project / "il_morph", tmp_path / "installed" / "il_morph")
    assert code_version(tmp_path / "installed", project.parent) == "unknown", "an il-morph from elsewhere"


# What can come between


def start_script(folder, *options):
    """In a session of its own, as on a terminal."""
    return subprocess.Popen(
        [script("sigmorphon2016"), "--data", folder / "data", "--results", folder / "results", *options],
        env=environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def processes_of(folder):
    """The processes that have to do with this folder."""
    shown = subprocess.run(["ps", "-e", "-ww", "-o", "pid=,stat=,args="], capture_output=True, text=True).stdout
    rows = [row.split(None, 2) for row in shown.splitlines()]
    return [int(pid) for pid, state, command in rows
            if f"{folder}/" in command and not state.startswith("Z") and int(pid) != os.getpid()]


@pytest.mark.slow
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 130)])
def test_ctrl_c_ends_the_children(tmp_path, number, code):
    make_data("sigmorphon2016", tmp_path / "data")
    process = start_script(tmp_path, *SELECTION, "--seeds=1,2", "--jobs=2", *ENDLESS)
    wait_until(lambda: len(list(tmp_path.glob("results/**/f.log"))) == 2, process)
    os.kill(process.pid, number)
    assert process.wait() == code
    assert "the same command continues" in process.stderr.read()
    wait_until(lambda: processes_of(tmp_path) == [])
    assert stats_of(tmp_path) == []


def kill_everything(process, folder):
    """kill -9 for the script first, so that it cannot start anything more, then for what it has started."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    for pid in processes_of(folder):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_the_runs_in_flight(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    chance = random.Random(5)
    finished = {}
    for _ in range(6):
        process = start_script(tmp_path, *SELECTION, "--seeds=1,2,3", "--jobs=2", *SMALL)
        time.sleep(chance.uniform(0.2, 3))
        kill_everything(process, tmp_path)
        for path in stats_of(tmp_path):
            assert json.loads(path.read_text())["scores"]["beam4.test"]["accuracy"] >= 0
        assert all(path.stat().st_mtime_ns == old for path, old in finished.items()), "a finished run was touched"
        finished = {path: path.stat().st_mtime_ns for path in stats_of(tmp_path)}
    done = run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1,2,3", *SMALL)
    assert done.returncode == 0
    assert len(stats_of(tmp_path)) == 6
    assert table_rows(tmp_path, "sigmorphon2016")["CA-D", "runs"]["Avg"] == "6/50"


@pytest.mark.slow
def test_a_run_that_outlived_its_script_is_waited_for(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    options = ["--models=ca-d", "--languages=german", "--seeds=1", "--", "--epochs=40", "--patience=40", *SMALL[3:]]
    process = start_script(tmp_path, *options)
    wait_until(lambda: journal(tmp_path, "start"), process)
    os.kill(process.pid, signal.SIGKILL)
    done = run_script(tmp_path, "sigmorphon2016", *options)
    assert done.returncode == 0 and "1 of 1 done" in done.stderr
    assert len(journal(tmp_path, "start")) == len(stats_of(tmp_path)) == 1


@pytest.mark.slow
def test_kill_9_of_the_script_alone_then_continuing(tmp_path):
    """Its trainings live on; the next script waits for them and does the rest."""
    make_data("sigmorphon2016", tmp_path / "data")
    options = [*SELECTION, "--seeds=1,2", "--jobs=2", *SMALL]
    process = start_script(tmp_path, *options)
    wait_until(lambda: len(journal(tmp_path, "start")) >= 2, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = run_script(tmp_path, "sigmorphon2016", *options)
    assert done.returncode == 0, done.stderr
    assert len(stats_of(tmp_path)) == 4
    assert sorted(journal(tmp_path, "start")) == sorted(map(str, (path.parent for path in stats_of(tmp_path))))


@pytest.mark.slow
def test_kill_9_of_a_training_is_told_and_mended_by_the_next_start(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    process = start_script(tmp_path, "--models=ca-d", "--languages=german", "--seeds=1", *ENDLESS)
    wait_until(lambda: list(tmp_path.glob("results/**/f.log")), process)
    training, = [pid for pid in processes_of(tmp_path) if pid != process.pid]
    os.kill(training, signal.SIGKILL)
    told = process.communicate()[1]
    assert process.returncode == 1
    assert f"failed with signal SIGKILL, see {tmp_path}/results/task1/ca-d/german/1/train.log" in told
    assert run_script(tmp_path, "sigmorphon2016", "--models=ca-d", "--languages=german", "--seeds=1",
                      *SMALL).returncode == 0
    assert len(stats_of(tmp_path)) == 1


@pytest.mark.slow
def test_two_scripts_at_once_share_the_work_and_print_the_same_table(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    environment(tmp_path)
    command = [script("sigmorphon2016"), "--data", tmp_path / "data", "--results", tmp_path / "results", *SELECTION,
               "--seeds=1,2,3", "--jobs=1", *LEARNING]
    both = [subprocess.Popen(command, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True) for _ in range(2)]
    tables, errors = zip(*(process.communicate() for process in both))
    assert [process.returncode for process in both] == [0, 0], errors
    assert tables[0] == tables[1] == (tmp_path / "results" / "table.txt").read_text()
    assert {"russian", "german"} <= {line.split(" ")[0] for line in tables[0].splitlines()}
    assert table_rows(tmp_path, "sigmorphon2016")["CA-D", "runs"]["Avg"] == "6/50"
    assert len(journal(tmp_path, "start")) == len(set(journal(tmp_path, "start"))) == 6, "no run was made twice"
    assert len(list(tmp_path.glob("results/task1/ca-d/*/1+2+3/f.beam4.test.eval"))) == 2


def test_only_what_a_training_writes_is_removed(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    folder = tmp_path / "results/task1/ca-d/german/1"
    folder.mkdir(parents=True)
    for name in ("f.notes", "f.model.old", "notes.txt", "f.model", "f.log", "f.beam4.test.eval", ".f.stats.99.tmp"):
        (folder / name).write_text("mine")
    assert run_script(tmp_path, "sigmorphon2016", "--models=ca-d", "--languages=german", "--seeds=1",
                      *SMALL).returncode == 0
    kept = {path.name for path in folder.iterdir() if path.read_bytes() == b"mine"}
    assert kept == {"f.notes", "f.model.old", "notes.txt"}


def test_a_folder_that_cannot_be_made_is_told_and_stops_nobody(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    (tmp_path / "results/task1/ca-d").mkdir(parents=True)
    (tmp_path / "results/task1/ca-d/russian").write_text("a file where a folder is due")
    done = run_script(tmp_path, "sigmorphon2016", *SELECTION, "--seeds=1", *SMALL)
    assert done.returncode == 1
    assert f"failed: cannot make the folder {tmp_path}/results/task1/ca-d/russian/1: Not a directory" in done.stderr
    assert len(stats_of(tmp_path)) == 1 and "CA-D" in done.stdout


@pytest.mark.slow
def test_signals_that_are_ignored_stay_ignored(tmp_path):
    """As nohup asks for."""
    make_data("sigmorphon2016", tmp_path / "data")
    process = subprocess.Popen(
        ["nohup", script("sigmorphon2016"), "--data", tmp_path / "data", "--results", tmp_path / "results", *SELECTION,
         "--seeds=1", *SMALL], env=environment(tmp_path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    wait_until(lambda: journal(tmp_path, "start"), process)
    os.kill(process.pid, signal.SIGHUP)
    told = process.communicate()[1]
    assert process.returncode == 0 and "2 of 2 done" in told


@pytest.mark.slow
def test_a_terminal_shows_a_bar_and_what_runs_now(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    terminal, side = os.openpty()
    process = subprocess.Popen(
        [script("sigmorphon2016"), "--data", tmp_path / "data", "--results", tmp_path / "results", *SELECTION,
         "--seeds=1", "--jobs=2", *ENDLESS],
        env={**environment(tmp_path), "COLUMNS": "110", "LINES": "30"}, stdout=subprocess.DEVNULL, stderr=side)
    os.close(side)
    shown, stopped, at_work = "", False, r"  task1 german ca-d seed 1: epoch \d+ of at most 100000, dev accuracy \d"
    try:
        while True:
            shown += os.read(terminal, 4096).decode()
            if not stopped and re.search(at_work, shown):
                process.send_signal(signal.SIGINT)
                stopped = True
    except OSError:  # the other side is closed
        assert process.wait() == 130 and stopped
    os.close(terminal)
    screens = shown.split("\033[J")
    assert re.search("0 of 2 done, 2 running, 0 failed, .* left\r\n  task1 russian ca-d seed 1: (starts|epoch .*)\r\n",
                     screens[1])
    assert "0 of 2 done, 0 running, 0 failed" in screens[-1] and "the same command continues" in screens[-1]
    assert max(len(line) for screen in screens for line in screen.split("\r\n")) <= 110


@pytest.mark.slow
def test_the_table_is_made_by_one_process_at_a_time(tmp_path):
    make_data("sigmorphon2016", tmp_path / "data")
    options = ["--models=ca-d", "--languages=german", "--seeds=1,2", *SMALL]
    assert run_script(tmp_path, "sigmorphon2016", *options).returncode == 0
    vote = tmp_path / "results/task1/ca-d/german/1+2/f.beam4.test.eval"
    vote.unlink()
    with FileLock(tmp_path / "results" / "lock"):
        process = start_script(tmp_path, *options)
        time.sleep(1)
        assert process.poll() is None and not vote.exists()
    assert process.wait() == 0 and vote.exists()
    process.stderr.close()


def test_a_system_without_locks_is_told_so_before_anything_starts(tmp_path, monkeypatch, capsys):
    make_data("sigmorphon2016", tmp_path / "data")
    monkeypatch.setattr("il_morph.runs.locks.fcntl", None)
    arguments = ["run", "sigmorphon2016", f"--data={tmp_path}/data", f"--results={tmp_path}/results", *SELECTION]
    assert "this system has no file locks" in error_of(capsys, *arguments)
    assert not (tmp_path / "results").exists()
