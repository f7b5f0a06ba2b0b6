"""LSTM layers over nodes: a node is one step of one sequence."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from il_morph.engines.native.aligned_memory import Scratch, zeros
from il_morph.engines.native.weight_layout import Arrays

Factors = dict[str, tuple[np.ndarray, np.ndarray]]  # x and d of gradients x′d, by the name of the matrix


class Nodes:
    """Growing arrays with a row for each node; the last row stays zero, the state before the first step."""

    z: np.ndarray  # gates
    h: np.ndarray
    c: np.ndarray
    p: np.ndarray  # c times the peepholes
    u: np.ndarray  # tanh(c)
    scores: np.ndarray  # of the actions, in the decoder
    parents: np.ndarray  # the node that each continues
    places: np.ndarray  # in the decoder: the row of the projected positions that each node reads
    actions: np.ndarray  # and the row of the projected actions

    def __init__(self, hidden: int, gates: int, peepholes: int, scores: int, dtype):
        self.widths = {"z": gates, "h": hidden, "c": hidden, "p": peepholes, "u": hidden, "scores": scores}
        self.dtype, self.number, self.capacity = dtype, 0, 0
        self._grow(16)

    def clear(self) -> None:
        self.number = 0

    def add(self, number: int) -> slice:
        """Make room for new nodes; return their rows."""
        if self.number + number >= self.capacity:
            self._grow(2 * (self.number + number))
        self.number += number
        return slice(self.number - number, self.number)

    def _grow(self, capacity: int) -> None:
        for name, width in self.widths.items():
            self._copy(name, zeros((capacity, width), self.dtype))
        for name in ("parents", "places", "actions"):
            self._copy(name, np.zeros(capacity, dtype=np.int64))
        self.capacity = capacity

    def _copy(self, name: str, grown: np.ndarray) -> None:
        if self.capacity:
            grown[:self.number] = getattr(self, name)[:self.number]
        setattr(self, name, grown)


class Recurrence:
    """An LSTM layer and its nodes."""

    def __init__(self, kernels: ModuleType, scratch: Scratch, name: str, arrays: Arrays, vanilla: bool,
                 scores: int = 0):
        self.name, self.scratch, self.cell = name, scratch, kernels.VANILLA if vanilla else kernels.COUPLED
        self.wh = arrays[f"{name}.h"]
        self.wc = arrays.get(f"{name}.c", np.empty((len(self.wh), 0), dtype=self.wh.dtype))
        self.nodes = self.new_nodes(scores)

    def new_nodes(self, scores: int) -> Nodes:
        hidden, gates = self.wh.shape
        return Nodes(hidden, gates, self.wc.shape[1], scores, self.wh.dtype)

    def run(self, bounds: np.ndarray) -> None:
        """Compute the nodes of these blocks; their z already holds what the input contributes."""
        n = self.nodes
        self.cell.forward(n.z, n.h, n.c, n.p, n.u, n.parents, bounds, self.wh, self.wc)

    def no_gradient(self) -> np.ndarray:
        """A zero gradient of h: a row for each node, and a last one for the state before the first step."""
        return self.scratch.zeros(self.nodes.number + 1, self.wh.shape[0])

    def run_backward(self, bounds: np.ndarray, dh: np.ndarray) -> tuple[np.ndarray, Factors]:
        """The gradient of z, and the factors of the gradients of wh and wc, from the gradient of h."""
        n, number = self.nodes, self.nodes.number
        dc = self.no_gradient()
        dz = self.scratch.zeros(number + 1, self.wh.shape[1])
        dp = self.scratch.zeros(number + 1, self.wc.shape[1])
        self.cell.backward(n.z, n.c, n.u, n.parents, bounds, self.wh, self.wc, dh, dc, dz, dp)
        factors = {f"{self.name}.h": (self.scratch.take(n.h, n.parents[:number]), dz[:number])}
        if dp.shape[1]:
            factors[f"{self.name}.c"] = n.c[:number], dp[:number]
        return dz[:number], factors
