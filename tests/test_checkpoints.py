"""Interrupted trainings: with an engine that can, they go on where they were; nothing is silently overwritten."""
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile

import pytest

from il_morph.commands import main
from il_morph.engines.native.engine import fastest_kernels
from il_morph.model.predictor import Predictor
from il_morph.runs.experiment import RunReport
from il_morph.training import clock
from il_morph.training.checkpoint import load_checkpoint, save_checkpoint
from tests.cli import ROOT, SMALL, Run, crossed, error_of, training_arguments
from tests.waiting import wait_until

NATIVE = ["--engine=native", "--patience=9"]
RUNS = {
    "CA-R": ["--epochs=6"],
    "CA-RM, ADAM, batches": ["--model=ca-rm", "--optimization=ADAM", "--batch-size=3", "--epochs=6"],
    "CA-D, warm-up": ["--model=ca-d", "--lr-schedule=warmup-decay", "--lr-warmup=2.5", "--epochs=6"],
    "CA-D, plateau": ["--model=ca-d", "--lr-schedule=plateau", "--lr-patience=1", "--learning-rate=0.1", "--epochs=6"],
    "CA-R, averages, fakes": ["--average-weights=0.9", "--augment=7,3@2,1@4", "--epochs=6"],
    "CA-D, two layers, dropout": ["--model=ca-d", "--enc-layers=2", "--dropout=0.3", "--epochs=6"],
    "MLE, SGD": ["--model=ca", "--align-cls", "--optimization=SGD", "--epochs=6"],
    "MRT after MLE": ["--mode=mrt", "--align-cls", "--pretrain-epochs=3", "--epochs=3", "--sample-size=4",
                      "--pretrain-dropout=0.2"],
    "RL after MLE": ["--mode=rl", "--align-cls", "--pretrain-epochs=2", "--epochs=3", "--sample-size=4"],
}
FAST = ("CA-R", "CA-R, averages, fakes", "MRT after MLE")


@pytest.fixture
def interrupt(monkeypatch):
    """A function that lets trainings be interrupted after so many epochs, or no longer."""
    on_state = RunReport.on_state

    def after(epochs):
        left = [epochs]

        def interrupting(report, *arguments):
            on_state(report, *arguments)
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt

        monkeypatch.setattr(RunReport, "on_state", interrupting if epochs else on_state)

    return after


def arguments_of(data, folder, *flags):
    return training_arguments(data, folder, [*NATIVE, *flags, f"--test-path={data('test')}"])


def contents(folder):
    """What a finished run leaves, but for seconds, of which there are more than none."""
    run = Run(folder)
    files = {name: (folder / name).read_bytes() for name in run.files
             if name.endswith(("model", "predictions", "eval"))}
    rows = [[cell for name, cell in row.items() if name != "seconds"] for row in run.log]
    stats = {name: value for name, value in run.stats.items() if name not in ("command", "run", "training")}
    stats["training"] = {name: value for name, value in run.stats["training"].items() if "seconds" not in name}
    assert run.stats["training"]["cpu_seconds"] > 0
    return files, rows, stats


@pytest.mark.parametrize("flags", [
    pytest.param(flags, id=name, marks=pytest.mark.slow if name not in FAST else [])
    for name, flags in RUNS.items()])
def test_an_interrupted_training_goes_on_and_ends_as_if_nothing_had_happened(data, tmp_path, interrupt, caplog, flags):
    caplog.set_level("INFO")
    assert main(arguments_of(data, tmp_path / "whole", *flags)) == 0
    for epochs in (1, 2, 4):
        caplog.clear()
        parts = tmp_path / f"interrupted-{epochs}"
        interrupt(epochs)
        assert main(arguments_of(data, parts, *flags)) == 130
        assert "the same command goes on" in caplog.text
        assert (parts / "f.checkpoint").exists() and not (parts / "f.stats").exists()
        interrupt(0)
        assert main(arguments_of(data, parts, *flags)) == 0
        assert "going on after epoch" in caplog.text
        assert contents(parts) == contents(tmp_path / "whole")
        assert not (parts / "f.checkpoint").exists()


