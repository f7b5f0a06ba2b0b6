"""Print measured results beside the figures of the paper.

Usage:
  il-morph table [options] NAME RESULTS-ROOT

Shows a table of the paper and under it what the finished runs give: the ensemble of
the seeds (or the mean over folds and seeds, where the paper has that), its difference
to the paper, mean and standard deviation of the single models, and how many of the
paper's runs are there. What rests on a part of the runs is marked.

Arguments:
  NAME          sigmorphon2016, sigmorphon2017, celex or lemmatization
  RESULTS-ROOT  the results folder of bin/run_NAME.sh, or a list of runs written with --measured

Options:
  --format=FORMAT  text, markdown or tsv [default: text]
  --measured=FILE  write the runs to FILE too, a row each: epochs, minutes, accuracies, commit;
                   runs that FILE lists already stay there unless they were made again
  -h --help        show this text
"""
from __future__ import annotations

import sys
from typing import List

from il_morph.commands.arguments import choice, parse_arguments
from il_morph.errors import InputError
from il_morph.files import write_atomically
from il_morph.reproduction.facts import load_table
from il_morph.reproduction.tables import add_measured, measured, read_runs, render


def run(argv: List[str]) -> int:
    args = parse_arguments(__doc__, argv)
    layout = choice(args, "--format", ("text", "markdown", "tsv"))
    table = load_table(args["NAME"])
    runs = read_runs(table, args["RESULTS-ROOT"])
    if args["--measured"]:
        if not runs:
            raise InputError(f"there are no finished runs in {args['RESULTS-ROOT']}: nothing is written to "
                             f"--measured={args['--measured']}")
        write_atomically(args["--measured"], measured(add_measured(table, args["--measured"], runs)))
    sys.stdout.write(render(table, runs, layout))
    return 0
