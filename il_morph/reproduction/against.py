"""What `il-morph table --against` prints: runs beside the same runs made otherwise, by another engine or setting."""
from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from il_morph.reproduction.cells import MEASURE, number, probability, signed
from il_morph.reproduction.comparisons import accuracy, scored
from il_morph.reproduction.data_layout import Block, Grid
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.runs import Run, grouped
from il_morph.reproduction.significance import Differences, signed_rank_test


class Against(NamedTuple):
    """The same runs of a system on both sides: means over languages (and folds) of means over seeds."""

    setting: str
    model: str
    is_vote: bool
    runs: int
    here: tuple[float, ...]
    there: tuple[float, ...]

    @property
    def differences(self) -> Differences:
        return Differences(tuple(here - there for here, there in zip(self.here, self.there)))


def against(runs: Sequence[Run], others: Sequence[Run]) -> list[Against]:
    """Only runs that are on both sides, with the same seeds."""
    there = {run.place: accuracy(run) for run in scored(others)}
    both = [run for run in scored(runs) if run.place in there]
    found = []
    for (setting, model, is_vote), own in grouped(both, lambda run: (run.setting, run.model, run.voters > 1)).items():
        units = grouped(own, lambda run: (run.language, run.fold)).values()
        found.append(Against(setting, model, is_vote, len(own),
                             tuple(fmean(accuracy(run) for run in unit) for unit in units),
                             tuple(fmean(there[run.place] for run in unit) for unit in units)))
    return found


def against_blocks(table: PaperTable, runs: Sequence[Run], others: Sequence[Run]) -> list[Block]:
    rows = [[each.setting, table.row(each.model), "vote" if each.is_vote else "single models", str(len(each.here)),
             str(each.runs), number(fmean(each.there)), number(fmean(each.here)), signed(each.differences.mean, 2),
             number(each.differences.standard_error, 2), number(each.differences.sd, 2), str(each.differences.above),
             str(each.differences.below),
             probability(signed_rank_test(each.differences.values))] for each in against(runs, others)]
    text = ("Runs with the same seeds on the same languages (and folds). Difference: here minus there, with its "
            "standard error over languages (and folds); p: the probability of as large a difference by chance, by "
            "Wilcoxon's signed-rank test (two-sided, exact).")
    here, there = (engines_of(own, other) for own, other in ((runs, others), (others, runs)))
    return [f"{table.title}: {here} (here) against {there} (there)", MEASURE, text,
            Grid(["setting", "system", "figure", "languages (and folds)", "runs", "there", "here", "difference",
                  "standard error", "sd over languages", "above", "below", "p"], rows)]


def engines_of(runs: Sequence[Run], others: Sequence[Run]) -> str:
    """Those of the runs that are on the other side too."""
    compared = {run.place for run in others}
    return " and ".join(sorted({engine for run in runs if run.place in compared for engine in run.engines}))
