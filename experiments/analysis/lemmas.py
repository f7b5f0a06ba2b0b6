"""Lemma accuracy on treebanks: measure finished trainings, or print what was measured.

Usage:
  lemmas.py measure --treebank=NAME --train=FILE --test=FILE RESULTS...
  lemmas.py [--format=FORMAT]

`measure` lemmatizes the test file with a model, or with the vote of several, and adds rows to
experiments/treebanks/measured.tsv: the network alone, and with the lexicon first.

Options:
  --treebank=NAME  its name in the table
  --train=FILE     the training file: its forms are seen ones
  --test=FILE      CoNLL-U with gold tags and lemmas
  --format=FORMAT  text or markdown [default: text]
  -h --help        show this
"""
from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from docopt import docopt  # noqa: E402

import il_morph  # noqa: E402
from il_morph.data.conllu import conllu_block  # noqa: E402
from il_morph.data.formats import Treebank  # noqa: E402
from il_morph.errors import InputError, errors_for_people  # noqa: E402
from il_morph.evaluation.treebanks import lemma_accuracy  # noqa: E402
from il_morph.files import write_atomically  # noqa: E402
from il_morph.model.lexicon import LEXICON_RULES, OFF, UNANIMOUS  # noqa: E402
from il_morph.run_folder import RunFolder  # noqa: E402

MEASURED = PROJECT / "experiments" / "treebanks" / "measured.tsv"
GROUPS = {"all": "all", "seen in training": "seen", "unseen in training": "unseen"}
KEYS = ("treebank", "features", "average", "seeds", "epochs", "beam", "lexicon")
COLUMNS = (*KEYS, *(f"{group}_{what}" for group in GROUPS.values() for what in ("words", "correct")), "cpu_minutes")
SOURCES = {"none": "none", "upos": "UPOS", "upos+feats": "UPOS, FEATS", "xpos": "XPOS"}
TITLES = ("treebank", "features", "models", "epochs", "network alone", "lexicon first", "seen forms", "unseen forms",
          "CPU minutes")


def main(argv: Optional[Sequence[str]] = None) -> None:
    args = docopt(__doc__, argv)
    if args["measure"]:
        add(measured(args["--treebank"], Path(args["--train"]), Path(args["--test"]), args["RESULTS"]))
    else:
        print(printed(args["--format"] == "markdown"), end="")


def measured(treebank: str, train: Path, test: Path, results: Sequence[str]) -> list[dict[str, str]]:
    """A row for each width of the beam and rule of the lexicon."""
    model, stats = il_morph.load(*results), [json.loads(RunFolder(each).stats.read_bytes()) for each in results]
    if not isinstance(model.format, Treebank):
        raise InputError(f"{results[0]} was not trained on CoNLL-U")
    content = test.read_bytes()
    gold, shown = conllu_block(content, str(test)), conllu_block(train.read_bytes(), str(train))
    common = {"treebank": treebank, "features": SOURCES[model.format.source],
              "average": str(stats[0]["settings"].get("average_weights", 0)),
              "seeds": ",".join(str(each["seed"]) for each in stats),
              "epochs": ",".join(str(each["training"]["epochs"]) for each in stats),
              "cpu_minutes": f"{sum(each['training']['cpu_seconds'] for each in stats) / 60:.1f}"}
    rows = []
    for beam in (1, 4):
        for rule in LEXICON_RULES:
            text = il_morph.predict_conllu(model, content.decode("utf-8"), lexicon=rule, beam_width=beam)
            counts = {f"{group}_{what}": "0" for group in GROUPS.values() for what in ("words", "correct")}
            for group in lemma_accuracy(gold, conllu_block(text.encode("utf-8"), "predictions"), shown):
                if group.name in GROUPS:
                    counts[f"{GROUPS[group.name]}_words"] = str(group.words)
                    counts[f"{GROUPS[group.name]}_correct"] = str(group.correct)
            rows.append({**common, "beam": str(beam), "lexicon": rule, **counts})
    return rows


def read() -> list[dict[str, str]]:
    with open(MEASURED, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def add(rows: Sequence[dict[str, str]]) -> None:
    """Rows replace those that measured the same."""
    kept = {tuple(row[key] for key in KEYS): row for row in [*(read() if MEASURED.exists() else ()), *rows]}
    lines = [COLUMNS, *([row[column] for column in COLUMNS] for _, row in sorted(kept.items()))]
    write_atomically(MEASURED, "".join("\t".join(line) + "\n" for line in lines))


def printed(markdown: bool) -> str:
    """A line for each model or vote, with beam 4."""
    rows = [TITLES, *(line(row) for row in read() if row["beam"] == "4" and row["lexicon"] == UNANIMOUS)]
    if not markdown:
        return "".join("\t".join(row) + "\n" for row in rows)
    rule = ["---"] * 2 + ["---:"] * (len(TITLES) - 2)
    return "".join("| " + " | ".join(row) + " |\n" for row in (rows[0], rule, *rows[1:]))


def line(row: dict[str, str]) -> list[str]:
    alone = next(each for each in read() if all(each[key] == (OFF if key == "lexicon" else row[key]) for key in KEYS))
    seeds = row["seeds"].split(",")
    models = f"seed {seeds[0]}" if len(seeds) == 1 else f"vote of seeds {', '.join(seeds)}"
    epochs = ", ".join(dict.fromkeys(row["epochs"].split(",")))
    note = "" if float(row["average"]) else ", not averaged"
    return [row["treebank"], row["features"], models + note, epochs, percent(alone, "all"), percent(row, "all"),
            percent(row, "seen"), percent(row, "unseen"), row["cpu_minutes"]]


def percent(row: dict[str, str], group: str) -> str:
    if not int(row[f"{group}_words"]):
        return "–"
    return f"{100 * int(row[f'{group}_correct']) / int(row[f'{group}_words']):.2f}"


if __name__ == "__main__":
    with errors_for_people("lemmas.py"):
        main()
