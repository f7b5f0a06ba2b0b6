"""The replies of a model in Python: predictions, scores and paradigms, and their display in notebooks."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import Any

from il_morph.data.formats import Sample

COLOURS = {"+": "#cfeed9;color:#0b4a20", "-": "#ffdad6;color:#7d1a12", "~": "#e5e0fb;color:#3b2c85"}  # by sign
COPIED = "#e6eaef;color:#1b1f24"


@dataclass(frozen=True)
class Prediction:
    """An output with its log probability and the edits that make it: x copies, -x deletes, +x inserts, ~x
    substitutes (> moves on)."""

    output: str
    log_probability: float
    actions: str

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


@dataclass(frozen=True)
class Score:
    """The log probability of a given output: by its best action sequence, and by all action sequences found."""

    best: float
    total: float
    actions: str  # of the best sequence


@dataclass(frozen=True)
class Form:
    """A cell of a paradigm; `count` is the number of times that its features occurred in training."""

    features: str
    output: str
    probability: float
    count: int


class NBest(dict):
    """The predictions for each input, best first, as a list of lists: `found[0][0].output`, `for ranked in found`.

    Indexed by a name, it gives a column of one table of all predictions: `found["probability"]`.
    pandas.DataFrame(found) is that table.
    """

    COLUMNS = ("input", "features", "rank", "output", "probability", "log_probability", "actions")

    def __init__(self, samples: Sequence[Sample], ranked: Iterable[Sequence[Prediction]]):
        self.samples, self.ranked = list(samples), [list(each) for each in ranked]
        rows = [(sample.input, sample.tag, rank, found.output, found.probability, found.log_probability, found.actions)
                for sample, predictions in zip(self.samples, self.ranked)
                for rank, found in enumerate(predictions, start=1)]
        super().__init__(zip(self.COLUMNS, map(list, zip(*rows)) if rows else ([] for _ in self.COLUMNS)))

    def __getitem__(self, which: Any) -> Any:
        return super().__getitem__(which) if isinstance(which, str) else self.ranked[which]

    def __iter__(self) -> Iterator[list[Prediction]]:
        return iter(self.ranked)

    def __reversed__(self) -> Iterator[list[Prediction]]:  # type: ignore[override]
        return reversed(self.ranked)

    def __len__(self) -> int:
        return len(self.ranked)

    def __eq__(self, other: object) -> bool:
        return self.ranked == (other.ranked if isinstance(other, NBest) else other)

    def __reduce__(self) -> tuple:
        return NBest, (self.samples, self.ranked)

    def __repr__(self) -> str:
        return repr(self.ranked)

    def _repr_html_(self) -> str:
        rows = [[escape(each) for each in (sample.input, sample.tag)]
                + [str(rank), escape(found.output), f"{found.probability:.4f}", coloured(found.actions)]
                for sample, predictions in zip(self.samples, self.ranked)
                for rank, found in enumerate(predictions, start=1)]
        return html_table(("input", "features", "rank", "output", "probability", "edits"), rows)


class Paradigm(list[Form]):
    """The forms of a lemma."""

    def _repr_html_(self) -> str:
        return html_table([field.name for field in fields(Form)],
                          [[escape(form.features), escape(form.output), f"{form.probability:.4f}", str(form.count)]
                           for form in self])


def html_table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table for a notebook; the cells are HTML."""
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in names)
    body = "".join("<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in row) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def coloured(actions: str) -> str:
    """The edits as chips: insertions green, deletions red, substitutions violet."""
    return " ".join(chip(COLOURS.get(edit[:1], COPIED) if len(edit) > 1 else COPIED, edit)
                    for edit in actions.split(" ") if edit)


def chip(colour: str, text: str) -> str:
    return f'<span style="background:{colour};border-radius:4px;padding:0 4px">{escape(text)}</span>'
