"""One thread for NumPy's products while a model answers.

The products are small: threads that wait for each other on a busy machine make them many times slower. The command line
says so before NumPy is imported; a program that uses il_morph may have imported it already, and want threads elsewhere.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Optional

_limiting = threading.Lock()  # held by the call that has set the limit, which is the process's


@cache
def _controller() -> Optional[Any]:
    """What can limit the threads of the libraries that are loaded: threadpoolctl, if it is installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """The call that sets the limit takes it away again; calls that come meanwhile, from wherever, leave it alone."""
    controller = _controller()
    if controller is None or not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with controller.limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()
