"""HAEM of Makarov et al. (2017): edits depend on the rest of the input and on what was written, deleted and done.

    characters [C, input], actions [A, action-input]
    encoder_forward.L.*, encoder_backward.L.*: over the input; the state at the first character left is read
    written.L.* (dec-hidden), deleted.L.* (dec-hidden; since the last insertion), history.L.* (action-input)
    empty.enc_fwd, empty.enc_bwd, empty.written, empty.deleted, empty.history: stand for an empty buffer or list
    hidden.W [mlp, …] reads [enc_fwd; enc_bwd; written; deleted; history; features], hidden.b [mlp]
    output.W [A, mlp], output.b [A]

A feature is one number: `lucky_w` if it is present, else 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np

from il_morph.model.architecture import AnyArchitecture, bias, matrix, table
from il_morph.model.inference import NONLINEARITIES, AnyInference, Cell, Packing, States, Weights, step_layers
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import BEGIN, COPY, DELETE, UNK

MEMORIES = ("written", "deleted", "history")


class HaemArchitecture(AnyArchitecture):
    def __init__(self, vocabulary: Vocabulary):
        super().__init__(vocabulary)
        settings, actions = self.settings, len(vocabulary.actions)
        self.tables = [table("characters", len(vocabulary.characters), settings.input),
                       table("actions", actions, settings.action_input)]
        sizes = {"written": (settings.input, settings.dec_hidden), "deleted": (settings.input, settings.dec_hidden),
                 "history": (settings.action_input, settings.action_input)}
        self.memories = {name: self._stack(name, settings.dec_layers, {"x": read}, hidden)
                         for name, (read, hidden) in sizes.items()}
        blocks = {"enc_fwd": settings.enc_hidden, "enc_bwd": settings.enc_hidden,
                  **{name: hidden for name, (_, hidden) in sizes.items()}}
        self.empty = [bias(f"empty.{name}", size, zero=False) for name, size in blocks.items()]
        self.hidden = [matrix("hidden.W", settings.mlp, {**blocks, "features": vocabulary.number_of_slots}),
                       bias("hidden.b", settings.mlp, zero=False)]
        self.classifier = [matrix("output.W", actions, {"h": settings.mlp}), bias("output.b", actions, zero=False)]
        memories = [layer for stack in self.memories.values() for layer in stack]
        self.weights = self._list(self.tables, self.forward + self.backward + memories,
                                  [*self.empty, *self.hidden, *self.classifier])


def written_characters(vocabulary: Vocabulary) -> list[int]:
    """For each action the row of the character that it inserts."""
    return [vocabulary.characters[symbol] for symbol in vocabulary.actions.symbols]


@dataclass
class Memory:
    """The state of an LSTM that reads a list, for each row: h and c of each layer, and whether it has read anything."""

    h: list[np.ndarray]
    c: list[np.ndarray]
    filled: np.ndarray

    @classmethod
    def empty(cls, layers: Sequence[Cell], rows: int) -> Memory:
        h, c = ([np.zeros((rows, cell.hidden), dtype=np.float32) for cell in layers] for _ in "hc")
        return cls(h, c, np.zeros(rows, dtype=bool))

    def take(self, rows: np.ndarray) -> Memory:
        return Memory([h[rows] for h in self.h], [c[rows] for c in self.c], self.filled[rows])

    def push(self, layers: Sequence[Cell], rows: np.ndarray, x: np.ndarray) -> None:
        """Let these rows read x, which is already projected."""
        stepped = step_layers(layers, x, States([h[rows] for h in self.h], [c[rows] for c in self.c]))
        for old, new in zip(self.h + self.c, stepped.h + stepped.c):
            old[rows] = new
        self.filled[rows] = True

    def clear(self, rows: np.ndarray) -> None:
        for array in (*self.h, *self.c, self.filled):
            array[rows] = 0

    def read(self, empty: np.ndarray) -> np.ndarray:
        return np.where(self.filled[:, None], self.h[-1], empty)


@dataclass
class HaemStates:
    memories: dict[str, Memory]
    hidden: np.ndarray  # what the classifier reads

    def take(self, rows: np.ndarray) -> HaemStates:
        return HaemStates({name: memory.take(rows) for name, memory in self.memories.items()}, self.hidden[rows])


@dataclass
class HaemEncoded:
    """What the encoder states of each place and the features of each sample add to the hidden layer."""

    symbols: np.ndarray
    projected: np.ndarray
    features: np.ndarray
    packing: Packing

    @property
    def ends(self) -> np.ndarray:
        """END is not encoded: its position is the number of encoded elements."""
        return self.packing.lengths


class HaemInference(AnyInference):
    """HAEM without gradients, for many samples at once."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary):
        architecture = HaemArchitecture(vocabulary)
        super().__init__(weights, vocabulary, architecture)
        self.memories = {name: self._cells(layers) for name, layers in architecture.memories.items()}
        read = {"written": self._symbols(), "deleted": self._symbols(), "history": weights["actions"]}
        self.read_tables = {name: read[name] @ cells[0].x + cells[0].b for name, cells in self.memories.items()}
        self.columns = split(weights["hidden.W"].T, architecture.hidden[0].blocks)
        self.encoder_columns = np.vstack([self.columns["enc_fwd"], self.columns["enc_bwd"]])
        self.empty_buffer = np.hstack([weights["empty.enc_fwd"], weights["empty.enc_bwd"]]) @ self.encoder_columns
        self.output = np.ascontiguousarray(weights["output.W"].T), weights["output.b"]
        self.written = np.array(written_characters(vocabulary))

    def encode(self, instances: Sequence[Instance]) -> HaemEncoded:
        encoded, symbols, packing = self.run_encoder([instance.buffer[:-1] for instance in instances])
        present = np.array([[slot != UNK for slot in instance.slots] for instance in instances], dtype=np.float32)
        features = present.reshape(len(instances), -1) @ self.columns["features"] * np.float32(self.settings.lucky_w)
        return HaemEncoded(symbols, encoded @ self.encoder_columns, features + self.weights["hidden.b"], packing)

    def initial_states(self) -> Optional[HaemStates]:
        return None

    def step(self, encoded: HaemEncoded, rows: np.ndarray, positions: np.ndarray, actions: np.ndarray,
             states: Optional[HaemStates]) -> HaemStates:
        memories = states.take(np.arange(len(rows))).memories if states else {
            name: Memory.empty(cells, len(rows)) for name, cells in self.memories.items()}
        self._remember(memories, encoded, rows, positions, actions)
        hidden = encoded.features[rows] + self._buffer(encoded, rows, positions)
        for name, memory in memories.items():
            hidden += memory.read(self.weights[f"empty.{name}"]) @ self.columns[name]
        return HaemStates(memories, NONLINEARITIES[self.settings.nonlin](hidden))

    def _remember(self, memories: dict[str, Memory], encoded: HaemEncoded, rows: np.ndarray, positions: np.ndarray,
                  actions: np.ndarray) -> None:
        """Push what the previous actions wrote or deleted, and the actions; an insertion clears the deletions."""
        reading = np.isin(actions, (COPY, DELETE))
        symbols = self.written[actions]
        symbols[reading] = encoded.symbols[encoded.packing.places(rows[reading], positions[reading] - 1)]
        inserting = self.table.inserts[actions]
        memories["deleted"].clear(np.flatnonzero(inserting))
        for name, who, what in (("written", inserting | (actions == COPY), symbols),
                                ("deleted", actions == DELETE, symbols), ("history", actions != BEGIN, actions)):
            chosen = np.flatnonzero(who)
            if len(chosen):
                memories[name].push(self.memories[name], chosen, self.read_tables[name][:, what[chosen]])

    def _buffer(self, encoded: HaemEncoded, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """What the first character left in the buffer adds to the hidden layer."""
        read, left = np.tile(self.empty_buffer, (len(rows), 1)), positions < encoded.ends[rows]
        read[left] = encoded.projected[encoded.packing.places(rows[left], positions[left])]
        return read

    def logits(self, states: HaemStates) -> np.ndarray:
        return states.hidden @ self.output[0] + self.output[1]


def split(array: np.ndarray, blocks: dict[str, int]) -> dict[str, np.ndarray]:
    """The rows of each block."""
    ends = np.cumsum(list(blocks.values()))[:-1]
    return dict(zip(blocks, np.split(array, ends)))
