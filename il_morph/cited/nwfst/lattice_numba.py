"""The functions of `lattice_numpy`, compiled: the same sums, state by state and number by number."""

from __future__ import annotations

from math import exp, inf, log, log1p, sqrt, tanh

import numpy as np

from il_morph.cited.nwfst.lattice import Factors
from il_morph.engines.native.compilation import compiled_with

NAME = "Numba"
compiled = compiled_with(nogil=True)
reordered = compiled_with(nogil=True, fastmath={"contract", "reassoc", "nsz"})  # sums may be taken in any order


def sweep(factors: Factors, initial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    words, rows, letters = factors.dele.shape
    values, scales = np.empty((words, rows, len(initial), letters)), np.empty((words, rows, len(initial)))
    for word in range(words):
        sweep_word(values[word], scales[word], initial, factors.sub[word], factors.ins[word], factors.dele[word],
                   factors.sub_shift[word], factors.ins_shift[word], factors.dele_shift[word])
    return values, scales


@compiled
def sweep_word(values, scales, initial, sub, ins, dele, sub_shift, ins_shift, dele_shift):
    rows, columns, letters = values.shape
    for i in range(rows):
        for j in range(columns):
            from_ins = scales[i, j - 1] + ins_shift[i] if j > 0 else -inf
            from_sub = scales[i - 1, j - 1] + sub_shift[i] if i > 0 and j > 0 else -inf
            from_dele = scales[i - 1, j] + dele_shift[i] if i > 0 else -inf
            started = i == 0 and initial[j].any()
            top = max(from_ins, from_sub, from_dele, 0.0 if started else -inf)
            total = values[i, j]
            total[:] = initial[j] * (exp(-top) if started else 0.0)
            if j > 0:
                add_product(total, values[i, j - 1], exp(from_ins - top), ins[i])
            if i > 0 and j > 0:
                add_product(total, values[i - 1, j - 1], exp(from_sub - top), sub[i])
            if i > 0:
                factor = exp(from_dele - top)
                for p in range(letters):
                    total[p] += factor * values[i - 1, j, p] * dele[i, p]
            greatest = total.max()
            total /= greatest
            scales[i, j] = top + log(greatest)


@reordered
def add_product(total, row, factor, matrix):
    for p in range(len(row)):
        value = factor * row[p]
        if value != 0:
            for y in range(len(total)):
                total[y] += value * matrix[p, y]


@compiled
def log_add(a, b):
    if a < b:
        a, b = b, a
    return a if b == -inf else a + log1p(exp(b - a))


@compiled
def log_sweep(sub, ins, dele):
    rows, columns = dele.shape
    sums = np.full((rows, columns), -inf)
    for i in range(rows):
        for j in range(columns):
            total = 0.0 if i == 0 and j == 0 else -inf
            if j > 0:
                total = log_add(total, sums[i, j - 1] + ins[i, j])
            if i > 0 and j > 0:
                total = log_add(total, sums[i - 1, j - 1] + sub[i, j])
            if i > 0:
                total = log_add(total, sums[i - 1, j] + dele[i, j])
            sums[i, j] = total
    return sums


@reordered
def recur(projected, recurrent):
    directions, positions, words, width = projected.shape
    hidden = width // 4
    gates = projected.copy()
    c = np.zeros((directions, positions, words, hidden), dtype=projected.dtype)
    h = np.zeros_like(c)
    for way in range(directions):
        for t in range(positions):
            for word in range(words):
                z = gates[way, t, word]
                if t > 0:
                    for k in range(hidden):
                        before = h[way, t - 1, word, k]
                        for n in range(width):
                            z[n] += before * recurrent[way, k, n]
                for n in range(3 * hidden):
                    z[n] = 0.5 * tanh(0.5 * z[n]) + 0.5
                for n in range(3 * hidden, width):
                    z[n] = tanh(z[n])
                for k in range(hidden):
                    cell = z[k] * z[3 * hidden + k]
                    if t > 0:
                        cell += z[hidden + k] * c[way, t - 1, word, k]
                    c[way, t, word, k] = cell
                    h[way, t, word, k] = z[2 * hidden + k] * tanh(cell)
    return gates, c, h


@reordered
def recur_back(recurrent, gates, c, dh):
    directions, positions, words, width = gates.shape
    hidden = width // 4
    dz = np.empty_like(gates)
    dc = np.zeros(hidden, dtype=gates.dtype)
    back = np.zeros(hidden, dtype=gates.dtype)
    for way in range(directions):
        for word in range(words):
            dc[:] = 0
            back[:] = 0
            for t in range(positions - 1, -1, -1):
                d, z = dz[way, t, word], gates[way, t, word]
                for k in range(hidden):
                    i, f, o, g = z[k], z[hidden + k], z[2 * hidden + k], z[3 * hidden + k]
                    squashed, dh_k = tanh(c[way, t, word, k]), dh[way, t, word, k] + back[k]
                    dc_k = dc[k] + dh_k * o * (1 - squashed * squashed)
                    d[k] = dc_k * g * i * (1 - i)
                    d[hidden + k] = dc_k * c[way, t - 1, word, k] * f * (1 - f) if t > 0 else 0
                    d[2 * hidden + k] = dh_k * squashed * o * (1 - o)
                    d[3 * hidden + k] = dc_k * i * (1 - g * g)
                    dc[k] = dc_k * f
                for k in range(hidden):
                    total = d[0] * recurrent[way, k, 0]
                    for n in range(1, width):
                        total += d[n] * recurrent[way, k, n]
                    back[k] = total
    return dz


def project(matrix: np.ndarray, norm: float) -> None:
    for block in matrix if matrix.ndim == 3 else (matrix,):
        project_block(block, norm)


@reordered
def project_block(matrix, norm):
    squares = np.zeros(matrix.shape[1], dtype=matrix.dtype)
    for row in range(len(matrix)):
        for column in range(matrix.shape[1]):
            squares[column] += matrix[row, column] * matrix[row, column]
    shrink(matrix, squares, norm)


@reordered
def shrink(matrix, squares, norm):
    """Scale columns longer than `norm` down to it; `squares`, their squared lengths, are overwritten."""
    if squares.max() <= norm * norm:
        return
    for column in range(len(squares)):
        squares[column] = norm / sqrt(squares[column]) if squares[column] > norm * norm else 1.0
    for row in range(len(matrix)):
        for column in range(len(squares)):
            matrix[row, column] *= squares[column]


@reordered
def update_arcs(matrix, inputs, outputs, rate, norm):
    """Works row by row, so that the gradient is never stored."""
    squares = np.zeros(matrix.shape[1], dtype=matrix.dtype)
    for row in range(len(matrix)):
        weights = matrix[row]
        for i in range(len(inputs)):
            factor = matrix.dtype.type(rate * inputs[i, row])
            for column in range(len(weights)):
                weights[column] -= factor * outputs[i, column]
        for column in range(len(weights)):
            squares[column] += weights[column] * weights[column]
    shrink(matrix, squares, norm)
