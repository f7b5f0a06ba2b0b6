"""Ours beside what was published: by language, over languages, and in the columns of the paper's tables.

Means are means of languages, never of pooled lines; what was published is that of the same languages.
"""
from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple, Optional

from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.published import SINGLE, VOTE, Published, PublishedFigure
from il_morph.reproduction.runs import Run, grouped, members_of
from il_morph.reproduction.significance import Differences, sample_sd

LIKE, UNLIKE = "single", "one"  # single models beside published single models, beside a published vote
ENOUGH_LANGUAGES = 10  # for one to stand out: of five none can lie two standard deviations off their mean


# Ours beside what was published, language by language


@dataclass(frozen=True)
class Comparison:
    """Ours for one model and language, and what was published."""

    kind: str  # VOTE, LIKE or UNLIKE
    setting: str
    model: str
    language: str
    ours: float
    sd: Optional[float]  # over the single models
    votes: tuple[Run, ...]  # the vote, or nothing
    singles: tuple[Run, ...]  # the single models, or nothing
    models: int  # how many the figure rests on
    full: bool  # are all runs of the paper there?
    published: Optional[PublishedFigure]

    @property
    def runs(self) -> tuple[Run, ...]:
        return self.votes or self.singles

    @property
    def folds(self) -> list[str]:
        return sorted({run.fold for run in self.runs})

    @property
    def engines(self) -> set[str]:
        return set().union(*(run.engines for run in self.runs))

    @property
    def difference(self) -> Optional[float]:
        return None if self.published is None else self.ours - self.published.accuracy


def compare(table: PaperTable, published: Published, runs: Iterable[Run]) -> list[Comparison]:
    """For each model and language that was run: its single models, and of its votes the one of the highest rank."""
    found = []
    for group in grouped(runs, lambda run: (run.setting, run.model, run.language)).values():
        singles = [run for run in group if run.voters == 1]
        votes = [run for run in group if run.voters > 1]
        found += [_singles_beside(table, published, singles)] if singles else []
        found += [_vote_beside(table, published, max(votes, key=table.vote_rank))] if votes else []
    return found


def _singles_beside(table: PaperTable, published: Published, singles: Sequence[Run]) -> Comparison:
    setting, model, language, *_ = singles[0].place
    folds = {run.fold for run in singles}
    like, vote = (published.find(setting, table.row(model), kind, language, folds) for kind in (SINGLE, VOTE))
    values = [accuracy(run) for run in singles]
    return Comparison(LIKE if like or not vote else UNLIKE, setting, model, language, statistics.fmean(values),
                      sample_sd(values), (), tuple(singles), len(singles), len(singles) >= table.runs_per_group,
                      like or vote)


def _vote_beside(table: PaperTable, published: Published, vote: Run) -> Comparison:
    figure = published.find(vote.setting, table.row(vote.model), VOTE, vote.language, {vote.fold})
    return Comparison(VOTE, vote.setting, vote.model, vote.language, accuracy(vote), None, (vote,), (),
                      len(members_of(table, vote)), vote.voters >= len(table.seeds), figure)


def scored(runs: Iterable[Run]) -> list[Run]:
    """The runs that have the figure that the tables show: that of the beam, or greedy of a model that has no beam."""
    runs = list(runs)
    with_beam = {run.model for run in runs if run.test_beam4 is not None}
    return [run for run in runs if run.test is not None and (run.test_beam4 is not None or run.model not in with_beam)]


def accuracy(run: Run) -> float:
    assert run.test is not None, "only scored runs are compared"
    return run.test


# Over languages


class Off(NamedTuple):
    """A language, and by how many standard deviations it is off."""

    comparison: Comparison
    deviations: float


