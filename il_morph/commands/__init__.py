"""The command line: `il-morph COMMAND …` runs `il_morph.commands.COMMAND.run`."""
from __future__ import annotations

import difflib
import importlib
import logging
import os
import signal
import sys
from errno import ENOMEM
from types import ModuleType
from typing import Optional

# Limit NumPy's matrix products to one thread unless the user sets these variables: the products are small, and
# threads that wait for each other on a busy machine make them many times slower. NumPy reads the variables on import.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from il_morph import __version__
from il_morph.commands.arguments import UsageError, require_usage, split_at_end_of_flags
from il_morph.errors import InputError, printable
from il_morph.limits import require_products

COMMANDS = {
    "train": "train a model, decode and score the development and test data",
    "predict": "transduce a file with a trained model",
    "paradigm": "show all forms of a lemma",
    "suggest": "say which words to ask next: a sheet to fill in",
    "score": "compute log probabilities of given outputs",
    "evaluate": "score predictions against gold data",
    "ensemble": "let the predictions of several models vote",
    "check": "check data files for what looks wrong",
    "split": "split a file into training, development and test data",
    "explain": "show what a model does with a word, step by step",
    "report": "make a page about finished training runs",
    "serve": "serve a page to try words in",
    "align": "show alignments and gold action sequences",
    "augment": "show hallucinated samples, as `train --augment` makes them",
    "run": "train the models of one of the paper's tables, here or on Slurm",
    "table": "print measured results beside the figures of the paper",
    "completion": "complete commands and flags in bash or zsh",
}

OUT_OF_MEMORY = ("there is not enough memory for this: lower --batch-size, --decbatch-size, --beam-width, "
                 "--sample-size or the sizes of the network, whichever the command has, or give shorter or fewer lines")

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


class PrintableFormatter(logging.Formatter):
    """A formatter that escapes control characters, because messages and warnings quote data."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def main(argv: Optional[list[str]] = None) -> int:
    """Run the command line and return its exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PrintableFormatter("il-morph: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    if _say_closed():
        return BAD_INPUT
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # file names may not be UTF-8
    try:
        code = _dispatch(argv)
        sys.stdout.flush()
        return code
    except InputError as error:
        print(f"il-morph: error: {error}", file=sys.stderr)
        if isinstance(error, UsageError):
            print(error.usage, file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("il-morph: interrupted", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        return _say_out_of_memory()
    except BrokenPipeError:
        _give_up_output()
        return BROKEN_PIPE
    except OSError as error:  # for example a full disk; il_morph.files raises InputError itself
        if error.errno == ENOMEM:
            return _say_out_of_memory()
        _give_up_output()
        where = error.filename or "the standard output"
        said = f"cannot write {where}: {error.strerror}" if error.errno else str(error)
        print(f"il-morph: error: {printable(said)}", file=sys.stderr)
        return BAD_INPUT


def _say_out_of_memory() -> int:
    print(f"il-morph: error: {OUT_OF_MEMORY}", file=sys.stderr)
    return BAD_INPUT


def _say_closed() -> bool:
    """Report whether a standard stream is closed, with an error message if so.

    The next file opened would take the place of the stream, and be read or overwritten.
    """
    streams = {"input": sys.stdin, "output": sys.stdout, "error": sys.stderr}
    closed = [name for name, stream in streams.items() if stream is None]
    if closed and sys.stderr is not None:
        print(f"il-morph: error: the standard {closed[0]} is closed: redirect it to /dev/null if you do not need it",
              file=sys.stderr)
    elif closed and sys.stdout is not None:
        print("il-morph: error: the standard error is closed: redirect it to /dev/null if you do not need it")
    return bool(closed)


def _give_up_output() -> None:
    """Redirect standard output to /dev/null, so that the interpreter does not flush into a broken output again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(argv: list[str]) -> int:
    if not argv:
        print(_overview(), file=sys.stderr)
        return BAD_INPUT
    name = argv[0]
    if name in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if name == "--version":
        print(f"il-morph {__version__}")
        return 0
    if name not in COMMANDS:
        raise UsageError(f"unknown command {name!r}{_suggestion(name)}", _overview())
    command = _load(name)
    require_products()
    usage = require_usage(command.__doc__)
    if {"-h", "--help"} & {*split_at_end_of_flags(argv)[0]}:
        print(command.help_text(argv) if hasattr(command, "help_text") else usage.strip())
        return 0
    return command.run(argv)


def _load(name: str) -> ModuleType:
    """Import the module of a command. Ctrl-C is blocked meanwhile: some libraries turn it into an ImportError."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return importlib.import_module(f"il_morph.commands.{name}")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _suggestion(name: str) -> str:
    similar = difflib.get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean {similar[0]}?" if similar else ""


def _overview() -> str:
    lines = [f"  {name:<12}{purpose}" for name, purpose in COMMANDS.items()]
    return "\n".join([
        "Usage: il-morph COMMAND [options] …", "",
        "Commands:", *lines, "",
        "il-morph COMMAND --help shows the arguments of a command, il-morph --version the version.",
    ])
