"""Command line arguments: docopt, and values of flags with errors that name the flag."""
from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Callable, Optional

import docopt

from il_morph.data.formats import ReadOptions, Separators, complaint_about_columns, format_from_flags
from il_morph.data.spelling import AS_IS, FORMS
from il_morph.data.symbols import complaint_about_separator
from il_morph.errors import InputError

Arguments = dict[str, Any]
END_OF_FLAGS = "--"
NO_FLAG = "\0"  # stands before words that are no flags, while docopt reads them


class UsageError(InputError):
    """The arguments do not fit the usage text, which is carried along."""

    def __init__(self, message: str, usage: str):
        super().__init__(message)
        self.usage = usage


def require_usage(doc: Optional[str]) -> str:
    """Usage texts are docstrings, which `python -OO` leaves out."""
    if not doc:
        raise InputError("il-morph needs its docstrings, which say what arguments there are, and Python was told to "
                         "leave them out: run it without -OO, and without PYTHONOPTIMIZE=2")
    return doc


def parse_arguments(doc: Optional[str], argv: Sequence[str]) -> Arguments:
    """Parse `argv` (the name of the command first) after a docopt usage text. After `--` nothing is a flag."""
    doc = require_usage(doc)
    argv, words = split_at_end_of_flags(argv)
    try:
        args = docopt.docopt(doc, argv=[*argv, *(NO_FLAG + word for word in words)])
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


def split_at_end_of_flags(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before and after the first `--`."""
    end = list(argv).index(END_OF_FLAGS) if END_OF_FLAGS in argv else len(argv)
    return list(argv[:end]), list(argv[end + 1:])


def without_mark(value: Any) -> Any:
    if isinstance(value, list):
        return [without_mark(each) for each in value]
    return value[len(NO_FLAG):] if isinstance(value, str) and value.startswith(NO_FLAG) else value


def refuse_empty(args: Arguments, *names: str, advice: str = "give a file, or leave it out") -> None:
    """A path that a script left empty is none, and not one that was left out."""
    for name in names:
        if args[name] == "":
            raise InputError(f"{name} is empty: {advice}")


def usage_error(doc: str, message: str) -> UsageError:
    """Arguments that fit the usage text by their number alone."""
    return UsageError(message, docopt.printable_usage(doc).strip())


def integer(args: Arguments, flag: str, minimum: Optional[int] = None, maximum: Optional[int] = None) -> int:
    """The value of a flag that takes a whole number."""
    expected = "a whole number" + (f" from {minimum} up" if minimum is not None else "")
    expected += f" to {maximum}" if maximum is not None else ""
    try:
        value = int(args[flag])
    except ValueError:
        raise _bad_value(args, flag, expected) from None
    if (minimum is not None and value < minimum) or (maximum is not None and value > maximum):
        raise _bad_value(args, flag, expected)
    return value


def number(args: Arguments, flag: str, minimum: Optional[float] = None,
           maximum: Optional[float] = None) -> float:
    """The value of a flag that takes a finite number."""
    expected = "a number"
    if minimum is not None:
        expected += f" from {minimum:g}" + (" up" if maximum is None else "")
    if maximum is not None:
        expected += f" up to {maximum:g}"
    try:
        value = float(args[flag])
    except ValueError:
        raise _bad_value(args, flag, expected) from None
    too_low = minimum is not None and value < minimum
    too_high = maximum is not None and value > maximum
    if not math.isfinite(value) or too_low or too_high:
        raise _bad_value(args, flag, expected)
    return value


def choice(args: Arguments, flag: str, values: Sequence[str]) -> str:
    """The value of a flag that takes one of a few words."""
    if args[flag] not in values:
        raise _bad_value(args, flag, "one of " + ", ".join(values))
    return args[flag]


def read_options_of(args: Arguments) -> ReadOptions:
    """How data is read: the format that the flags choose, or none, which leaves it to recognition."""
    old = [flag for flag in ("--sigm2017format", "--no-feat-format") if args[flag]]
    new = [flag for flag in ("--columns", "--feature-separator") if args[flag] is not None]
    if old and new:
        raise InputError(f"{old[0]} and {new[0]} exclude each other: give one of them")
    fmt = format_from_flags(args["--sigm2017format"], args["--no-feat-format"]) if old else None
    return ReadOptions(format=fmt, columns=named_columns(args), separator=feature_separator(args),
                       unicode=optional(choice, args, "--unicode", AS_IS, FORMS) if "--unicode" in args else AS_IS,
                       separators=separators_of(args))


def separators_of(args: Arguments) -> Separators:
    """What stands between symbols; commands without these flags have none."""
    return Separators(*(optional(separator, args, flag, "") if flag in args else ""
                        for flag in ("--input-separator", "--output-separator")))


def separator(args: Arguments, flag: str) -> str:
    """The value of a flag that takes what stands between symbols; an empty one is none."""
    complaint = complaint_about_separator(args[flag])
    if complaint:
        raise InputError(f"{flag}={args[flag]!r}: {complaint}")
    return args[flag]


def named_columns(args: Arguments) -> Optional[tuple[str, ...]]:
    """The columns that --columns names."""
    if args["--columns"] is None:
        return None
    columns = tuple(args["--columns"].split(","))
    complaint = complaint_about_columns(columns)
    if complaint:
        raise InputError(f"--columns={args['--columns']}: {complaint}; name the columns as in "
                         "--columns=input,features,output")
    return columns


def feature_separator(args: Arguments) -> Optional[str]:
    separator = args["--feature-separator"]
    if separator is not None and (not separator or re.search(r"[\s\w()]", separator) and separator != " "):
        raise _bad_value(args, "--feature-separator", "what stands between features, as in --feature-separator=\";\"")
    if separator is not None and args["--columns"] is not None and "features" not in args["--columns"].split(","):
        raise InputError("--feature-separator needs a column of features: name it in --columns, or leave the flag out")
    return separator


def optional(convert: Callable, args: Arguments, flag: str, default: Any, *bounds: Any) -> Any:
    """The converted value of a flag, or the default if it was not given."""
    return default if args[flag] is None else convert(args, flag, *bounds)


def chosen_aligner(args: Arguments, *others: str) -> Optional[str]:
    """The aligner that a flag --align-NAME names; `others` are choices that exclude them."""
    named = [name for name in ("smart", "cls", "dumb", *others) if args[f"--align-{name}"]]
    if len(named) > 1:
        raise InputError(f"--align-{named[0]} and --align-{named[1]} exclude each other: give one of them")
    return next((name for name in named if name not in others), None)


def _bad_value(args: Arguments, flag: str, expected: str) -> InputError:
    return InputError(f"{flag} takes {expected}, not {args[flag]!r}")


def _unknown_flags(doc: str, argv: Sequence[str]) -> list[str]:
    known = re.findall(r"--[\w-]+", doc) + ["--help"]
    return [flag for flag in _flags(argv) if not any(name.startswith(flag) for name in known)]


def _repeated_flags(argv: Sequence[str]) -> list[str]:
    given = _flags(argv)
    return [flag for flag in given if given.count(flag) > 1]


def _flags(argv: Sequence[str]) -> list[str]:
    return [argument.split("=")[0] for argument in argv if re.match(r"--\w", argument)]
