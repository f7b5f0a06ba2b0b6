"""LSTM layers over nodes: a node is one step of one sequence."""

from __future__ import annotations

from types import ModuleType
from typing import Sequence

import numpy as np

from il_morph.engines.native.layout import Arrays

Factors = dict[str, tuple[np.ndarray, np.ndarray]]  # of gradients x′d, by the name of the matrix


class Nodes:
    """Growing arrays with a row for each node; the last row stays zero, the state before the first step.

    z: gates, h and c: state, p: c times the peepholes, u: tanh(c), and their gradients.
    """

    def __init__(self, hidden: int, gates: int, peepholes: int, dtype):
        self.widths = {"z": gates, "h": hidden, "c": hidden, "p": peepholes, "u": hidden,
                       "dz": gates, "dh": hidden, "dc": hidden, "dp": peepholes}
        self.dtype = dtype
        self.clear()
        self._grow(16)

    def clear(self) -> None:
        self.number = 0
        self.bounds = [0]

    def add(self, parents: np.ndarray, bounds: Sequence[int]) -> slice:
        """Room for new nodes in blocks; `bounds` count from the first of the new nodes."""
        first, last = self.number, self.number + len(parents)
        if last >= self.capacity:
            self._grow(2 * last + 16)
        self.parents[first:last] = parents
        self.bounds += [first + bound for bound in bounds[1:]]
        self.number = last
        return slice(first, last)

    def _grow(self, capacity: int) -> None:
        for name, width in self.widths.items():
            self._grow_array(name, np.zeros((capacity, width), dtype=self.dtype))
        self._grow_array("parents", np.full(capacity, -1, dtype=np.int64))
        self.capacity = capacity

    def _grow_array(self, name: str, grown: np.ndarray) -> None:
        if self.number:
            grown[:self.number] = getattr(self, name)[:self.number]
        setattr(self, name, grown)

    def clear_gradients(self) -> None:
        for array in (self.dh, self.dc, self.dp):
            array[:self.number] = 0


class Recurrence:
    """An LSTM layer and its nodes."""

    def __init__(self, kernels: ModuleType, name: str, arrays: Arrays, vanilla: bool):
        self.name, self.cell = name, kernels.VANILLA if vanilla else kernels.COUPLED
        self.wh = arrays[f"{name}.h"]
        hidden, gates = self.wh.shape
        self.wc = arrays.get(f"{name}.c", np.empty((hidden, 0), dtype=self.wh.dtype))
        self.nodes = Nodes(hidden, gates, self.wc.shape[1], self.wh.dtype)

    def run(self, bounds: np.ndarray) -> None:
        """Compute these blocks, whose z holds what the input contributes."""
        n = self.nodes
        self.cell.forward(n.z, n.h, n.c, n.p, n.u, n.parents, bounds, self.wh, self.wc)

    def run_backward(self) -> None:
        """From dh of all nodes to their dz."""
        n = self.nodes
        self.cell.backward(n.z, n.c, n.u, n.parents, np.array(n.bounds), self.wh, self.wc, n.dh, n.dc, n.dz, n.dp)

    def factors(self) -> Factors:
        """Of the gradients of wh and wc."""
        n, number = self.nodes, self.nodes.number
        factors = {f"{self.name}.h": (n.h[n.parents[:number]], n.dz[:number])}
        if self.wc.shape[1]:
            factors[f"{self.name}.c"] = n.c[:number], n.dp[:number]
        return factors
