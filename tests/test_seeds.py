"""`il-morph train` with one file, and with several seeds."""
import io
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import time
from contextlib import suppress

import pytest

import il_morph
from il_morph.commands import main
from il_morph.commands import train as command
from il_morph.runs.seeds import as_text
from tests.cli import DEV, ROOT, SMALL, TEST, TRAIN, Run, as_2017, error_of
from tests.cli import il_morph as run_il_morph

pytestmark = pytest.mark.usefixtures("numpy_kernels")

NATIVE = [flag for flag in SMALL if not flag.startswith("--dynet")] + ["--model=ca-d", "--engine=native", "--epochs=2"]
SAMPLES = [*TRAIN, *DEV, *TEST, ("run", "V;PRS", "runs"), ("pen", "N;PL", "pens"), ("cup", "N;PL", "cups")]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "english.tsv").write_text(as_2017(dict.fromkeys(SAMPLES)), encoding="utf-8")
    return tmp_path / "english.tsv"


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


def train(*arguments) -> int:
    return main(["train", *NATIVE, *map(str, arguments)])


def lines(path) -> list:
    return path.read_text(encoding="utf-8").splitlines()


# One file

def test_one_file_is_split_and_its_parts_are_kept(file, results, caplog):
    caplog.set_level("INFO")
    assert train(file, results) == 0
    parts = {name: lines(results / f"{name}.tsv") for name in ("train", "dev", "test")}
    assert sorted(line for part in parts.values() for line in part) == sorted(lines(file))
    assert all(len(parts[part]) == len(lines(results / f"f.beam4.{part}.predictions")) for part in ("dev", "test"))
    inputs = {name: {line.split("\t")[0] for line in part} for name, part in parts.items()}
    assert not inputs["train"] & (inputs["dev"] | inputs["test"])  # inputs repeat, so they stay together
    assert f"{results / 'train.tsv'}: " in caplog.text and "split by lemma" in caplog.text


