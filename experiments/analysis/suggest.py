"""Is it worth asking what `il-morph suggest` says, rather than random words? Simulate it, or print what was measured.

Usage:
  suggest.py run --data=FOLDER --results=FOLDER [options]
  suggest.py [--by-language] [--format=FORMAT] [LIST]

`run` starts from the 100 lines of train-low (SIGMORPHON 2017). The other lines of train-medium are the pool, their
outputs are hidden. In each step lines of the pool are chosen, by `suggest` with the model of the step before or at
random, get their outputs, and a new model is trained on all lines so far. Results are added to LIST. The same command
goes on where it was stopped: what is in LIST is not trained again, and a training that was interrupted goes on.

Arguments:
  LIST             the list of trainings (default: experiments/suggest/measured.tsv)

Options:
  --data=FOLDER    with LANGUAGE-train-low and so on
  --results=FOLDER  for the trainings
  --list=FILE      LIST, for `run`
  --languages=x,y  [default: arabic,danish,finnish,german,hungarian,navajo,russian,spanish,swedish,turkish]
  --seeds=LIST     seeds of training and of random choice, such as 1-3 [default: 1-3]
  --steps=N        how often lines are added [default: 4]
  --add=N          lines that are added in a step [default: 100]
  --dev-lines=N    so many lines of the dev data, evenly chosen: they are decoded in each epoch [default: 200]
  --model=NAME     preset of `il-morph train` [default: ca-d]
  --epochs=N       [default: 40]
  --patience=N     [default: 10]
  --engine=NAME    [default: native]
  --jobs=N         trainings at a time [default: 2]
  --by-language    also a row for each language
  --format=FORMAT  text, markdown or tsv [default: text]
  -h --help        show this
"""
from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Optional

from docopt import docopt
from frames import mean, number, pd, probability, show, signed
from significance import signed_rank_test
from trainings import TrainingList, evenly

import il_morph
from il_morph.data.formats import SIGMORPHON2017, Sample, read_samples
from il_morph.errors import InputError, errors_for_people
from il_morph.files import write_atomically
from il_morph.model.suggestions import suggestions
from il_morph.reproduction.blocks import Block, Grid, Remarks
from il_morph.reproduction.paper_tables import EXPERIMENTS
from il_morph.run_folder import RunFolder
from il_morph.runs.asked import make_spec, seeds_of
from il_morph.runs.processes import make_folder
from il_morph.runs.spec import Task
from il_morph.runs.workers import train_jobs
from il_morph.values import integer

MEASURED = EXPERIMENTS / "suggest" / "measured.tsv"
START, SUGGEST, RANDOM = "start", "suggest", "random"
COUNTS = ("add", "dev_lines", "epochs", "patience")
HOW = ["model", "engine", *COUNTS]
KEYS = [*HOW, "language", "seed", "arm", "lines"]


# The simulation

@dataclass(frozen=True)
class How:
    """What all trainings have in common."""

    model: str
    engine: str
    add: int
    dev_lines: int
    epochs: int
    patience: int

    @classmethod
    def of(cls, args: dict[str, Any]) -> How:
        flags = {each.name: f"--{each.name.replace('_', '-')}" for each in fields(cls)}
        return cls(**{name: integer(flag, args[flag], 1) if name in COUNTS else args[flag]
                      for name, flag in flags.items()})

    @property
    def name(self) -> str:
        return "-".join(str(value) for value in asdict(self).values())


@dataclass(frozen=True)
class Chain:
    """The trainings of a language, a seed and a way to choose, one for each size."""

    how: How
    data: Path
    results: Path
    language: str
    seed: int
    arm: str

    def folder(self, step: int) -> RunFolder:
        return RunFolder(self._place(step) / str(self.size(step)))

    def size(self, step: int) -> int:
        return len(self.start) + step * self.how.add

    def key(self, step: int) -> tuple[str, ...]:
        how = [str(getattr(self.how, name)) for name in HOW]
        return (*how, self.language, str(self.seed), START if step == 0 else self.arm, str(self.size(step)))

    def task(self, step: int) -> Task:
        """The training; its data is written."""
        how, folder = self.how, self.folder(step)
        train, dev = folder.path.with_suffix(".tsv"), self.results / how.name / self.language / "dev.tsv"
        if not train.exists():
            write(train, [*self.start] if step == 0 else [*self.lines(step - 1), *self.chosen(step)])
        if not dev.exists():
            write(dev, evenly(self._read("dev"), how.dev_lines))
        spec = make_spec(train, dev, folder.path, {
            "model": how.model, "engine": how.engine, "epochs": how.epochs, "patience": how.patience,
            "dynet_seed": self.seed, "sigm2017format": True,
            "test_path": str(self.data / f"{self.language}-uncovered-test")})
        return Task(spec, " ".join(self.key(step)[len(HOW):]), f"{self.size(step)} lines")

    def lines(self, step: int) -> list[Sample]:
        """The training data of a step that was made."""
        return read_samples(self.folder(step).path.with_suffix(".tsv"), SIGMORPHON2017, need_output=True)

    def chosen(self, step: int) -> list[Sample]:
        """The lines that are added in this step."""
        if self.arm == RANDOM:
            pool = self.pool
            random.Random(f"{self.language} {self.seed}").shuffle(pool)
            return pool[(step - 1) * self.how.add:step * self.how.add]
        before = {*self.lines(step - 1)}
        left = {(sample.input, sample.tag): sample for sample in self.pool if sample not in before}
        hidden = [replace(sample, output=None) for sample in left.values()]
        asked = suggestions(il_morph.load(self.folder(step - 1).path), hidden, self.how.add)
        return [left[each.input, each.features] for each in asked]

    @cached_property
    def start(self) -> list[Sample]:
        return self._read("train-low")

    @property
    def pool(self) -> list[Sample]:
        """Without what the start has."""
        known = {(sample.input, sample.tag) for sample in self.start}
        return [sample for sample in self._read("train-medium") if (sample.input, sample.tag) not in known]

    def _place(self, step: int) -> Path:
        arm = START if step == 0 else self.arm
        return self.results / self.how.name / self.language / str(self.seed) / arm

    def _read(self, part: str) -> list[Sample]:
        return read_samples(self.data / f"{self.language}-{part}", SIGMORPHON2017, need_output=True)


