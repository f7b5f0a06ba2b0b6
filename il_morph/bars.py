"""Progress bars: only on a terminal, gone when done."""

from __future__ import annotations

from typing import Iterable, Optional

from tqdm import tqdm


def bar(items: Iterable, what: str, unit: str = "sample") -> tqdm:
    return tqdm(items, desc=what, unit=unit, disable=None, leave=False)


def meter(total: Optional[int], what: str, unit: str = "sample") -> tqdm:
    """A bar that is moved by its `update`."""
    return tqdm(total=total, desc=what, unit=unit, disable=None, leave=False)
