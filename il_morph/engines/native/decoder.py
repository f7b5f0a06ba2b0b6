"""The decoder: an LSTM that reads the previous action at a position of the encoded input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from types import ModuleType

import numpy as np

from il_morph.engines.native.aligned_memory import Scratch, zeros
from il_morph.engines.native.encoder import Encoder
from il_morph.engines.native.lookups import LookUps
from il_morph.engines.native.recurrence import Factors, Nodes, Recurrence
from il_morph.engines.native.sequence_tree import Tree
from il_morph.engines.native.weight_layout import Arrays, Layout
from il_morph.training.engine import RolledOut, RollOut
from il_morph.transitions.actions import END

INITIAL = -1  # the node before the first step
ENDED = -1  # the state of a row that has taken END


@dataclass
class DecoderRows:
    """Rows of one sample without gradient. Rows with the same history share a state and its scores."""

    states: list[int]  # the index of the state of each row
    h: np.ndarray  # of each state, as are c, p and scores
    c: np.ndarray
    p: np.ndarray
    scores: np.ndarray


class Decoder:
    """Decoder steps of an encoded batch: each step is a node, or a row if it needs no gradient."""

    def __init__(self, kernels: ModuleType, scratch: Scratch, layout: Layout, arrays: Arrays, encoder: Encoder):
        self.kernels, self.scratch, self.arrays, self.encoder = kernels, scratch, arrays, encoder
        self.table, self.output = layout.architecture.action_table, arrays["output"]
        self.layer = Recurrence(kernels, scratch, "decoder", arrays, layout.settings.vanilla_lstm, self.output.shape[1])
        self.nodes, self.dtype = self.layer.nodes, self.output.dtype
        self.passing = self.layer.new_nodes(self.output.shape[1])  # rows before and after a step
        self.projected_actions = zeros((len(arrays[self.table]), self.layer.wh.shape[1]), self.dtype)
        self.known = np.zeros(len(self.projected_actions), dtype=bool)  # which of these rows are up to date
        self.block = np.zeros(2, dtype=np.int64)  # the bounds of a block
        self.actions = layout.vocabulary.table
        self.begin()

    def begin(self) -> None:
        """Begin an update: the weights have changed, nothing is computed yet."""
        self.nodes.clear()
        self.bounds = [0]  # of the blocks of nodes
        self.known[:] = False

    # nodes

    def step(self, parents: Sequence[int], places: Sequence[int], actions: Sequence[int]) -> slice:
        """One step of several samples: new nodes, with their scores."""
        new = self.nodes.add(len(parents))
        self._compute(self.nodes, new, np.array([new.start, new.stop]), parents, places, actions)
        self.bounds.append(new.stop)
        return new

    def step_one(self, parent: int, place: int, action: int) -> int:
        """`step` for one sample."""
        nodes = self.nodes
        node = nodes.add(1).start
        nodes.parents[node], nodes.places[node], nodes.actions[node] = parent, place, action
        self.block[0], self.block[1] = node, node + 1
        self.kernels.decode(*self._step_arguments(nodes, self.block))
        self.bounds.append(node + 1)
        return node

    def run_tree(self, tree: Tree) -> int:
        """Compute all steps of a tree of sequences from the initial state; return its first node."""
        new = self.nodes.add(len(tree.parents))
        bounds = new.start + np.array(tree.bounds)
        parents = np.array(tree.parents)
        parents = np.where(parents < 0, INITIAL, new.start + parents)
        self._compute(self.nodes, new, bounds, parents, tree.places, tree.actions)
        self.bounds += bounds[1:].tolist()
        return new.start

    def _compute(self, nodes: Nodes, new: slice, bounds: np.ndarray, parents, places, actions) -> None:
        nodes.parents[new], nodes.places[new], nodes.actions[new] = parents, places, actions
        self.kernels.decode(*self._step_arguments(nodes, bounds))

    def _step_arguments(self, nodes: Nodes, bounds: np.ndarray) -> tuple[np.ndarray, ...]:
        """The arrays that the kernels of decoder steps read and write."""
        return (nodes.z, nodes.h, nodes.c, nodes.p, nodes.u, nodes.parents, bounds, self.layer.wh, self.layer.wc,
                nodes.places, self.encoder.projected, nodes.actions, self.projected_actions, self.known,
                self.arrays[self.table], self.arrays["decoder.actions"], self.output, nodes.scores)

    # rows

    def initial_rows(self, number: int) -> DecoderRows:
        """Rows that are all in the state before the first step."""
        h, c, p = (array[INITIAL][None] for array in (self.nodes.h, self.nodes.c, self.nodes.p))
        return DecoderRows([0] * number, h, c, p, np.empty((1, 0), dtype=self.dtype))

    def step_rows(self, rows: Sequence[DecoderRows], places: Sequence[Sequence[int]],
                  actions: Sequence[Sequence[int]]) -> list[DecoderRows]:
        """One step of all these rows. A row whose action is END has ended and is not computed."""
        nodes = self.passing
        nodes.clear()
        steps = [distinct(*each) for each in zip(rows, places, actions)]
        before = [nodes.add(len(each.h)) for each in rows]
        for old, each in zip(before, rows):
            nodes.h[old], nodes.c[old], nodes.p[old] = each.h, each.c, each.p
        read = [(old.start + state, *inputs) for old, (_, found) in zip(before, steps) for state, *inputs in found]
        new = nodes.add(len(read))
        if read:
            self._compute(nodes, new, np.array([new.start, new.stop]), *zip(*read))
        last, after = new.start, []
        for states, found in steps:
            part, last = slice(last, last + len(found)), last + len(found)
            after.append(DecoderRows(states, *(array[part].copy() for array in (nodes.h, nodes.c, nodes.p,
                                                                                nodes.scores))))
        return after

    # candidates

    def roll_out(self, requests: Sequence[RollOut], samples: Sequence[int]) -> list[list[RolledOut]]:
        """Finish the candidates of all requests greedily, as rows of one batch; the roll-outs of each request."""
        owners = np.array([n for n, request in enumerate(requests) for _ in request.actions])
        candidates = [action for request in requests for action in request.actions]
        nodes, number = self.passing, len(candidates)
        nodes.clear()
        nodes.add(3 * number)
        for n, request in enumerate(requests):
            for now, before in ((nodes.h, self.nodes.h), (nodes.c, self.nodes.c), (nodes.p, self.nodes.p)):
                now[n] = before[request.state]
        limits = np.array([request.limit for request in requests])
        taken = np.empty((number, 1 + max(limits.tolist())), dtype=np.int64)
        taken[:, 0] = candidates
        lengths, dropped, costs = np.ones(number, dtype=np.int64), np.zeros(number, dtype=bool), requests[0].costs
        spent, positions = costs[candidates], np.array([p for request in requests for p in request.positions])
        self.kernels.roll_out(
            *self._step_arguments(nodes, self.block), owners.copy(), positions,
            np.array([self.encoder.place(sample, 0) for sample in samples])[owners],
            np.array([self.encoder.instances[sample].end for sample in samples])[owners], limits[owners], owners,
            np.array([request.bound for request in requests]), requests[0].tightens, self.actions.valid,
            self.actions.reads, costs, taken, lengths, spent, dropped)
        actions = [row[:length].tolist() for row, length in zip(taken, lengths.tolist())]
        rows = map(RolledOut, actions, spent.tolist(), dropped.tolist())
        return [list(islice(rows, len(request.actions))) for request in requests]

    # gradients

    def run_backward(self, dscores: np.ndarray, lookups: LookUps) -> tuple[np.ndarray, Factors]:
        """The gradients of the encoder's `projected` and of the weights, from the gradient of all scores."""
        kernels, nodes, arrays, number = self.kernels, self.nodes, self.arrays, self.nodes.number
        dh = self.layer.no_gradient()
        kernels.add_product_transposed(dh[:number], dscores, self.output[:-1])
        dz, factors = self.layer.run_backward(np.array(self.bounds), dh)
        dprojected = self.scratch.zeros(*self.encoder.projected.shape)
        kernels.add_rows(dprojected, nodes.places[:number], dz)
        rows, places = distinct_of(nodes.actions[:number], len(self.known))
        dactions = self.scratch.zeros(len(rows), dz.shape[1])
        kernels.add_rows(dactions, places, dz)
        embeddings = arrays[self.table][rows]
        dembeddings = np.zeros_like(embeddings)
        kernels.add_product_transposed(dembeddings, dactions, arrays["decoder.actions"])
        lookups.add(self.table, rows, dembeddings)
        return dprojected, {"decoder.actions": (embeddings, dactions), **factors,
                            "output": (self.scratch.with_ones(nodes.h[:number]), dscores)}


def distinct_of(actions: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct actions in ascending order, and the index of each action among them; all are below `number`."""
    occurs = np.zeros(number, dtype=bool)
    occurs[actions] = True
    return occurs.nonzero()[0], (occurs.cumsum() - 1)[actions]


def distinct(rows: DecoderRows, places: Sequence[int], actions: Sequence[int]) -> tuple[list[int],
                                                                                        list[tuple[int, int, int]]]:
    """Which new state each row gets, and what each new state is computed from: state, place and action."""
    found: dict[tuple[int, int, int], int] = {}
    states = [found.setdefault(read, len(found)) if read[-1] != END else ENDED
              for read in zip(rows.states, places, actions)]
    return states, list(found)
