"""Parameters and LSTM cells in DyNet.

Weight matrices are kept in column blocks, so that each part of an input can be projected as soon as
it is known. All products use `affine_transform`, because DyNet's `W * x` adds to recycled memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Optional

import dynet as dy
import numpy as np

from il_morph.model.architecture import Layer, Weight

GEMV_LIMIT = 120  # columns: Eigen multiplies a wider matrix by a vector at half the speed


class Matrix:
    """A weight matrix in column blocks."""

    def __init__(self, collection, weight: Weight, widths: dict[str, int]):
        self.name = weight.name
        self.blocks = {
            block: collection.add_parameters((weight.shape[0], width), init=dy.ConstInitializer(0))
            for block, width in widths.items()
        }

    def __getitem__(self, block: str):
        return self.blocks[block]

    def value(self) -> np.ndarray:
        return np.hstack([array_of(parameter) for parameter in self.blocks.values()])

    def set_value(self, whole: np.ndarray) -> None:
        column = 0
        for parameter in self.blocks.values():
            width = parameter.shape()[1]
            parameter.set_value(whole[:, column:column + width])
            column += width


class Vector:
    """A bias."""

    def __init__(self, collection, weight: Weight):
        self.name = weight.name
        self.parameter = collection.add_parameters(weight.shape, init=dy.ConstInitializer(0))

    def value(self) -> np.ndarray:
        return array_of(self.parameter)

    def set_value(self, values: np.ndarray) -> None:
        self.parameter.set_value(values)


class Table:
    """A lookup table, a row for each symbol."""

    def __init__(self, collection, weight: Weight):
        self.name = weight.name
        self.size = weight.shape[0]
        self.parameter = collection.add_lookup_parameters(weight.shape, init=dy.ConstInitializer(0))

    def row(self, index: int) -> dy.Expression:
        return self.parameter[index]

    def rows(self, indices: Sequence[int]) -> dy.Expression:
        """The rows as a batch."""
        return dy.lookup_batch(self.parameter, list(indices))

    def value(self) -> np.ndarray:
        return array_of(self.parameter)

    def set_value(self, values: np.ndarray) -> None:
        self.parameter.init_from_array(np.ascontiguousarray(values))


def array_of(parameter) -> np.ndarray:
    return np.asarray(parameter.as_array(), dtype=np.float32)


@dataclass
class CellState:
    """The state of one LSTM layer; None stands for the zero vector."""

    h: Optional[dy.Expression] = None
    c: Optional[dy.Expression] = None
    c_parts: Optional[list[dy.Expression]] = None  # of c, if the step that computed c needed them


def ranges(size: int) -> list[tuple[int, int]]:
    """Equal parts of at most GEMV_LIMIT columns."""
    number = ceil(size / GEMV_LIMIT)
    ends = [size * part // number for part in range(number + 1)]
    return list(zip(ends, ends[1:]))


class CoupledLSTM:
    """DyNet's LSTM with tied input and forget gates and full-matrix peepholes."""

    def __init__(self, collection, layer: Layer, widths: dict[str, int]):
        """`widths` are the column blocks of the input matrices: the blocks of the layer, or parts of them."""
        self.hidden, self.widths = layer.hidden, widths
        self.gates, self.peepholes = layer.gates, layer.peepholes
        self.ranges = ranges(layer.hidden)
        parts = {f"{a}": b - a for a, b in self.ranges}
        weights = {weight.name[len(layer.name) + 1:]: weight for weight in layer.weights()}
        self.x = {g: Matrix(collection, weights[f"x2{g}"], widths) for g in self.gates}
        self.h = {g: Matrix(collection, weights[f"h2{g}"], parts) for g in self.gates}
        self.c = {g: Matrix(collection, weights[f"c2{g}"], parts) for g in self.peepholes}
        self.b = {g: Vector(collection, weights[f"b{g}"]) for g in self.gates}

    def parameters(self) -> list:
        return [p for group in (self.x, self.h, self.c, self.b) for p in group.values()]

    def matrices(self) -> list[Matrix]:
        return [matrix for group in (self.x, self.h, self.c) for matrix in group.values()]

    def project(self, inputs: dict[str, dy.Expression], onto: Optional[dict] = None) -> dict[str, dy.Expression]:
        """What these blocks of the input add to each gate, plus the bias (or `onto`)."""
        onto = onto or {gate: bias.parameter for gate, bias in self.b.items()}
        return {gate: affine(onto[gate], [(self.x[gate][block], x) for block, x in inputs.items()])
                for gate in self.gates}

    def masks(self, dropout: float) -> Optional[Masks]:
        return Masks(self.widths, self.hidden, dropout, bool(self.peepholes)) if dropout else None

    def step(self, gates: dict, state: CellState, masks: Optional[Masks] = None,
             extra: Optional[dict[str, dy.Expression]] = None) -> CellState:
        """One step; `extra` are blocks of the input that `gates` does not contain yet."""
        h, c, parts = self._parts(masks.h(state.h) if masks else state.h), state.c, state.c_parts
        if parts is None:
            parts = self._parts(masks.c(c) if masks else c)
        i = dy.logistic(self._gate("i", gates, h, parts, extra))
        candidate = dy.tanh(self._gate("c", gates, h, [], extra))
        c = dy.cmult(i, candidate) if c is None else c + dy.cmult(i, candidate - c)
        parts = self._parts(masks.c(c) if masks else c)
        o = dy.logistic(self._gate("o", gates, h, parts, extra))
        return CellState(dy.cmult(o, dy.tanh(c)), c, parts)

    def _parts(self, vector: Optional[dy.Expression]) -> list[dy.Expression]:
        """The vector split into the parts that the blocks of the recurrent matrices read."""
        if vector is None or len(self.ranges) == 1:
            return [] if vector is None else [vector]
        return [dy.pick_range(vector, first, last) for first, last in self.ranges]

    def _gate(self, gate: str, gates: dict, h: list, c: list, extra: Optional[dict]) -> dy.Expression:
        terms = [(self.x[gate][block], x) for block, x in extra.items()] if extra else []
        if h:
            terms += zip(self.h[gate].blocks.values(), h)
        if c:
            terms += zip(self.c[gate].blocks.values(), c)
        return affine(gates[gate], terms)


