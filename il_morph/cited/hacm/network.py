"""HACM in DyNet: the transducer's network with a gate between generating and copying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dynet as dy

from il_morph.cited.hacm.inference import HacmArchitecture
from il_morph.engines.dynet.cells import affine
from il_morph.engines.dynet.network import MASKED, DynetNetwork, SampleGraph
from il_morph.model.vocabulary import Instance, Vocabulary


class HacmNetwork(DynetNetwork):
    def __init__(self, vocabulary: Vocabulary):
        super().__init__(vocabulary, HacmArchitecture(vocabulary))

    def _declare(self, architecture: Any) -> None:
        super()._declare(architecture)
        self.gate = self._affine(*architecture.gate)
        self.others += self.gate

    def graph(self, instance: Instance, dropout: float = 0.0) -> HacmGraph:
        return HacmGraph(self, instance, dropout)


class HacmGraph(SampleGraph):
    network: HacmNetwork

    def __init__(self, network: HacmNetwork, instance: Instance, dropout: float):
        super().__init__(network, instance, dropout)
        matrix, bias = network.gate
        features, positions = self.read
        constant = affine(bias.parameter, [(matrix[block], x) for block, x in features.items()])
        self.gates = affine(constant, [(matrix[block], x) for block, x in positions.items()])

    def _losses(self, s: dy.Expression, previous: Sequence[int], positions: Sequence[int],
                targets: Sequence[int]) -> dy.Expression:
        """−log(g · P_gen + (1 − g) · [target = x_i])"""
        matrix, places = self.network.gate[0], [position - self.instance.start for position in positions]
        gate = affine(dy.pick_batch_elems(self.gates, places),
                      [(matrix["s"], s), (matrix["action"], self.network.actions.rows(previous))])
        generated = dy.log_sigmoid(gate) - super()._losses(s, previous, positions, targets)
        other = [0.0 if self.instance.buffer[position] == target else MASKED
                 for position, target in zip(positions, targets)]
        copied = dy.log_sigmoid(-gate) + dy.reshape(dy.inputVector(other), (1,), batch_size=len(other))
        return -dy.logsumexp([generated, copied])
