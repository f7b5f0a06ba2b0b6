"""The benchmark runs on small data and prints what it measured."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "experiments" / "benchmark" / "benchmark.py"
FILES = {
    "sigmorphon2017/task1/russian-train-low": "walk\twalked\tV;PST\nsing\tsang\tV;PST\nmouse\tmice\tN;PL\n",
    "sigmorphon2017/task1/russian-dev": "talk\ttalked\tV;PST\nhouse\thouses\tN;PL\n",
    "sigmorphon2016/finnish-task1-train": "talo\tpos=N,case=GEN\ttalon\nkala\tpos=N,case=GEN\tkalan\n",
    "sigmorphon2016/finnish-task1-dev": "pala\tpos=N,case=GEN\tpalan\nkalo\tpos=N,case=GEN\tkalon\n",
}


def benchmark(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def test_a_run_on_small_data(tmp_path):
    pytest.importorskip("dynet")
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    process = benchmark("--data", tmp_path, "--epochs=1", "--inputs=2")
    assert process.returncode == 0, process.stderr
    for row in ("CA-D, epochs 1 to 1", "CA-R, epochs 1 to 1", "CA, epochs 1 to 1", "greedy", "beam 4"):
        assert len(re.findall(rf"^  {row} +[\d.]+ +[\d.]+ +[\d.]+", process.stdout, re.M)) == 2, row
    assert len(re.findall(r"^  CA-[DR], epochs 1 to 29 +[\d.]+", process.stdout, re.M)) == 4
    assert process.stdout.count("2 of 2 outputs the same") == 4
    assert re.search(r"il-morph predict.*: [\d.]+ s", process.stdout)
    assert re.search(r"il-morph train.*: \d+ MB", process.stdout)
    assert len(re.findall(r"^  (?:yes|NO) ", process.stdout, re.M)) == 9


@pytest.mark.parametrize("arguments, message", [
    (["--data", "nowhere"], "no sigmorphon2017/task1/russian-train-low .* in nowhere: get the data with bin/fetch"),
    (["--data", "."], "say where they are with --data DIR"),
])
def test_data_that_are_not_there(arguments, message, tmp_path):
    process = benchmark(*arguments)
    assert process.returncode == 2
    assert re.search(f"benchmark.py: error: .*{message}", process.stderr)
    assert process.stdout == ""
