"""What the runs of a table say beyond their means: what voting is worth, how much seeds differ, what variants are
worth, how long the runs took, and which of two systems is better. Records, no words."""
from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import sqrt
from typing import NamedTuple, Optional

from il_morph.reproduction.comparisons import UNLIKE, Comparison, accuracy
from il_morph.reproduction.paper_tables import NONE, PaperTable
from il_morph.reproduction.published import SINGLE, VOTE, Published
from il_morph.reproduction.runs import Run, grouped, members_of
from il_morph.reproduction.significance import Differences, sign_test, signed_rank_test

ENOUGH_FREEDOM = 10  # degrees of freedom of the noise, for a variant to be judged by it
ENOUGH_PAIRS = 6  # for a paired test: five that all point the same way happen by chance in 6 % of cases

Unit = tuple[str, str]  # language and fold
Group = tuple[str, str]  # setting and model, or row of the paper


class VoteGain(NamedTuple):
    """By how much each vote of all seeds is better than the mean of its members."""

    setting: str
    system: str
    gains: Differences


def vote_gains(table: PaperTable, runs: Sequence[Run]) -> list[VoteGain]:
    singles = {run.place: accuracy(run) for run in runs}
    gains: dict[Group, list[float]] = {}
    for run in runs:
        members = members_of(table, run)
        if table.is_full_vote(run) and all(member in singles for member in members):
            gain = accuracy(run) - statistics.fmean(singles[member] for member in members)
            gains.setdefault((run.setting, table.row(run.model)), []).append(gain)
    return [VoteGain(*place, Differences(tuple(each))) for place, each in gains.items()]


def published_vote_gains(published: Published) -> list[VoteGain]:
    """The same of what was published, where single models were published beside their vote."""
    return [VoteGain(*place, Differences(tuple(gains.values())))
            for place, gains in _published_gains(published).items()]


def _published_gains(published: Published) -> dict[Group, dict[Unit, float]]:
    gains: dict[Group, dict[Unit, float]] = {}
    for (setting, system, kind, *unit), vote in published.figures.items():
        single = published.figures.get((setting, system, SINGLE, *unit))
        if kind == VOTE and single:
            gains.setdefault((setting, system), {})[unit[0], unit[1]] = vote.accuracy - single.accuracy
    return gains


class VoteAside(NamedTuple):
    """Single models beside published votes, when a vote is taken to be worth what that of another system is."""

    setting: str
    model: str
    voting: str  # the system whose vote and single models were published
    differences: Differences  # ours minus the published vote
    gains: Differences  # of that system's vote, on the same languages
    left: Differences  # what the gain does not account for: their sums


def votes_aside(published: Published, comparisons: Sequence[Comparison]) -> list[VoteAside]:
    """Of models that did not vote; for each system whose votes were published beside its single models."""
    voted = {(each.setting, each.model) for each in comparisons if each.kind == VOTE}
    unlike = grouped((each for each in comparisons if each.kind == UNLIKE), lambda each: (each.setting, each.model))
    found = [_vote_aside(setting, model, voting, own, gains) for (setting, model), own in unlike.items()
             for (where, voting), gains in _published_gains(published).items()
             if where == setting and (setting, model) not in voted]
    return [each for each in found if len(each.left.values) >= ENOUGH_PAIRS]


def _vote_aside(setting: str, model: str, voting: str, comparisons: Sequence[Comparison],
                gains: dict[Unit, float]) -> VoteAside:
    pairs = [(each.difference, gains[each.language, NONE]) for each in comparisons
             if each.difference is not None and (each.language, NONE) in gains]
    return VoteAside(setting, model, voting, Differences(tuple(difference for difference, _ in pairs)),
                     Differences(tuple(gain for _, gain in pairs)), Differences(tuple(map(sum, pairs))))


Cells = dict[Unit, list[float]]  # language and fold -> accuracies of the seeds


def _single_cells(runs: Iterable[Run]) -> dict[Group, Cells]:
    """Setting and model -> the accuracies of its single models."""
    found: dict[Group, Cells] = {}
    for run in runs:
        if run.voters == 1:
            cells = found.setdefault((run.setting, run.model), {})
            cells.setdefault((run.language, run.fold), []).append(accuracy(run))
    return found


class SeedNoise(NamedTuple):
    """Standard deviation of the seeds of the same language and fold, pooled over those that have several."""

    sd: float
    freedom: int
    groups: int


def measure_noise(cells: Cells) -> Optional[SeedNoise]:
    several = [values for values in cells.values() if len(values) > 1]
    if not several:
        return None
    freedom = sum(len(values) - 1 for values in several)
    squares = sum(statistics.variance(values) * (len(values) - 1) for values in several)
    return SeedNoise(sqrt(squares / freedom), freedom, len(several))


def seed_noise(runs: Iterable[Run]) -> dict[Group, SeedNoise]:
    """Setting and model -> how much its seeds differ."""
    noise = {place: measure_noise(cells) for place, cells in _single_cells(runs).items()}
    return {place: each for place, each in noise.items() if each}