class VanillaLSTM(CoupledLSTM):
    """DyNet's VanillaLSTM: gates i, f, o, g; 1 is added to the forget gate before its sigmoid."""

    def step(self, gates, state, masks=None, extra=None) -> CellState:
        h, c = self._parts(masks.h(state.h) if masks else state.h), state.c
        i, f, o, g = (self._gate(gate, gates, h, [], extra) for gate in self.gates)
        written = dy.cmult(dy.logistic(i), dy.tanh(g))
        c = written if c is None else dy.cmult(dy.logistic(f + 1.0), c) + written
        return CellState(dy.cmult(dy.logistic(o), dy.tanh(c)), c)


class Masks:
    """Variational dropout: one mask for the inputs, h and c of a layer, the same at every step."""

    def __init__(self, widths: dict[str, int], hidden: int, rate: float, cell: bool):
        def mask(size):
            return dy.random_bernoulli(size, 1 - rate, 1 / (1 - rate))

        self.inputs = {block: mask(width) for block, width in widths.items()}
        self._h, self._c = mask(hidden), mask(hidden) if cell else None

    def x(self, inputs: dict[str, dy.Expression]) -> dict[str, dy.Expression]:
        return {block: dy.cmult(x, self.inputs[block]) for block, x in inputs.items()}

    def h(self, h):
        return h if h is None else dy.cmult(h, self._h)

    def c(self, c):
        return c if c is None else dy.cmult(c, self._c)


def affine(bias, terms: Iterable[tuple]) -> dy.Expression:
    """bias + Σ W x"""
    arguments = [bias]
    for weight, x in terms:
        arguments += (weight, x)
    return dy.affine_transform(arguments) if len(arguments) > 1 else bias


def run_layers(layers: Sequence[CoupledLSTM], embedded: dy.Expression, order: Sequence[int],
               masks: Sequence[Optional[Masks]] = ()) -> list:
    """Run a stack of LSTM layers over a batch of inputs in this order; return the top h at each position."""
    for cell, mask in zip(layers, masks or [None] * len(layers)):
        inputs = {"x": embedded}
        gates, state = cell.project(mask.x(inputs) if mask else inputs), CellState()
        outputs: list = [None] * len(order)
        for position in order:
            picked = {gate: dy.pick_batch_elem(batch, position) for gate, batch in gates.items()}
            state = cell.step(picked, state, mask)
            outputs[position] = state.h
        if cell is not layers[-1]:
            embedded = dy.concatenate_to_batch(outputs)
    return outputs
