"""Score predictions against gold data.

Usage:
  il-morph evaluate [options] GOLD PREDICTIONS...

Line n of the predictions is compared with line n of the gold data. One file of
predictions gets its scores: accuracy (in percent), mean Levenshtein distance, the
same normalised by length, mean reciprocal rank, and accuracy per part of speech,
the first feature. Several files get a row each, and mean, sample standard
deviation, minimum and maximum of the figures shown under them. Files written by
`il-morph predict --nbest` are scored by their first predictions; the mean
reciprocal rank uses all.

Arguments:
  GOLD         data with outputs; - is standard input
  PREDICTIONS  the same lines with predicted outputs, which may be empty

Options:
  --sigm2017format  columns are input, output, features (SIGMORPHON 2017)
  --no-feat-format  columns are input, anything or nothing, output; or input, output
  --columns=LIST    the columns, for example input,features,output; - is one to be ignored; without
                    these flags the columns of GOLD are recognised
  --feature-separator=X  what separates features (recognised if not given)
  --unicode=FORM    as-is, or nfc or nfd to normalise all files so [default: as-is]
  --format=FORMAT   text, tsv or json [default: text]
  -h --help         show this text
"""
from __future__ import annotations

import json
import statistics
from typing import Callable, Dict, List, Sequence

from il_morph.commands.arguments import choice, parse_arguments, way_of_reading
from il_morph.data.formats import read_data
from il_morph.evaluation.entries import gold_entries, read_predictions
from il_morph.evaluation.scores import Scores, evaluate

DECIMALS = {"accuracy": 4, "levenshtein": 5, "normalised_levenshtein": 5, "mean_reciprocal_rank": 5}
SUMMARY: Dict[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean, "sd": statistics.stdev, "min": min, "max": max}


def run(argv: List[str]) -> int:
    args = parse_arguments(__doc__, argv)
    layout = choice(args, "--format", ("text", "tsv", "json"))
    way = way_of_reading(args)
    data = read_data(args["GOLD"], way, need_output=True)
    gold, names = gold_entries(data), args["PREDICTIONS"]
    scores = [evaluate(gold, read_predictions(name, data.format, way.unicode), data.format) for name in names]
    if layout == "json":
        print(_as_json(names, scores))
    elif layout == "tsv":
        print("\n".join("\t".join(row) for row in _rows(names, scores)))
    elif len(scores) == 1:
        print(scores[0].as_text(), end="")
    else:
        print(_aligned(_rows(names, scores)))
    return 0


def _summary(figures: Sequence[Dict[str, float]]) -> Dict[str, Dict[str, float]]:
    """Mean, sample standard deviation, minimum and maximum of each figure of several files."""
    if len(figures) == 1:
        return {}
    return {name: {measure: function([each[measure] for each in figures]) for measure in DECIMALS}
            for name, function in SUMMARY.items()}


def _rows(names: Sequence[str], scores: Sequence[Scores]) -> List[List[str]]:
    """A table whose last rows summarise the rounded figures above them, as the published ones do."""
    rounded = [{measure: round(getattr(each, measure), decimals)
                for measure, decimals in DECIMALS.items()} for each in scores]
    rows = [["file", "lines", *DECIMALS]]
    rows += [[name, str(each.samples), *_cells(figures)]
             for name, each, figures in zip(names, scores, rounded)]
    rows += [[name, "", *_cells(figures)] for name, figures in _summary(rounded).items()]
    return rows


def _cells(figures: Dict[str, float]) -> List[str]:
    return [f"{figures[measure]:.{decimals}f}" for measure, decimals in DECIMALS.items()]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
                     for row in rows)


def _as_json(names: Sequence[str], scores: Sequence[Scores]) -> str:
    figures = [each.as_dict() for each in scores]
    files = [{"file": name, **each} for name, each in zip(names, figures)]
    return json.dumps({"files": files, "summary": _summary(figures)}, ensure_ascii=False, indent=2)
