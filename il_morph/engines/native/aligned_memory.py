"""Arrays that begin at a cache line: products of rows that straddle lines take a quarter longer."""

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
    """Arrays of zeros in one piece of memory: an update runs through all of them, and large pieces get large pages."""
    step = LINE // np.dtype(dtype).itemsize
    sizes = [-(-prod(shape) // step) * step for shape in shapes.values()]
    parts = np.split(zeros((sum(sizes),), dtype), np.cumsum(sizes)[:-1])
    return {name: part[:prod(shape)].reshape(shape) for (name, shape), part in zip(shapes.items(), parts)}


class Scratch:
    """Memory for arrays that live no longer than an update: handing it out costs less than allocating it."""

    def __init__(self, dtype) -> None:
        self.memory, self.used = zeros((1 << 16,), dtype), 0
        self.dtype, self.step = dtype, LINE // np.dtype(dtype).itemsize

    def clear(self) -> None:
        """Begin an update: all arrays handed out so far may be overwritten."""
        self.used = 0

    def zeros(self, rows: int, columns: int) -> np.ndarray:
        part = self._part(rows, columns)
        part.fill(0)
        return part

    def take(self, table: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """table[indices]"""
        return np.take(table, indices, axis=0, out=self._part(len(indices), table.shape[1]), mode="wrap")

    def with_ones(self, x: np.ndarray) -> np.ndarray:
        """x with a last column of ones."""
        wider = self._part(x.shape[0], x.shape[1] + 1)
        wider[:, :-1] = x
        wider[:, -1] = 1
        return wider

    def _part(self, rows: int, columns: int) -> np.ndarray:
        size = rows * columns
        if self.used + size > len(self.memory):
            self.memory, self.used = zeros((2 * max(size, len(self.memory)),), self.dtype), 0
        part = self.memory[self.used:self.used + size].reshape(rows, columns)
        self.used += -(-size // self.step) * self.step
        return part
