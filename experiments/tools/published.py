"""Make experiments/<table>/published.tsv: the published figures by language and fold, under our names.

Usage:
  published.py [--output=FOLDER] REFERENCE

Arguments:
  REFERENCE        a folder with these files:
                   published_results_summary.tsv   the predictions that the authors published, scored:
                                                   dataset, setting, model, kind, language, mean_accuracy,
                                                   std_accuracy_sample
                   cited_rows.tsv                  rows that the paper cites: table, system, column, printed, corrected
                   sgm17top.tsv                    SGM17TOP by language: language, low, medium
                   nwfst_folds.tsv                 NWFST by fold: task (or language), folds in order, mean

Options:
  --output=FOLDER  write FOLDER/<table>/published.tsv (default: FOLDER is experiments)
  -h --help        show this
"""
from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXPERIMENTS.parent))

from docopt import docopt  # noqa: E402

from il_morph.errors import errors_for_people  # noqa: E402
from il_morph.files import write_atomically  # noqa: E402
from il_morph.reproduction.paper_tables import NONE, OF_THE_PAPER, PaperTable, System, load_table, rows_of  # noqa: E402
from il_morph.reproduction.published import COLUMNS, SINGLE, VOTE  # noqa: E402

NUMBERS = {"1": "sigmorphon2016", "2": "celex", "3": "lemmatization", "4": "sigmorphon2017"}
SYSTEMS = {"ca": "CA", "ca-crp": "CA", "ha": "HASTAR", "ca-mrt": "CA-MRT", "ha-mrt": "HASTAR-MRT",
           "ca-mrt-a": "CA-MRT-A", "ca-d": "CA-D", "ca-r": "CA-R", "ca-rm": "CA-RM"}
ALIGNERS = {"--align-cls": ("LCS", "cls"), "--align-smart": ("CRP", "crp")}
SETTINGS = {"0500": "bytask-500"}  # where the authors name them differently

Row = tuple[str, ...]


def names_of(system: System) -> list[str]:
    """The names that the authors may have given a system; those with an aligner end with its name."""
    name = SYSTEMS.get(system.model)
    endings = [ending for flag, both in ALIGNERS.items() if flag in system.options for ending in both]
    return [name, *(f"{name}-{ending}" for ending in endings)] if name else []


def authors_figures(table: PaperTable, reference: Path) -> Iterator[Row]:
    """Of the systems that we train."""
    rows = [row for row in rows_of(reference / "published_results_summary.tsv") if row["dataset"] == table.name]
    found = {(row["setting"], row["model"], row["kind"], row["language"]): row for row in rows}
    for system in table.systems:
        for kind in (VOTE, SINGLE):
            for language, column in table.languages.items():
                places = [(SETTINGS.get(system.setting, system.setting), name, kind, written)
                          for name in names_of(system) for written in (language, column)]
                row = next((found[place] for place in places if place in found), None)
                if row:
                    yield (system.setting, table.row(system.model), kind, language, NONE, row["mean_accuracy"],
                           row["std_accuracy_sample"].replace("NA", NONE))


def cited_figures(table: PaperTable, reference: Path) -> Iterator[Row]:
    """Of the systems that the paper cites; those that it prints in the wrong column are corrected."""
    kind = VOTE if table.report == "ensemble" else SINGLE
    columns = {column: language for language, column in table.languages.items()}
    for row in rows_of(reference / "cited_rows.tsv"):
        if NUMBERS[row["table"]] == table.name and row["column"] in columns:
            yield (table.settings[0], row["system"], kind, columns[row["column"]], NONE,
                   row["corrected"] or row["printed"], NONE)
    if table.name == "sigmorphon2017":
        for setting in table.settings:
            for row in rows_of(reference / "sgm17top.tsv"):
                yield setting, "SGM17TOP", kind, row["language"], NONE, row[setting], NONE
    for row in rows_of(reference / "nwfst_folds.tsv") if table.folds else []:
        if row["task"] in table.languages:
            for fold, accuracy in zip(table.folds, row["folds in order"].split()):
                yield table.settings[0], "NWFST", kind, row["task"], fold, accuracy, NONE


def published(table: PaperTable, reference: Path) -> str:
    rows = [COLUMNS, *cited_figures(table, reference), *authors_figures(table, reference)]
    return "".join("\t".join(row) + "\n" for row in rows)


def main(arguments: dict) -> None:
    texts = {name: published(load_table(name), Path(arguments["REFERENCE"])) for name in OF_THE_PAPER}
    for name, text in texts.items():
        write_atomically(Path(arguments["--output"] or EXPERIMENTS) / name / "published.tsv", text)


if __name__ == "__main__":
    with errors_for_people("published.py"):
        main(docopt(__doc__))
