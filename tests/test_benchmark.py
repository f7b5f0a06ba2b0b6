"""The benchmark runs on small data and prints what it measured."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

from il_morph.commands import main
from tests.test_treebanks import SMALL, TEXT, many_sentences

SCRIPT = Path(__file__).resolve().parents[1] / "experiments" / "benchmark" / "benchmark.py"
FILES = {
    "sigmorphon2017/task1/russian-train-low": "walk\twalked\tV;PST\nsing\tsang\tV;PST\nmouse\tmice\tN;PL\n",
    "sigmorphon2017/task1/russian-dev": "talk\ttalked\tV;PST\nhouse\thouses\tN;PL\n",
    "sigmorphon2016/finnish-task1-train": "talo\tpos=N,case=GEN\ttalon\nkala\tpos=N,case=GEN\tkalan\n",
    "sigmorphon2016/finnish-task1-dev": "pala\tpos=N,case=GEN\tpalan\nkalo\tpos=N,case=GEN\tkalon\n",
}


def benchmark(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def printed(data):
    """What a whole run on small data prints."""
    pytest.importorskip("dynet")
    pytest.importorskip("numba")
    process = benchmark("--data", data, "--epochs=1", "--last-epoch=3", "--inputs=2", "--samples=1",
                        "--command-epochs=1")
    assert process.returncode == 0, process.stderr
    return process.stdout


def rows(printed, name, figures):
    """How many rows of this name have so many figures?"""
    return len(re.findall(rf"^  {name}" + r" +[\d.]+" * figures, printed, re.M))


@pytest.mark.slow
def test_every_engine_trains_and_is_compared(printed):
    for name in ("CA-D", "CA-R", "CA"):
        for epochs in ("first epoch", "epochs 1 to 1"):
            assert rows(printed, f"{name}, {epochs}", 7) == 2, name
    assert rows(printed, "CA-MRT, epochs 1 to 1 +–", 3) == 2
    assert rows(printed, "CA-[DR], epochs 1 to 3", 3) == 4


@pytest.mark.slow
def test_twins_with_substitute_are_compared_with_ca_d(printed):
    assert rows(printed, "CA-D, SUBSTITUTE", 3) == rows(printed, "CA-D, SUBSTITUTE, learnt costs", 3) == 2
    assert rows(printed, "repeated pairs", 1) == 1 and "learning costs from 3600 pairs, s" in printed


@pytest.mark.slow
def test_batches_and_phases_are_measured(printed):
    for size in (1, 5, 32):
        assert rows(printed, f"CA-D, batch size {size}", 2) == rows(printed, f"CA-R, batch size {size}", 2) == 1
    assert rows(printed, "CA-[DR]", 6) == 2


@pytest.mark.slow
def test_decoding_gives_the_outputs_of_the_stock_model(printed):
    for search in ("greedy", "beam 4"):
        assert rows(printed, search, 3) == 2
    assert printed.count("2 of 2 outputs the same") == 4


@pytest.mark.slow
def test_growth_is_measured_for_both_engines(printed):
    for number, quantity in ((5, "characters"), (3, "symbols"), (3, "features")):
        assert rows(printed, rf"CA-[DR], \d+ {quantity}", 3) == 2 * number
    assert rows(printed, r"\d+ symbols", 1) == 3


@pytest.mark.slow
def test_commands_are_measured_for_both_engines(printed):
    assert re.search(r"il-morph predict.*: [\d.]+ s", printed)
    for name in ("Russian, 1 epochs?, s by the clock", "Russian, 1 epochs?, s of CPU", "Finnish, 1 epoch, peak MB"):
        assert rows(printed, name, 3) == 1


@pytest.mark.slow
def test_each_requirement_says_whether_it_holds(printed):
    assert len(re.findall(r"^  (?:yes|NO) .*: [\d.]+ \([<>]= [\d.]+\)$", printed, re.M)) == 30


@pytest.mark.slow
def test_some_sections_alone(data):
    pytest.importorskip("dynet")
    pytest.importorskip("numba")
    process = benchmark("--data", data, "--only=phases", "--epochs=1")
    assert process.returncode == 0, process.stderr
    assert rows(process.stdout, "CA-[DR]", 6) == 2
    assert "il-morph" not in process.stdout and "decoding" not in process.stdout


@pytest.mark.parametrize("arguments, message", [
    (["--only=phases,speed"], "--only takes some of commands,.*, not 'speed'"),
    (["--samples=0"], "--samples takes a whole number from 1, not '0'"),
])
def test_options_that_make_no_sense(arguments, message, data):
    process = benchmark("--data", data, *arguments)
    assert process.returncode == 2
    assert re.search(f"benchmark.py: error: {message}", process.stderr)


@pytest.mark.parametrize("arguments, message", [
    (["--data", "nowhere"], "no sigmorphon2017/task1/russian-train-low .* in nowhere: get the data with bin/fetch"),
    (["--data", "."], "say where they are with --data DIR"),
])
def test_data_that_are_not_there(arguments, message, tmp_path):
    process = benchmark(*arguments)
    assert process.returncode == 2
    assert re.search(f"benchmark.py: error: .*{message}", process.stderr)
    assert process.stdout == ""


@pytest.mark.slow
def test_the_cited_systems_are_measured(printed):
    """Training and greedy search; those that DyNet does not train with both kinds of kernels."""
    for name in ("HA", "SOFT", "HACM", "HAEM"):
        assert re.search(rf"^  {name} +[\d.]+ +– +– +[\d.]+$", printed, re.M), name
    for name in ("NWFST", "MED", "LEM"):
        assert re.search(rf"^  {name} +– +[\d.]+ +[\d.]+ +[\d.]+$", printed, re.M), name


@pytest.mark.slow
def test_lemmas_of_running_text_are_measured(tmp_path):
    """Without peers, which need another Python."""
    paths, results = {part: str(tmp_path / f"{part}.conllu") for part in ("train", "dev", "test")}, tmp_path / "results"
    for part, path in paths.items():
        Path(path).write_text(many_sentences() if part == "test" else TEXT, encoding="utf-8")
    assert main(["train", *SMALL, paths["train"], paths["dev"], str(results)]) == 0
    script = [sys.executable, SCRIPT.with_name("treebanks.py"), *(f"--{part}={path}" for part, path in paths.items())]
    done = subprocess.run([*script, "--copies=3", f"--work={tmp_path / 'work'}", results], capture_output=True,
                          encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert "60 words; 3 times over: 180" in done.stdout
    assert len(re.findall(r"^  il-morph .*, beam [14]" + r" +[\d.]+" * 6 + "$", done.stdout, re.M)) == 2
    assert len(re.findall(r"a billion tokens: -?[\d,]+ CPU hours", done.stdout)) == 2
    for flag, message in (("--copies=0", "a whole number from 1, not '0'"), ("--only=a", "stanza,udpipe, not 'a'")):
        failed = subprocess.run([*script, flag, results], capture_output=True, encoding="utf-8", cwd=tmp_path)
        assert failed.returncode == 2 and message in failed.stderr