class Variant(NamedTuple):
    """A change of a model beside the model itself, where both have runs: means over languages of means over seeds."""

    setting: str
    model: str
    base: str
    groups: int
    without: float
    with_it: float
    noise: Optional[float]  # the standard deviation of the difference, if only the seeds differed
    freedom: int

    @property
    def difference(self) -> float:
        return self.with_it - self.without

    @property
    def stands_out(self) -> Optional[bool]:
        """Is the difference beyond twice the noise? Nothing where the noise rests on too few seeds."""
        if self.noise is None or self.freedom < ENOUGH_FREEDOM:
            return None
        return abs(self.difference) > 2 * self.noise


def variants(table: PaperTable, runs: Iterable[Run]) -> list[Variant]:
    found = _single_cells(runs)
    pairs = [(setting, model, table.base(model)) for setting, model in found if table.row(model) not in table.paper]
    judged = [_variant(setting, model, base, found[setting, model], found.get((setting, base), {}))
              for setting, model, base in pairs if base]
    return [each for each in judged if each]


def _variant(setting: str, model: str, base: str, with_it: Cells, without: Cells) -> Optional[Variant]:
    shared = [unit for unit in with_it if unit in without]
    if not shared:
        return None
    changed, unchanged = (statistics.fmean(statistics.fmean(side[unit]) for unit in shared)
                          for side in (with_it, without))
    seeds = measure_noise({unit: without[unit] for unit in shared})
    weight = sqrt(sum(1 / len(side[unit]) for unit in shared for side in (with_it, without))) / len(shared)
    return Variant(setting, model, base, len(shared), unchanged, changed, seeds.sd * weight if seeds else None,
                   seeds.freedom if seeds else 0)


class Duration(NamedTuple):
    """How long the runs of a model took with an engine."""

    setting: str
    model: str
    engine: str
    epochs: list[int]
    minutes: list[float]  # by the clock
    cpu_minutes: list[float]  # of those runs that know it


def durations(runs: Iterable[Run]) -> list[Duration]:
    timed = [run for run in runs if run.voters == 1 and run.minutes is not None and run.epochs is not None]
    groups = grouped(timed, lambda run: (run.setting, run.model, run.engine))
    return [Duration(*place, [run.epochs or 0 for run in own], [run.minutes or 0.0 for run in own],
                     [run.cpu_minutes for run in own if run.cpu_minutes is not None])
            for place, own in groups.items()]


# Which of two systems is better


class PairedTest(NamedTuple):
    """Two systems on the same languages (and folds), ours or the published ones."""

    setting: str
    kind: str  # VOTE or SINGLE
    whose: str
    first: str
    second: str
    differences: Differences  # first minus second

    @property
    def sign(self) -> Optional[float]:
        return sign_test(self.differences.values)

    @property
    def signed_rank(self) -> Optional[float]:
        return signed_rank_test(self.differences.values)


def paired_tests(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[PairedTest]:
    """Each two systems of the paper, the later row first, on the languages (and folds) that both have.

    As ours come out, and as published on these languages: beside our single models both singles and votes.
    """
    tests = []
    for kind, found in ((VOTE, _full_votes(table, runs)), (SINGLE, _means(_single_cells(runs)))):
        for setting, first, second in _pairs(table, found):
            ours = {unit: found[setting, first][unit] - other for unit, other in found[setting, second].items()
                    if unit in found[setting, first]}
            tests.append(PairedTest(setting, kind, "ours", first, second, Differences(tuple(ours.values()))))
            languages = list(dict.fromkeys(language for language, _ in ours))
            for known in (SINGLE, VOTE) if kind == SINGLE else (VOTE,):
                theirs = _published_differences(table, published, setting, known, (first, second), languages)
                tests.append(PairedTest(setting, known, "published", first, second, Differences(tuple(theirs))))
    return list(dict.fromkeys(test for test in tests if len(test.differences.values) >= ENOUGH_PAIRS))


def _pairs(table: PaperTable, found: Iterable[Group]) -> Iterator[tuple[str, str, str]]:
    """Setting and two models of it that have runs and are in the paper, the later first."""
    order = dict.fromkeys(system.model for system in table.systems if system.row != NONE)
    for setting in table.settings:
        for second, first in combinations([model for model in order if (setting, model) in found], 2):
            yield setting, first, second


def _published_differences(table: PaperTable, published: Published, setting: str, kind: str, models: Sequence[str],
                           languages: Iterable[str]) -> Iterator[float]:
    for language in languages:
        first, second = (published.find(setting, table.row(model), kind, language, table.folds or [NONE])
                         for model in models)
        if first and second:
            yield first.accuracy - second.accuracy


def _means(cells: dict[Group, Cells]) -> dict[Group, dict[Unit, float]]:
    return {place: {unit: statistics.fmean(values) for unit, values in own.items()} for place, own in cells.items()}


def _full_votes(table: PaperTable, runs: Iterable[Run]) -> dict[Group, dict[Unit, float]]:
    found: dict[Group, dict[Unit, float]] = {}
    for run in runs:
        if table.is_full_vote(run):
            found.setdefault((run.setting, run.model), {})[run.language, run.fold] = accuracy(run)
    return found
