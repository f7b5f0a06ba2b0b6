"""NWFST in training: the loss and gradients of a sample, and stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from types import ModuleType
from typing import Optional

import numpy as np

from il_morph.cited.nwfst.gradients import all_paths, paths_to
from il_morph.cited.nwfst.inference import KEPT, Shape, Weights, arcs_of, both_ways, copies, side_by_side, windows
from il_morph.cited.nwfst.lattice import Arcs
from il_morph.engines.native.engine import fastest_kernels

RATE, SLOWER = 0.4, 0.9
GREATEST_GRADIENT = 10.0
GREATEST_NORM = 7.0
NEGLIGIBLE = 1e-20  # smaller gradients of scores become 0: products with denormal numbers take a hundred times as long


@dataclass
class DropoutMasks:
    """Dropout masks of ones (kept) and zeros: for the embeddings [i, 3 · input], and for each layer's input [i, I]."""

    embeddings: np.ndarray
    layers: list[np.ndarray]

    @classmethod
    def draw(cls, shape: Shape, positions: int, random: np.random.RandomState, dtype: type) -> DropoutMasks:
        widths = [shape.width(0), *map(shape.width, range(shape.layers))]
        kept: np.ndarray = (random.random_sample((positions, sum(widths))) < KEPT).astype(dtype)
        embeddings, *layers = np.split(kept, list(accumulate(widths))[:-1], axis=1)
        return cls(embeddings, layers)


@dataclass
class Pass:
    """What the backward pass of a word needs from its forward pass."""

    windows: np.ndarray
    masks: DropoutMasks
    read: list[np.ndarray] = field(default_factory=list)  # the input of each layer after dropout, [2, i, 1, I]
    states: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)  # gates, c, h


@dataclass
class NwfstGradients:
    """Dense gradients by name; the gradient of T is read′ · scores, from its input and the gradient of the scores."""

    dense: Weights
    read: np.ndarray
    scores: np.ndarray

    def norm(self) -> float:
        """The norm of all gradients that are clipped, together."""
        squares = sum(float(np.vdot(array, array)) for name, array in self.dense.items() if is_clipped(name))
        return float(np.sqrt(squares + np.vdot(self.read @ self.read.T, self.scores @ self.scores.T)))


def is_clipped(name: str) -> bool:
    return name != "copy" and not name.endswith(".b")


def lattice_kernels() -> ModuleType:
    return fastest_kernels("il_morph.cited.nwfst.lattice")


class NwfstNetwork:
    """NWFST on one word."""

    def __init__(self, shape: Shape, weights: Weights, kernels: Optional[ModuleType] = None):
        self.shape, self.weights = shape, weights
        self.kernels = kernels or lattice_kernels()

    def layer(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, h, b = (self.weights[f"encoder.{number}.{part}"] for part in "xhb")
        return x, h, b

    def forward(self, word: np.ndarray, masks: DropoutMasks) -> tuple[np.ndarray, Pass]:
        """γ [i, G], and what the backward pass needs."""
        passed = Pass(windows(word[None], self.shape)[0], masks)
        gamma = self.weights["embeddings"][passed.windows].reshape(len(word) + 1, -1) * masks.embeddings
        for number, mask in enumerate(masks.layers):
            x, h, b = self.layer(number)
            read = both_ways((gamma * mask)[None])
            states = self.kernels.recur(read @ x[:, None] + b[:, None, None], h)
            passed.read.append(read)
            passed.states.append(states)
            gamma = np.concatenate([gamma, side_by_side(states[2])[0]], axis=1)
        return gamma, passed

    def loss(self, word: np.ndarray, output: np.ndarray, masks: DropoutMasks) -> tuple[float, NwfstGradients]:
        """log Z of all paths − log Z of the paths that yield the output, and its gradients."""
        gamma, passed = self.forward(word, masks)
        arcs = arcs_of(gamma[None], self.weights["arcs"], self.weights["copy"][0], word[None], self.shape.characters)
        log_z, expected = all_paths(arcs, self.kernels)
        log_z_of_output, wanted = paths_to(arcs, output, self.kernels)
        difference = Arcs(expected.sub - wanted.sub, expected.ins - wanted.ins, expected.dele - wanted.dele)
        at_copies = copies(word[None])
        copy = difference.sub[at_copies].sum()
        difference.sub[at_copies] = 0
        flat = [part.reshape(len(gamma), -1) for part in (difference.sub, difference.ins, difference.dele)]
        dscores = np.hstack(flat)
        dscores[np.abs(dscores) < NEGLIGIBLE] = 0
        dscores = dscores.astype(gamma.dtype)
        dense = self.backward(passed, dscores @ self.weights["arcs"].T)
        dense["copy"] = np.array([copy], dtype=gamma.dtype)
        return log_z - log_z_of_output, NwfstGradients(dense, gamma, dscores)

    def backward(self, passed: Pass, dgamma: np.ndarray) -> Weights:
        gradients = {}
        for number in range(self.shape.layers - 1, -1, -1):
            x, h, _ = self.layer(number)
            width = self.shape.width(number)
            gates, c, outputs = passed.states[number]
            dz = self.kernels.recur_back(h, gates, c, both_ways_of_halves(dgamma[:, width:]))[:, :, 0]
            read, before = passed.read[number][:, :, 0], outputs[:, :-1, 0]
            gradients[f"encoder.{number}.x"] = np.swapaxes(read, 1, 2) @ dz
            gradients[f"encoder.{number}.h"] = np.swapaxes(before, 1, 2) @ dz[:, 1:]
            gradients[f"encoder.{number}.b"] = dz.sum(axis=1)
            dread = dz @ np.swapaxes(x, 1, 2)
            dgamma = dgamma[:, :width] + (dread[0] + dread[1, ::-1]) * passed.masks.layers[number]
        gradients["embeddings"] = np.zeros_like(self.weights["embeddings"])
        dembedded = (dgamma * passed.masks.embeddings).reshape(*passed.windows.shape, -1)
        np.add.at(gradients["embeddings"], passed.windows, dembedded)
        return gradients

    def update(self, gradients: NwfstGradients, rate: float) -> None:
        """A step of gradient descent with clipping, then projection."""
        clipped = rate * min(1.0, GREATEST_GRADIENT / max(gradients.norm(), GREATEST_GRADIENT))
        for name, gradient in gradients.dense.items():
            self.weights[name] -= gradient.dtype.type(clipped if is_clipped(name) else rate) * gradient
        for number in range(self.shape.layers):
            x, h, _ = self.layer(number)
            self.kernels.project(x, GREATEST_NORM)
            self.kernels.project(h, GREATEST_NORM)
        self.kernels.project(self.weights["embeddings"].T, GREATEST_NORM)
        self.kernels.update_arcs(self.weights["arcs"], gradients.read, gradients.scores, clipped, GREATEST_NORM)


def both_ways_of_halves(rows: np.ndarray) -> np.ndarray:
    """The inverse of `side_by_side` for one word: [i, 2H] as [2, i, 1, H]."""
    forward, backward = np.split(rows, 2, axis=1)
    return np.stack([forward, backward[::-1]])[:, :, None]
