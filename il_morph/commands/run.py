"""Train the models of one of the paper's tables, let them vote and print ours beside the paper's.

Usage:
  il-morph run [options] TABLE [-- TRAIN-OPTIONS...]

Without options it trains the whole table with the paper's settings. After an interruption the same
command goes on. TRAIN-OPTIONS go to il-morph train and override those of the table; models, seeds
and whatever else differs between runs are options of this command.

Arguments:
  TABLE  sigmorphon2016, sigmorphon2017, celex or lemmatization; of later systems g2p2020, g2p2021,
         segmentation2022, inflection2022small or inflection2022sizes; `il-morph run TABLE --help`
         lists its settings, models, languages, folds and seeds

Options:
  --data=DIR               the data, laid out as by bin/fetch_data.sh (default data/TABLE; of inflection2022…
                           the parts of data/sigmorphon2022)
  --results=DIR            where runs, ensembles and table go (default results/TABLE)
  --setting=a,b            some of the settings of the table
  --models=a,b             some of its models, or variants that are not in the paper
  --languages=x,y          some of its languages
  --tasks=x,y              the same; CELEX has tasks
  --folds=0,1              some of its folds
  --seeds=1,2              seeds (default those of the paper)
  --engine=NAME            dynet or native (default: as for il-morph train); a system that only one engine
                           trains is trained with that engine
  --jobs=N                 runs at a time (default the number of cores; with --slurm no limit)
  --slurm                  submit to Slurm: one job array, and one job for ensembles and table
  --sbatch-options=WORDS   more options for sbatch, for example "--partition=cpu --mem=4G"
  --dry-run                print the training commands and stop
  --force                  train finished runs again, and interrupted ones from the start
  -h --help                show this text

data and results are in the current folder, or in the project when bin/run_TABLE.sh starts this.
"""
from __future__ import annotations

import os
import re
import shlex
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from il_morph.commands import train
from il_morph.commands.arguments import (
    Arguments,
    UsageError,
    choice,
    integer,
    optional,
    parse_arguments,
    split_at_end_of_flags,
)
from il_morph.engines import ENGINES
from il_morph.errors import InputError
from il_morph.reproduction.finish import finish_table
from il_morph.reproduction.paper_tables import NAMES, PaperTable, load_table
from il_morph.reproduction.plan import Plan, Selection
from il_morph.reproduction.slurm import submit
from il_morph.run_folder import ResultsTree
from il_morph.runs.asked import under_one_name
from il_morph.runs.locks import require_locks
from il_morph.runs.processes import forget, make_folder
from il_morph.runs.spec import MAX_SEED, Job
from il_morph.runs.workers import STOPPED, train_jobs

PROJECT = "IL_MORPH_PROJECT"  # set by bin/run_TABLE.sh: the folder with data and results
OWN_FORMAT = "a table has a format of its own: leave it out"
SET_FOR_EACH_RUN = {  # flags of il-morph train, and what to do instead
    "--model": "choose models with --models", "--dynet-seed": "choose seeds with --seeds",
    "--seeds": "choose seeds with --seeds before --", "--jobs": "give --jobs before --",
    "--force": "give --force before --", "--test-path": "--data names the folder of the data",
    "--reload-path": "the table says what a model starts from: leave it out", "--sigm2017format": OWN_FORMAT,
    "--no-feat-format": OWN_FORMAT, "--columns": OWN_FORMAT, "--feature-separator": OWN_FORMAT,
    "--input-separator": OWN_FORMAT, "--output-separator": OWN_FORMAT}


def run(argv: list[str]) -> int:
    options, train_options = split_at_end_of_flags(argv)
    args = parse(options)
    asked = options_of_train(train_options)
    for_sbatch = sbatch_options(args)
    table = load_table(args["TABLE"])
    slots = optional(integer, args, "--jobs", None, 1)
    plan = Plan(table, selection(table, args, asked))
    if args["--dry-run"]:
        return print_commands(plan.to_do(again=args["--force"]))
    plan.check_data()
    return carry_out(plan, args, slots, for_sbatch)


def carry_out(plan: Plan, args: Arguments, slots: Optional[int], for_sbatch: Sequence[str]) -> int:
    data, results, table = plan.selection.data, plan.selection.results, plan.table
    require_locks()
    make_folder(results.root)
    plan.write_thinned()
    if args["--force"]:
        forget([job[-1].folder for job in plan.jobs()])
    jobs, code = plan.to_do(), 0
    if not jobs:
        print("all of these runs are finished", file=sys.stderr)
    elif args["--slurm"]:
        return submit(table.name, data, results, jobs, slots, for_sbatch)
    else:
        code = train_jobs(jobs, [job[-1] for job in plan.jobs() if job[-1].folder.finished], slots)
    return code if code == STOPPED else finish_table(table, data, results) or code


def print_commands(jobs: Sequence[Job]) -> int:
    """Print the command of each run once."""
    commands = [shlex.join(["il-morph", *task.spec.argv()]) for job in jobs for task in job]
    for command in dict.fromkeys(commands):
        print(command)
    return 0


