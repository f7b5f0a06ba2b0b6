"""What to do where the memory of a process is limited (`ulimit -v`, a job's limit): see first, and say.

Libraries end the process without a word of ours when they get no memory, NumPy's OpenBLAS among them.
"""
from __future__ import annotations

import mmap

MEGABYTE = 2**20
LIBRARIES = 160 * MEGABYTE  # what NumPy and its OpenBLAS take when they are imported, at least
PRODUCTS = 48 * MEGABYTE  # what OpenBLAS takes for its first large product, at least
COMPILER = 448 * MEGABYTE  # what Numba takes with all that it compiles, and some to work with
PRODUCT_SIZE = 512  # of a product that is large


def is_limited() -> bool:
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def require(size: int) -> None:
    """A MemoryError unless there is so much."""
    try:
        mmap.mmap(-1, size).close()
    except OSError as error:
        raise MemoryError(str(error)) from error


def require_libraries() -> None:
    """Before NumPy is imported."""
    if is_limited():
        require(LIBRARIES)


def require_compiler() -> None:
    """Before Numba is imported."""
    if is_limited():
        require(COMPILER)


def require_products() -> None:
    """After NumPy was imported: let OpenBLAS take its memory now, while nothing is half-written."""
    if is_limited():
        require(PRODUCTS)
        import numpy as np

        square = np.zeros((PRODUCT_SIZE, PRODUCT_SIZE), dtype=np.float32)
        square @ square
