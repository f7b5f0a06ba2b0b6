"""Figures as cells of a table."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Optional

from il_morph.reproduction.figures import MeanFigure
from il_morph.reproduction.paper_tables import NONE, PaperTable

NOTHING = "There are no runs of our own yet."
MISSING = "–"
PARTIAL = "*"
FOLDS = ("same", "all")  # the published figures cover the same folds as ours, or all folds
FEW = 12  # list at most this many languages by name, count more


def measure(table: PaperTable) -> str:
    return f"Test {table.measure.name} in percent, beam 4."


def number(value: Optional[float], digits: int = 1, missing: str = MISSING) -> str:
    return missing if value is None else f"{value:.{digits}f}"


def signed(value: Optional[float], digits: int = 1, missing: str = MISSING) -> str:
    return missing if value is None else f"{round(value, digits) + 0.0:+.{digits}f}"  # not -0.0


def plus_minus(value: str, spread: Optional[float], digits: int = 1) -> str:
    """`50.3 ± 1.2`, or the value alone if its spread is unknown."""
    return value if spread is None else f"{value} ± {spread:.{digits}f}"


def difference(mean: MeanFigure, digits: int = 1) -> str:
    """The mean difference ± its standard error over languages."""
    return plus_minus(signed(mean.differences.mean, digits), mean.differences.standard_error, digits)


def exact(value: Optional[float]) -> str:
    """A figure for machine-readable tables, with four decimals."""
    return number(value, 4, NONE)


def names(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


def listed(languages: Sequence[str], expected: int) -> str:
    """The number of languages and, if they are few, their names."""
    if len(languages) <= FEW:
        return f"{len(languages)} of {expected} ({names(sorted(languages))})"
    return f"{len(languages)} of {expected}"


def yes(value: bool, words: tuple[str, str] = ("yes", "no")) -> str:
    return words[0] if value else words[1]
