"""Let the predictions of several models vote.

Usage:
  il-morph ensemble [options] OUTPUT PREDICTIONS...

On each line the output that most files have wins; a tie goes to the file named
first among the tied. All files must have the same inputs and features in the
same order.

Arguments:
  OUTPUT       file for the votes, in the format of the predictions; - is standard output
  PREDICTIONS  predictions of the models, one file each

Options:
  --sigm2017format  columns are input, output, features (SIGMORPHON 2017)
  --no-feat-format  columns are input, anything or nothing, output
  --force           overwrite OUTPUT
  -h --help         show this text
"""
from __future__ import annotations

import sys
from typing import List

from il_morph.commands.arguments import data_format, parse_arguments
from il_morph.data.formats import Sample
from il_morph.evaluation.voting import ensemble
from il_morph.evaluation.scores import read_predictions
from il_morph.files import STREAM, refuse_to_overwrite, write_atomically


def run(argv: List[str]) -> int:
    args = parse_arguments(__doc__, argv)
    fmt = data_format(args)
    to_stream = args["OUTPUT"] == STREAM
    if not to_stream:
        refuse_to_overwrite(args["OUTPUT"], args["--force"])
    models = [read_predictions(path, fmt) for path in args["PREDICTIONS"]]
    lines = [fmt.line(Sample(entry.input, entry.tag, None), output)
             for entry, output in zip(models[0], ensemble(models, fmt))]
    text = "".join(line + "\n" for line in lines)
    if to_stream:
        sys.stdout.write(text)
    else:
        write_atomically(args["OUTPUT"], text)
    return 0
