"""The arithmetic of the engine in NumPy, for float32 and float64. `kernels_numba` has the same functions.

The nodes of a recurrence are rows of arrays: a node is one step of one sequence, and `parents` has the
node that it continues. Row −1 of h, c and p is zero: the state before the first step. Each block of
nodes between neighbouring `bounds` is computed together; a node's parent is in an earlier block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable, NamedTuple

import numpy as np

from il_morph.transitions.actions import END

NAME = "NumPy"
USES_BLAS = True
CHUNK = 1 << 16  # floats that an update works on at once: they stay in the cache


def add_product(out: np.ndarray, x: np.ndarray, w: np.ndarray) -> None:
    """out += x · w"""
    out += x @ w


def add_product_transposed(out: np.ndarray, d: np.ndarray, w: np.ndarray) -> None:
    """out += d · w′"""
    out += d @ w.T


def add_rows(out: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> None:
    """Add row k of `rows` to row indices[k]; an index may occur more than once."""
    for index, row in zip(indices.tolist(), rows):
        out[index] += row


def sigmoid(x: np.ndarray) -> None:
    """σ(x) = (1 + tanh(x / 2)) / 2, in place."""
    x *= 0.5
    np.tanh(x, out=x)
    x += 1
    x *= 0.5


# The coupled cell: gates i, g, o and peepholes wc = [c2o | c2i].


def coupled_gates(z, c0, p0, h, c, p, u, wc) -> None:
    """One step of some rows, from c0 and p0 = c0 · wc to h, c, p and u = tanh(c); the parent's h is h0.

        i = σ(zi + h0 · whi + c0 · c2i)     g = tanh(zg + h0 · whg)     c = c0 + i (g − c0)
        o = σ(zo + h0 · who + c · c2o)      h = o tanh(c)

    z holds what the input and h0 contribute; the activated gates replace it.
    """
    size = c.shape[1]
    i, g, o = z[:, :size], z[:, size:2 * size], z[:, 2 * size:]
    i += p0[:, size:]
    sigmoid(i)
    np.tanh(g, out=g)
    np.subtract(g, c0, out=c)
    c *= i
    c += c0
    np.matmul(c, wc, out=p)
    o += p[:, :size]
    sigmoid(o)
    np.tanh(c, out=u)
    np.multiply(o, u, out=h)


def any_continue(parents: np.ndarray) -> bool:
    """Is any of these nodes not the first of its sequence?"""
    return bool((parents[0] if len(parents) == 1 else parents.max()) >= 0)


def coupled_forward(z, h, c, p, u, parents, bounds, wh, wc) -> None:
    """Compute all blocks between the bounds."""
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist()):
        new, before = slice(first, last), parents[first:last]
        if any_continue(before):
            add_product(z[new], h[before], wh)
        coupled_gates(z[new], c[before], p[before], h[new], c[new], p[new], u[new], wc)


def coupled_backward(z, c, u, parents, bounds, wh, wc, dh, dc, dz, dp) -> None:
    """Compute dz and dp from dh: the gradients of the inputs of the gates, z and p = c · wc.

    p reaches o of the same step and i of the next, so dp = [dzo | dzi of the children]. For a node:

        dzo = dh u o (1−o)              dc += dh o (1−u²) + dp · wc′
        dzi = dc (g−c0) i (1−i)         dzg = dc i (1−g²)
        to its parent: dc += dc (1−i), dh += dz · wh′, dp += [0 | dzi]
    """
    number = bounds[-1]
    i, g, o = parts(z[:number], 3)
    dzi, dzg, dzo = parts(dz, 3)
    to_o, to_next_i = parts(dp, 2)
    h_to_zo, h_to_c = u[:number] * o * (1 - o), o * (1 - u[:number] ** 2)
    kept = 1 - i
    c_to_zi, c_to_zg = (g - c[parents[:number]]) * i * kept, i * (1 - g * g)
    for new, before in blocks_backwards(parents, bounds):
        dzo[new] = to_o[new] = dh[new] * h_to_zo[new]
        dc[new] += dh[new] * h_to_c[new]
        dc[new] += dp[new] @ wc.T
        dzi[new] = dc[new] * c_to_zi[new]
        dzg[new] = dc[new] * c_to_zg[new]
        if any_continue(before):
            add_to(dc, before, dc[new] * kept[new])
            add_to(to_next_i, before, dzi[new])
            add_to(dh, before, dz[new] @ wh.T)


def blocks_backwards(parents: np.ndarray, bounds: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The nodes of each block and their parents, from the last block to the first."""
    for first, last in zip(bounds[-2::-1].tolist(), bounds[:0:-1].tolist()):
        yield slice(first, last), parents[first:last]


