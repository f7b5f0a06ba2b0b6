"""How fast is il-morph? Ours beside the same network on DyNet's own LSTM builders, in one run.

Usage:
  benchmark.py [options]

Options:
  --data=DIR       the data, laid out as by bin/fetch_data.sh (default: data of the project, or ../shared/data)
  --epochs=N       timed epochs of training after the first one [default: 2]
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
from dataclasses import dataclass, field
from random import Random
from typing import Callable, Optional, Sequence

from docopt import docopt

from il_morph.data import FORMATS, read_samples
from il_morph.decoding import decode
from il_morph.errors import InputError
from il_morph.experiment import start_dynet
from il_morph.inference import Inference
from il_morph.modelfile import Model, save_model
from il_morph.settings import ModelSettings, TrainingSettings
from il_morph.vocabulary import Instance, Vocabulary

start_dynet(seed=1, mem=2048)  # there are many models in this one process

import dynet as dy

from il_morph.network import Network
from il_morph.phases import gold_sequences, make_objective
from tests.simple_search import beam, greedy
from tests.stock_model import StockModel

CHUNK = 10  # samples of one model before it is the turn of the next: noise hits all of them
MRT_SAMPLES = 50


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

# The rows of the training table: name, flags, and whether the stock model can do it.
IMITATION = [
    ("CA-D", TrainingSettings(il_beta=1.0), True),
    ("CA-R", TrainingSettings(), True),
    ("CA (MLE)", TrainingSettings(mode="mle", aligner="cls"), True),
]
RISK = ("CA-MRT", TrainingSettings(mode="mrt", aligner="cls"))


@dataclass
class Learner:
    """A model that is trained, with the CPU time of each epoch per sample."""

    loss: Callable[[Instance], Optional[dy.Expression]]
    begin_epoch: Callable[[int], None]
    optimizer: dy.Trainer
    model: object
    milliseconds: list[float] = field(default_factory=list)

    def learn(self, instances: Sequence[Instance]) -> float:
        started = time.process_time()
        for instance in instances:
            dy.renew_cg()
            loss = self.loss(instance)
            if loss is not None:
                loss.value()
                loss.backward()
                self.optimizer.update()
        return time.process_time() - started

    @property
    def first(self) -> float:
        return self.milliseconds[0]

    @property
    def later(self) -> float:
        return statistics.mean(self.milliseconds[1:])


class Bench:
    """One data set and everything that is measured on it."""

    def __init__(self, data: DataSet, folder: Path, epochs: int, inputs: int):
        self.data, self.epochs = data, epochs
        fmt = FORMATS[data.format]
        samples = read_samples(folder / data.train, fmt, need_output=True)[:data.lines]
        self.dev = read_samples(folder / data.dev, fmt)[:inputs]
        self.vocabulary = Vocabulary.build(samples, ModelSettings(format=data.format))
        self.train = [self.vocabulary.instance(sample) for sample in samples]
        self.weights = Network(self.vocabulary).weights()

    # training

    def ours(self, settings: TrainingSettings, weights: Optional[dict] = None) -> Learner:
        network = Network(self.vocabulary)
        network.set_weights(weights or self.weights)
        gold = gold_sequences(self.vocabulary, self.train, settings, 1) if settings.mode != "il" else None
        objective = make_objective(network, settings, Random(1), gold)
        return Learner(objective.loss, objective.begin_epoch, dy.AdadeltaTrainer(network.collection), network)

    def stock(self, settings: TrainingSettings) -> Learner:
        """The stock model with our expert, roll-in schedule and gold sequences."""
        model, random = StockModel(self.vocabulary), Random(1)
        model.set_weights(self.weights)
        if settings.mode == "mle":
            gold = gold_sequences(self.vocabulary, self.train, settings, 1)
            return Learner(lambda instance: model.sequence_loss(instance, gold[instance]), lambda epoch: None,
                           dy.AdadeltaTrainer(model.collection), model)
        helper = make_objective(Network(self.vocabulary), settings, random)

        def loss(instance: Instance) -> dy.Expression:
            return model.loss(instance, helper.expert(instance), helper.model_rollin,
                              random.random() >= settings.il_beta, random)

        return Learner(loss, helper.begin_epoch, dy.AdadeltaTrainer(model.collection), model)

    def train_all(self, learners: Sequence[Learner], instances: Sequence[Instance], epochs: int) -> None:
        """Some epochs, the learners taking turns every few samples."""
        random = Random(1)
        for epoch in range(epochs):
            order, seconds = random.sample(instances, len(instances)), [0.0] * len(learners)
            for learner in learners:
                learner.begin_epoch(epoch)
            for first in range(0, len(order), CHUNK):
                for number, learner in enumerate(learners):
                    seconds[number] += learner.learn(order[first:first + CHUNK])
            for learner, total in zip(learners, seconds):
                learner.milliseconds.append(1000 * total / len(order))

    def training(self) -> dict[str, tuple[Learner, Optional[Learner]]]:
        rows = {name: (self.ours(settings), self.stock(settings) if stock else None)
                for name, settings, stock in IMITATION}
        self.train_all([learner for row in rows.values() for learner in row if learner], self.train, 1 + self.epochs)
        name, settings = RISK
        risk = self.ours(settings, rows["CA (MLE)"][0].model.weights())
        self.train_all([risk], self.train[:MRT_SAMPLES], 2)
        return {**rows, name: (risk, None)}

    # decoding

    def decoding(self, weights: dict) -> dict[str, tuple[float, float, int]]:
        """ms per input for ours in bulk and the stock model one by one, and how many outputs are the same."""
        stock = StockModel(self.vocabulary)
        stock.set_weights(weights)
        return {"greedy": self.decode_both(weights, 1, lambda instance: greedy(stock, instance)),
                "beam 4": self.decode_both(weights, 4, lambda instance: beam(stock, instance, 4)[0])}

    def decode_both(self, weights: dict, width: int, one_by_one: Callable) -> tuple[float, float, int]:
        """All inputs in bulk, then a quarter of them one by one, four times."""
        bulk, single, outputs = [], 0.0, []
        quarter = -(-len(self.dev) // 4)
        for first in range(0, len(self.dev), quarter):
            started = time.process_time()
            instances = [self.vocabulary.instance(sample) for sample in self.dev]
            found = decode(Inference(weights, self.vocabulary), instances, width)
            bulk.append(time.process_time() - started)
            started = time.process_time()
            outputs += [one_by_one(instance).output for instance in instances[first:first + quarter]]
            single += time.process_time() - started
        same = sum(hypotheses[0].output == output for hypotheses, output in zip(found, outputs))
        return 1000 * statistics.median(bulk) / len(self.dev), 1000 * single / len(self.dev), same

    def save(self, path: Path, weights: dict) -> None:
        save_model(path, Model(self.vocabulary, weights))


# the command

def run_command(*arguments: object) -> tuple[float, float]:
    """Seconds and peak memory (MB) of `il-morph` with these arguments."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "il_morph", *map(str, arguments)], env=environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status) if hasattr(os, "waitstatus_to_exitcode") else status
    if process.returncode:
        raise InputError(f"il-morph {arguments[0]} failed:\n{errors.decode('utf-8', 'replace')}")
    unit = 1 if sys.platform == "darwin" else 1024
    return time.monotonic() - started, usage.ru_maxrss * unit / 1e6


