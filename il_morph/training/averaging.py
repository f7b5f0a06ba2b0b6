"""Averaged weights: a moving average is evaluated and saved, while training continues from the raw weights.

After every fifth update (the s-th time), average += (1 − d)(weights − average) with
d = min(decay⁵, (1 + s) / (10 + s)): the average forgets fast at first, when the weights change most. It starts from the
initial weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from il_morph.model.vocabulary import Instance
from il_morph.training.engine import Learner

EVERY = 5  # updates
RAW, COUNT = "raw.", "average.updates"  # keys of the state: the raw weights, and the number of updates


def kept_share(decay: float, time: int) -> float:
    """d: the share of the old average that is kept at the `time`-th averaging, counted from 1."""
    return min(decay ** EVERY, (1 + time) / (10 + time))


class AveragingLearner:
    """A learner that wraps another one, of any engine; its weights are the average of the other's weights."""

    def __init__(self, learner: Learner, decay: float):
        self.learner, self.decay, self.updates = learner, decay, 0
        self.average: dict[str, np.ndarray] = {}

    def begin_epoch(self, epoch: int) -> None:
        self.learner.begin_epoch(epoch)

    def set_learning_rate(self, rate: float) -> None:
        self.learner.set_learning_rate(rate)

    def update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        """A batch with nothing to learn does not count as an update."""
        loss, learnt = self.learner.update(batch)
        self.updates += learnt > 0
        if learnt and self.updates % EVERY == 0:
            self._add(self.learner.weights(), 1 - kept_share(self.decay, self.updates // EVERY))
        return loss, learnt

    def _add(self, weights: dict[str, np.ndarray], share: float) -> None:
        for name, average in self.average.items():
            average += np.float32(share) * (weights[name] - average)

    def weights(self) -> dict[str, np.ndarray]:
        return {name: average.copy() for name, average in self.average.items()}

    def set_weights(self, weights: dict[str, np.ndarray]) -> None:
        self.learner.set_weights(weights)
        self.average = {name: array.astype(np.float32) for name, array in weights.items()}

    def state(self) -> dict[str, np.ndarray]:
        raw = {RAW + name: array for name, array in self.learner.weights().items()}
        return {**self.learner.state(), **raw, COUNT: np.array(self.updates)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Restore a state; `set_weights` has already set the average."""
        if state[COUNT] < 0 or any(state[RAW + name].shape != array.shape for name, array in self.average.items()):
            raise ValueError("its weights before averaging are not those of the network")
        self.updates = int(state[COUNT])
        self.learner.set_weights({name: state[RAW + name] for name in self.average})
        own = {name: array for name, array in state.items() if name != COUNT and not name.startswith(RAW)}
        self.learner.restore(own)


def averaged(learner: Learner, decay: float) -> Learner:
    """The learner itself, or with `--average-weights` one that averages its weights."""
    return AveragingLearner(learner, decay) if decay else learner
