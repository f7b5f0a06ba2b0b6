"""Compare our own runs with the same runs made otherwise: by another engine, or with other settings.

Usage:
  against.py [options] NAME HERE THERE

Only runs that both sides have count: the same seeds of a system on the same languages (and folds). With --beside,
systems are compared with another one, so HERE and THERE may be the same.

Arguments:
  NAME             sigmorphon2016, sigmorphon2017, celex, lemmatization, g2p2020, g2p2021 or segmentation2022
  HERE, THERE      results folders or lists of runs

Options:
  --models=x,y     only these models (by their names in the results folder)
  --beside=MODEL   all of them beside this model of THERE, instead of each beside itself
  --seeds=1,2      only these seeds; a vote is 1+2+3
  --setting=NAME   only this setting
  --languages=x,y  only these languages; with a ! before the first one all others
  --by-language    also a row for each language (and fold), the largest loss first
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
UNIT_HEADER = ["setting", "system", "figure", "language (and fold)", "runs", "there", "here", "difference"]
TEXT = ("Runs with the same seeds on the same languages (and folds). Difference: here minus there, with its standard "
        "error over languages (and folds); p: the probability of as large a difference by chance, by Wilcoxon's "
        "signed-rank test (two-sided, exact).")


def main(argv: Optional[Sequence[str]] = None) -> None:
    args = docopt(__doc__, argv)
    table = load_table(args["NAME"])
    here = runs_of_models(read_runs(table, args["HERE"]), args["--models"], args["HERE"])
    here = runs_of_setting(table, here, args["--setting"])
    here = runs_of_seeds(runs_of_languages(table, here, args["--languages"]), args["--seeds"])
    there, beside = read_runs(table, args["THERE"]), args["--beside"]
    if beside is not None:
        if "," in beside:
            raise InputError(f"--beside={beside}: name one model")
        there = runs_of_models(there, beside, args["THERE"])
        here = [run for run in here if run.model != beside]
    show(against(table, here, there, beside, args["--by-language"]), args["--format"])


def runs_of_setting(table: PaperTable, runs: Sequence[Run], setting: Optional[str]) -> list[Run]:
    if setting is not None and setting not in table.settings:
        raise InputError(f"--setting={setting}: {table.name} has {', '.join(table.settings)}")
    return [run for run in runs if setting in (None, run.setting)]


def runs_of_languages(table: PaperTable, runs: Sequence[Run], languages: Optional[str]) -> list[Run]:
    """The runs on the languages that --languages names, or on all others."""
    if languages is None:
        return list(runs)
    named = languages.lstrip("!").split(",")
    for language in named:
        if language not in table.languages:
            raise InputError(f"--languages={languages}: {language!r} is no language of {table.name}")
    return [run for run in runs if (run.language in named) != languages.startswith("!")]


def runs_of_seeds(runs: Sequence[Run], seeds: Optional[str]) -> list[Run]:
    """The runs with the seeds that --seeds names."""
    for seed in seeds.split(",") if seeds else []:
        if not any(run.seed == seed for run in runs):
            raise InputError(f"--seeds={seeds}: there are no runs with seed {seed}")
    return [run for run in runs if seeds is None or run.seed in seeds.split(",")]


def against(table: PaperTable, here: Sequence[Run], there: Sequence[Run], beside: Optional[str] = None,
            by_language: bool = False) -> list[Block]:
    other = runs_frame(table, scored(there)).drop(columns=["model", "system"] if beside else [])
    same = [each for each in (*Place._fields, "system") if each in other]
    both = runs_frame(table, scored(here)).merge(other, on=same, suffixes=("_here", "_there"))
    if both.empty:
        raise InputError("HERE and THERE have no run in common: no seed of a system on the same language")
    vote = both["voters_here"] > 1
    groups = [(setting, system, is_vote, own)
              for (setting, system, is_vote), own in both.groupby(["setting", "system", vote], sort=False)]
    title = (f"{table.title}: {engines(both['engine_here'])} (here) against "
             f"{f'{table.row(beside)}, ' if beside else ''}{engines(both['engine_there'])} (there)")
    blocks: list[Block] = [title, measure(table), TEXT, Grid(HEADER, [row(*group) for group in groups])]
    return blocks + [Grid(UNIT_HEADER, unit_rows(*group)) for group in groups if by_language]


def row(setting: str, system: str, is_vote: bool, runs: pd.DataFrame) -> list[str]:
    """Means over languages (and folds) of means over seeds."""
    units = means_of_seeds(runs)
    here, there, by = units["accuracy_here"], units["accuracy_there"], units["difference"]
    return [setting, system, figure(is_vote), str(len(units)), str(len(runs)),
            number(mean(there)), number(mean(here)), signed(mean(by), 2), number(by.sem(), 2), number(by.std(), 2),
            *above_below(by), probability(signed_rank_test(by))]


def unit_rows(setting: str, system: str, is_vote: bool, runs: pd.DataFrame) -> list[list[str]]:
    """A row for each language (and fold)."""
    units, seeds = means_of_seeds(runs).sort_values("difference", kind="stable"), runs.groupby(UNIT).size()
    return [[setting, system, figure(is_vote), language if fold == "-" else f"{language} {fold}",
             str(seeds[language, fold]), number(there), number(here), signed(difference)]
            for (language, fold), here, there, difference in units.itertuples()]


def means_of_seeds(runs: pd.DataFrame) -> pd.DataFrame:
    units = runs.groupby(UNIT, sort=False)[["accuracy_here", "accuracy_there"]].mean()
    return units.assign(difference=units["accuracy_here"] - units["accuracy_there"])


def figure(is_vote: bool) -> str:
    return "vote" if is_vote else "single models"


def engines(names: pd.Series) -> str:
    return " and ".join(sorted({engine for name in names for engine in name.split("+")} - {"-"}))


if __name__ == "__main__":
    with errors_for_people("against.py"):
        main()
