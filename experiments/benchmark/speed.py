"""The speed of training and decoding in CPU time of one thread, everything that is compared taking turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Callable, Optional, Union

import dynet as dy
from simple_search import beam, greedy
from stock_model import StockModel

from il_morph.data.formats import Sample
from il_morph.engines.dynet.engine import DynetEngine
from il_morph.engines.native import kernels_numba, kernels_numpy
from il_morph.engines.native.engine import NativeEngine
from il_morph.model.architecture import Architecture
from il_morph.model.inference import Inference
from il_morph.model.search import Hypothesis, decode
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import Learner, Objective
from il_morph.training.phases import gold_sequences, make_objective

CHUNK = 50  # samples of one learner before it is the turn of the next: noise hits all, and caches are those of one
MRT_SAMPLES = 50
LONG_SAMPLES = 100

# The rows of the training table. MRT starts from the model of CA.
CA_D = TrainingSettings(il_beta=1.0)
CA_R = TrainingSettings()
OBJECTIVES = {"CA-D": CA_D, "CA-R": CA_R, "CA": TrainingSettings(mode="mle", aligner="cls")}
MRT = TrainingSettings(mode="mrt", aligner="cls")

# Its columns. The stock model is the first one, and does no MRT.
ENGINES = {"dynet": DynetEngine(), "numba": NativeEngine(kernels_numba), "numpy": NativeEngine(kernels_numpy)}
STOCK = "stock"
LONG = ("dynet", "numba")  # those that go on to the end of a training


class StockLearner:
    """The stock model in training: a loss for each sample, one update after the other."""

    def __init__(self, model: StockModel, loss: Callable[[Instance], dy.Expression], objective: Objective):
        self.model, self.loss, self.objective = model, loss, objective
        self.optimizer = dy.AdadeltaTrainer(model.collection)

    def begin_epoch(self, epoch: int) -> None:
        self.objective.begin_epoch(epoch)

    def update(self, batch: Sequence[Instance]) -> None:
        dy.renew_cg()
        loss = dy.average([self.loss(instance) for instance in batch])
        loss.value()
        loss.backward()
        self.optimizer.update()


@dataclass
class Timed:
    """A learner, with the CPU time of each epoch in ms per sample."""

    learner: Union[Learner, StockLearner]
    batch_size: int = 1
    milliseconds: list[float] = field(default_factory=list)

    def learn(self, instances: Sequence[Instance]) -> float:
        """Seconds for the updates on these samples."""
        started = time.process_time()
        for first in range(0, len(instances), self.batch_size):
            self.learner.update(instances[first:first + self.batch_size])
        return time.process_time() - started

    @property
    def first(self) -> float:
        return self.milliseconds[0]

    def later(self, epochs: Optional[int] = None) -> float:
        """The mean of the epochs after the first one, of so many or of all."""
        return statistics.mean(self.milliseconds[1:None if epochs is None else 1 + epochs])


Cells = dict[str, Timed]  # the learners of a row, by the name of their column


@dataclass(frozen=True)
class Decoding:
    """ms per input, in bulk and the stock model one by one, and how many outputs are the same."""

    bulk: float
    single: float
    same: int


class Bench:
    """One data set and everything that is measured on it."""

    def __init__(self, train: Sequence[Sample], dev: Sequence[Sample], data_format: str):
        self.vocabulary = Vocabulary.build(train, ModelSettings(format=data_format))
        self.train, self.dev = [self.vocabulary.instance(sample) for sample in train], dev
        self.weights = Architecture(self.vocabulary).draw(seed=1)

    def load_kernels(self) -> None:
        """What Numba compiles or loads when a function is first called is no part of an epoch."""
        for settings in (*OBJECTIVES.values(), MRT):
            learner = self.timed("numba", settings).learner
            learner.begin_epoch(0)
            for batch in (*([instance] for instance in self.train[:CHUNK]), self.train[:CHUNK]):
                learner.update(batch)

    # learners

    def timed(self, column: str, settings: TrainingSettings, weights: Optional[dict] = None,
              batch_size: int = 1) -> Timed:
        """The learner of a column, at its beginning."""
        gold = None if settings.mode == "il" else gold_sequences(self.vocabulary, self.train, settings, seed=1)
        objective = make_objective(self.vocabulary, settings, Random(1), gold)
        if column == STOCK:
            return Timed(self.stock_learner(settings, objective, gold))
        learner = ENGINES[column].learner(self.vocabulary, objective, settings)
        learner.set_weights(weights or self.weights)
        return Timed(learner, batch_size)

    def stock_learner(self, settings: TrainingSettings, objective: Any, gold: Any) -> StockLearner:
        """The stock model with the expert, the roll-in schedule or the gold sequences of ours."""
        model = StockModel(self.vocabulary)
        model.set_weights(self.weights)

        def imitation(instance: Instance) -> dy.Expression:
            rolls_out = objective.random.random() >= settings.il_beta
            return model.loss(instance, objective.expert(instance), objective.model_rollin, rolls_out, objective.random)

        def likelihood(instance: Instance) -> dy.Expression:
            return model.sequence_loss(instance, gold[instance])

        return StockLearner(model, imitation if settings.mode == "il" else likelihood, objective)

    # training

    def training(self, epochs: int) -> dict[str, Cells]:
        """The learners of each row after the first epoch and so many more."""
        rows = {name: {column: self.timed(column, settings) for column in (STOCK, *ENGINES)}
                for name, settings in OBJECTIVES.items()}
        take_turns(of_all(rows), self.train, range(1 + epochs))
        pretrained = rows["CA"]["dynet"].learner.weights()
        mrt = {column: self.timed(column, MRT, pretrained) for column in ENGINES}
        take_turns(list(mrt.values()), self.train[:MRT_SAMPLES], range(1 + epochs))
        return {**rows, "CA-MRT": mrt}

    def train_on(self, rows: dict[str, Cells], last_epoch: int) -> dict[str, Cells]:
        """Go on with CA-D and CA-R where `training` has ended: roll-outs get shorter as a model learns."""
        going_on = {name: {column: rows[name][column] for column in LONG} for name in ("CA-D", "CA-R")}
        done = len(rows["CA-D"]["dynet"].milliseconds)
        take_turns(of_all(going_on), self.train[:LONG_SAMPLES], range(done, 1 + last_epoch))
        return going_on

    def batches(self, sizes: Sequence[int], epochs: int) -> dict[str, Cells]:
        """CA-D and CA-R by batch size; turns are whole epochs, so that all batches but the last of an epoch are full.

        CA-R starts from a trained model: in large batches a new one learns so slowly that its roll-outs stay long.
        """
        starts = {"CA-D": (CA_D, self.weights), "CA-R": (CA_R, self.trained_weights())}
        columns = [column for column in ENGINES if column != "dynet"]
        rows = {f"{name}, batch size {size}": {
            column: self.timed(column, replace(settings, batch_size=size), weights, size) for column in columns}
            for name, (settings, weights) in starts.items() for size in sizes}
        take_turns(of_all(rows), self.train, range(1 + epochs), chunk=len(self.train))
        return rows

    # decoding

    def trained_weights(self, epochs: int = 10) -> dict:
        learner = self.timed("numba", CA_D)
        take_turns([learner], self.train, range(epochs))
        return learner.learner.weights()

    def decoding(self) -> dict[str, Decoding]:
        weights, stock = self.trained_weights(), StockModel(self.vocabulary)
        stock.set_weights(weights)
        return {"greedy": self.decode_both(weights, 1, lambda instance: greedy(stock, instance)),
                "beam 4": self.decode_both(weights, 4, lambda instance: beam(stock, instance, 4)[0])}

    def decode_both(self, weights: dict, width: int, one_by_one: Callable[[Instance], Hypothesis]) -> Decoding:
        """Four times: all inputs in bulk, then a quarter of them one by one."""
        bulk, single, outputs = [], 0.0, []
        quarter = -(-len(self.dev) // 4)
        for first in range(0, len(self.dev), quarter):
            seconds, (instances, found) = cpu_seconds(lambda: self.decode_in_bulk(weights, width))
            bulk.append(seconds)
            some = instances[first:first + quarter]
            seconds, found_singly = cpu_seconds(lambda some=some: [one_by_one(instance).output for instance in some])
            single, outputs = single + seconds, outputs + found_singly
        same = sum(hypotheses[0].output == output for hypotheses, output in zip(found, outputs))
        inputs = len(self.dev)
        return Decoding(1000 * statistics.median(bulk) / inputs, 1000 * single / inputs, same)

    def decode_in_bulk(self, weights: dict, width: int) -> tuple[list[Instance], list[list[Hypothesis]]]:
        instances = [self.vocabulary.instance(sample) for sample in self.dev]
        return instances, decode(Inference(weights, self.vocabulary), instances, width)


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """What it takes and what it returns."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def of_all(rows: dict[Any, Cells]) -> list[Timed]:
    return [timed for cells in rows.values() for timed in cells.values()]


def take_turns(learners: Sequence[Timed], instances: Sequence[Instance], epochs: range, chunk: int = CHUNK) -> None:
    """Some epochs, the learners taking turns every few samples."""
    random = Random(1)
    for epoch in epochs:
        order, seconds = random.sample(instances, len(instances)), [0.0] * len(learners)
        for learner in learners:
            learner.learner.begin_epoch(epoch)
        for first in range(0, len(order), chunk):
            for number, learner in enumerate(learners):
                seconds[number] += learner.learn(order[first:first + chunk])
        for learner, total in zip(learners, seconds):
            learner.milliseconds.append(1000 * total / len(order))
