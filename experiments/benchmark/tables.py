"""What is printed: tables of figures with their ratios, and what is required of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Ratio = tuple[str, str]  # the columns whose quotient is shown


@dataclass(frozen=True)
class Row:
    """Figures by the name of their column; a column without one shows a dash."""

    name: str
    values: Mapping[str, float]
    note: str = ""

    def ratio(self, above: str, below: str) -> float:
        return self.values[above] / self.values[below]


def print_table(title: str, columns: Sequence[str], ratios: Sequence[Ratio], rows: Sequence[Row]) -> None:
    head = [*columns, *(f"{above}/{below}" for above, below in ratios)]
    print(f"  {title:<32}" + "".join(f"{name:>{width(name)}}" for name in head))
    for row in rows:
        figures = [shown(row, (column,)) for column in columns] + [shown(row, ratio) for ratio in ratios]
        line = "".join(f"{figure:>{width(name)}}" for figure, name in zip(figures, head))
        print(f"  {row.name:<32}{line}   {row.note}".rstrip(), flush=True)


def width(name: str) -> int:
    return max(9, len(name) + 2)


def shown(row: Row, columns: Sequence[str]) -> str:
    """The figure of one column, or the ratio of two."""
    if not all(column in row.values for column in columns):
        return "–"
    return f"{row.ratio(*columns) if len(columns) == 2 else row.values[columns[0]]:.2f}"


@dataclass(frozen=True)
class Requirement:
    text: str
    value: float
    bound: float
    at_least: bool

    def __str__(self) -> str:
        met = self.value >= self.bound if self.at_least else self.value <= self.bound
        sign = ">=" if self.at_least else "<="
        return f"  {'yes' if met else 'NO':<4}{self.text}: {self.value:.2f} ({sign} {self.bound:g})"


def at_least(text: str, value: float, bound: float) -> Requirement:
    return Requirement(text, value, bound, True)


def at_most(text: str, value: float, bound: float) -> Requirement:
    return Requirement(text, value, bound, False)
