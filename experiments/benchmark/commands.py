"""What the commands take from start to end: each is a process of its own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from datasets import FINNISH, PROJECT, RUSSIAN

from il_morph.engines import ENGINES
from il_morph.errors import InputError
from il_morph.model.architecture import Architecture
from il_morph.model.modelfile import Model, save_model
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary

MEMORY_LINES = 1000


@dataclass(frozen=True)
class Usage:
    """What a process took: seconds on the clock and of the processor, memory at its peak."""

    seconds: float
    cpu_seconds: float
    megabytes: float


def run_command(*arguments: object) -> Usage:
    """`il-morph` with these arguments."""
    return run_process([sys.executable, "-m", "il_morph", *map(str, arguments)])


def run_process(command: list[str]) -> Usage:
    """A program, with il_morph on its path."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": str(PROJECT)})
    errors = process.stderr.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise InputError(f"{' '.join(command[:4])} failed:\n{errors}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Usage(time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


def start_up(data: Path, folder: Path) -> float:
    """Seconds that `il-morph predict` takes for one line, with a model of the paper's size."""
    samples = RUSSIAN.train(data)
    vocabulary = Vocabulary.build(samples, ModelSettings(format=RUSSIAN.format))
    save_model(folder / "f.model", Model(vocabulary, Architecture(vocabulary).draw(seed=1)))
    line = vocabulary.format.line(samples[0], samples[0].output)
    (folder / "line").write_text(line + "\n", encoding="utf-8")
    return statistics.median(run_command("predict", folder / "f.model", folder / "line").seconds for _ in range(5))


def compile_kernels(data: Path, folder: Path) -> None:
    """Numba keeps what it has compiled; the first training of all is none that is measured."""
    lines = first_lines(data / RUSSIAN.train_path, folder / "few", 5)
    train("native", 1, lines, lines, folder / "compiled", "--sigm2017format")


def training_usage(data: Path, folder: Path) -> dict[str, Usage]:
    """Of one epoch of CA-R with 1,000 lines of 2016 Finnish, and of scoring the whole dev set, by engine."""
    lines = first_lines(data / FINNISH.train_path, folder / "train", MEMORY_LINES)
    return {engine: train(engine, 1, lines, data / FINNISH.dev_path, folder / f"memory-{engine}")
            for engine in ENGINES}


def whole_training(data: Path, folder: Path, epochs: int) -> dict[str, Usage]:
    """Of CA-R on 2017-low Russian, evaluation included, by engine, one after the other."""
    return {engine: train(engine, epochs, data / RUSSIAN.train_path, data / RUSSIAN.dev_path,
                          folder / f"whole-{engine}", "--sigm2017format") for engine in ENGINES}


def train(engine: str, epochs: int, train_path: Path, dev_path: Path, results: Path, *flags: str) -> Usage:
    return run_command("train", f"--engine={engine}", f"--epochs={epochs}", f"--patience={epochs}", "--dynet-seed=1",
                       *flags, train_path, dev_path, results)


def first_lines(path: Path, copy: Path, number: int) -> Path:
    """The copy, which has so many lines."""
    lines = path.read_text(encoding="utf-8").split("\n")[:number]
    copy.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")
    return copy
