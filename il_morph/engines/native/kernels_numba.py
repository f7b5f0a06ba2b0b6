"""The functions of `kernels_numpy`, compiled by Numba for float32; see there for their derivations.

No product goes through BLAS, whose sums depend on the number of threads. Two things let LLVM
produce vector instructions: sums may be reordered, and divisions do not check for zero. NaN and
infinity keep their meaning, so that a training that diverges is noticed.
"""

from __future__ import annotations

import numpy as np

from il_morph.engines.native.compilation import compiled_with
from il_morph.engines.native.kernels_numpy import ADADELTA, ADAGRAD, ADAM, MOMENTUM, Cell
from il_morph.transitions.actions import END

NAME = "Numba"
USES_BLAS = False
compiled = compiled_with(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)
TANH_LIMIT = np.float32(9)  # beyond it tanh is ±1 in 32 bits
A1, A3, A5 = map(np.float32, (4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05))
A7, A9, A11 = map(np.float32, (5.12229709037114e-08, -8.60467152213735e-11, 2.00018790482477e-13))
A13 = np.float32(-2.76076847742355e-16)
B0, B2, B4 = map(np.float32, (4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04))
B6 = np.float32(1.19825839466702e-06)


@compiled
def tanh(x):
    """A rational approximation, off by a few units in the last place: the one in Eigen, which DyNet uses."""
    x = TANH_LIMIT if x > TANH_LIMIT else x
    x = -TANH_LIMIT if x < -TANH_LIMIT else x
    y = x * x
    odd = x * (A1 + y * (A3 + y * (A5 + y * (A7 + y * (A9 + y * (A11 + y * A13))))))
    return odd / (B0 + y * (B2 + y * (B4 + y * B6)))


@compiled
def sigmoid(x):
    return HALF * tanh(HALF * x) + HALF


# Products: four rows at a time, then two, then one; all of them share each row of w that is read.


@compiled
def add_product(out, x, w):
    """out += x · w"""
    four = len(x) // 4 * 4
    for r in range(0, four, 4):
        add_product_of_four(out, x, w, r)
    two = len(x) // 2 * 2
    if two > four:
        add_product_of_two(out[four], out[four + 1], x[four], x[four + 1], w)
    if len(x) > two:
        add_product_of_one(out[two], x[two], w)


@compiled
def add_product_of_four(out, x, w, r):
    o0, o1, o2, o3 = out[r], out[r + 1], out[r + 2], out[r + 3]
    x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
    inner = len(w)
    four = inner // 4 * 4
    for k in range(0, four, 4):
        x00, x01, x02, x03 = x0[k], x0[k + 1], x0[k + 2], x0[k + 3]
        x10, x11, x12, x13 = x1[k], x1[k + 1], x1[k + 2], x1[k + 3]
        x20, x21, x22, x23 = x2[k], x2[k + 1], x2[k + 2], x2[k + 3]
        x30, x31, x32, x33 = x3[k], x3[k + 1], x3[k + 2], x3[k + 3]
        w0, w1, w2, w3 = w[k], w[k + 1], w[k + 2], w[k + 3]
        for j in range(len(o0)):
            o0[j] += x00 * w0[j] + x01 * w1[j] + x02 * w2[j] + x03 * w3[j]
            o1[j] += x10 * w0[j] + x11 * w1[j] + x12 * w2[j] + x13 * w3[j]
            o2[j] += x20 * w0[j] + x21 * w1[j] + x22 * w2[j] + x23 * w3[j]
            o3[j] += x30 * w0[j] + x31 * w1[j] + x32 * w2[j] + x33 * w3[j]
    for k in range(four, inner):
        x00, x10, x20, x30, w0 = x0[k], x1[k], x2[k], x3[k], w[k]
        for j in range(len(o0)):
            o0[j] += x00 * w0[j]
            o1[j] += x10 * w0[j]
            o2[j] += x20 * w0[j]
            o3[j] += x30 * w0[j]


