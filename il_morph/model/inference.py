"""The network in NumPy: many samples at once, without gradients and without DyNet.

Products that depend on a symbol alone (a character into the encoder, an action into the decoder)
are tables, computed once from the weights; only the recurrent part is left for each step.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Callable, Optional

import numpy as np

from il_morph.model.architecture import AnyArchitecture, Architecture, Layer
from il_morph.model.search import SearchModel
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import UNK

NONLINEARITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"ReLU": lambda x: np.maximum(x, 0), "tanh": np.tanh}
Weights = dict  # name -> float32 array, as in the model file
State = Optional[np.ndarray]


def sigmoid_of_negated(x: np.ndarray) -> np.ndarray:
    """σ(−x) = 1 / (1 + exp(x)), in place."""
    with np.errstate(over="ignore"):  # the reciprocal of infinity is 0, as it should be
        np.exp(x, out=x)
    x += 1
    return np.reciprocal(x, out=x)


class Buffers(threading.local):
    """Memory of each thread for results that live for one step: allocating it anew takes as long as the product."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def get(self, name: str, *shape: int) -> np.ndarray:
        array, size = self.arrays.get(name), prod(shape)
        if array is None or array.size < size:
            array = self.arrays[name] = np.empty(size, dtype=np.float32)
        return array[:size].reshape(shape)

    def product(self, name: str, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return np.matmul(x, weights, out=self.get(name, *weights.shape[:-2], len(x), weights.shape[-1]))

    def rows(self, name: str, table: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """Take these rows of a table [gate, row, hidden]."""
        out = self.get(name, len(table), len(indices), table.shape[-1])
        return np.take(table, indices, axis=1, out=out, mode="clip")


class Cell:
    """One LSTM layer on rows of vectors. Weights and gates are arrays [gate, …], so that each gate is one block.

    Gates that go into a sigmoid have negated weights. `step` may overwrite `projected`.
    A state of None is zero.
    """

    def __init__(self, weights: Weights, name: str, gates: str, sigmoids: str):
        def stack(part: str) -> np.ndarray:
            arrays = {gate: weights[f"{name}.{part}{gate}"].T for gate in gates}
            return np.stack([-array if gate in sigmoids else array for gate, array in arrays.items()])

        self.x, self.h, self.b = stack("x2"), stack("h2"), stack("b")[:, None]
        self.hidden = self.b.shape[-1]
        self.buffers = Buffers()

    def step(self, projected: np.ndarray, h: State, c: State) -> tuple[np.ndarray, np.ndarray]:
        """The next h and c of each row."""
        raise TypeError("a cell is coupled or vanilla")

    def gates(self, projected: np.ndarray, h: State) -> np.ndarray:
        if h is None:
            return projected
        z = self.buffers.product("gates", h, self.h)
        z += projected
        return z


class CoupledCell(Cell):
    def __init__(self, weights: Weights, name: str):
        super().__init__(weights, name, "ico", sigmoids="io")
        self.ci, self.co = (np.ascontiguousarray(-weights[f"{name}.c2{g}"].T) for g in "io")

    def step(self, projected: np.ndarray, h: State, c: State) -> tuple[np.ndarray, np.ndarray]:
        i, candidate, o = self.gates(projected, h)
        change = np.tanh(candidate, out=candidate)
        if c is not None:
            i += self.buffers.product("peephole", c, self.ci)
            change -= c
        change *= sigmoid_of_negated(i)
        c = change.copy() if c is None else c + change
        o += self.buffers.product("peephole", c, self.co)
        h = np.tanh(c)
        h *= sigmoid_of_negated(o)
        return h, c


class VanillaCell(Cell):
    def __init__(self, weights: Weights, name: str):
        super().__init__(weights, name, "ifog", sigmoids="ifo")
        self.b[1] -= 1  # DyNet adds 1 to the forget gate

    def step(self, projected: np.ndarray, h: State, c: State) -> tuple[np.ndarray, np.ndarray]:
        i, f, o, g = self.gates(projected, h)
        written = np.tanh(g, out=g)
        written *= sigmoid_of_negated(i)
        c = written.copy() if c is None else c * sigmoid_of_negated(f) + written
        h = np.tanh(c)
        h *= sigmoid_of_negated(o)
        return h, c


@dataclass
class States:
    """Rows of decoder states: h and c of each layer."""

    h: list[State]
    c: list[State]

    @property
    def top(self) -> np.ndarray:
        """h of the top layer, after a step."""
        assert self.h[-1] is not None, "there was no step"
        return self.h[-1]

    def take(self, rows: np.ndarray) -> States:
        return States([None if h is None else h[rows] for h in self.h],
                      [None if c is None else c[rows] for c in self.c])


def step_layers(layers: Sequence[Cell], x: np.ndarray, states: States) -> States:
    """One step of a stack of layers; x is already projected, and may be overwritten."""
    stepped = States([], [])
    for cell, h, c in zip(layers, states.h, states.c):
        if cell is not layers[0]:
            x = stepped.top @ cell.x + cell.b
        h, c = cell.step(x, h, c)
        stepped.h.append(h)
        stepped.c.append(c)
    return stepped


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The log softmax of each row; overwrites the scores."""
    scores -= scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


class AnyInference(SearchModel):
    """The base class of inference: an encoder, the validity of actions, and a softmax over the valid actions.

    A subclass defines how samples are encoded (`encode`), what a step does (`step`), and the scores of the actions
    (`logits`).
    """

    def __init__(self, weights: Weights, vocabulary: Vocabulary, architecture: AnyArchitecture):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.weights = weights
        self.buffers = Buffers()
        self.forward, self.backward = (self._cells(stack) for stack in (architecture.forward, architecture.backward))
        self.symbol_tables = [self._symbols() @ layers[0].x + layers[0].b for layers in (self.forward, self.backward)]
        self.table = vocabulary.table
        self.invalid = ~self.table.valid

    def _cells(self, layers: Sequence[Layer]) -> list[Cell]:
        return [(VanillaCell if layer.vanilla else CoupledCell)(self.weights, layer.name) for layer in layers]

    def _symbols(self) -> np.ndarray:
        """The embeddings of characters; an unseen character gets the average of all others."""
        characters = self.weights["characters"].copy()
        characters[UNK] = characters[1:].mean(axis=0)
        return characters

    @abstractmethod
    def logits(self, states: Any) -> np.ndarray:
        """[row, action]: the scores of all actions, valid or not."""

    def advance(self, positions: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return positions + self.table.reads[actions]

    def log_probabilities(self, states: Any, at_end: np.ndarray) -> np.ndarray:
        scores = self.logits(states)
        scores[self.invalid[at_end.astype(np.int64)]] = -np.inf
        return log_softmax(scores)

    def run_encoder(self, sequences: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, Packing]:
        """[enc_fwd; enc_bwd] at each place, the symbol at each place, and the packing of the samples."""
        packing = Packing([len(sequence) for sequence in sequences])
        symbols = packing.pack(sequences)
        mirror, hidden = packing.mirror(), self.settings.enc_hidden
        encoded = np.empty((len(symbols), 2 * hidden), dtype=np.float32)
        encoded[:, :hidden] = self._run(self.forward, self.symbol_tables[0], symbols, packing)
        encoded[:, hidden:] = self._run(self.backward, self.symbol_tables[1], symbols[mirror], packing)[mirror]
        return encoded, symbols, packing

    def _run(self, layers: list[Cell], table: np.ndarray, symbols: np.ndarray, packing: Packing) -> np.ndarray:
        """Run a stack of layers over packed symbols; a prefix that several samples share is computed once."""
        trie = Trie(symbols, packing)
        below: Optional[np.ndarray] = None
        for cell in layers:
            outputs = np.empty((len(trie.symbols), cell.hidden), dtype=np.float32)
            h: State = None
            c: State = None
            for nodes, parents in zip(trie.levels, trie.parents):
                x = (cell.buffers.rows("input", table, trie.symbols[nodes]) if below is None
                     else below[nodes] @ cell.x + cell.b)
                h, c = cell.step(x, None if h is None else h[parents], None if c is None else c[parents])
                outputs[nodes] = h
            below = outputs
        return outputs[trie.nodes]


class Inference(AnyInference):
    """The transducer: the weights of a model, arranged for bulk products."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary, architecture: Optional[Architecture] = None):
        self.architecture = architecture or Architecture(vocabulary)
        super().__init__(weights, vocabulary, self.architecture)
        self.decoder = self._cells(self.architecture.decoder)
        self.output = np.ascontiguousarray(weights["output.W"].T), weights["output.b"]
        self.hidden = (weights["hidden.W"].T, weights["hidden.b"]) if self.settings.mlp else None
        self._split_decoder_columns(weights)

    def _split_decoder_columns(self, weights: Weights) -> None:
        """Split the decoder's transposed input matrices by what their rows read."""
        x, layer = self.decoder[0].x, self.architecture.decoder[0]
        positions, action = layer.columns("enc_fwd", "enc_bwd"), layer.columns("action")
        self.position_matrix = np.ascontiguousarray(x[:, positions])
        self.feature_matrix = x[:, positions.stop:action.start]
        self.action_table = weights[self.architecture.action_table] @ x[:, action]

    def encode(self, instances: Sequence[Instance]) -> Encoded:
        """The encoded samples, with everything that the decoder needs."""
        encoded, symbols, packing = self.run_encoder([instance.buffer for instance in instances])
        features = self._features([instances[n] for n in packing.order])
        projected = encoded @ self.position_matrix
        packing.add(projected, features @ self.feature_matrix + self.decoder[0].b)
        return Encoded(projected, symbols, packing, self._gates(encoded, features, packing))

    def _gates(self, encoded: np.ndarray, features: np.ndarray, packing: Packing) -> Optional[np.ndarray]:
        """The contribution of each place to the copy gate; None, as the transducer has no such gate."""
        return None

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

    def step(self, encoded: Encoded, rows: np.ndarray, positions: np.ndarray, actions: np.ndarray,
             states: States) -> States:
        x = self.buffers.rows("input", encoded.projected, encoded.packing.places(rows, positions))
        x += self.buffers.rows("action", self.action_table, actions)
        return step_layers(self.decoder, x, states)

    def logits(self, states: States) -> np.ndarray:
        s = states.top
        if self.hidden is not None:
            s = NONLINEARITIES[self.settings.nonlin](s @ self.hidden[0] + self.hidden[1])
        return s @ self.output[0] + self.output[1]


class Packing:
    """Samples of different lengths without padding: first the first elements of all, then the second elements, …

    Samples are sorted from longest to shortest, so the samples that go on are always the first ones.
    """

    def __init__(self, lengths: Sequence[int]):
        self.lengths = np.array(lengths)
        self.order = np.argsort(-self.lengths, kind="stable")
        self.ranks = np.argsort(self.order)
        counts = (self.lengths[:, None] > np.arange(self.lengths.max())).sum(axis=0)
        self.starts = np.cumsum(counts) - counts
        self.positions = [slice(start, start + count) for start, count in zip(self.starts, counts)]

    def places(self, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """The places of these positions of these samples."""
        return self.starts[positions] + self.ranks[rows]

    def pack(self, sequences: Sequence[Sequence[int]]) -> np.ndarray:
        packed = np.empty(self.lengths.sum(), dtype=np.int64)
        packed[self.places(*self._all())] = np.concatenate(sequences)
        return packed

    def add(self, places: np.ndarray, samples: np.ndarray) -> None:
        """Add the values of each sample, […, rank, :], to all of its places, […, place, :]."""
        for position in self.positions:
            places[..., position, :] += samples[..., :position.stop - position.start, :]

    def mirror(self) -> np.ndarray:
        """For each place, the place in the same sample read backwards."""
        rows, positions = self._all()
        mirror = np.empty(len(rows), dtype=np.int64)
        mirror[self.places(rows, positions)] = self.places(rows, self.lengths[rows] - 1 - positions)
        return mirror

    def _all(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and position of every element, sample by sample."""
        rows = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return rows, np.concatenate([np.arange(length) for length in self.lengths])


class Trie:
    """Packed samples in which shared prefixes share nodes; level k has the nodes of position k."""

    def __init__(self, symbols: np.ndarray, packing: Packing):
        self.nodes = np.empty(len(symbols), dtype=np.int64)  # the node of each place
        self.levels: list[slice] = []
        self.parents: list[np.ndarray] = []  # for each level: the parents of its nodes, as numbers in the level above
        of_nodes, last, kinds = [symbols[:0]], 0, symbols.max(initial=0) + 1
        node = np.zeros(len(packing.lengths), dtype=np.int64)
        for places in packing.positions:
            rows = places.stop - places.start
            keys, node = np.unique(node[:rows] * kinds + symbols[places], return_inverse=True)
            self.nodes[places] = last + node
            self.levels.append(slice(last, last + len(keys)))
            self.parents.append(keys // kinds)
            of_nodes.append(keys % kinds)
            last += len(keys)
        self.symbols = np.concatenate(of_nodes)


@dataclass
class Encoded:
    """Encoded samples: the decoder's gate inputs [gate, place, hidden], the symbols, and the packing of the samples.

    `gates` is the contribution of each place to the copy gate, if there is one.
    """

    projected: np.ndarray
    symbols: np.ndarray
    packing: Packing
    gates: Any = None

    @property
    def ends(self) -> np.ndarray:
        """The position of END in each sample."""
        return self.packing.lengths - 1
