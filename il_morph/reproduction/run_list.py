"""Lists of runs: measured.tsv has a row for each run and outlives the results folders."""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Optional

from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes
from il_morph.reproduction.finished_runs import runs_below
from il_morph.reproduction.paper_tables import NAMES, NONE, PaperTable, load_table
from il_morph.reproduction.runs import (
    COMMIT,
    ENGINES,
    SEEDS,
    Place,
    Run,
    check_place,
    grouped,
    in_order,
    members_of,
)
from il_morph.runs.records import count, finite, percentage

HEADER = [field.name for field in fields(Run)]
LIST = "measured.tsv"
ADDED = {"engine": ENGINES[0], "cpu_minutes": NONE}  # columns that older lists lack; the oldest lack both
OLD_HEADERS = [[name for name in HEADER if name not in added] for added in (["cpu_minutes"], ADDED)]


def read_runs(table: PaperTable, root: PathLike) -> list[Run]:
    """The runs in a results folder, or listed in a measured.tsv."""
    if os.path.isdir(root):
        return sorted(runs_below(table, Path(root)), key=in_order(table))
    return _listed_runs(table, Path(root))


def read_runs_of_all(folder: PathLike) -> list[tuple[PaperTable, list[Run]]]:
    """The runs of each table that has a list or a results folder in `folder`."""
    found = []
    for table in map(load_table, NAMES):
        places = [path for path in (Path(folder, table.name, LIST), Path(folder, table.name)) if os.path.lexists(path)]
        found += [(table, read_runs(table, places[0]))] if places else []
    if not found:
        raise InputError(f"{folder} has no results of any table: none of {', '.join(NAMES)}")
    return found


def runs_of_models(runs: Sequence[Run], models: Optional[str], where: PathLike) -> list[Run]:
    """The runs of the models named by --models=x,y; without this flag, all runs."""
    if models is None:
        return list(runs)
    for model in models.split(","):
        if not any(run.model == model for run in runs):
            raise InputError(f"--models={models}: there are no runs of {model!r} in {where}")
    return [run for run in runs if run.model in models.split(",")]


def already_listed(table: PaperTable, path: PathLike) -> list[Run]:
    """The runs in a measured.tsv; none if the file is new or empty, or a pipe, which cannot be read first."""
    return _listed_runs(table, Path(path)) if os.path.isfile(path) and os.path.getsize(path) else []


def add_runs(table: PaperTable, listed: Sequence[Run], runs: Sequence[Run]) -> list[Run]:
    """These runs, and the listed runs that were not made again.

    A listed vote is dropped if the accuracy of a member has changed. Unless it is the vote of the paper's seeds, it is
    also dropped if there is a vote of the same seeds and more.
    """
    old, new = ({run.place: run for run in each} for each in (listed, runs))
    changed = {place for place in old if place in new and _accuracy_cell(old[place]) != _accuracy_cell(new[place])}
    kept = [run for place, run in old.items() if place not in new and not changed.intersection(members_of(table, run))]
    return sorted(_without_smaller_votes(table, [*kept, *runs]), key=in_order(table))


def replaced(listed: Sequence[Run], merged: Sequence[Run]) -> list[tuple[Place, str]]:
    """The listed runs whose row has changed or gone, each with a phrase that says what happened to it."""
    new = {run.place: run for run in merged}
    return [(run.place, "was listed with other figures and is replaced" if run.place in new else "is dropped: "
             "one of its members came out differently, or more seeds have voted")
            for run in listed if run.place not in new or _row(run) != _row(new[run.place])]


def _without_smaller_votes(table: PaperTable, runs: Sequence[Run]) -> list[Run]:
    votes = grouped(runs, lambda run: run.place._replace(seed=""))
    return [run for run in runs if run.voters == 1 or table.is_full_vote(run.seed)
            or not any(set(run.seeds) < set(vote.seeds) for vote in votes[run.place._replace(seed="")])]


def _accuracy_cell(run: Run) -> str:
    return _as_text("test", run.test)


def measured(runs: Sequence[Run]) -> str:
    """The content of a measured.tsv."""
    return "".join("\t".join(row) + "\n" for row in [HEADER, *map(_row, runs)])


def _row(run: Run) -> list[str]:
    return [_as_text(name, getattr(run, name)) for name in HEADER]


def _as_text(name: str, value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, float):
        return f"{value:.2f}" if name.endswith("minutes") else f"{value:.4f}"
    return str(value)


def _listed_runs(table: PaperTable, path: Path) -> list[Run]:
    try:
        header, *lines = [line.split("\t") for line in read_bytes(path).decode("utf-8").splitlines()] or [[]]
    except UnicodeDecodeError:
        header, lines = [], []
    if header not in (HEADER, *OLD_HEADERS):
        raise InputError(f"{path} is neither a results folder nor a list of runs with the columns {', '.join(HEADER)}")
    runs: dict[Place, Run] = {}
    for number, line in enumerate(lines, start=2):
        try:
            run = _listed_run(header, line)
            if not (run.setting in table.settings and SEEDS.fullmatch(run.seed)):
                raise ValueError
        except ValueError:
            raise InputError(f"{path}, line {number}: not a run of {table.name}; correct or delete the line") from None
        check_place(table, run.place, f"{path}, line {number}")
        if run.place in runs:
            raise InputError(f"{path}, line {number}: repeats the run of a line above; delete one of them")
        runs[run.place] = run
    return list(runs.values())


def _listed_run(header: Sequence[str], line: Sequence[str]) -> Run:
    if len(line) != len(header):
        raise ValueError
    cells: dict[str, Any] = {**ADDED, **dict(zip(header, line))}
    cells["epochs"] = None if cells["epochs"] == NONE else count(int(cells["epochs"]))
    cells.update({name: figure(cells[name]) for name in HEADER if name.endswith("minutes")})
    cells.update({name: _listed_accuracy(cells[name]) for name in HEADER if name.startswith(("dev_", "test_"))})
    run = Run(**cells)
    known = run.engine in ENGINES if run.voters == 1 else not run.engines.difference(ENGINES)
    if not (known and COMMIT.fullmatch(run.commit)):
        raise ValueError
    return run


def figure(text: str, missing: str = NONE) -> Optional[float]:
    """A finite number from 0 up, or None if it is missing."""
    return None if text == missing else finite(float(text))


def _listed_accuracy(text: str) -> Optional[float]:
    value = figure(text)
    return None if value is None else percentage(value)
