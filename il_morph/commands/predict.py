"""Transduce a file with a trained model.

Usage:
  il-morph predict [options] MODEL INPUT [OUTPUT]

MODEL is the f.model of a training run, INPUT a file in the format the model was trained on (its
output column may be missing or is ignored), OUTPUT a file or standard output; - is a stream. The
columns of the prediction are those of the format. A file whose columns are clearly in another order
is read in that order, and so are its predictions written. Features that the model does not know are
counted in a warning.

Options:
  --beam-width=N       width of the beam; 1 or 0 is greedy search (default 4)
  --nbest=N            the N best outputs of each input (at most the beam width), with two more columns:
                       rank and log probability
  --actions            one more column: the edits; x copies, -x deletes, +x inserts (> moves on)
  --decbatch-size=N    inputs decoded at once (default 128)
  --columns=LIST       the columns of INPUT, for example input,features,output; - is one to be ignored
  --unicode=FORM       as-is, or nfc or nfd to normalise the data so (default: as in the training of the model)
  --force              overwrite OUTPUT
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Optional

from il_morph.bars import bar
from il_morph.commands.arguments import Arguments, choice, integer, named_columns, optional, parse_arguments
from il_morph.data.formats import Data, DataFormat, Sample, Way, read_data
from il_morph.data.spelling import FORMS
from il_morph.errors import InputError
from il_morph.files import STREAM, refuse_to_overwrite, write_atomically
from il_morph.model.predictor import Predictor
from il_morph.model.search import BEAM_WIDTH, Hypothesis
from il_morph.model.settings import MAX_BEAM_WIDTH


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    nbest = optional(integer, args, "--nbest", None, 1, MAX_BEAM_WIDTH)
    width = optional(integer, args, "--beam-width", max(BEAM_WIDTH, nbest or 0), 0, MAX_BEAM_WIDTH)
    if nbest and nbest > max(1, width):
        raise InputError(f"--nbest={nbest} is more than --beam-width={width} finds: widen the beam")
    batch_size = optional(integer, args, "--decbatch-size", 128, 1)
    output = args["OUTPUT"] or STREAM
    if output != STREAM:
        refuse_to_overwrite(output, args["--force"])
    predictor = Predictor.load(args["MODEL"])
    data = read_input(args, predictor)
    samples = data.samples
    predictor.warn_of_unknown(samples)
    found = predictor.hypotheses(samples, width, batch_size, lambda batches: bar(batches, "predict", "batch"))
    lines = [line + "\n" for sample, hypotheses in zip(samples, found)
             for line in prediction_lines(predictor, data.format, sample, hypotheses, nbest, args)]
    if output == STREAM:
        sys.stdout.writelines(lines)
    else:
        write_atomically(output, "".join(lines))
    return 0


def read_input(args: Arguments, predictor: Predictor) -> Data:
    """The data, in the format that the model reads unless the columns are clearly others."""
    settings = predictor.vocabulary.settings
    return read_data(args["INPUT"], Way(
        columns=named_columns(args), expected=predictor.vocabulary.format, because="the model was trained on",
        unicode=optional(choice, args, "--unicode", settings.unicode, FORMS)))


def prediction_lines(predictor: Predictor, fmt: DataFormat, sample: Sample, hypotheses: Sequence[Hypothesis],
                     nbest: Optional[int], args: Arguments) -> list[str]:
    lines = []
    for rank, hypothesis in enumerate(hypotheses[:nbest or 1], start=1):
        columns = [fmt.line(sample, hypothesis.output)]
        if nbest:
            columns += [str(rank), f"{hypothesis.log_probability:.6f}"]
        if args["--actions"]:
            columns.append(predictor.describe(sample, hypothesis))
        lines.append("\t".join(columns))
    return lines
