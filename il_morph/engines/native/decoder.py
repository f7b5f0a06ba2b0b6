"""The decoder: an LSTM that reads the previous action at a position of the encoded input."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Sequence

import numpy as np

from il_morph.engines.native.encoder import Encoder, with_ones
from il_morph.engines.native.layout import Arrays, Layout
from il_morph.engines.native.lookups import LookUps
from il_morph.engines.native.packing import Packing
from il_morph.engines.native.recurrence import Factors, Recurrence
from il_morph.transitions.actions import END

INITIAL = -1  # the node before the first step


@dataclass
class Rows:
    """States of one sample without gradient, and the scores of the actions in them."""

    sample: int
    h: np.ndarray
    c: np.ndarray
    p: np.ndarray
    scores: np.ndarray

    def __len__(self) -> int:
        return len(self.h)


class Decoder:
    """Steps of the samples of an encoded batch: each is a node, or a row when it needs no gradient."""

    def __init__(self, kernels: ModuleType, layout: Layout, arrays: Arrays, encoder: Encoder):
        self.kernels, self.arrays, self.layout, self.encoder = kernels, arrays, layout, encoder
        self.layer = Recurrence(kernels, "decoder", arrays, layout.settings.vanilla_lstm)
        self.table = "characters" if layout.settings.param_tying else "actions"
        self.output = arrays["output"]
        self.dtype = self.output.dtype
        self.projected_actions = np.empty((len(arrays[self.table]), self.layer.wh.shape[1]), dtype=self.dtype)
        self.scores = np.empty((16, self.output.shape[1]), dtype=self.dtype)  # of the nodes
        self.begin()

    def begin(self) -> None:
        """Of an update: the weights have changed and nothing has been computed."""
        self.layer.nodes.clear()
        self.known: set[int] = set()  # the actions whose rows of `projected_actions` are up to date
        self.places: list[int] = []  # what each node reads: a row of the encoder's `projected`,
        self.actions: list[int] = []  # and an action

    # nodes

    def step(self, parents: Sequence[int], places: Sequence[int], actions: Sequence[int]) -> slice:
        """One step of several samples: new nodes, with their scores."""
        return self._run(np.array(parents), (0, len(parents)), places, actions)

    def run_sequences(self, packing: Packing, places: Sequence[int], actions: Sequence[int]) -> np.ndarray:
        """Whole sequences of steps from the initial state, one after the other; the node of each step."""
        base = self.layer.nodes.number
        parents = np.where(packing.parents < 0, INITIAL, packing.parents + base)
        inverse = np.argsort(packing.places)
        new = self._run(parents, packing.bounds.tolist(), np.asarray(places)[inverse].tolist(),
                        np.asarray(actions)[inverse].tolist())
        return new.start + packing.places

    def _run(self, parents: np.ndarray, bounds: Sequence[int], places: Sequence[int], actions: Sequence[int]) -> slice:
        nodes = self.layer.nodes
        new = nodes.add(parents, bounds)
        self.places += places
        self.actions += actions
        nodes.z[new] = self._inputs(places, actions)
        self.layer.run(new.start + np.array(bounds))
        self._score(new)
        return new

    def _inputs(self, places: Sequence[int], actions: Sequence[int]) -> np.ndarray:
        """What position, features and action contribute to the gates."""
        new = sorted(set(actions) - self.known)
        if new:
            projected = np.zeros((len(new), self.projected_actions.shape[1]), dtype=self.dtype)
            self.kernels.add_product(projected, self.arrays[self.table][new], self.arrays["decoder.actions"])
            self.projected_actions[new] = projected
            self.known.update(new)
        return self.encoder.projected[places] + self.projected_actions[actions]

    def _score(self, new: slice) -> None:
        if new.stop > len(self.scores):
            grown = np.empty((2 * new.stop, self.scores.shape[1]), dtype=self.dtype)
            grown[:new.start] = self.scores[:new.start]
            self.scores = grown
        self.scores[new] = self._scores_of(self.layer.nodes.h[new])

    def _scores_of(self, h: np.ndarray) -> np.ndarray:
        scores = np.repeat(self.output[-1:], len(h), axis=0)
        self.kernels.add_product(scores, h, self.output[:-1])
        return scores

    # rows

    def rows(self, sample: int, node: int, number: int) -> Rows:
        """The state of a node, some times."""
        nodes = self.layer.nodes
        states = (np.repeat(array[node][None], number, axis=0) for array in (nodes.h, nodes.c, nodes.p))
        return Rows(sample, *states, np.empty((number, 0), dtype=self.dtype))

    def step_rows(self, states: Sequence[Rows], places: Sequence[int], actions: Sequence[int]) -> list[Rows]:
        """One step of all these rows. After END nothing follows: such a row stays as it is."""
        live = np.array([k for k, action in enumerate(actions) if action != END], dtype=np.int64)
        h, c, p = (np.concatenate([getattr(rows, name) for rows in states]) for name in "hcp")
        z = self._inputs([places[k] for k in live], [actions[k] for k in live])
        h1, c1, p1, u = (np.empty((len(live), array.shape[1]), dtype=self.dtype) for array in (h, c, p, h))
        self.layer.cell.step(z, h[live], c[live], p[live], h1, c1, p1, u, self.layer.wh, self.layer.wc)
        scores = np.zeros((len(h), self.output.shape[1]), dtype=self.dtype)
        h[live], c[live], p[live], scores[live] = h1, c1, p1, self._scores_of(h1)
        ends = np.cumsum([len(rows) for rows in states]).tolist()
        parts = [slice(end - len(rows), end) for end, rows in zip(ends, states)]
        return [Rows(rows.sample, h[s], c[s], p[s], scores[s]) for rows, s in zip(states, parts)]

    # gradients

    def run_backward(self, dscores: np.ndarray, lookups: LookUps) -> tuple[np.ndarray, Factors]:
        """From the gradient of the scores of all nodes to that of the encoder's `projected` and of the weights."""
        kernels, nodes, arrays = self.kernels, self.layer.nodes, self.arrays
        nodes.clear_gradients()
        kernels.add_product_transposed(nodes.dh[:nodes.number], dscores, self.output[:-1])
        self.layer.run_backward()
        dz = nodes.dz[:nodes.number]
        dprojected = np.zeros_like(self.encoder.projected)
        kernels.add_rows(dprojected, np.array(self.places), dz)
        rows, inverse = np.unique(self.actions, return_inverse=True)
        dactions = np.zeros((len(rows), dz.shape[1]), dtype=self.dtype)
        kernels.add_rows(dactions, inverse, dz)
        embeddings = arrays[self.table][rows]
        dembeddings = np.zeros_like(embeddings)
        kernels.add_product_transposed(dembeddings, dactions, arrays["decoder.actions"])
        lookups.add(self.table, rows, dembeddings)
        return dprojected, {"decoder.actions": (embeddings, dactions), **self.layer.factors(),
                            "output": (with_ones(nodes.h[:nodes.number]), dscores)}
