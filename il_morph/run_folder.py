"""Where results are: the only module with the file names of a run and the folder names of a table's runs."""
from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from il_morph.files import PathLike

GREEDY = "greedy"
_OUTCOME = re.compile(rf"f\.stats|f\.({GREEDY}|beam\d+)\.(dev|test)\.(predictions|eval)", re.ASCII)
_COURSE = re.compile(r"f\.model|f\.log|f\.checkpoint")
_LEFTOVER = re.compile(rf"\.({_OUTCOME.pattern}|{_COURSE.pattern}|commit)\.[^.]+\.tmp", re.ASCII)


def search_name(width: int) -> str:
    """The name of a search in file names and scores: `greedy`, `beam4`."""
    return f"beam{width}" if width > 1 else GREEDY


class RunFolder:
    """The folder of one run of `il-morph train`. `f.stats` is written last and marks the run as finished."""

    def __init__(self, path: PathLike):
        self.path = Path(path)

    @property
    def model(self) -> Path:
        return self.path / "f.model"

    @property
    def log(self) -> Path:
        return self.path / "f.log"

    @property
    def stats(self) -> Path:
        return self.path / "f.stats"

    @property
    def checkpoint(self) -> Path:
        """The checkpoint from which an interrupted training goes on, if its engine can."""
        return self.path / "f.checkpoint"

    @property
    def commit(self) -> Path:
        """The commit of il-morph that made the run, for runs of a table, of seeds or of folds."""
        return self.path / "commit"

    @property
    def train_log(self) -> Path:
        """The output of `il-morph train`, for runs of a table, of seeds or of folds."""
        return self.path / "train.log"

    @property
    def lock(self) -> Path:
        """Locked by the process that trains here; the file names that process."""
        return self.path / "lock"

    @property
    def lock_of_version_2(self) -> Path:
        """Locked while `il-morph train` of version 2 runs here."""
        return self.path / ".training"

    def predictions(self, name: str) -> Path:
        """The predictions named `greedy.dev`, `beam4.test` and so on."""
        return self.path / f"f.{name}.predictions"

    def evaluation(self, name: str) -> Path:
        return self.path / f"f.{name}.eval"

    @property
    def finished(self) -> bool:
        return self.stats.exists()

    @property
    def seeds_identity(self) -> Path:
        """Identifies the training that the seeds below belong to."""
        return self.path / "seeds.json"

    def summary(self, ending: str) -> Path:
        """The scores of the seeds below: `summary.txt` for people, `summary.json` for programs."""
        return self.path / f"summary.{ending}"

    def seeds(self) -> list[RunFolder]:
        """The folders of runs below, which `il-morph train --seeds` names after their seeds, in order."""
        names = [path.name for path in self.path.glob("*") if path.name.isascii() and path.name.isdecimal()]
        return [RunFolder(self.path / name) for name in sorted(names, key=int)]

    def outcome(self) -> list[Path]:
        """The files that a finished run leaves behind besides model and log."""
        return self._files(_OUTCOME)

    def remains(self) -> list[Path]:
        """All files that a training has written here, finished or not, including temporary files of a killed one."""
        return [*self.outcome(), *self._files(_COURSE), *self.leftovers()]

    def leftovers(self) -> list[Path]:
        """Temporary files of a process that was killed while it wrote."""
        return self._files(_LEFTOVER)

    def _files(self, names: re.Pattern[str]) -> list[Path]:
        return [path for path in self.path.glob("*") if names.fullmatch(path.name) and path.is_file()]


class ResultsTree:
    """The results of a table: ROOT/SETTING/MODEL/LANGUAGE[/FOLD]/SEED is the folder of a run."""

    def __init__(self, root: PathLike):
        self.root = Path(root)

    def run(self, setting: str, model: str, language: str, fold: str, seed: str) -> RunFolder:
        """`fold` is empty where the table has no folds."""
        return RunFolder(self.root.joinpath(setting, model, language, fold, seed))

    def groups(self, settings: list[str]) -> Iterator[tuple[str, str, Path]]:
        """Setting and language of each folder SETTING/MODEL/LANGUAGE, and the folder."""
        for setting in settings:
            for path in sorted((self.root / setting).glob("*/*")):
                if path.is_dir():
                    yield setting, path.name, path

    def thinned(self, setting: str, path: PathLike) -> Path:
        """The part of the training data at this path that a setting is trained on."""
        return self.root / "data" / setting / Path(path).name

    @property
    def lock(self) -> Path:
        """Locked by the process that votes and writes the table."""
        return self.root / "lock"

    @property
    def table(self) -> Path:
        return self.root / "table.txt"

    def leftovers(self) -> list[Path]:
        """Temporary files of a process that was killed while it wrote the table."""
        return list(self.root.glob(f".{self.table.name}.*.tmp"))

    @property
    def slurm(self) -> Path:
        """Lists of jobs, and the output of the jobs."""
        return self.root / "slurm"
