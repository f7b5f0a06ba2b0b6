"""Progress bars: only on a terminal, gone when done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Optional

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

EPOCHS = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt} of at most {total_fmt} [{elapsed}, at most {remaining} left" \
         "{postfix}]"


def bar(items: Iterable, what: str, unit: str = "sample") -> tqdm:
    return tqdm(items, desc=what, unit=unit, disable=None, leave=False)


def meter(total: Optional[int], what: str, unit: str = "sample") -> tqdm:
    """A bar that is moved by its `update`."""
    return tqdm(total=total, desc=what, unit=unit, disable=None, leave=False)


@contextmanager
def epochs_bar(total: int, done: int) -> Iterator[tqdm]:
    """A bar over all epochs, above that of the current one; what is logged meanwhile appears above both."""
    with tqdm(total=total, initial=done, desc="epochs", disable=None, leave=False, bar_format=EPOCHS) as moved:
        if moved.disable:
            yield moved
        else:
            with logging_redirect_tqdm():
                yield moved
