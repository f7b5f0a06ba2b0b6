"""Limits NumPy's matrix products to one thread.

The products are small: on a busy machine, threads that wait for each other make them many times slower. Besides, the
way OpenBLAS adds up depends on the number of its threads. The command line sets the limit before NumPy is imported; a
program that uses il_morph may have imported NumPy already, and may want threads elsewhere.
"""
from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Optional

import numpy as np

log = logging.getLogger(__name__)

FOLDERS = ("../numpy.libs", ".dylibs")  # where NumPy's wheels keep the OpenBLAS they bring along
FUNCTIONS = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")

_limiting = threading.Lock()  # held by the call that has set the limit, which applies to the whole process


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread. The call that sets the limit also removes it; calls in between, from any thread, do not.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    before = [library.threads for library in libraries()]
    try:
        set_threads([1] * len(before))
        yield
    finally:
        set_threads(before)
        _limiting.release()


def use_one_thread() -> None:
    """Limit the rest of the process to one thread; warn if that is not possible."""
    set_threads([1] * len(libraries()))
    if not libraries():
        log.warning("the threads of NumPy's products cannot be limited here; for the same results with any number of "
                    "threads set OPENBLAS_NUM_THREADS=1, or pip install threadpoolctl or numba")


def set_threads(numbers: list[int]) -> None:
    for library, number in zip(libraries(), numbers):
        library.threads = number


@cache
def libraries() -> list[Any]:
    """The libraries whose threads can be limited: those that threadpoolctl finds, or else NumPy's own OpenBLAS."""
    try:
        from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return bundled_libraries()
    return [Controlled(each) for each in ThreadpoolController().select(user_api="blas").lib_controllers]


class Controlled:
    """A library controlled by threadpoolctl."""

    def __init__(self, controller: Any):
        self.controller = controller

    @property
    def threads(self) -> int:
        return self.controller.get_num_threads()

    @threads.setter
    def threads(self, number: int) -> None:
        self.controller.set_num_threads(number)


class Bundled:
    """The OpenBLAS that came with NumPy. It is already loaded, so this is the copy that NumPy uses."""

    def __init__(self, library: Any, function: str):
        self.get, self.set = (getattr(library, function.format(verb)) for verb in ("get", "set"))

    @property
    def threads(self) -> int:
        return self.get()

    @threads.setter
    def threads(self, number: int) -> None:
        self.set(number)


def bundled_libraries() -> list[Any]:
    paths = [path for folder in FOLDERS for path in sorted((Path(np.__file__).parent / folder).glob("*openblas*"))]
    return [found for found in map(bundled, paths) if found]


def bundled(path: Path) -> Optional[Bundled]:
    library = ctypes.CDLL(str(path))
    name = next((name for name in FUNCTIONS if hasattr(library, name.format("set"))), None)
    return Bundled(library, name) if name else None
