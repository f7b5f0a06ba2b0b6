"""Decoding in several processes, each with a model of its own."""
from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Callable

from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.model.predictor import AnyPredictor, Prediction

Ranked = list[list[Prediction]]  # the predictions for each input

_predictor: AnyPredictor  # the model; only set in processes of the pool


class DecodingPool:
    """A pool of up to `jobs` processes, started when there is something to decode and terminated after an error."""

    def __init__(self, predictor: AnyPredictor, jobs: int):
        self.others = set(multiprocessing.active_children())
        self.executor = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _prepare, (predictor,))

    def __enter__(self) -> DecodingPool:
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None:
            for process in set(multiprocessing.active_children()) - self.others:
                process.terminate()
        self.executor.shutdown(cancel_futures=True)

    def decode(self, samples: Sequence[Sample], *how: Any) -> Callable[[], Ranked]:
        """Let a process decode samples as `AnyPredictor.ranked` does; return a function that awaits the predictions."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # so that a new process ignores Ctrl-C
        try:
            future = self.executor.submit(_decode, samples, how)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return lambda: result_of(future)


def result_of(future: Future[Ranked]) -> Ranked:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise InputError("a process of --jobs was killed, perhaps because there was not enough memory: lower --jobs"
                         ) from error


def _prepare(predictor: AnyPredictor) -> None:
    global _predictor
    _predictor = predictor
    logging.basicConfig(format="il-morph: %(message)s")
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent process ends, even if that was killed: nobody needs the answers any more."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _decode(samples: Sequence[Sample], how: Sequence[Any]) -> Ranked:
    try:
        return _predictor.ranked(samples, *how)
    except InputError as error:
        raise InputError(str(error)) from None  # a subclass may not be picklable
