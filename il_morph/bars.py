"""Progress bars: only on a terminal or in a notebook, gone when done."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Optional

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

_hidden = False  # whether Python has asked for silence

EPOCHS = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt} of at most {total_fmt} [{elapsed}, at most {remaining} left" \
         "{postfix}]"


def are_hidden() -> bool:
    return _hidden


@contextmanager
def hidden() -> Iterator[None]:
    """No bars meanwhile."""
    global _hidden
    before, _hidden = _hidden, True
    try:
        yield
    finally:
        _hidden = before


def in_notebook() -> bool:
    """Does this run in a notebook, whose streams are no terminals but which has bars of its own?"""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def make(*args: object, **kwargs: object) -> tqdm:
    """A bar where it can be seen."""
    if in_notebook():
        from tqdm.auto import tqdm as auto

        return auto(*args, disable=_hidden, leave=False, **kwargs)
    return tqdm(*args, disable=True if _hidden else None, leave=False, **kwargs)  # None: only on a terminal


def bar(items: Iterable, what: str, unit: str = "sample") -> tqdm:
    return make(items, desc=what, unit=unit)


def meter(total: Optional[int], what: str, unit: str = "sample", done: int = 0) -> tqdm:
    """A bar that is moved by its `update`, from where it is already."""
    return make(total=total, initial=done, desc=what, unit=unit)


@contextmanager
def epochs_bar(total: int, done: int) -> Iterator[tqdm]:
    """A bar over all epochs, above that of the current one; what is logged meanwhile appears above both."""
    with make(total=total, initial=done, desc="epochs", bar_format=EPOCHS) as moved:
        if moved.disable or in_notebook():
            yield moved
        else:
            own = logging.getLogger(__name__.split(".")[0])  # has a handler where Python has asked for the lines
            with logging_redirect_tqdm([own] if own.handlers else None):
                yield moved
