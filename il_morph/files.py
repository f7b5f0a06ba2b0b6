"""Reading and writing whole files, with errors for people."""
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Union

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


def write_atomically(path: PathLike, content: Union[str, bytes]) -> None:
    """Write a whole file or nothing: a temporary neighbour is renamed to `path`."""
    target = Path(os.path.realpath(path))
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content  # names may be no UTF-8
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(data)  # a device or a pipe must not be replaced by a file
        else:
            _write_and_rename(target, data)
    except OSError as error:
        raise InputError(f"cannot write {path}: {_reason(error)}") from error


def refuse_to_overwrite(path: PathLike, force: bool = False) -> None:
    """An existing regular file is only overwritten when asked to."""
    if os.path.isfile(path) and not force:
        raise InputError(f"{path} exists already; choose another name, or overwrite it with --force")


def _write_and_rename(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, target)
    except BaseException:
        if temporary.exists():
            temporary.unlink()
        raise


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
