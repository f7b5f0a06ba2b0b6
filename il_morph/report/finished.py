"""Finished training runs, read from their folders: settings, log, and predictions for one part of the data."""
from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from il_morph.data.formats import Data, DataFormat, ReadOptions, Separators, format_named, read_data
from il_morph.data.spelling import AS_IS
from il_morph.errors import InputError
from il_morph.evaluation.entries import Entry, gold_entries, read_predictions
from il_morph.evaluation.scores import Scores, evaluate
from il_morph.files import LARGEST_FILE, STREAM, read_regular
from il_morph.model.modelfile import refuse_seeds
from il_morph.model.predictor import Predictor
from il_morph.model.settings import MAX_BEAM_WIDTH, SEPARATORS
from il_morph.run_folder import GREEDY, RunFolder, search_name
from il_morph.runs.records import read_complete_stats, read_log

PARTS = ("test", "dev")
NEARBY = "below the current folder or in the folder of the run"


@dataclass(frozen=True)
class Places:
    """The paths of a run's data. Paths that the user names are trusted; paths that the run recorded are checked."""

    train: Optional[str]
    dev: Optional[str]
    test: Optional[str]
    recorded: frozenset[str] = frozenset()  # the parts whose path comes from the run alone

    def of(self, part: str) -> Optional[str]:
        return {"train": self.train, "dev": self.dev, "test": self.test}[part]

    def all(self) -> list[str]:
        return [path for path in (self.train, self.dev, self.test) if path is not None]


@dataclass(frozen=True)
class FinishedRun:
    """A finished run: its folder, and the content of its f.stats and f.log."""

    name: str
    folder: RunFolder
    stats: dict[str, Any]
    epochs: list[dict[str, str]]

    @property
    def format(self) -> DataFormat:
        return format_named(self.stats["settings"]["format"])

    @property
    def unicode(self) -> str:
        return self.stats["settings"].get("unicode", AS_IS)

    @property
    def separators(self) -> Separators:
        return Separators(*(self.stats["settings"].get(name, "") for name in SEPARATORS))

    def searches(self, part: str) -> list[str]:
        """The searches with predictions for a part, the widest beam first."""
        found = [path.name[len("f."):-len(f".{part}.predictions")]
                 for path in self.folder.path.glob(f"f.*.{part}.predictions")]
        return sorted(filter(is_search, found), key=beam_width, reverse=True)

    def files(self) -> list[Path]:
        """All files of the run in its folder."""
        return [*self.folder.remains(), self.folder.commit, self.folder.train_log, self.folder.lock]

    def predictor(self) -> Optional[Predictor]:
        """The model, if its file still exists."""
        return Predictor.load(self.folder.model) if self.folder.model.exists() else None


def beam_width(search: str) -> int:
    return 1 if search == GREEDY else int(search[len("beam"):])


def is_search(name: str) -> bool:
    """Is this the name of a search that `il-morph train` can run?"""
    found = re.fullmatch("beam([0-9]{1,9})", name)
    return name == GREEDY or bool(found and 1 < int(found[1]) <= MAX_BEAM_WIDTH and search_name(int(found[1])) == name)


def read_run(path: str, name: str) -> FinishedRun:
    folder = RunFolder(path)
    if not folder.finished:
        refuse_unfinished(folder)
    return FinishedRun(name, folder, read_complete_stats(folder.stats), read_log(folder.log))


def refuse_unfinished(folder: RunFolder) -> None:
    """Raise an error that says what a folder without a finished run holds, and what to do."""
    lacking = f"there is no {folder.stats.name}"
    if folder.checkpoint.exists() or folder.model.exists():
        advice = ("start the same `il-morph train` command again: it resumes"
                  if folder.checkpoint.exists() else "train it again with --force")
        raise InputError(f"{folder.path} holds an unfinished run ({lacking}): wait for it or, if it was interrupted, "
                         f"{advice}")
    refuse_seeds(folder, ", or several to show them side by side")
    raise InputError(f"{folder.path} holds no finished run ({lacking}): give the RESULTS-PATH of `il-morph train`")


def short_names(paths: Sequence[str]) -> list[str]:
    """Name the runs by the last parts of their paths, as many as it takes to tell them apart."""
    parts = [Path(path).resolve().parts for path in paths]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-length:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    raise InputError(f"{paths[0]} is given twice: give each folder once")


