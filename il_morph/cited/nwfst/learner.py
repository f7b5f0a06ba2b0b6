"""The objective, the engine and the learner of NWFST."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import isfinite
from types import ModuleType
from typing import Optional

import numpy as np

from il_morph.cited.nwfst.inference import Shape, Weights, check_alphabet, symbols_of
from il_morph.cited.nwfst.lattice import LONGER, check_length
from il_morph.cited.nwfst.network import RATE, SLOWER, DropoutMasks, NwfstNetwork, lattice_kernels
from il_morph.errors import InputError
from il_morph.model.settings import CONSTANT, ModelSettings, TrainingSettings
from il_morph.model.threads import use_one_thread
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.dev_loss import GoldTeacher
from il_morph.training.engine import Learner, Objective, SampleDecoder, Visit
from il_morph.training.sampling import set_state, state_of

log = logging.getLogger(__name__)


def is_in_lattice(instance: Instance) -> bool:
    """Is there a path that yields the output of the sample?"""
    return len(instance.sample.output or "") <= len(instance.sample.input) + LONGER


class AllPaths:
    """−log P of the output over all paths that yield it. It decides nothing: the learner computes the sum."""

    def begin_epoch(self, epoch: int) -> None:
        """No schedule depends on the epoch."""

    def visit(self, decoder: SampleDecoder) -> Visit:
        raise TypeError("a lattice is not visited step by step")

    def teachers(self, instances: Sequence[Instance]) -> list[GoldTeacher]:
        raise TypeError("a lattice has no gold sequences")


class NwfstEngine:
    """Makes learners of NWFST; the seed given to `start` drives their dropout."""

    name = "native"
    resumable = True

    @property
    def kernels_name(self) -> str:
        return lattice_kernels().NAME

    def refuse(self, model: ModelSettings, training: TrainingSettings) -> None:
        if model.data_format.separator is not None:
            raise InputError("--architecture=nwfst reads no features: give data without them, or read it with "
                             "--no-feat-format")
        wanted = {"optimization": "SGD", "batch_size": 1, "dropout": 0.0, "l2": 0.0, "pick_loss": False,
                  "mle_loss": "sum", "learning_rate": 0.0, "lr_schedule": CONSTANT}
        for name, value in wanted.items():
            if getattr(training, name) != value:
                raise InputError(f"--{name.replace('_', '-')}: --architecture=nwfst leaves no choice there, its "
                                 "gradient descent and dropout are part of it: leave the flag out (see --model=nwfst)")

    def start(self, vocabulary: Vocabulary, training: TrainingSettings, train: Sequence[Instance], seed: int) -> None:
        use_one_thread()
        self.random = np.random.RandomState(seed)
        shape = Shape.of(vocabulary)
        check_alphabet(shape)
        check_length(max(len(instance.sample.input) for instance in train), shape.letters)
        outside = len(train) - sum(map(is_in_lattice, train))
        if outside == len(train):
            raise InputError(f"all training outputs are more than {LONGER} characters longer than their inputs, and "
                             "--architecture=nwfst cannot write those: train another model")
        if outside:
            log.warning("train: %d of %d outputs are more than %d characters longer than their inputs; "
                        "they are left out", outside, len(train), LONGER)

    def learner(self, vocabulary: Vocabulary, objective: Objective, training: TrainingSettings) -> Learner:
        """The objective is always the likelihood of the output, over all paths that yield it."""
        return NwfstLearner(vocabulary, self.random)


class NwfstLearner:
    """Stochastic gradient descent; the rate shrinks if the loss of an epoch has gone up twice in a row."""

    def __init__(self, vocabulary: Vocabulary, random: np.random.RandomState, kernels: Optional[ModuleType] = None):
        self.vocabulary, self.random = vocabulary, random
        self.network = NwfstNetwork(Shape.of(vocabulary), {}, kernels)
        self.rate, self.epoch = RATE, 0
        self.losses: list[float] = []  # of the epochs, the current one included
        log.info("NWFST, %s kernels", self.network.kernels.NAME)

    def set_learning_rate(self, rate: float) -> None:
        """Ignored: NWFST has a schedule of its own."""

    def begin_epoch(self, epoch: int) -> None:
        if len(self.losses) > 2 and self.losses[-1] > self.losses[-2] > self.losses[-3]:
            self.rate *= SLOWER
        self.epoch = epoch
        self.losses.append(0.0)

    def update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        (instance,) = batch
        if not is_in_lattice(instance):
            return 0.0, 0
        word, output = (np.array(symbols_of(self.vocabulary, text), dtype=np.int64)
                        for text in (instance.sample.input, instance.sample.output or ""))
        masks = DropoutMasks.draw(self.network.shape, len(word) + 1, self.random, np.float32)
        loss, gradients = self.network.loss(word, output, masks)
        if not isfinite(loss):
            raise InputError(f"training diverged in epoch {self.epoch}: the loss is no longer finite; "
                             "try another --dynet-seed")
        self.network.update(gradients, self.rate)
        self.losses[-1] += loss
        return loss, 1

    def weights(self) -> Weights:
        return {name: array.copy() for name, array in self.network.weights.items()}

    def set_weights(self, weights: Weights) -> None:
        self.network.weights = {name: array.astype(np.float32) for name, array in weights.items()}

    def state(self) -> Weights:
        """The state of the schedule and of the random numbers of dropout."""
        return {"rate": np.array([self.rate]), "losses": np.array(self.losses), **state_of(self.random)}

    def restore(self, state: Weights) -> None:
        self.rate, self.losses = float(state["rate"][0]), state["losses"].tolist()
        set_state(self.random, state)
