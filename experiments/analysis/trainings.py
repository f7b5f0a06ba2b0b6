"""Trainings that a script in this folder makes, and the list of them that stays when their folders are gone."""
from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from il_morph.errors import InputError
from il_morph.files import write_atomically
from il_morph.run_folder import RunFolder
from il_morph.runs.processes import make_folder
from il_morph.runs.records import stats_of

FIGURES = ("best_epoch", "last_epoch", "test", "cpu_minutes", "commit")
Key = tuple[str, ...]
Row = dict[str, str]
Item = TypeVar("Item")


@dataclass(frozen=True)
class TrainingList:
    """A row for each training, under its key."""

    path: Path
    keys: Sequence[str]

    @property
    def columns(self) -> list[str]:
        return [*self.keys, *FIGURES]

    def read(self) -> dict[Key, Row]:
        if not self.path.exists():
            return {}
        with open(self.path, encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t"))
        if any([*row] != self.columns or None in row.values() for row in rows):
            raise InputError(f"{self.path} is no list of these trainings, with the columns {', '.join(self.columns)}: "
                             "choose another")
        return {tuple(row[key] for key in self.keys): row for row in rows}

    def row(self, key: Key, folder: RunFolder) -> Row:
        """Of a finished training; test accuracy is that of beam 4."""
        with stats_of(folder) as stats:
            training = stats["training"]
            figures = (str(training["best_epoch"]), str(training["epochs"] - 1),
                       f"{stats['scores']['beam4.test']['accuracy']:.4f}", f"{training['cpu_seconds'] / 60:.2f}",
                       folder.commit.read_text(encoding="utf-8").strip())
        return dict(zip(self.columns, (*key, *figures)))

    def add(self, rows: Sequence[Row]) -> None:
        """Rows replace those of the same training."""
        kept = {**self.read(), **{tuple(row[key] for key in self.keys): row for row in rows}}
        lines = [self.columns, *([row[column] for column in self.columns] for _, row in sorted(kept.items()))]
        make_folder(self.path.parent)
        write_atomically(self.path, "".join("\t".join(line) + "\n" for line in lines))


def evenly(items: Sequence[Item], number: int) -> list[Item]:
    """So many of them, from the first on, at even distances; all if there are no more."""
    number = min(number, len(items))
    return [items[index * len(items) // number] for index in range(number)]
