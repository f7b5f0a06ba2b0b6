"""Variants of a model beside the model itself, on the languages and folds that both have."""
from __future__ import annotations

import statistics
from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple, Optional

from il_morph.reproduction.figures import accuracy
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.runs import Run

Group = tuple[str, str]  # setting and model
Cells = dict[tuple[str, str], list[float]]  # language and fold -> accuracies of the seeds


class Variant(NamedTuple):
    """A variant and its base model: means over languages (and folds) of means over seeds."""

    setting: str
    model: str
    base: str
    groups: int
    without: float
    with_it: float
    noise: Optional[float]  # the standard deviation of the difference if only the seeds differed
    freedom: int  # degrees of freedom of the noise

    @property
    def difference(self) -> float:
        return self.with_it - self.without


def variants(table: PaperTable, runs: Iterable[Run]) -> list[Variant]:
    found = single_cells(runs)
    pairs = [(setting, model, table.base(model)) for setting, model in found if table.row(model) not in table.paper]
    judged = [_variant(setting, model, base, found[setting, model], found.get((setting, base), {}))
              for setting, model, base in pairs if base]
    return [each for each in judged if each]


def single_cells(runs: Iterable[Run]) -> dict[Group, Cells]:
    """The accuracies of single models."""
    found: dict[Group, Cells] = {}
    for run in runs:
        if run.voters == 1:
            cells = found.setdefault((run.setting, run.model), {})
            cells.setdefault((run.language, run.fold), []).append(accuracy(run))
    return found


class SeedNoise(NamedTuple):
    """The standard deviation of the seeds, pooled over the languages and folds that have several."""

    sd: float
    freedom: int
    groups: int


def seed_noise(cells: Cells) -> Optional[SeedNoise]:
    several = [values for values in cells.values() if len(values) > 1]
    if not several:
        return None
    freedom = sum(len(values) - 1 for values in several)
    squares = sum(statistics.variance(values) * (len(values) - 1) for values in several)
    return SeedNoise(sqrt(squares / freedom), freedom, len(several))


def _variant(setting: str, model: str, base: str, with_it: Cells, without: Cells) -> Optional[Variant]:
    shared = [unit for unit in with_it if unit in without]
    if not shared:
        return None
    changed, unchanged = (statistics.fmean(statistics.fmean(side[unit]) for unit in shared)
                          for side in (with_it, without))
    seeds = seed_noise({unit: without[unit] for unit in shared})
    weight = sqrt(sum(1 / len(side[unit]) for unit in shared for side in (with_it, without))) / len(shared)
    return Variant(setting, model, base, len(shared), unchanged, changed, seeds.sd * weight if seeds else None,
                   seeds.freedom if seeds else 0)
