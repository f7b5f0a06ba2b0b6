"""NWFST (Rastogi, Cotterell and Eisner 2016): a finite-state transducer, its arcs weighted by a recurrent network.

The network reads ^x. Embeddings of three neighbouring symbols go through layers of bidirectional LSTMs; each layer
concatenates its output with its input, and the last one yields γ_i, i = 0 … |x|. An arc (lattice.py) has the score
γ_i · T[:, arc]; only copies, which substitute x_i for itself after x_{i−1}, all have one learnt scalar as their score.
The weights are

    embeddings [V, input]
    encoder.L.x [2, I, 4H], encoder.L.h [2, H, 4H], encoder.L.b [2, 4H] for each layer L from 0
        forward and backward; columns in the order of the gates i, f, o, g
    arcs [G, (2C + 1)(C + 1)]: T; columns are SUB [p, y − 1], INS [p, y − 1], DEL [p]
    copy [1]

for C characters (those of training, dev and test data, and a–z), V = C + 2 symbols (0 is ε, padding or the start; then
come the characters, then ^), hidden size H, input size I of a layer and size G of γ. Matrix columns are output units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any, NoReturn

import numpy as np

from il_morph.cited.nwfst.lattice import (
    EPSILON,
    INS,
    SUB,
    Arcs,
    Edit,
    Viterbi,
    check_length,
    log_partition,
    number_of_states,
)
from il_morph.errors import InputError
from il_morph.model.architecture import AnyArchitecture
from il_morph.model.search import Hypothesis, SearchModel, execute
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import COPY, DELETE, END, UNK

WINDOW = 3
GATES = 4
MOST_WORDS, MOST_STATES = 16, 1_000_000  # computed at once; more words do not fit into the cache
KEPT = 0.8  # the share of embeddings and layer inputs that dropout keeps; their weights are scaled by it for test
COPY_SCORE = 3.0
LARGEST_SCORE = 1e6  # of a path: a log probability is a difference of such scores, which have 32 bits
MOST_WEIGHTS = 200_000_000  # of T, which grows with the square of the number of characters
LETTERS = ascii_lowercase  # known to every model
Weights = dict  # name -> array


@dataclass(frozen=True)
class Shape:
    """The sizes of a model, and what follows from them."""

    characters: int
    embedding: int = 10
    hidden: int = 15
    layers: int = 4

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Shape:
        settings = vocabulary.settings
        letters = len(vocabulary.actions) - len(vocabulary.system.special_actions)
        return cls(letters, settings.input, settings.enc_hidden, settings.enc_layers)

    @property
    def symbols(self) -> int:
        return self.characters + 2

    @property
    def caret(self) -> int:
        return self.characters + 1

    @property
    def letters(self) -> int:
        """The number of values of the last symbol written: none, or a character."""
        return self.characters + 1

    def width(self, layer: int) -> int:
        """The width of a layer's input; `width(layers)` is the size of γ."""
        return WINDOW * self.embedding + 2 * self.hidden * layer

    @property
    def blocks(self) -> tuple[int, int, int]:
        """The numbers of columns of T for SUB, INS and DEL."""
        writing = self.letters * self.characters
        return writing, writing, self.letters

    def weights(self) -> dict[str, tuple[int, ...]]:
        gates = GATES * self.hidden
        shapes: dict[str, tuple[int, ...]] = {"embeddings": (self.symbols, self.embedding)}
        for layer in range(self.layers):
            shapes[f"encoder.{layer}.x"] = (2, self.width(layer), gates)
            shapes[f"encoder.{layer}.h"] = (2, self.hidden, gates)
            shapes[f"encoder.{layer}.b"] = (2, gates)
        return {**shapes, "arcs": (self.width(self.layers), sum(self.blocks)), "copy": (1,)}


