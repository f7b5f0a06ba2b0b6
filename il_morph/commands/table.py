"""Print measured results beside the figures of the paper.

Usage:
  il-morph table [options] NAME RESULTS-ROOT

Shows a table of the paper and under it what the finished runs give, a line for each
system: the vote of the seeds (or the mean over folds and seeds, where the paper has
that), what was published for the same languages, the difference, mean and standard
deviation of the single models, and how many of the paper's runs are there. What is
not in the paper comes after it.

Arguments:
  NAME          sigmorphon2016, sigmorphon2017, celex or lemmatization; or all: one small
                table of what was measured for each of them
  RESULTS-ROOT  the results folder of bin/run_NAME.sh, or a list of runs written with
                --measured; with all: a folder that has NAME/measured.tsv or NAME/ for each

Options:
  --by-language     a row for each language
  --compare         all there is to say: by language, which systems are better than others,
                    what voting is worth, how much seeds differ, what variants are worth,
                    how long the runs took
  --against=ROOT    our own runs in another results folder or list instead of the published figures:
                    the same seeds on the same languages, made by another engine or with other settings
  --hours           what all runs of the paper take, by the minutes of ours: on one core, 16, and 200
  --models=x,y      of these models only (by their names in the results folder)
  --seed=N          of the single models only those with this seed
  --published=FILE  compare with the figures in FILE, not with those of the authors
                    (columns as in experiments/NAME/published.tsv)
  --format=FORMAT   text, markdown, tsv, or html: a page with our accuracy drawn against the published
                    one (needs Jinja2 and matplotlib) [default: text]
  --output=FILE     write the table to FILE; - is standard output [default: -]
  --measured=FILE   write the runs to FILE too, a row each: epochs, minutes, accuracies, engine,
                    commit; runs that FILE lists already stay there unless they were made again
  --plot=FILE       draw our accuracy against the published one (SVG or PNG; needs matplotlib)
  --setting=NAME    setting of the picture (default: the first of the table)
  --force           overwrite the files of --output and --plot
  -h --help         show this text
"""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from il_morph.commands.arguments import Arguments, choice, parse_arguments, refuse_empty
from il_morph.errors import InputError
from il_morph.files import STREAM, refuse_to_overwrite, write_atomically
from il_morph.report.table_page import table_page
from il_morph.reproduction.against import against_blocks
from il_morph.reproduction.by_language import language_blocks, language_tsv
from il_morph.reproduction.comparison_page import compared, comparison_blocks
from il_morph.reproduction.cost import effort_blocks
from il_morph.reproduction.data_layout import LAYOUTS, Block, render
from il_morph.reproduction.paper_tables import NAMES, PaperTable, load_table
from il_morph.reproduction.picture import FORMATS, draw_comparisons
from il_morph.reproduction.published import Published, load_published
from il_morph.reproduction.run_list import add_measured, measured, read_runs
from il_morph.reproduction.runs import Run
from il_morph.reproduction.tables import all_blocks, table_blocks, table_tsv
from il_morph.run_folder import RunFolder

ALL, HTML = "all", "html"
LIST = "measured.tsv"  # of a table, in a folder of several
OF_PUBLISHED = ("--by-language", "--compare", "--published", "--plot")  # what sets our accuracy beside the published


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    layout = choice(args, "--format", (*LAYOUTS, HTML))
    _check_files(args)
    if args["NAME"] == ALL:
        files = {args["--output"]: _all(args, layout)}
    else:
        files = _one(args, load_table(args["NAME"]), layout)
    for path in sorted({*files} - {STREAM}):  # all is known by now: nothing is written when something is wrong
        write_atomically(path, files[path])
    sys.stdout.write(files.get(STREAM, ""))
    return 0


def _one(args: Arguments, table: PaperTable, layout: str) -> dict:
    """What is to be written for one table: path -> content."""
    _check_plot(args, table)
    published = load_published(table, args["--published"])
    found = read_runs(table, args["RESULTS-ROOT"])
    files: dict = {}
    if args["--measured"]:
        if not found:
            raise InputError(f"there are no finished runs in {args['RESULTS-ROOT']}: nothing is written to "
                             f"--measured={args['--measured']}")
        files[args["--measured"]] = measured(add_measured(table, args["--measured"], found))
    _check_choice(args, found)
    runs = _chosen(args, found)
    if args["--plot"]:
        setting, kind = args["--setting"] or table.settings[0], Path(args["--plot"]).suffix[1:]
        files[args["--plot"]] = draw_comparisons(table, compared(table, published, runs), setting, kind)
    blocks = _blocks(args, table, published, runs, layout == "tsv")
    page = table_page(table.title, blocks, [(table, published, runs)]) if layout == HTML else render(blocks, layout)
    files[args["--output"]] = page
    return files


