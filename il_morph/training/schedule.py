"""Training: epochs over shuffled samples, dev accuracy after each, early stopping."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from random import Random
from typing import Callable, Optional, Sequence

import numpy as np

from il_morph.model.search import decode
from il_morph.errors import InputError
from il_morph.model.inference import Inference
from il_morph.training.engine import Learner
from il_morph.training.likelihood import Teacher, mean_loss, producible
from il_morph.bars import bar
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary

log = logging.getLogger(__name__)

TRAIN_ACCURACY_SAMPLES = 100


@dataclass
class Epoch:
    """A row of the log."""

    epoch: int
    seconds: float
    loss: Optional[float]
    train_accuracy: float
    dev_accuracy: float
    dev_loss: Optional[float] = None

    START = -1  # the epoch that stands for the model a training starts from
    COLUMNS = ("epoch", "seconds", "loss", "train_accuracy", "dev_accuracy", "dev_loss")

    def cells(self) -> list[str]:
        values = [getattr(self, column) for column in self.COLUMNS]
        return ["NA" if v is None else f"{v:.4f}" if isinstance(v, float) else str(v) for v in values]


@dataclass
class Course:
    """How the training went: its epochs and the best of them.

    Patience counts from `best_trained`, which is not the model a training starts from: the first
    updates may throw that off, and it takes epochs to come back and go beyond.
    """

    epochs: list[Epoch] = field(default_factory=list)
    best: Optional[Epoch] = None
    best_trained: Optional[Epoch] = None
    weights: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def epochs_without_improvement(self) -> int:
        return self.epochs[-1].epoch - self.best_trained.epoch if self.best_trained else 0


@dataclass
class Training:
    """One phase of training: a learner, its data and its schedule."""

    learner: Learner
    teachers: Callable[[Sequence[Instance]], Sequence[Teacher]]  # who leads through samples when the dev loss is taken
    vocabulary: Vocabulary
    train: Sequence[Instance]
    dev: Sequence[Instance]
    settings: TrainingSettings
    random: Random
    on_epoch: Callable[[Epoch], None] = lambda epoch: None
    on_best: Callable[[Epoch, dict], None] = lambda epoch, weights: None
    verbose: bool = False
    until: Optional[float] = None  # the share of training samples whose output must be right to stop
    from_trained: bool = False  # the learner starts from a trained model: it has to be beaten

    def __post_init__(self) -> None:
        self.probe = self.random.sample(list(self.train), min(TRAIN_ACCURACY_SAMPLES, len(self.train)))

    def run(self) -> Course:
        """Train until the last epoch, or until `patience` epochs brought nothing better."""
        course = Course()
        for number in range(Epoch.START if self.from_trained else 0, self.settings.epochs):
            epoch, weights = self._epoch(number)
            course.epochs.append(epoch)
            if self._better(epoch, course.best):
                course.best, course.weights = epoch, weights
                self.on_best(epoch, weights)
            if number != Epoch.START and self._better(epoch, course.best_trained):
                course.best_trained = epoch
            self.on_epoch(epoch)
            if course.epochs_without_improvement >= self.settings.patience:
                log.info("no improvement in %d epochs: stopping", self.settings.patience)
                break
            if self.until is not None and epoch.train_accuracy >= 100 * self.until:
                log.info("train accuracy %.2f reached: stopping", epoch.train_accuracy)
                break
        return course

    def _better(self, epoch: Epoch, best: Optional[Epoch]) -> bool:
        if best is None:
            return True
        if epoch.dev_loss is not None and best.dev_loss is not None:  # --pick-loss
            return epoch.dev_loss < best.dev_loss
        return epoch.dev_accuracy > best.dev_accuracy

    def _epoch(self, number: int) -> tuple[Epoch, dict]:
        started, loss = time.monotonic(), None
        if number != Epoch.START:
            self.learner.begin_epoch(number)
            loss = self._pass(number)
        weights = self.learner.weights()
        inference = Inference(weights, self.vocabulary)
        epoch = Epoch(number, 0.0, loss, self._accuracy(inference, self.probe, 1),
                      self._accuracy(inference, self.dev, self.settings.beam_width))
        if self.settings.pick_loss:
            epoch.dev_loss = self._dev_loss(inference)
        epoch.seconds = time.monotonic() - started
        return epoch, weights

    def _pass(self, number: int) -> Optional[float]:
        """One pass over the shuffled training data; the mean loss of the samples that have one."""
        order, size = list(self.train), self.settings.batch_size
        self.random.shuffle(order)
        total, samples = 0.0, 0
        with bar(order, f"epoch {number}") as progress:
            for first in range(0, len(order), size):
                batch = order[first:first + size]
                value, count = self.learner.update(batch)
                total, samples = total + value * count, samples + count
                progress.update(len(batch))
                progress.set_postfix(loss=f"{total / max(samples, 1):.4f}", refresh=False)
        return total / samples if samples else None

    def _accuracy(self, inference: Inference, instances: Sequence[Instance], width: int) -> float:
        hypotheses = decode(inference, instances, width, self.settings.decbatch_size)
        correct = [found[0].output == instance.sample.output for found, instance in zip(hypotheses, instances)]
        if self.verbose and instances is self.dev:
            for found, instance in list(zip(hypotheses, instances))[:10]:
                log.info("dev: %s + %s -> %s (gold: %s)", instance.sample.input, instance.sample.tag,
                         found[0].output, instance.sample.output)
        return 100.0 * sum(correct) / len(correct)

    def _dev_loss(self, inference: Inference) -> float:
        dev = producible(self.dev, self.vocabulary)
        if not dev:
            raise InputError("--pick-loss: no dev output consists of characters seen in training; "
                             "use another dev file or leave out --pick-loss")
        return mean_loss(inference, dev, self.teachers(dev), self.settings.decbatch_size)