@compiled
def add_product_of_two(o0, o1, x0, x1, w):
    inner = len(w)
    eight = inner // 8 * 8
    for k in range(0, eight, 8):
        x00, x01, x02, x03, x04, x05, x06, x07 = (
            x0[k], x0[k + 1], x0[k + 2], x0[k + 3], x0[k + 4], x0[k + 5], x0[k + 6], x0[k + 7])
        x10, x11, x12, x13, x14, x15, x16, x17 = (
            x1[k], x1[k + 1], x1[k + 2], x1[k + 3], x1[k + 4], x1[k + 5], x1[k + 6], x1[k + 7])
        w0, w1, w2, w3 = w[k], w[k + 1], w[k + 2], w[k + 3]
        w4, w5, w6, w7 = w[k + 4], w[k + 5], w[k + 6], w[k + 7]
        for j in range(len(o0)):
            o0[j] += ((x00 * w0[j] + x01 * w1[j]) + (x02 * w2[j] + x03 * w3[j])
                      + (x04 * w4[j] + x05 * w5[j]) + (x06 * w6[j] + x07 * w7[j]))
            o1[j] += ((x10 * w0[j] + x11 * w1[j]) + (x12 * w2[j] + x13 * w3[j])
                      + (x14 * w4[j] + x15 * w5[j]) + (x16 * w6[j] + x17 * w7[j]))
    for k in range(eight, inner):
        x00, x10, w0 = x0[k], x1[k], w[k]
        for j in range(len(o0)):
            o0[j] += x00 * w0[j]
            o1[j] += x10 * w0[j]


@compiled
def add_product_of_one(out, x, w):
    inner = len(w)
    eight = inner // 8 * 8
    for k in range(0, eight, 8):
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        x4, x5, x6, x7 = x[k + 4], x[k + 5], x[k + 6], x[k + 7]
        w0, w1, w2, w3 = w[k], w[k + 1], w[k + 2], w[k + 3]
        w4, w5, w6, w7 = w[k + 4], w[k + 5], w[k + 6], w[k + 7]
        for j in range(len(out)):
            out[j] += ((x0 * w0[j] + x1 * w1[j]) + (x2 * w2[j] + x3 * w3[j])
                       + (x4 * w4[j] + x5 * w5[j]) + (x6 * w6[j] + x7 * w7[j]))
    for k in range(eight, inner):
        x0, w0 = x[k], w[k]
        for j in range(len(out)):
            out[j] += x0 * w0[j]


@compiled
def add_product_transposed(out, d, w):
    """out += d · w′"""
    four = len(d) // 4 * 4
    for r in range(0, four, 4):
        add_dots_of_four(out, d, w, r)
    two = len(d) // 2 * 2
    if two > four:
        add_dots_of_two(out[four], out[four + 1], d[four], d[four + 1], w)
    if len(d) > two:
        add_dots_of_one(out[two], d[two], w)


@compiled
def add_dots_of_four(out, d, w, r):
    d0, d1, d2, d3 = d[r], d[r + 1], d[r + 2], d[r + 3]
    rows = len(w)
    two = rows // 2 * 2
    for k in range(0, two, 2):
        w0, w1 = w[k], w[k + 1]
        s00 = s01 = s10 = s11 = s20 = s21 = s30 = s31 = ZERO
        for j in range(len(d0)):
            s00 += d0[j] * w0[j]
            s01 += d0[j] * w1[j]
            s10 += d1[j] * w0[j]
            s11 += d1[j] * w1[j]
            s20 += d2[j] * w0[j]
            s21 += d2[j] * w1[j]
            s30 += d3[j] * w0[j]
            s31 += d3[j] * w1[j]
        out[r, k] += s00
        out[r, k + 1] += s01
        out[r + 1, k] += s10
        out[r + 1, k + 1] += s11
        out[r + 2, k] += s20
        out[r + 2, k + 1] += s21
        out[r + 3, k] += s30
        out[r + 3, k + 1] += s31
    for k in range(two, rows):
        for q in range(r, r + 4):
            out[q, k] += dot(d[q], w[k])


@compiled
def add_dots_of_two(o0, o1, d0, d1, w):
    rows = len(w)
    four = rows // 4 * 4
    for k in range(0, four, 4):
        w0, w1, w2, w3 = w[k], w[k + 1], w[k + 2], w[k + 3]
        s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = ZERO
        for j in range(len(d0)):
            s00 += d0[j] * w0[j]
            s01 += d0[j] * w1[j]
            s02 += d0[j] * w2[j]
            s03 += d0[j] * w3[j]
            s10 += d1[j] * w0[j]
            s11 += d1[j] * w1[j]
            s12 += d1[j] * w2[j]
            s13 += d1[j] * w3[j]
        o0[k] += s00
        o0[k + 1] += s01
        o0[k + 2] += s02
        o0[k + 3] += s03
        o1[k] += s10
        o1[k + 1] += s11
        o1[k + 2] += s12
        o1[k + 3] += s13
    for k in range(four, rows):
        o0[k] += dot(d0, w[k])
        o1[k] += dot(d1, w[k])


