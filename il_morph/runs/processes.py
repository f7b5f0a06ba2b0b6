"""Start il-morph in new processes: each training holds the lock of its run as long as it lives."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from il_morph.errors import InputError
from il_morph.files import open_own, write_atomically
from il_morph.run_folder import RunFolder
from il_morph.runs.commit import code_version
from il_morph.runs.locks import HANDED_OVER, FileLock, lock_of
from il_morph.runs.spec import Job, Task

# Like `python -m`, but a folder il_morph in the current folder is not taken for this package.
START = "import sys, runpy; sys.path[:] = {path!r}; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Busy(Exception):
    """Another process trains in the folder: the message says which."""


def il_morph(*arguments: str) -> list[str]:
    """The command line that starts another il-morph."""
    return python("il_morph", *arguments)


def python(module: str, *arguments: str) -> list[str]:
    """The command line that runs a module of this package with the code of this process."""
    return [sys.executable, "-c", START.format(path=sys.path, module=module), *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, **ONE_THREAD}


def start_training(task: Task, wait: bool = True, own_group: bool = False) -> Optional[subprocess.Popen]:
    """Start the training of a run; None if the run is finished. No other process trains there at the same time."""
    try:
        return _start(task, wait, own_group)
    except OSError as error:
        raise InputError(f"cannot start in {task.folder.path}: {error.strerror or error}") from error


def forget(runs: Sequence[RunFolder]) -> None:
    """Let finished or interrupted runs start over; none of them if another process trains in one of the folders."""
    there = [results for results in runs if results.path.is_dir()]
    for results in there:
        lock_of(results).release()
    for results in there:
        with lock_of(results):
            results.stats.unlink(missing_ok=True)
            results.checkpoint.unlink(missing_ok=True)


def clear_remains(results: RunFolder) -> None:
    """Delete the remains of an unfinished run, which then starts over, unless it has a checkpoint to go on from.
    A checkpoint that a power failure has cut off is no longer an archive."""
    if os.path.isfile(results.checkpoint) and zipfile.is_zipfile(results.checkpoint):
        return
    for path in results.remains():
        path.unlink(missing_ok=True)
    results.train_log.unlink(missing_ok=True)


def train_in_order(job: Job) -> int:
    """Train the unfinished runs of a job one after the other; the exit code of the first that fails, or 0."""
    for task in job:
        process = start_training(task)
        code = process.wait() if process else 0
        if code:
            return code
    return 0


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {error.strerror}") from error


def ending(code: int) -> str:
    """How a process ended, in words."""
    names = {number.value: number.name for number in signal.Signals}
    return f"exit code {code}" if code >= 0 else f"signal {names.get(-code, -code)}"


def _start(task: Task, wait: bool, own_group: bool) -> Optional[subprocess.Popen]:
    results = task.folder
    make_folder(results.path)
    lock = FileLock(results.lock)
    if not lock.acquire(wait):
        raise Busy(lock.owner())
    try:
        if results.finished:
            return None
        clear_remains(results)
        write_atomically(results.commit, code_version() + "\n")
        process = _start_under(lock, task, own_group)
        lock.sign(process.pid)
        return process
    finally:
        lock.release()  # the training holds it now


def _start_under(lock: FileLock, task: Task, own_group: bool) -> subprocess.Popen:
    assert lock.descriptor is not None
    said = open_own(task.folder.train_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with os.fdopen(said, "ab") as log:  # a training that goes on has already written to it
        return subprocess.Popen(il_morph(*task.spec.argv()), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                env={**environment(), HANDED_OVER: str(lock.descriptor)}, pass_fds=[lock.descriptor],
                                start_new_session=own_group)
