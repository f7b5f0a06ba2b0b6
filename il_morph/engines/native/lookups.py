"""Look-up tables: only rows that were looked up have a gradient and take part in an update."""

from __future__ import annotations

from types import ModuleType
from typing import Optional, Sequence

import numpy as np

TableGradients = dict[str, tuple[np.ndarray, np.ndarray]]  # rows of each table, each once, and their gradients


class LookUps:
    """What was looked up in one update."""

    def __init__(self) -> None:
        self.found: dict[str, list[tuple[np.ndarray, Optional[np.ndarray]]]] = {}

    def add(self, table: str, rows: Sequence[int], gradients: Optional[np.ndarray] = None) -> None:
        """Rows, any of them more than once, with their gradients, or with gradient zero."""
        self.found.setdefault(table, []).append((np.asarray(rows, dtype=np.int64), gradients))

    def sums(self, kernels: ModuleType, arrays: dict[str, np.ndarray]) -> TableGradients:
        return {table: self._sum(kernels, parts, arrays[table]) for table, parts in self.found.items()}

    @staticmethod
    def _sum(kernels: ModuleType, parts: list, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = np.unique(np.concatenate([indices for indices, _ in parts]))
        sums = np.zeros((len(rows), table.shape[1]), dtype=table.dtype)
        for indices, gradients in parts:
            if gradients is not None:
                kernels.add_rows(sums, np.searchsorted(rows, indices), gradients)
        return rows, sums
