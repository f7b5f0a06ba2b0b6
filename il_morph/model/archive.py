"""Archives of arrays: one zip with a JSON header and `.npy` members, stored, without pickle. Nothing in it is ever run."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

HEADER = "header.json"
Arrays = dict  # name -> array


def archive_bytes(header: dict[str, Any], arrays: Arrays) -> bytes:
    """The same content gives the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        add_member(archive, HEADER, json.dumps(header, ensure_ascii=False, indent=1).encode("utf-8"))
        for name in sorted(arrays):
            array = io.BytesIO()
            np.save(array, np.asarray(arrays[name], order="C"), allow_pickle=False)
            add_member(archive, f"{name}.npy", array.getvalue())
    return content.getvalue()


def add_member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), data)  # a ZipInfo made by hand has a fixed date


def read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    return json.loads(archive.read(HEADER).decode("utf-8"))


def read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    return np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
