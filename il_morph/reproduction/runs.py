"""A run of a table: its place, its figures, and the check of its place."""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Callable, NamedTuple, Optional, TypeVar

from il_morph.errors import InputError
from il_morph.reproduction.paper_tables import NONE, PaperTable

ENGINES = ("dynet", "native")
SEEDS = re.compile(r"\d+(\+\d+)*")
MODEL = re.compile(r"[\w.+-]+")
COMMIT = re.compile(r"[\w.+-]{1,80}", re.ASCII)
Item = TypeVar("Item")
Key = TypeVar("Key")


class Place(NamedTuple):
    """The place of a run in a results folder. Without folds, `fold` is `-`; the seed of a vote is `1+2+3`."""

    setting: str
    model: str
    language: str
    fold: str
    seed: str


@dataclass(frozen=True)
class Run:
    """A row of measured.tsv: a finished run, or the vote of several seeds (`1+2+3`). Accuracies are in percent."""

    setting: str
    model: str
    language: str
    fold: str
    seed: str
    epochs: Optional[int]
    minutes: Optional[float]  # wall-clock time
    cpu_minutes: Optional[float]
    dev_greedy: Optional[float]
    test_greedy: Optional[float]
    dev_beam4: Optional[float]
    test_beam4: Optional[float]
    engine: str  # for a vote, the engines of its members: `dynet+native`, or `-` if unknown
    commit: str

    @property
    def test(self) -> Optional[float]:
        """The accuracy that tables show: beam search, or greedy search if there was no beam."""
        return self.test_greedy if self.test_beam4 is None else self.test_beam4

    @property
    def place(self) -> Place:
        return Place(self.setting, self.model, self.language, self.fold, self.seed)

    @property
    def seeds(self) -> list[str]:
        """The seeds that voted; a single model has one."""
        return self.seed.split("+")

    @property
    def voters(self) -> int:
        return len(self.seeds)

    @property
    def engines(self) -> set[str]:
        return set(self.engine.split("+")) - {NONE}


def members_of(table: PaperTable, run: Run) -> list[Place]:
    """The places of the single models in a vote (for a vote of the best models, of all candidates); a single model is
    its own member."""
    return [run.place._replace(model=model, seed=seed)
            for model in table.trained(run.setting, run.model) for seed in run.seeds]


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items grouped by key, in their original order."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def in_order(table: PaperTable) -> Callable[[Run], tuple]:
    """A sort key that puts runs in the order of the table's facts."""
    settings, languages = table.settings, list(table.languages)
    models = [system.model for system in table.systems]

    def key(run: Run) -> tuple:
        return (settings.index(run.setting), _index(models, run.model), run.model,
                languages.index(run.language), run.fold, run.voters, [int(seed) for seed in run.seeds])
    return key


def _index(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def check_place(table: PaperTable, place: Place, where: str) -> None:
    if not MODEL.fullmatch(place.model):
        raise InputError(f"{where}: {place.model!r} is not a model name: use letters, digits and -+._ only")
    if place.language not in table.languages:
        raise InputError(f"{where}: {place.language} is not a language of {table.name}: see "
                         f"experiments/{table.name}/languages.tsv")
    if place.fold not in (table.folds or [NONE]):
        raise InputError(f"{where}: {place.fold} is not a fold of {table.name}, which has "
                         f"{', '.join(table.folds) or 'none'}")
