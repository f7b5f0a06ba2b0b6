"""The runs that were made for the paper's tables, and ours beside the paper's."""
from __future__ import annotations

import json
import math
import os
import re
import statistics
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes
from il_morph.reproduction.facts import NONE, PaperTable, lines_of

PARTIAL = "*"


class Cells(NamedTuple):
    """A line of a table."""

    source: str
    system: str
    figure: str
    values: List[str]


# Runs


@dataclass(frozen=True)
class Run:
    """A finished run, or the vote of several seeds (`1+2+3`); accuracies in percent. A row of measured.tsv."""

    setting: str
    model: str
    language: str
    fold: str
    seed: str
    epochs: Optional[int]
    minutes: Optional[float]
    dev_greedy: Optional[float]
    test_greedy: Optional[float]
    dev_beam4: Optional[float]
    test_beam4: Optional[float]
    commit: str

    @property
    def place(self) -> Tuple[str, ...]:
        return self.setting, self.model, self.language, self.fold, self.seed

    @property
    def members(self) -> List[Tuple[str, ...]]:
        """The places of the single models that voted; of a single model its own."""
        return [(*self.place[:-1], seed) for seed in self.seed.split("+")]

    @property
    def voters(self) -> int:
        return self.seed.count("+") + 1


HEADER = [field.name for field in fields(Run)]
SEEDS = re.compile(r"\d+(\+\d+)*")


def read_runs(table: PaperTable, root: PathLike) -> List[Run]:
    """The runs below a results folder, or those listed in a measured.tsv."""
    if os.path.isdir(root):
        return sorted(_runs_below(table, Path(root)), key=_order(table))
    return _measured_runs(table, Path(root))


def add_measured(table: PaperTable, listed: PathLike, runs: Sequence[Run]) -> List[Run]:
    """These runs, and those in a measured.tsv that are not made again among them.

    A listed vote goes when one of its members has come out differently, and a vote when more seeds than its own voted,
    unless its seeds are the paper's.
    """
    there = os.path.isfile(listed) and os.path.getsize(listed)  # a pipe cannot be read first
    old = {run.place: run for run in (_measured_runs(table, Path(listed)) if there else [])}
    new = {run.place: run for run in runs}
    changed = {place for place in old if place in new and _accuracy_cell(old[place]) != _accuracy_cell(new[place])}
    kept = [run for place, run in old.items() if place not in new and not changed.intersection(run.members)]
    return sorted(_without_smaller_votes(table, [*kept, *runs]), key=_order(table))


def _without_smaller_votes(table: PaperTable, runs: Sequence[Run]) -> List[Run]:
    votes = [set(run.members) for run in runs if run.voters > 1]
    return [run for run in runs if run.voters == 1 or table.is_full_vote(run)
            or not any(set(run.members) < vote for vote in votes)]


def _accuracy_cell(run: Run) -> str:
    return _as_text("test_beam4", run.test_beam4)


def measured(runs: Sequence[Run]) -> str:
    """The content of a measured.tsv."""
    rows = [HEADER] + [[_as_text(name, getattr(run, name)) for name in HEADER] for run in runs]
    return "".join("\t".join(row) + "\n" for row in rows)


def _as_text(name: str, value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, float):
        return f"{value:.2f}" if name == "minutes" else f"{value:.4f}"
    return str(value)


def _measured_runs(table: PaperTable, path: Path) -> List[Run]:
    try:
        header, *lines = [line.split("\t") for line in lines_of(path)] or [[]]
    except UnicodeDecodeError:
        header, lines = [], []
    if header != HEADER:
        raise InputError(f"{path} is neither a results folder nor a list of runs with the columns {', '.join(HEADER)}")
    runs: Dict[Tuple[str, ...], Run] = {}
    for number, line in enumerate(lines, start=2):
        try:
            run = _measured_run(line)
            if not (run.setting in table.settings and SEEDS.fullmatch(run.seed)):
                raise ValueError
        except (ValueError, IndexError, TypeError):
            raise InputError(f"{path}, line {number}: not a run of {table.name}; mend or delete the line") from None
        if run.place in runs:
            raise InputError(f"{path}, line {number}: the same run as in a line above; delete one of them")
        runs[run.place] = run
    return list(runs.values())


def _measured_run(cells: List[str]) -> Run:
    epochs = None if cells[5] == NONE else int(cells[5])
    return Run(*cells[:5], epochs, *map(figure, cells[6:11]), *cells[11:])


def figure(text: str, missing: str = NONE) -> Optional[float]:
    """A finite number, or nothing."""
    value = None if text == missing else float(text)
    if value is not None and not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


