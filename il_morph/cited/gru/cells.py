"""The parts of the network, forward and backward: GRU layers over batches, and attention.

A GRU layer computes its next state h′ from the input x and the previous state h:

    r, z = σ(W x + U h + b)     c = tanh(W x + b + r ∘ U h)     h′ = z ∘ h + (1 − z) ∘ c

The weights of r, z and c are side by side, in this order: x [I, 3H], h [H, 3H], b [3H]. The two directions of an
encoder are one layer, whose arrays have an extra leading axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np

Weights = dict  # name -> array


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * np.tanh(0.5 * x) + 0.5


def flat(rows: np.ndarray) -> np.ndarray:
    """[…, time, sample, width] as […, row, width]."""
    return rows.reshape(*rows.shape[:-3], -1, rows.shape[-1])


def transposed(matrix: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrix, -1, -2)


class Gates(NamedTuple):
    """What the backward pass needs from a step: `h` is the previous state, `read` the same after dropout."""

    h: np.ndarray
    read: np.ndarray
    r: np.ndarray
    z: np.ndarray
    c: np.ndarray
    recurrent: np.ndarray  # the part of U h for c


@dataclass
class Layer:
    """A GRU layer; `kept` is the dropout mask of its state, [sample, H], the same at every step."""

    x: np.ndarray
    h: np.ndarray
    b: np.ndarray
    kept: Optional[np.ndarray] = None

    @classmethod
    def named(cls, name: str, weights: Weights, kept: Optional[np.ndarray] = None) -> Layer:
        return cls(weights[f"{name}.x"], weights[f"{name}.h"], weights[f"{name}.b"], kept)

    def project(self, rows: np.ndarray) -> np.ndarray:
        """W x + b for all rows."""
        return rows @ self.x + self.b[..., None, :]

    def step(self, projected: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, Gates]:
        size = h.shape[-1]
        read = h if self.kept is None else h * self.kept
        recurrent = read @ self.h
        rz = sigmoid(projected[..., :2 * size] + recurrent[..., :2 * size])
        r, z, recurrent = rz[..., :size], rz[..., size:], recurrent[..., 2 * size:]
        c = np.tanh(projected[..., 2 * size:] + r * recurrent)
        return c + z * (h - c), Gates(h, read, r, z, c, recurrent)

    def step_back(self, gates: Gates, dh: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The gradients of W x + b, of U h and of the previous state."""
        _, _, r, z, c, recurrent = gates
        dc = dh * (1 - z) * (1 - c * c)
        dz = dh * (gates.h - c) * z * (1 - z)
        dr = dc * recurrent * r * (1 - r)
        dprojected = np.concatenate([dr, dz, dc], axis=-1)
        drecurrent = np.concatenate([dr, dz, dc * r], axis=-1)
        dread = drecurrent @ transposed(self.h)
        return dprojected, drecurrent, dh * z + (dread if self.kept is None else dread * self.kept)

    def run(self, read: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, list[Gates]]:
        """Run over all steps of […, time, sample, I]: the state after each step, and what the backward pass needs."""
        projected = self.project(flat(read)).reshape(*read.shape[:-1], -1)
        states, gates = [], []
        for time in range(read.shape[-3]):
            h, left = self.step(projected[..., time, :, :], h)
            states.append(h)
            gates.append(left)
        return np.stack(states, axis=-3), gates

    def run_back(self, name: str, read: np.ndarray, gates: list[Gates], dstates: np.ndarray,
                 gradients: Weights) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of the input and of the initial state; stores those of the weights in `gradients`."""
        times, dh = [], np.zeros_like(dstates[..., 0, :, :])
        for time in range(len(gates) - 1, -1, -1):
            dprojected, drecurrent, dh = self.step_back(gates[time], dh + dstates[..., time, :, :])
            times.append((dprojected, drecurrent))
        return self.leave(name, read, gates, times[::-1], gradients), dh

    def leave(self, name: str, read: np.ndarray, gates: list[Gates], times: list, gradients: Weights) -> np.ndarray:
        """Store the gradients of the weights in `gradients`; return the gradient of the input."""
        dprojected, drecurrent = (flat(np.stack(each, axis=-3)) for each in zip(*times))
        recurring = flat(np.stack([each.read for each in gates], axis=-3))
        gradients[f"{name}.x"] = transposed(flat(read)) @ dprojected
        gradients[f"{name}.h"] = transposed(recurring) @ drecurrent
        gradients[f"{name}.b"] = dprojected.sum(axis=-2)
        return (dprojected @ transposed(self.x)).reshape(read.shape)


class Attended(NamedTuple):
    """A step of attention: α [sample, place], the hidden layer [sample, place, D] and the context [sample, 2E]."""

    alpha: np.ndarray
    hidden: np.ndarray
    context: np.ndarray


def attend(query: np.ndarray, keys: np.ndarray, v: np.ndarray, encoded: np.ndarray, padding: np.ndarray) -> Attended:
    """score_j = v · tanh(query + key_j), α = softmax of the scores, context = Σ α_j h_j."""
    hidden = np.tanh(keys + query[:, None])
    scores = hidden @ v + padding
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    alpha = weights / weights.sum(axis=1, keepdims=True)
    return Attended(alpha, hidden, (alpha[:, None] @ encoded)[:, 0])


def attend_back(step: Attended, v: np.ndarray, encoded: np.ndarray,
                dcontext: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of the keys and of v; the keys' gradient, summed over places, is the query's.

    The caller computes the gradient of `encoded` through the context: α times the gradient of the context.
    """
    dalpha = (encoded @ dcontext[:, :, None])[:, :, 0]
    dscores = step.alpha * (dalpha - (step.alpha * dalpha).sum(axis=1, keepdims=True))
    dv = dscores.ravel() @ step.hidden.reshape(-1, len(v))
    return dscores[:, :, None] * ((1 - step.hidden * step.hidden) * v), dv
