"""Updates with DyNet: one computation graph per batch, one of DyNet's trainers."""

from __future__ import annotations

from typing import Sequence

import dynet as dy
import numpy as np

from il_morph.engines.dynet.decoder import DynetDecoder
from il_morph.engines.dynet.network import Network
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Instance
from il_morph.training.engine import Objective, diverged, reply_to

OPTIMIZERS = {
    "ADADELTA": dy.AdadeltaTrainer,
    "ADAM": lambda collection: dy.AdamTrainer(collection, alpha=0.0005),
    "SGD": dy.SimpleSGDTrainer,
    "MOMENTUM": dy.MomentumSGDTrainer,
    "ADAGRAD": dy.AdagradTrainer,
}


class DynetLearner:
    def __init__(self, network: Network, objective: Objective, settings: TrainingSettings):
        self.network, self.objective, self.settings = network, objective, settings
        self.optimizer = OPTIMIZERS[settings.optimization](network.collection)
        self.epoch = 0

    def begin_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        self.objective.begin_epoch(epoch)

    def update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        dy.renew_cg()
        losses = [loss for loss in map(self.loss, batch) if loss is not None]
        if not losses:
            return 0.0, 0
        loss = dy.average(losses)
        value = loss.value()
        if self.settings.l2:
            loss += dy.esum([dy.squared_norm(block) for block in self.network.matrices()]) * self.settings.l2
        try:
            loss.backward()
            self.optimizer.update()
        except RuntimeError as error:  # DyNet: "Magnitude of gradient is bad"
            raise diverged(self.epoch, str(error)) from error
        return value, len(losses)

    def loss(self, instance: Instance) -> "dy.Expression | None":
        """The loss of a sample in the current graph; None if there is nothing to learn from it."""
        decoder = DynetDecoder(self.network, instance, self.settings.dropout)
        count = reply_to(self.objective.visit(decoder), decoder.serve)
        return dy.esum(decoder.losses) / count if count else None

    def weights(self) -> dict[str, np.ndarray]:
        return self.network.weights()

    def set_weights(self, weights: dict[str, np.ndarray]) -> None:
        self.network.set_weights(weights)