def _runs_below(table: PaperTable, root: Path) -> Iterator[Run]:
    depth = 5 if table.folds else 4
    for folder in root.glob("/".join("*" * depth)):
        names = folder.relative_to(root).parts
        if names[0] not in table.settings or not SEEDS.fullmatch(names[-1]):
            continue
        place = (*names[:3], names[3] if table.folds else NONE, names[-1])
        if (folder / "f.stats").is_file():
            yield _single_run(place, folder)
        elif (folder / "f.beam4.test.eval").is_file() and "+" in names[-1]:
            accuracy = _accuracy(folder / "f.beam4.test.eval")
            yield Run(*place, None, None, None, None, None, accuracy, NONE)


def _single_run(place: Tuple[str, ...], folder: Path) -> Run:
    path = folder / "f.stats"
    try:
        stats = json.loads(read_bytes(path))
        accuracies = [stats["scores"].get(key, {}).get("accuracy")
                      for key in ("greedy.dev", "greedy.test", "beam4.dev", "beam4.test")]
        epochs, minutes = stats["training"]["epochs"], stats["training"]["seconds"] / 60
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not what il-morph train writes ({error!r}); delete it and run again") from error
    commit = (lines_of(folder / "commit") if (folder / "commit").exists() else []) or [NONE]
    return Run(*place, epochs, minutes, *accuracies, commit[0])


def _accuracy(path: Path) -> float:
    """The accuracy in what il-morph evaluate prints."""
    for line in lines_of(path):
        name, _, value = line.partition(" ")
        if name == "accuracy":
            return float(value)
    raise InputError(f"{path} has no accuracy; delete it and start the script of the table again")


def _order(table: PaperTable):
    """Sort runs as the facts list them."""
    settings, languages = table.settings, list(table.languages)
    models = [system.model for system in table.systems]

    def key(run: Run) -> Tuple:
        return (settings.index(run.setting), _index(models, run.model), run.model,
                _index(languages, run.language), run.language, run.fold,
                run.voters, [int(seed) for seed in run.seed.split("+")])
    return key


