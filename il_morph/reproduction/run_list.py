"""Lists of runs: measured.tsv, a row for each run, which outlives the folders that the runs were made in."""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Optional

from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes
from il_morph.reproduction.finished_runs import runs_below
from il_morph.reproduction.paper_tables import NONE, PaperTable
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
ADDED = {"engine": ENGINES[0], "cpu_minutes": NONE}  # what older lists lack, the oldest both
OLD_HEADERS = [[name for name in HEADER if name not in added] for added in (["cpu_minutes"], ADDED)]


def read_runs(table: PaperTable, root: PathLike) -> list[Run]:
    """The runs below a results folder, or those listed in a measured.tsv."""
    if os.path.isdir(root):
        return sorted(runs_below(table, Path(root)), key=in_order(table))
    return _listed_runs(table, Path(root))


def add_measured(table: PaperTable, listed: PathLike, runs: Sequence[Run]) -> list[Run]:
    """These runs, and those in a measured.tsv that are not made again among them.

    A listed vote goes when one of its members has come out differently, and a vote when more seeds than its own voted,
    unless its seeds are the paper's.
    """
    there = os.path.isfile(listed) and os.path.getsize(listed)  # a pipe cannot be read first
    old = {run.place: run for run in (_listed_runs(table, Path(listed)) if there else [])}
    new = {run.place: run for run in runs}
    changed = {place for place in old if place in new and _accuracy_cell(old[place]) != _accuracy_cell(new[place])}
    kept = [run for place, run in old.items() if place not in new and not changed.intersection(members_of(table, run))]
    return sorted(_without_smaller_votes(table, [*kept, *runs]), key=in_order(table))


def _without_smaller_votes(table: PaperTable, runs: Sequence[Run]) -> list[Run]:
    votes = grouped(runs, lambda run: run.place._replace(seed=""))
    return [run for run in runs if run.voters == 1 or table.is_full_vote(run)
            or not any(set(run.seeds) < set(vote.seeds) for vote in votes[run.place._replace(seed="")])]


def _accuracy_cell(run: Run) -> str:
    return _as_text("test", run.test)


def measured(runs: Sequence[Run]) -> str:
    """The content of a measured.tsv."""
    rows = [HEADER] + [[_as_text(name, getattr(run, name)) for name in HEADER] for run in runs]
    return "".join("\t".join(row) + "\n" for row in rows)


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
            raise InputError(f"{path}, line {number}: not a run of {table.name}; mend or delete the line") from None
        check_place(table, run.place, f"{path}, line {number}")
        if run.place in runs:
            raise InputError(f"{path}, line {number}: the same run as in a line above; delete one of them")
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
    """A finite number, not below 0, or nothing."""
    return None if text == missing else finite(float(text))


def _listed_accuracy(text: str) -> Optional[float]:
    value = figure(text)
    return None if value is None else percentage(value)
