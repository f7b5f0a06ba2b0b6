"""Tiny data, and ways to run `il-morph` on it: in a process of its own, or faster in this one."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from il_morph.commands import main
from il_morph.model.modelfile import Model, load_model

ROOT = Path(__file__).resolve().parents[1]

TRAIN = [
    ("walk", "V;PST", "walked"), ("talk", "V;PST", "talked"), ("bake", "V;PST", "baked"),
    ("walk", "V;PRS", "walks"), ("talk", "V;PRS", "talks"), ("bake", "V;PRS", "bakes"),
    ("dog", "N;PL", "dogs"), ("cat", "N;PL", "cats"), ("ox", "N;PL", "oxen"), ("geese", "N;SG", "goose"),
]
DEV = [("walk", "V;PST", "walked"), ("bake", "V;PRS", "bakes"), ("cat", "N;PL", "cats"), ("tax", "N;PL", "taxes")]
TEST = [("talk", "V;PRS", "talks"), ("dog", "N;PL", "dogs"), ("bee", "N;PL", "bees")]

SMALL = ["--input=8", "--feat-input=4", "--enc-hidden=8", "--dec-hidden=8", "--dynet-mem=16"]
SHORT = ["--epochs=1", "--dynet-seed=1"]


def as_2017(samples) -> str:
    return "".join(f"{lemma}\t{form}\t{tag}\n" for lemma, tag, form in samples)


def as_2016(samples) -> str:
    return "".join(f"{lemma}\t{avm(tag)}\t{form}\n" for lemma, tag, form in samples)


def avm(tag: str) -> str:
    """`pos=V,tense=PST` of `V;PST`."""
    pos, value = tag.split(";")
    return f"pos={pos},{'tense' if pos == 'V' else 'num'}={value}"


def without_features(samples) -> str:
    return "".join(f"{lemma}\t\t{form}\n" for lemma, _, form in samples)


def in_two_columns(samples) -> str:
    return "".join(f"{lemma}\t{form}\n" for lemma, _, form in samples)


def covered_2017(samples) -> str:
    return "".join(f"{lemma}\t{tag}\n" for lemma, tag, _ in samples)


LAYOUTS = {"": as_2017, "2016": as_2016, "plain": without_features, "columns": in_two_columns, "covered": covered_2017}


class Data:
    """The parts train, dev and test, written in each layout: `data("dev")`, `data("dev", "2016")`."""

    def __init__(self, folder: Path):
        self.folder = folder
        for part, samples in (("train", TRAIN), ("dev", DEV), ("test", TEST)):
            for name, layout in LAYOUTS.items():
                self.path(part, name).write_text(layout(samples), encoding="utf-8")

    def path(self, part: str, layout: str = "") -> Path:
        return self.folder / f"{part}{layout}"

    def __call__(self, part: str, layout: str = "") -> str:
        return str(self.path(part, layout))


@dataclass
class Run:
    """What a training run left in its folder."""

    folder: Path

    @property
    def stats(self) -> dict:
        return json.loads(self.text("f.stats"))

    @property
    def settings(self) -> dict:
        return self.stats["settings"]

    @property
    def log(self) -> list[dict[str, str]]:
        """A dictionary for each row of f.log."""
        header, *rows = [line.split("\t") for line in self.text("f.log").splitlines()]
        assert all(len(row) == len(header) for row in rows)
        return [dict(zip(header, row)) for row in rows]

    @property
    def losses(self) -> list[float]:
        return [float(row["loss"]) for row in self.log if row["loss"] != "NA"]

    @property
    def model_path(self) -> str:
        return str(self.folder / "f.model")

    @property
    def model(self) -> Model:
        return load_model(self.model_path)

    @property
    def weights(self) -> dict:
        return self.model.weights

    @property
    def model_bytes(self) -> bytes:
        return (self.folder / "f.model").read_bytes()

    @property
    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def predictions(self, name: str) -> list[list[str]]:
        return [line.split("\t") for line in self.text(f"f.{name}.predictions").splitlines()]


def with_defaults(flags, defaults) -> list[str]:
    """The flags, and of the default ones those that are not among them."""
    given = {flag.split("=")[0] for flag in flags}
    return [default for default in defaults if default.split("=")[0] not in given] + [*flags]


def training_arguments(data: Data, folder: Path, flags, layout: str = "", defaults=(*SMALL, *SHORT)) -> list[str]:
    formats = {"": ["--sigm2017format"], "plain": ["--no-feat-format"], "columns": ["--no-feat-format"], "2016": []}
    return ["train", *formats[layout], *with_defaults(flags, defaults), data("train", layout), data("dev", layout),
            str(folder)]


def il_morph(*arguments: str, **options) -> subprocess.CompletedProcess:
    """Run the command in a process of its own; its stdout and stderr are text."""
    return subprocess.run([sys.executable, "-m", "il_morph", *arguments], cwd=ROOT, encoding="utf-8",
                          capture_output=True, **options)


def environment_without_dynet(folder: Path) -> dict[str, str]:
    """An environment where importing DyNet fails as it does where it is not installed."""
    for module in ("dynet", "_dynet", "dynet_config"):
        (folder / f"{module}.py").write_text(f'raise ModuleNotFoundError("No module named {module!r}")\n')
    return {**os.environ, "PYTHONPATH": str(folder)}


def crossed(one, other) -> list:
    """All pairs. A pair with the first value of neither is slow: each value is tried without it."""
    (first, *_), (second, *_) = one, other
    return [pytest.param(a, b, marks=[] if a == first or b == second else pytest.mark.slow) for a in one for b in other]


def error_of(capsys, *arguments: str) -> str:
    """What a command that must fail says, without the prefix."""
    capsys.readouterr()
    assert main([*arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("il-morph: error: ")
    return captured.err[len("il-morph: error: "):]
