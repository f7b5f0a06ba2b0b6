"""The speed of training and decoding, ours and the stock model taking turns."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from random import Random
from typing import Callable, Optional, Sequence, Union

import dynet as dy

from il_morph.data.formats import Sample
from il_morph.model.search import Hypothesis, decode
from il_morph.model.inference import Inference
from il_morph.engines.dynet.learner import DynetLearner
from il_morph.engines.dynet.network import Network
from il_morph.model.architecture import Architecture
from il_morph.training.engine import Learner, Objective
from il_morph.training.phases import gold_sequences, make_objective
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from simple_search import beam, greedy
from stock_model import StockModel

CHUNK = 10  # samples of one model before it is the turn of the next: noise hits all of them
MRT_SAMPLES = 50
WHOLE_TRAINING = 30  # epochs

# The rows of the training table. MRT starts from the model of the row before it and has no stock counterpart.
OBJECTIVES = {
    "CA-D": TrainingSettings(il_beta=1.0),
    "CA-R": TrainingSettings(),
    "CA": TrainingSettings(mode="mle", aligner="cls"),
}
MRT = TrainingSettings(mode="mrt", aligner="cls")


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
    milliseconds: list[float] = field(default_factory=list)

    def learn(self, instances: Sequence[Instance]) -> float:
        """Seconds for one update on each of these samples."""
        started = time.process_time()
        for instance in instances:
            self.learner.update([instance])
        return time.process_time() - started

    @property
    def first(self) -> float:
        return self.milliseconds[0]

    def later(self, epochs: Optional[int] = None) -> float:
        """The mean of the epochs after the first one, of so many or of all."""
        return statistics.mean(self.milliseconds[1:None if epochs is None else 1 + epochs])


@dataclass
class TrainingRow:
    ours: Timed
    stock: Optional[Timed] = None


@dataclass
class DecodingRow:
    """ms per input, ours in bulk and the stock model one by one, and how many outputs are the same."""

    ours: float
    stock: float
    same: int


class Bench:
    """One data set and everything that is measured on it."""

    def __init__(self, train: Sequence[Sample], dev: Sequence[Sample], data_format: str):
        self.vocabulary = Vocabulary.build(train, ModelSettings(format=data_format))
        self.train, self.dev = [self.vocabulary.instance(sample) for sample in train], dev
        self.weights = Architecture(self.vocabulary).draw(seed=1)

    # training

    def training(self, epochs: int) -> dict[str, TrainingRow]:
        rows = {name: self.row(settings) for name, settings in OBJECTIVES.items()}
        take_turns([learner for row in rows.values() for learner in (row.ours, row.stock)], self.train, 1 + epochs)
        mrt = self.ours(MRT, rows["CA"].ours.learner.weights())
        take_turns([mrt], self.train[:MRT_SAMPLES], 1 + epochs)
        return {**rows, "CA-MRT": TrainingRow(mrt)}

    def train_on(self, learners: Sequence[Timed]) -> None:
        """Go on to the end of a training as long as those of SIGMORPHON 2016."""
        take_turns(learners, self.train, WHOLE_TRAINING, first_epoch=len(learners[0].milliseconds))

    def row(self, settings: TrainingSettings) -> TrainingRow:
        ours = self.ours(settings, self.weights)
        return TrainingRow(ours, self.stock(settings))

    def ours(self, settings: TrainingSettings, weights: dict) -> Timed:
        objective = make_objective(self.vocabulary, settings, Random(1), self.gold(settings))
        learner = DynetLearner(Network(self.vocabulary), objective, settings)
        learner.set_weights(weights)
        return Timed(learner)

    def stock(self, settings: TrainingSettings) -> Timed:
        """The stock model with the expert, the roll-in schedule or the gold sequences of ours."""
        model, gold = StockModel(self.vocabulary), self.gold(settings)
        model.set_weights(self.weights)
        objective = make_objective(self.vocabulary, settings, Random(1), gold)

        def imitation(instance: Instance) -> dy.Expression:
            rolls_out = objective.random.random() >= settings.il_beta
            return model.loss(instance, objective.expert(instance), objective.model_rollin, rolls_out, objective.random)

        def likelihood(instance: Instance) -> dy.Expression:
            return model.sequence_loss(instance, gold[instance])

        return Timed(StockLearner(model, imitation if settings.mode == "il" else likelihood, objective))

    def gold(self, settings: TrainingSettings):
        return None if settings.mode == "il" else gold_sequences(self.vocabulary, self.train, settings, seed=1)

    # decoding

    def decoding(self, weights: dict) -> dict[str, DecodingRow]:
        stock = StockModel(self.vocabulary)
        stock.set_weights(weights)
        return {"greedy": self.decode_both(weights, 1, lambda instance: greedy(stock, instance)),
                "beam 4": self.decode_both(weights, 4, lambda instance: beam(stock, instance, 4)[0])}

    def decode_both(self, weights: dict, width: int, one_by_one: Callable[[Instance], Hypothesis]) -> DecodingRow:
        """Four times: all inputs in bulk, then a quarter of them one by one."""
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
        inputs = len(self.dev)
        return DecodingRow(1000 * statistics.median(bulk) / inputs, 1000 * single / inputs, same)


def take_turns(learners: Sequence[Timed], instances: Sequence[Instance], epochs: int, first_epoch: int = 0) -> None:
    """Some epochs, the learners taking turns every few samples."""
    random = Random(1)
    for epoch in range(first_epoch, epochs):
        order, seconds = random.sample(instances, len(instances)), [0.0] * len(learners)
        for learner in learners:
            learner.learner.begin_epoch(epoch)
        for first in range(0, len(order), CHUNK):
            for number, learner in enumerate(learners):
                seconds[number] += learner.learn(order[first:first + CHUNK])
        for learner, total in zip(learners, seconds):
            learner.milliseconds.append(1000 * total / len(order))
