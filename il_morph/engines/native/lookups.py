"""Look-up tables: only rows that were looked up have a gradient and take part in an update."""

from __future__ import annotations

from types import ModuleType
from typing import Optional, Sequence

import numpy as np

from il_morph.engines.native.layout import Arrays

TableGradients = dict[str, tuple[np.ndarray, np.ndarray]]  # rows of each table, each once, and their gradients


class LookUps:
    """What was looked up in one update: sums of gradients for all rows, kept zero in between."""

    def __init__(self, kernels: ModuleType, tables: Arrays):
        self.kernels = kernels
        self.sums = {name: np.zeros_like(table) for name, table in tables.items()}
        self.used = {name: np.zeros(len(table), dtype=bool) for name, table in tables.items()}

    def add(self, table: str, rows: Sequence[int], gradients: Optional[np.ndarray] = None) -> None:
        """Rows, any of them more than once, with their gradients, or with gradient zero."""
        indices = np.asarray(rows, dtype=np.int64)
        self.used[table][indices] = True
        if gradients is not None:
            self.kernels.add_rows(self.sums[table], indices, gradients)

    def take(self) -> TableGradients:
        """What was found, which is forgotten."""
        taken = {}
        for name, sums in self.sums.items():
            rows = np.flatnonzero(self.used[name])
            taken[name] = rows, sums[rows]
            sums[rows], self.used[name][rows] = 0, False
        return taken
