"""Kernels are loaded from Numba's cache; another process compiles the kernels that it lacks.

Code that Numba has just compiled may round differently from the same code loaded from the cache. A training that
compiled its own kernels would differ in the last bits from the same training started again.
"""

from __future__ import annotations

import atexit
import logging
import os
import pickle
import subprocess
import sys
from functools import cache, partial
from importlib import import_module
from typing import Any, Callable

from numba import njit
from numba.core import config
from numba.core.caching import FunctionCache

from il_morph.bars import meter

log = logging.getLogger(__name__)
SERVER = "from il_morph.engines.native.compilation import serve; serve()"
KERNELS = 12  # the number that a training of CA-R needs
compiles_here = False  # True in the process that compiles


def compiled_with(**flags: Any) -> Callable:
    """A decorator for cached kernels: `njit` with these flags."""
    return partial(_compiled, flags)


def _compiled(flags: dict[str, Any], function: Callable) -> Any:
    dispatcher = njit(**flags)(function)
    dispatcher._cache = KernelCache(function)
    return dispatcher


class KernelCache(FunctionCache):
    """Numba's cache of one kernel. Another process compiles what is missing or cannot be read."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._readable(sig, target_context)
        if found is None and not compiles_here and compiler().compile(self._py_func, sig):
            found = self._readable(sig, target_context)
        return found

    def _readable(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # whatever reading damaged pickles raises
            log.warning("Numba's cache of %s is damaged (%s): compiling it again", self._py_func.__name__,
                        type(error).__name__)
            self.flush()
            return None


class Compiler:
    """A process that compiles kernels one by one; it runs from the first request to the end of the current process."""

    def __init__(self) -> None:
        log.info("compiling kernels of the native engine, once (about 30 s for all)")
        self.number = 0
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                       "NUMBA_CACHE_DIR": vars(config)["CACHE_DIR"]}
        self.process = subprocess.Popen([sys.executable, "-c", SERVER], env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        atexit.register(self.close)

    def compile(self, function: Callable, sig: Any) -> bool:
        """Compile a kernel for arguments of these types; is it in the cache now?"""
        assert self.process.stdin is not None and self.process.stdout is not None
        with meter(KERNELS, "compiling kernels", "kernel", self.number):
            self.number += 1
            try:
                pickle.dump((function.__module__, function.__name__, sig), self.process.stdin)
                self.process.stdin.flush()
                done = bool(self.process.stdout.read(1))
            except OSError:
                done = False
        if not done:
            log.warning("%s was compiled by the training itself: the same command may round otherwise next time",
                        function.__name__)
        return done

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@cache
def compiler() -> Compiler:
    return Compiler()


def serve() -> None:
    """Compile the kernels requested on standard input; write one byte to standard output for each."""
    global compiles_here
    compiles_here = True
    while True:
        try:
            module, name, sig = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        getattr(import_module(module), name).compile(sig)
        sys.stdout.buffer.write(b".")
        sys.stdout.buffer.flush()
