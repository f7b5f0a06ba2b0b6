"""Character alignments of input and output.

An alignment is a pair of equally long strings, the input and the output with gaps inserted;
no column has a gap on both sides. An aligner takes all pairs of a data set and returns
their alignments in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Callable, Optional, Union

import numpy as np

from il_morph.bars import bar
from il_morph.data.formats import GAP

Pair = tuple[str, str]
Aligner = Callable[[Sequence[Pair]], list[Pair]]
Progress = Callable[[Iterable[int]], Iterable[int]]


# ---- padding and longest common substring


def align_dumb(pairs: Sequence[Pair]) -> list[Pair]:
    """Pad the shorter string of each pair on the right."""
    return [_pad_right(source, target) for source, target in pairs]


def align_lcs(pairs: Sequence[Pair]) -> list[Pair]:
    """Line up the longest common substring of each pair and pad the rest.

    If several substrings are longest, the one that starts first in the input wins, then the
    one that starts first in the output. Pairs with equally many blanks are aligned word by
    word.
    """
    return [_align_words(source, target) for source, target in pairs]


def _align_words(source: str, target: str) -> Pair:
    if source.count(" ") != target.count(" "):
        return _put_in_register(source, target)
    words = zip(source.split(" "), target.split(" "))
    aligned = [_put_in_register(*word_pair) for word_pair in words]
    return " ".join(left for left, _ in aligned), " ".join(right for _, right in aligned)


def _put_in_register(source: str, target: str) -> Pair:
    matcher = SequenceMatcher(None, source, target, autojunk=False)
    match = matcher.find_longest_match(0, len(source), 0, len(target))
    return _pad_right(GAP * (match.b - match.a) + source, GAP * (match.a - match.b) + target)


def _pad_right(source: str, target: str) -> Pair:
    length = max(len(source), len(target))
    return source.ljust(length, GAP), target.ljust(length, GAP)


# ---- Chinese restaurant process


CONCENTRATION = 10.0
BLOCKS_PER_SWEEP = 20  # at least, if there are that many pairs
CELLS_PER_BLOCK = 2_000_000  # bounds the memory of a block of long strings


def align_crp(
    pairs: Sequence[Pair],
    iterations: int = 150,
    burn_in: int = 5,
    seed: Union[int, np.random.Generator] = 1,
    progress: Optional[Progress] = None,
) -> list[Pair]:
    """Align by a Chinese restaurant process over alignment columns, with Gibbs sampling.

    A column (x, y), x or y possibly a gap, has probability
    (count + CONCENTRATION * base) / (total + CONCENTRATION), where the counts come from the
    current alignments of the other pairs. Each sweep draws new alignments for all pairs;
    the result is the most probable alignment under the counts averaged over the sweeps
    after burn-in (the last sweep if there are none).

    For speed, pairs of similar lengths are drawn together in blocks of at most a twentieth
    of the data: the counts of the whole block are taken out, not only those of one pair.
    The result depends on the seed and the pairs, not on the order of the pairs.
    `progress` wraps the iterable of sweeps, as tqdm does.
    """
    if iterations < 1:
        raise ValueError(f"the aligner needs at least one iteration, not {iterations}")
    if not pairs:
        return []
    burn_in = min(burn_in, iterations - 1)
    sampler = _Sampler(pairs, np.random.default_rng(seed))
    summed = np.zeros_like(sampler.counts)
    sweeps = range(iterations)
    for sweep in progress(sweeps) if progress else sweeps:
        sampler.sweep()
        if sweep >= burn_in:
            summed += sampler.counts
    return sampler.best_alignments(summed / (iterations - burn_in))


class _Sampler:
    """The state of the Gibbs sampler: blocks of pairs and the counts of their columns."""

    def __init__(self, pairs: Sequence[Pair], rng: np.random.Generator) -> None:
        self.pairs = pairs
        self.rng = rng
        symbols = sorted(set("".join(source + target for source, target in pairs)))
        index = {symbol: number for number, symbol in enumerate(symbols, start=1)}
        self.blocks = [_Block(pairs, members, index) for members in _similar_lengths(pairs)]
        self._number_columns(len(symbols))
        self.counts = np.zeros(len(self.base))

    def _number_columns(self, alphabet: int) -> None:
        """Number the columns that can occur at all, and give each its base probability.

        Copies, substitutions, deletions and insertions get a quarter each, divided evenly
        among the columns of that kind.
        """
        keys = np.unique(np.concatenate([np.unique(block.columns) for block in self.blocks]))
        for block in self.blocks:
            block.columns = np.searchsorted(keys, block.columns)
        left, right = np.divmod(keys, alphabet + 1)
        self.deletion = np.searchsorted(keys, left * (alphabet + 1))
        self.insertion = np.searchsorted(keys, right)
        substitution = (left != right) & (left > 0) & (right > 0)
        size_of_kind = np.where(substitution, alphabet * (alphabet - 1), max(1, alphabet))
        self.base = 1 / 4 / size_of_kind

    def sweep(self) -> None:
        """Draw a new alignment for every pair, block by block in random order."""
        for number in self.rng.permutation(len(self.blocks)):
            block = self.blocks[number]
            self.counts -= self._count(block.drawn)
            block.draw(self._link_scores(self.counts), self.rng)
            self.counts += self._count(block.drawn)

    def best_alignments(self, counts: np.ndarray) -> list[Pair]:
        """Return the most probable alignment of each pair under these counts."""
        scores = self._link_scores(counts)
        aligned: list[Pair] = [("", "")] * len(self.pairs)
        for block in self.blocks:
            for member, columns in zip(block.members, block.best(scores)):
                aligned[member] = _with_gaps(*self.pairs[member], columns)
        return aligned

    def _count(self, columns: np.ndarray) -> np.ndarray:
        return np.bincount(columns, minlength=len(self.base))

    def _link_scores(self, counts: np.ndarray) -> np.ndarray:
        """Log odds of each column (x, y) against the two columns (x, gap) and (gap, y).

        Every alignment uses each character once, so a score that is relative to leaving
        both characters unlinked orders alignments as their probabilities do.
        """
        weights = np.log(counts + CONCENTRATION * self.base)
        total = np.log(counts.sum() + CONCENTRATION)
        return weights - weights[self.deletion] - weights[self.insertion] + total


def _similar_lengths(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """Divide the pairs (their numbers) into blocks of similar lengths."""

    def lengths_first(number: int) -> tuple:
        source, target = pairs[number]
        return len(source) + len(target), len(source), source, target

    most = max(1, len(pairs) // BLOCKS_PER_SWEEP)
    block: list[int] = []
    for number in sorted(range(len(pairs)), key=lengths_first):
        cells = (len(pairs[number][0]) + len(pairs[number][1]) + 1) ** 2
        if block and (len(block) == most or (len(block) + 1) * cells > CELLS_PER_BLOCK):
            yield block
            block = []
        block.append(number)
    yield block


class _Block:
    """Pairs that are aligned together, by dynamic programming over a batch dimension.

    Cell (i, j) stands for the first i input and j output characters. Tables are indexed
    [i + j, i, pair], so that one step fills an anti-diagonal of all pairs. `columns` holds
    the column that links characters i and j; (i, 0) is a deletion and (0, j) an insertion.
    """

    def __init__(self, pairs: Sequence[Pair], members: list[int], index: dict) -> None:
        self.members = members
        sources = [pairs[member][0] for member in members]
        targets = [pairs[member][1] for member in members]
        self.source_lengths = np.array([len(source) for source in sources])
        self.target_lengths = np.array([len(target) for target in targets])
        source_ids, target_ids = _id_table(sources, index), _id_table(targets, index)
        self.width, self.height = len(source_ids), len(target_ids)
        i = np.arange(self.width)
        j = np.arange(self.width + self.height - 1)[:, None] - i
        inside = (j >= 0) & (j < self.height)
        self.columns = source_ids * (len(index) + 1) + target_ids[np.where(inside, j, 0)]
        self.drawn = np.zeros(0, dtype=int)

    def draw(self, scores: np.ndarray, rng: np.random.Generator) -> None:
        """Draw an alignment of each pair; `drawn` holds the columns of all alignments."""
        tables = self._fill(scores, np.logaddexp)
        steps = self._trace_back(*tables, rng.random)
        self.drawn = np.concatenate(
            [self.columns[i + j, i, pair] for pair, i, j in steps] or [self.drawn]
        )

    def best(self, scores: np.ndarray) -> list[list[tuple[int, int]]]:
        """Return the columns (i, j) of the best alignment of each pair."""
        aligned: list[list[tuple[int, int]]] = [[] for _ in self.members]
        almost_one = np.nextafter(1, 0)
        tables = self._fill(scores, np.maximum)
        for step in self._trace_back(*tables, lambda size: np.full(size, almost_one)):
            for pair, i, j in zip(*(numbers.tolist() for numbers in step)):
                aligned[pair].append((i, j))
        return [columns[::-1] for columns in aligned]

    def _fill(self, scores: np.ndarray, add: np.ufunc) -> tuple[np.ndarray, np.ndarray]:
        """Sum (or maximise) over the alignments of all prefixes.

        Between two links deletions come before insertions, so that every set of links is
        one path. `closed` covers the alignments whose last column is not an insertion,
        `total` covers all. Both tables have a margin of impossible cells, two diagonals and
        one row wide.
        """
        links = scores[self.columns]
        closed = np.full((self.width + self.height + 1, self.width + 1, len(self.members)), -np.inf)
        total = closed.copy()
        closed[2, 1] = total[2, 1] = 0
        for d in range(1, self.width + self.height - 1):
            low, high = max(0, d - self.height + 1), min(self.width, d + 1)
            here, before = slice(low + 1, high + 1), slice(low, high)
            closed[d + 2, here] = add(closed[d + 1, before], total[d, before] + links[d, low:high])
            total[d + 2, here] = add(closed[d + 2, here], total[d + 1, here])
        return closed, total

    def _trace_back(
        self, closed: np.ndarray, total: np.ndarray, uniform: Callable[[int], np.ndarray]
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the columns of all alignments from last to first, as (pairs, i, j).

        A branch is taken if its share of the sum exceeds the next number of `uniform`;
        with numbers just below 1 and tables of maxima this is the best alignment.
        """
        pair = np.arange(len(self.members))
        i, j = self.source_lengths, self.target_lengths
        may_insert = np.ones(len(pair), dtype=bool)
        while True:
            unfinished = i + j > 0
            pair, i, j, may_insert = (a[unfinished] for a in (pair, i, j, may_insert))
            if not len(pair):
                return
            d, row = i + j + 2, i + 1
            share = np.exp(total[d - 1, row, pair] - total[d, row, pair])
            insert = may_insert & (uniform(len(pair)) < share)
            with np.errstate(invalid="ignore"):
                share = np.exp(closed[d - 1, row - 1, pair] - closed[d, row, pair])
            delete = ~insert & (uniform(len(pair)) < share)
            yield pair, np.where(insert, 0, i), np.where(delete, 0, j)
            i, j, may_insert = i - ~insert, j - ~delete, ~delete