def parse(options: Sequence[str]) -> Arguments:
    try:
        args = parse_arguments(__doc__, options)
    except UsageError as error:
        message = str(error).replace("unknown flag", "unknown option").replace("requires argument", "takes a value")
        raise UsageError(message.replace("must not have an argument", "takes no value"), error.usage) from None
    for flag, value in args.items():
        if value == "" and flag != "--sbatch-options":
            raise InputError(f"{flag} takes a value")
    if args["--languages"] and args["--tasks"]:
        raise InputError("--languages and --tasks mean the same: give one of them")
    return args


def options_of_train(words: Sequence[str]) -> dict[str, Any]:
    """The settings that TRAIN-OPTIONS ask for."""
    refuse_contradictions(words)
    paths = ["TRAIN-PATH", "DEV-PATH", "RESULTS-PATH"]
    args = parse_arguments(train.__doc__, train.with_level(["train", *words, *paths]))
    train.spec_of(args)  # refuses bad values
    return under_one_name(train.asked(args))


def refuse_contradictions(train_options: Sequence[str]) -> None:
    """Refuse flags of train that differ between runs or are set for each run. Flags may be abbreviated."""
    if {"-h", "--help"} & {*train_options}:
        raise InputError("--help after -- trains nothing: `il-morph train --help` shows the flags of train")
    flags = set(re.findall(r"^  (--[\w-]+)", train.__doc__ or "", re.M))
    for given in (option.split("=")[0] for option in train_options if re.match(r"--\w", option)):
        meant = [flag for flag in SET_FOR_EACH_RUN if flag == given or given not in flags and flag.startswith(given)]
        if meant:
            raise InputError(f"{given} after -- contradicts what is set for each run: {SET_FOR_EACH_RUN[meant[0]]}")


def selection(table: PaperTable, args: Arguments, train_options: dict[str, Any]) -> Selection:
    engine = choice(args, "--engine", ENGINES) if args["--engine"] is not None else None
    languages = "--tasks" if args["--tasks"] else "--languages"
    known = list(dict.fromkeys(system.model for system in table.systems))
    return Selection(
        data=folder(args, "--data", table.data), results=ResultsTree(folder(args, "--results", table.name)),
        settings=chosen(args, "--setting", table.settings), models=chosen(args, "--models", known, default=()),
        languages=chosen(args, languages, list(table.languages)), folds=chosen(args, "--folds", table.folds),
        seeds=seeds(args, table), engine=engine, train_options=train_options)


def folder(args: Arguments, flag: str, usual: str) -> Path:
    if args[flag] is not None:
        return Path(args[flag]).absolute()
    return Path(os.environ.get(PROJECT) or Path.cwd()) / flag.lstrip("-") / usual


def chosen(args: Arguments, flag: str, known: Sequence[str], default: Optional[Sequence[str]] = None) -> list[str]:
    """The words of a comma-separated list, checked against `known`. Without a list: `default`, or all known words."""
    if args[flag] is None:
        return list(known if default is None else default)
    words, there = words_of(args[flag]), f"there is: {' '.join(known)}"
    if not words:
        raise InputError(f"{flag}: {args[flag]!r} names nothing; {there}")
    for word in words:
        if word not in known:
            raise InputError(f"{flag}: no {word!r} here; {there}")
    return words


def words_of(text: str) -> list[str]:
    return list(dict.fromkeys(re.split("[, ]+", text.strip(", ")))) if text.strip(", ") else []


def seeds(args: Arguments, table: PaperTable) -> list[str]:
    if args["--seeds"] is None:
        return table.seeds
    words = words_of(args["--seeds"])
    if not words or not all(re.fullmatch("[0-9]{1,10}", word) and int(word) <= MAX_SEED for word in words):
        raise InputError(f"--seeds takes whole numbers up to {MAX_SEED} with commas between, not {args['--seeds']!r}")
    return list(dict.fromkeys(str(int(word)) for word in words))


def sbatch_options(args: Arguments) -> list[str]:
    if args["--sbatch-options"] and not args["--slurm"]:
        raise InputError("--sbatch-options belongs to --slurm: leave it out, or give --slurm")
    try:
        return shlex.split(args["--sbatch-options"] or "")
    except ValueError as error:
        raise InputError(f"--sbatch-options: {error} in {args['--sbatch-options']!r}") from None


def help_text(argv: Sequence[str]) -> str:
    """The usage, and the facts of the table when one is named."""
    facts = [facts_text(load_table(name)) for name in NAMES if name in argv[1:]]
    return "\n\n".join([str(__doc__).strip(), *facts])


def facts_text(table: PaperTable) -> str:
    papers = [system.model for system in table.systems if system.row != "-"]
    others = [system.model for system in table.systems if system.row == "-"]
    languages = [f"{each} (only {' '.join(table.only[each])})" if each in table.only else each
                 for each in table.languages]
    rows = {"settings:": table.settings, "models:": papers, "variants:": others, "languages:": languages,
            "folds:": table.folds, "seeds:": table.seeds}
    lines = [textwrap.fill(" ".join([name, *dict.fromkeys(words)]), width=100, initial_indent="  ",
                           subsequent_indent="    ", break_on_hyphens=False) for name, words in rows.items() if words]
    return "\n".join([f"{table.title}:", *lines])