@compiled
def add_dots_of_one(out, d, w):
    rows = len(w)
    four = rows // 4 * 4
    for k in range(0, four, 4):
        w0, w1, w2, w3 = w[k], w[k + 1], w[k + 2], w[k + 3]
        s0 = s1 = s2 = s3 = ZERO
        for j in range(len(d)):
            s0 += d[j] * w0[j]
            s1 += d[j] * w1[j]
            s2 += d[j] * w2[j]
            s3 += d[j] * w3[j]
        out[k] += s0
        out[k + 1] += s1
        out[k + 2] += s2
        out[k + 3] += s3
    for k in range(four, rows):
        out[k] += dot(d, w[k])


@compiled
def dot(x, y):
    total = ZERO
    for j in range(len(x)):
        total += x[j] * y[j]
    return total


@compiled
def add_rows(out, indices, rows):
    for k in range(len(indices)):
        target, row = out[indices[k]], rows[k]
        for j in range(len(row)):
            target[j] += row[j]


@compiled
def take_rows(out, table, indices):
    """out = table[indices]; −1 is the last row."""
    for k in range(len(indices)):
        row, target = table[indices[k]], out[k]
        for j in range(len(row)):
            target[j] = row[j]


# The coupled cell


@compiled
def coupled_gates(z, c0, p0, h, c, p, u, wc):
    size = c.shape[1]
    for r in range(len(z)):
        gates, cell, before, peephole = z[r], c[r], c0[r], p0[r]
        for j in range(size):
            i = sigmoid(gates[j] + peephole[size + j])
            g = tanh(gates[size + j])
            gates[j] = i
            gates[size + j] = g
            cell[j] = before[j] + i * (g - before[j])
    p[:] = ZERO
    add_product(p, c, wc)
    for r in range(len(z)):
        gates, cell, peephole, squashed, out = z[r], c[r], p[r], u[r], h[r]
        for j in range(size):
            o = sigmoid(gates[2 * size + j] + peephole[j])
            gates[2 * size + j] = o
            squashed[j] = tanh(cell[j])
            out[j] = o * squashed[j]


@compiled
def coupled_forward(z, h, c, p, u, parents, bounds, wh, wc):
    rows = widest(bounds)
    h0, c0, p0 = rows_like(h, rows), rows_like(c, rows), rows_like(p, rows)
    for k in range(len(bounds) - 1):
        first, last = bounds[k], bounds[k + 1]
        before, n = parents[first:last], last - first
        take_rows(c0, c, before)
        take_rows(p0, p, before)
        if before.max() >= 0:
            take_rows(h0, h, before)
            add_product(z[first:last], h0[:n], wh)
        coupled_gates(z[first:last], c0[:n], p0[:n], h[first:last], c[first:last], p[first:last], u[first:last], wc)


@compiled
def widest(bounds):
    most = 0
    for k in range(len(bounds) - 1):
        most = max(most, bounds[k + 1] - bounds[k])
    return most


@compiled
def rows_like(array, rows):
    return np.empty((rows, array.shape[1]), dtype=np.float32)


@compiled
def coupled_backward(z, c, u, parents, bounds, wh, wc, dh, dc, dz, dp):
    size = c.shape[1]
    dh0 = np.empty((widest(bounds), size), dtype=np.float32)
    for k in range(len(bounds) - 2, -1, -1):
        first, last = bounds[k], bounds[k + 1]
        for n in range(first, last):
            coupled_output_gradient(z[n], u[n], dh[n], dc[n], dz[n], dp[n])
        add_product_transposed(dc[first:last], dp[first:last], wc)
        for n in range(first, last):
            coupled_input_gradient(z[n], c[parents[n]], dc[n], dz[n], dc[parents[n]], dp[parents[n]])
        if parents[first:last].max() >= 0:
            add_to_parents(dh, dh0[:last - first], parents[first:last], dz[first:last], wh)


