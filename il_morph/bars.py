"""Progress bars: only on a terminal, gone when done."""

from __future__ import annotations

from typing import Iterable

from tqdm import tqdm


def bar(items: Iterable, what: str, unit: str = "sample") -> tqdm:
    return tqdm(items, desc=what, unit=unit, disable=None, leave=False)
