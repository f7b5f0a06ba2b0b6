"""Differences over languages: their mean, its standard error, and on how many languages ours is above or below."""
from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Optional

DIGITS = 6  # accuracies have four; smaller differences are rounding errors


@dataclass(frozen=True)
class Differences:
    """One difference for each language."""

    values: tuple[float, ...]

    @property
    def mean(self) -> Optional[float]:
        return statistics.fmean(self.values) if self.values else None

    @property
    def standard_error(self) -> Optional[float]:
        """The standard error of the mean."""
        sd = sample_sd(self.values)
        return None if sd is None else sd / sqrt(len(self.values))

    @property
    def above(self) -> int:
        return sum(round(each, DIGITS) > 0 for each in self.values)

    @property
    def below(self) -> int:
        return sum(round(each, DIGITS) < 0 for each in self.values)


def sample_sd(values: Sequence[float]) -> Optional[float]:
    return statistics.stdev(values) if len(values) > 1 else None
