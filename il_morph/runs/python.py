"""Training from Python. Messages are written for the command line; here their flags become keyword arguments."""
from __future__ import annotations

import logging
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Optional

from il_morph.bars import hidden, in_notebook
from il_morph.errors import InputError
from il_morph.files import PathLike
from il_morph.runs.asked import DECLARED, SWITCHES, make_spec, seeds_of
from il_morph.runs.folds import MOST_FOLDS
from il_morph.runs.seeds import carry_out
from il_morph.values import integer

FLAG = re.compile(r'(?<![\w/.-])--([a-z]\w*(?:-\w+)*)(?:=("[^"]*"|[^\s:;()]*[^\s:;(),.]))?'
                  r'|(?<![\w/.-])(FILE|(TRAIN|DEV|RESULTS)-PATH)(?![\w/.-])')
ALIGNERS = {"align_smart", "align_cls", "align_dumb"}
PACKAGE = __name__.split(".")[0]
OF_SEVERAL = ("seeds", "folds", "jobs")
NAMES = {*DECLARED, *ALIGNERS, *OF_SEVERAL}


def train_as_asked(train: PathLike, dev: Optional[PathLike], results: PathLike, asked: Mapping[str, Any]) -> None:
    """Train what the arguments of `il_morph.train` ask for."""
    train, dev, results = map(no_flag, (train, dev, results))
    spec = make_spec(train, dev, results, {name: asked[name] for name in asked if name not in OF_SEVERAL})
    seeds = None if asked["seeds"] is None else seeds_of(asked["seeds"])
    jobs = None if asked["jobs"] is None else integer("--jobs", asked["jobs"], 1)
    folds = None if asked["folds"] is None else integer("--folds", asked["folds"], 2, MOST_FOLDS)
    if carry_out(spec, seeds, jobs, folds=folds):
        raise InputError(f"not all trainings in {results} have ended well: see the train.log of each")


def no_flag(path: Any) -> Any:
    """The path, with `./` in front if it looks like a flag, so that messages and processes take it for a path."""
    return f"./{path}" if isinstance(path, str) and path.startswith("--") else path


def in_python(message: str, names: Collection[str] = NAMES) -> str:
    """The message with keyword arguments instead of flags.

    `--force` is `force=True`, `--no-pos-emb` is `pos_emb=False`, `--il-k` is `il_k`, `--mode=il` is `mode="il"`.
    Flags that do not correspond to arguments with these names stay as they are.
    """
    return FLAG.sub(partial(_keyword, names), message)


def _keyword(names: Collection[str], found: re.Match[str]) -> str:
    if found[3]:
        return "train" if found[3] == "FILE" else found[4].lower()
    name, value = found[1].replace("-", "_"), found[2]
    if name.startswith("no_") and name[len("no_"):] in SWITCHES.intersection(names):
        return f"{name[len('no_'):]}=False"
    if name not in names:
        return found[0]
    if name in ALIGNERS:
        return f'aligner="{name[len("align_"):]}"'
    if value is None:
        return f"{name}=True" if name in DECLARED and isinstance(DECLARED[name].default, bool) else name
    return f"{name}={value}" if re.fullmatch(r'"[^"]*"|-?\d+(\.\d+)?', value) else f'{name}="{value}"'


@contextmanager
def shown(verbose: Any) -> Iterator[None]:
    """Show the log lines of the command, unless the program has its own logging; with verbose=False show neither lines
    nor bars. In a notebook the lines go to standard output, because standard error is shown in red, as errors."""
    logger = logging.getLogger(PACKAGE)
    handler = logging.StreamHandler(sys.stdout if in_notebook() else None)
    if verbose is False:
        with hidden():
            yield
        return
    if logger.hasHandlers():
        yield
        return
    handler.setFormatter(logging.Formatter("%(message)s"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def messages_in_python(names: Collection[str] = NAMES) -> Iterator[None]:
    """Let errors and log lines of il-morph name keyword arguments instead of flags."""
    make_record = logging.getLogRecordFactory()

    def worded(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make_record(*args, **kwargs)
        if record.name.split(".")[0] == PACKAGE:
            record.msg, record.args = in_python(record.getMessage(), names), ()
        return record

    logging.setLogRecordFactory(worded)
    try:
        yield
    except InputError as error:
        raise InputError(in_python(str(error), names)) from error
    finally:
        logging.setLogRecordFactory(make_record)
