"""Score predictions against gold data.

Usage:
  il-morph evaluate [options] GOLD PREDICTIONS...

Compares line n of the predictions with line n of the gold data. For one file of predictions it prints
accuracy (in percent), mean Levenshtein distance, the same normalised by length, mean reciprocal rank,
and accuracy per part of speech (the first feature). For several files it prints a row each, then mean,
sample standard deviation, minimum and maximum of the figures shown. In files written with `il-morph
predict --nbest` the first prediction counts; the mean reciprocal rank uses all of them.

With --train=FILE it adds the accuracy for lemmas and features seen or not seen in training, for each
feature, and for lines with unseen characters (with a separator: symbols).

With --output-separator it adds the word error rate (100 - accuracy) and the symbol error rate: all edit
distances over the number of gold symbols, which is the phoneme error rate if the symbols are phonemes.
With --boundary it adds precision, recall and F1 of segments as the 2022 shared task on segmentation
counts: a segment is right as often as gold and prediction of a line both have it, wherever it stands;
counts are added up over all lines.

For CoNLL-U it prints the accuracy of LEMMA over words, as the evaluation script of Universal
Dependencies counts, for all words, for each UPOS, and with --train for seen and unseen forms.

Arguments:
  GOLD         data with outputs; - is standard input
  PREDICTIONS  the same lines with predicted outputs, which may be empty

Options:
  --train=FILE      the training data of the model: break accuracy down by what it contains
  --errors          list the wrong lines, with the position of the first wrong character (wrong_from)
                    and the edits that correct the prediction: x stays, -x goes, +x comes, ␣ is a blank
  --compare         with two files of predictions: is the second better? Paired bootstrap and
                    McNemar's exact test
  --resamples=N     with --compare: resamples of the bootstrap (default 10000)
  --seed=N          with --compare: seed of the bootstrap (default 1)
  --sigm2017format  columns are input, output, features (SIGMORPHON 2017)
  --no-feat-format  columns are input, anything or nothing, output; or input, output
  --columns=LIST    the columns, for example input,features,output; - skips one; without these
                    flags il-morph recognises the columns of GOLD
  --feature-separator=X  the separator between features (default: recognised)
  --unicode=FORM    as-is, nfc, nfd, or nfd-nfc (inputs nfd, outputs nfc) to normalise all files [default: as-is]
  --input-separator=X    the separator between the symbols of inputs (default: none, characters)
  --output-separator=X   the separator between the symbols of outputs, for example " ": distances and
                    edits count symbols
  --boundary=X      what stands between the segments of outputs, for example " @@": one symbol among
                    characters
  --format=FORMAT   text, tsv or json; with tsv, --train, --errors and --compare each print their own
                    table instead of the scores [default: text]
  -h --help         show this text
"""
from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Optional

from il_morph.commands.arguments import (
    Arguments,
    choice,
    integer,
    optional,
    parse_arguments,
    read_options_of,
    refuse_empty,
)
from il_morph.data.conllu import conllu_block, is_conllu
from il_morph.data.formats import ReadOptions, Separators, name_of, read_data, split_lines
from il_morph.errors import InputError
from il_morph.evaluation.analysis import Group, correct_lines, groups_of
from il_morph.evaluation.comparison import Comparison, compare
from il_morph.evaluation.edits import edits, first_difference
from il_morph.evaluation.entries import Entry, gold_entries, read_predictions, warn_of_spelling
from il_morph.evaluation.scores import SYMBOL_SCORES, Scores, evaluate
from il_morph.evaluation.treebanks import lemma_accuracy
from il_morph.files import STREAM, read_bytes

DECIMALS = {"accuracy": 4, "levenshtein": 5, "normalised_levenshtein": 5, "mean_reciprocal_rank": 5,
            **dict.fromkeys(SYMBOL_SCORES, 4)}
SUMMARY: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean, "sd": statistics.stdev, "min": min, "max": max}
ERROR_COLUMNS = ["line", "input", "features", "gold", "prediction", "wrong_from", "edits"]


