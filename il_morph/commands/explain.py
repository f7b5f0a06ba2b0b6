"""Show what a model does with a word, step by step.

Usage:
  il-morph explain [options] MODEL INPUT [FEATURES]

MODEL is the f.model of a training run, or its folder. INPUT is a word. Write FEATURES as in the
training data: "V;PST" or pos=V,tense=PST. Each step of the best output shows the character that is
read, the action, its probability, the two next best actions and the output so far. A blank is shown
as ␣, a combining character on ◌.

With --gold each step also shows the expert's optimal actions: ~ marks a detour (the output can still
become right), ✗ a wrong step. A hard-attention model has no expert: ✗ marks the steps at which the
output departs from the right one.

Options:
  --gold=FORM       the right output
  --beam-width=N    width of the beam; 1 or 0 is greedy search (default 4)
  --html            write a page instead of text (needs Jinja2)
  --output=FILE     write to FILE; - is standard output (default: standard output)
  --force           overwrite FILE
  -h --help         show this text
"""
from __future__ import annotations

import sys

from il_morph.commands.arguments import integer, optional, parse_arguments, refuse_empty
from il_morph.errors import printable
from il_morph.files import STREAM, refuse_to_overwrite, write_output
from il_morph.model.combination import refuse_model_as_output
from il_morph.model.predictor import Predictor
from il_morph.model.search import BEAM_WIDTH
from il_morph.model.settings import MAX_BEAM_WIDTH
from il_morph.report.explanation import explanation_page
from il_morph.report.terminal import colourful, trace_text
from il_morph.report.trace import trace_best
from il_morph.report.words import remarks, sample_for


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    refuse_empty(args, "--output")
    width = optional(integer, args, "--beam-width", BEAM_WIDTH, 0, MAX_BEAM_WIDTH)
    output = None if args["--output"] == STREAM else args["--output"]
    if output:
        refuse_to_overwrite(output, args["--force"])
        refuse_model_as_output(output, [args["MODEL"]])
    predictor = Predictor.load(args["MODEL"])
    sample = sample_for(predictor, args["INPUT"], args["FEATURES"] or "", args["--gold"])
    trace, said = trace_best(predictor, sample, sample.output, width), remarks(predictor.vocabulary, sample)
    if args["--html"]:
        text = explanation_page(trace, said)
    else:
        text = trace_text(trace, not output and colourful(sys.stdout)) + "".join(
            f"\n{printable(remark)}\n" for remark in said)
    if output:
        write_output(output, text)
    else:
        sys.stdout.write(text)
    return 0
