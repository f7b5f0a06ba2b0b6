"""The network in NumPy: many samples at once, without gradients and without DyNet.

Products that depend on a symbol alone (a character into the encoder, an action into the decoder)
are tables, computed once from the weights; what is left per step is the recurrent part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

import numpy as np

from il_morph.transitions import UNK
from il_morph.vocabulary import Instance, Vocabulary

NONLINEARITIES = {"ReLU": lambda x: np.maximum(x, 0), "tanh": np.tanh}
Weights = dict  # name -> float32 array, as in the model file
State = Optional[np.ndarray]


def sigmoid_in_place(x: np.ndarray) -> np.ndarray:
    x *= 0.5
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5
    return x


class Buffers:
    """Memory for results that live for one step: to allocate it anew takes as long as the product itself."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def get(self, name: str, rows: int, columns: int) -> np.ndarray:
        array = self.arrays.get(name)
        if array is None or len(array) < rows:
            array = self.arrays[name] = np.empty((rows, columns), dtype=np.float32)
        return array[:rows]

    def product(self, name: str, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return np.dot(x, weights, out=self.get(name, len(x), weights.shape[1]))

    def rows(self, name: str, table: np.ndarray, indices: np.ndarray) -> np.ndarray:
        out = self.get(name, len(indices), table.shape[1])
        return np.take(table, indices, axis=0, out=out, mode="clip")


class Cell:
    """One LSTM layer on rows of vectors; the gates lie side by side in the columns.

    `step` may overwrite what is projected. A state of None is zero.
    """

    def __init__(self, weights: Weights, name: str, gates: str):
        self.hidden = weights[f"{name}.b{gates[0]}"].shape[0]
        self.x = np.hstack([weights[f"{name}.x2{g}"].T for g in gates])
        self.h = np.hstack([weights[f"{name}.h2{g}"].T for g in gates])
        self.b = np.hstack([weights[f"{name}.b{g}"] for g in gates])
        self.buffers = Buffers()

    def gates(self, projected: np.ndarray, h: Optional[np.ndarray]) -> list[np.ndarray]:
        z = projected if h is None else self.buffers.product("gates", h, self.h)
        if h is not None:
            z += projected
        return [z[:, start:start + self.hidden] for start in range(0, z.shape[1], self.hidden)]


class CoupledCell(Cell):
    def __init__(self, weights: Weights, name: str):
        super().__init__(weights, name, "ico")
        self.ci, self.co = (np.ascontiguousarray(weights[f"{name}.c2{g}"].T) for g in "io")

    def step(self, projected: np.ndarray, h: State, c: State) -> tuple[np.ndarray, np.ndarray]:
        i, candidate, o = self.gates(projected, h)
        change = np.tanh(candidate, out=candidate)
        if c is not None:
            i += self.buffers.product("peephole", c, self.ci)
            change -= c
        change *= sigmoid_in_place(i)
        c = change.copy() if c is None else c + change
        o += self.buffers.product("peephole", c, self.co)
        h = np.tanh(c)
        h *= sigmoid_in_place(o)
        return h, c


class VanillaCell(Cell):
    def __init__(self, weights: Weights, name: str):
        super().__init__(weights, name, "ifog")

    def step(self, projected: np.ndarray, h: State, c: State) -> tuple[np.ndarray, np.ndarray]:
        i, f, o, g = self.gates(projected, h)
        f += 1
        written = np.tanh(g, out=g)
        written *= sigmoid_in_place(i)
        c = written.copy() if c is None else c * sigmoid_in_place(f) + written
        h = np.tanh(c)
        h *= sigmoid_in_place(o)
        return h, c


@dataclass
class States:
    """Rows of decoder states: h and c of each layer."""

    h: list[State]
    c: list[State]

    def take(self, rows: np.ndarray) -> "States":
        return States([h[rows] for h in self.h], [c[rows] for c in self.c])


class Inference:
    """The weights of a model, arranged for bulk products."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.weights = weights
        self.buffers = Buffers()
        self.forward = self._layers("encoder_forward", self.settings.enc_layers)
        self.backward = self._layers("encoder_backward", self.settings.enc_layers)
        self.decoder = self._layers("decoder", self.settings.dec_layers)
        self.output = np.ascontiguousarray(weights["output.W"].T), weights["output.b"]
        self.hidden = (weights["hidden.W"].T, weights["hidden.b"]) if self.settings.mlp else None
        characters = weights["characters"].copy()
        characters[UNK] = characters[1:].mean(axis=0)
        self.character_tables = [characters @ layers[0].x + layers[0].b for layers in (self.forward, self.backward)]
        self._split_decoder_columns(weights)
        system, number = vocabulary.system, len(vocabulary.actions)
        self.invalid = np.ones((2, number), dtype=bool)
        for at_end in (0, 1):
            self.invalid[at_end, system.valid_actions(bool(at_end), number)] = False
        self.advances = np.isin(np.arange(number), sorted(system.advancing))

    def _layers(self, name: str, number: int) -> list[Cell]:
        cell = VanillaCell if self.settings.vanilla_lstm else CoupledCell
        return [cell(self.weights, f"{name}.{layer}") for layer in range(number)]

    def _split_decoder_columns(self, weights: Weights) -> None:
        """Rows of the decoder's transposed input matrix: enc_fwd, enc_bwd, features, action."""
        x, encoder, action = self.decoder[0].x, self.settings.enc_hidden, self.settings.action_input
        self.position_matrix, self.feature_matrix = x[:2 * encoder], x[2 * encoder:len(x) - action]
        actions = weights["characters" if self.settings.param_tying else "actions"]
        self.action_table = actions @ x[len(x) - action:]

    def encode(self, instances: Sequence[Instance]) -> "Encoded":
        """Everything the decoder needs of these samples."""
        lengths = np.array([len(instance.buffer) for instance in instances])
        rows, width, hidden = len(instances), lengths.max(), self.settings.enc_hidden
        buffers = np.zeros((width, rows), dtype=np.int64)
        for row, instance in enumerate(instances):
            buffers[:len(instance.buffer), row] = instance.buffer
        backwards = reversal(lengths, width), np.arange(rows)
        encoded = np.empty((width, rows, 2 * hidden), dtype=np.float32)
        encoded[:, :, :hidden] = self._run(self.forward, self.character_tables[0], buffers)
        encoded[:, :, hidden:] = self._run(self.backward, self.character_tables[1], buffers[backwards])[backwards]
        projected = (encoded.reshape(width * rows, -1) @ self.position_matrix).reshape(width, rows, -1)
        projected += self._features(instances) @ self.feature_matrix + self.decoder[0].b
        return Encoded(projected.reshape(width * rows, -1), lengths - 1)

    def _run(self, layers: list[Cell], table: np.ndarray, buffers: np.ndarray) -> np.ndarray:
        """A stack of layers over the buffers [position, sample]; what follows END never flows back."""
        width, rows = buffers.shape
        outputs = None
        for cell in layers:
            below, h, c = outputs, None, None
            outputs = np.empty((width, rows, cell.hidden), dtype=np.float32)
            for position in range(width):
                if below is None:
                    x = cell.buffers.rows("input", table, buffers[position])
                else:
                    x = below[position] @ cell.x + cell.b
                h, c = cell.step(x, h, c)
                outputs[position] = h
        return outputs

    def _features(self, instances: Sequence[Instance]) -> np.ndarray:
        slots = np.array([instance.slots for instance in instances], dtype=np.int64).reshape(len(instances), -1)
        if not self.settings.feat_input:
            return (slots != UNK).astype(np.float32) * np.float32(self.settings.lucky_w)
        table = self.weights["features"]
        vectors = table[slots].reshape(len(instances), -1)
        if self.vocabulary.pos is None:
            return vectors
        pos = np.array([instance.pos for instance in instances])
        embedded = np.where((pos == UNK)[:, None], table[UNK], self.weights["pos"][pos])
        return np.hstack([embedded, vectors])

    def initial_states(self) -> States:
        return States([None] * len(self.decoder), [None] * len(self.decoder))

    def step(self, encoded: "Encoded", rows: np.ndarray, positions: np.ndarray, actions: np.ndarray,
             states: States) -> States:
        """Row k reads the previous action `actions[k]` at `positions[k]` of sample `rows[k]`."""
        x = self.buffers.rows("input", encoded.projected, positions * len(encoded.ends) + rows)
        x += self.buffers.rows("action", self.action_table, actions)
        stepped = States([], [])
        for cell, h, c in zip(self.decoder, states.h, states.c):
            if cell is not self.decoder[0]:
                x = stepped.h[-1] @ cell.x + cell.b
            h, c = cell.step(x, h, c)
            stepped.h.append(h)
            stepped.c.append(c)
        return stepped

    def log_probabilities(self, states: States, at_end: np.ndarray) -> np.ndarray:
        """log P over the valid actions of each row; −inf for the others."""
        scores = self.logits(states)
        scores[self.invalid[at_end.astype(np.int64)]] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def logits(self, states: States) -> np.ndarray:
        s = states.h[-1]
        if self.hidden is not None:
            s = NONLINEARITIES[self.settings.nonlin](s @ self.hidden[0] + self.hidden[1])
        return s @ self.output[0] + self.output[1]


@dataclass
class Encoded:
    """Encoded samples: the decoder's gates, row position × samples + sample, and each position of END."""

    projected: np.ndarray
    ends: np.ndarray


def reversal(lengths: np.ndarray, width: int) -> np.ndarray:
    """For each sample, a column, the positions length−1 … 0, then those of the padding."""
    positions = np.arange(width)[:, None]
    return np.where(positions < lengths, lengths - 1 - positions, positions)
