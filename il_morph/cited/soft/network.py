"""SOFT in DyNet: one computation graph per sample; all steps of the decoder attend at once."""

from __future__ import annotations

from collections.abc import Sequence

import dynet as dy

from il_morph.cited.soft.inference import SoftArchitecture
from il_morph.engines.dynet.cells import affine, run_layers
from il_morph.engines.dynet.network import AnyNetwork, SequenceGraph, character_rows
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import BEFORE_END, BEGIN


class SoftNetwork(AnyNetwork):
    def __init__(self, vocabulary: Vocabulary):
        super().__init__(vocabulary, SoftArchitecture(vocabulary))

    def _declare(self, architecture: SoftArchitecture) -> None:
        self.characters, self.features = self.tables["characters"], self.tables["features"]
        self.actions = self.characters
        self.forward, self.backward, self.decoder = (
            self._stack(layers) for layers in (architecture.forward, architecture.backward, architecture.decoder))
        self.layers = self.forward + self.backward + self.decoder
        self.w, self.u, self.v = map(self._matrix, architecture.attention)
        self.context = self._matrix(architecture.context)
        self.output = self._affine(*architecture.classifier)
        self.others = [self.w, self.u, self.v, self.context, *self.output]

    def graph(self, instance: Instance, dropout: float = 0.0) -> SoftGraph:
        return SoftGraph(self, instance, dropout)


class SoftGraph(SequenceGraph):
    """Encoder and decoder of one sample."""

    def __init__(self, network: SoftNetwork, instance: Instance, dropout: float):
        self.network, self.instance = network, instance
        network.enter_graph()
        self.masks = [cell.masks(dropout) for cell in network.decoder]
        embedded = self._embedded()
        order = range(2 + len(instance.slots) + len(instance.sample.input))
        self.forward = dy.concatenate_cols(run_layers(network.forward, embedded, order))
        self.backward = dy.concatenate_cols(run_layers(network.backward, embedded, order[::-1]))
        hidden = network.settings.dec_hidden
        self.keys = affine(dy.zeros((hidden, len(order))), [(network.u["enc_fwd"], self.forward),
                                                            (network.u["enc_bwd"], self.backward)])

    def _embedded(self) -> dy.Expression:
        """BEGIN, features, characters, END as a batch."""
        network, instance = self.network, self.instance
        parts = [network.characters.row(BEGIN)]
        if instance.slots:
            parts.append(network.features.rows(instance.slots))
        return dy.concatenate_to_batch([*parts, character_rows(network.characters, instance.buffer[1:])])

    def sequence(self, actions: Sequence[int]) -> dy.Expression:
        """The decoder reads BEGIN and all characters but the last."""
        network = self.network
        read = network.characters.rows([network.vocabulary.system.initial_action, *actions[:-1]])
        s = dy.concatenate_to_batch(run_layers(network.decoder, read, range(len(actions)), self.masks))
        matrix, bias = network.output
        logits = affine(bias.parameter + dy.inputVector(network.masks[BEFORE_END]), [(matrix["o"], self._attend(s))])
        return dy.pickneglogsoftmax_batch(logits, list(actions))

    def _attend(self, s: dy.Expression) -> dy.Expression:
        """tanh(W_c [s; c]) of a batch of decoder states."""
        network, settings = self.network, self.network.settings
        length = self.keys.dim()[0][1]
        queries = affine(dy.zeros(settings.dec_hidden), [(network.w["s"], s)])
        scores = affine(dy.zeros((1, length)), [(network.v["hidden"], dy.tanh(dy.colwise_add(self.keys, queries)))])
        alpha = dy.softmax(dy.reshape(scores, (length,), batch_size=s.dim()[1]))
        zero = dy.zeros(settings.enc_hidden)
        context = {"s": s, "enc_fwd": affine(zero, [(self.forward, alpha)]),
                   "enc_bwd": affine(zero, [(self.backward, alpha)])}
        width = settings.dec_hidden + 2 * settings.enc_hidden
        return dy.tanh(affine(dy.zeros(width), [(network.context[block], x) for block, x in context.items()]))
