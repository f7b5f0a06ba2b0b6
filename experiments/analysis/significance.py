"""Paired tests over languages, two-sided and exact: does one system beat another by more than chance?"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np
from frames import DIGITS
from scipy import stats


def non_zero(differences: Sequence[float]) -> np.ndarray:
    rounded = np.round(np.asarray(differences, dtype=float), DIGITS)
    return rounded[rounded != 0]


def sign_test(differences: Sequence[float]) -> Optional[float]:
    """The p-value of the sign test; differences of 0 are left out."""
    differing = non_zero(differences)
    return stats.binomtest(int((differing > 0).sum()), len(differing)).pvalue if len(differing) else None


def signed_rank_test(differences: Sequence[float]) -> Optional[float]:
    """The p-value of Wilcoxon's signed-rank test; differences of 0 are left out.

    Accuracies of short test sets tie a lot. scipy.stats.wilcoxon is exact without ties only, and what it does with
    them depends on its version; so the exact distribution of the sum of (doubled) ranks is convolved here.
    """
    differing = non_zero(differences)
    if not len(differing):
        return None
    ranks = np.rint(2 * stats.rankdata(np.abs(differing))).astype(int)
    chance = np.ones(1)
    for rank in ranks:
        chance = (np.pad(chance, (0, rank)) + np.pad(chance, (rank, 0))) / 2
    reached = ranks[differing > 0].sum()
    return min(1.0, 2 * float(chance[:min(reached, ranks.sum() - reached) + 1].sum()))
