"""Stochastic edit distance (Ristad & Yianilos 1998): edit costs learnt from pairs of strings.

The model is one multinomial over all edits: substitutions (copies included), deletions, insertions, and a stop. EM
raises the likelihood of the pairs; the cost of an edit is −log of its probability. Pairs with the same two lengths are
computed together, one row of their tables at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Callable

import numpy as np

from il_morph.transitions.actions import UNK, ActionTable, Move

ITERATIONS = 10
UNSEEN = -1e6  # log probability of an edit with a symbol that does not occur in the pairs


@dataclass
class StochasticEdits:
    """Log probabilities of the edits. `substitutions` has a row for each input symbol, a column for each output symbol.
    """

    inputs: list[str]
    outputs: list[str]
    substitutions: np.ndarray
    deletions: np.ndarray
    insertions: np.ndarray
    stop: float

    @classmethod
    def uniform(cls, inputs: Iterable[str], outputs: Iterable[str]) -> StochasticEdits:
        inputs, outputs = list(inputs), list(outputs)
        n, m = len(inputs), len(outputs)
        return cls(inputs, outputs, *split(np.full(n * m + n + m + 1, -np.log(n * m + n + m + 1)), n, m))

    @classmethod
    def learn(cls, pairs: Sequence[tuple[str, str]], iterations: int = ITERATIONS) -> StochasticEdits:
        """Maximum likelihood by EM from a uniform start.

        The probabilities from the previous round serve as pseudo-counts, with a total mass of 1.
        """
        edits = cls.uniform(*(dict.fromkeys(chain.from_iterable(side)) for side in zip(*pairs)))
        groups = list(edits._groups(pairs))
        for _ in range(iterations):
            edits = edits._improved(groups)
        return edits

    @property
    def log_probabilities(self) -> np.ndarray:
        """All log probabilities in one row, in the order of the fields."""
        return np.concatenate([self.substitutions.ravel(), self.deletions, self.insertions, [self.stop]])

    def log_likelihoods(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """log P of each pair: the sum over all ways to edit one string into the other."""
        found = [0.0] * len(pairs)
        for group in self._groups(pairs):
            for index, value in zip(group.indices, self._forward(group)[:, -1, -1] + self.stop):
                found[index] = float(value)
        return found

    def _groups(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Group]:
        inputs, outputs = ({symbol: n for n, symbol in enumerate(side)} for side in (self.inputs, self.outputs))
        members: dict[tuple[int, int], list[int]] = {}
        for index, (x, y) in enumerate(pairs):
            members.setdefault((len(x), len(y)), []).append(index)
        for (n, m), indices in members.items():
            xs = np.array([[inputs[c] for c in pairs[index][0]] for index in indices], dtype=int)
            ys = np.array([[outputs[c] for c in pairs[index][1]] for index in indices], dtype=int)
            yield Group(indices, xs.reshape(len(indices), n), ys.reshape(len(indices), m))

    def _improved(self, groups: Iterable[Group]) -> StochasticEdits:
        """One round of EM."""
        counts = np.exp(self.log_probabilities)
        for group in groups:
            counts += self._expected_counts(group)
        return StochasticEdits(self.inputs, self.outputs, *split(
            np.log(counts) - np.log(counts.sum()), len(self.inputs), len(self.outputs)))

    def _forward(self, group: Group) -> np.ndarray:
        """α(i, j): log P of the first i input and j output symbols, [pair, i, j].

        Each row is a running sum of the terms from the row above, each combined with the insertions after it.
        """
        xs, ys = group.xs, group.ys
        inserted = np.zeros((len(xs), ys.shape[1] + 1))
        np.cumsum(self.insertions[ys], axis=1, out=inserted[:, 1:])
        rows = [inserted]
        for i in range(xs.shape[1]):
            above = rows[-1] + self.deletions[xs[:, i], None]
            diagonal = rows[-1][:, :-1] + self.substitutions[xs[:, i, None], ys]
            above[:, 1:] = np.logaddexp(above[:, 1:], diagonal)
            rows.append(inserted + np.logaddexp.accumulate(above - inserted, axis=1))
        return np.stack(rows, axis=1)

    def _expected_counts(self, group: Group) -> np.ndarray:
        """The expected count of each edit in the pairs; the stop occurs once in each pair."""
        xs, ys, outputs = group.xs, group.ys, len(self.outputs)
        alpha, beta = self._forward(group), self._forward(group.reversed())[:, ::-1, ::-1]
        alpha = alpha - alpha[:, -1:, -1:]
        paired = xs[:, :, None] * outputs + ys[:, None, :]
        substituted = alpha[:, :-1, :-1] + self.substitutions[xs[:, :, None], ys[:, None, :]] + beta[:, 1:, 1:]
        deleted = alpha[:, :-1, :] + self.deletions[xs][:, :, None] + beta[:, 1:, :]
        inserted = alpha[:, :, :-1] + self.insertions[ys][:, None, :] + beta[:, :, 1:]
        return np.concatenate([
            counted(paired, np.exp(substituted), self.substitutions.size),
            counted(xs, np.exp(deleted).sum(axis=2), len(self.inputs)),
            counted(ys, np.exp(inserted).sum(axis=1), outputs), [len(xs)]])

    def renamed(self, name: Callable[[str], str]) -> StochasticEdits:
        """The same edits with renamed symbols."""
        return replace(self, inputs=list(map(name, self.inputs)), outputs=list(map(name, self.outputs)))

    def as_dict(self) -> dict:
        """The values stored in a model file."""
        return {"inputs": self.inputs, "outputs": self.outputs, "log_probabilities": self.log_probabilities.tolist()}

    @classmethod
    def from_dict(cls, values: dict) -> StochasticEdits:
        """Read the values of a model file. Raise a ValueError if no training could have produced them."""
        if not isinstance(values, dict) or {*values} != {"inputs", "outputs", "log_probabilities"}:
            raise ValueError("its learnt costs are not inputs, outputs and log_probabilities")
        inputs, outputs, numbers = values["inputs"], values["outputs"], np.asarray(values["log_probabilities"])
        for side in (inputs, outputs):
            if (not isinstance(side, list) or not all(isinstance(each, str) and len(each) == 1 for each in side)
                    or len({*side}) < len(side)):
                raise ValueError("the symbols of its learnt costs are no list of different characters")
        n, m = len(inputs), len(outputs)
        if (numbers.shape != (n * m + n + m + 1,) or numbers.dtype != np.float64
                or not (np.isfinite(numbers) & (numbers <= 0)).all()):
            raise ValueError(f"its learnt costs are not {n * m + n + m + 1} log probabilities")
        return cls(inputs, outputs, *split(numbers, n, m))


@dataclass
class Group:
    """Pairs with the same two lengths, as symbol numbers [pair, place]."""

    indices: list[int]
    xs: np.ndarray
    ys: np.ndarray

    def reversed(self) -> Group:
        return Group(self.indices, self.xs[:, ::-1], self.ys[:, ::-1])


def split(values: np.ndarray, n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Split the row of all edits into substitutions, deletions, insertions and stop."""
    substitutions, deletions, insertions, (stop,) = np.split(values, [n * m, n * m + n, n * m + n + m])
    return substitutions.reshape(n, m), deletions, insertions, float(stop)


