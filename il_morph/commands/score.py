"""Compute the log probability of given outputs.

Usage:
  il-morph score [options] MODEL FILE [OUTPUT]

Writes each line of FILE with two more columns: the log probability of the best action sequence that
writes the output, and the log probability of the output, summed over action sequences. The state of
the network depends on all earlier actions, so dynamic programming does not apply: the sum covers the
sequences that a beam finds. It is a lower bound, and exact if the beam holds all sequences. An output
that the model cannot write scores -inf.

Arguments:
  MODEL   the f.model of a training run, its results folder, or a folder of seeds, whose
          probabilities are averaged at each step
  FILE    data with outputs in the format the model was trained on; - is standard input
  OUTPUT  a file (default: standard output)

Options:
  --beam-width=N    action sequences to follow for each output [default: 32]
  --actions         add a column with the edits of the best sequence: x copies, -x deletes, +x inserts,
                    ~x substitutes (> moves on)
  --columns=LIST    the columns of FILE, for example input,features,output; - skips one
  --unicode=FORM    as-is, nfc, nfd, or nfd-nfc (inputs nfd, outputs nfc): normalise the data (default:
                    as in the training of the model)
  --force           overwrite OUTPUT
  -h --help         show this text
"""
from __future__ import annotations

import logging
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from il_morph.commands.arguments import integer, parse_arguments, refuse_empty
from il_morph.commands.streams import answer, options_for
from il_morph.data.formats import DataFormat, Sample
from il_morph.data.streaming import DataStream
from il_morph.files import STREAM, refuse_data_as_output, refuse_to_overwrite
from il_morph.model.combination import AVERAGE, load_predictor, refuse_model_as_output
from il_morph.model.predictor import Predictor
from il_morph.model.settings import MAX_BEAM_WIDTH

AT_ONCE = 64

log = logging.getLogger(__name__)


@dataclass
class Scorer:
    """Scores blocks of samples and collects the figures for the means."""

    predictor: Predictor
    beam_width: int
    actions: bool
    best: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    unwritable: int = 0

    def lines(self, fmt: DataFormat, samples: Sequence[Sample]) -> list[str]:
        scores = self.predictor.scores(samples, self.beam_width)
        for score in scores:
            if score.total == -math.inf:
                self.unwritable += 1
            else:
                self.best.append(score.best)
                self.total.append(score.total)
        return ["\t".join([fmt.line(sample, sample.target), f"{score.best:.6f}", f"{score.total:.6f}",
                           *([score.actions] if self.actions else [])]) for sample, score in zip(samples, scores)]

    @property
    def summary(self) -> str:
        means = (f"mean log probability {statistics.fmean(self.total):.4f} (sum over the action sequences in a beam of "
                 f"{self.beam_width}), {statistics.fmean(self.best):.4f} for the best sequence" if self.total else "")
        cannot = f"the model cannot write {self.unwritable:,} outputs" if self.unwritable else ""
        return "; ".join(filter(None, (means, cannot)))


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    refuse_empty(args, "FILE", "OUTPUT", advice="give a file, or - for a stream")
    width, target = integer(args, "--beam-width", 1, MAX_BEAM_WIDTH), args["OUTPUT"] or STREAM
    if target != STREAM:
        refuse_to_overwrite(target, args["--force"])
        refuse_model_as_output(target, [args["MODEL"]])
        refuse_data_as_output(target, [args["FILE"]])
    predictor = load_predictor([args["MODEL"]], AVERAGE)
    assert isinstance(predictor, Predictor)
    scorer = Scorer(predictor, width, args["--actions"])
    stream = DataStream(args["FILE"], options_for(args, predictor), need_output=True)
    answer(stream, target, predictor, lambda fmt, samples: partial(scorer.lines, fmt, samples), AT_ONCE)
    log.info("%s", scorer.summary)
    return 0
