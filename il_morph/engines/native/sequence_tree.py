"""Whole action sequences: sequences of a sample that begin alike share their first steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from il_morph.engines.native.encoder import Encoder
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import AT_END, BEFORE_END

ROOT = -1  # the parent of a first step


class Tree:
    """Steps of sequences of several samples as nodes, level by level. Steps of one sample that follow the same
    actions are one node."""

    def __init__(self, vocabulary: Vocabulary, encoder: Encoder):
        self.vocabulary, self.encoder = vocabulary, encoder
        self.levels: list[list[tuple[int, int, int, int]]] = []  # (parent in the level above, place, action, support)
        self.found: list[dict[tuple, int]] = []  # the nodes of each level, by parent and the action taken there
        self.steps: list[tuple[int, int, int]] = []  # level, node in it, and the action that the sequence takes there
        self.lengths: list[int] = []  # of the sequences

    def add(self, sample: int, instance: Instance, actions: Sequence[int]) -> None:
        """Add a sequence of a sample."""
        previous, parent, key = self.vocabulary.system.initial_action, ROOT, (ROOT, sample)
        first, end = self.encoder.place(sample, 0), instance.end
        for level, (action, position) in enumerate(self.vocabulary.table.walk(actions, instance.start)):
            if level == len(self.levels):
                self.levels.append([])
                self.found.append({})
            nodes = self.levels[level]
            node = self.found[level].setdefault(key, len(nodes))
            if node == len(nodes):
                nodes.append((parent, first + position, previous, AT_END if position == end else BEFORE_END))
            self.steps.append((level, node, action))
            previous, parent, key = action, node, (node, action)
        self.lengths.append(len(actions))

    def number_nodes(self) -> None:
        """Number the nodes level by level."""
        self.bounds = np.cumsum([0, *map(len, self.levels)]).tolist()
        above = [0, *self.bounds]
        self.parents = [ROOT if parent == ROOT else above[level] + parent
                        for level, nodes in enumerate(self.levels) for parent, *_ in nodes]
        _, self.places, self.actions, self.supports = zip(*(node for nodes in self.levels for node in nodes))
        self.nodes = np.array([self.bounds[level] + node for level, node, _ in self.steps])
        """The node of each step, one sequence after the other."""
        self.taken = np.array([action for _, _, action in self.steps])
