"""Inflection of 2022 as the shared task counts it: over the test lines of all languages together, and by what is seen.

Usage:
  partitions.py measure --data=DIR RESULTS
  partitions.py [--format=FORMAT]

`measure` counts the right predictions of all finished runs and votes in a results folder of bin/run_inflection2022.sh
small, and adds them to experiments/inflection2022small/partitions.tsv.

Options:
  --data=DIR       the data of the runs
  --format=FORMAT  text, markdown or tsv [default: text]
  -h --help        show this
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Optional

from docopt import docopt
from frames import MISSING, PROJECT, number, show

from il_morph.data.formats import SIGMORPHON2017, read_samples
from il_morph.errors import InputError, errors_for_people
from il_morph.evaluation.analysis import correct_lines, partition
from il_morph.evaluation.entries import read_gold, read_predictions
from il_morph.files import write_atomically
from il_morph.reproduction.blocks import Block, Grid
from il_morph.reproduction.paper_tables import load_table, rows_of
from il_morph.reproduction.run_list import read_runs
from il_morph.reproduction.runs import grouped
from il_morph.run_folder import ResultsTree, search_name

TABLE = "inflection2022small"
FOLDER = PROJECT / "experiments" / TABLE
MEASURED, PUBLISHED = FOLDER / "partitions.tsv", FOLDER / "partitions-published.tsv"
PARTITIONS = {"both seen": "lemma seen, features seen", "features new": "lemma seen, features unseen",
              "lemma new": "lemma unseen, features seen", "both new": "lemma unseen, features unseen"}
SEARCH = f"{search_name(4)}.test"
KEYS = ("setting", "model", "language", "seed")
COLUMNS = (*KEYS, *(f"{name}, {what}" for name in PARTITIONS for what in ("lines", "right")))
TEXT = ("Test accuracy in percent, beam 4, over the test lines of all languages together: of all lines, and by whether "
        "lemma and feature bundle are seen in training. Published figures are for all languages.")

Row = dict[str, str]


def main(argv: Optional[Sequence[str]] = None) -> None:
    args = docopt(__doc__, argv)
    if args["measure"]:
        add(list(measured(Path(args["--data"]), ResultsTree(args["RESULTS"]))))
    else:
        show(printed(), args["--format"])


def measured(data: Path, results: ResultsTree) -> Iterator[Row]:
    """A row for each finished run and vote."""
    table = load_table(TABLE)
    for run in read_runs(table, results.root):
        train, gold = (data / table.data_file(pattern, run.setting, run.language, "")
                       for pattern in (table.train, table.test))
        predictions = results.run(run.setting, run.model, run.language, "", run.seed).predictions(SEARCH)
        yield {**{key: getattr(run, key) for key in KEYS}, **counts(train, gold, predictions)}


def counts(train: Path, gold: Path, predictions: Path) -> dict[str, str]:
    """Lines and right predictions of each partition."""
    entries, fmt = read_gold(gold, SIGMORPHON2017), SIGMORPHON2017
    right = correct_lines(entries, read_predictions(predictions, fmt))
    lines = partition(entries, read_samples(train, fmt), fmt)
    found = {name: lines.get(group, []) for name, group in PARTITIONS.items()}
    return {f"{name}, {what}": str(value) for name, own in found.items()
            for what, value in (("lines", len(own)), ("right", sum(right[line] for line in own)))}


def add(rows: Sequence[Row]) -> None:
    """Rows replace those of the same runs."""
    if not rows:
        raise InputError("there are no finished runs: name a results folder of bin/run_inflection2022.sh small")
    before = rows_of(MEASURED) if MEASURED.exists() else []
    kept = {tuple(row[key] for key in KEYS): row for row in [*before, *rows]}
    lines = [COLUMNS, *([row[column] for column in COLUMNS] for _, row in sorted(kept.items()))]
    write_atomically(MEASURED, "".join("\t".join(line) + "\n" for line in lines))


def printed() -> list[Block]:
    """The published systems, then a line for each seed and each vote."""
    header = ["system", "models", "languages", "all", *PARTITIONS]
    rows = [[row["system"], MISSING, MISSING, *(number(figure(row[name]), 2) for name in ("all", *PARTITIONS))]
            for row in rows_of(PUBLISHED)]
    own = grouped(rows_of(MEASURED) if MEASURED.exists() else [], lambda row: (row["model"], row["seed"]))
    total = len(load_table(TABLE).languages)
    for (model, seed), runs in sorted(own.items(), key=lambda item: (item[0][0], item[0][1].count("+"), item[0][1])):
        which = f"vote of {seed.count('+') + 1}" if "+" in seed else f"seed {seed}"
        rows.append([model, which, f"{len(runs)} of {total}", percent(runs, list(PARTITIONS)),
                     *(percent(runs, [name]) for name in PARTITIONS)])
    return [load_table(TABLE).title, TEXT, Grid(header, rows)]


def figure(cell: str) -> Optional[float]:
    return None if cell == "-" else float(cell)


def percent(runs: Sequence[Row], names: Sequence[str]) -> str:
    lines, right = (sum(int(run[f"{name}, {what}"]) for run in runs for name in names) for what in ("lines", "right"))
    return number(100 * right / lines if lines else None, 2)


if __name__ == "__main__":
    with errors_for_people("partitions.py"):
        main()
