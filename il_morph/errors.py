"""The error that is the user's to mend."""
from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed


def printable(text: str) -> str:
    """A text in which control characters are escaped: what comes from data must not steer a terminal."""
    return CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class InputError(Exception):
    """Something the user gave is wrong: the message says what, where, and what to do."""

    def __init__(self, message: str):
        super().__init__(printable(message))


@contextmanager
def errors_for_people(program: str) -> Iterator[None]:
    """A script that ends with the message of an InputError and exit code 2."""
    try:
        yield
    except InputError as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        sys.exit(2)
