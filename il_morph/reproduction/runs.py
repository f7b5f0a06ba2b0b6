"""The runs that were made for a table: read below a results folder, or from a list of them (measured.tsv)."""
from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Optional, Sequence

from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes
from il_morph.reproduction.facts import NONE, PaperTable, lines_of
from il_morph.results import GREEDY, RunFolder, search_name

ENGINES = ("dynet", "native")
BEAM = search_name(4)
SEEDS = re.compile(r"\d+(\+\d+)*")
COMMIT = re.compile(r"[\w.+-]{1,80}", re.ASCII)


class Place(NamedTuple):
    """Where a run is in a results folder; no fold is `-`, the seed of a vote `1+2+3`."""

    setting: str
    model: str
    language: str
    fold: str
    seed: str


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
    engine: str  # of a vote: those of its members, `dynet+native`; none when they are not known
    commit: str

    @property
    def place(self) -> Place:
        return Place(self.setting, self.model, self.language, self.fold, self.seed)

    @property
    def members(self) -> list[Place]:
        """The places of the single models that voted; of a single model its own."""
        return [self.place._replace(seed=seed) for seed in self.seed.split("+")]

    @property
    def voters(self) -> int:
        return self.seed.count("+") + 1

    @property
    def engines(self) -> set[str]:
        return set(self.engine.split("+")) - {NONE}


HEADER = [field.name for field in fields(Run)]
OLD_HEADER = [name for name in HEADER if name != "engine"]  # of lists from when there was one engine


def read_runs(table: PaperTable, root: PathLike) -> list[Run]:
    """The runs below a results folder, or those listed in a measured.tsv."""
    if os.path.isdir(root):
        return sorted(_runs_below(table, Path(root)), key=_order(table))
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
    kept = [run for place, run in old.items() if place not in new and not changed.intersection(run.members)]
    return sorted(_without_smaller_votes(table, [*kept, *runs]), key=_order(table))


def _without_smaller_votes(table: PaperTable, runs: Sequence[Run]) -> list[Run]:
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


def _order(table: PaperTable) -> Callable[[Run], tuple]:
    """Sort runs as the facts list them."""
    settings, languages = table.settings, list(table.languages)
    models = [system.model for system in table.systems]

    def key(run: Run) -> tuple:
        return (settings.index(run.setting), _index(models, run.model), run.model,
                languages.index(run.language), run.fold, run.voters, [int(seed) for seed in run.seed.split("+")])
    return key


