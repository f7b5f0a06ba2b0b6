"""Compare our own runs with the same runs made otherwise: by another engine, or with other settings.

Usage:
  against.py [options] NAME HERE THERE

Only runs that both sides have count: the same seeds of a system on the same languages (and folds).

Arguments:
  NAME             sigmorphon2016, sigmorphon2017, celex, lemmatization, g2p2020, g2p2021 or segmentation2022
  HERE, THERE      results folders or lists of runs

Options:
  --models=x,y     only these models (by their names in the results folder)
  --format=FORMAT  text, markdown or tsv [default: text]
  -h --help        show this
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from docopt import docopt
from frames import UNIT, above_below, mean, number, pd, probability, runs_frame, show, signed
from significance import signed_rank_test

from il_morph.errors import InputError, errors_for_people
from il_morph.reproduction.blocks import Block, Grid
from il_morph.reproduction.cells import measure
from il_morph.reproduction.figures import scored
from il_morph.reproduction.paper_tables import PaperTable, load_table
from il_morph.reproduction.run_list import read_runs, runs_of_models
from il_morph.reproduction.runs import Place, Run

HEADER = ["setting", "system", "figure", "languages (and folds)", "runs", "there", "here", "difference",
          "standard error", "sd over languages", "above", "below", "p"]
TEXT = ("Runs with the same seeds on the same languages (and folds). Difference: here minus there, with its standard "
        "error over languages (and folds); p: the probability of as large a difference by chance, by Wilcoxon's "
        "signed-rank test (two-sided, exact).")


def main(argv: Optional[Sequence[str]] = None) -> None:
    args = docopt(__doc__, argv)
    table = load_table(args["NAME"])
    here = runs_of_models(read_runs(table, args["HERE"]), args["--models"], args["HERE"])
    show(against(table, here, read_runs(table, args["THERE"])), args["--format"])


def against(table: PaperTable, here: Sequence[Run], there: Sequence[Run]) -> list[Block]:
    both = runs_frame(table, scored(here)).merge(runs_frame(table, scored(there)), on=[*Place._fields, "system"],
                                                 suffixes=("_here", "_there"))
    if both.empty:
        raise InputError("HERE and THERE have no run in common: no seed of a system on the same language")
    vote = both["voters_here"] > 1
    rows = [row(setting, system, is_vote, own)
            for (setting, system, is_vote), own in both.groupby(["setting", "system", vote], sort=False)]
    title = f"{table.title}: {engines(both['engine_here'])} (here) against {engines(both['engine_there'])} (there)"
    return [title, measure(table), TEXT, Grid(HEADER, rows)]


def row(setting: str, system: str, is_vote: bool, runs: pd.DataFrame) -> list[str]:
    """Means over languages (and folds) of means over seeds."""
    units = runs.groupby(UNIT, sort=False)[["accuracy_here", "accuracy_there"]].mean()
    here, there = units["accuracy_here"], units["accuracy_there"]
    by = here - there
    return [setting, system, "vote" if is_vote else "single models", str(len(units)), str(len(runs)),
            number(mean(there)), number(mean(here)), signed(mean(by), 2), number(by.sem(), 2), number(by.std(), 2),
            *above_below(by), probability(signed_rank_test(by))]


def engines(names: pd.Series) -> str:
    return " and ".join(sorted({engine for name in names for engine in name.split("+")} - {"-"}))


if __name__ == "__main__":
    with errors_for_people("against.py"):
        main()