@dataclass
class Findings:
    """All findings about some files of predictions."""

    names: list[str]
    scores: list[Scores]
    correct: list[list[bool]]
    groups: list[Group] = field(default_factory=list)
    errors: Optional[list[list[list[str]]]] = None  # for each file: rows with the cells of ERROR_COLUMNS
    comparison: Optional[Comparison] = None


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    layout = choice(args, "--format", ("text", "tsv", "json"))
    refuse_empty(args, "--train")
    _check_flags(args, layout)
    if args["GOLD"] != STREAM and not args["--columns"] and is_conllu(
            split_lines(read_bytes(args["GOLD"]), name_of(args["GOLD"]))):
        print(_treebank(args, layout), end="")
        return 0
    findings = _findings(args, read_options_of(args))
    print({"json": _as_json, "tsv": _as_tsv, "text": _as_text}[layout](findings), end="")
    return 0


def _check_flags(args: Arguments, layout: str) -> None:
    given = [flag for flag in ("--train", "--errors", "--compare") if args[flag]]
    if layout == "tsv" and len(given) > 1:
        raise InputError(f"--format=tsv prints one table: give {given[0]} or {given[1]}, or use --format=json")
    if args["--compare"] and len(args["PREDICTIONS"]) != 2:
        raise InputError(f"--compare takes two files of predictions, not {len(args['PREDICTIONS'])}")
    for flag in ("--resamples", "--seed"):
        if args[flag] is not None and not args["--compare"]:
            raise InputError(f"{flag} needs --compare: add it, or leave out {flag}")


def _treebank(args: Arguments, layout: str) -> str:
    """The lemma accuracy of one CoNLL-U file, as printed."""
    unused = [flag for flag in ("--errors", "--compare", "--sigm2017format", "--no-feat-format", "--feature-separator",
                                "--input-separator", "--output-separator", "--boundary") if args[flag]]
    if unused or len(args["PREDICTIONS"]) > 1 or args["--unicode"] != "as-is":
        unused += ["--unicode"] if args["--unicode"] != "as-is" else []
        what = unused[0] if unused else "more than one file of predictions"
        raise InputError(f"{args['GOLD']} is CoNLL-U, and {what} is about lines with columns: leave it out")
    paths = [args["GOLD"], args["PREDICTIONS"][0], *([args["--train"]] if args["--train"] else [])]
    groups = lemma_accuracy(*(conllu_block(read_bytes(path), name_of(path)) for path in paths))
    if layout == "json":
        figures = [{"section": each.section, "name": each.name, "words": each.words, "correct": each.correct,
                    "accuracy": each.accuracy} for each in groups]
        return json.dumps({"groups": figures}, ensure_ascii=False, indent=2) + "\n"
    rows = [["section", "group", "words", "correct", "accuracy"]]
    rows += [[each.section, each.name, str(each.words), str(each.correct), f"{each.accuracy:.2f}"] for each in groups]
    return ("".join("\t".join(row) + "\n" for row in rows) if layout == "tsv" else
            "\n".join("  ".join(row) for row in _padded(rows)) + "\n")


def _findings(args: Arguments, options: ReadOptions) -> Findings:
    resamples = optional(integer, args, "--resamples", 10_000, 100, 10_000_000)
    seed = optional(integer, args, "--seed", 1, 0)
    data = read_data(args["GOLD"], options, need_output=True)
    gold, names = gold_entries(data), args["PREDICTIONS"]
    predictions = [read_predictions(name, data.format, options.unicode, options.separators) for name in names]
    scores = [evaluate(gold, each, data.format, options.separators) for each in predictions]
    for each in predictions:
        warn_of_spelling(gold, each)
    findings = Findings(names, scores, [correct_lines(gold, each) for each in predictions])
    if args["--train"]:
        like_gold = replace(options, expected=data.format, because=f"{data.name} has")
        train = read_data(args["--train"], like_gold, need_output=True)
        findings.groups = groups_of(gold, train.samples, data.format, options.separators)
    if args["--errors"]:
        findings.errors = [_errors(gold, each, options.separators) for each in predictions]
    if args["--compare"]:
        findings.comparison = compare(findings.correct[0], findings.correct[1], resamples, seed)
    return findings


