"""The error for mistakes that the user can fix."""
from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed


def printable(text: str) -> str:
    """Escape the control characters of a text: data must not control the terminal."""
    return CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class InputError(Exception):
    """An error in what the user gave: the message says what is wrong, where, and what to do."""

    def __init__(self, message: str):
        super().__init__(printable(message))


@contextmanager
def errors_for_people(program: str) -> Iterator[None]:
    """End a script on an InputError: print its message and exit with code 2."""
    try:
        yield
    except InputError as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        sys.exit(2)
