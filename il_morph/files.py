"""Read and write whole files, with readable errors.

There are two kinds of paths. A path that the user names may be a link, a pipe or a device: `read_bytes`,
`write_output`. A path that we name ourselves, above all in a results folder, must be a regular file, whatever somebody
has put there: `read_regular`, `write_atomically`, `open_own`.
"""
from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Optional, Union

from il_morph.errors import InputError

fcntl: Any = None
with suppress(ImportError):  # Windows
    import fcntl  # type: ignore[no-redef]

STREAM = "-"
LARGEST_RECORD = 2**28  # bytes of f.stats, f.log and the like
LARGEST_FILE = 2**32  # bytes of a model, a checkpoint, data or predictions
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_OWN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(
    os, "O_BINARY", 0)

PathLike = Union[str, "os.PathLike[str]"]


def read_bytes(path: PathLike) -> bytes:
    """The content of a file that the user names; `-` is standard input."""
    if str(path) == STREAM:
        return sys.stdin.buffer.read()
    with _failures_of("read", path):
        return Path(path).read_bytes()


def read_regular(path: PathLike, largest: int = LARGEST_RECORD) -> bytes:
    """The content of a regular file of limited size. Never waits for a pipe or reads a device."""
    with _failures_of("read", path):
        descriptor = os.open(path, _READ)
        with os.fdopen(descriptor, "rb") as stream:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"cannot read {path}: it is not a regular file")
            if found.st_size > largest:
                raise InputError(f"cannot read {path}: it has {found.st_size:,} bytes, more than {largest:,}")
            return stream.read(found.st_size)


def open_own(path: PathLike, flags: int) -> int:
    """Open one of our own files for writing; an OSError for a link (soft or hard), a pipe or a device."""
    complaint = f"{os.path.basename(path)} is a link, a pipe or a device; delete it"
    try:
        descriptor = os.open(path, flags | _OWN, 0o666)
    except OSError as error:
        raise OSError(error.errno, complaint) if error.errno in (errno.ELOOP, errno.ENXIO) else error from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.ELOOP, complaint)
    return descriptor


def write_atomically(path: PathLike, content: Union[str, bytes], durable: bool = True) -> None:
    """Write a whole file or nothing: a temporary file beside `path` is renamed to it. A link at `path` is replaced.

    With `durable`, the content is on the disk before the file gets its name.
    """
    with written_atomically(path, durable) as stream:
        stream.write(_encoded(content))


@contextmanager
def written_atomically(path: PathLike, durable: bool = True) -> Iterator[BinaryIO]:
    """Like `write_atomically`, but yields a stream: the file gets its name at the end, or never if something fails."""
    with _failures_of("write", path), _temporary(Path(path), durable) as stream:
        yield stream


def write_output(path: PathLike, content: Union[str, bytes]) -> None:
    """Write the output that the user names."""
    with written_output(path) as stream:
        stream.write(_encoded(content))


@contextmanager
def written_output(path: PathLike) -> Iterator[BinaryIO]:
    """Like `write_output`, but yields a stream. Follows a link; never replaces a device or a pipe by a file."""
    if not _is_stream(path):
        with _failures_of("write", path), _temporary(Path(os.path.realpath(path)), durable=True) as stream:
            yield stream
    else:
        with _failures_of("write", path), open(path, "wb") as stream:
            yield stream


def refuse_to_overwrite(path: PathLike, force: bool = False) -> None:
    """Refuse to overwrite an existing regular file unless `force` is set."""
    if os.path.isfile(path) and not force and not _is_stream(path):
        raise InputError(f"{path} exists already; choose another name, or overwrite it with --force")


def refuse_data_as_output(target: PathLike, sources: Iterable[Optional[PathLike]]) -> None:
    """Refuse to overwrite data that is read, even with --force."""
    for source in sources:
        if source and os.path.exists(source) and os.path.exists(target) and os.path.samefile(source, target):
            raise InputError(f"{target} is data that is read: choose another name for the output")


def _encoded(content: Union[str, bytes]) -> bytes:
    return content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content  # for non-UTF-8 names


@contextmanager
def _failures_of(what: str, path: PathLike) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot {what} {path}: {error.strerror or error}") from error


def _is_stream(path: PathLike) -> bool:
    """Is it a device, a pipe, or a stream of this process under its name in /dev or /proc, whatever that leads to?"""
    mode = _mode(path)
    if mode is None or stat.S_ISDIR(mode):
        return False
    return not stat.S_ISREG(mode) or os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _mode(path: PathLike, follow: bool = True) -> Optional[int]:
    try:
        return os.stat(path, follow_symlinks=follow).st_mode
    except OSError:
        return None


@contextmanager
def _temporary(target: Path, durable: bool) -> Iterator[BinaryIO]:
    """A file beside the target that replaces it at the end. The mode of a regular file that is replaced is kept."""
    _remove_leftovers(target)
    temporary, descriptor = _create_temporary(target)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            mode = _mode(target, follow=False)
            if mode is not None and stat.S_ISREG(mode) and hasattr(os, "fchmod"):
                os.fchmod(descriptor, stat.S_IMODE(mode))
            yield stream
            stream.flush()
            if durable:
                os.fsync(descriptor)
            if fcntl is not None:  # before the file is closed: its lock protects the temporary name
                os.replace(temporary, target)
        if fcntl is None:  # Windows does not rename an open file
            os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _create_temporary(target: Path) -> tuple[Path, int]:
    """Create a locked file. Its name cannot be guessed, so no link is there; its lock shows that it is no leftover."""
    while True:
        path = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if _lock(descriptor) is not False and os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # another process has just taken it for a leftover


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of processes that were killed while writing the same target: nobody holds their locks."""
    if fcntl is None:
        return
    name = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError):
        for path in [entry.path for entry in os.scandir(target.parent) if name.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_leftover(path)


def _remove_leftover(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | _OWN)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> Optional[bool]:
    """Try to lock a file: True if this process has the lock now, None if there are no locks here."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
