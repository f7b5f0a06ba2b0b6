"""How fast is il-morph? Ours beside the same network on DyNet's own LSTM builders, in one run.

Usage:
  benchmark.py [options]

Options:
  --data=DIR       the data, laid out as by bin/fetch_data.sh (default: data of the project, or ../shared/data)
  --epochs=N       timed epochs of training after the first one, for all models [default: 2]
  --inputs=N       inputs to decode [default: 1000]
  -h --help        show this
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Optional

from docopt import docopt

from il_morph.data.formats import FORMATS, read_samples
from il_morph.errors import InputError, errors_for_people
from il_morph.engines.dynet.engine import start_dynet
from il_morph.model.architecture import Architecture
from il_morph.model.modelfile import Model, save_model
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary

DYNET_MEMORY = 2048  # there are many models in one process, and the memory must not grow


@dataclass(frozen=True)
class DataSet:
    name: str
    format: str
    train: str
    dev: str
    lines: int


RUSSIAN = DataSet("2017-low Russian", "sigmorphon2017", "sigmorphon2017/task1/russian-train-low",
                  "sigmorphon2017/task1/russian-dev", 100)
FINNISH = DataSet("first 200 lines of 2016 Finnish", "sigmorphon2016", "sigmorphon2016/finnish-task1-train",
                  "sigmorphon2016/finnish-task1-dev", 200)


@dataclass
class Requirement:
    text: str
    value: float
    bound: float
    at_least: bool

    def __str__(self) -> str:
        met = self.value >= self.bound if self.at_least else self.value <= self.bound
        sign = ">=" if self.at_least else "<="
        return f"  {'yes' if met else 'NO':<4}{self.text}: {self.value:.2f} ({sign} {self.bound:g})"


def main(arguments: dict) -> None:
    folder = data_folder(arguments["--data"])
    epochs, inputs = positive(arguments, "--epochs"), positive(arguments, "--inputs")
    checks = measure_commands(folder)  # first, as a process inherits the peak memory of the one that starts it
    start_dynet(seed=1, mem=DYNET_MEMORY)
    print("\nCPU time of one thread. Stock: the same network on DyNet's LSTM builders (tests/stock_model.py).")
    for data in (RUSSIAN, FINNISH):
        checks += measure_speed(data, folder, epochs, inputs)
    print("\nrequired:", *checks, sep="\n")


def data_folder(given: Optional[str]) -> Path:
    """The folder that has both data sets."""
    candidates = [Path(given)] if given else [PROJECT / "data", PROJECT.parent / "shared" / "data"]
    for folder in candidates:
        if all((folder / path).is_file() for data in (RUSSIAN, FINNISH) for path in (data.train, data.dev)):
            return folder
    raise InputError(f"no {RUSSIAN.train} and {FINNISH.train} in {' or '.join(map(str, candidates))}: "
                     "get the data with bin/fetch_data.sh data, or say where they are with --data DIR")


def positive(arguments: dict, flag: str) -> int:
    if not arguments[flag].isdecimal() or int(arguments[flag]) < 1:
        raise InputError(f"{flag} takes a whole number from 1, not {arguments[flag]!r}")
    return int(arguments[flag])


# the commands

def measure_commands(data: Path) -> list[Requirement]:
    with tempfile.TemporaryDirectory() as temporary:
        seconds = start_up(data, Path(temporary))
        print(f"il-morph predict, one line, from start to end: {seconds:.2f} s", flush=True)
        memory = training_memory(data, Path(temporary))
        print(f"il-morph train, 2016 Finnish (1,000 lines, one epoch): {memory:.0f} MB at its peak", flush=True)
    return [Requirement("training 2016 Finnish, peak memory in GB", memory / 1000, 1.0, False)]


def start_up(data: Path, folder: Path) -> float:
    """Seconds that `il-morph predict` takes for one line, with a model of the paper's size."""
    samples = read_samples(data / RUSSIAN.train, FORMATS[RUSSIAN.format])
    vocabulary = Vocabulary.build(samples, ModelSettings(format=RUSSIAN.format))
    save_model(folder / "f.model", Model(vocabulary, Architecture(vocabulary).draw(seed=1)))
    line = vocabulary.format.line(samples[0], samples[0].output)
    (folder / "line").write_text(line + "\n", encoding="utf-8")
    return statistics.median(run_command("predict", folder / "f.model", folder / "line")[0] for _ in range(5))


