"""The facts of the paper's tables, from experiments/<name>: systems, data, and the paper's figures.

The tables of later systems have the same facts. Their source is a shared task, and their measure may differ.
"""
from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Optional

from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes

_PACKAGE = Path(__file__).parent.parent
PACKAGED, CHECKOUT = _PACKAGE / "experiments", _PACKAGE.parent / "experiments"
EXPERIMENTS = PACKAGED if PACKAGED.is_dir() else CHECKOUT
OF_THE_PAPER = ("sigmorphon2016", "sigmorphon2017", "celex", "lemmatization")
NAMES = (*OF_THE_PAPER, "g2p2020", "g2p2021", "segmentation2022", "inflection2022small", "inflection2022sizes")

AVERAGE = "Avg"
NONE = "-"


class Measure(NamedTuple):
    """A measure for the figures of a table, in percent."""

    name: str
    score: str = "accuracy"  # the score of a run that the figure is based on
    is_error: bool = False  # is the figure 100 minus the score?

    def of(self, score: float) -> float:
        return 100 - score if self.is_error else score


MEASURES = {each.name: each for each in (Measure("accuracy"), Measure("word error rate", is_error=True),
                                         Measure("segment F1", "segment_f1"))}


class System(NamedTuple):
    """A row of models.tsv: how a system is trained in a setting."""

    setting: str
    model: str  # its name in the results folder
    row: str  # its row in the paper's table, or `-`
    start: str  # the model it starts from, or `-`
    epochs: str  # like patience, `-` if the preset chooses
    patience: str
    options: str  # more flags of il-morph train, or --vote=MODELS if the system is a vote of models

    @property
    def voters(self) -> list[str]:
        """The models whose seeds vote together; empty for a system that is trained."""
        named = re.fullmatch(r"--vote=(\S+)", self.options)
        return named[1].split(",") if named else []

    @property
    def trained(self) -> list[str]:
        """The models to train for this system: its voters, or itself."""
        return self.voters or [self.model]

    @property
    def engine(self) -> Optional[str]:
        """The only engine that trains this system; None if there is a choice."""
        named = re.search(r"--engine=(\S+)", self.options)
        return named[1] if named else None

    @property
    def preset(self) -> str:
        """The preset of il-morph train that the system uses or modifies."""
        named = re.search(r"--model=(\S+)", self.options)
        return named[1] if named else self.model


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
    languages: dict[str, str]  # language -> column, or `-` if a column is a setting
    systems: list[System]
    paper: dict[str, dict[str, str]]  # row -> column -> figure as printed
    notes: list[tuple[list[str], str]]  # rows, and a note on them
    measure: Measure = MEASURES["accuracy"]
    source: str = "the paper"  # where the published figures come from
    thinned: dict[str, int] = field(default_factory=dict)  # setting -> n: trained on every n-th line, from the first
    formats: dict[str, str] = field(default_factory=dict)  # language -> format flag, if it differs from `format`
    only: dict[str, list[str]] = field(default_factory=dict)  # language -> its settings, if it has not all of them
    data: str = ""  # where bin/fetch_data.sh puts the data

    def has(self, setting: str, language: str) -> bool:
        """Is there data for this language in this setting?"""
        return setting in self.only.get(language, self.settings)

    def languages_of(self, setting: str) -> list[str]:
        return [language for language in self.languages if self.has(setting, language)]

    def format_of(self, language: str) -> str:
        return self.formats.get(language) or self.format

    @property
    def columns(self) -> list[str]:
        return list(next(iter(self.paper.values())))

    def groups(self, column: str) -> list[tuple[str, str]]:
        """The settings and languages that the figure of a column averages over."""
        return [(setting, language) for setting in self.settings for language in self.languages_of(setting)
                if column in (AVERAGE, setting, self.languages[language])]

    def row(self, model: str) -> str:
        """The row of a model in the paper, or else the name of the model."""
        return next((system.row for system in self.systems if system.model == model and system.row != NONE), model)

    def trained(self, setting: str, model: str) -> list[str]:
        """The models to train for this model; the model itself if the table does not list it."""
        return next((system.trained for system in self.systems
                     if (system.setting, system.model) == (setting, model)), [model])

    def systems_for(self, setting: str, models: Collection[str] = ()) -> list[System]:
        """The systems to train for these models (none: for the paper's table); for a vote, its voters."""
        own = [system for system in self.systems if system.setting == setting]
        asked = [system for system in own if (system.model in models if models else system.row != NONE)]
        wanted = {model for system in asked for model in system.trained}
        return [system for system in own if system.model in wanted]

    def start_of(self, system: System) -> Optional[System]:
        """The system whose trained model this one starts from."""
        return next((other for other in self.systems
                     if other.setting == system.setting and other.model == system.start), None)

    def base(self, model: str) -> Optional[str]:
        """The model that this one is a variant of: ca-r for ca-r-uniform."""
        presets = [system.preset for system in self.systems if system.model == model]
        others = {system.model for system in self.systems if model.startswith(f"{system.model}-")}
        base = presets[0] if presets else max(others, key=len, default=model)
        return None if base == model else base

    @property
    def summaries(self) -> list[str]:
        """The columns that average over languages."""
        return [AVERAGE] if AVERAGE in self.columns else self.columns

    def is_full_vote(self, seed: str) -> bool:
        """Is `1+2+3` the vote of all seeds of the paper?"""
        return len(self.seeds) > 1 and seed == "+".join(self.seeds)

    @property
    def runs_per_group(self) -> int:
        return len(self.folds or [NONE]) * len(self.seeds)

    def data_file(self, pattern: str, setting: str, language: str, fold: str) -> str:
        """The path of `train`, `dev` or `test` below the data folder."""
        return pattern.replace("LANGUAGE", language).replace("SETTING", setting).replace("FOLD", fold)


