"""Split a file into training, development and test data.

Usage:
  il-morph split [options] FILE [FOLDER]

Writes the parts train, dev and test to FOLDER (default: FILE-split beside FILE), with the suffix of
FILE. Lines stay as they are and keep their order; each part gets the header row. The same seed gives
the same parts. CoNLL-U is split by sentence.

Arguments:
  FILE    data with outputs; - is standard input
  FOLDER  a folder for the parts, created if it does not exist

Options:
  --parts=LIST      shares of train, dev and test, or of train and dev, in percent
                    [default: 80,10,10]
  --split-by=UNIT   lemma (all lines with the same input go to the same part), line, or sentence (CoNLL-U)
                    (default: lemma if an input occurs more than once, else line; sentence for CoNLL-U)
  --seed=N          seed of the random split [default: 1]
  --sigm2017format  columns are input, output, features (SIGMORPHON 2017)
  --no-feat-format  columns are input, anything or nothing, output; or input, output
  --columns=LIST    the columns, for example input,features,output; - skips one; without these
                    flags il-morph recognises the columns
  --feature-separator=X  the separator between features (default: recognised)
  --force           overwrite existing parts
  -h --help         show this text
"""
from __future__ import annotations

from il_morph.commands.arguments import (
    Arguments,
    choice,
    integer,
    optional,
    parse_arguments,
    read_options_of,
    refuse_empty,
)
from il_morph.data.splitting import UNITS, folder_for, split_file
from il_morph.errors import InputError


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    by = optional(choice, args, "--split-by", None, UNITS)
    refuse_empty(args, "FILE", advice="give a file, or - for standard input")
    refuse_empty(args, "FOLDER", advice="give a folder, or leave it out")
    folder = args["FOLDER"] or folder_for(args["FILE"])
    parts = split_file(args["FILE"], folder, read_options_of(args), shares(args), integer(args, "--seed", 0), by,
                       args["--force"])
    print("\n".join(map(str, parts.values())))
    return 0


def shares(args: Arguments) -> list[float]:
    """The shares of --parts, which are two or three percentages."""
    try:
        given = [float(share) for share in args["--parts"].split(",")]
    except ValueError:
        given = []
    if len(given) not in (2, 3) or not all(0 < share < 100 for share in given) or abs(sum(given) - 100) > 1e-6:
        raise InputError("--parts takes two or three percentages that sum to 100, as in 80,10,10, "
                         f"not {args['--parts']!r}")
    return given
