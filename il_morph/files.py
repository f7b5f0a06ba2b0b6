"""Reading and writing whole files, with errors for people."""
from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Optional, Union

from il_morph.errors import InputError

STREAM = "-"

PathLike = Union[str, "os.PathLike[str]"]


def read_bytes(path: PathLike) -> bytes:
    """The content of a file; `-` is standard input."""
    if str(path) == STREAM:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {_reason(error)}") from error


def write_atomically(path: PathLike, content: Union[str, bytes], durable: bool = True) -> None:
    """Write a whole file or nothing: a temporary neighbour is renamed to `path`.

    It is on the disk before it gets its name, unless it need not be durable.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content  # names may be no UTF-8
    with written_atomically(path, durable) as stream:
        stream.write(data)


@contextmanager
def written_atomically(path: PathLike, durable: bool = True) -> Iterator[BinaryIO]:
    """The same, bit by bit: the file gets its name at the end, or never if something fails before."""
    try:
        if _is_stream(path):
            with open(path, "wb") as stream:  # a device or a pipe must not be replaced by a file
                yield stream
        else:
            with _temporary(Path(os.path.realpath(path)), durable) as stream:
                yield stream
    except OSError as error:
        raise InputError(f"cannot write {path}: {_reason(error)}") from error


def refuse_to_overwrite(path: PathLike, force: bool = False) -> None:
    """An existing regular file is only overwritten when asked to."""
    if os.path.isfile(path) and not force and not _is_stream(path):
        raise InputError(f"{path} exists already; choose another name, or overwrite it with --force")


def _is_stream(path: PathLike) -> bool:
    """A device, a pipe, or one of the process's own streams under its name in /dev, whatever it leads to."""
    mode = _mode(path)
    if mode is None or stat.S_ISDIR(mode):
        return False
    return not stat.S_ISREG(mode) or os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _mode(path: PathLike) -> Optional[int]:
    try:
        return os.stat(path).st_mode
    except OSError:
        return None


@contextmanager
def _temporary(target: Path, durable: bool) -> Iterator[BinaryIO]:
    """Nobody can guess the temporary name or have put a link there; a target that is replaced keeps its mode."""
    temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            mode = _mode(target)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, stat.S_IMODE(mode))
            yield stream
            stream.flush()
            if durable:
                os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