def counted(codes: np.ndarray, weights: np.ndarray, number: int) -> np.ndarray:
    return np.bincount(codes.ravel(), weights.ravel(), number)


class LearntMoves:
    """The moves of an action table with learnt costs."""

    def __init__(self, table: ActionTable, edits: StochasticEdits):
        self.table, self.edits = table, edits
        self.inputs, self.outputs = ({symbol: n for n, symbol in enumerate(side)}
                                     for side in (edits.inputs, edits.outputs))
        self._moves: dict[tuple[str, str], tuple[Move, ...]] = {}

    @property
    def end_cost(self) -> float:
        return -self.edits.stop

    def moves(self, x: str, t: str) -> tuple[Move, ...]:
        found = self._moves.get((x, t))
        if found is None:
            found = self._moves[x, t] = tuple(
                move._replace(cost=self._cost(move, x, t)) for move in self.table.moves(x, t))
        return found

    def _cost(self, move: Move, x: str, t: str) -> float:
        read, written = self.inputs.get(x), self.outputs.get(t)
        if move.action == UNK or (move.reads and read is None) or (move.writes and written is None):
            return -UNSEEN
        edits = self.edits
        if move.reads and move.writes:
            return -float(edits.substitutions[read, written])
        return -float(edits.deletions[read] if move.reads else edits.insertions[written])
