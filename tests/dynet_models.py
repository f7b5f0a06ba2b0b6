"""Our network in DyNet: for simple_search, and learners whose losses can be looked at."""
from __future__ import annotations

from typing import Optional

import dynet as dy

from il_morph.engines.dynet.decoder import DynetDecoder
from il_morph.engines.dynet.learner import DynetLearner
from il_morph.engines.dynet.network import DynetNetwork
from il_morph.model.architecture import Architecture
from il_morph.model.modelfile import Model
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import reply_to


class DynetModel:
    """`begin` opens a new computation graph, `step` gives log probabilities."""

    def __init__(self, network: DynetNetwork):
        self.network, self.vocabulary = network, network.vocabulary

    @classmethod
    def of(cls, model: Model) -> DynetModel:
        return cls(fresh_network(model.vocabulary, model.weights))

    def begin(self, instance: Instance):
        dy.renew_cg()
        graph = self.network.graph(instance)
        return graph, graph.initial_states()

    def step(self, state, action: int, position: int):
        graph, states = state
        states = graph.step(states, action, position)
        logits = graph.logits(states, position == graph.instance.end)
        return (graph, states), dy.log_softmax(logits).vec_value()


def learner_of(objective, network: DynetNetwork = None) -> DynetLearner:
    """The learner of an objective, on this network if one is given."""
    return DynetLearner(network or DynetNetwork(objective.vocabulary), objective, objective.settings)


def loss_of(learner: DynetLearner, instance: Instance) -> Optional[dy.Expression]:
    """The loss of a sample in the current graph; None if there is nothing to learn from it."""
    losses, count = learner.visit(instance)
    return dy.esum(losses) / count if count else None


def fresh_network(vocabulary: Vocabulary, weights: dict = None, seed: int = 1) -> DynetNetwork:
    """A network with these weights, or with those that a training starts from."""
    network = DynetNetwork(vocabulary)
    network.set_weights(weights or Architecture(vocabulary).draw(seed))
    return network


def run(generator, decoder: DynetDecoder):
    """What a generator of requests returns when this decoder serves them."""
    return reply_to(generator, decoder.serve)
