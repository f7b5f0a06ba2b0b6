"""Sequences of different lengths as the nodes of one recurrence, without padding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np


class BatchPacking:
    """The first elements of all sequences come first, then the second elements, and so on; each group is a block.

    The longest sequence comes first, so the sequences that go on are always the first of a block.
    """

    def __init__(self, lengths: Sequence[int], start: int):
        self.size = sum(lengths)
        by_length = np.argsort(-np.array(lengths), kind="stable")
        ranks = np.argsort(by_length)
        counts = (np.array(lengths)[:, None] > np.arange(max(lengths))).sum(axis=0)
        self.bounds = np.concatenate([[0], np.cumsum(counts)])
        starts = self.bounds[:-1]
        rows = np.arange(self.size) - np.repeat(starts, counts)
        previous = np.concatenate([[-1], starts[:-1]])
        self.parents = np.where(np.arange(self.size) < counts[0], -1, rows + np.repeat(previous, counts))
        self.places = np.concatenate([starts[:length] + rank for length, rank in zip(lengths, ranks)])
        """The node of every element, one sequence after the other."""
        self.mirrored = np.concatenate([(starts[:length] + rank)[::-1] for length, rank in zip(lengths, ranks)])
        """The same with every sequence read from its end."""
        ends = np.cumsum(lengths)
        readable = np.concatenate([np.arange(end - length + start, end) for end, length in zip(ends, lengths)])
        self.readable_places, self.readable_mirrored = self.places[readable], self.mirrored[readable]
        """The nodes of the elements that the decoder can read: those from position `start` on."""
        self.sequences = np.repeat(np.arange(len(lengths)), np.array(lengths) - start)
        """The sequence of each readable element."""
        self.first = [int(end - length - start * (k + 1)) for k, (end, length) in enumerate(zip(ends, lengths))]
        """What to add to a position of a sequence to get its index among the readable elements."""


@lru_cache(maxsize=1024)
def packing_of(lengths: tuple[int, ...], start: int) -> BatchPacking:
    return BatchPacking(lengths, start)