def add_to(out: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> None:
    """`add_rows` for many rows or one."""
    if len(indices) == 1:
        out[indices[0]] += rows[0]
    else:
        np.add.at(out, indices, rows)


# The vanilla cell: gates i, f, o, g, no peepholes; p and wc have no columns.


def vanilla_gates(z, c0, h, c, u) -> None:
    """i, f, o = σ(z), with 1 added to f first; g = tanh(z); c = f c0 + i g; h = o tanh(c). z includes h0 · wh."""
    i, f, o, g = parts(z, 4)
    f += 1
    sigmoid(z[:, :3 * c.shape[1]])
    np.tanh(g, out=g)
    np.multiply(f, c0, out=c)
    c += i * g
    np.tanh(c, out=u)
    np.multiply(o, u, out=h)


def vanilla_forward(z, h, c, p, u, parents, bounds, wh, wc) -> None:
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist()):
        new, before = slice(first, last), parents[first:last]
        if any_continue(before):
            add_product(z[new], h[before], wh)
        vanilla_gates(z[new], c[before], h[new], c[new], u[new])


def vanilla_backward(z, c, u, parents, bounds, wh, wc, dh, dc, dz, dp) -> None:
    """dzo = dh u o (1−o); dc += dh o (1−u²); dzi = dc g i (1−i), dzf = dc c0 f (1−f), dzg = dc i (1−g²)."""
    number = bounds[-1]
    i, f, o, g = parts(z[:number], 4)
    dzi, dzf, dzo, dzg = parts(dz, 4)
    h_to_zo, h_to_c = u[:number] * o * (1 - o), o * (1 - u[:number] ** 2)
    c_to_zi, c_to_zf, c_to_zg = g * i * (1 - i), c[parents[:number]] * f * (1 - f), i * (1 - g * g)
    for new, before in blocks_backwards(parents, bounds):
        dzo[new] = dh[new] * h_to_zo[new]
        dc[new] += dh[new] * h_to_c[new]
        dzi[new] = dc[new] * c_to_zi[new]
        dzf[new] = dc[new] * c_to_zf[new]
        dzg[new] = dc[new] * c_to_zg[new]
        if any_continue(before):
            add_to(dc, before, dc[new] * f[new])
            add_to(dh, before, dz[new] @ wh.T)


def parts(rows: np.ndarray, number: int) -> list[np.ndarray]:
    """The columns, split into equal parts."""
    size = rows.shape[1] // number
    return [rows[:, k * size:(k + 1) * size] for k in range(number)]


class Cell(NamedTuple):
    """The functions of one kind of cell."""

    forward: Callable
    backward: Callable


COUPLED = Cell(coupled_forward, coupled_backward)
VANILLA = Cell(vanilla_forward, vanilla_backward)


# Decoder steps


def decode(z, h, c, p, u, parents, bounds, wh, wc, places, projected, actions, table, known, embeddings, matrix,
           output, scores) -> None:
    """Compute blocks of nodes that read rows of `projected` and of `table`, and their scores.

    The rows of `table`, embeddings of actions times the decoder's columns, are computed when they are first read.
    """
    new = slice(bounds[0], bounds[-1])
    read = actions[new]
    if not known[read].all():
        table[read] = embeddings[read] @ matrix
        known[read] = True
    z[new] = projected[places[new]]
    z[new] += table[read]
    (COUPLED if wc.shape[1] else VANILLA).forward(z, h, c, p, u, parents, bounds, wh, wc)
    scores[new] = output[-1]
    add_product(scores[new], h[new], output[:-1])


def roll_out(z, h, c, p, u, parents, bounds, wh, wc, places, projected, actions, table, known, embeddings, matrix,
             output, scores, nodes, positions, firsts, ends, limits, owners, bound, tightens, valid_masks, moves, costs,
             taken, lengths, spent, dropped) -> None:
    """Finish candidates greedily. Row k of `taken` has the actions of candidate k; its first column, the candidates.

    `nodes` are the nodes that the candidates continue, the first ones of the arrays. `positions` are their positions in
    the buffers; position 0 of a buffer is at the place `firsts`, its END at position `ends`. `owners` are the requests
    of the candidates, each with a `bound` on what a candidate may have `spent`.
    """
    rows = np.arange(len(nodes))
    for step in range(taken.shape[1]):
        running = (taken[rows, lengths - 1] != END) & ~dropped & (lengths <= limits)
        dropped |= running & (spent > bound[owners])
        going = np.flatnonzero(running & ~dropped)
        if not len(going):
            return
        first = (1 + step % 2) * len(nodes)  # two blocks take turns
        new = slice(first, first + len(going))
        parents[new], places[new] = nodes[going], firsts[going] + positions[going]
        actions[new] = taken[going, lengths[going] - 1]
        bounds[:] = new.start, new.stop
        decode(z, h, c, p, u, parents, bounds, wh, wc, places, projected, actions, table, known, embeddings, matrix,
               output, scores)
        at_end = (positions[going] == ends[going]).astype(np.int64)
        best = np.where(valid_masks[at_end], scores[new], -np.inf).argmax(axis=1)
        nodes[going] = np.arange(new.start, new.stop)
        taken[going, lengths[going]] = best
        lengths[going] += 1
        positions[going] += moves[best]
        spent[going] += costs[best]
        if tightens:
            ended = going[best == END]
            np.minimum.at(bound, owners[ended], spent[ended])


