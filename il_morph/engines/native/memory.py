"""Arrays that start at a cache line: products of rows that straddle lines take a quarter longer."""

from __future__ import annotations

from math import prod

import numpy as np

LINE = 64  # bytes


def zeros(shape: tuple[int, ...], dtype) -> np.ndarray:
    size = prod(shape)
    memory = np.zeros(size + LINE // np.dtype(dtype).itemsize, dtype=dtype)
    first = -memory.ctypes.data % LINE // memory.itemsize
    return memory[first:first + size].reshape(shape)


def side_by_side(shapes: dict[str, tuple[int, ...]], dtype) -> dict[str, np.ndarray]:
    """Arrays of zeros in one piece of memory: an update runs through all of them, and large memory has large pages."""
    step = LINE // np.dtype(dtype).itemsize
    sizes = [-(-prod(shape) // step) * step for shape in shapes.values()]
    parts = np.split(zeros((sum(sizes),), dtype), np.cumsum(sizes)[:-1])
    return {name: part[:prod(shape)].reshape(shape) for (name, shape), part in zip(shapes.items(), parts)}


def take(rows: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """rows[indices], starting at a cache line."""
    return np.take(rows, indices, axis=0, out=zeros((len(indices), rows.shape[1]), rows.dtype), mode="wrap")