def test_a_training_that_is_interrupted_after_every_epoch_ends_too(data, tmp_path, interrupt):
    assert main(arguments_of(data, tmp_path / "whole", "--epochs=5")) == 0
    for _ in range(5):
        interrupt(1)
        assert main(arguments_of(data, tmp_path / "parts", "--epochs=5")) == 130
    interrupt(0)
    assert main(arguments_of(data, tmp_path / "parts", "--epochs=5")) == 0
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_kill_9_at_any_time_loses_no_more_than_an_epoch(data, tmp_path):
    flags = [*SMALL, "--engine=native", "--sigm2017format", "--dynet-seed=1", "--epochs=60", "--patience=60",
             data("train"), data("dev")]
    assert main(["train", *flags, str(tmp_path / "whole")]) == 0
    for number in range(3):
        process = subprocess.Popen([sys.executable, "-m", "il_morph", "train", *flags, str(tmp_path / "parts")],
                                   cwd=ROOT, stderr=subprocess.DEVNULL)
        log, rows = tmp_path / "parts" / "f.log", 0
        while process.poll() is None and rows < 4 + 12 * number:
            rows = log.read_text().count("\n") if log.exists() else 0
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert main(["train", *flags, str(tmp_path / "parts")]) == 0
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    assert not [name for name in os.listdir(tmp_path / "parts") if name.startswith(".")]


@pytest.mark.parametrize("written, failure", crossed(range(4), [KeyboardInterrupt, "full disk", "kill -9"]))
def test_a_training_that_ends_while_its_first_epoch_is_written_goes_on(data, tmp_path, monkeypatch, capsys, written,
                                                                       failure):
    """After so many files."""
    arguments, run = arguments_of(data, tmp_path / "run", "--epochs=2"), tmp_path / "run"
    replace, left = os.replace, [written]

    def failing(source, target):
        if str(target).startswith(str(run)):
            left[0] -= 1
            if left[0] < 0:
                if failure == "kill -9":
                    monkeypatch.setattr(RunReport, "interrupted", lambda report, resumable: "nothing more is written")
                raise OSError(28, "No space left on device") if failure == "full disk" else KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing)
        assert main(arguments) == (2 if failure == "full disk" else 130)
    assert left[0] < 0 and not (run / "f.stats").exists()
    assert main(arguments) == 0, capsys.readouterr().err
    assert main(arguments_of(data, tmp_path / "whole", "--epochs=2")) == 0
    assert contents(run) == contents(tmp_path / "whole")


def test_a_training_goes_on_with_the_kernels_it_was_begun_with(data, tmp_path, interrupt, capsys, monkeypatch):
    arguments, kernels = arguments_of(data, tmp_path / "run", "--epochs=3"), fastest_kernels()
    interrupt(1)
    assert main(arguments) == 130
    interrupt(0)
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "NAME", "others")
        message = error_of(capsys, *arguments)
    assert message.startswith(f"{tmp_path / 'run'} holds an unfinished run that was computed with {kernels.NAME}; here "
                              "it would go on with others, which rounds differently")
    assert "--force" in message
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    checkpoint = load_checkpoint(tmp_path / "run" / "f.checkpoint")
    assert checkpoint.identity.pop("kernels") == kernels.NAME
    save_checkpoint(checkpoint)  # as version 3.0 wrote it
    assert main(arguments) == 0


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 20])
def test_kill_9_of_a_training_in_dynet_leaves_a_model_that_only_force_overwrites(data, tmp_path, rows, capsys):
    """It has no checkpoints: what is left is the best model so far, and the same command says so."""
    pytest.importorskip("dynet")
    arguments = ["train", *SMALL, "--engine=dynet", "--sigm2017format", "--dynet-seed=1", "--epochs=1000",
                 "--patience=1000", data("train"), data("dev"), str(tmp_path / "run")]
    process = subprocess.Popen([sys.executable, "-m", "il_morph", *arguments], cwd=ROOT, stderr=subprocess.DEVNULL)
    log = tmp_path / "run" / "f.log"
    wait_until(lambda: log.exists() and log.read_text().count("\n") >= rows, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert "f.stats" not in os.listdir(tmp_path / "run")
    if rows > 2:
        assert len(Predictor.load(tmp_path / "run" / "f.model").predict([("walk", "V;PST")])) == 1
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("f.*")}
    shorter = [each.replace("=1000", "=2") for each in arguments]
    assert "holds an unfinished run" in error_of(capsys, *shorter)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").glob("f.*")} == before
    (tmp_path / "run" / f".f.log.{'a' * 16}.tmp").touch()  # as a kill while it is written leaves one
    assert main([*shorter[:-3], "--force", *shorter[-3:]]) == 0
    assert len(Run(tmp_path / "run").log) == 2 and not list((tmp_path / "run").glob(".*"))


