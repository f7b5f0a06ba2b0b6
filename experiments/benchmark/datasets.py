"""The data that are measured on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from il_morph.data.formats import FORMATS, Sample, read_samples
from il_morph.errors import InputError

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class DataSet:
    name: str
    format: str
    train_path: str
    dev_path: str
    lines: int

    def train(self, folder: Path) -> list[Sample]:
        return read_samples(folder / self.train_path, FORMATS[self.format], need_output=True)[:self.lines]

    def dev(self, folder: Path) -> list[Sample]:
        return read_samples(folder / self.dev_path, FORMATS[self.format])


RUSSIAN = DataSet("2017-low Russian", "sigmorphon2017", "sigmorphon2017/task1/russian-train-low",
                  "sigmorphon2017/task1/russian-dev", 100)
FINNISH = DataSet("first 200 lines of 2016 Finnish", "sigmorphon2016", "sigmorphon2016/finnish-task1-train",
                  "sigmorphon2016/finnish-task1-dev", 200)


def data_folder(given: Optional[str]) -> Path:
    """The folder that has both data sets."""
    candidates = [Path(given)] if given else [PROJECT / "data", PROJECT.parent / "shared" / "data"]
    for folder in candidates:
        if all((folder / path).is_file() for data in (RUSSIAN, FINNISH) for path in (data.train_path, data.dev_path)):
            return folder
    raise InputError(f"no {RUSSIAN.train_path} and {FINNISH.train_path} in {' or '.join(map(str, candidates))}: "
                     "get the data with bin/fetch_data.sh data, or say where they are with --data DIR")
