"""What all runs of the paper's tables take, by the minutes of those that were made: `il-morph table --hours`."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple, Optional

from il_morph.reproduction.cells import NOTHING, PARTIAL, names, number
from il_morph.reproduction.data_layout import Block, Grid, Remarks
from il_morph.reproduction.paper_tables import PaperTable, System
from il_morph.reproduction.runs import Run, grouped

CORES = (1, 16, 200)


class Effort(NamedTuple):
    """Systems of a setting that one engine trains: those whose minutes are known, and the others."""

    setting: str
    engine: str
    timed: dict[str, list[Run]]  # model -> its runs
    untimed: list[str]
    units: int  # languages (in folds)
    seeds: int

    @property
    def made(self) -> int:
        return sum(map(len, self.timed.values()))

    @property
    def runs(self) -> int:
        """Those of the paper."""
        return (len(self.timed) + len(self.untimed)) * self.units * self.seeds

    @property
    def minutes(self) -> float:
        """Of a run: the mean over systems of the mean over languages and folds."""
        return fmean(fmean(_minutes_by_unit(runs)) for runs in self.timed.values())

    @property
    def complete(self) -> bool:
        """Has every system a run on each language and fold?"""
        return not self.untimed and all(len(_minutes_by_unit(runs)) == self.units for runs in self.timed.values())

    def hours(self, cores: int) -> float:
        """A run goes on on one core."""
        longest = max(minutes_of(run) for runs in self.timed.values() for run in runs)
        return max(self.minutes * self.runs / cores, longest) / 60


def minutes_of(run: Run) -> float:
    """Of CPU time, or else by the clock."""
    assert run.minutes is not None, "only timed runs are counted"
    return run.minutes if run.cpu_minutes is None else run.cpu_minutes


def _minutes_by_unit(runs: Sequence[Run]) -> list[float]:
    return [fmean(map(minutes_of, own)) for own in grouped(runs, lambda run: (run.language, run.fold)).values()]


def efforts(table: PaperTable, runs: Sequence[Run]) -> Iterator[Effort]:
    """For each setting: the systems that have a choice of engines, then those that one engine alone trains."""
    for setting in table.settings:
        own = [run for run in runs if run.setting == setting and run.voters == 1 and run.minutes is not None]
        engines: dict[Optional[str], list[System]] = {None: []}
        for system in _needed(table, setting):
            engines.setdefault(system.engine, []).append(system)
        for engine, systems in engines.items():
            if systems:
                yield _effort(table, setting, engine, [system.model for system in systems], own)


def _needed(table: PaperTable, setting: str) -> list[System]:
    """The systems that are trained for the paper's table, and those that they start from."""
    systems = table.systems_for(setting)
    starts = [table.start_of(system) for system in systems]
    return list(dict.fromkeys([*systems, *(start for start in starts if start)]))


def _effort(table: PaperTable, setting: str, engine: Optional[str], models: Sequence[str],
            runs: Sequence[Run]) -> Effort:
    """By the engine that is theirs, or else by that of most runs; where CPU time is known, by the runs that know it."""
    own = [run for run in runs if run.model in models]
    engine = engine or next((name for name, _ in Counter(run.engine for run in own).most_common(1)), "")
    timed = grouped([run for run in own if run.engine == engine], lambda run: run.model)
    timed = {model: [run for run in group if run.cpu_minutes is not None] or group for model, group in timed.items()}
    return Effort(setting, engine, timed, [model for model in models if model not in timed],
                  len(table.languages) * max(len(table.folds), 1), len(table.seeds))


def effort_blocks(tables: Sequence[tuple[PaperTable, Sequence[Run]]]) -> list[Block]:
    found = [(table, each) for table, runs in tables for each in efforts(table, runs)]
    rows = [_row(table, each) for table, each in found if each.timed]
    remarks = [_not_measured(table, each) for table, each in found if each.untimed]
    if not rows:
        return [NOTHING]
    legend = ["minutes: CPU time of a run (by the clock where it is not known), mean over systems of the mean over "
              "languages and folds; runs: those of the paper's table; then the hours that they take, on so many cores."]
    legend += [f"{PARTIAL} not all languages and folds of all systems were run: those that are missing may take longer "
               "or shorter."] if any(PARTIAL in row[4] for row in rows) else []
    return [Grid(["table", "engine", "measured", "their runs", "minutes", "runs",
                  *(f"{cores} core{'s' * (cores > 1)}" for cores in CORES)], rows), Remarks(legend + remarks)]


def _row(table: PaperTable, effort: Effort) -> list[str]:
    return [_name(table, effort), effort.engine, names(map(table.row, effort.timed)), str(effort.made),
            number(effort.minutes) + ("" if effort.complete else PARTIAL), str(effort.runs),
            *(number(effort.hours(cores)) for cores in CORES)]


def _not_measured(table: PaperTable, effort: Effort) -> str:
    how = "counted with the minutes of the others" if effort.timed else "not counted"
    return f"{_name(table, effort)}: not measured are {names(map(table.row, effort.untimed))}; they are {how}."


def _name(table: PaperTable, effort: Effort) -> str:
    return f"{table.name} {effort.setting}" if len(table.settings) > 1 else table.name
