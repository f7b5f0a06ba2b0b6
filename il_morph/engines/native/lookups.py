"""Look-up tables: only rows that were looked up have a gradient and take part in an update."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Optional, Union

import numpy as np

from il_morph.engines.native.weight_layout import Arrays

TableGradients = dict[str, tuple[np.ndarray, np.ndarray]]  # distinct rows of each table, and their gradients


class LookUps:
    """The rows looked up in one update, and the sums of their gradients, which are zero between updates."""

    def __init__(self, kernels: ModuleType, tables: Arrays):
        self.kernels = kernels
        self.sums = {name: np.zeros_like(table) for name, table in tables.items()}
        self.used = {name: np.zeros(len(table), dtype=bool) for name, table in tables.items()}

    def add(self, table: str, rows: Union[Sequence[int], np.ndarray],
            gradients: Optional[np.ndarray] = None) -> None:
        """Add rows, possibly repeated, with their gradients (zero if not given)."""
        indices = np.asarray(rows, dtype=np.int64)
        self.used[table][indices] = True
        if gradients is not None:
            self.kernels.add_rows(self.sums[table], indices, gradients)

    def found(self) -> TableGradients:
        """The rows that were looked up, and the sums of their gradients."""
        rows = {name: used.nonzero()[0] for name, used in self.used.items()}
        return {name: (rows[name], sums[rows[name]]) for name, sums in self.sums.items()}

    def clear(self) -> None:
        for name, used in self.used.items():
            self.sums[name][used.nonzero()[0]] = 0
            used.fill(False)
