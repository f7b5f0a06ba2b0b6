"""The error that is the user's to mend."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class InputError(Exception):
    """Something the user gave is wrong: the message says what, where, and what to do."""


@contextmanager
def errors_for_people(program: str) -> Iterator[None]:
    """A script that ends with the message of an InputError and exit code 2."""
    try:
        yield
    except InputError as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        sys.exit(2)
