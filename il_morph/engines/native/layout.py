"""From the named weights of the model file to the arrays that the kernels read, and back.

The model file keeps one matrix [outputs, inputs] per gate. The kernels multiply rows of inputs from
the left with matrices [inputs, all gates], so a gate is a range of columns here:

    forward, backward   x [input + 1, gates]      the last row is the bias: its input is always 1
                        h [hidden, gates]         c [hidden, 2 hidden]: the peepholes [c2o | c2i]
    decoder             positions [2 enc, gates]  features [slots + 1, gates], with the bias
                        actions [action, gates]   h and c as above
    output              [hidden + 1, actions], with the bias

Gates of the coupled cell come in the order i, g, o (g is `c` in the model file), those of the vanilla
cell in the order i, f, o, g. The peepholes of a cell share one matrix because both read the same
c_t: the first half of c_t · [c2o | c2i] belongs to o_t, the second to i_{t+1}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

import numpy as np

from il_morph.model.modelfile import weight_shapes
from il_morph.model.vocabulary import Vocabulary

Arrays = dict[str, np.ndarray]
CELLS = {"forward": "encoder_forward.0", "backward": "encoder_backward.0", "decoder": "decoder.0"}
TABLES = ("characters", "actions", "features", "pos")
COUPLED_GATES, VANILLA_GATES = "ico", "ifog"
PEEPHOLES = "oi"


@dataclass(frozen=True)
class Piece:
    """Columns `part` of a named weight are these rows and columns of an array, transposed."""

    weight: str
    part: slice
    array: str
    rows: slice
    columns: slice


class Layout:
    """Shapes of all arrays of a model, and which piece of which named weight is where."""

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.weight_shapes = weight_shapes(vocabulary)
        self.gates = VANILLA_GATES if self.settings.vanilla_lstm else COUPLED_GATES
        self.tables = [name for name in TABLES if name in self.weight_shapes]
        self.pieces = [*self._cell("forward"), *self._cell("backward"), *self._cell("decoder"), *self._output()]
        self.dense_shapes = self._dense_shapes()

    @property
    def feature_width(self) -> int:
        """How long the features vector is, POS included."""
        slots = self.vocabulary.number_of_slots * (self.settings.feat_input or 1)
        return slots + self.settings.feat_input * (self.vocabulary.pos is not None)

    def _cell(self, cell: str) -> Iterator[Piece]:
        for number, gate in enumerate(self.gates):
            size = self.weight_shapes[f"{CELLS[cell]}.b{gate}"][0]
            columns = slice(number * size, (number + 1) * size)
            yield from self._inputs(cell, gate, columns)
            yield Piece(f"{CELLS[cell]}.h2{gate}", slice(0, size), f"{cell}.h", slice(0, size), columns)
        for number, gate in enumerate(PEEPHOLES if self.gates == COUPLED_GATES else ""):
            columns = slice(number * size, (number + 1) * size)
            yield Piece(f"{CELLS[cell]}.c2{gate}", slice(0, size), f"{cell}.c", slice(0, size), columns)

    def _inputs(self, cell: str, gate: str, columns: slice) -> Iterator[Piece]:
        """The blocks that read the input of a cell; the bias is the last row of one of them."""
        settings = self.settings
        blocks = {"x": settings.input} if cell != "decoder" else {
            "positions": 2 * settings.enc_hidden, "features": self.feature_width, "actions": settings.action_input}
        first = 0
        for block, width in blocks.items():
            part, array = slice(first, first + width), f"{cell}.{block}"
            yield Piece(f"{CELLS[cell]}.x2{gate}", part, array, slice(0, width), columns)
            if block in ("x", "features"):
                yield bias(f"{CELLS[cell]}.b{gate}", array, width, columns)
            first += width

    def _output(self) -> Iterator[Piece]:
        number, hidden = self.weight_shapes["output.W"]
        yield Piece("output.W", slice(0, hidden), "output", slice(0, hidden), slice(0, number))
        yield bias("output.b", "output", hidden, slice(0, number))

    def _dense_shapes(self) -> dict[str, tuple[int, int]]:
        shapes: dict[str, tuple[int, int]] = {}
        for piece in self.pieces:
            rows, columns = shapes.get(piece.array, (0, 0))
            shapes[piece.array] = max(rows, piece.rows.stop), max(columns, piece.columns.stop)
        return shapes

    def zeros(self, dtype=np.float32) -> Arrays:
        shapes = {**{name: self.weight_shapes[name] for name in self.tables}, **self.dense_shapes}
        return {name: np.zeros(shape, dtype=dtype) for name, shape in shapes.items()}

    def pack(self, weights: Arrays, arrays: Arrays) -> None:
        """Write the named weights into the arrays of the kernels."""
        for name in self.tables:
            arrays[name][:] = weights[name]
        for piece in self.pieces:
            weight = weights[piece.weight]
            arrays[piece.array][piece.rows, piece.columns] = weight if weight.ndim == 1 else weight[:, piece.part].T

    def unpack(self, arrays: Arrays) -> Arrays:
        """The named weights (or gradients) that these arrays hold."""
        weights = {name: arrays[name].copy() for name in self.tables}
        for piece in self.pieces:
            block = arrays[piece.array][piece.rows, piece.columns]
            shape = self.weight_shapes[piece.weight]
            if len(shape) == 1:
                weights[piece.weight] = block[0].copy()
            else:
                whole = weights.setdefault(piece.weight, np.empty(shape, dtype=block.dtype))
                whole[:, piece.part] = block.T
        return weights

    def matrices(self) -> dict[str, list[Piece]]:
        """The pieces of every weight matrix, which the l2 penalty is on."""
        matrices: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            if len(self.weight_shapes[piece.weight]) == 2:
                matrices.setdefault(piece.weight, []).append(piece)
        return matrices


def bias(weight: str, array: str, row: int, columns: slice) -> Piece:
    return Piece(weight, slice(0, 1), array, slice(row, row + 1), columns)
