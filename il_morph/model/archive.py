"""Archives of arrays: a zip file with a JSON header and uncompressed `.npy` members, without pickle.

Files are not trusted: nothing in them is ever executed, and sizes are checked against the actual data before memory is
allocated for them.
"""

from __future__ import annotations

import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, BinaryIO, Optional

import numpy as np

HEADER = "header.json"
LARGEST_HEADER = 16 * 2**20  # bytes
ENCRYPTED = 0x1  # a flag of a zip member
# The part of the .npy format that NumPy writes for arrays of numbers. NumPy's reader allocates memory for any shape
# that a header claims.
NPY_HEADER = re.compile(rb"\x93NUMPY\x01\0..\{'descr': '([<|][biuf]\d)', 'fortran_order': (True|False), "
                        rb"'shape': \(((?:\d{1,12}, ?){0,8}\d{0,12})\), \} *\n", re.DOTALL)
# The errors that damaged or hostile content can cause, here and in the code that interprets the header.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, LookupError, ValueError, TypeError,
           AttributeError, ArithmeticError, NotImplementedError, RuntimeError, OSError)
Arrays = dict  # name -> array


def archive_bytes(header: dict[str, Any], arrays: Arrays, texts: Optional[dict[str, str]] = None) -> bytes:
    """An archive as bytes; the same content gives the same bytes."""
    content = io.BytesIO()
    write_archive(content, header, arrays, texts)
    return content.getvalue()


def write_archive(stream: BinaryIO, header: dict[str, Any], arrays: Arrays,
                  texts: Optional[dict[str, str]] = None) -> None:
    """Write an archive into a file."""
    try:
        with zipfile.ZipFile(stream, "w") as archive:
            add_member(archive, HEADER, json.dumps(header, ensure_ascii=False, indent=1).encode("utf-8"))
            for name, text in (texts or {}).items():
                add_member(archive, name, text.encode("utf-8"))
            for name in sorted(arrays):
                add_member(archive, f"{name}.npy", npy_bytes(arrays[name]))
    except ValueError as error:  # out of memory, zipfile cannot close its archive and raises this instead
        raise next((cause for cause in causes(error) if isinstance(cause, MemoryError)), error) from None


def causes(error: Optional[BaseException]) -> Iterator[BaseException]:
    """An error and the chain of errors before it."""
    while error is not None:
        yield error
        error = error.__context__


def npy_bytes(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, np.asarray(array, order="C"), allow_pickle=False)
    return content.getvalue()


def add_member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), data)  # a ZipInfo made by hand has a fixed date


@contextmanager
def opened_archive(content: bytes) -> Iterator[zipfile.ZipFile]:
    """An open archive. Its members are unique, uncompressed, and together not larger than the file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        for name, number in Counter(member.filename for member in members).most_common(1):
            if number > 1:
                raise ValueError(f"{shortened(name)} is there twice")
        for member in members:
            check_stored(member)
        if sum(member.file_size for member in members) > len(content):
            raise ValueError("its parts are larger than the whole")
        yield archive


def check_stored(member: zipfile.ZipInfo) -> None:
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & ENCRYPTED:
        raise ValueError(f"{shortened(member.filename)} is compressed or encrypted")
    if member.compress_size != member.file_size:
        raise ValueError(f"{shortened(member.filename)} has two sizes")


def read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    size = archive.getinfo(HEADER).file_size
    if size > LARGEST_HEADER:
        raise ValueError(f"its header has {size:,} bytes, more than {LARGEST_HEADER:,}")
    header = json.loads(archive.read(HEADER).decode("utf-8"))
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    return header


def read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """The array of a member, which must have exactly the size that its shape needs."""
    data = archive.read(f"{name}.npy")
    start = NPY_HEADER.match(data)
    if start is None:
        raise ValueError(f"{name} is no array of numbers")
    dtype, by_columns, listed = np.dtype(start[1].decode()), start[2] == b"True", start[3].decode()
    shape = tuple(int(size) for size in listed.split(",") if size.strip())
    needed, there = prod(shape) * dtype.itemsize, len(data) - start.end()
    if needed != there:
        raise ValueError(f"{name} has {there:,} bytes and needs {needed:,} for its shape")
    return np.frombuffer(data, dtype, offset=start.end()).reshape(shape, order="F" if by_columns else "C").copy()


def shortened(text: str) -> str:
    """A text from a file, which may be long, for a message on one line."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def describe(error: BaseException) -> str:
    """A description of what is wrong with an archive, on one line."""
    if isinstance(error, KeyError) and error.args:
        return f"{error.args[0]} is missing"
    if isinstance(error, RecursionError):
        return "its header is too deep"
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:200] + "…"
