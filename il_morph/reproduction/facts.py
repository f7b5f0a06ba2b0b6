"""The facts of the paper's tables, read from experiments/<name>: what to train on which data, and the paper's figures."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes

_PACKAGE = Path(__file__).parent.parent
PACKAGED, CHECKOUT = _PACKAGE / "experiments", _PACKAGE.parent / "experiments"
EXPERIMENTS = PACKAGED if PACKAGED.is_dir() else CHECKOUT
NAMES = ("sigmorphon2016", "sigmorphon2017", "celex", "lemmatization")

AVERAGE = "Avg"
NONE = "-"


class System(NamedTuple):
    """A row of models.tsv: how a system is trained in a setting."""

    setting: str
    model: str  # its name in the results folder
    row: str  # its row in the paper's table, or none
    start: str  # the model it starts from, or none
    epochs: str
    patience: str
    options: str  # what else il-morph train is given


class Vote(Protocol):
    """A run as far as it is a vote of seeds, `1+2+3`."""

    @property
    def seed(self) -> str: ...

    @property
    def voters(self) -> int: ...


@dataclass(frozen=True)
class PaperTable:
    """The facts of experiments/<name>."""

    name: str
    title: str
    report: str  # ensemble or mean
    settings: list[str]
    folds: list[str]
    seeds: list[str]
    train: str  # paths below the data folder, with LANGUAGE, SETTING and FOLD to be filled in
    dev: str
    test: str
    format: str  # the format flag of il-morph, or nothing
    languages: dict[str, str]  # language -> column, or none when a column is a setting
    systems: list[System]
    paper: dict[str, dict[str, str]]  # row -> column -> figure as printed
    notes: list[tuple[list[str], str]]  # rows, what is to be said about them

    @property
    def columns(self) -> list[str]:
        return list(next(iter(self.paper.values())))

    def groups(self, column: str) -> list[tuple[str, str]]:
        """Settings and languages whose mean is the figure of a column."""
        return [(setting, language) for setting in self.settings
                for language, own in self.languages.items() if column in (AVERAGE, setting, own)]

    def is_full_vote(self, run: Vote) -> bool:
        """Did all seeds of the paper vote?"""
        return len(self.seeds) > 1 and run.seed == "+".join(self.seeds)

    def vote_rank(self, vote: Vote) -> tuple[bool, int]:
        """The vote of the paper's seeds comes first, then that of the most seeds."""
        return self.is_full_vote(vote), vote.voters

    @property
    def runs_per_group(self) -> int:
        return len(self.folds or [NONE]) * len(self.seeds)


def load_table(name: str) -> PaperTable:
    """Read the facts of one of the paper's tables."""
    if name not in NAMES:
        raise InputError(f"there is no table {name!r}; the tables are {', '.join(NAMES)}")
    folder = EXPERIMENTS / name
    facts = {key: value.strip() for key, value in (line.split(":", 1) for line in lines_of(folder / "facts.txt"))}
    notes = folder / "notes.tsv"
    return PaperTable(
        name=name,
        **{key: facts[key] for key in ("title", "report", "train", "dev", "test", "format")},
        **{key: facts[key].split() for key in ("settings", "folds", "seeds")},
        languages={row["language"]: row["column"] for row in rows_of(folder / "languages.tsv")},
        systems=[System(row["setting"], row["model"], row["table"], row["start"], row["epochs"], row["patience"],
                        row["options"]) for row in rows_of(folder / "models.tsv")],
        paper={row.pop("system"): row for row in rows_of(folder / "paper.tsv")},
        notes=[(row["systems"].split(), row["note"]) for row in rows_of(notes)] if notes.exists() else [],
    )


def lines_of(path: PathLike) -> list[str]:
    return read_bytes(path).decode("utf-8").splitlines()


def rows_of(path: PathLike) -> list[dict[str, str]]:
    """The rows of a TSV file with a header."""
    header, *lines = [line.split("\t") for line in lines_of(path)]
    return [dict(zip(header, line)) for line in lines]
