"""From the named weights of the model file to the arrays that the kernels read, and back.

The model file keeps one matrix [outputs, inputs] per gate. The kernels multiply rows of
inputs by matrices [inputs, all gates], so a gate is a range of columns here:

    forward, backward   x [input + 1, gates]      the last row is the bias: its input is always 1
                        h [hidden, gates]         c [hidden, 2 hidden]: the peepholes [c2o | c2i]
    forward.1, …        the same for the encoder's second layer, which reads the first one's h
    decoder             positions [2 enc, gates]  features [slots + 1, gates], with the bias
                        actions [action, gates]   h and c as above
    output              [hidden + 1, actions], with the bias

Gates of the coupled cell come in the order i, g, o (g is `c` in the model file), gates of the vanilla
cell in the order i, f, o, g. The peepholes of a cell share one matrix because both read the same
c_t: the first half of c_t · [c2o | c2i] belongs to o_t, the second to i_{t+1}.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from il_morph.engines.native.aligned_memory import side_by_side
from il_morph.model.architecture import MATRIX, Architecture, Layer
from il_morph.model.vocabulary import Vocabulary

Arrays = dict[str, np.ndarray]
COUPLED_GATES, VANILLA_GATES = "ico", "ifog"
COUPLED_PEEPHOLES = "oi"


@dataclass(frozen=True)
class Piece:
    """Columns `part` of a named weight are these rows and columns of an array, transposed."""

    weight: str
    part: slice
    array: str
    rows: slice
    columns: slice


def bias(weight: str, array: str, row: int, columns: slice) -> Piece:
    return Piece(weight, slice(0, 1), array, slice(row, row + 1), columns)


class Layout:
    """The shapes of all arrays of a model, and where each piece of each named weight is stored."""

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.architecture = architecture = Architecture(vocabulary)
        layers = {**dict(zip(self.stack("forward"), architecture.forward)),
                  **dict(zip(self.stack("backward"), architecture.backward)), "decoder": architecture.decoder[0]}
        self.pieces = [piece for name, layer in layers.items() for piece in self._layer(name, layer)]
        self.pieces += self._output()

    def stack(self, direction: str) -> list[str]:
        """The names of the encoder's layers in one direction."""
        return [f"{direction}.{number}" if number else direction for number in range(self.settings.enc_layers)]

    def _layer(self, name: str, layer: Layer) -> Iterator[Piece]:
        whole = slice(0, layer.hidden)
        for number, gate in enumerate(VANILLA_GATES if layer.vanilla else COUPLED_GATES):
            columns = slice(number * layer.hidden, (number + 1) * layer.hidden)
            yield from self._inputs(name, layer, gate, columns)
            yield Piece(f"{layer.name}.h2{gate}", whole, f"{name}.h", whole, columns)
        for number, gate in enumerate("" if layer.vanilla else COUPLED_PEEPHOLES):
            columns = slice(number * layer.hidden, (number + 1) * layer.hidden)
            yield Piece(f"{layer.name}.c2{gate}", whole, f"{name}.c", whole, columns)

    def _inputs(self, name: str, layer: Layer, gate: str, columns: slice) -> Iterator[Piece]:
        """The blocks that read the input of a layer; the bias is the last row of one of them."""
        blocks = {"x": layer.columns("x")} if "x" in layer.inputs else {
            "positions": layer.columns("enc_fwd", "enc_bwd"),
            "features": layer.columns("pos" if "pos" in layer.inputs else "features", "features"),
            "actions": layer.columns("action")}
        for block, part in blocks.items():
            array, width = f"{name}.{block}", part.stop - part.start
            yield Piece(f"{layer.name}.x2{gate}", part, array, slice(0, width), columns)
            if block in ("x", "features"):
                yield bias(f"{layer.name}.b{gate}", array, width, columns)

    def _output(self) -> list[Piece]:
        number, hidden = self.architecture.shapes["output.W"]
        return [Piece("output.W", slice(0, hidden), "output", slice(0, hidden), slice(0, number)),
                bias("output.b", "output", hidden, slice(0, number))]

    def zeros(self, dtype=np.float32) -> Arrays:
        """Arrays for all weights: the tables as they are in the model file, then the matrices."""
        shapes = {table.name: table.shape for table in self.architecture.tables}
        for piece in self.pieces:
            rows, columns = shapes.get(piece.array, (0, 0))
            shapes[piece.array] = max(rows, piece.rows.stop), max(columns, piece.columns.stop)
        return side_by_side(shapes, dtype)

    def pack(self, weights: Arrays, arrays: Arrays) -> None:
        """Write the named weights into the arrays of the kernels."""
        for table in self.architecture.tables:
            arrays[table.name][:] = weights[table.name]
        for piece in self.pieces:
            weight = weights[piece.weight]
            arrays[piece.array][piece.rows, piece.columns] = weight if weight.ndim == 1 else weight[:, piece.part].T

    def unpack(self, arrays: Arrays) -> Arrays:
        """The named weights (or gradients) that these arrays hold."""
        shapes = self.architecture.shapes
        weights = side_by_side(shapes, arrays["output"].dtype)
        for table in self.architecture.tables:
            weights[table.name][:] = arrays[table.name]
        for piece in self.pieces:
            block, weight = arrays[piece.array][piece.rows, piece.columns], weights[piece.weight]
            if weight.ndim == 1:
                weight[:] = block[0]
            else:
                weight[:, piece.part] = block.T
        return weights

    def matrices(self) -> dict[str, list[Piece]]:
        """The pieces of every weight matrix, which the l2 penalty applies to."""
        return {name: [piece for piece in self.pieces if piece.weight == name]
                for name, weight in self.architecture.weights.items() if weight.kind == MATRIX}
