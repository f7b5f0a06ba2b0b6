"""The runs and jobs for a selection from a table.

A run is one training. A job is one or two runs in order: two when the model starts from a trained one.
"""
from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from il_morph.errors import InputError
from il_morph.files import read_bytes, write_atomically
from il_morph.reproduction.paper_tables import NONE, PaperTable, System
from il_morph.run_folder import ResultsTree
from il_morph.runs.asked import make_spec, under_one_name
from il_morph.runs.processes import make_folder
from il_morph.runs.spec import Job, Task


@dataclass(frozen=True)
class Selection:
    """The part of a table to train, and the locations of data and results."""

    data: Path
    results: ResultsTree
    settings: list[str]
    models: list[str]  # empty: the models in the paper's table
    languages: list[str]
    folds: list[str]
    seeds: list[str]
    engine: Optional[str]  # for the systems that have a choice
    train_options: dict[str, Any]  # further settings for all runs (TRAIN-OPTIONS)


class Plan:
    """The runs of a selection."""

    def __init__(self, table: PaperTable, selection: Selection):
        self.table, self.selection = table, selection

    def jobs(self) -> Iterator[Job]:
        """A job for each system, language, fold and seed.

        In each setting, the first seed of everything comes first, so that early tables are broad.
        """
        chosen = self.selection
        for setting, seed in itertools.product(chosen.settings, chosen.seeds):
            for system in self.table.systems_for(setting, chosen.models):
                for fold, language in self._units(setting):
                    start = self.table.start_of(system)
                    yield [self._task(each, language, fold, seed) for each in ([start] if start else []) + [system]]

    def to_do(self, again: bool = False) -> list[Job]:
        """The jobs whose last run is not finished (`again`: all jobs), without earlier runs that are finished."""
        return [[*(task for task in job[:-1] if not task.folder.finished), job[-1]]
                for job in self.jobs() if again or not job[-1].folder.finished]

    def check_data(self) -> None:
        """Raise an error if nothing is selected, or if a data file of the selection cannot be read."""
        if not any(self._places()):
            raise InputError(f"{self.table.name} has no {', '.join(self.selection.languages)} in setting "
                             f"{', '.join(self.selection.settings)}; `il-morph run {self.table.name} --help` lists "
                             "what it has")
        for setting, fold, language in self._places():
            for pattern in (self.table.train, self.table.dev, self.table.test):
                path = self.data_path(pattern, setting, language, fold)
                if not os.access(path, os.R_OK):
                    raise InputError(f"cannot read {path}; --data names the data folder, bin/fetch_data.sh fetches it")

    def _units(self, setting: str) -> Iterator[tuple[str, str]]:
        """The folds and languages of the selection that have data in this setting."""
        for fold, language in itertools.product(self.selection.folds or [""], self.selection.languages):
            if self.table.has(setting, language):
                yield fold, language

    def _places(self) -> Iterator[tuple[str, str, str]]:
        """Each setting with its folds and languages."""
        for setting in self.selection.settings:
            for fold, language in self._units(setting):
                yield setting, fold, language

    def data_path(self, pattern: str, setting: str, language: str, fold: str) -> str:
        return str(self.selection.data / self.table.data_file(pattern, setting, language, fold))

    def train_path(self, setting: str, language: str, fold: str) -> str:
        """The path of the training data, or of the part of it that `write_thinned` puts beside the results."""
        path = self.data_path(self.table.train, setting, language, fold)
        return str(self.selection.results.thinned(setting, path)) if setting in self.table.thinned else path

    def write_thinned(self) -> None:
        """Write the parts of the training data that some settings are trained on: every n-th line, from the first."""
        for setting, fold, language in self._places():
            if setting in self.table.thinned:
                lines = read_bytes(self.data_path(self.table.train, setting, language, fold)).splitlines(keepends=True)
                path = Path(self.train_path(setting, language, fold))
                make_folder(path.parent)
                write_atomically(path, b"".join(lines[::self.table.thinned[setting]]))

    def _task(self, system: System, language: str, fold: str, seed: str) -> Task:
        """A run with the settings of the table, which TRAIN-OPTIONS override."""
        chosen = self.selection
        train = self.train_path(system.setting, language, fold)
        dev, test = (self.data_path(pattern, system.setting, language, fold)
                     for pattern in (self.table.dev, self.table.test))
        limits = {"epochs": system.epochs, "patience": system.patience}
        asked: dict[str, Any] = {
            **asked_in(system.options), **asked_in(self.table.format_of(language)),
            **{name: value for name, value in limits.items() if value != NONE}, "dynet_seed": seed, "test_path": test}
        if chosen.engine and not system.engine:
            asked["engine"] = chosen.engine
        if system.start != NONE:
            asked["reload_path"] = chosen.results.run(system.setting, system.start, language, fold, seed).model
        folder = chosen.results.run(system.setting, system.model, language, fold, seed).path
        spec = make_spec(train, dev, folder, {**under_one_name(asked), **chosen.train_options})
        title = " ".join([system.setting, language, system.model, *([f"fold {fold}"] if fold else []), f"seed {seed}"])
        return Task(spec, title, f"{system.setting} {system.model}")


def asked_in(flags: str) -> dict[str, Any]:
    """The settings in a string of flags such as `--model=ha --align-cls`, with quotes as in a shell."""
    words = [flag[len("--"):].partition("=") for flag in shlex.split(flags)]
    return {name.replace("-", "_"): value if equals else True for name, equals, value in words}


def first_unfinished(job: Job) -> Optional[Task]:
    return next((task for task in job if not task.folder.finished), None)
