"""Our network in DyNet for simple_search, and a model file's weights put into it."""
from __future__ import annotations

import dynet as dy

from il_morph.model.modelfile import Model
from il_morph.engines.dynet.network import Network
from il_morph.model.vocabulary import Instance


class DynetModel:
    """`begin` opens a new computation graph, `step` gives log probabilities."""

    def __init__(self, network: Network):
        self.network, self.vocabulary = network, network.vocabulary

    @classmethod
    def of(cls, model: Model) -> "DynetModel":
        network = Network(model.vocabulary)
        network.set_weights(model.weights)
        return cls(network)

    def begin(self, instance: Instance):
        dy.renew_cg()
        graph = self.network.graph(instance)
        return graph, graph.initial_states()

    def step(self, state, action: int, position: int):
        graph, states = state
        states = graph.step(states, action, position)
        logits = graph.logits(states, position == graph.instance.end)
        return (graph, states), dy.log_softmax(logits).vec_value()