# Losses


def negative_log_likelihoods(scores: np.ndarray, optimal: np.ndarray, sizes: np.ndarray) -> float:
    """The sum over rows of −log Σ_{a optimal} P(a), P = softmax(scores); the gradient replaces the scores.

    `optimal` has the optimal actions of all rows, `sizes` their number in each row. The gradient is P − Q, where Q is
    P restricted to the optimal actions and normalised.
    """
    rows, starts = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes
    scores -= scores.max(axis=1, keepdims=True)
    chosen = scores[rows, optimal]
    p = np.exp(scores, out=scores)
    sums = p.sum(axis=1, keepdims=True)
    p /= sums
    highest = np.maximum.reduceat(chosen, starts)
    q = np.exp(chosen - highest[rows])
    totals = np.add.reduceat(q, starts)
    p[rows, optimal] -= q / totals[rows]
    return float(np.sum(np.log(sums[:, 0]) - highest - np.log(totals), dtype=np.float64))


# Updates. `a` and `b` are the numbers that the optimiser keeps for each weight.


def squared_norm(x: np.ndarray, d: np.ndarray) -> float:
    """|x′d|² without the product: Σ_ij (Σ_n x_ni d_nj)² = Σ_nm (Σ_i x_ni x_mi) (Σ_j d_nj d_mj)."""
    return float(np.vdot(x @ x.T, d @ d.T))


def squared(g: np.ndarray) -> float:
    """|g|²"""
    return float(np.vdot(g, g))


def update_factored(rule: int, hyper: np.ndarray, w, a, b, x: np.ndarray, d: np.ndarray) -> None:
    """Update w, whose gradient is x′d, multiplied out some rows at a time."""
    inputs, scaled = np.ascontiguousarray(x.T), d * hyper[0]
    multiply = np.matmul if len(d) > 1 else np.multiply  # matmul of a column and a row is three times as slow
    g = np.empty((max(1, CHUNK // w.shape[1]), w.shape[1]), dtype=w.dtype)
    for some in chunks(w):
        apply(rule, hyper, w[some], a[some], b[some], multiply(inputs[some], scaled, out=g[:len(w[some])]))


def update_dense(rule: int, hyper: np.ndarray, w, a, b, g: np.ndarray) -> None:
    """Update w, whose gradient is g; overwrites g."""
    for some in chunks(w):
        g[some] *= hyper[0]
        apply(rule, hyper, w[some], a[some], b[some], g[some])


def update_rows(rule: int, hyper: np.ndarray, w, a, b, rows: np.ndarray, g: np.ndarray) -> None:
    """Update rows of w: row k of g is the gradient of row rows[k]; the rows are distinct."""
    some_w, some_a, some_b = w[rows], a[rows], b[rows]
    apply(rule, hyper, some_w, some_a, some_b, g * hyper[0])
    w[rows], a[rows], b[rows] = some_w, some_a, some_b


def chunks(w: np.ndarray) -> Iterator[slice]:
    """Slices of w, some rows each."""
    size = max(1, CHUNK // w.shape[1])
    return (slice(first, first + size) for first in range(0, len(w), size))


SGD, MOMENTUM, ADAGRAD, ADADELTA, ADAM = range(5)  # rules


def apply(rule: int, hyper: np.ndarray, w, a, b, g) -> None:
    """Update w, a and b from the gradient g, which is already scaled. `hyper` is described in `optimizers`."""
    _, rate, first, second, epsilon = hyper.tolist()
    if rule == ADADELTA:
        adadelta(rate, first, epsilon, w, a, b, g)
    elif rule == ADAM:
        decay(a, first, g.copy())
        decay(b, second, g * g)
        w -= rate * a / (np.sqrt(b) + epsilon)
    elif rule == ADAGRAD:
        a += g * g
        w -= rate * g / np.sqrt(a + epsilon)
    elif rule == MOMENTUM:
        a *= first
        a -= rate * g
        w += a
    else:
        w -= rate * g


def adadelta(rate: float, rho: float, epsilon: float, w, a, b, g) -> None:
    """The step is −g √((B + ε) / (A + ε)), where A and B are running means of squared gradients and squared steps.

    a and b are these means divided by 1 − ρ, so that a = ρ a + g²; `epsilon` is divided likewise. w changes by the
    step times the rate.
    """
    change, below = g * g, np.empty_like(g)
    a *= rho
    a += change
    np.add(b, epsilon, out=change)
    np.add(a, epsilon, out=below)
    change /= below
    np.sqrt(change, out=change)
    change *= g
    w -= change if rate == 1 else rate * change
    change *= change
    b *= rho
    b += change


def decay(mean: np.ndarray, rho: float, new: np.ndarray) -> None:
    """mean = ρ mean + (1 − ρ) new, in place; `new` is lost."""
    mean *= rho
    new *= 1 - rho
    mean += new
