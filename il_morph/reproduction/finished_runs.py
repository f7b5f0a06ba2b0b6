"""The runs below a results folder. A damaged file is an error that names the file: no run is silently skipped."""
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from il_morph.errors import InputError
from il_morph.reproduction.paper_tables import MEASURES, NONE, Measure, PaperTable, lines_of
from il_morph.reproduction.runs import (
    COMMIT,
    ENGINES,
    SEEDS,
    Place,
    Run,
    check_place,
    members_of,
)
from il_morph.run_folder import GREEDY, RunFolder, search_name
from il_morph.runs.records import count, finite, percentage, stats_of

BEAM = search_name(4)


def runs_below(table: PaperTable, root: Path) -> list[Run]:
    runs: dict[Place, Run] = {}
    votes: dict[Place, RunFolder] = {}
    for place, folder in _run_folders(table, root):
        if os.path.lexists(folder.stats):
            check_place(table, place, str(folder.path))
            runs[place] = _single_run(table, place, folder)
        elif "+" in place.seed and any(os.path.lexists(folder.evaluation(f"{search}.test"))
                                       for search in (BEAM, GREEDY)):
            check_place(table, place, str(folder.path))
            votes[place] = folder
    return [*runs.values(), *(_vote(table, place, folder, runs) for place, folder in votes.items())]


def _run_folders(table: PaperTable, root: Path) -> Iterator[tuple[Place, RunFolder]]:
    """Folders SETTING/MODEL/LANGUAGE[/FOLD]/SEED that may hold a run or a vote."""
    for names in _paths(root, 5 if table.folds else 4):
        if names[0] in table.settings and SEEDS.fullmatch(names[-1]):
            fold = names[3] if table.folds else NONE
            yield Place(names[0], names[1], names[2], fold, names[-1]), RunFolder(root.joinpath(*names))


def _paths(folder: Path, depth: int) -> Iterator[tuple[str, ...]]:
    """The paths of the folders `depth` levels below. Unlike a glob, it does not skip folders that cannot be read."""
    if depth == 0:
        yield ()
        return
    try:
        names = sorted(name for name in os.listdir(folder) if (folder / name).is_dir())
    except OSError as error:
        raise InputError(f"cannot read the folder {folder}: {error.strerror}") from error
    for name in names:
        yield from ((name, *rest) for rest in _paths(folder / name, depth - 1))


def _single_run(table: PaperTable, place: Place, folder: RunFolder) -> Run:
    with stats_of(folder) as stats:
        greedy_dev, greedy_test, beam_dev, beam_test = (
            _score(stats["scores"], f"{search}.{part}", table.measure)
            for search in (GREEDY, BEAM) for part in ("dev", "test"))
        training = stats["training"]
        epochs, minutes = count(training["epochs"]), finite(training["seconds"]) / 60
        cpu_minutes = finite(training["cpu_seconds"]) / 60 if "cpu_seconds" in training else None
        engine = stats.get("engine", ENGINES[0])
        if engine not in ENGINES:
            raise ValueError(f"engine {engine!r}")
    return Run(*place, epochs, minutes, cpu_minutes, greedy_dev, greedy_test, beam_dev, beam_test, engine,
               _commit(folder.commit))


def _score(scores: dict, name: str, measure: Measure) -> Optional[float]:
    """The figure of a decoding, or None if f.stats has none."""
    value = scores.get(name, {}).get(measure.score)
    return None if value is None else measure.of(percentage(value))


def _vote(table: PaperTable, place: Place, folder: RunFolder, singles: dict[Place, Run]) -> Run:
    greedy, beam = (evaluated(path, table.measure) if os.path.lexists(path) else None
                    for path in (folder.evaluation(f"{search}.test") for search in (GREEDY, BEAM)))
    vote = Run(*place, None, None, None, None, greedy, None, beam, NONE, NONE)
    engines = sorted({singles[member].engine for member in members_of(table, vote) if member in singles})
    return Run(**{**vars(vote), "engine": "+".join(engines) or NONE})


def evaluated(path: Path, measure: Measure = MEASURES["accuracy"]) -> float:
    """The figure in a file with the output of `il-morph evaluate`."""
    score = measure.score.replace("_f1", " F1")
    for line in lines_of(path):
        name, _, value = line.rpartition(" ")
        if name.strip() == score:
            try:
                return measure.of(percentage(float(value)))
            except ValueError:
                raise InputError(f"{path} is damaged: {value.strip()!r} is no {score}; delete it and start the script "
                                 "of the table again") from None
    raise InputError(f"{path} has no {score}; delete it and start the script of the table again")


def _commit(path: Path) -> str:
    lines: list[str] = lines_of(path) if os.path.lexists(path) else []
    commit = "\n".join(lines) or NONE
    if not COMMIT.fullmatch(commit):
        raise InputError(f"{path} is damaged: {commit[:40]!r} is not a commit; write the commit of the run into it, "
                         "or delete it")
    return commit
