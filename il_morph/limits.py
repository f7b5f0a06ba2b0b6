"""Check that there is enough memory where the memory of a process is limited (`ulimit -v`, the limit of a job).

Libraries that get no memory, such as NumPy's OpenBLAS, end the process before we can report an error.
"""
from __future__ import annotations

import mmap

MEGABYTE = 2**20
LIBRARIES = 160 * MEGABYTE  # the least that NumPy and its OpenBLAS take when they are imported
PRODUCTS = 48 * MEGABYTE  # the least that OpenBLAS takes for its first large product
COMPILER = 448 * MEGABYTE  # what Numba and all that it compiles take, plus some to work with
PRODUCT_SIZE = 512  # rows and columns of matrices whose product is large


def is_limited() -> bool:
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def require(size: int) -> None:
    """Raise a MemoryError unless this many bytes are available."""
    try:
        mmap.mmap(-1, size).close()
    except OSError as error:
        raise MemoryError(str(error)) from error


def require_libraries() -> None:
    """To be called before NumPy is imported."""
    if is_limited():
        require(LIBRARIES)


def require_compiler() -> None:
    """To be called before Numba is imported."""
    if is_limited():
        require(COMPILER)


def require_products() -> None:
    """To be called after NumPy is imported: lets OpenBLAS take its memory now, while nothing is half-written."""
    if is_limited():
        require(PRODUCTS)
        import numpy as np

        square = np.zeros((PRODUCT_SIZE, PRODUCT_SIZE), dtype=np.float32)
        square @ square