def _index(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


# Lists


def _listed_runs(table: PaperTable, path: Path) -> list[Run]:
    try:
        header, *lines = [line.split("\t") for line in read_bytes(path).decode("utf-8").splitlines()] or [[]]
    except UnicodeDecodeError:
        header, lines = [], []
    if header not in (HEADER, OLD_HEADER):
        raise InputError(f"{path} is neither a results folder nor a list of runs with the columns {', '.join(HEADER)}")
    runs: dict[Place, Run] = {}
    for number, line in enumerate(lines, start=2):
        try:
            run = _listed_run(header, line)
            if not (run.setting in table.settings and SEEDS.fullmatch(run.seed)):
                raise ValueError
        except ValueError:
            raise InputError(f"{path}, line {number}: not a run of {table.name}; mend or delete the line") from None
        _check_place(table, run.place, f"{path}, line {number}")
        if run.place in runs:
            raise InputError(f"{path}, line {number}: the same run as in a line above; delete one of them")
        runs[run.place] = run
    return list(runs.values())


def _listed_run(header: Sequence[str], line: Sequence[str]) -> Run:
    if len(line) != len(header):
        raise ValueError
    cells: dict[str, Any] = {"engine": ENGINES[0], **dict(zip(header, line))}
    cells["epochs"] = None if cells["epochs"] == NONE else _count(int(cells["epochs"]))
    cells["minutes"] = figure(cells["minutes"])
    cells.update({name: _listed_accuracy(cells[name]) for name in HEADER if name.startswith(("dev_", "test_"))})
    if set(cells["engine"].split("+")) - {NONE, *ENGINES} or not COMMIT.fullmatch(cells["commit"]):
        raise ValueError
    return Run(**cells)


def figure(text: str, missing: str = NONE) -> Optional[float]:
    """A finite number, not below 0, or nothing."""
    return None if text == missing else _number(float(text))


def _listed_accuracy(text: str) -> Optional[float]:
    value = figure(text)
    return None if value is None else _accuracy(value)


# Results folders


def _runs_below(table: PaperTable, root: Path) -> list[Run]:
    runs: dict[Place, Run] = {}
    votes: dict[Place, RunFolder] = {}
    for place, folder in _run_folders(table, root):
        if os.path.lexists(folder.stats):
            _check_place(table, place, str(folder.path))
            runs[place] = _single_run(place, folder)
        elif os.path.lexists(folder.evaluation(f"{BEAM}.test")) and "+" in place.seed:
            _check_place(table, place, str(folder.path))
            votes[place] = folder
    return [*runs.values(), *(_vote(place, folder, runs) for place, folder in votes.items())]


def _run_folders(table: PaperTable, root: Path) -> Iterator[tuple[Place, RunFolder]]:
    """Folders SETTING/MODEL/LANGUAGE[/FOLD]/SEED that may hold a run or a vote."""
    for names in _paths(root, 5 if table.folds else 4):
        if names[0] in table.settings and SEEDS.fullmatch(names[-1]):
            fold = names[3] if table.folds else NONE
            yield Place(names[0], names[1], names[2], fold, names[-1]), RunFolder(root.joinpath(*names))


def _paths(folder: Path, depth: int) -> Iterator[tuple[str, ...]]:
    """The folders so many levels below; unlike a glob it does not pass over those that cannot be read."""
    if depth == 0:
        yield ()
        return
    try:
        names = sorted(name for name in os.listdir(folder) if (folder / name).is_dir())
    except OSError as error:
        raise InputError(f"cannot read the folder {folder}: {error.strerror}") from error
    for name in names:
        yield from ((name, *rest) for rest in _paths(folder / name, depth - 1))


def _check_place(table: PaperTable, place: Place, where: str) -> None:
    if place.language not in table.languages:
        raise InputError(f"{where}: {place.language} is not a language of {table.name}: see "
                         f"experiments/{table.name}/languages.tsv")
    if place.fold not in (table.folds or [NONE]):
        raise InputError(f"{where}: {place.fold} is not a fold of {table.name}, which has "
                         f"{', '.join(table.folds) or 'none'}")


def _single_run(place: Place, folder: RunFolder) -> Run:
    try:
        stats = json.loads(read_bytes(folder.stats))
        greedy_dev, greedy_test, beam_dev, beam_test = (
            _score(stats["scores"], f"{search}.{part}") for search in (GREEDY, BEAM) for part in ("dev", "test"))
        epochs, seconds = _count(stats["training"]["epochs"]), _number(stats["training"]["seconds"])
        engine = stats.get("engine", ENGINES[0])
        if engine not in ENGINES:
            raise ValueError(f"engine {engine!r}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise InputError(f"{folder.stats} is not what il-morph train writes ({error!r}); "
                         "delete it and run again") from error
    return Run(*place, epochs, seconds / 60, greedy_dev, greedy_test, beam_dev, beam_test, engine,
               _commit(folder.commit))


def _score(scores: dict, name: str) -> Optional[float]:
    """The accuracy of a decoding, if there was one."""
    value = scores.get(name, {}).get("accuracy")
    return None if value is None else _accuracy(value)


def _vote(place: Place, folder: RunFolder, singles: dict[Place, Run]) -> Run:
    accuracy = _evaluated(folder.evaluation(f"{BEAM}.test"))
    vote = Run(*place, None, None, None, None, None, accuracy, NONE, NONE)
    engines = sorted({singles[member].engine for member in vote.members if member in singles})
    return Run(**{**vars(vote), "engine": "+".join(engines) or NONE})


def _evaluated(path: Path) -> float:
    """The accuracy in what il-morph evaluate prints."""
    for line in lines_of(path):
        name, _, value = line.partition(" ")
        if name == "accuracy":
            try:
                return _accuracy(float(value))
            except ValueError:
                raise InputError(f"{path} is damaged: {value.strip()!r} is no accuracy; delete it and start the script "
                                 "of the table again") from None
    raise InputError(f"{path} has no accuracy; delete it and start the script of the table again")


def _commit(path: Path) -> str:
    lines: Iterable[str] = lines_of(path) if os.path.lexists(path) else []
    commit = "\n".join(lines) or NONE
    if not COMMIT.fullmatch(commit):
        raise InputError(f"{path} is damaged: {commit[:40]!r} is not a commit; write the commit of the run into it, "
                         "or delete it")
    return commit


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is not a finite number from 0 up")
    return float(value)


def _accuracy(value: Any) -> float:
    if _number(value) > 100:
        raise ValueError(f"{value!r} is not an accuracy in percent")
    return float(value)


def _count(value: Any) -> int:
    if _number(value) != value or isinstance(value, float):
        raise ValueError(f"{value!r} is not a whole number")
    return int(value)
