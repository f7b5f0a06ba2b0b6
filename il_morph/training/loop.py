"""Training: epochs over shuffled samples, dev accuracy after each, early stopping."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Callable, Optional

from il_morph.bars import bar, epochs_bar
from il_morph.errors import InputError
from il_morph.model.architectures import inference_of
from il_morph.model.search import SearchModel, TooLarge
from il_morph.model.settings import BY_LOSS, TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.augmentation import Augmentation
from il_morph.training.dev_loss import Teacher, mean_loss, producible
from il_morph.training.engine import Learner, diverged
from il_morph.training.history import Epoch, History
from il_morph.training.learning_rate import epoch_rates

log = logging.getLogger(__name__)

TRAIN_ACCURACY_SAMPLES = 100


@dataclass
class TrainingLoop:
    """One phase of training: a learner, its data and its schedule."""

    learner: Learner
    teachers: Callable[[Sequence[Instance]], Sequence[Teacher]]  # for the dev loss
    vocabulary: Vocabulary
    train: Sequence[Instance]
    dev: Sequence[Instance]
    settings: TrainingSettings
    random: Random
    on_epoch: Callable[[Epoch], None] = lambda epoch: None
    on_best: Callable[[Epoch, dict], None] = lambda epoch, weights: None
    verbose: bool = False
    until: Optional[float] = None  # stop when this share of training outputs is correct
    from_trained: bool = False  # the learner starts from a trained model, which has to be beaten

    history: History = field(default_factory=History)  # the epochs so far, when a training is resumed
    probe: Optional[list[int]] = None  # the numbers of the training samples on which train accuracy is measured

    def __post_init__(self) -> None:
        if self.probe is None:
            self.probe = self.random.sample(range(len(self.train)), min(TRAIN_ACCURACY_SAMPLES, len(self.train)))
        self.augmentation = Augmentation(self.settings.augment, self.vocabulary, self.train)
        self.probed = [self.train[number] for number in self.probe]

    def run(self) -> History:
        """Train until the last epoch, until `patience` epochs brought no better model, or until `until` is reached."""
        with epochs_bar(self.settings.epochs, max(self._next_epoch(), 0)) as progress:
            while not self._is_over():
                epoch, weights = self._epoch(self._next_epoch())
                if self.history.add(epoch, weights, later=self.settings.pick_ties == "later"):
                    self.on_best(epoch, weights)
                    progress.set_postfix(best=f"{epoch.dev_accuracy:.1f}", refresh=False)
                self.on_epoch(epoch)
                progress.update(epoch.epoch != Epoch.START)
        return self.history

    def _next_epoch(self) -> int:
        return self.history.next_epoch(Epoch.START if self.from_trained else 0)

    def _is_over(self) -> bool:
        if self.history.epochs and self.history.epochs_without_improvement >= self.settings.patience:
            log.info("no improvement in %d epochs: stopping", self.settings.patience)
            return True
        reached = self.history.epochs[-1].train_accuracy if self.history.epochs else -1.0
        if self.until is not None and reached >= 100 * self.until:
            log.info("train accuracy %.2f reached: stopping", reached)
            return True
        return self._next_epoch() >= self.settings.epochs

    def _epoch(self, number: int) -> tuple[Epoch, dict]:
        started, loss = time.monotonic(), None
        if number != Epoch.START:
            self.learner.begin_epoch(number)
            loss = self._pass(number)
        weights = self.learner.weights()
        inference = inference_of(weights, self.vocabulary)
        try:
            epoch = Epoch(number, 0.0, loss, self._accuracy(inference, self.probed, 1),
                          self._accuracy(inference, self.dev, self.settings.beam_width))
        except TooLarge as error:
            raise diverged(max(number, 0), str(error)) from error
        if self.settings.pick_loss:
            epoch.dev_loss = self._dev_loss(inference)
            if epoch.dev_loss is None:
                raise InputError("--pick-loss: no dev output consists of characters seen in training; "
                                 "use another dev file or leave out --pick-loss")
        elif self.settings.pick_ties == BY_LOSS:
            epoch.tie_loss = self._dev_loss(inference)
        epoch.seconds = time.monotonic() - started
        return epoch, weights

    def _order(self, number: int) -> list[Instance]:
        """The training samples and fakes, in the order in which the epoch with this number visits them."""
        order = [*self.train, *self.augmentation.instances(number, self.random)]
        if self.settings.sample_order == "length":
            order.sort(key=lambda instance: len(instance.sample.input))
        else:
            self.random.shuffle(order)
        return order

    def _pass(self, number: int) -> Optional[float]:
        """Make one pass over the training data; return the mean loss of the samples that have a loss."""
        order, size = self._order(number), self.settings.batch_size
        total, samples = 0.0, 0
        with bar(order, f"epoch {number}") as progress:
            batches = [order[first:first + size] for first in range(0, len(order), size)]
            rates = epoch_rates(self.settings, number, self.history.epochs, len(batches))
            for batch, rate in zip(batches, rates):
                self.learner.set_learning_rate(rate)
                value, count = self.learner.update(batch)
                total, samples = total + value * count, samples + count
                progress.update(len(batch))
                progress.set_postfix(loss=f"{total / max(samples, 1):.4f}", refresh=False)
        return total / samples if samples else None

    def _accuracy(self, inference: SearchModel, instances: Sequence[Instance], width: int) -> float:
        outputs = inference.best_outputs(instances, width, self.settings.decbatch_size)
        correct = [output == instance.sample.output for output, instance in zip(outputs, instances)]
        if self.verbose and instances is self.dev:
            for output, instance in list(zip(outputs, instances))[:10]:
                sample, symbols = instance.sample, instance.symbols
                log.info("dev: %s + %s -> %s (gold: %s)", symbols.input(sample.input), sample.tag,
                         symbols.output(output), symbols.output(sample.target))
        return 100.0 * sum(correct) / len(correct)

    def _dev_loss(self, inference: SearchModel) -> Optional[float]:
        """The mean dev loss; None if the model can write none of the dev outputs."""
        dev = producible(self.dev, self.vocabulary)
        if not dev:
            return None
        return mean_loss(inference, dev, self.teachers(dev), self.settings.decbatch_size)
