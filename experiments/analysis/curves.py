"""How do accuracy and time of CA-R grow with the training data? Measure it, or print what was measured.

Usage:
  curves.py run --data=FOLDER --results=FOLDER [options]
  curves.py [--format=FORMAT] [LIST]

`run` trains on lines at even distances in the training data of SIGMORPHON 2016, with all of its dev and test data and
as many epochs as the paper has for this much data. Results are added to LIST. The same command continues where it
stopped: what is in LIST is not trained again. The runs on all lines are those of Table 1 of the paper, in
experiments/sigmorphon2016/measured.tsv.

Arguments:
  LIST             the list of trainings (default: experiments/curves/measured.tsv)

Options:
  --data=FOLDER    with LANGUAGE-task1-train and so on
  --results=FOLDER  for the trainings
  --list=FILE      LIST, for `run`
  --languages=x,y  [default: arabic,finnish,german,russian,turkish]
  --lines=LIST     sizes of the training data [default: 100,300,1000,3000,10000]
  --engine=NAME    [default: native]
  --jobs=N         trainings at a time [default: 2]
  --format=FORMAT  text, markdown or tsv [default: text]
  -h --help        show this
"""
from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any, Optional

from docopt import docopt
from frames import mean, number, runs_of, show
from trainings import Row, TrainingList, evenly

from il_morph.errors import InputError, errors_for_people
from il_morph.files import write_atomically
from il_morph.reproduction.blocks import Block, Grid, Remarks
from il_morph.reproduction.paper_tables import EXPERIMENTS, lines_of, load_table
from il_morph.run_folder import RunFolder
from il_morph.runs.asked import make_spec
from il_morph.runs.processes import make_folder
from il_morph.runs.spec import Task
from il_morph.runs.workers import train_jobs
from il_morph.values import integer

MEASURED = EXPERIMENTS / "curves" / "measured.tsv"
MODEL, SEED = "ca-r", "1"
KEYS = ("model", "engine", "language", "lines", "seed", "epochs", "patience")
EPOCHS = {300: (60, 15), 3000: (50, 10), inf: (30, 5)}  # and patience, for at most so many lines
TABLE = "sigmorphon2016"
LEGEND = (f"Accuracy on the same test data of one CA-R model (seed {SEED}), and CPU minutes of training. The lines are "
          "taken at even distances from one file; all: some 12,000 lines.")


# The trainings

def run(args: dict[str, Any]) -> int:
    """The smallest first."""
    measured, jobs = TrainingList(Path(args["--list"] or MEASURED), KEYS), integer("--jobs", args["--jobs"], 1)
    for lines in [integer("--lines", each, 1) for each in args["--lines"].split(",")]:
        epochs = next(found for most, found in EPOCHS.items() if lines <= most)
        keys = [(MODEL, args["--engine"], language, str(lines), SEED, *map(str, epochs))
                for language in args["--languages"].split(",")]
        known = measured.read()
        tasks = {key: task_of(Path(args["--data"]), Path(args["--results"]), dict(zip(KEYS, key)))
                 for key in keys if key not in known}
        code = train_jobs([[task] for task in tasks.values() if not task.folder.finished], [], jobs)
        measured.add([measured.row(key, task.folder) for key, task in tasks.items() if task.folder.finished])
        if code:
            return code
    return 0


def task_of(data: Path, results: Path, row: Row) -> Task:
    """The training; its data is written."""
    folder = RunFolder(results / row["engine"] / row["language"] / row["lines"])
    train, wanted = folder.path.with_suffix(".tsv"), int(row["lines"])
    lines = lines_of(data / f"{row['language']}-task1-train")
    if wanted > len(lines):
        raise InputError(f"{row['language']} has {len(lines)} lines: lower --lines={wanted}")
    make_folder(train.parent)
    write_atomically(train, "".join(f"{line}\n" for line in evenly(lines, wanted)))
    spec = make_spec(train, data / f"{row['language']}-task1-dev", folder.path, {
        "model": row["model"], "engine": row["engine"], "epochs": int(row["epochs"]),
        "patience": int(row["patience"]), "dynet_seed": int(row["seed"]),
        "test_path": str(data / f"{row['language']}-task1-test")})
    return Task(spec, f"{row['language']} {row['lines']} lines", f"{row['lines']} lines")


# The table

def blocks(path: Path) -> Iterator[Block]:
    rows = TrainingList(path, KEYS).read().values()
    sizes = sorted({int(row["lines"]) for row in rows})
    found = {(row["language"], int(row["lines"])): (float(row["test"]), float(row["cpu_minutes"])) for row in rows}
    found.update({(run.language, inf): (run.test, run.cpu_minutes) for run in runs_of(load_table(TABLE), None)
                  if (run.model, run.seed) == (MODEL, SEED)})
    columns = [*sizes, inf]
    languages = sorted({row["language"] for row in rows})
    names = [*(f"{size:,} lines" for size in sizes), "all"]
    header = ["language", *(cell for name in names for cell in (name, "minutes"))]
    yield Grid(header, [*(row_of(language, [found.get((language, size)) for size in columns])
                          for language in languages), means(languages, columns, found)])
    yield Remarks([LEGEND])


def row_of(name: str, cells: Sequence[Optional[tuple[float, float]]]) -> list[str]:
    return [name, *(number(value) for cell in cells for value in cell or (None, None))]


def means(languages: Sequence[str], sizes: Sequence[float], found: dict) -> list[str]:
    """Where all languages have a run."""
    columns = [[found.get((language, size)) for language in languages] for size in sizes]
    return row_of("mean", [None if None in column else (mean(cell[0] for cell in column),
                                                        mean(cell[1] for cell in column)) for column in columns])


def main(argv: Optional[Sequence[str]] = None) -> int:
    args = docopt(__doc__, argv)
    if args["run"]:
        return run(args)
    show([*blocks(Path(args["LIST"] or MEASURED))], args["--format"])
    return 0


if __name__ == "__main__":
    with errors_for_people("curves.py"):
        sys.exit(main())
