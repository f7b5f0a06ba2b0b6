"""Let the predictions of several models vote.

Usage:
  il-morph ensemble [options] OUTPUT PREDICTIONS...

On each line the most frequent output wins; a tie goes to the file named first. All files must have
the same inputs and features in the same order. For the vote of SGM17TOP give --best=15 --repair and
the files of its 20 models, the one with the best dev accuracy first.

Arguments:
  OUTPUT       file for the votes, in the format of the predictions; - is standard output
  PREDICTIONS  predictions of the models, one file each

Options:
  --sigm2017format  columns are input, output, features (SIGMORPHON 2017)
  --no-feat-format  columns are input, anything or nothing, output
  --columns=LIST    the columns, for example input,features,output; - skips one; without these
                    flags il-morph recognises the columns of the first file
  --feature-separator=X  the separator between features (default: recognised)
  --input-separator=X    the separator between the symbols of inputs (default: none, characters)
  --output-separator=X   the separator between the symbols of outputs, for example " "
  --best=N          let only the first N files vote
  --repair          replace an output that has the same character (or symbol) four times in a row
                    by the input
  --force           overwrite OUTPUT
  -h --help         show this text
"""
from __future__ import annotations

import sys

from il_morph.commands.arguments import integer, optional, parse_arguments, read_options_of
from il_morph.data.formats import Sample
from il_morph.evaluation.entries import read_first_predictions, read_predictions
from il_morph.evaluation.voting import ensemble, repaired
from il_morph.files import STREAM, refuse_data_as_output, refuse_to_overwrite, write_output


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    to_stream = args["OUTPUT"] == STREAM
    if not to_stream:
        refuse_to_overwrite(args["OUTPUT"], args["--force"])
        refuse_data_as_output(args["OUTPUT"], args["PREDICTIONS"])
    options = read_options_of(args)
    fmt, first = read_first_predictions(args["PREDICTIONS"][0], options)
    others = [read_predictions(path, fmt, separators=options.separators) for path in args["PREDICTIONS"][1:]]
    models = [first, *others]
    models = models[:optional(integer, args, "--best", len(models), 1, len(models))]
    if args["--repair"]:
        models = [[repaired(entry, options.separators) for entry in model] for model in models]
    lines = [fmt.line(Sample(entry.input, entry.tag, None), output)
             for entry, output in zip(models[0], ensemble(models, fmt))]
    text = "".join(line + "\n" for line in lines)
    if to_stream:
        sys.stdout.write(text)
    else:
        write_output(args["OUTPUT"], text)
    return 0
