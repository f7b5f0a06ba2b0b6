"""The architecture (section 3 of the paper): the one place that defines the names, shapes, column blocks and initial
bounds of all weights. The networks of the engines, inference in NumPy, the model file and the memory estimate derive
from it.

    characters [C, input]           actions [A, action-input] (only without parameter tying)
    features [F, feat-input]        pos [P, feat-input]
    encoder_forward.L.*, encoder_backward.L.*, decoder.L.* for each layer L from 0:
        x2G [H, I], h2G [H, H], bG [H] for the gates G = i, o, c; peepholes c2i, c2o [H, H]
        (`vanilla_lstm`: gates i, f, o, g and no peepholes)
    hidden.W [mlp, H], hidden.b [mlp] (only with `mlp`)
    output.W [A, H or mlp], output.b [A]

for A actions, C characters, hidden size H and input size I of a layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from math import prod, sqrt
from typing import Optional

import numpy as np

from il_morph.model.vocabulary import Vocabulary

TABLE, MATRIX, VECTOR = "table", "matrix", "vector"


@dataclass(frozen=True)
class Weight:
    """One weight; its initial values are uniform between −bound and bound."""

    name: str
    kind: str
    shape: tuple[int, ...]
    bound: float
    blocks: dict[str, int] = field(default_factory=dict)  # of a matrix: what its columns read -> the number of columns


def table(name: str, rows: int, width: int) -> Weight:
    """An embedding table with the bound of DyNet 2.0; in later versions, the bound depends on the number of rows."""
    return Weight(name, TABLE, (rows, width), sqrt(3 / width))


def matrix(name: str, rows: int, blocks: dict[str, int], stacked: int = 1) -> Weight:
    """A matrix with a Glorot bound; if it is one of several `stacked` matrices, the bound is that of the stack."""
    columns = sum(blocks.values())
    return Weight(name, MATRIX, (rows, columns), sqrt(6 / (stacked * rows + columns)), blocks)


def bias(name: str, size: int, zero: bool) -> Weight:
    return Weight(name, VECTOR, (size,), 0.0 if zero else sqrt(3 / size))


@dataclass(frozen=True)
class Layer:
    """An LSTM layer; its input matrices read the blocks of `inputs` side by side."""

    name: str
    inputs: dict[str, int]
    hidden: int
    vanilla: bool

    @property
    def gates(self) -> str:
        return "ifog" if self.vanilla else "ioc"

    @property
    def peepholes(self) -> str:
        return "" if self.vanilla else "io"

    def weights(self) -> Iterator[Weight]:
        stacked = len(self.gates) if self.vanilla else 1  # DyNet's VanillaLSTM keeps its gates in one matrix
        recurrent = {"h": self.hidden}
        yield from (matrix(f"{self.name}.x2{gate}", self.hidden, self.inputs, stacked) for gate in self.gates)
        yield from (matrix(f"{self.name}.h2{gate}", self.hidden, recurrent, stacked) for gate in self.gates)
        yield from (matrix(f"{self.name}.c2{gate}", self.hidden, {"c": self.hidden}) for gate in self.peepholes)
        yield from (bias(f"{self.name}.b{gate}", self.hidden, zero=True) for gate in self.gates)

    def columns(self, first: str, last: Optional[str] = None) -> slice:
        """The columns of one block, or from block `first` to block `last`."""
        names, ends = list(self.inputs), np.cumsum([0, *self.inputs.values()])
        return slice(int(ends[names.index(first)]), int(ends[names.index(last or first) + 1]))


class AnyArchitecture:
    """The base class of architectures: an encoder in each direction, further layers, and a list of all weights."""

    tables: list[Weight]
    weights: dict[str, Weight]

    def __init__(self, vocabulary: Vocabulary):
        settings = vocabulary.settings
        self.vocabulary, self.settings = vocabulary, settings
        self.forward = self._stack("encoder_forward", settings.enc_layers, {"x": settings.input}, settings.enc_hidden)
        self.backward = self._stack("encoder_backward", settings.enc_layers, {"x": settings.input}, settings.enc_hidden)

    def _stack(self, name: str, layers: int, inputs: dict[str, int], hidden: int) -> list[Layer]:
        return [Layer(f"{name}.{number}", inputs if number == 0 else {"x": hidden}, hidden, self.settings.vanilla_lstm)
                for number in range(layers)]

    def _list(self, tables: Iterable[Weight], layers: Iterable[Layer], others: Iterable[Weight]) -> dict[str, Weight]:
        of_layers = chain.from_iterable(layer.weights() for layer in layers)
        return {weight.name: weight for weight in (*tables, *of_layers, *others)}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: weight.shape for name, weight in self.weights.items()}

    @property
    def number_of_parameters(self) -> int:
        return sum(map(prod, self.shapes.values()))

    def draw(self, seed: int) -> dict[str, np.ndarray]:
        """Initial values of all weights; with the same seed, every engine starts from the same values."""
        random = np.random.RandomState(seed)
        return {name: random.uniform(-weight.bound, weight.bound, weight.shape).astype(np.float32)
                for name, weight in self.weights.items()}


class Architecture(AnyArchitecture):
    """The transducer: an encoder in each direction, a decoder, a classifier."""

    def __init__(self, vocabulary: Vocabulary):
        super().__init__(vocabulary)
        settings = self.settings
        self.decoder = self._stack("decoder", settings.dec_layers, self._decoder_inputs(), settings.dec_hidden)
        self.tables = list(self._tables())
        self.classifier = list(self._classifier())
        self.weights = self._list(self.tables, self.forward + self.backward + self.decoder, self.classifier)

    @property
    def slot_width(self) -> int:
        """The number of columns for a feature: those of an embedding, or one in a bag of features."""
        return self.settings.feat_input or 1

    def _decoder_inputs(self) -> dict[str, int]:
        """[enc_fwd; enc_bwd; POS; feature slots; action]"""
        settings, vocabulary = self.settings, self.vocabulary
        blocks = {"enc_fwd": settings.enc_hidden, "enc_bwd": settings.enc_hidden}
        if vocabulary.pos is not None:
            blocks["pos"] = settings.feat_input
        blocks["features"] = vocabulary.number_of_slots * self.slot_width
        return {**blocks, "action": settings.action_input}

    def _tables(self) -> Iterator[Weight]:
        """Row 0 of every table is UNK, and row 0 of `features` stands for an absent feature."""
        settings, vocabulary = self.settings, self.vocabulary
        yield table("characters", len(vocabulary.characters), settings.input)
        if not settings.param_tying:
            yield table("actions", len(vocabulary.actions), settings.action_input)
        if settings.feat_input:
            yield table("features", len(vocabulary.features), settings.feat_input)
        if vocabulary.pos is not None:
            yield table("pos", len(vocabulary.pos), settings.feat_input)

    @property
    def action_table(self) -> str:
        return "characters" if self.settings.param_tying else "actions"

    def _classifier(self) -> Iterator[Weight]:
        below, actions = self.settings.dec_hidden, len(self.vocabulary.actions)
        if self.settings.mlp:
            yield matrix("hidden.W", self.settings.mlp, {"s": below})
            yield bias("hidden.b", self.settings.mlp, zero=False)
            below = self.settings.mlp
        yield matrix("output.W", actions, {"s": below})
        yield bias("output.b", actions, zero=False)