def training_memory(data: Path, folder: Path) -> float:
    """Peak memory of training and scoring CA-R with 1,000 lines of 2016 Finnish and the whole dev set."""
    lines = (data / FINNISH.train).read_text(encoding="utf-8").split("\n")[:1000]
    (folder / "train").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return run_command("train", "--epochs=1", "--dynet-seed=1", folder / "train", data / FINNISH.dev,
                       folder / "results")[1]


def run_command(*arguments: object) -> tuple[float, float]:
    """Seconds and peak memory (MB) of `il-morph` with these arguments."""
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "il_morph", *map(str, arguments)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(PROJECT)})
    errors = process.stderr.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise InputError(f"il-morph {arguments[0]} failed:\n{errors}")
    unit = 1 if sys.platform == "darwin" else 1024
    return time.monotonic() - started, usage.ru_maxrss * unit / 1e6


# training and decoding

def measure_speed(data: DataSet, folder: Path, epochs: int, inputs: int) -> list[Requirement]:
    from speed import Bench  # imports DyNet

    samples = read_samples(folder / data.train, FORMATS[data.format], need_output=True)[:data.lines]
    bench = Bench(samples, read_samples(folder / data.dev, FORMATS[data.format])[:inputs], data.format)
    print(f"\n{data.name}: {len(samples)} samples, {len(bench.vocabulary.actions)} actions, "
          f"{bench.vocabulary.number_of_slots + 1} features", flush=True)
    training = bench.training(epochs)
    print_training(training, epochs)
    ca_d, ca_r = training["CA-D"].ours, training["CA-R"].ours
    bench.train_on([ca_d, ca_r])
    last = len(ca_d.milliseconds) - 1
    print_row(f"CA-D, epochs 1 to {last}", ca_d.later())
    print_row(f"CA-R, epochs 1 to {last}", ca_r.later())
    decoding = bench.decoding(ca_d.learner.weights())
    print_decoding(decoding, len(bench.dev))
    return speed_requirements(data.name, training, decoding, epochs)


def print_row(name: str, ours: float, stock: Optional[float] = None, note: str = "") -> None:
    theirs, ratio = ("–", "–") if stock is None else (f"{stock:.2f}", f"{stock / ours:.2f}")
    print(f"  {name:<28}{ours:>9.2f}{theirs:>9}{ratio:>12}   {note}".rstrip(), flush=True)


def print_training(rows: dict, epochs: int) -> None:
    print(f"  {'training, ms per sample':<28}{'ours':>9}{'stock':>9}{'stock/ours':>12}")
    for name, row in rows.items():
        print_row(f"{name}, first epoch", row.ours.first, row.stock and row.stock.first)
        print_row(f"{name}, epochs 1 to {epochs}", row.ours.later(epochs), row.stock and row.stock.later(epochs))


def print_decoding(rows: dict, inputs: int) -> None:
    print(f"  {'decoding, ms per input':<28}{'bulk':>9}{'1 by 1':>9}{'stock/ours':>12}")
    for name, row in rows.items():
        print_row(name, row.ours, row.stock, f"{row.same} of {inputs} outputs the same")


def speed_requirements(name: str, training: dict, decoding: dict, epochs: int) -> list[Requirement]:
    ca_d, ca_r = training["CA-D"], training["CA-R"]
    return [
        Requirement(f"{name}: CA-D training, stock / ours", ca_d.stock.later(epochs) / ca_d.ours.later(epochs), 1.4, True),
        Requirement(f"{name}: CA-R after its first epoch / CA-D", ca_r.ours.later() / ca_d.ours.later(), 1.6, False),
        *(Requirement(f"{name}: {search} decoding, stock one by one / ours in bulk", row.stock / row.ours, 12, True)
          for search, row in decoding.items()),
    ]


if __name__ == "__main__":
    with errors_for_people("benchmark.py"):
        main(docopt(__doc__))
