"""The arithmetic of NWFST in NumPy. `lattice_numba` has the same functions."""

from __future__ import annotations

import numpy as np

from il_morph.cited.nwfst.inference import of_gates, recur
from il_morph.cited.nwfst.lattice import diagonals, sweep

NAME = "NumPy"
__all__ = ["NAME", "log_sweep", "project", "recur", "recur_back", "sweep", "update_arcs"]


def log_sweep(sub: np.ndarray, ins: np.ndarray, dele: np.ndarray) -> np.ndarray:
    """The log of the sum over all paths from (0, 0) to each (i, j); the arrays hold the scores of arcs into (i, j)."""
    rows, columns = dele.shape
    sums = np.full((rows + 1, columns + 1), -np.inf)  # row and column −1, the last ones, are empty
    for _, i, j in diagonals(rows, columns):
        total = np.logaddexp(sums[i, j - 1] + ins[i, j], sums[i - 1, j - 1] + sub[i, j])
        sums[i, j] = np.logaddexp(total, sums[i - 1, j] + dele[i, j])
        sums[0, 0] = 0.0
    return sums[:-1, :-1]


def recur_back(recurrent: np.ndarray, gates: np.ndarray, c: np.ndarray, dh: np.ndarray) -> np.ndarray:
    """The gradient of the gates' inputs of LSTMs, from the gradient of their outputs [2, i, word, H]."""
    dz, squashed = np.empty_like(gates), np.tanh(c)
    back, dc = np.zeros_like(dh[:, 0]), np.zeros_like(dh[:, 0])
    for t in range(gates.shape[1] - 1, -1, -1):
        i, f, o, g = of_gates(gates[:, t])
        di, df, do, dg = of_gates(dz[:, t])
        dh_t = dh[:, t] + back
        dc += dh_t * o * (1 - squashed[:, t] ** 2)
        do[:] = dh_t * squashed[:, t] * o * (1 - o)
        di[:] = dc * g * i * (1 - i)
        dg[:] = dc * i * (1 - g ** 2)
        df[:] = dc * c[:, t - 1] * f * (1 - f) if t else 0
        dc *= f
        back = dz[:, t] @ np.swapaxes(recurrent, 1, 2)
    return dz


def project(matrix: np.ndarray, norm: float) -> None:
    """Scale columns (of the last two axes) longer than `norm` down to it, in place."""
    lengths = np.sqrt(np.einsum("...ij,...ij->...j", matrix, matrix))
    matrix *= np.minimum(1, norm / np.maximum(lengths, norm))[..., None, :]


def update_arcs(matrix: np.ndarray, inputs: np.ndarray, outputs: np.ndarray, rate: float, norm: float) -> None:
    """Update T in place: a step of gradient descent, where the gradient is inputs′ · outputs, then projection."""
    matrix -= (matrix.dtype.type(rate) * inputs).T @ outputs
    project(matrix, norm)