def test_without_a_seed_the_seed_of_the_interrupted_run_is_taken(data, tmp_path, interrupt):
    arguments = [argument for argument in arguments_of(data, tmp_path / "run", "--epochs=3")
                 if not argument.startswith("--dynet-seed")]
    interrupt(1)
    assert main(arguments) == 130
    with zipfile.ZipFile(tmp_path / "run" / "f.checkpoint") as archive:
        seed = int(re.search(rb'"seed": (\d+)', archive.read("header.json"))[1])
    interrupt(0)
    assert main(arguments) == 0
    assert Run(tmp_path / "run").stats["seed"] == seed


def test_a_training_goes_on_from_a_checkpoint_of_version_2(data, tmp_path, interrupt):
    """Which does not know the settings of the learning rate."""
    arguments = arguments_of(data, tmp_path / "run", "--epochs=4")
    interrupt(2)
    assert main(arguments) == 130
    path = tmp_path / "run" / "f.checkpoint"
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    for name in ("learning_rate", "lr_schedule", "lr_warmup", "lr_decay", "lr_patience"):
        del header["identity"][name]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**members, "header.json": json.dumps(header).encode()}.items():
            archive.writestr(name, content)
    interrupt(0)
    assert main(arguments) == 0
    assert main(arguments_of(data, tmp_path / "whole", "--epochs=4")) == 0
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


@pytest.mark.parametrize("flags, different", [
    (["--learning-rate=0.5"], "learning_rate: 0.0 there, 0.5 now"),
    (["--epochs=7"], "epochs: 6 there, 7 now"), (["--dynet-seed=2"], "seed: 1 there, 2 now"),
    (["--il-beta=0.9"], "il_beta: 0.5 there, 0.9 now"), (["--enc-hidden=9"], "enc_hidden: 8 there, 9 now"),
])
def test_a_run_of_another_kind_does_not_go_on_and_overwrites_nothing(data, tmp_path, interrupt, capsys,
                                                                     flags, different):
    interrupt(2)
    assert main(arguments_of(data, tmp_path / "run", "--epochs=6")) == 130
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("f.*")}
    interrupt(0)
    others = [argument for argument in arguments_of(data, tmp_path / "run", "--epochs=6")
              if argument.split("=")[0] not in {flag.split("=")[0] for flag in flags}]
    message = error_of(capsys, *others[:1], *flags, *others[1:])
    assert f"holds an unfinished run of another kind ({different})" in message and "--force" in message
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").glob("f.*")} == before
    assert main([*others[:1], *flags, "--force", *others[1:]]) == 0