@dataclass(frozen=True)
class Judged:
    """The predictions of runs for one part of the data, and the right outputs."""

    runs: list[FinishedRun]
    part: str
    search: str
    format: DataFormat
    gold: list[Entry]
    predictions: list[list[Entry]]
    train: Optional[Data]
    remarks: list[str]

    @property
    def separators(self) -> Separators:
        return self.runs[0].separators

    def scores(self) -> list[Scores]:
        return [evaluate(self.gold, each, self.format, self.separators) for each in self.predictions]


def judge(runs: Sequence[FinishedRun], places: Places, part: Optional[str], search: Optional[str]) -> Judged:
    """Read the right outputs and the predictions of the runs, which must share their data."""
    first = runs[0]
    refuse_other_formats(runs)
    gold, part, remarks = read_right_outputs(first, places, part)
    search = search or common_search(runs, part)
    train = read_training_data(first, places, remarks)
    predictions = []
    for run in runs:
        path = run.folder.predictions(f"{search}.{part}")
        if not path.exists():
            there = ", ".join(run.searches(part)) or "nothing"
            raise InputError(f"{path} does not exist: for {part}, {run.name} has {there}")
        predictions.append(read_predictions(path, first.format, first.unicode, first.separators,
                                            content=read_regular(path, LARGEST_FILE)))
    found = Judged(list(runs), part, search, first.format, gold_entries(gold), predictions, train, remarks)
    found.scores()  # refuses predictions for other lines
    return found


def refuse_other_formats(runs: Sequence[FinishedRun]) -> None:
    for run in runs[1:]:
        if run.format != runs[0].format:
            raise InputError(f"{run.name} was trained on data in the {run.format.name} format, {runs[0].name} on the "
                             f"{runs[0].format.name} format: give runs that were trained on the same data")
        if run.separators != runs[0].separators:
            raise InputError(f"{run.name} and {runs[0].name} were trained with different separators between symbols: "
                             "give runs that were trained on the same data")


def common_search(runs: Sequence[FinishedRun], part: str) -> str:
    """The widest beam that all runs share."""
    for search in runs[0].searches(part):
        if all(search in run.searches(part) for run in runs):
            return search
    raise InputError(f"the runs share no search with predictions for {part}: give runs with the same "
                     "--beam-widths")


def read_right_outputs(run: FinishedRun, places: Places, part: Optional[str]) -> tuple[Data, str, list[str]]:
    """The data of the requested part (default: test if it has outputs, else dev), the name of the part, and remarks."""
    remarks: list[str] = []
    for candidate in [part] if part else PARTS:
        path = places.of(candidate)
        if path is None or (not part and not run.searches(candidate)):
            continue
        data = read_part(run, places, candidate)
        if data.samples[0].output is not None:
            return data, candidate, remarks
        remarks.append(f"The {candidate} data has no outputs, so the page does not cover it.")
    wanted = f"{part} data" if part else "test or development data"
    raise InputError(f"{run.name}: found no {wanted} with outputs: give it with --{part or 'dev'}=FILE")


def read_part(run: FinishedRun, places: Places, part: str) -> Data:
    path = places.of(part) or ""
    if not Path(path).exists():
        raise InputError(f"{path}, the {part} data of {run.name}, does not exist: if it has moved, give --{part}=FILE")
    if part in places.recorded and not is_nearby(path, run.folder):
        raise InputError(f"{path}, the recorded {part} data of {run.name}, is not a regular file {NEARBY}: "
                         f"if it is the right one, give --{part}=FILE")
    return read_data(path, ReadOptions(expected=run.format, because=f"{run.name} was trained on", unicode=run.unicode,
                                       separators=run.separators))


def read_training_data(run: FinishedRun, places: Places, remarks: list[str]) -> Optional[Data]:
    """The training data if it still exists. The page needs it to tell seen lemmas and features from unseen ones."""
    path, what = places.train, "has moved"
    if path is not None and Path(path).exists():
        if "train" not in places.recorded or is_nearby(path, run.folder):
            return read_part(run, places, "train")
        what = f"is not {NEARBY}"
    remarks.append(f"The training data {what}, so the page does not say what training showed: give --train=FILE.")
    return None


def is_nearby(path: str, folder: RunFolder) -> bool:
    """May data be read whose path only f.stats names? Only a regular nearby file, not a link that leads elsewhere."""
    real, near = Path(os.path.realpath(path)), [Path(os.path.realpath(each)) for each in (os.curdir, folder.path)]
    return path != STREAM and real.is_file() and any(each in real.parents for each in near)
