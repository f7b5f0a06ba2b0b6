"""One thread for NumPy's products: how OpenBLAS adds up depends on the number of its threads."""

from __future__ import annotations

import ctypes
import logging
from pathlib import Path

import numpy as np

log = logging.getLogger(__name__)

FOLDERS = ("../numpy.libs", ".dylibs")  # where NumPy's wheels keep the OpenBLAS they bring along
SETTERS = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")


def use_one_thread() -> None:
    """For the rest of the process; says so if it cannot."""
    if not (limit_with_threadpoolctl() or limit_bundled_openblas()):
        log.warning("native engine: the threads of NumPy's products cannot be limited here; for the same results "
                    "with any number of threads set OPENBLAS_NUM_THREADS=1, or pip install threadpoolctl or numba")


def limit_with_threadpoolctl() -> bool:
    try:
        from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return False
    controller = ThreadpoolController().select(user_api="blas")
    controller.limit(limits=1)
    return bool(controller.lib_controllers)


def limit_bundled_openblas() -> bool:
    libraries = [path for folder in FOLDERS for path in sorted((Path(np.__file__).parent / folder).glob("*openblas*"))]
    return sum(map(limit_library, libraries)) > 0


def limit_library(path: Path) -> bool:
    library = ctypes.CDLL(str(path))  # loaded already: this is the one that NumPy uses
    for name in SETTERS:
        if hasattr(library, name):
            getattr(library, name)(1)
            return True
    return False