def check_alphabet(shape: Shape) -> None:
    """Raise an InputError if the alphabet is too large."""
    weights = shape.width(shape.layers) * sum(shape.blocks)
    if weights > MOST_WEIGHTS:
        raise InputError(f"the data has {shape.characters:,} different characters (with a–z), for which "
                         f"--architecture=nwfst has {weights:,} weights, more than {MOST_WEIGHTS:,}: "
                         "train another model")


class NwfstArchitecture(AnyArchitecture):
    """Names, shapes and initial values of the weights."""

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.shape = Shape.of(vocabulary)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return self.shape.weights()

    def draw(self, seed: int) -> Weights:
        random = np.random.RandomState(seed)
        return {name: draw_weight(name, shape, random).astype(np.float32) for name, shape in self.shapes.items()}


def draw_weight(name: str, shape: tuple[int, ...], random: np.random.RandomState) -> np.ndarray:
    kind = name.rsplit(".", 1)[-1]
    if kind == "embeddings":
        return 0.01 * random.uniform(0, 1, shape)
    if kind == "x":
        return random.uniform(-1, 1, shape)
    if kind == "h":
        directions, hidden, _ = shape
        return np.stack([np.hstack([orthogonal(hidden, random) for _ in range(GATES)]) for _ in range(directions)])
    if kind == "arcs":
        return -random.uniform(0, 1, shape)
    return np.full(shape, COPY_SCORE) if kind == "copy" else np.zeros(shape)


def orthogonal(size: int, random: np.random.RandomState) -> np.ndarray:
    return np.linalg.svd(random.normal(size=(size, size)))[0]