def load_table(name: str) -> PaperTable:
    """Read the facts of one of the paper's tables."""
    if name not in NAMES:
        raise InputError(f"there is no table {name!r}; the tables are {', '.join(NAMES)}")
    folder = EXPERIMENTS / name
    languages = rows_of(EXPERIMENTS / name / "languages.tsv")
    facts = {key: value.strip() for key, value in (line.split(":", 1) for line in lines_of(folder / "facts.txt"))}
    notes = folder / "notes.tsv"
    return PaperTable(
        name=name,
        title=facts["title"], report=facts["report"], format=facts["format"],
        train=facts["train"], dev=facts["dev"], test=facts["test"],
        settings=facts["settings"].split(), folds=facts["folds"].split(), seeds=facts["seeds"].split(),
        languages={row["language"]: row["column"] for row in languages},
        systems=[System(row["setting"], row["model"], row["table"], row["start"], row["epochs"], row["patience"],
                        row["options"]) for row in rows_of(folder / "models.tsv")],
        paper={row.pop("system"): row for row in rows_of(folder / "paper.tsv")},
        notes=[(row["systems"].split(), row["note"]) for row in rows_of(notes)] if notes.exists() else [],
        measure=MEASURES[facts.get("measure", "accuracy")], source=facts.get("source", "the paper"),
        thinned={setting: int(n) for setting, n in (each.split("=") for each in facts.get("thinned", "").split())},
        formats={row["language"]: row["format"] for row in languages if row.get("format")},
        only={row["language"]: row["settings"].split() for row in languages if row.get("settings")},
        data=facts.get("data", name),
    )


def lines_of(path: PathLike) -> list[str]:
    try:
        return read_bytes(path).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path} is damaged: it is not UTF-8 text") from None


def rows_of(path: PathLike) -> list[dict[str, str]]:
    """The rows of a TSV file with a header."""
    header, *lines = [line.split("\t") for line in lines_of(path)]
    return [dict(zip(header, line)) for line in lines]
