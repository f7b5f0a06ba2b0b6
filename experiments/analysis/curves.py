"""Print how accuracy and time of CA-R grow with the training data, from the lists of runs of two tables.

Usage:
  curves.py [options]

Options:
  --format=FORMAT  text, markdown or tsv [default: text]
  -h --help        show this
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from docopt import docopt
from frames import number, runs_of, show

from il_morph.errors import errors_for_people
from il_morph.reproduction.blocks import Block, Grid, Remarks
from il_morph.reproduction.paper_tables import load_table
from il_morph.reproduction.runs import Run

LANGUAGES = ("arabic", "finnish", "german", "russian", "turkish")
SIZES = {"100 lines": ("sigmorphon2017", "low"), "1,000 lines": ("sigmorphon2017", "medium"),
         "about 12,000 lines": ("sigmorphon2016", "task1")}
MODEL, SEED, VOTE = "ca-r", "1", "1+2+3+4+5"
LEGEND = (f"Accuracy on test data of one CA-R model (seed {SEED}), and minutes of training: CPU time, or c by the "
          "clock where that alone was recorded. The vote is that of five models trained on 100 lines.")


def main(argv: Optional[Sequence[str]] = None) -> None:
    args = docopt(__doc__, argv)
    show(blocks(), args["--format"])


def blocks() -> list[Block]:
    found = {size: runs_in(name, setting, SEED) for size, (name, setting) in SIZES.items()}
    votes = runs_in(*SIZES["100 lines"], VOTE)
    header = ["language", "100 lines, vote", *(cell for size in SIZES for cell in (size, "minutes"))]
    rows = [[language, cells(votes.get(language))[0],
             *(cell for runs in found.values() for cell in cells(runs.get(language)))] for language in LANGUAGES]
    return [Grid(header, rows), Remarks([LEGEND])]


def runs_in(name: str, setting: str, seed: str) -> dict[str, Run]:
    return {run.language: run for run in runs_of(load_table(name), None)
            if (run.setting, run.model, run.seed) == (setting, MODEL, seed)}


def cells(run: Optional[Run]) -> list[str]:
    if run is None:
        return [number(None), number(None)]
    clock = run.cpu_minutes is None and run.minutes is not None
    return [number(run.test), number(run.minutes if clock else run.cpu_minutes) + " c" * clock]


if __name__ == "__main__":
    with errors_for_people("curves.py"):
        main()
