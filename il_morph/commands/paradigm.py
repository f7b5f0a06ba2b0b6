"""Show all forms of a lemma.

Usage:
  il-morph paradigm [options] MODEL LEMMA...

Prints one form for each feature bundle of the training data, with its probability.

Arguments:
  MODEL  the f.model of a training run, its results folder, or a folder of seeds, which vote
  LEMMA  the lemma; each lemma gets its own table

Options:
  --pos=POS         only bundles with this part of speech (the first feature)
  --format=NAME     text, tsv (lemma, features, form, probability) or markdown (default text)
  --beam-width=N    width of the beam; 1 or 0 is greedy search (default 4)
  -h --help         show this text
"""
from __future__ import annotations

from collections.abc import Sequence

from il_morph.commands.arguments import choice, integer, optional, parse_arguments
from il_morph.model.combination import load_predictor
from il_morph.model.predictor import Form
from il_morph.model.search import BEAM_WIDTH
from il_morph.model.settings import MAX_BEAM_WIDTH
from il_morph.report.characters import columns, padded


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    tables_as = {"text": as_text, "tsv": as_tsv, "markdown": as_markdown}
    table = tables_as[optional(choice, args, "--format", "text", list(tables_as))]
    width = optional(integer, args, "--beam-width", BEAM_WIDTH, 0, MAX_BEAM_WIDTH)
    predictor = load_predictor([args["MODEL"]])
    tables = [table(lemma, predictor.paradigm(lemma, args["--pos"], width)) for lemma in args["LEMMA"]]
    print(("\n" if table is as_tsv else "\n\n").join(tables))
    return 0


def as_text(lemma: str, forms: Sequence[Form]) -> str:
    widths = [max(map(columns, column)) for column in zip(*((form.features, form.output) for form in forms))]
    rows = [f"  {padded(form.features, widths[0])}  {padded(form.output, widths[1])}  {form.probability:.3f}"
            for form in forms]
    return "\n".join([lemma, *rows])


def as_tsv(lemma: str, forms: Sequence[Form]) -> str:
    return "\n".join(f"{lemma}\t{form.features}\t{form.output}\t{form.probability:.6f}" for form in forms)


def as_markdown(lemma: str, forms: Sequence[Form]) -> str:
    rows = [f"| {escaped(form.features)} | {escaped(form.output)} | {form.probability:.3f} |" for form in forms]
    return "\n".join([f"| features | {escaped(lemma)} | probability |", "|---|---|---:|", *rows])


def escaped(text: str) -> str:
    """Escape the characters that mean something in Markdown; a bar would end the cell."""
    return "".join(f"\\{character}" if character in "\\|`*_<>[]" else character for character in text)
