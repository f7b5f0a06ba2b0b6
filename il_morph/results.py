"""Where results are: the one place that knows the names of the files of a run."""
from __future__ import annotations

from pathlib import Path
from typing import Iterator

from il_morph.files import PathLike

GREEDY = "greedy"


def search_name(width: int) -> str:
    """What a search is called in the names of files and scores: `greedy`, `beam4`."""
    return f"beam{width}" if width > 1 else GREEDY


class RunFolder:
    """The folder of one run of `il-morph train`. `f.stats` is written last: it says that the run is finished."""

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
    def commit(self) -> Path:
        """The commit of il-morph that the run was made with, for runs of a table."""
        return self.path / "commit"

    def predictions(self, name: str) -> Path:
        """Of `greedy.dev`, `beam4.test` and so on."""
        return self.path / f"f.{name}.predictions"

    def evaluation(self, name: str) -> Path:
        return self.path / f"f.{name}.eval"

    @property
    def finished(self) -> bool:
        return self.stats.exists()

    def outcome(self) -> Iterator[Path]:
        """What a finished run leaves behind besides model and log."""
        for pattern in (self.stats.name, f"f.{GREEDY}.*", "f.beam*"):
            yield from filter(Path.is_file, self.path.glob(pattern))