def _blocks(args: Arguments, table: PaperTable, published: Published, runs: Sequence[Run], tsv: bool) -> list[Block]:
    if args["--compare"] and args["--by-language"]:
        raise InputError("--compare has all languages: leave --by-language out")
    if args["--against"]:
        return _against(args, table, runs)
    if args["--hours"]:
        return _hours(args, [(table, runs)])
    if args["--compare"]:
        return comparison_blocks(table, published, runs)
    if args["--by-language"]:
        return (language_tsv if tsv else language_blocks)(table, published, runs)
    return (table_tsv if tsv else table_blocks)(table, published, runs)


def _against(args: Arguments, table: PaperTable, runs: Sequence[Run]) -> list[Block]:
    for flag in (*OF_PUBLISHED, "--hours"):
        if args[flag]:
            raise InputError(f"--against compares our own runs with each other: leave {flag} out")
    others = read_runs(table, args["--against"])
    if not {run.place for run in runs}.intersection(run.place for run in others):
        raise InputError(f"{args['RESULTS-ROOT']} and --against={args['--against']} have no run in common: no seed of "
                         "a system on the same language")
    return against_blocks(table, runs, others)


def _hours(args: Arguments, tables: Sequence[tuple[PaperTable, Sequence[Run]]]) -> list[Block]:
    for flag in OF_PUBLISHED:
        if args[flag]:
            raise InputError(f"--hours is about what runs take, not about their accuracy: leave {flag} out")
    return effort_blocks(tables)


def _all(args: Arguments, layout: str) -> str:
    for flag in ("--against", "--by-language", "--compare", "--measured", "--plot", "--published", "--setting"):
        if args[flag]:
            raise InputError(f"{flag} belongs to one table: name it instead of {ALL!r}, or leave {flag} out")
    root, tables = Path(args["RESULTS-ROOT"]), []
    for name in NAMES:
        places = [path for path in (root / name / LIST, root / name) if os.path.lexists(path)]
        if places:
            table = load_table(name)
            tables.append((table, load_published(table), read_runs(table, places[0])))
    if not tables:
        raise InputError(f"{root} has no folder of results of a table: none of {', '.join(NAMES)}")
    _check_choice(args, [run for _, _, own in tables for run in own])
    chosen = [(table, published, _chosen(args, own)) for table, published, own in tables]
    blocks = _hours(args, [(table, runs) for table, _, runs in chosen]) if args["--hours"] else all_blocks(chosen)
    return table_page("Our runs beside the paper", blocks, chosen) if layout == HTML else render(blocks, layout)


def _chosen(args: Arguments, runs: list[Run]) -> list[Run]:
    """The runs that --models and --seed choose: votes, and the single models with this seed."""
    models, seed = args["--models"], args["--seed"]
    return [run for run in runs if (models is None or run.model in models.split(","))
            and (seed is None or run.voters > 1 or run.seed == seed)]


def _check_choice(args: Arguments, runs: list[Run]) -> None:
    models, seed = args["--models"], args["--seed"]
    for model in models.split(",") if models is not None else []:
        if not any(run.model == model for run in runs):
            raise InputError(f"--models={models}: there are no runs of {model!r} in {args['RESULTS-ROOT']}")
    if seed is not None and not any(run.seed == seed for run in runs):
        raise InputError(f"--seed={seed}: there are no runs with this seed in {args['RESULTS-ROOT']}")


def _check_files(args: Arguments) -> None:
    """What is written has files of its own. --measured brings a list up to date: it may be there."""
    refuse_empty(args, "--measured", "--output", "--plot", "--published", "--against")
    given = {flag: args[flag] for flag in ("--measured", "--output", "--plot") if args[flag] is not None}
    if len({*map(os.path.realpath, given.values())}) < len(given):
        raise InputError("two of --measured, --output and --plot name the same file: give each a file of its own")
    for flag, path in given.items():
        if flag != "--measured" and path != STREAM:
            _refuse_input(args, Path(path))
            refuse_to_overwrite(path, args["--force"])


def _refuse_input(args: Arguments, path: Path) -> None:
    """Not even --force overwrites what the table is made from: lists, published figures, files of runs."""
    sources = [Path(args[name]) for name in ("RESULTS-ROOT", "--against", "--published") if args[name]]
    read = [*sources, *(sources[0] / name / LIST for name in NAMES)]
    real = Path(os.path.realpath(path))
    if any(Path(os.path.realpath(source)) in real.parents for source in sources):
        read += [*RunFolder(real.parent).remains(), RunFolder(real.parent).commit]
    if os.path.exists(path) and any(os.path.samefile(path, source) for source in filter(os.path.exists, read)):
        raise InputError(f"{path} is an input: the table is made from it; choose another name for what is written")


def _check_plot(args: Arguments, table: PaperTable) -> None:
    setting, path = args["--setting"], args["--plot"]
    if setting and not path:
        raise InputError("--setting belongs to --plot: leave it out")
    if setting and setting not in table.settings:
        raise InputError(f"--setting takes {' or '.join(table.settings)}, not {setting!r}")
    if path and Path(path).suffix not in FORMATS:
        raise InputError(f"--plot takes a file .svg or .png, not {path!r}")
