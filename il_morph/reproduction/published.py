"""Published figures by language and fold: experiments/<table>/published.tsv."""
from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Optional

from il_morph.errors import InputError
from il_morph.files import PathLike
from il_morph.reproduction.paper_tables import EXPERIMENTS, NONE, PaperTable, lines_of
from il_morph.reproduction.run_list import figure

PLACE = ("setting", "system", "kind", "language", "fold")
COLUMNS = (*PLACE, "accuracy", "sd")
VOTE, SINGLE = "ensemble", "single"


class PublishedFigure(NamedTuple):
    """An accuracy (or whatever the table measures) in percent, and the standard deviation of the single models, if it
    was published."""

    accuracy: float
    sd: Optional[float]
    same_folds: bool = True


class Published:
    """The published figures of a table. A system is named by its row in the paper or, without a row, by its model."""

    def __init__(self, table: PaperTable, figures: dict[tuple[str, ...], PublishedFigure]):
        self.all_folds = set(table.folds)
        self.figures = figures

    def find(self, setting: str, system: str, kind: str, language: str,
             folds: Collection[str]) -> Optional[PublishedFigure]:
        """The mean over these folds if figures were published by fold, else the mean over all folds."""
        place = setting, system, kind, language
        whole = self.figures.get((*place, NONE))
        if not self.all_folds or set(folds) == self.all_folds:
            return whole
        places = [(*place, fold) for fold in folds]
        parts = [self.figures[one] for one in places if one in self.figures]
        if len(parts) == len(folds):
            return PublishedFigure(sum(part.accuracy for part in parts) / len(parts), None)
        return whole._replace(same_folds=False) if whole else None


def load_published(table: PaperTable, path: Optional[PathLike] = None) -> Published:
    """Read the published figures of a table, from `path` if it is given: a file with the same columns."""
    path = path or EXPERIMENTS / table.name / "published.tsv"
    header, *lines = [line.split("\t") for line in lines_of(path)] or [[]]
    columns = [*PLACE, table.measure.name, "sd"]
    if header != columns:
        raise InputError(f"{path} does not have the columns {', '.join(columns)}")
    figures: dict[tuple[str, ...], PublishedFigure] = {}
    for number, line in enumerate(lines, start=2):
        try:
            *place, accuracy, sd = line
            value, deviation = figure(accuracy), figure(sd)
        except ValueError:
            raise InputError(f"{path}, line {number}: {table.measure.name} or sd is not a number") from None
        if len(place) != len(PLACE) or place[2] not in (VOTE, SINGLE) or value is None:
            raise InputError(f"{path}, line {number}: kind is neither {SINGLE} nor {VOTE}, or the "
                             f"{table.measure.name} is missing")
        if tuple(place) in figures:
            raise InputError(f"{path}, line {number}: repeats a line above; delete one of them")
        figures[tuple(place)] = PublishedFigure(value, deviation)
    return Published(table, figures)
