"""The lattice of NWFST: all ways to edit x = x_1 … x_n into outputs of at most n + 3 characters.

A state is (i, j, p): i characters read, j written, p the last one written (0 before the first). The arcs are

    SUB (i−1, j−1, p) → (i, j, y)      DEL (i−1, j, p) → (i, j, p)      INS (i, j−1, p) → (i, j, y)

The start is (0, 0, 0), and all (n, j, p) are final. The weight of a path is the exponential of the sum of its scores.

Words of one length are computed together, as are all states of a diagonal i + j. In sums, each (i, j) has its own
scale: a sum is a value of at most 1 times exp(scale), so that neither long words nor large scores overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from il_morph.errors import InputError

EPSILON = 0  # no symbol: the last one written, before the first
MOST_STATES = 30_000_000  # of one lattice: a quarter of a gigabyte for each of a few arrays with a number per state
LONGER = 3  # characters that an output may have more than its input
SUB, DEL, INS = range(3)
Edit = tuple  # SUB, DEL or INS, and the symbol that it writes (0: none)


def number_of_states(length: int, letters: int) -> int:
    return (length + 1) * (length + LONGER + 1) * letters


def check_length(length: int, letters: int) -> None:
    """Raise an InputError if an input is too long."""
    if number_of_states(length, letters) > MOST_STATES:
        raise InputError(f"an input has {length:,} characters, for which the lattice of this model has "
                         f"{number_of_states(length, letters):,} states, more than {MOST_STATES:,}: shorten the input")


@dataclass
class Arcs:
    """The scores of arcs into row i: sub, ins [word, i, p, y − 1], dele [word, i, p]. Only INS leads into row 0."""

    sub: np.ndarray
    ins: np.ndarray
    dele: np.ndarray

    @property
    def rows(self) -> int:
        """The number of values of i."""
        return self.dele.shape[1]

    @property
    def columns(self) -> int:
        """The number of values of j."""
        return self.rows + LONGER

    @property
    def letters(self) -> int:
        """The number of values of p."""
        return self.dele.shape[2]


@dataclass
class Factors:
    """exp(score − shift), where shift is the greatest score at i: sub, ins [word, i, p, p'], dele [word, i, p]."""

    sub: np.ndarray
    ins: np.ndarray
    dele: np.ndarray
    sub_shift: np.ndarray
    ins_shift: np.ndarray
    dele_shift: np.ndarray

    @classmethod
    def of(cls, arcs: Arcs) -> Factors:
        sub, sub_shift = exponential(arcs.sub)
        ins, ins_shift = exponential(arcs.ins)
        dele, dele_shift = exponential(arcs.dele)
        return cls(square(sub), square(ins), dele, sub_shift, ins_shift, dele_shift)

    def reversed(self) -> Factors:
        """The factors of the lattice read from its end, where SUB and DEL lead into the row that they used to leave."""
        def into(arrays: np.ndarray) -> np.ndarray:
            return np.roll(arrays[:, ::-1], 1, axis=1)

        def turned(matrices: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(np.swapaxes(matrices, 2, 3))

        return Factors(turned(into(self.sub)), turned(self.ins[:, ::-1]), into(self.dele),
                       into(self.sub_shift), np.ascontiguousarray(self.ins_shift[:, ::-1]), into(self.dele_shift))


def exponential(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(scores − shift) and the shift, always in double precision."""
    scores = scores.astype(np.float64)
    shift = scores.max(axis=tuple(range(2, scores.ndim)))
    return np.exp(scores - shift.reshape(shift.shape + (1,) * (scores.ndim - 2))), shift


def square(factors: np.ndarray) -> np.ndarray:
    """[…, p, y − 1] as […, p, p']: no arc writes symbol 0."""
    return np.concatenate([np.zeros(factors.shape[:-1] + (1,)), factors], axis=-1)


def diagonals(rows: int, columns: int) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """The diagonals of states with the same i + j, in the order of the arcs: i as a slice, i and j."""
    for total in range(rows + columns - 1):
        at = slice(max(0, total - columns + 1), min(rows - 1, total) + 1)
        i = np.arange(at.start, at.stop)
        yield at, i, total - i


def sweep(factors: Factors, initial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sum of all paths to each state: values [word, i, j, p] and scales [word, i, j].

    `initial` [j, p] are the weights of starting in the states (0, j, p).
    """
    words, rows, letters = factors.dele.shape
    values = np.zeros((words, rows + 1, len(initial) + 1, letters))  # row and column −1, the last ones, are empty
    scales = np.full((words, rows + 1, len(initial) + 1), -np.inf)
    starts = np.full((words, rows, len(initial)), -np.inf)
    starts[:, 0, initial.any(axis=1)] = 0.0
    for at, i, j in diagonals(rows, len(initial)):
        parts = np.stack([
            scales[:, i, j - 1] + factors.ins_shift[:, at], scales[:, i - 1, j - 1] + factors.sub_shift[:, at],
            scales[:, i - 1, j] + factors.dele_shift[:, at], starts[:, i, j]])
        top = parts.max(axis=0)
        inserted, substituted, deleted, started = np.exp(parts - top)[..., None]
        total = started * initial[j]
        total += products(inserted * values[:, i, j - 1], factors.ins[:, at])
        total += products(substituted * values[:, i - 1, j - 1], factors.sub[:, at])
        total += deleted * values[:, i - 1, j] * factors.dele[:, at]
        greatest = total.max(axis=2)
        values[:, i, j] = total / greatest[..., None]
        scales[:, i, j] = top + np.log(greatest)
    return values[:, :-1, :-1], scales[:, :-1, :-1]


def products(rows: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """The product of each vector and its matrix."""
    return (rows[..., None, :] @ matrices)[..., 0, :]


def at_start(columns: int, letters: int) -> np.ndarray:
    initial = np.zeros((columns, letters))
    initial[0, 0] = 1
    return initial


def log_sum(values: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """log Σ exp(scale) · value of states [word, j, p]."""
    top = scales.max(axis=1, keepdims=True)
    return top[:, 0] + np.log((values.sum(axis=2) * np.exp(scales - top)).sum(axis=1))


def log_partition(arcs: Arcs) -> np.ndarray:
    """log Z of all paths, for each word."""
    values, scales = sweep(Factors.of(arcs), at_start(arcs.columns, arcs.letters))
    return log_sum(values[:, -1], scales[:, -1])


class Viterbi:
    """The best path of each word."""

    def __init__(self, arcs: Arcs):
        self.arcs, words = arcs, len(arcs.dele)
        shape = (words, arcs.rows + 1, arcs.columns + 1, arcs.letters)  # row and column −1, the last ones, are empty
        self.best = np.full(shape, -np.inf, dtype=arcs.dele.dtype)
        for at, i, j in diagonals(arcs.rows, arcs.columns):
            best = self.best[:, i - 1, j] + arcs.dele[:, at]
            for previous, scores in ((self.best[:, i - 1, j - 1], arcs.sub), (self.best[:, i, j - 1], arcs.ins)):
                written = best[..., 1:]
                np.maximum(written, (previous[..., None] + scores[:, at]).max(axis=2), out=written)
            self.best[:, i, j] = best
            self.best[:, 0, 0, 0] = 0
        ends = self.best[:, arcs.rows - 1, :-1].reshape(words, -1)
        self.ends, self.scores = ends.argmax(axis=1), ends.max(axis=1)

    def path(self, word: int) -> list[Edit]:
        i, (j, p) = self.arcs.rows - 1, divmod(int(self.ends[word]), self.arcs.letters)
        edits: list[Edit] = []
        while i or j:
            edit, previous = self._before(word, i, j, p)
            edits.append((edit, EPSILON if edit == DEL else p))
            i, j, p = i - (edit != INS), j - (edit != DEL), previous
        return edits[::-1]

    def _before(self, word: int, i: int, j: int, p: int) -> tuple[int, int]:
        """The last edit of the best path to a state, and the last symbol written before that edit."""
        best, arcs, column = self.best[word], self.arcs, p - 1
        into = {DEL: best[i - 1, j, p:p + 1] + arcs.dele[word, i, p]}
        if p != EPSILON:
            into[SUB] = best[i - 1, j - 1] + arcs.sub[word, i, :, column]
            into[INS] = best[i, j - 1] + arcs.ins[word, i, :, column]
        edit = max(into, key=lambda edit: into[edit].max())
        return edit, p if edit == DEL else int(into[edit].argmax())
