"""A run that was made for a table: what is known of it, its place among others, and what its figures can be."""
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
    """Where a run is in a results folder; no fold is `-`, the seed of a vote `1+2+3`."""

    setting: str
    model: str
    language: str
    fold: str
    seed: str


@dataclass(frozen=True)
class Run:
    """A finished run, or the vote of several seeds (`1+2+3`); accuracies in percent. A row of measured.tsv."""

    setting: str
    model: str
    language: str
    fold: str
    seed: str
    epochs: Optional[int]
    minutes: Optional[float]  # by the clock
    cpu_minutes: Optional[float]
    dev_greedy: Optional[float]
    test_greedy: Optional[float]
    dev_beam4: Optional[float]
    test_beam4: Optional[float]
    engine: str  # of a vote: those of its members, `dynet+native`; none when they are not known
    commit: str

    @property
    def test(self) -> Optional[float]:
        """The figure that the tables show: that of the beam, or greedy where there was no beam."""
        return self.test_greedy if self.test_beam4 is None else self.test_beam4

    @property
    def place(self) -> Place:
        return Place(self.setting, self.model, self.language, self.fold, self.seed)

    @property
    def seeds(self) -> list[str]:
        """Those that voted; of a single model its own."""
        return self.seed.split("+")

    @property
    def voters(self) -> int:
        return len(self.seeds)

    @property
    def engines(self) -> set[str]:
        return set(self.engine.split("+")) - {NONE}


def members_of(table: PaperTable, run: Run) -> list[Place]:
    """The places of the single models that voted, or could in a vote of the best; of a single model its own."""
    return [run.place._replace(model=model, seed=seed)
            for model in table.trained(run.setting, run.model) for seed in run.seeds]


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Runs, or what is made of them, by something they share; in the order in which they come."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def in_order(table: PaperTable) -> Callable[[Run], tuple]:
    """Sort runs as the facts list them."""
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
        raise InputError(f"{where}: {place.model!r} is no name of a model: letters, digits and -+._ only")
    if place.language not in table.languages:
        raise InputError(f"{where}: {place.language} is not a language of {table.name}: see "
                         f"experiments/{table.name}/languages.tsv")
    if place.fold not in (table.folds or [NONE]):
        raise InputError(f"{where}: {place.fold} is not a fold of {table.name}, which has "
                         f"{', '.join(table.folds) or 'none'}")
