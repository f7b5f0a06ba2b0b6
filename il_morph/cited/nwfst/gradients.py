"""Expected counts of arcs, which are the gradient of log Z. The kernels compute the sums over the lattice."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from il_morph.cited.nwfst.lattice import Arcs, Factors, at_start, log_sum


def all_paths(arcs: Arcs, kernels: ModuleType) -> tuple[float, Arcs]:
    """log Z over all paths of one word, and the expected count of each arc."""
    factors, letters = Factors.of(arcs), arcs.dele.shape[2]
    alpha, before = kernels.sweep(factors, at_start(arcs.columns, letters))
    beta, after = kernels.sweep(factors.reversed(), np.ones((arcs.columns, letters)))
    beta, after = beta[:, ::-1, ::-1], after[:, ::-1, ::-1]
    log_z = log_sum(alpha[:, -1], before[:, -1])[0]

    def weighted(i: slice, j: slice, to_i: slice, to_j: slice, shift: np.ndarray) -> np.ndarray:
        """The values of states (i, j), times the scale of the arcs from them to (to_i, to_j)."""
        scale = before[0, i, j] + after[0, to_i, to_j] + shift[0, to_i, None] - log_z
        return alpha[0, i, j] * np.exp(scale)[..., None]

    every, below, above = slice(None), slice(None, -1), slice(1, None)
    counts = Arcs(*map(np.zeros_like, (factors.sub, factors.ins, factors.dele)))
    inserted = weighted(every, below, every, above, factors.ins_shift)
    counts.ins[0] = np.swapaxes(inserted, 1, 2) @ beta[0, :, 1:] * factors.ins[0]
    substituted = weighted(below, below, above, above, factors.sub_shift)
    counts.sub[0, 1:] = np.swapaxes(substituted, 1, 2) @ beta[0, 1:, 1:] * factors.sub[0, 1:]
    deleted = weighted(below, every, above, every, factors.dele_shift)
    counts.dele[0, 1:] = (deleted * beta[0, 1:]).sum(axis=1) * factors.dele[0, 1:]
    return float(log_z), Arcs(counts.sub[..., 1:], counts.ins[..., 1:], counts.dele)


def paths_to(arcs: Arcs, output: np.ndarray, kernels: ModuleType) -> tuple[float, Arcs]:
    """The same for the paths that yield `output`: their states are (i, j), as j determines the last character."""
    last = np.concatenate([[0], output])
    p, y = last[:-1], last[1:] - 1
    sub, ins, dele = (np.zeros((arcs.rows, len(last))) for _ in range(3))  # scores of arcs into (i, j)
    sub[:, 1:], ins[:, 1:], dele[:] = arcs.sub[0][:, p, y], arcs.ins[0][:, p, y], arcs.dele[0][:, last]
    alpha = kernels.log_sweep(sub, ins, dele)
    beta = kernels.log_sweep(turned(sub, 1, 1), turned(ins, 0, 1), turned(dele, 1, 0))[::-1, ::-1]
    log_z = alpha[-1, -1]
    counts = Arcs(*(np.zeros(scores.shape) for scores in (arcs.sub, arcs.ins, arcs.dele)))
    i = np.arange(arcs.rows)[:, None]
    np.add.at(counts.ins[0], (i, p, y), np.exp(alpha[:, :-1] + ins[:, 1:] + beta[:, 1:] - log_z))
    np.add.at(counts.sub[0], (i[1:], p, y), np.exp(alpha[:-1, :-1] + sub[1:, 1:] + beta[1:, 1:] - log_z))
    np.add.at(counts.dele[0], (i[1:], last), np.exp(alpha[:-1] + dele[1:] + beta[1:] - log_z))
    return float(log_z), counts


def turned(scores: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Scores of arcs for a sweep from the end; an arc into (i, j) comes from (i − rows, j − columns)."""
    return np.roll(scores[::-1, ::-1], (rows, columns), axis=(0, 1))
