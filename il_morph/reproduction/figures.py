"""Our figures beside the published ones: by language, averaged over languages, and in the columns of a table.

Means are taken over languages, never over pooled lines. Published figures are for the same languages.
"""
from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Optional

from il_morph.reproduction.differences import Differences, sample_sd
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.published import SINGLE, VOTE, Published, PublishedFigure
from il_morph.reproduction.runs import Run, grouped, members_of

BESIDE_SINGLES, BESIDE_VOTE = "single", "one"  # our single models beside published single models or a published vote


@dataclass(frozen=True)
class LanguageFigure:
    """The accuracy of one model on one language, ours and the published one."""

    kind: str  # VOTE (beside a vote), BESIDE_SINGLES or BESIDE_VOTE
    setting: str
    model: str
    language: str
    ours: float
    sd: Optional[float]  # over the single models
    votes: tuple[Run, ...]  # the vote, or empty
    singles: tuple[Run, ...]  # the single models, or empty
    models: int  # how many models the figure rests on
    full: bool  # do we have all runs of the paper?
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


def language_figures(table: PaperTable, published: Published, runs: Iterable[Run]) -> list[LanguageFigure]:
    """For each model and language: one figure for its single models, one for its vote (see `_best_vote`)."""
    found = []
    for group in grouped(runs, lambda run: (run.setting, run.model, run.language)).values():
        singles = [run for run in group if run.voters == 1]
        votes = [run for run in group if run.voters > 1]
        found += [_figure_of_singles(table, published, singles)] if singles else []
        found += [_figure_of_vote(table, published, _best_vote(table, votes))] if votes else []
    return found


def comparable(table: PaperTable, figures: Iterable[LanguageFigure]) -> list[LanguageFigure]:
    """The figures that have a published counterpart, except votes of seeds other than the paper's."""
    return [each for each in figures if each.published and all(table.is_full_vote(vote.seed) for vote in each.votes)]


def _best_vote(table: PaperTable, votes: Sequence[Run]) -> Run:
    """The vote of the paper's seeds, or else of the most seeds."""
    return max(votes, key=lambda vote: (table.is_full_vote(vote.seed), vote.voters))


def _figure_of_singles(table: PaperTable, published: Published, singles: Sequence[Run]) -> LanguageFigure:
    setting, model, language, *_ = singles[0].place
    folds = {run.fold for run in singles}
    single, vote = (published.find(setting, table.row(model), kind, language, folds) for kind in (SINGLE, VOTE))
    values = [accuracy(run) for run in singles]
    return LanguageFigure(BESIDE_SINGLES if single or not vote else BESIDE_VOTE, setting, model, language,
                          statistics.fmean(values), sample_sd(values), (), tuple(singles), len(singles),
                          len(singles) >= table.runs_per_group, single or vote)


def _figure_of_vote(table: PaperTable, published: Published, vote: Run) -> LanguageFigure:
    figure = published.find(vote.setting, table.row(vote.model), VOTE, vote.language, {vote.fold})
    return LanguageFigure(VOTE, vote.setting, vote.model, vote.language, accuracy(vote), None, (vote,), (),
                          len(members_of(table, vote)), vote.voters >= len(table.seeds), figure)


def scored(runs: Iterable[Run]) -> list[Run]:
    """The runs with the accuracy that tables show: beam search, or greedy search if no run of the model has a beam."""
    runs = list(runs)
    with_beam = {run.model for run in runs if run.test_beam4 is not None}
    return [run for run in runs if run.test is not None and (run.test_beam4 is not None or run.model not in with_beam)]


def accuracy(run: Run) -> float:
    assert run.test is not None, "only scored runs have a figure"
    return run.test


@dataclass(frozen=True)
class MeanFigure:
    """The mean of one model's figures over languages. The published mean exists if it covers all of these languages."""

    figures: tuple[LanguageFigure, ...]

    @property
    def ours(self) -> float:
        return statistics.fmean(each.ours for each in self.figures)

    @property
    def published(self) -> Optional[float]:
        known = [each.published.accuracy for each in self.figures if each.published]
        return statistics.fmean(known) if len(known) == len(self.figures) else None

    @property
    def differences(self) -> Differences:
        """A difference for each language; empty if a published figure is missing."""
        known = [each.difference for each in self.figures if each.difference is not None]
        return Differences(tuple(known if len(known) == len(self.figures) else ()))

    @property
    def languages(self) -> list[str]:
        return [each.language for each in self.figures]

    @property
    def engines(self) -> set[str]:
        return set().union(*(each.engines for each in self.figures))

    @property
    def published_singles(self) -> Optional[float]:
        """The published mean, unless it includes votes."""
        return self.published if all(each.kind == BESIDE_SINGLES for each in self.figures) else None

    @property
    def other_folds(self) -> list[str]:
        """Our folds, if the published figures cover all folds and ours do not."""
        others = [each.folds for each in self.figures if each.published and not each.published.same_folds]
        return sorted({fold for folds in others for fold in folds})


@dataclass(frozen=True)
class TableLine:
    """The figures of one model in one column of a table."""

    column: str
    model: str
    reported: Optional[MeanFigure]  # what the paper reports: votes, or means over folds and seeds
    singles: Optional[MeanFigure]
    single_sd: Optional[float]  # of the single models' means
    runs: int
    expected: int
    groups: int  # languages (in settings) of the column

    @property
    def complete(self) -> bool:
        """Do we have all runs that the paper's figure rests on?"""
        return (self.reported is not None and len(self.reported.figures) == self.groups
                and all(each.full for each in self.reported.figures))


def table_line(table: PaperTable, figures: Iterable[LanguageFigure], model: str, column: str) -> TableLine:
    groups = table.groups(column)
    inside = [each for each in figures if (each.setting, each.language) in groups]
    own = [each for each in inside if each.model == model]
    trained = [each for each in inside if each.model in table.trained(each.setting, model)]
    votes = [each for each in own if each.kind == VOTE]
    singles = [each for each in own if each.kind != VOTE]
    reported = votes if table.report == "ensemble" else singles
    return TableLine(
        column, model,
        reported=MeanFigure(tuple(reported)) if reported else None,
        singles=MeanFigure(tuple(singles)) if singles else None,
        single_sd=_sd_of_means([each.singles for each in singles]),
        runs=sum(min(len(each.singles), table.runs_per_group) for each in trained),
        expected=sum(len(table.trained(setting, model)) for setting, _ in groups) * table.runs_per_group,
        groups=len(groups),
    )


def _sd_of_means(groups: Sequence[Sequence[Run]]) -> Optional[float]:
    """The sample standard deviation of the mean over languages, over the folds and seeds that all languages share."""
    cells = [{(run.fold, run.seed): accuracy(run) for run in group} for group in groups]
    shared = set.intersection(*map(set, cells)) if cells else set()
    return sample_sd([statistics.fmean(group[unit] for group in cells) for unit in sorted(shared)])