@compiled
def coupled_output_gradient(gates, u, dh, dc, dz, dp):
    """Compute dzo, and add to dc the gradient through h."""
    size = len(u)
    for j in range(size):
        o = gates[2 * size + j]
        dzo = dh[j] * u[j] * o * (ONE - o)
        dz[2 * size + j] = dzo
        dp[j] = dzo
        dc[j] += dh[j] * o * (ONE - u[j] * u[j])


@compiled
def coupled_input_gradient(gates, before, dc, dz, parent_dc, parent_dp):
    """Compute dzi and dzg, and add to dc and dp of the parent."""
    size = len(dc)
    for j in range(size):
        i, g = gates[j], gates[size + j]
        dzi = dc[j] * (g - before[j]) * i * (ONE - i)
        dz[j] = dzi
        dz[size + j] = dc[j] * i * (ONE - g * g)
        parent_dc[j] += dc[j] * (ONE - i)
        parent_dp[size + j] += dzi


@compiled
def add_to_parents(dh, dh0, parents, dz, wh):
    """dh += dz · wh′ in the rows of the parents."""
    dh0[:] = ZERO
    add_product_transposed(dh0, dz, wh)
    add_rows(dh, parents, dh0)


# The vanilla cell


@compiled
def vanilla_gates(z, c0, h, c, u):
    size = c.shape[1]
    for r in range(len(z)):
        gates, cell, before, squashed, out = z[r], c[r], c0[r], u[r], h[r]
        for j in range(size):
            i = sigmoid(gates[j])
            f = sigmoid(gates[size + j] + ONE)
            o = sigmoid(gates[2 * size + j])
            g = tanh(gates[3 * size + j])
            gates[j] = i
            gates[size + j] = f
            gates[2 * size + j] = o
            gates[3 * size + j] = g
            cell[j] = f * before[j] + i * g
            squashed[j] = tanh(cell[j])
            out[j] = o * squashed[j]


@compiled
def vanilla_forward(z, h, c, p, u, parents, bounds, wh, wc):
    rows = widest(bounds)
    h0, c0 = rows_like(h, rows), rows_like(c, rows)
    for k in range(len(bounds) - 1):
        first, last = bounds[k], bounds[k + 1]
        before, n = parents[first:last], last - first
        take_rows(c0, c, before)
        if before.max() >= 0:
            take_rows(h0, h, before)
            add_product(z[first:last], h0[:n], wh)
        vanilla_gates(z[first:last], c0[:n], h[first:last], c[first:last], u[first:last])


@compiled
def vanilla_backward(z, c, u, parents, bounds, wh, wc, dh, dc, dz, dp):
    dh0 = np.empty((widest(bounds), c.shape[1]), dtype=np.float32)
    for k in range(len(bounds) - 2, -1, -1):
        first, last = bounds[k], bounds[k + 1]
        for n in range(first, last):
            vanilla_gradient(z[n], c[parents[n]], u[n], dh[n], dc[n], dz[n], dc[parents[n]])
        if parents[first:last].max() >= 0:
            add_to_parents(dh, dh0[:last - first], parents[first:last], dz[first:last], wh)


@compiled
def vanilla_gradient(gates, before, u, dh, dc, dz, parent_dc):
    size = len(u)
    for j in range(size):
        i, f, o, g = gates[j], gates[size + j], gates[2 * size + j], gates[3 * size + j]
        dc[j] += dh[j] * o * (ONE - u[j] * u[j])
        dz[j] = dc[j] * g * i * (ONE - i)
        dz[size + j] = dc[j] * before[j] * f * (ONE - f)
        dz[2 * size + j] = dh[j] * u[j] * o * (ONE - o)
        dz[3 * size + j] = dc[j] * i * (ONE - g * g)
        parent_dc[j] += dc[j] * f


# Decoder steps


@compiled
def read_inputs(z, first, last, places, projected, actions, table, known, embeddings, matrix):
    for n in range(first, last):
        action = actions[n]
        if not known[action]:
            table[action] = ZERO
            add_product_of_one(table[action], embeddings[action], matrix)
            known[action] = True
        gates, position, read = z[n], projected[places[n]], table[action]
        for j in range(len(gates)):
            gates[j] = position[j] + read[j]