def start_up(bench: Bench, weights: dict, folder: Path) -> float:
    """Seconds that `il-morph predict` takes for one line."""
    bench.save(folder / "f.model", weights)
    line = bench.vocabulary.format.line(bench.dev[0], bench.dev[0].output)
    (folder / "line").write_text(line + "\n", encoding="utf-8")
    return statistics.median(run_command("predict", folder / "f.model", folder / "line")[0] for _ in range(5))


def training_memory(data: Path, folder: Path) -> float:
    """Peak memory of training and scoring CA-R with 1,000 lines of 2016 Finnish and the whole dev set."""
    lines = (data / FINNISH.train).read_text(encoding="utf-8").split("\n")[:1000]
    (folder / "train").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return run_command("train", "--epochs=1", "--dynet-seed=1", folder / "train", data / FINNISH.dev,
                       folder / "results")[1]


# the report

def print_row(name: str, ours: float, stock: Optional[float] = None, note: str = "") -> None:
    theirs, ratio = ("–", "–") if stock is None else (f"{stock:.2f}", f"{stock / ours:.2f}")
    print(f"  {name:<28}{ours:>9.2f}{theirs:>9}{ratio:>12}   {note}".rstrip(), flush=True)


def print_training(rows: dict[str, tuple[Learner, Optional[Learner]]]) -> None:
    print(f"  {'training, ms per sample':<28}{'ours':>9}{'stock':>9}{'stock/ours':>12}")
    for name, (ours, stock) in rows.items():
        print_row(f"{name}, first epoch", ours.first, stock and stock.first)
        print_row(f"{name}, later", ours.later, stock and stock.later)