def windows(words: np.ndarray, shape: Shape) -> np.ndarray:
    """The symbols around each position of ^x, for words [word, position] of one length: [word, i, WINDOW]."""
    padded = np.pad(words, ((0, 0), (WINDOW // 2 + 1, WINDOW // 2)), constant_values=EPSILON)
    padded[:, WINDOW // 2] = shape.caret
    return np.lib.stride_tricks.sliding_window_view(padded, WINDOW, axis=1)


def both_ways(rows: np.ndarray) -> np.ndarray:
    """[word, i, …] in both directions: [2, i, word, …]."""
    turned = np.swapaxes(rows, 0, 1)
    return np.stack([turned, turned[::-1]])


def side_by_side(outputs: np.ndarray) -> np.ndarray:
    """The outputs of both directions [2, i, word, H], concatenated at each position: [word, i, 2H]."""
    return np.swapaxes(np.concatenate([outputs[0], outputs[1, ::-1]], axis=-1), 0, 1)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * np.tanh(0.5 * x) + 0.5


def of_gates(rows: np.ndarray) -> Sequence[np.ndarray]:
    """The gates of [2, word, 4H], each [2, word, H]."""
    hidden = rows.shape[-1] // GATES
    return [rows[..., gate * hidden:(gate + 1) * hidden] for gate in range(GATES)]


def recur(projected: np.ndarray, recurrent: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run an LSTM in both directions over projected inputs [2, i, word, 4H].

    Returns the gates after their non-linearity, and the cells c and outputs h, [2, i, word, H].
    """
    hidden = recurrent.shape[1]
    gates, c = np.empty_like(projected), np.zeros(projected.shape[:-1] + (hidden,), dtype=projected.dtype)
    h = np.zeros_like(c)
    for t in range(projected.shape[1]):
        z = projected[:, t] if t == 0 else projected[:, t] + h[:, t - 1] @ recurrent
        gates[:, t, :, :3 * hidden] = sigmoid(z[..., :3 * hidden])
        gates[:, t, :, 3 * hidden:] = np.tanh(z[..., 3 * hidden:])
        i, f, o, g = of_gates(gates[:, t])
        c[:, t] = i * g if t == 0 else i * g + f * c[:, t - 1]
        h[:, t] = o * np.tanh(c[:, t])
    return gates, c, h


def for_test(weights: Weights) -> Weights:
    """The weights for test: nothing is dropped, so embeddings and layer input matrices are scaled by KEPT instead."""
    return {name: np.float32(KEPT) * array if name == "embeddings" or name.endswith(".x") else array
            for name, array in weights.items()}


def encode(weights: Weights, shape: Shape, words: np.ndarray) -> np.ndarray:
    """γ [word, i, G] of words of one length, with the weights of `for_test`."""
    read = weights["embeddings"][windows(words, shape)].reshape(len(words), -1, shape.width(0))
    for layer in range(shape.layers):
        x, h, b = (weights[f"encoder.{layer}.{part}"] for part in "xhb")
        projected = both_ways(read) @ x[:, None] + b[:, None, None]
        read = np.concatenate([read, side_by_side(recur(projected, h)[2])], axis=-1)
    return read


def arcs_of(gamma: np.ndarray, matrix: np.ndarray, copy: float, words: np.ndarray, characters: int) -> Arcs:
    """The scores of all arcs; `matrix` is T for this number of characters."""
    letters, leading = characters + 1, gamma.shape[:2]
    scores = (gamma.reshape(-1, len(matrix)) @ matrix).reshape(*leading, -1)
    writing = letters * characters
    sub = scores[..., :writing].reshape(*leading, letters, characters)
    ins = scores[..., writing:2 * writing].reshape(*leading, letters, characters)
    sub[copies(words)] = copy
    return Arcs(sub, ins, scores[..., 2 * writing:])


def copies(words: np.ndarray) -> tuple[np.ndarray, ...]:
    """The indices of the copies in `sub`: x_i after x_{i−1}, or x_1 after nothing."""
    word, position = np.nonzero(np.ones(words.shape))
    previous = np.zeros_like(words)
    previous[:, 1:] = words[:, :-1]
    return word, position + 1, previous[word, position], words[word, position] - 1


def symbols_of(vocabulary: Vocabulary, text: str) -> list[int]:
    """The symbols of a text; a character that the model does not know gets the number after the last known one."""
    unknown, first = len(vocabulary.actions), len(vocabulary.system.special_actions)
    return [(unknown if action == UNK else action) - first + 1 for action in vocabulary.actions_of(text)]


def with_unknown(weights: Weights, shape: Shape) -> Weights:
    """The weights of a model with one more character, whose weights are the mean over all others."""
    letters, characters = shape.letters, shape.characters
    sub, ins, dele = np.split(weights["arcs"], np.cumsum(shape.blocks)[:-1], axis=1)
    blocks = [with_mean(with_mean(block.reshape(-1, letters, characters), 1, EPSILON + 1), 2) for block in (sub, ins)]
    arcs = np.hstack([block.reshape(len(dele), -1) for block in (*blocks, with_mean(dele, 1, EPSILON + 1))])
    known, caret = np.split(weights["embeddings"], [shape.caret])
    return {**weights, "embeddings": np.vstack([with_mean(known, 0, EPSILON + 1), caret]), "arcs": arcs}


def with_mean(array: np.ndarray, axis: int, first: int = 0) -> np.ndarray:
    """The array with one more item along an axis: the mean of its items from index `first` on."""
    counted = np.take(array, np.arange(first, array.shape[axis]), axis)
    return np.concatenate([array, counted.mean(axis=axis, keepdims=True, dtype=array.dtype)], axis=axis)


def no_steps() -> InputError:
    return InputError("this model (--architecture=nwfst) weighs whole paths through a lattice, not one action after "
                      "the other: it has no probabilities of single steps; take another model for them")


class NwfstInference(SearchModel):
    """NWFST without gradients: finds the best path through the lattice of each sample, and so has no steps."""

    weighs_paths = True

    def __init__(self, weights: Weights, vocabulary: Vocabulary):
        self.vocabulary, self.shape = vocabulary, Shape.of(vocabulary)
        self.weights = for_test(weights)
        self.shape_with_unknown = replace(self.shape, characters=self.shape.characters + 1)
        self.weights_with_unknown = with_unknown(self.weights, self.shape)

    def encode(self, instances: Sequence[Instance]) -> NoReturn:
        raise no_steps()

    def step(self, encoded: Any, rows: np.ndarray, positions: np.ndarray, actions: np.ndarray, states: Any) -> NoReturn:
        raise no_steps()

    def initial_states(self) -> NoReturn:
        raise no_steps()

    def log_probabilities(self, states: Any, at_end: np.ndarray) -> NoReturn:
        raise no_steps()

    def advance(self, positions: np.ndarray, actions: np.ndarray) -> NoReturn:
        raise no_steps()

    def search(self, instances: Sequence[Instance], width: int) -> list[list[Hypothesis]]:
        return [[Hypothesis(execute(actions, instance, self.vocabulary), actions, log_probability)]
                for instance, (actions, log_probability) in zip(instances, self.best(instances))]

    def best_outputs(self, instances: Sequence[Instance], width: int, batch_size: int) -> list[str]:
        """Outputs alone do not need the sum over all paths."""
        return [execute(actions, instance, self.vocabulary)
                for instance, (actions, _) in zip(instances, self.best(instances, normalised=False))]

    def arcs(self, words: np.ndarray) -> Arcs:
        """The scores of all arcs for words [word, position] of one length."""
        shape, weights, unknown = self.shape, self.weights, words > self.shape.characters
        if unknown.any():
            shape, weights = self.shape_with_unknown, self.weights_with_unknown
        arcs = arcs_of(encode(weights, shape, words), weights["arcs"], weights["copy"][0], words, shape.characters)
        if unknown.any():  # an unknown character is written only where it is read
            arcs.ins[..., -1] = -np.inf
            arcs.sub[:, 1:][~unknown, :, -1] = -np.inf
        return arcs

    def best(self, instances: Sequence[Instance], normalised: bool = True) -> list[tuple[tuple[int, ...], float]]:
        """The actions of the best path of each sample, and its log probability.

        Without `normalised`, its score instead, which takes no sum over paths. Equal inputs are computed once: their
        results could differ in the last digits between two places of a batch.
        """
        words = [tuple(symbols_of(self.vocabulary, instance.sample.input)) for instance in instances]
        found: dict[tuple[int, ...], tuple[tuple[int, ...], float]] = {}
        for batch in self._batches(dict.fromkeys(words)):
            symbols = np.array(batch, dtype=np.int64)
            arcs = self.arcs(symbols)
            viterbi = Viterbi(arcs)
            scores = viterbi.scores - log_partition(arcs) if normalised else viterbi.scores
            scores = np.where(np.abs(viterbi.scores) > LARGEST_SCORE, np.nan, scores)
            for row, word in enumerate(batch):
                found[word] = self.actions(viterbi.path(row), symbols[row]), float(scores[row])
        return [found[word] for word in words]

    def _batches(self, words: Iterable[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
        """Batches of words of one length, either all with or all without unknown characters."""
        groups: dict[tuple[int, bool], list[tuple[int, ...]]] = {}
        for word in words:
            groups.setdefault((len(word), max(word, default=0) > self.shape.characters), []).append(word)
        for (length, _), group in groups.items():
            check_length(length, self.shape.letters)
            size = max(1, min(MOST_WORDS, MOST_STATES // number_of_states(length, self.shape.letters)))
            for first in range(0, len(group), size):
                yield group[first:first + size]

    def actions(self, path: Sequence[Edit], word: np.ndarray) -> tuple[int, ...]:
        """A path as actions of the edit system: a substitution is a deletion and an insertion, unless it copies."""
        actions: list[int] = []
        position = 0
        for edit, y in path:
            copies = edit == SUB and y == word[position]
            if edit != INS:
                actions.append(COPY if copies else DELETE)
                position += 1
            if edit == INS or edit == SUB and not copies:
                actions.append(y - 1 + len(self.vocabulary.system.special_actions))
        return (*actions, END)
