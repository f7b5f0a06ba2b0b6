"""Print measured results beside the figures of the paper.

Usage:
  il-morph table [options] NAME RESULTS-ROOT

Shows a table of the paper and then our finished runs, a line for each system: the vote of
the seeds (or the mean over folds and seeds, as the paper reports it), the published figure
for the same languages, the difference, mean and standard deviation of the single models,
and how many of the paper's runs we have. Systems that are not in the paper come last.

Arguments:
  NAME          sigmorphon2016, sigmorphon2017, celex or lemmatization; of later systems g2p2020,
                g2p2021, segmentation2022, inflection2022small or inflection2022sizes; or all, for one
                small table of our runs in each of them
  RESULTS-ROOT  the results folder of bin/run_NAME.sh, or a list of runs written with
                --measured; with all: a folder with NAME/measured.tsv or NAME/ for each table

Options:
  --by-language    a row for each language
  --models=x,y     only these models (by their names in the results folder)
  --format=FORMAT  text, markdown, tsv, or html: a page with our accuracy drawn against the published
                   one (needs Jinja2 and matplotlib) [default: text]
  --output=FILE    write the table to FILE; - is standard output [default: -]
  --measured=FILE  also write the runs to FILE, a row each: epochs, minutes, accuracies, engine,
                   commit; FILE keeps the runs it lists, except those made again
  --force          overwrite the file of --output
  -h --help        show this text

Comparisons with statistical tests, the cost of a table and pictures: experiments/analysis.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from il_morph.commands.arguments import Arguments, choice, parse_arguments, refuse_empty, split_at_end_of_flags
from il_morph.errors import InputError
from il_morph.files import STREAM, refuse_to_overwrite, write_output
from il_morph.report.table_page import table_page
from il_morph.reproduction.blocks import LAYOUTS, Block, render
from il_morph.reproduction.by_language import language_blocks, language_tsv
from il_morph.reproduction.paper_tables import NAMES, PaperTable, load_table
from il_morph.reproduction.published import Published, load_published
from il_morph.reproduction.run_list import (
    LIST,
    add_runs,
    already_listed,
    measured,
    read_runs,
    read_runs_of_all,
    replaced,
    runs_of_models,
)
from il_morph.reproduction.runs import Run
from il_morph.reproduction.tables import all_blocks, table_blocks, table_tsv
from il_morph.run_folder import RunFolder

ALL, HTML = "all", "html"
MOVED = {"--compare": "compare.py", "--published": "compare.py", "--seed": "compare.py", "--against": "against.py",
         "--hours": "cost.py", "--plot": "picture.py", "--setting": "picture.py"}


def run(argv: list[str]) -> int:
    _refuse_moved(argv)
    args = parse_arguments(__doc__, argv)
    layout = choice(args, "--format", (*LAYOUTS, HTML))
    _check_files(args)
    if args["NAME"] == ALL:
        files = {args["--output"]: _all(args, layout)}
    else:
        files = _one(args, load_table(args["NAME"]), layout)
    for path in sorted({*files} - {STREAM}):  # write nothing until everything has been checked
        write_output(path, files[path])
    sys.stdout.write(files.get(STREAM, ""))
    return 0


def _refuse_moved(argv: Sequence[str]) -> None:
    """Refuse flags of version 2, and name the scripts that replace them."""
    for word in split_at_end_of_flags(argv)[0]:
        flag = word.split("=")[0]
        if flag in MOVED:
            raise InputError(f"{flag} is now experiments/analysis/{MOVED[flag]}")


def _one(args: Arguments, table: PaperTable, layout: str) -> dict[str, str]:
    """The files to write for one table: path -> content."""
    published, found = load_published(table), read_runs(table, args["RESULTS-ROOT"])
    files = {args["--measured"]: _measured(args, table, found)} if args["--measured"] else {}
    runs = runs_of_models(found, args["--models"], args["RESULTS-ROOT"])
    blocks = _blocks(args, table, published, runs, layout == "tsv")
    page = table_page(table.title, blocks, [(table, published, runs)]) if layout == HTML else render(blocks, layout)
    return {**files, args["--output"]: page}


def _measured(args: Arguments, table: PaperTable, found: Sequence[Run]) -> str:
    """The list of runs with the found runs added. Print the listed runs that are replaced or dropped."""
    path = args["--measured"]
    if not found:
        raise InputError(f"{args['RESULTS-ROOT']} has no finished runs: nothing is written to --measured={path}")
    listed = already_listed(table, path)
    merged = add_runs(table, listed, found)
    for place, change in replaced(listed, merged):
        print(f"il-morph table: {path}: {' '.join(place)} {change}", file=sys.stderr)
    return measured(merged)


def _blocks(args: Arguments, table: PaperTable, published: Published, runs: Sequence[Run], tsv: bool) -> list[Block]:
    if args["--by-language"]:
        return (language_tsv if tsv else language_blocks)(table, published, runs)
    return (table_tsv if tsv else table_blocks)(table, published, runs)


def _all(args: Arguments, layout: str) -> str:
    for flag in ("--by-language", "--measured"):
        if args[flag]:
            raise InputError(f"{flag} belongs to one table: name it instead of {ALL!r}, or leave {flag} out")
    root, found = args["RESULTS-ROOT"], read_runs_of_all(args["RESULTS-ROOT"])
    chosen = {*runs_of_models([run for _, runs in found for run in runs], args["--models"], root)}
    tables = [(table, load_published(table), [run for run in runs if run in chosen]) for table, runs in found]
    blocks = all_blocks(tables)
    return table_page("Our runs beside the paper", blocks, tables) if layout == HTML else render(blocks, layout)


def _check_files(args: Arguments) -> None:
    """Check that table and list go to different files. --measured updates a list, so its file may exist."""
    refuse_empty(args, "--measured", "--output")
    output = args["--output"]
    if args["--measured"] and os.path.realpath(args["--measured"]) == os.path.realpath(output):
        raise InputError("--measured and --output name the same file: give each a file of its own")
    if output != STREAM:
        _refuse_input(args, Path(output))
        refuse_to_overwrite(output, args["--force"])


def _refuse_input(args: Arguments, path: Path) -> None:
    """Refuse to overwrite the lists and run files that the table is made from, even with --force."""
    root, real = Path(args["RESULTS-ROOT"]), Path(os.path.realpath(path))
    read = [root, *(root / name / LIST for name in NAMES)]
    if Path(os.path.realpath(root)) in real.parents:
        read += [*RunFolder(real.parent).remains(), RunFolder(real.parent).commit]
    if os.path.exists(path) and any(os.path.samefile(path, source) for source in filter(os.path.exists, read)):
        raise InputError(f"{path} is an input: the table is made from it; choose another name for the output")
