"""Convert values that users give as text or as Python objects; errors name the flag and what it takes."""
from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

from il_morph.errors import InputError


def integer(flag: str, value: Any, low: Optional[int] = None, high: Optional[int] = None) -> int:
    expected = "a whole number" + (f" from {low} up" if low is not None else "")
    expected += f" to {high}" if high is not None else ""
    try:
        found = int(str(value))
    except ValueError:
        raise bad_value(flag, value, expected) from None
    if (low is not None and found < low) or (high is not None and found > high):
        raise bad_value(flag, value, expected)
    return found


def number(flag: str, value: Any, low: Optional[float] = None, high: Optional[float] = None) -> float:
    """A finite number."""
    expected = "a number"
    if low is not None:
        expected += f" from {low:g}" + (" up" if high is None else "")
    if high is not None:
        expected += f" up to {high:g}"
    try:
        found = float(str(value))
    except ValueError:
        raise bad_value(flag, value, expected) from None
    if not math.isfinite(found) or (low is not None and found < low) or (high is not None and found > high):
        raise bad_value(flag, value, expected)
    return found


def choice(flag: str, value: Any, choices: Sequence[str]) -> str:
    if value not in choices:
        raise bad_value(flag, value, "one of " + ", ".join(choices))
    return value


def switch(name: str, value: Any) -> bool:
    """True or False: only callers in Python can give anything else."""
    if not isinstance(value, bool):
        raise bad_value(name, value, "True or False")
    return value


def text(name: str, value: Any) -> str:
    """A string: only callers in Python can give anything else."""
    if not isinstance(value, str):
        raise bad_value(name, value, "a string")
    return value


def path_of(name: str, path: Any) -> str:
    """The path as a string. A path that a script left empty is an error, not a path that was left out."""
    found = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(found, str):
        raise InputError(f"{name} takes a path, not {type(path).__name__}")
    if not found:
        raise InputError(f"{name} is empty: give a path")
    return found


def items_of(name: str, values: Any) -> list:
    """The items of a list, a tuple or a generator. Refuses a string, a mapping, a set or a table:
    iterating over them would give something else."""
    others = (str, bytes, bytearray, Mapping, set, frozenset)
    if isinstance(values, others) or hasattr(values, "columns") or not isinstance(values, Iterable):
        raise InputError(f"{name} takes a list, not {type(values).__name__}")
    return list(values)


def bad_value(flag: str, value: Any, expected: str) -> InputError:
    return InputError(f"{flag} takes {expected}, not {value!r}")
