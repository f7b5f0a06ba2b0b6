"""The native engine as `training` sees it."""

from __future__ import annotations

import logging
from types import ModuleType
from typing import Optional, Sequence

from il_morph.engines.native.batch import Batch
from il_morph.engines.native.layout import Arrays
from il_morph.engines.native.network import Network
from il_morph.engines.native.optimizers import Diverged, Optimizer
from il_morph.errors import InputError
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import Objective, diverged

log = logging.getLogger(__name__)


def refuse(model: ModelSettings, training: TrainingSettings) -> None:
    """Raise an error if this engine does not have what the settings ask for."""
    asked = {"--enc-layers": model.enc_layers > 1, "--dec-layers": model.dec_layers > 1, "--mlp": model.mlp > 0,
             "--dropout": training.dropout > 0, "--pretrain-dropout": training.pretrain_dropout > 0}
    flags = [flag for flag, is_asked in asked.items() if is_asked]
    if flags:
        raise InputError(f"the native engine has one layer per LSTM, no hidden layer and no dropout: leave out "
                         f"{', '.join(flags)}, or train with --engine=dynet")


def fastest_kernels() -> ModuleType:
    """Those of Numba where it is installed."""
    try:
        from il_morph.engines.native import kernels_numba
    except ImportError:
        from il_morph.engines.native import kernels_numpy
        return kernels_numpy
    return kernels_numba


class NativeLearner:
    """A network, what it is trained on, and its optimiser."""

    def __init__(self, vocabulary: Vocabulary, objective: Objective, settings: TrainingSettings,
                 kernels: Optional[ModuleType] = None):
        refuse(vocabulary.settings, settings)
        self.objective = objective
        self.network = Network(vocabulary, kernels or fastest_kernels())
        self.optimizer = Optimizer(self.network, settings.optimization, settings.l2)
        self.epoch = 0
        log.info("native engine, %s kernels", self.network.kernels.NAME)

    def begin_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        self.objective.begin_epoch(epoch)

    def update(self, instances: Sequence[Instance]) -> tuple[float, int]:
        """The loss of the batch, and how many of its samples have one."""
        batch = Batch(self.network, instances)
        counts = batch.serve([self.objective.visit(decoder) for decoder in batch.decoders])
        if not any(counts):
            return 0.0, 0
        loss, dscores = batch.loss(counts)
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
        return self.optimizer.state()

    def restore(self, state: Arrays) -> None:
        self.optimizer.restore(state)
