"""Differences over languages, and paired tests: does one system beat another by more than chance?

The tests are two-sided and exact.
"""
from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import Optional

DIGITS = 6  # accuracies have four: what differs further behind is rounding


@dataclass(frozen=True)
class Differences:
    """Of the same quantity on several languages."""

    values: tuple[float, ...]

    @property
    def mean(self) -> Optional[float]:
        return statistics.fmean(self.values) if self.values else None

    @property
    def sd(self) -> Optional[float]:
        return sample_sd(self.values)

    @property
    def standard_error(self) -> Optional[float]:
        """Of the mean."""
        return None if self.sd is None else self.sd / sqrt(len(self.values))

    @property
    def above(self) -> int:
        return sum(each > 0 for each in without_ties(self.values))

    @property
    def below(self) -> int:
        return sum(each < 0 for each in without_ties(self.values))


def sample_sd(values: Sequence[float]) -> Optional[float]:
    return statistics.stdev(values) if len(values) > 1 else None


def without_ties(differences: Sequence[float]) -> list[float]:
    """The differences that are not 0."""
    return [each for each in (round(difference, DIGITS) for difference in differences) if each]


def sign_test(differences: Sequence[float]) -> Optional[float]:
    """The probability of as uneven a split into above and below, if both are as likely; ties are left out."""
    differing = without_ties(differences)
    n, above = len(differing), sum(each > 0 for each in differing)
    if not n:
        return None
    tail = sum(comb(n, k) for k in range(min(above, n - above) + 1))
    return min(1.0, 2 * tail / 2 ** n)


def signed_rank_test(differences: Sequence[float]) -> Optional[float]:
    """Wilcoxon's: the probability of a sum of ranks as far from the middle, if each sign is as likely as the other.

    Ties are left out; equal sizes share their ranks. The ways to reach each sum are counted one by one.
    """
    differing = without_ties(differences)
    if not differing:
        return None
    ranks = _doubled_ranks([abs(each) for each in differing])
    ways = [1]
    for rank in ranks:
        shifted = [0] * rank + ways
        ways = [a + b for a, b in zip(ways + [0] * rank, shifted)]
    reached = sum(rank for rank, each in zip(ranks, differing) if each > 0)
    tail = sum(ways[:min(reached, sum(ranks) - reached) + 1])
    return min(1.0, 2 * tail / 2 ** len(ranks))


def _doubled_ranks(sizes: Sequence[float]) -> list[int]:
    """Twice the rank of each size, 1 for the smallest: a mean of ranks, doubled, is a whole number."""
    ordered = sorted(sizes)
    return [2 * ordered.index(size) + ordered.count(size) + 1 for size in sizes]