def write(path: Path, samples: Sequence[Sample]) -> None:
    make_folder(path.parent)
    write_atomically(path, "".join(SIGMORPHON2017.line(sample, sample.target) + "\n" for sample in samples))


def run(args: dict[str, Any]) -> int:
    """Step by step, since a step needs the models of the one before."""
    how, measured = How.of(args), TrainingList(Path(args["--list"] or MEASURED), KEYS)
    steps, jobs = integer("--steps", args["--steps"], 0), integer("--jobs", args["--jobs"], 1)
    chains = [Chain(how, Path(args["--data"]), Path(args["--results"]), language, seed, arm)
              for language in args["--languages"].split(",") for seed in seeds_of(args["--seeds"])
              for arm in (SUGGEST, RANDOM)]
    for chain in chains:
        if chain.size(steps) > len(chain.start) + len(chain.pool):
            raise InputError(f"{chain.language} has {len(chain.pool)} lines to choose from: lower --steps or --add")
    for step in range(steps + 1):
        known = measured.read()
        waiting = [chain for chain in chains if any(chain.key(each) not in known for each in range(step, steps + 1))]
        places = {chain.folder(step).path: chain for chain in waiting}  # both arms share the start
        unfinished = [chain.task(step) for chain in places.values() if not chain.folder(step).finished]
        code = train_jobs([[task] for task in unfinished], [], jobs)
        measured.add([measured.row(chain.key(step), chain.folder(step)) for chain in places.values()
                      if chain.folder(step).finished])
        if code:
            return code
    return 0


# The table

HEADER = ["lines", "languages", "pairs", "random", "suggest", "difference", "standard error", "p", "p, languages"]
LEGEND = ("Test accuracy with beam 4, mean over pairs of trainings: the same language, seed and size. Difference: "
          "suggest minus random, with its standard error over pairs. p: the probability of as large a difference by "
          "chance, by Wilcoxon's signed-rank test (two-sided, exact) over pairs, and over means of languages.")


def blocks(path: Path, by_language: bool) -> Iterator[Block]:
    rows = TrainingList(path, KEYS).read()
    if not rows:
        raise InputError(f"{path} has no trainings: make some with `suggest.py run`")
    frame = pd.DataFrame(rows.values()).astype({"test": float, "cpu_minutes": float, "lines": int})
    for values, own in frame.groupby(HOW, sort=False):
        yield ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in zip(HOW, values))
        yield from tables(own, by_language)
    yield Remarks([LEGEND])


def tables(frame: pd.DataFrame, by_language: bool) -> Iterator[Block]:
    start = frame[frame["arm"] == START]
    pairs = frame[frame["arm"] != START].pivot_table(
        index=["lines", "language", "seed"], columns="arm", values="test").reindex(columns=[RANDOM, SUGGEST]).dropna()
    first = [[str(lines), str(own["language"].nunique()), str(len(own)), number(mean(own["test"])),
              number(mean(own["test"])), *["–"] * 4] for lines, own in start.groupby("lines")]
    yield Grid(HEADER, [*first, *(row(str(lines), own) for lines, own in pairs.groupby("lines"))])
    if by_language:
        yield curves(start, pairs)


def row(lines: str, pairs: pd.DataFrame) -> list[str]:
    by = pairs[SUGGEST] - pairs[RANDOM]
    languages = by.groupby("language").mean()
    return [lines, str(len(languages)), str(len(pairs)), number(mean(pairs[RANDOM])), number(mean(pairs[SUGGEST])),
            signed(mean(by), 2), number(by.sem(), 2), probability(signed_rank_test(by)),
            probability(signed_rank_test(languages))]


def curves(start: pd.DataFrame, pairs: pd.DataFrame) -> Grid:
    """A row for each language: means over seeds, random and suggest at each size."""
    sizes = sorted(pairs.index.unique("lines"))
    means = pairs.groupby(["language", "lines"])[[RANDOM, SUGGEST]].mean()
    header = ["language", "start", *(f"{size}, {arm}" for size in sizes for arm in (RANDOM, SUGGEST))]
    rows = [[language, number(mean(own["test"])),
             *(number(means[arm].get((language, size))) for size in sizes for arm in (RANDOM, SUGGEST))]
            for language, own in start.groupby("language")]
    return Grid(header, rows)


def main(argv: Optional[Sequence[str]] = None) -> int:
    args = docopt(__doc__, argv)
    if args["run"]:
        return run(args)
    show([*blocks(Path(args["LIST"] or MEASURED), args["--by-language"])], args["--format"])
    return 0


if __name__ == "__main__":
    with errors_for_people("suggest.py"):
        sys.exit(main())
