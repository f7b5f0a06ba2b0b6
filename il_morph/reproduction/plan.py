"""From the facts of a table and a selection of it to runs and jobs.

A run is one training. A job is one or two runs in order: two when the model starts from a trained one.
"""
from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from il_morph.errors import InputError
from il_morph.reproduction.paper_tables import NONE, PaperTable, System
from il_morph.run_folder import ResultsTree, RunFolder


@dataclass(frozen=True)
class PlannedRun:
    """What to train, and where it goes."""

    setting: str
    model: str
    language: str
    fold: str  # empty where the table has none
    seed: str
    folder: str
    arguments: list[str]  # of il-morph

    @property
    def results(self) -> RunFolder:
        return RunFolder(self.folder)

    @property
    def system(self) -> tuple[str, str]:
        """Setting and model: its runs are alike."""
        return self.setting, self.model

    @property
    def title(self) -> str:
        fold = f" fold {self.fold}" if self.fold else ""
        return f"{self.setting} {self.language} {self.model}{fold} seed {self.seed}"

    def number(self, flag: str) -> Optional[int]:
        """The value of a flag that takes a whole number; the last one counts."""
        words = [word for argument in self.arguments for word in argument.split("=", 1)]
        values = [value for name, value in zip(words, words[1:]) if name == flag]
        return int(values[-1]) if values and values[-1].isdecimal() else None


Job = list[PlannedRun]


@dataclass(frozen=True)
class Selection:
    """The part of a table that is asked for, and where data and results are."""

    data: Path
    results: ResultsTree
    settings: list[str]
    models: list[str]  # none: those in the paper's table
    languages: list[str]
    folds: list[str]
    seeds: list[str]
    engine: Optional[str]  # of the systems that have a choice
    train_options: list[str]


class Plan:
    """The runs of a selection."""

    def __init__(self, table: PaperTable, selection: Selection):
        self.table, self.selection = table, selection

    def jobs(self) -> Iterator[Job]:
        """A job for each system, language, fold and seed. Seed 1 of everything comes first: early tables are broad."""
        chosen = self.selection
        for setting, seed in itertools.product(chosen.settings, chosen.seeds):
            for system in self.table.systems_for(setting, chosen.models):
                for fold, language in itertools.product(chosen.folds or [""], chosen.languages):
                    start = self.table.start_of(system)
                    yield [self._run(each, language, fold, seed) for each in ([start] if start else []) + [system]]

    def to_do(self, again: bool = False) -> list[Job]:
        """The jobs whose own run is not finished (`again`: all of them), without a start that is."""
        return [[*(run for run in job[:-1] if not run.results.finished), job[-1]]
                for job in self.jobs() if again or not job[-1].results.finished]

    def check_data(self) -> None:
        """Every file of the selection is there."""
        chosen, table = self.selection, self.table
        for setting, fold, language in itertools.product(chosen.settings, chosen.folds or [""], chosen.languages):
            for pattern in (table.train, table.dev, table.test):
                path = self.data_path(pattern, setting, language, fold)
                if not os.access(path, os.R_OK):
                    raise InputError(f"cannot read {path}; --data names the data folder, bin/fetch_data.sh fetches it")

    def data_path(self, pattern: str, setting: str, language: str, fold: str) -> str:
        return str(self.selection.data / self.table.data_file(pattern, setting, language, fold))

    def _run(self, system: System, language: str, fold: str, seed: str) -> PlannedRun:
        place = system.setting, system.model, language, fold, seed
        files = {name: self.data_path(getattr(self.table, name), system.setting, language, fold)
                 for name in ("train", "dev", "test")}
        folder = str(self.selection.results.run(*place).path)
        options = self._options(system, language, fold, seed)
        return PlannedRun(*place, folder, [
            "train", *options, f"--test-path={files['test']}", files["train"], files["dev"], folder])

    def _options(self, system: System, language: str, fold: str, seed: str) -> list[str]:
        """Those of the table that TRAIN-OPTIONS do not replace, then these."""
        given, engine = self.selection.train_options, self.selection.engine
        options = [*system.options.split(), *self.table.format.split(), f"--epochs={system.epochs}",
                   f"--patience={system.patience}", f"--dynet-seed={seed}"]
        if engine and not system.engine:
            options.append(f"--engine={engine}")
        options = [option for option in options if not is_replaced(option, given)]
        if system.start != NONE:
            model = self.selection.results.run(system.setting, system.start, language, fold, seed).model
            options.append(f"--reload-path={model}")
        return options + given


def is_replaced(option: str, given: Sequence[str]) -> bool:
    """Is the flag, or another aligner, among the given options?"""
    flag, aligner = option.split("=")[0], option.startswith("--align-")
    return any(other.split("=")[0] == flag or (aligner and other.startswith("--align-")) for other in given)


def first_unfinished(job: Job) -> Optional[PlannedRun]:
    return next((run for run in job if not run.results.finished), None)