def test_a_checkpoint_from_before_a_setting_was_there_goes_on(data, tmp_path, interrupt, capsys):
    interrupt(2)
    assert main(arguments_of(data, tmp_path / "run", "--epochs=4")) == 130
    interrupt(0)
    checkpoint = load_checkpoint(tmp_path / "run" / "f.checkpoint")
    for name in ("learning_rate", "lr_schedule", "trials", "unicode"):
        del checkpoint.identity[name]
    save_checkpoint(checkpoint)
    message = error_of(capsys, *arguments_of(data, tmp_path / "run", "--epochs=4", "--learning-rate=3"))
    assert "(learning_rate: 0.0 there, 3.0 now)" in message
    assert main(arguments_of(data, tmp_path / "run", "--epochs=4")) == 0
    assert main(arguments_of(data, tmp_path / "whole", "--epochs=4")) == 0
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_an_evaluation_does_not_end_an_interrupted_training(data, tmp_path, interrupt, capsys):
    run, flags = tmp_path / "run", ["--epochs=3"]
    interrupt(2)
    assert main(arguments_of(data, run, *flags)) == 130
    interrupt(0)
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    message = error_of(capsys, "train", "--mode=eval", f"--reload-path={run}", "--sigm2017format", data("train"),
                       data("dev"), str(run))
    assert message.startswith(f"{run} holds an interrupted training that can go on") and "--force" in message
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    assert main(arguments_of(data, tmp_path / "whole", *flags)) == main(arguments_of(data, run, *flags)) == 0
    assert contents(run) == contents(tmp_path / "whole")


def test_an_evaluation_with_force_does(data, tmp_path, interrupt):
    interrupt(2)
    assert main(arguments_of(data, tmp_path / "run", "--epochs=3")) == 130
    assert main(["train", "--mode=eval", f"--reload-path={tmp_path / 'run'}", "--sigm2017format", "--force",
                 data("train"), data("dev"), str(tmp_path / "run")]) == 0
    assert Run(tmp_path / "run").stats["settings"]["mode"] == "eval"
    assert not (tmp_path / "run" / "f.checkpoint").exists()


@pytest.mark.parametrize("damage", [lambda content: content[:-200], lambda content: b"",
                                    lambda content: content[:500] + b"x"])
def test_a_damaged_checkpoint_is_named(data, tmp_path, interrupt, capsys, damage):
    interrupt(2)
    assert main(arguments_of(data, tmp_path / "run", "--epochs=6")) == 130
    path = tmp_path / "run" / "f.checkpoint"
    path.write_bytes(damage(path.read_bytes()))
    interrupt(0)
    message = error_of(capsys, *arguments_of(data, tmp_path / "run", "--epochs=6"))
    assert message.startswith(f"{path} is not a whole checkpoint") and "start over with --force" in message


def test_two_trainings_in_one_folder_are_refused(data, tmp_path, capsys):
    flags = [*SMALL, "--engine=native", "--sigm2017format", "--dynet-seed=1", "--epochs=100000", "--patience=100000",
             data("train"), data("dev"), str(tmp_path / "run")]
    process = subprocess.Popen([sys.executable, "-m", "il_morph", "train", *flags], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        while not (tmp_path / "run" / "f.model").exists():
            assert process.poll() is None
            time.sleep(0.01)
        message = error_of(capsys, *arguments_of(data, tmp_path / "run", "--force"))
        assert message.startswith(f"{tmp_path / 'run'} is in use: process {process.pid} on ")
    finally:
        process.kill()
        process.wait()
    assert main(arguments_of(data, tmp_path / "run", "--epochs=1", "--force")) == 0


def test_time_goes_on_where_it_was(monkeypatch):
    """By the clock and of CPU time, with those of before the interruption."""
    monkeypatch.setattr(clock.time, "monotonic", iter([100.0, 103.0, 1000.0, 1007.0]).__next__)
    monkeypatch.setattr(clock.time, "process_time", iter([10.0, 12.0, 0.0, 5.0]).__next__)
    first = clock.Clock()
    seconds, cpu_seconds = first.seconds, first.cpu_seconds
    assert (seconds, cpu_seconds) == (3.0, 2.0)
    assert clock.Clock(seconds, cpu_seconds).as_dict() == {"seconds": 10.0, "cpu_seconds": 7.0}