@compiled
def decode(z, h, c, p, u, parents, bounds, wh, wc, places, projected, actions, table, known, embeddings, matrix,
           output, scores):
    first, last = bounds[0], bounds[-1]
    read_inputs(z, first, last, places, projected, actions, table, known, embeddings, matrix)
    if wc.shape[1]:
        coupled_forward(z, h, c, p, u, parents, bounds, wh, wc)
    else:
        vanilla_forward(z, h, c, p, u, parents, bounds, wh, wc)
    scores[first:last] = output[-1]
    add_product(scores[first:last], h[first:last], output[:-1])


@compiled
def roll_out(z, h, c, p, u, parents, bounds, wh, wc, places, projected, actions, table, known, embeddings, matrix,
             output, scores, nodes, positions, firsts, ends, limits, owners, bound, tightens, valid_masks, moves, costs,
             taken, lengths, spent, dropped):
    number, step = len(nodes), 0
    going = np.empty(number, dtype=np.int64)
    while True:
        running = 0
        for k in range(number):
            if taken[k, lengths[k] - 1] == END or dropped[k] or lengths[k] > limits[k]:
                continue
            if spent[k] > bound[owners[k]]:
                dropped[k] = True
                continue
            going[running] = k
            running += 1
        if running == 0:
            return
        first = number + step % 2 * number  # two blocks take turns
        for r in range(running):
            k = going[r]
            parents[first + r], places[first + r] = nodes[k], firsts[k] + positions[k]
            actions[first + r] = taken[k, lengths[k] - 1]
        bounds[0], bounds[1] = first, first + running
        decode(z, h, c, p, u, parents, bounds, wh, wc, places, projected, actions, table, known, embeddings, matrix,
               output, scores)
        for r in range(running):
            k = going[r]
            action = best_action(scores[first + r], valid_masks[1 if positions[k] == ends[k] else 0])
            nodes[k] = first + r
            taken[k, lengths[k]] = action
            lengths[k] += 1
            positions[k] += moves[action]
            spent[k] += costs[action]
            if action == END and tightens:
                bound[owners[k]] = min(bound[owners[k]], spent[k])
        step += 1


@compiled
def best_action(scores, support):
    best = -1
    for action in range(len(scores)):
        if support[action] and (best < 0 or scores[action] > scores[best]):
            best = action
    return best


COUPLED = Cell(coupled_forward, coupled_backward)
VANILLA = Cell(vanilla_forward, vanilla_backward)


# Losses


@compiled
def negative_log_likelihoods(scores, optimal, sizes):
    total, first = 0.0, 0
    for n in range(len(scores)):
        row, chosen = scores[n], optimal[first:first + sizes[n]]
        highest, top = row[chosen[0]], row[0]
        for a in chosen:
            highest = max(highest, row[a])
        for j in range(len(row)):
            top = max(top, row[j])
        q = np.empty(len(chosen), dtype=np.float32)
        restricted = whole = ZERO
        for k in range(len(chosen)):
            q[k] = np.exp(row[chosen[k]] - highest)
            restricted += q[k]
        for j in range(len(row)):
            row[j] = np.exp(row[j] - top)
            whole += row[j]
        for j in range(len(row)):
            row[j] /= whole
        for k in range(len(chosen)):
            row[chosen[k]] -= q[k] / restricted
        total += np.log(whole) - (highest - top) - np.log(restricted)
        first += len(chosen)
    return total


# Updates


@compiled
def squared_norm(x, d):
    total = 0.0
    for n in range(len(x)):
        total += dot(x[n], x[n]) * dot(d[n], d[n])
        for m in range(n):
            total += 2.0 * dot(x[n], x[m]) * dot(d[n], d[m])
    return total


@compiled
def squared(g):
    total = 0.0
    for i in range(len(g)):
        total += dot(g[i], g[i])
    return total


@compiled
def update_factored(rule, hyper, w, a, b, x, d):
    if len(d) % 4:
        x, d = filled_up(x), filled_up(d)
    rows = len(w)
    four = rows // 4 * 4
    g = np.empty((4, w.shape[1]), dtype=np.float32)
    for i in range(0, four, 4):
        g[:] = ZERO
        add_outer_of_four(g, x, d, i)
        apply(rule, hyper, flat(w, i), flat(a, i), flat(b, i), g.reshape(-1))
    for i in range(four, rows):
        g[0] = ZERO
        add_outer_of_one(g[0], x, d, i)
        apply(rule, hyper, w[i], a[i], b[i], g[0])


