"""Command line arguments: docopt, and values of flags with errors that name the flag."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Callable, Optional

import docopt

from il_morph import values
from il_morph.data.formats import ReadOptions, Separators
from il_morph.data.read_options import read_options, symbol_separators
from il_morph.data.spelling import AS_IS, FORMS
from il_morph.errors import InputError

Arguments = dict[str, Any]
END_OF_FLAGS = "--"
NO_FLAG = "\0"  # prefix of words after `--` while docopt parses them, so that none is taken for a flag


class UsageError(InputError):
    """Arguments that do not fit the usage text; carries the usage text."""

    def __init__(self, message: str, usage: str):
        super().__init__(message)
        self.usage = usage


def require_usage(doc: Optional[str]) -> str:
    """Return the usage text. Refuse to run without it: usage texts are docstrings, which `python -OO` strips."""
    if not doc:
        raise InputError("il-morph needs its docstrings, which say what arguments there are, and Python was told to "
                         "leave them out: run it without -OO, and without PYTHONOPTIMIZE=2")
    return doc


def parse_arguments(doc: Optional[str], argv: Sequence[str]) -> Arguments:
    """Parse `argv` (command name first) with a docopt usage text. Nothing after `--` is a flag."""
    doc = require_usage(doc)
    argv, words = split_at_end_of_flags(argv)
    try:
        args = docopt.docopt(doc, argv=[*argv, *(NO_FLAG + word for word in words)])
        _refuse_flags_as_values(args, argv)
        return {name: without_mark(value) for name, value in args.items()}
    except docopt.DocoptExit as exit_:
        usage = docopt.DocoptExit.usage.strip()
        complaint = str(exit_).replace(usage, "").strip()
        unknown, repeated = _unknown_flags(doc, argv), _repeated_flags(argv)
        if unknown:
            complaint = f"unknown flag {unknown[0]}"
        elif repeated:
            complaint = f"{repeated[0]} is given twice"
        raise UsageError(complaint or "the arguments do not fit the usage", usage) from None


def _refuse_flags_as_values(args: Arguments, argv: Sequence[str]) -> None:
    """Refuse a flag in place of a value: docopt takes any word after a flag as its value."""
    for flag, value in args.items():
        if flag.startswith("--") and isinstance(value, str) and re.match(r"--\w", value) and value in argv:
            raise InputError(f"{flag} lacks its value: {value} is a flag; if it is the value, write {flag}={value}")


def split_at_end_of_flags(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before and after the first `--`."""
    end = list(argv).index(END_OF_FLAGS) if END_OF_FLAGS in argv else len(argv)
    return list(argv[:end]), list(argv[end + 1:])


def without_mark(value: Any) -> Any:
    if isinstance(value, list):
        return [without_mark(each) for each in value]
    return value[len(NO_FLAG):] if isinstance(value, str) and value.startswith(NO_FLAG) else value


def refuse_empty(args: Arguments, *names: str, advice: str = "give a file, or leave it out") -> None:
    """Refuse an empty path, as a script may pass it: it is not a path, and not the same as no argument."""
    for name in names:
        if args[name] == "":
            raise InputError(f"{name} is empty: {advice}")


def usage_error(doc: str, message: str) -> UsageError:
    """An error for arguments that match the usage text only in number."""
    return UsageError(message, docopt.printable_usage(doc).strip())


def integer(args: Arguments, flag: str, minimum: Optional[int] = None, maximum: Optional[int] = None) -> int:
    """The value of a flag that takes a whole number."""
    return values.integer(flag, args[flag], minimum, maximum)


def number(args: Arguments, flag: str, minimum: Optional[float] = None, maximum: Optional[float] = None) -> float:
    """The value of a flag that takes a finite number."""
    return values.number(flag, args[flag], minimum, maximum)


def choice(args: Arguments, flag: str, choices: Sequence[str]) -> str:
    """The value of a flag that takes one of a few words."""
    return values.choice(flag, args[flag], choices)


def read_options_of(args: Arguments) -> ReadOptions:
    """How to read the data: in the format that the flags choose; without such flags the format is recognised."""
    return read_options(args["--sigm2017format"], args["--no-feat-format"], args["--columns"],
                        args["--feature-separator"],
                        optional(choice, args, "--unicode", AS_IS, FORMS) if "--unicode" in args else AS_IS,
                        separator_flags(args))


def separator_flags(args: Arguments) -> Separators:
    """The separators between symbols; empty for commands without these flags."""
    return symbol_separators(args.get("--input-separator"), args.get("--output-separator"), args.get("--boundary"))


def optional(convert: Callable, args: Arguments, flag: str, default: Any, *bounds: Any) -> Any:
    """The converted value of a flag, or the default if it was not given."""
    return default if args[flag] is None else convert(args, flag, *bounds)


def chosen_aligner(args: Arguments, *others: str) -> Optional[str]:
    """The aligner named by a flag --align-NAME, if any; `others` are further NAMEs that exclude an aligner."""
    named = [name for name in ("smart", "cls", "dumb", *others) if args[f"--align-{name}"]]
    if len(named) > 1:
        raise InputError(f"--align-{named[0]} and --align-{named[1]} exclude each other: give one of them")
    return next((name for name in named if name not in others), None)


def _unknown_flags(doc: str, argv: Sequence[str]) -> list[str]:
    known = re.findall(r"--[\w-]+", doc) + ["--help"]
    return [flag for flag in _flags(argv) if not any(name.startswith(flag) for name in known)]


def _repeated_flags(argv: Sequence[str]) -> list[str]:
    given = _flags(argv)
    return [flag for flag in given if given.count(flag) > 1]


def _flags(argv: Sequence[str]) -> list[str]:
    return [argument.split("=")[0] for argument in argv if re.match(r"--\w", argument)]