def test_the_split_is_that_of_il_morph_split_and_does_not_depend_on_the_seed_of_the_training(file, results, tmp_path):
    assert main(["split", str(file), str(tmp_path / "parts")]) == 0
    assert train("--dynet-seed=5", file, results) == 0
    for name in ("train.tsv", "dev.tsv", "test.tsv"):
        assert (results / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()


def test_a_file_that_was_split_trains_like_its_parts(file, results, tmp_path):
    assert train("--dynet-seed=5", file, results) == 0
    parts = [results / "train.tsv", results / "dev.tsv"]
    assert train("--dynet-seed=5", f"--test-path={results / 'test.tsv'}", *parts, tmp_path / "again") == 0
    assert (results / "f.model").read_bytes() == (tmp_path / "again" / "f.model").read_bytes()
    for name in ("f.beam4.test.predictions", "f.greedy.dev.eval"):
        assert (results / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_split_flags_act(file, results, tmp_path):
    assert train("--split-seed=2", file, results) == 0
    assert train("--split-seed=3", "--split-by=line", file, tmp_path / "others") == 0
    assert lines(results / "train.tsv") != lines(tmp_path / "others" / "train.tsv")


def test_with_a_test_file_the_rest_is_training_and_development_data(file, results, data):
    assert train(f"--test-path={data('test')}", file, results) == 0
    assert not (results / "test.tsv").exists()
    assert len(lines(results / "train.tsv")) + len(lines(results / "dev.tsv")) == len(lines(file))
    assert [line.split("\t")[0] for line in lines(results / "f.beam4.test.predictions")] == [each[0] for each in TEST]


def test_a_file_in_the_place_of_a_part_is_not_overwritten(file, results, capsys):
    results.mkdir()
    (results / "dev.tsv").write_text("precious")
    assert "dev.tsv exists already" in error_of(capsys, "train", *NATIVE, str(file), str(results))
    assert [path.name for path in results.iterdir()] == ["dev.tsv"]
    assert train("--force", file, results) == 0
    assert (results / "dev.tsv").read_text() != "precious"


@pytest.mark.parametrize("flags", [[], ["--force"], ["--force", "--seeds=1"]])
def test_a_file_is_not_overwritten_by_its_own_part(file, results, capsys, flags):
    results.mkdir()
    whole = results / "train.tsv"
    whole.write_bytes(file.read_bytes())
    message = error_of(capsys, "train", *NATIVE, *flags, str(whole), str(results))
    assert message.startswith(f"{whole} is the file to split")
    assert whole.read_bytes() == file.read_bytes() and [path.name for path in results.iterdir()] == ["train.tsv"]


def test_no_test_data_of_an_earlier_split_stays_beside_training_data_with_its_lines(file, data, results, capsys):
    assert train(file, results) == 0
    before = {path: path.read_bytes() for path in results.iterdir()}
    for test in (data("test"), str(results / "test.tsv")):
        message = error_of(capsys, "train", *NATIVE, "--force", f"--test-path={test}", str(file), str(results))
        assert message.startswith(f"{results / 'test.tsv'} is not a part of this split but has lines of {file}")
    assert {path: path.read_bytes() for path in results.iterdir()} == before


@pytest.mark.parametrize("content, flags, message", [
    ("walk\twalked\tV;PST\n", [], "has 1 line, too few to split"),
    ("walk\twalked\n\twalk\tV\n", [], "line"),
    (None, [], "cannot read"),
    (as_2017(SAMPLES), ["--split-by=word"], "--split-by takes one of lemma, line, sentence, not 'word'"),
    (as_2017(SAMPLES), ["--split-seed=x"], "--split-seed takes a whole number"),
    (as_2017(SAMPLES), ["--mode=eval", "--reload-path=x"], "--mode=eval decodes DEV-PATH"),
    (as_2017(SAMPLES), ["--test-path=missing"], "cannot read missing"),
    (as_2017(SAMPLES), ["--jobs=2"], "--jobs is about several trainings"),
    (as_2017(SAMPLES), ["--transducer=hard"], "--mode=il needs"),
    (as_2017(SAMPLES), ["--transducer=hard", "--seeds=1"], "--mode=il needs"),
    (as_2017(SAMPLES), ["--seeds=1-2", "--mode=eval", "--reload-path=x"], "--mode=eval decodes"),
])
def test_nothing_is_written_when_the_input_is_bad(tmp_path, results, capsys, content, flags, message):
    if content is not None:
        (tmp_path / "file").write_text(content)
    assert message in error_of(capsys, "train", *NATIVE, *flags, str(tmp_path / "file"), str(results))
    assert not results.exists()


def test_split_flags_need_one_file(data, results, capsys):
    for flag in ("--split-by=line", "--split-seed=1"):
        message = error_of(capsys, "train", *NATIVE, flag, data("train"), data("dev"), str(results))
        assert message.startswith(f"{flag.split('=')[0]} is about one file that is split")


# Several seeds

@pytest.fixture(scope="module")
def seeds(data, tmp_path_factory, numpy_kernels):
    """The folder of three seeds, and what the command said."""
    folder = tmp_path_factory.mktemp("seeds") / "results"
    done = run_il_morph("train", *NATIVE, "--seeds=1,3-4", "--jobs=2", f"--test-path={data('test')}", data("train"),
                        data("dev"), str(folder))
    assert done.returncode == 0, done.stderr
    return folder, done


def test_each_seed_has_a_model_like_that_of_a_training_of_its_own(seeds, data, tmp_path):
    folder, _ = seeds
    assert train("--dynet-seed=3", data("train"), data("dev"), tmp_path / "alone") == 0
    assert (folder / "3" / "f.model").read_bytes() == (tmp_path / "alone" / "f.model").read_bytes()
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == ["1", "3", "4"]
    assert {Run(folder / seed).stats["seed"] for seed in "134"} == {1, 3, 4}


def test_their_vote_is_in_the_folder(seeds, data, tmp_path):
    folder, _ = seeds
    for name in ("beam4.test", "greedy.dev"):
        files = [str(folder / seed / f"f.{name}.predictions") for seed in "134"]
        assert main(["ensemble", "--sigm2017format", str(tmp_path / name), *files]) == 0
        assert lines(folder / f"f.{name}.predictions") == lines(tmp_path / name)
    accuracy = il_morph.evaluate(data("test"), folder / "f.beam4.test.predictions").accuracy
    assert lines(folder / "f.beam4.test.eval")[0].split() == ["accuracy", f"{accuracy:.4f}"]
    assert json.loads((folder / "summary.json").read_text())["scores"]["beam4.test"]["vote"] == accuracy


def test_the_summary_has_mean_and_deviation(seeds):
    folder, done = seeds
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["seeds"] == [1, 3, 4]
    assert set(summary["scores"]) == {f"{search}.{part}" for search in ("greedy", "beam4") for part in ("dev", "test")}
    for name, found in summary["scores"].items():
        accuracies = [Run(folder / seed).stats["scores"][name]["accuracy"] for seed in "134"]
        assert list(found["seeds"].values()) == accuracies
        assert (found["mean"], found["sd"]) == (pytest.approx(statistics.fmean(accuracies)),
                                                pytest.approx(statistics.stdev(accuracies)))
    assert done.stdout == (folder / "summary.txt").read_text() == as_text(summary)
    assert [line.split("  ")[0].strip() for line in done.stdout.splitlines()] == [
        "accuracy", "seed 1", "seed 3", "seed 4", "mean ± sd", "vote"]
    assert re.search(r"3 of 3 done, 0 running, 0 failed", done.stderr)


def test_the_folder_can_be_used_as_a_model(seeds, data, capsys):
    folder, _ = seeds
    assert len(il_morph.load(folder).members) == 3
    capsys.readouterr()
    assert main(["predict", str(folder), data("test")]) == 0
    assert capsys.readouterr().out.splitlines() == lines(folder / "f.beam4.test.predictions")


def test_one_file_with_seeds_is_split_once(file, results, capsys):
    assert train("--seeds=1-2", "--jobs=2", file, results) == 0
    assert "mean ± sd" in capsys.readouterr().out
    assert sorted(path.name for path in results.glob("*.tsv")) == ["dev.tsv", "test.tsv", "train.tsv"]
    assert not list(results.glob("[12]/*.tsv"))
    assert len(lines(results / "f.beam4.test.predictions")) == len(lines(results / "test.tsv"))


def test_what_is_finished_is_not_trained_again_and_seeds_can_be_added(data, results, capsys):
    arguments = [data("train"), data("dev"), results]
    assert train("--seeds=1", *arguments) == 0
    assert "±" not in (results / "summary.txt").read_text().replace("mean ± sd", "")
    before = (results / "1" / "f.stats").stat().st_mtime_ns
    assert train("--seeds=1-2", *arguments) == 0
    assert (results / "1" / "f.stats").stat().st_mtime_ns == before
    assert json.loads((results / "summary.json").read_text())["seeds"] == [1, 2]
    identity = json.loads((results / "seeds.json").read_text())
    as_typed = ["--il-beta=0.50", *(word.replace("--epochs=", "--epochs=0") for word in identity["flags"])]
    (results / "seeds.json").write_text(json.dumps({**identity, "flags": as_typed}))  # as version 2 kept them
    assert train("--il-beta=.5", "--seeds=1-2", *arguments) == 0
    (results / "seeds.json").write_text(json.dumps(identity))
    (results / "2" / "f.stats").unlink()  # as if it had been killed while decoding
    (results / "f.beam4.dev.predictions").unlink()
    assert train("--seeds=1-2", *arguments) == 0
    assert (results / "1" / "f.stats").stat().st_mtime_ns == before
    assert (results / "2" / "f.stats").exists() and (results / "f.beam4.dev.predictions").exists()


@pytest.mark.slow
def test_seeds_go_on_from_their_checkpoints(data, results, tmp_path):
    arguments = ["--epochs=40", "--patience=40", data("train"), data("dev")]
    flags = [flag for flag in NATIVE if not flag.startswith("--epochs")]
    whole = tmp_path / "whole"
    assert main(["train", *flags, "--dynet-seed=1", *arguments, str(whole)]) == 0
    command = [sys.executable, "-m", "il_morph", "train", *flags, "--seeds=1", *arguments, str(results)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    while not (results / "1" / "f.checkpoint").exists() and process.poll() is None:
        time.sleep(0.002)
    process.terminate()
    said = process.communicate()[1]
    if process.returncode != 0:  # it may have been faster
        assert process.returncode == 130 and "stopped; the same command continues" in said
        assert main(["train", *flags, "--seeds=1", *arguments, str(results)]) == 0
        assert "going on after epoch" in (results / "1" / "train.log").read_text()
    assert (results / "1" / "f.model").read_bytes() == (whole / "f.model").read_bytes()


def test_seeds_of_another_training_are_not_mixed(data, results, capsys):
    arguments = [data("train"), data("dev"), str(results)]
    assert train("--seeds=1", *arguments) == 0
    message = error_of(capsys, "train", *NATIVE, "--seeds=1-2", "--l2=0.5", *arguments)
    assert "holds the seeds of another training (flags changed" in message
    other = [data("dev"), data("train"), str(results)]
    assert "(data changed" in error_of(capsys, "train", *NATIVE, "--seeds=1-2", *other)
    assert not (results / "2").exists()
    assert train("--seeds=1", "--force", "--l2=0.5", *arguments) == 0
    assert Run(results / "1").settings["l2"] == 0.5


@pytest.mark.slow
def test_force_discards_the_seeds_of_another_training(data, results, tmp_path):
    """They would answer together with the new ones."""
    arguments = [data("train"), data("dev"), str(results)]
    assert train("--seeds=1-3", *arguments, f"--test-path={data('test')}") == 0
    assert train("--seeds=2", "--force", "--l2=0.5", *arguments) == 0
    assert il_morph.load(results).vocabularies[0].settings == il_morph.load(results / "2").vocabularies[0].settings
    assert [path.parent.name for path in sorted(results.glob("*/f.model"))] == ["2"]
    assert not (results / "f.greedy.test.predictions").exists(), "there is no test data any more"
    assert train("--seeds=1-3", "--l2=0.5", *arguments) == 0
    assert {Run(results / seed).settings["l2"] for seed in "123"} == {0.5}


@pytest.mark.slow
def test_fewer_seeds_do_not_take_the_place_of_a_vote(data, results, capsys):
    arguments = [data("train"), data("dev"), str(results)]
    assert train("--seeds=1-3", *arguments) == 0
    before = {path: path.read_bytes() for path in results.glob("*.*")}
    message = error_of(capsys, "train", *NATIVE, "--seeds=1,4", *arguments)
    assert message.startswith(f"{results} holds seeds that would not vote (2, 3): give them too")
    assert {path: path.read_bytes() for path in results.glob("*.*")} == before
    assert train("--seeds=1-4", *arguments) == 0
    assert json.loads((results / "summary.json").read_text())["seeds"] == [1, 2, 3, 4]
    assert train("--seeds=1", "--force", *arguments) == 0
    assert json.loads((results / "summary.json").read_text())["seeds"] == [1]


@pytest.mark.parametrize("flags", [[], ["--force"]])
def test_a_run_does_not_take_the_place_of_a_vote(data, results, capsys, flags):
    arguments = [data("train"), data("dev"), str(results)]
    assert train("--seeds=1", *arguments) == 0
    before = {path: path.read_bytes() for path in results.glob("*.*")}
    message = error_of(capsys, "train", *NATIVE, *flags, *arguments)
    assert message.startswith(f"{results} holds the runs of several seeds and their vote; choose another folder")
    assert {path: path.read_bytes() for path in results.glob("*.*")} == before


def test_damaged_stats_of_a_seed_are_named(data, results, capsys):
    arguments = [data("train"), data("dev"), str(results)]
    assert train("--seeds=1", *arguments) == 0
    for content in ("garbage", "{}", "[1]", '{"scores": {"greedy.dev": {"accuracy": "high"}}}'):
        (results / "1" / "f.stats").write_text(content)
        message = error_of(capsys, "train", *NATIVE, "--seeds=1", *arguments)
        assert message.startswith(f"{results / '1' / 'f.stats'}"), content
        assert "is not what `il-morph train` writes" in message and "delete the file and run it again" in message
    (results / "1" / "f.stats").unlink()
    assert train("--seeds=1", *arguments) == 0


@pytest.mark.parametrize("files", [["-", "dev"], ["train", "-"], ["--test-path=-", "train", "dev"]])
def test_seeds_cannot_all_read_the_standard_input(data, results, capsys, monkeypatch, files):
    content = (data.path("train")).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    paths = [name if "-" in name else data(name) for name in files]
    message = error_of(capsys, "train", *NATIVE, "--seeds=1", *paths, str(results))
    assert message.startswith("--seeds: several trainings cannot read the standard input") and not results.exists()


def test_force_takes_nothing_from_a_training_that_is_at_work(data, results, capsys):
    arguments = [*NATIVE[:-1], "--seeds=1", "--epochs=100000", "--patience=100000", data("train"), data("dev"),
                 str(results)]
    process = subprocess.Popen([sys.executable, "-m", "il_morph", "train", *arguments], cwd=ROOT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (results / "1" / "f.checkpoint").exists():
            assert process.poll() is None
            time.sleep(0.01)
        message = error_of(capsys, "train", "--force", *arguments)
        assert message.startswith(f"{results / '1'} is in use: process ") and "trains there" in message
        assert (results / "1" / "f.model").exists() and (results / "1" / "f.checkpoint").exists()
    finally:
        process.terminate()
        process.wait()


def test_a_folder_with_a_run_of_its_own_is_refused(data, results, capsys):
    arguments = [data("train"), data("dev"), str(results)]
    assert train("--dynet-seed=1", *arguments) == 0
    for flags in ([], ["--force"]):
        message = error_of(capsys, "train", *NATIVE, "--seeds=1", *flags, *arguments)
        assert "holds a run of its own, without seeds; choose another folder" in message
    assert not (results / "1").exists()


def test_a_seed_that_fails_is_told_and_nobody_votes(data, results, capfd):
    (results / "2").mkdir(parents=True)
    (results / "2" / "f.model").mkdir()  # nobody can write there
    (results / "seeds.json").write_text("{}")
    assert train("--seeds=1-2", "--force", data("train"), data("dev"), results) == 1
    assert "failed with exit code 2, see" in capfd.readouterr().err
    assert not (results / "summary.txt").exists()


@pytest.mark.parametrize("flags, message", [
    (["--seeds="], "--seeds takes seeds"), (["--seeds=a"], "--seeds takes seeds"),
    (["--seeds=5-1"], "--seeds takes seeds"),
    (["--seeds=1-99999"], "at most 1000"), (["--seeds=9999999999"], "--seeds takes seeds up to 4294967295"),
    (["--seeds=1", "--jobs=0"], "--jobs takes a whole number from 1 up, not '0'"),
    (["--seeds=1", "--dynet-seed=2"], "--seeds and --dynet-seed exclude each other"),
    (["--seeds=1", "--mode=eval", "--reload-path=x"], "--seeds trains models"),
])
def test_bad_seeds(data, results, capsys, flags, message):
    assert message in error_of(capsys, "train", *NATIVE, *flags, data("train"), data("dev"), str(results))
    assert not results.exists()


def test_python_trains_seeds_and_splits_a_file(file, results):
    flags = {"engine": "native", "epochs": 1, "input": 8, "feat_input": 4, "enc_hidden": 8, "dec_hidden": 8}
    predictor = il_morph.train(file, None, results, seeds="1-2", jobs=2, **flags)
    assert len(predictor.members) == 2
    assert len(predictor.predict([("walk", "V;PST")])) == 1


# The bar

def test_a_terminal_shows_all_epochs_and_the_time_left(data, results):
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    terminal, side = os.openpty()
    command = [sys.executable, "-m", "il_morph", "train", *NATIVE, data("train"), data("dev"), str(results)]
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=side)
    os.close(side)
    shown = b""
    with suppress(OSError):  # the end of a terminal
        while True:
            shown += os.read(terminal, 4096)
    os.close(terminal)
    assert process.wait() == 0
    assert re.search(r"epochs: +50%\|.*1 of at most 2 \[\d+:\d+, at most \d+:\d+ left",
                     shown.decode("utf-8", "replace"))
    said = [line.rsplit("\r", 1)[-1] for line in shown.decode("utf-8", "replace").split("\r\n")]
    assert sum(line.startswith("il-morph: il epoch ") for line in said) == 2  # on lines of their own


# Help

def test_the_help_opens_with_three_examples_and_the_five_flags_that_matter():
    text = command.__doc__
    examples, flags = text.index("Examples:"), text.index("The flags that matter most:")
    others = text.index("Options:")
    assert examples < text.index("Usage:") < flags < others
    assert len(re.findall(r"^  il-morph train .+  +\S", text[examples:text.index("Usage:")], re.M)) == 3
    assert re.findall(r"^  (--[\w-]+)", text[flags:others], re.M) == [
        "--model", "--test-path", "--seeds", "--engine", "--epochs"]