def print_decoding(rows: dict[str, tuple[float, float, int]], inputs: int) -> None:
    print(f"  {'decoding, ms per input':<28}{'bulk':>9}{'1 by 1':>9}{'stock/ours':>12}")
    for name, (ours, stock, same) in rows.items():
        print_row(name, ours, stock, f"{same} of {inputs} outputs the same")


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


def requirements(name: str, training: dict, decoding: dict) -> list[Requirement]:
    ours, stock = training["CA-D"]
    return [
        Requirement(f"{name}: CA-D training, stock / ours", stock.later / ours.later, 1.4, True),
        Requirement(f"{name}: CA-R after its first epoch / CA-D", training["CA-R"][0].later / ours.later, 1.6, False),
        *(Requirement(f"{name}: {search} decoding, stock one by one / ours in bulk", one / bulk, 12, True)
          for search, (bulk, one, _) in decoding.items()),
    ]


def data_folder(given: Optional[str]) -> Path:
    """The folder that has both data sets."""
    candidates = [Path(given)] if given else [PROJECT / "data", PROJECT.parent / "shared" / "data"]
    for folder in candidates:
        if all((folder / path).is_file() for data in (RUSSIAN, FINNISH) for path in (data.train, data.dev)):
            return folder
    raise InputError(f"no {RUSSIAN.train} and {FINNISH.train} in {' or '.join(map(str, candidates))}: "
                     "get the data with bin/fetch_data.sh data, or say where they are with --data DIR")


def positive(arguments: dict, flag: str) -> int:
    if not arguments[flag].isdigit() or int(arguments[flag]) < 1:
        raise InputError(f"{flag} takes a whole number from 1, not {arguments[flag]!r}")
    return int(arguments[flag])


def main(arguments: dict) -> None:
    folder = data_folder(arguments["--data"])
    epochs, inputs = positive(arguments, "--epochs"), positive(arguments, "--inputs")
    checks: list[Requirement] = []
    print("CPU time of one thread. Stock: the same network on DyNet's LSTM builders (tests/stock_model.py).")
    for data in (RUSSIAN, FINNISH):
        bench = Bench(data, folder, epochs, inputs)
        print(f"\n{data.name}: {len(bench.train)} samples, {len(bench.vocabulary.actions)} actions, "
              f"{bench.vocabulary.number_of_slots + 1} features")
        training = bench.training()
        print_training(training)
        weights = training["CA-D"][0].model.weights()
        decoding = bench.decoding(weights)
        print_decoding(decoding, len(bench.dev))
        checks += requirements(data.name, training, decoding)
    with tempfile.TemporaryDirectory() as temporary:
        seconds = start_up(bench, weights, Path(temporary))
        print(f"\nil-morph predict, one line, from start to end: {seconds:.2f} s")
        memory = training_memory(folder, Path(temporary))
        print(f"il-morph train, 2016 Finnish (1,000 lines, one epoch): {memory:.0f} MB at its peak")
    checks.append(Requirement("peak memory of training, GB", memory / 1000, 1.0, False))
    print("\nrequired:", *checks, sep="\n")


if __name__ == "__main__":
    try:
        main(docopt(__doc__))
    except InputError as error:
        sys.exit(f"benchmark.py: error: {error}")
