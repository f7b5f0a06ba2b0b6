"""Updates with DyNet: one computation graph per batch, one of DyNet's trainers."""

from __future__ import annotations

from collections.abc import Sequence

import dynet as dy
import numpy as np

from il_morph.engines.dynet.decoder import DynetDecoder
from il_morph.engines.dynet.memory_estimate import errors_of_pools
from il_morph.engines.dynet.network import AnyNetwork
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Instance
from il_morph.training.engine import Objective, diverged, reply_to
from il_morph.training.learning_rate import OPTIMIZER_RATES

ADADELTA = "ADADELTA"
OPTIMIZERS = {
    ADADELTA: dy.AdadeltaTrainer,
    "ADAM": dy.AdamTrainer,
    "SGD": dy.SimpleSGDTrainer,
    "MOMENTUM": dy.MomentumSGDTrainer,
    "ADAGRAD": dy.AdagradTrainer,
}


class DynetLearner:
    def __init__(self, network: AnyNetwork, objective: Objective, settings: TrainingSettings):
        self.network, self.objective, self.settings = network, objective, settings
        self.optimizer = OPTIMIZERS[settings.optimization](network.collection)
        self.parameters = network.collection.parameters_list() + network.collection.lookup_parameters_list()
        self.epoch = 0
        self.set_learning_rate(OPTIMIZER_RATES[settings.optimization])

    def set_learning_rate(self, rate: float) -> None:
        self.rate = self.optimizer.learning_rate = rate

    def begin_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        self.objective.begin_epoch(epoch)

    def update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        with errors_of_pools():
            return self._update(batch)

    def _update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        """The loss of a batch is the sum of the losses of its samples, divided by the sum of their counts."""
        dy.renew_cg()
        visits = [visit for visit in map(self.visit, batch) if visit[1]]
        if not visits:
            return 0.0, 0
        loss = dy.esum([loss for losses, _ in visits for loss in losses]) / sum(count for _, count in visits)
        value = loss.value()
        if self.settings.l2:
            loss += self.penalty()
        try:
            loss.backward()
            self._change_weights()
        except RuntimeError as error:  # DyNet: "Magnitude of gradient is bad"
            raise diverged(self.epoch, str(error)) from error
        return value, len(visits)

    def _change_weights(self) -> None:
        """Update the weights. For ADADELTA, where DyNet ignores the learning rate, apply it here.

        The step of ADADELTA does not depend on the weights. So they are divided by the rate before the update and
        multiplied by it afterwards: (w / rate + step) · rate = w + rate · step.
        """
        if self.settings.optimization != ADADELTA or self.rate == 1:
            self.optimizer.update()
            return
        for parameter in self.parameters:
            parameter.scale(1 / self.rate)
        self.optimizer.update()
        for parameter in self.parameters:
            parameter.scale(self.rate)

    def visit(self, instance: Instance) -> tuple[list[dy.Expression], int]:
        """The losses of a sample in the current graph, and the count that their sum is divided by."""
        decoder = DynetDecoder(self.network, instance, self.settings.dropout)
        count = reply_to(self.objective.visit(decoder), decoder.serve)
        return decoder.losses, count

    def penalty(self) -> dy.Expression:
        """Half the sum of the norms of the weight matrices, times `--l2`."""
        norms = [dy.sqrt(dy.esum([dy.squared_norm(block) for block in matrix.blocks.values()]))
                 for matrix in self.network.matrices()]
        return dy.esum(norms) * (0.5 * self.settings.l2)

    def weights(self) -> dict[str, np.ndarray]:
        return self.network.weights()

    def set_weights(self, weights: dict[str, np.ndarray]) -> None:
        self.network.set_weights(weights)

    def state(self) -> dict[str, np.ndarray]:
        raise TypeError("what DyNet's trainers remember cannot be read")

    def restore(self, state: dict[str, np.ndarray]) -> None:
        raise TypeError("what DyNet's trainers remember cannot be set")
