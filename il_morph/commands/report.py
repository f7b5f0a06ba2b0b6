"""Make a page about finished training runs: learning curve, accuracies, and every error step by step.

Usage:
  il-morph report [options] RESULTS...

RESULTS are folders of `il-morph train`; a folder of --seeds stands for all its seeds. Several runs on the
same data are shown side by side: seeds with their spread and their vote. The page is one file and needs
no network. It shows the settings and the command, the learning curve, the accuracy by part of speech, by
feature, by what training showed and by length, which edits go wrong, and every error with its edits and
steps, to filter and sort. It needs Jinja2 and matplotlib.

Options:
  --output=FILE     the page; - is standard output [default: report.html]
  --part=PART       dev or test (default: test if it has outputs, else dev)
  --search=NAME     predictions to show: greedy, beam4 and so on (default: the widest beam)
  --train=FILE      the training data, if it has moved or is not below the current folder
  --dev=FILE        the development data, likewise
  --test=FILE       the test data, likewise, or to add the outputs it lacked
  --force           overwrite FILE
  -h --help         show this text
"""
from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Sequence
from contextlib import suppress

from il_morph.commands import train
from il_morph.commands.arguments import (
    Arguments,
    choice,
    optional,
    parse_arguments,
    refuse_empty,
    split_at_end_of_flags,
    usage_error,
)
from il_morph.commands.streams import write_out
from il_morph.data.splitting import NAMES, suffix_of
from il_morph.errors import InputError
from il_morph.files import STREAM, read_regular, refuse_to_overwrite, write_output
from il_morph.model.combination import refuse_model_as_output
from il_morph.report.finished import PARTS, FinishedRun, Places, is_search, judge, read_run, short_names
from il_morph.report.runs_page import runs_page
from il_morph.run_folder import RunFolder
from il_morph.runs.spec import RunSpec

log = logging.getLogger(__name__)


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    refuse_empty(args, "--output", "--train", "--dev", "--test")
    part, search = optional(choice, args, "--part", None, PARTS), args["--search"]
    if search is not None and not is_search(search):
        raise InputError(f"--search takes greedy, or beam and its width as in beam4, not {search!r}")
    output = args["--output"]
    if output != STREAM:
        refuse_to_overwrite(output, args["--force"])
        refuse_model_as_output(output, args["RESULTS"])
    paths = [run for path in args["RESULTS"] for run in runs_in(path)]
    runs = [read_run(path, name) for path, name in zip(paths, short_names(paths))]
    places = places_of(args, runs[0])
    if output != STREAM:
        refuse_own_files(output, runs, places)
    page = runs_page(judge(runs, places, part, search))
    if output == STREAM:
        write_out(page)
    else:
        write_output(output, page)
        log.info("wrote %s", output)
    return 0


def runs_in(path: str) -> list[str]:
    """The folder of a run, or the folders of the finished seeds in a folder of seeds."""
    root = RunFolder(path)
    seeds = [] if root.model.exists() else [seed for seed in root.seeds() if seed.remains()]
    finished = [str(seed.path) for seed in seeds if seed.finished]
    if root.finished or not finished:
        return [path]
    for seed in seeds:
        if not seed.finished:
            log.warning("%s is not finished, and left out", seed.path)
    if has_folds(root) and not any(root.path.glob("f.*.test.predictions")):
        raise InputError(f"{path} holds folds, each with development data of its own, and no test data: give one of "
                         f"them, for example {finished[0]}, or train with --test-path")
    return finished


def has_folds(root: RunFolder) -> bool:
    """Were the runs in this folder made by `il-morph train --folds`?"""
    with suppress(InputError, ValueError, TypeError):
        return "folds" in json.loads(read_regular(root.seeds_identity))
    return False


def refuse_own_files(target: str, runs: Sequence[FinishedRun], places: Places) -> None:
    """Refuse to overwrite the files that the page is about, even with --force."""
    for run in runs:
        own = [*map(str, run.files()), *places.all()]
        with suppress(InputError):  # an invalid command names no data
            spec = recorded_spec(run)
            own += [*recorded_places(run).all(), spec.train, *([spec.reload_path] if spec.reload_path else [])]
        if os.path.realpath(target) in map(os.path.realpath, filter(os.path.exists, own)):
            raise InputError(f"{target} belongs to the run {run.name} or its data: choose another name for the output")


def places_of(args: Arguments, finished: FinishedRun) -> Places:
    """Where the data is: from the flags, or else from the command of the run."""
    given = Places(args["--train"], args["--dev"], args["--test"])
    if len(given.all()) == len(NAMES):
        return given
    recorded = recorded_places(finished)
    return Places(given.train or recorded.train, given.dev or recorded.dev, given.test or recorded.test,
                  frozenset(part for part in NAMES if given.of(part) is None))


def recorded_places(finished: FinishedRun) -> Places:
    """The data that the run was made with. If the run split a file, the parts are in its folder."""
    spec = recorded_spec(finished)
    if spec.dev is not None:
        return Places(spec.train, spec.dev, spec.test_path)
    own_train, own_dev, own_test = (str(finished.folder.path / f"{name}{suffix_of(spec.train)}") for name in NAMES)
    return Places(own_train, own_dev, spec.test_path or own_test)


def recorded_spec(finished: FinishedRun) -> RunSpec:
    """The specification of the run, from f.stats. Version 2 recorded only the command."""
    stats = finished.stats
    try:
        if "run" in stats:
            return RunSpec.from_dict(stats["run"])
        argv = stats["command"][1:]
        if any(re.match("-[^-]*h|--help", word) for word in split_at_end_of_flags(argv)[0]):  # docopt would show it
            raise usage_error(train.__doc__, "it asks for help")
        return train.spec_of(parse_arguments(train.__doc__, train.with_level(argv)))
    except (InputError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{finished.folder.stats}: the recorded command is not an `il-morph train` command ({error}): "
                         "run it again, or give its data with --train, --dev and --test") from error
