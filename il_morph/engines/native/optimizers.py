"""The optimisers, as DyNet 2 implements them.

The gradients of all weights together are scaled down to norm 5 if their norm is greater. Then a rule
updates each weight from its gradient and up to two numbers a, b that are kept for it. A row of a
table and its a, b change only if the row was looked up. The numbers of an update, `hyper`:

    scale       factor of the gradients
    rate        learning rate; the updates of ADADELTA, which has none, are multiplied by it
    first       decay of a: ρ of ADADELTA, β₁ of ADAM, the momentum
    second      decay of b: β₂ of ADAM
    epsilon     keeps divisions from failing
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from il_morph.engines.native.aligned_memory import side_by_side, zeros
from il_morph.engines.native.kernels_numpy import ADADELTA, ADAGRAD, ADAM, MOMENTUM, SGD
from il_morph.engines.native.network import Gradients, NativeNetwork
from il_morph.engines.native.weight_layout import Arrays
from il_morph.training.learning_rate import OPTIMIZER_RATES

CLIP = 5.0


@dataclass(frozen=True)
class UpdateRule:
    """How weights are updated, with DyNet's defaults."""

    number: int
    kept: int  # how many numbers are kept for each weight
    first: float = 0.0
    second: float = 0.0
    epsilon: float = 0.0


RULES = {
    "ADADELTA": UpdateRule(ADADELTA, 2, first=0.95, epsilon=1e-6 / (1 - 0.95)),  # see `adadelta`
    "ADAM": UpdateRule(ADAM, 2, first=0.9, second=0.999, epsilon=1e-8),
    "SGD": UpdateRule(SGD, 0),
    "MOMENTUM": UpdateRule(MOMENTUM, 1, first=0.9),
    "ADAGRAD": UpdateRule(ADAGRAD, 1, epsilon=1e-20),
}


class Diverged(Exception):
    """The gradient is not finite."""


class Optimizer:
    """Updates the weights of a network."""

    def __init__(self, network: NativeNetwork, name: str, l2: float = 0.0):
        self.network, self.rule, self.l2, self.updates = network, RULES[name], l2, 0
        self.rate = OPTIMIZER_RATES[name]
        self.kept = [self._zeros(number < self.rule.kept) for number in range(2)]

    def _zeros(self, needed: bool) -> Arrays:
        """A zero for each weight, or arrays without columns if none are needed."""
        arrays = self.network.arrays
        shapes = {name: array.shape if needed else (len(array), 0) for name, array in arrays.items()}
        return side_by_side(shapes, np.float32)

    def update(self, gradients: Gradients) -> None:
        """One update; raises Diverged if the gradient is not finite, and then changes nothing."""
        dense = self._multiplied_out(gradients)
        norm = self._norm(gradients, dense)
        if not isfinite(norm):
            raise Diverged(f"magnitude of gradient is {norm}")
        kernels, arrays = self.network.kernels, self.network.arrays
        arguments = self.rule.number, self._hyper(CLIP / norm if norm > CLIP else 1.0)
        for name, (x, d) in gradients.factors.items():
            if name in dense:
                kernels.update_dense(*arguments, arrays[name], *self._of(name), dense[name])
            else:
                kernels.update_factored(*arguments, arrays[name], *self._of(name), x, d)
        for name, (rows, sums) in gradients.tables.items():
            kernels.update_rows(*arguments, arrays[name], *self._of(name), rows, sums)
        self.updates += 1

    def _of(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        return self.kept[0][name], self.kept[1][name]

    def _hyper(self, scale: float) -> np.ndarray:
        rule, rate = self.rule, self.rate
        if rule.number == ADAM:
            time = self.updates + 1
            rate *= sqrt(1 - rule.second ** time) / (1 - rule.first ** time)
        return np.array([scale, rate, rule.first, rule.second, rule.epsilon], dtype=np.float32)

    def _multiplied_out(self, gradients: Gradients) -> Arrays:
        """The gradients x′d whose product takes fewer multiplications than their norm from the factors; with an
        l2 penalty, all gradients."""
        dense = {}
        for name, (x, d) in gradients.factors.items():
            (rows, inputs), outputs = x.shape, d.shape[1]
            if self.l2 or rows * (inputs + outputs) > inputs * outputs:
                dense[name] = zeros((inputs, outputs), x.dtype)
                self.network.kernels.add_product(dense[name], np.ascontiguousarray(x.T), d)
        if self.l2:
            self._add_penalty(dense)
        return dense

    def _add_penalty(self, dense: Arrays) -> None:
        """λ · 0.5 · W / ‖W‖, the gradient of λ · 0.5 · ‖W‖, for each weight matrix."""
        for pieces in self.network.layout.matrices().values():
            blocks = [self.network.arrays[piece.array][piece.rows, piece.columns] for piece in pieces]
            norm = sqrt(sum(float(np.sum(np.square(block, dtype=np.float64))) for block in blocks))
            for piece, block in zip(pieces, blocks):
                dense[piece.array][piece.rows, piece.columns] += (0.5 * self.l2 / norm if norm else 0.0) * block

    def _norm(self, gradients: Gradients, dense: Arrays) -> float:
        kernels, squares = self.network.kernels, 0.0
        for name, (x, d) in gradients.factors.items():
            squares += kernels.squared(dense[name]) if name in dense else kernels.squared_norm(x, d)
        return sqrt(squares + sum(kernels.squared(sums) for _, sums in gradients.tables.values()))

    def state(self) -> Arrays:
        """Everything that the next updates depend on besides the weights."""
        kept = {f"{number}.{name}": array.copy() for number in range(self.rule.kept)
                for name, array in self.kept[number].items()}
        return {"updates": np.array(self.updates), **kept}

    def restore(self, state: Arrays) -> None:
        self.updates = int(state["updates"])
        if self.updates < 0:
            raise ValueError("it counts updates below zero")
        for number in range(self.rule.kept):
            for name, array in self.kept[number].items():
                array[:] = state[f"{number}.{name}"]