def _id_table(words: list[str], index: dict) -> np.ndarray:
    """Return symbol numbers [position, word]; position 0 and padding are 0, the gap."""
    table = np.zeros((max(map(len, words)) + 1, len(words)), dtype=int)
    for number, word in enumerate(words):
        table[1 : len(word) + 1, number] = [index[symbol] for symbol in word]
    return table


def _with_gaps(source: str, target: str, columns: list[tuple[int, int]]) -> Pair:
    """Write out an alignment given as columns (i, j) of 1-based positions, 0 for a gap."""
    left = "".join(source[i - 1] if i else GAP for i, _ in columns)
    right = "".join(target[j - 1] if j else GAP for _, j in columns)
    return left, right


ALIGNERS = {"cls": align_lcs, "dumb": align_dumb, "smart": align_crp}


def make_aligner(name: str, iterations: int = 150, seed: int = 1, reverse: bool = False) -> Aligner:
    """The aligner called `cls`, `dumb` or `smart`; `reverse` tries the reversed strings as well."""
    aligner = ALIGNERS[name]
    if aligner is align_crp:
        aligner = partial(align_crp, iterations=iterations, seed=seed,
                          progress=lambda sweeps: bar(sweeps, "align", "sweep"))
    return partial(try_reverse, aligner) if reverse else aligner


# ---- either direction


def try_reverse(aligner: Aligner, pairs: Sequence[Pair]) -> list[Pair]:
    """Align the strings and the reversed strings; keep the direction with more copies overall.

    Meant for languages that inflect at the front. In a tie, the unreversed strings win.
    """
    forward = aligner(pairs)
    reversed_pairs = [(source[::-1], target[::-1]) for source, target in pairs]
    backward = [(left[::-1], right[::-1]) for left, right in aligner(reversed_pairs)]
    return max(forward, backward, key=_count_copies)


def _count_copies(aligned: Sequence[Pair]) -> int:
    return sum(x == y for left, right in aligned for x, y in zip(left, right))
