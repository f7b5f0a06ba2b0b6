"""The learner of the native engine: updates without DyNet."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Optional

import numpy as np

from il_morph.engines.native.batch import Batch
from il_morph.engines.native.network import NativeNetwork
from il_morph.engines.native.optimizers import Diverged, Optimizer
from il_morph.engines.native.weight_layout import Arrays
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import Objective, diverged
from il_morph.training.sampling import set_state, state_of


class NativeLearner:
    """A network, its objective and its optimiser."""

    def __init__(self, vocabulary: Vocabulary, objective: Objective, settings: TrainingSettings, kernels: ModuleType,
                 random: Optional[np.random.RandomState] = None):
        """`random` is what dropout draws from."""
        self.objective = objective
        self.network = NativeNetwork(vocabulary, kernels, dropout=settings.dropout, random=random)
        self.optimizer = Optimizer(self.network, settings.optimization, settings.l2)
        self.epoch = 0

    def set_learning_rate(self, rate: float) -> None:
        self.optimizer.rate = rate

    def begin_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        self.objective.begin_epoch(epoch)

    def update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        together = Batch(self.network, batch)
        counts = together.serve([self.objective.visit(decoder) for decoder in together.decoders])
        if not any(counts):
            return 0.0, 0
        loss, dscores = together.loss(counts)
        try:
            self.optimizer.update(self.network.backward(dscores))
        except Diverged as error:
            raise diverged(self.epoch, str(error)) from error
        return loss, sum(count > 0 for count in counts)

    def weights(self) -> Arrays:
        return self.network.weights()

    def set_weights(self, weights: Arrays) -> None:
        self.network.set_weights(weights)

    def state(self) -> Arrays:
        """What the next updates depend on besides the weights."""
        dropout = self.network.dropout
        return {**self.optimizer.state(), **(state_of(dropout.random) if dropout else {})}

    def restore(self, state: Arrays) -> None:
        self.optimizer.restore(state)
        if self.network.dropout:
            set_state(self.network.dropout.random, state)
