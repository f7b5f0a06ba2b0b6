"""Locks on files, which the kernel releases when the process that holds them dies."""
from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Optional

from il_morph.errors import InputError
from il_morph.files import PathLike, fcntl, open_own, read_regular
from il_morph.run_folder import RunFolder

NO_LOCKS = ("this system has no file locks (fcntl), and they are needed to run a table: use Linux or macOS, or on "
            "Windows the Windows Subsystem for Linux")
HANDED_OVER = "IL_MORPH_LOCK"  # in the environment of a training: the descriptor of the lock that it inherits


def has_locks() -> bool:
    return fcntl is not None


def require_locks() -> None:
    if not has_locks():
        raise InputError(NO_LOCKS)


class FileLock:
    """A lock on a file that exists only for the lock.

    The lock belongs to the open file, not to a process: a process that inherits `descriptor` holds it, too, and keeps
    it after `release` here.
    """

    def __init__(self, path: PathLike):
        self.path = Path(path)
        self.descriptor: Optional[int] = None
        self.is_handed_over = False

    def acquire(self, wait: bool = True) -> bool:
        """Take the lock. Without `wait`, return False if another process has it."""
        while True:
            descriptor = self._open()
            if not self._flock(descriptor, wait):
                os.close(descriptor)
                return False
            if self._is_current(descriptor):
                self.descriptor = descriptor
                self.sign(os.getpid())
                return True
            os.close(descriptor)  # the file was deleted meanwhile: another process may have locked a new one

    def take_over(self) -> bool:
        """Take over the lock that the parent process has handed over, if it has. Returns whether it has."""
        descriptor = os.environ.get(HANDED_OVER, "")
        if not (descriptor.isdecimal() and self._is_current(int(descriptor))):
            return False
        self.descriptor, self.is_handed_over = int(descriptor), True
        return True

    def sign(self, process: int) -> None:
        """Write into the file which process has the lock; skip it if the disk is full."""
        assert self.descriptor is not None, "only the owner signs"
        with suppress(OSError):
            os.ftruncate(self.descriptor, 0)
            os.pwrite(self.descriptor, f"process {process} on {socket.gethostname()}\n".encode(), 0)

    def owner(self) -> str:
        """The process that had the lock last, according to the file."""
        try:
            return read_regular(self.path).decode("utf-8", "replace").strip() or "another process"
        except InputError:
            return "another process"

    def close(self) -> None:
        """Release the lock and delete its file, unless it belongs to the process that handed it over."""
        if not self.is_handed_over:
            self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def __enter__(self) -> FileLock:
        if self.descriptor is None:
            self.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def _open(self) -> int:
        require_locks()
        try:
            return open_own(self.path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise InputError(f"cannot open the lock file {self.path}: {error.strerror}") from error

    def _flock(self, descriptor: int, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
        except BlockingIOError:
            return False
        except OSError as error:
            os.close(descriptor)
            raise InputError(f"cannot lock {self.path}: {error.strerror}; choose a results folder on a file system "
                             "that has locks") from error

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(descriptor))
        except OSError:
            return False


def lock_of(folder: RunFolder) -> FileLock:
    """Take the lock of a run, or the one that was handed over. An InputError if another process trains there."""
    lock, older = FileLock(folder.lock), FileLock(folder.lock_of_version_2)
    if not lock.take_over() and not lock.acquire(wait=False):
        raise in_use(folder, lock)
    if os.path.lexists(older.path):
        if not older.acquire(wait=False):
            lock.close()
            raise in_use(folder, older)
        older.path.unlink(missing_ok=True)
        older.release()
    return lock


def in_use(folder: RunFolder, lock: FileLock) -> InputError:
    return InputError(f"{folder.path} is in use: {lock.owner()} trains there; wait for it, or choose another folder")