@compiled
def filled_up(rows):
    """The rows, followed by rows of zeros that make their number a multiple of four."""
    filled = np.zeros(((len(rows) + 3) // 4 * 4, rows.shape[1]), dtype=np.float32)
    filled[:len(rows)] = rows
    return filled


@compiled
def flat(rows, first):
    """Four rows as one."""
    return rows[first:first + 4].reshape(-1)


@compiled
def add_outer_of_four(g, x, d, i):
    """g += columns i, …, i+3 of x, transposed, times d; the number of rows of d is a multiple of four."""
    g0, g1, g2, g3 = g[0], g[1], g[2], g[3]
    for n in range(0, len(d), 4):
        x0, x1, x2, x3 = x[n], x[n + 1], x[n + 2], x[n + 3]
        x00, x01, x02, x03 = x0[i], x1[i], x2[i], x3[i]
        x10, x11, x12, x13 = x0[i + 1], x1[i + 1], x2[i + 1], x3[i + 1]
        x20, x21, x22, x23 = x0[i + 2], x1[i + 2], x2[i + 2], x3[i + 2]
        x30, x31, x32, x33 = x0[i + 3], x1[i + 3], x2[i + 3], x3[i + 3]
        d0, d1, d2, d3 = d[n], d[n + 1], d[n + 2], d[n + 3]
        for j in range(len(d0)):
            g0[j] += x00 * d0[j] + x01 * d1[j] + x02 * d2[j] + x03 * d3[j]
            g1[j] += x10 * d0[j] + x11 * d1[j] + x12 * d2[j] + x13 * d3[j]
            g2[j] += x20 * d0[j] + x21 * d1[j] + x22 * d2[j] + x23 * d3[j]
            g3[j] += x30 * d0[j] + x31 * d1[j] + x32 * d2[j] + x33 * d3[j]


@compiled
def add_outer_of_one(g, x, d, i):
    """g += column i of x times d."""
    for n in range(len(d)):
        factor, row = x[n, i], d[n]
        for j in range(len(row)):
            g[j] += factor * row[j]


@compiled
def update_dense(rule, hyper, w, a, b, g):
    apply(rule, hyper, w.reshape(-1), a.reshape(-1), b.reshape(-1), g.reshape(-1))


@compiled
def update_rows(rule, hyper, w, a, b, rows, g):
    for k in range(len(rows)):
        apply(rule, hyper, w[rows[k]], a[rows[k]], b[rows[k]], g[k])


@compiled
def apply(rule, hyper, w, a, b, g):
    """Update one row w, its a and its b from its gradient g."""
    scale, rate, first, second, epsilon = hyper[0], hyper[1], hyper[2], hyper[3], hyper[4]
    if rule == ADADELTA:
        adadelta(scale, rate, first, epsilon, w, a, b, g)
    elif rule == ADAM:
        adam(scale, rate, first, second, epsilon, w, a, b, g)
    elif rule == ADAGRAD:
        for j in range(len(w)):
            gradient = scale * g[j]
            a[j] += gradient * gradient
            w[j] -= rate * gradient / np.sqrt(a[j] + epsilon)
    elif rule == MOMENTUM:
        for j in range(len(w)):
            a[j] = first * a[j] - rate * scale * g[j]
            w[j] += a[j]
    else:
        for j in range(len(w)):
            w[j] -= rate * scale * g[j]


@compiled
def adadelta(scale, rate, rho, epsilon, w, a, b, g):
    for j in range(len(w)):
        gradient = scale * g[j]
        a[j] = rho * a[j] + gradient * gradient
        steps = b[j] + epsilon
        change = gradient * steps / np.sqrt(steps * (a[j] + epsilon))  # = g √(steps / (a + ε)), without a division
        b[j] = rho * b[j] + change * change
        w[j] -= rate * change


@compiled
def adam(scale, rate, first, second, epsilon, w, a, b, g):
    for j in range(len(w)):
        gradient = scale * g[j]
        a[j] = first * a[j] + (ONE - first) * gradient
        b[j] = second * b[j] + (ONE - second) * gradient * gradient
        w[j] -= rate * a[j] / (np.sqrt(b[j]) + epsilon)
