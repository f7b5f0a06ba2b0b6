"""Progress bars, shown only on a terminal or in a notebook, and removed when done."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Optional

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

_hidden = False  # set while a caller in Python wants no bars

EPOCHS = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt} of at most {total_fmt} [{elapsed}, at most {remaining} left" \
         "{postfix}]"


def are_hidden() -> bool:
    return _hidden


@contextmanager
def hidden() -> Iterator[None]:
    """Hide all bars inside this context."""
    global _hidden
    before, _hidden = _hidden, True
    try:
        yield
    finally:
        _hidden = before


def in_notebook() -> bool:
    """Does this run in a notebook? Its streams are no terminals, but it can display bars of its own."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def make(*args: object, **kwargs: object) -> tqdm:
    """A bar, disabled where nobody would see it."""
    if in_notebook():
        from tqdm.auto import tqdm as auto

        return auto(*args, disable=_hidden, leave=False, **kwargs)
    return tqdm(*args, disable=True if _hidden else None, leave=False, **kwargs)  # None: only on a terminal


def bar(items: Iterable, what: str, unit: str = "sample") -> tqdm:
    return make(items, desc=what, unit=unit)


def meter(total: Optional[int], what: str, unit: str = "sample", done: int = 0) -> tqdm:
    """A bar that starts at `done` and is moved by its `update`."""
    return make(total=total, initial=done, desc=what, unit=unit)


@contextmanager
def epochs_bar(total: int, done: int) -> Iterator[tqdm]:
    """A bar over all epochs, above the bar of the current epoch; log lines appear above both."""
    with make(total=total, initial=done, desc="epochs", bar_format=EPOCHS) as moved:
        if moved.disable or in_notebook():
            yield moved
        else:
            own = logging.getLogger(__name__.split(".")[0])  # has a handler if `runs.python.shown` has added one
            with logging_redirect_tqdm([own] if own.handlers else None):
                yield moved