def _errors(gold: Sequence[Entry], predictions: Sequence[Entry], separators: Separators) -> list[list[str]]:
    rows = []
    for one, other in zip(gold, predictions):
        right, given = one.outputs[0], other.outputs[0]
        if right != given:
            pair = separators.outputs(given), separators.outputs(right)
            rows.append([str(one.line), one.input, one.tag, right, given, str(first_difference(*pair)), edits(*pair)])
    return rows


# Layouts

def _as_text(findings: Findings) -> str:
    alone = len(findings.names) == 1
    blocks = [findings.scores[0].as_text() if alone else _aligned(_rows(findings)) + "\n"]
    for section in dict.fromkeys(group.section for group in findings.groups):
        header = [section, "lines", *(f"accuracy {number}" if not alone else "accuracy"
                                      for number in range(1, len(findings.names) + 1))]
        blocks.append(_aligned([header, *(row[1:] for row in _group_rows(findings) if row[0] == section)]) + "\n")
    if findings.comparison is not None:
        blocks.append(findings.comparison.as_text())
    for name, rows in zip(findings.names, findings.errors or []):
        title = f"{len(rows)} wrong lines" + ("" if alone else f" in {name}")
        blocks.append("\n".join([title, *("  ".join(row) for row in _padded([ERROR_COLUMNS, *rows]))]) + "\n")
    return "\n".join(blocks)


def _as_tsv(findings: Findings) -> str:
    rows = _rows(findings)
    if findings.groups:
        rows = [["section", "group", "lines", *findings.names], *_group_rows(findings)]
    if findings.errors is not None:
        rows = [["file", *ERROR_COLUMNS]]
        rows += [[name, *cells] for name, errors in zip(findings.names, findings.errors) for cells in errors]
    if findings.comparison is not None:
        figures = findings.comparison.as_dict()
        rows = [list(figures), list(map(str, figures.values()))]
    return "".join("\t".join(row) + "\n" for row in rows)


def _as_json(findings: Findings) -> str:
    figures = [each.as_dict() for each in findings.scores]
    files: list[dict[str, Any]] = [{"file": name, **each} for name, each in zip(findings.names, figures)]
    for index, file in enumerate(files):
        if findings.groups:
            file["groups"] = [{"section": group.section, "name": group.name, "lines": len(group.lines),
                               "accuracy": group.accuracy(findings.correct[index])} for group in findings.groups]
        if findings.errors is not None:
            file["errors"] = [{**dict(zip(ERROR_COLUMNS, cells)), "line": int(cells[0]), "wrong_from": int(cells[5])}
                              for cells in findings.errors[index]]
    result: dict[str, Any] = {"files": files, "summary": _summary(figures)}
    if findings.comparison is not None:
        result["comparison"] = findings.comparison.as_dict()
    return json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _group_rows(findings: Findings) -> list[list[str]]:
    return [[group.section, group.name, str(len(group.lines)),
             *(f"{group.accuracy(correct):.4f}" for correct in findings.correct)] for group in findings.groups]


def _summary(figures: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Mean, sample standard deviation, minimum and maximum of each figure over several files."""
    if len(figures) == 1:
        return {}
    measures = [measure for measure in DECIMALS if measure in figures[0]]
    return {name: {measure: function([each[measure] for each in figures]) for measure in measures}
            for name, function in SUMMARY.items()}


def _rows(findings: Findings) -> list[list[str]]:
    """A table whose last rows summarise the rounded figures above, as in the published tables."""
    rounded = [{measure: round(figures[measure], decimals) for measure, decimals in DECIMALS.items()
                if measure in figures} for figures in (each.as_dict() for each in findings.scores)]
    rows = [["file", "lines", *rounded[0]]]
    rows += [[name, str(each.samples), *_cells(figures)]
             for name, each, figures in zip(findings.names, findings.scores, rounded)]
    rows += [[name, "", *_cells(figures)] for name, figures in _summary(rounded).items()]
    return rows


def _cells(figures: dict[str, float]) -> list[str]:
    return [f"{figure:.{DECIMALS[measure]}f}" for measure, figure in figures.items()]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
                     for row in rows)


def _padded(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Left-align columns: all but the last are as wide as their longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [[*map(str.ljust, row[:-1], widths[:-1]), row[-1]] for row in rows]