def _index(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


# Figures


@dataclass(frozen=True)
class Column:
    """What the runs of one model say in one column of a table."""

    mean: Optional[float]
    sd: Optional[float]
    ensemble: Optional[float]
    runs: int
    expected: int
    all_languages: bool
    full_ensembles: bool

    @property
    def complete(self) -> bool:
        return self.runs >= self.expected


def column_figures(table: PaperTable, runs: Sequence[Run], column: str) -> Column:
    """Means are means of languages, never of pooled lines; the deviation is that of the single models' means.

    Of several votes the one of the highest rank counts.
    """
    singles: Dict[Tuple[str, str], Dict[Tuple[str, str], float]] = {}
    ensembles: Dict[Tuple[str, str], Run] = {}
    groups = table.groups(column)
    for run in runs:
        group = run.setting, run.language
        if group not in groups or run.test_beam4 is None:
            continue
        if run.voters == 1:
            singles.setdefault(group, {})[run.fold, run.seed] = run.test_beam4
        elif group not in ensembles or table.vote_rank(run) > table.vote_rank(ensembles[group]):
            ensembles[group] = run
    return Column(
        mean=_mean([statistics.fmean(group.values()) for group in singles.values()]),
        sd=_deviation(list(singles.values())),
        ensemble=_mean([run.test_beam4 for run in ensembles.values()]),
        runs=sum(min(len(group), table.runs_per_group) for group in singles.values()),
        expected=len(groups) * table.runs_per_group,
        all_languages=len(ensembles if table.report == "ensemble" else singles) == len(groups),
        full_ensembles=len(ensembles) == len(groups)
        and all(run.voters >= len(table.seeds) for run in ensembles.values()),
    )


def _mean(values: Sequence[float]) -> Optional[float]:
    return statistics.fmean(values) if values else None


def _deviation(groups: List[Dict[Tuple[str, str], float]]) -> Optional[float]:
    """Sample standard deviation over the folds and seeds that all groups have."""
    shared = set.intersection(*map(set, groups)) if groups else set()
    means = [statistics.fmean(group[unit] for group in groups) for unit in sorted(shared)]
    return statistics.stdev(means) if len(means) > 1 else None


# Layout


def paperlines_of(table: PaperTable) -> List[Cells]:
    """The paper's table, with the numbers of the notes."""
    lines = []
    for system, figures in table.paper.items():
        marks = [f" [{number}]" for number, (systems, _) in enumerate(table.notes, start=1) if system in systems]
        lines.append(Cells("paper", system + "".join(marks), "", list(figures.values())))
    return lines


def ourlines_of(table: PaperTable, runs: Sequence[Run]) -> List[Cells]:
    """Our rows for every model that has runs."""
    systems = {system.model: system.row for system in table.systems if system.row != NONE}
    lines: List[Cells] = []
    for model in dict.fromkeys(run.model for run in runs):
        own = [run for run in runs if run.model == model]
        system = systems.get(model, model)
        columns = {name: column_figures(table, own, name) for name in table.columns}
        lines += [Cells("ours", system, figure, values)
                  for figure, values in _figures(table, columns, table.paper.get(system, {}))]
    return lines


def _figures(table: PaperTable, columns: Dict[str, Column], paper: Dict[str, str]) -> Iterator[Tuple[str, List[str]]]:
    ensembles = table.report == "ensemble"
    reported = {name: (each.ensemble, not each.full_ensembles) if ensembles else (each.mean, not each.complete)
                for name, each in columns.items()}
    yield table.report, [_cell(value, partial) for value, partial in reported.values()]
    yield "difference", [_difference(*reported[name], paper.get(name, NONE), each) for name, each in columns.items()]
    if ensembles:
        yield "single mean", [_cell(each.mean, partial=not each.complete) for each in columns.values()]
    yield "single sd", [_cell(each.sd, partial=not each.complete, digits=2) for each in columns.values()]
    yield "runs", [f"{each.runs}/{each.expected}" for each in columns.values()]


def _cell(value: Optional[float], partial: bool = False, digits: int = 1) -> str:
    if value is None:
        return NONE
    return f"{value:.{digits}f}" + (PARTIAL if partial else "")


def _difference(ours: Optional[float], partial: bool, paper: str, column: Column) -> str:
    """Ours minus the paper's, where both are about the same languages."""
    if ours is None or paper == NONE or not column.all_languages:
        return NONE
    return f"{ours - float(paper):+.1f}" + (PARTIAL if partial else "")


def render(table: PaperTable, runs: Sequence[Run], layout: str) -> str:
    """The table as text, markdown or tsv."""
    lines = paperlines_of(table) + ourlines_of(table, runs)
    grid = [["", "system", "figure", *table.columns]] + [[*line[:3], *line.values] for line in lines]
    if layout == "tsv":
        grid[0][0] = "source"
        return "".join("\t".join(cell.rstrip(PARTIAL) if row[0] == "ours" and i > 2 else cell
                                 for i, cell in enumerate(row)) + "\n" for row in grid)
    body = _markdown(grid) if layout == "markdown" else _aligned(grid)
    return "\n".join([f"{table.title}", "Test accuracy in percent, beam 4.", "", *body, "", *_remarks(table, runs), ""])


def _remarks(table: PaperTable, runs: Sequence[Run]) -> List[str]:
    remarks = [f"[{number}] {', '.join(systems)}: {text}" for number, (systems, text) in enumerate(table.notes, start=1)]
    if not runs:
        return remarks + ["There are no runs of our own yet."]
    kind = "majority vote of the seeds" if table.report == "ensemble" else "mean over folds and seeds"
    return remarks + [
        f"{table.report}: {kind}; difference: {table.report} minus the paper's figure, where all languages are there;",
        "single sd: standard deviation over the single models; runs: those that are there, of those of the paper.",
        f"{PARTIAL} partial: not all runs are there.",
    ]


def _aligned(grid: Sequence[Sequence[str]]) -> List[str]:
    """Columns under each other; words that repeat the line above are left out."""
    widths = [max(map(len, column)) for column in zip(*grid)]
    lines, above = [], ["", "", ""]
    for row in grid:
        words = [word if row[:i + 1] != above[:i + 1] else "" for i, word in enumerate(row[:2])] + [row[2]]
        cells = [word.ljust(width) for word, width in zip(words, widths)]
        cells += [_mark_aligned(cell).rjust(width + 1) for cell, width in zip(row[3:], widths[3:])]
        lines.append("  ".join(cells).rstrip())
        above = list(row[:3])
    return lines


def _mark_aligned(cell: str) -> str:
    return cell if cell.endswith(PARTIAL) else cell + " "


def _markdown(grid: Sequence[Sequence[str]]) -> List[str]:
    rows = ["| " + " | ".join(cell.replace(PARTIAL, "\\" + PARTIAL) for cell in row) + " |" for row in grid]
    return [rows[0], "|---|---|---|" + "---:|" * (len(grid[0]) - 3), *rows[1:]]
