"""Draw our accuracy against the published one, a point for each language. Needs matplotlib.

Usage:
  picture.py [options] NAME FILE [RUNS]

Arguments:
  NAME              sigmorphon2016, sigmorphon2017, celex or lemmatization
  FILE              the picture to write, .svg or .png
  RUNS              a results folder or a list of runs (default: experiments/NAME/measured.tsv)

Options:
  --setting=NAME    low or medium, for example (default: the first of the table)
  --published=FILE  compare with the figures in FILE (columns as in experiments/NAME/published.tsv)
  --force           overwrite FILE
  -h --help         show this
"""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from docopt import docopt
from frames import runs_of

from il_morph.errors import InputError, errors_for_people
from il_morph.files import refuse_to_overwrite, write_output
from il_morph.report.accuracy_picture import draw_accuracies
from il_morph.reproduction.figures import comparable, language_figures, scored
from il_morph.reproduction.paper_tables import load_table
from il_morph.reproduction.published import load_published


def main(argv: Optional[Sequence[str]] = None) -> None:
    args = docopt(__doc__, argv)
    table, path = load_table(args["NAME"]), Path(args["FILE"])
    setting = args["--setting"] or table.settings[0]
    if setting not in table.settings:
        raise InputError(f"--setting takes {' or '.join(table.settings)}, not {setting!r}")
    if path.suffix not in (".svg", ".png"):
        raise InputError(f"FILE is a picture .svg or .png, not {args['FILE']!r}")
    refuse_to_overwrite(path, args["--force"])
    published, runs = load_published(table, args["--published"]), scored(runs_of(table, args["RUNS"]))
    figures = comparable(table, language_figures(table, published, runs))
    write_output(path, draw_accuracies(table, figures, setting, path.suffix[1:]))


if __name__ == "__main__":
    with errors_for_people("picture.py"):
        main()