@dataclass(frozen=True)
class Summary:
    """Comparisons of one model over languages. What was published is there when it covers all of them."""

    comparisons: tuple[Comparison, ...]

    @property
    def ours(self) -> float:
        return statistics.fmean(each.ours for each in self.comparisons)

    @property
    def published(self) -> Optional[float]:
        figures = [each.published.accuracy for each in self.comparisons if each.published]
        return statistics.fmean(figures) if len(figures) == len(self.comparisons) else None

    @property
    def differences(self) -> Differences:
        """Of each language; none where something was not published."""
        found = [each.difference for each in self.comparisons if each.difference is not None]
        return Differences(tuple(found if len(found) == len(self.comparisons) else ()))

    @property
    def lowest(self) -> Comparison:
        return min(self.comparisons, key=_by_difference)

    @property
    def highest(self) -> Comparison:
        return max(self.comparisons, key=_by_difference)

    @property
    def languages(self) -> list[str]:
        return [each.language for each in self.comparisons]

    @property
    def models(self) -> int:
        return sum(each.models for each in self.comparisons)

    @property
    def engines(self) -> set[str]:
        return set().union(*(each.engines for each in self.comparisons))

    @property
    def published_singles(self) -> Optional[float]:
        """What was published, if nowhere a single model is set beside a vote."""
        return self.published if all(each.kind == LIKE for each in self.comparisons) else None

    @property
    def noise(self) -> Optional[float]:
        """The standard deviation of our mean, if our single models differed as the published ones do."""
        variances = [each.published.sd ** 2 / each.models for each in self.comparisons
                     if each.kind == LIKE and each.published and each.published.sd is not None]
        return sqrt(sum(variances)) / len(variances) if len(variances) == len(self.comparisons) else None

    @property
    def other_folds(self) -> list[str]:
        """Our folds, where the published figures are over all folds and ours are not."""
        others = [each.folds for each in self.comparisons if each.published and not each.published.same_folds]
        return sorted({fold for folds in others for fold in folds})

    def far_off(self) -> Optional[list[Off]]:
        """The languages beyond two standard deviations: single models those of the published ones, others those of
        the differences around their mean; nothing where no deviation is known or languages are few."""
        like = all(each.kind == LIKE for each in self.comparisons)
        deviations = self._from_published() if like else self._from_mean()
        if all(by is None for by in deviations):
            return None
        pairs = sorted(zip(self.comparisons, deviations), key=lambda pair: _by_difference(pair[0]))
        return [Off(each, by) for each, by in pairs if by is not None and abs(by) > 2]

    def _from_published(self) -> list[Optional[float]]:
        return [each.difference / each.published.sd
                if each.difference is not None and each.published and each.published.sd else None
                for each in self.comparisons]

    def _from_mean(self) -> list[Optional[float]]:
        center, sd = self.differences.mean, self.differences.sd
        if len(self.differences.values) < ENOUGH_LANGUAGES or not sd or center is None:
            return [None] * len(self.comparisons)
        return [None if each.difference is None else (each.difference - center) / sd for each in self.comparisons]


def _by_difference(comparison: Comparison) -> float:
    return comparison.difference or 0.0


def summaries(comparisons: Iterable[Comparison]) -> list[Summary]:
    """One for each model."""
    return [Summary(tuple(group)) for group in grouped(comparisons, lambda each: each.model).values()]


# A line of the paper's table


@dataclass(frozen=True)
class SystemFigures:
    """What the runs of one model say in one column of a table."""

    column: str
    model: str
    reported: Optional[Summary]  # votes, or means over folds and seeds: as the paper reports
    singles: Optional[Summary]
    single_sd: Optional[float]  # of the single models' means
    runs: int
    expected: int
    groups: int  # languages (in settings) of the column

    @property
    def complete(self) -> bool:
        """Do all languages of the paper have all that the paper's figure rests on?"""
        return (self.reported is not None and len(self.reported.comparisons) == self.groups
                and all(each.full for each in self.reported.comparisons))


def system_figures(table: PaperTable, comparisons: Iterable[Comparison], model: str, column: str) -> SystemFigures:
    groups = table.groups(column)
    inside = [each for each in comparisons if (each.setting, each.language) in groups]
    own = [each for each in inside if each.model == model]
    trained = [each for each in inside if each.model in table.trained(each.setting, model)]
    votes = [each for each in own if each.kind == VOTE]
    singles = [each for each in own if each.kind != VOTE]
    reported = votes if table.report == "ensemble" else singles
    return SystemFigures(
        column, model,
        reported=Summary(tuple(reported)) if reported else None,
        singles=Summary(tuple(singles)) if singles else None,
        single_sd=_deviation([each.singles for each in singles]),
        runs=sum(min(len(each.singles), table.runs_per_group) for each in trained),
        expected=sum(len(table.trained(setting, model)) for setting, _ in groups) * table.runs_per_group,
        groups=len(groups),
    )


def _deviation(groups: Sequence[Sequence[Run]]) -> Optional[float]:
    """Sample standard deviation over the folds and seeds that all languages have."""
    cells = [{(run.fold, run.seed): accuracy(run) for run in group} for group in groups]
    shared = set.intersection(*map(set, cells)) if cells else set()
    return sample_sd([statistics.fmean(group[unit] for group in cells) for unit in sorted(shared)])
