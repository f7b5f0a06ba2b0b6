"""Estimate how long all runs of the paper's tables take, from the minutes of ours.

Usage:
  cost.py [options] NAME [RUNS]

Arguments:
  NAME             sigmorphon2016, sigmorphon2017, celex, lemmatization, g2p2020, g2p2021 or segmentation2022;
                   or all
  RUNS             a results folder or a list of runs (default: experiments/NAME/measured.tsv);
                   with all: a folder with NAME/measured.tsv or NAME/ for each table (default: experiments)

Options:
  --format=FORMAT  text, markdown or tsv [default: text]
  -h --help        show this
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Optional

from docopt import docopt
from frames import UNIT, mean, number, pd, runs_frame, runs_of, show

from il_morph.errors import errors_for_people
from il_morph.reproduction.blocks import Block, Grid, Remarks
from il_morph.reproduction.cells import NOTHING, PARTIAL, names
from il_morph.reproduction.paper_tables import EXPERIMENTS, PaperTable, System, load_table
from il_morph.reproduction.run_list import read_runs_of_all
from il_morph.reproduction.runs import Run, grouped

CORES = (1, 16, 200)
LEGEND = ("minutes: CPU time of a run (by the clock where it is not known), mean over systems of the mean over "
          "languages and folds; runs: in the paper's table; then the hours that they take on so many cores.")
INCOMPLETE = (f"{PARTIAL} not all languages and folds of all systems were run; the missing ones may take more or less "
              "time.")


def main(argv: Optional[Sequence[str]] = None) -> None:
    args = docopt(__doc__, argv)
    if args["NAME"] == "all":
        tables = read_runs_of_all(args["RUNS"] or EXPERIMENTS)
    else:
        table = load_table(args["NAME"])
        tables = [(table, runs_of(table, args["RUNS"]))]
    show(cost_blocks([cost for table, runs in tables for cost in costs(table, runs)]), args["--format"])


@dataclass
class Cost:
    """The systems of a setting that one engine trains."""

    table: PaperTable
    setting: str
    engine: str
    models: list[str]
    timed: pd.DataFrame  # runs of those whose minutes are known

    @property
    def measured(self) -> list[str]:
        return list(self.timed["model"].unique())

    @property
    def missing(self) -> list[str]:
        return [model for model in self.models if model not in self.measured]

    @property
    def units(self) -> int:
        return len(self.table.languages_of(self.setting)) * max(len(self.table.folds), 1)

    @property
    def runs(self) -> int:
        """How many the paper's table has."""
        return len(self.models) * self.units * len(self.table.seeds)

    @property
    def by_unit(self) -> pd.Series:
        return self.timed.groupby(["model", *UNIT], sort=False)["cost"].mean()

    @property
    def minutes(self) -> float:
        return mean(self.by_unit.groupby("model").mean())

    @property
    def complete(self) -> bool:
        """Does every system have a run on each language and fold?"""
        return not self.missing and bool((self.by_unit.groupby("model").size() == self.units).all())

    @property
    def name(self) -> str:
        return f"{self.table.name} {self.setting}" if len(self.table.settings) > 1 else self.table.name

    def hours(self, cores: int) -> float:
        """Each run uses one core."""
        return max(self.minutes * self.runs / cores, self.timed["cost"].max()) / 60


def costs(table: PaperTable, runs: Sequence[Run]) -> Iterator[Cost]:
    """For each setting: the systems with a choice of engines, then those that only one engine trains."""
    frame = runs_frame(table, runs)
    frame = frame[frame["voters"] == 1].dropna(subset=["minutes"])
    for setting in table.settings:
        engines: dict[Optional[str], list[str]] = {None: []}
        for system in needed(table, setting):
            engines.setdefault(system.engine, []).append(system.model)
        for only, models in engines.items():
            own = frame[(frame["setting"] == setting) & frame["model"].isin(models)]
            engine = only or ("" if own.empty else own["engine"].value_counts(sort=False).idxmax())
            if models:
                yield Cost(table, setting, engine, models, with_cost(own[own["engine"] == engine]))


def needed(table: PaperTable, setting: str) -> list[System]:
    """The systems of the paper's table, and those that they start from."""
    systems = table.systems_for(setting)
    starts = [table.start_of(system) for system in systems]
    return list(dict.fromkeys([*systems, *(start for start in starts if start)]))


def with_cost(runs: pd.DataFrame) -> pd.DataFrame:
    """CPU minutes; by the clock for models without a run that has them."""
    has_cpu = runs.groupby("model")["cpu_minutes"].transform("count") > 0
    return runs.assign(cost=runs["cpu_minutes"].where(has_cpu, runs["minutes"])).dropna(subset=["cost"])


def cost_blocks(found: Sequence[Cost]) -> list[Block]:
    rows = [[each.name, each.engine, names(map(each.table.row, each.measured)), str(len(each.timed)),
             number(each.minutes) + ("" if each.complete else PARTIAL), str(each.runs),
             *(number(each.hours(cores)) for cores in CORES)] for each in found if each.measured]
    if not rows:
        return [NOTHING]
    header = ["table", "engine", "measured", "their runs", "minutes", "runs",
              *(f"{cores} core{'s' * (cores > 1)}" for cores in CORES)]
    partial = [INCOMPLETE] if any(PARTIAL in row[4] for row in rows) else []
    missing = grouped([each for each in found if each.missing], not_measured)
    remarks = [f"{which(own)}: {what}" for what, own in missing.items()]
    return [Grid(header, rows), Remarks([LEGEND, *partial, *remarks])]


def not_measured(cost: Cost) -> str:
    how = "counted with the mean of those that were" if cost.measured else "not counted"
    return f"{names(map(cost.table.row, cost.missing))} not measured, {how}."


def which(costs: Sequence[Cost]) -> str:
    return names(f"{name} {names(each.setting for each in own)}" if len(own) > 1 else own[0].name
                 for name, own in grouped(costs, lambda each: each.table.name).items())


if __name__ == "__main__":
    with errors_for_people("cost.py"):
        main()
