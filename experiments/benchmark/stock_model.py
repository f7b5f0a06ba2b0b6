"""The same network on DyNet's own LSTM builders, as plain as can be: what ours is measured against."""
from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Optional

import dynet as dy
import numpy as np

from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import END, MAX_ACTIONS, UNK
from il_morph.transitions.expert import Expert, matched, optimal_actions

COUPLED_ORDER = ("x2i", "h2i", "c2i", "bi", "x2o", "h2o", "c2o", "bo", "x2c", "h2c", "bc")
VANILLA_GATES = "ifog"  # stacked from top to bottom
NONLINEARITIES = {"ReLU": dy.rectify, "tanh": dy.tanh}


class StockModel:
    """Builders, a concatenated decoder input, a restricted log_softmax."""

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.collection = collection = dy.ParameterCollection()
        s, number = self.settings, len(vocabulary.actions)
        self.tables = {"characters": collection.add_lookup_parameters((len(vocabulary.characters), s.input))}
        if not s.param_tying:
            self.tables["actions"] = collection.add_lookup_parameters((number, s.action_input))
        if s.feat_input:
            self.tables["features"] = collection.add_lookup_parameters((len(vocabulary.features), s.feat_input))
        if vocabulary.pos is not None:
            self.tables["pos"] = collection.add_lookup_parameters((len(vocabulary.pos), s.feat_input))
        slots = vocabulary.number_of_slots + (vocabulary.pos is not None)
        decoder_input = 2 * s.enc_hidden + slots * (s.feat_input or 1) + s.action_input
        builder = dy.VanillaLSTMBuilder if s.vanilla_lstm else dy.CoupledLSTMBuilder
        self.builders = {
            "encoder_forward": builder(s.enc_layers, s.input, s.enc_hidden, collection),
            "encoder_backward": builder(s.enc_layers, s.input, s.enc_hidden, collection),
            "decoder": builder(s.dec_layers, decoder_input, s.dec_hidden, collection),
        }
        self.dense = {"output.W": collection.add_parameters((number, s.mlp or s.dec_hidden)),
                      "output.b": collection.add_parameters(number)}
        if s.mlp:
            self.dense["hidden.W"] = collection.add_parameters((s.mlp, s.dec_hidden))
            self.dense["hidden.b"] = collection.add_parameters(s.mlp)
        self.valid = [vocabulary.table.valid_actions(at_end) for at_end in (False, True)]

    # one sample

    def begin(self, instance: Instance):
        dy.renew_cg()
        return instance, self.encode(instance), self.builders["decoder"].initial_state()

    def step(self, state, action: int, position: int):
        instance, encoded, decoder = state
        decoder = decoder.add_input(self.decoder_input(encoded, action, position))
        scores = self.log_probabilities(decoder, position == instance.end)
        return (instance, encoded, decoder), scores.vec_value()

    def encode(self, instance: Instance) -> tuple[list, list]:
        """[enc_fwd; enc_bwd] of each position, and the feature vectors."""
        embedded = [self.character(index) for index in instance.buffer]
        forward = self.builders["encoder_forward"].initial_state().transduce(embedded)
        backward = self.builders["encoder_backward"].initial_state().transduce(embedded[::-1])[::-1]
        return [dy.concatenate(list(pair)) for pair in zip(forward, backward)], self.features(instance)

    def character(self, index: int) -> dy.Expression:
        table = self.tables["characters"]
        if index != UNK:
            return table[index]
        return dy.average([table[seen] for seen in range(1, len(self.vocabulary.characters))])

    def features(self, instance: Instance) -> list[dy.Expression]:
        if not self.settings.feat_input:
            return [dy.inputVector([self.settings.lucky_w * (slot != UNK) for slot in instance.slots])]
        vectors = [self.tables["features"][slot] for slot in instance.slots]
        if instance.pos is None:
            return vectors
        return [self.tables["features"][UNK] if instance.pos == UNK else self.tables["pos"][instance.pos], *vectors]

    def decoder_input(self, encoded: tuple[list, list], action: int, position: int) -> dy.Expression:
        positions, features = encoded
        actions = self.tables["characters" if self.settings.param_tying else "actions"]
        return dy.concatenate([positions[position], *features, actions[action]])

    def log_probabilities(self, decoder, at_end: bool) -> dy.Expression:
        s, dense = decoder.output(), self.dense
        if self.settings.mlp:
            s = NONLINEARITIES[self.settings.nonlin](dy.affine_transform([dense["hidden.b"], dense["hidden.W"], s]))
        return dy.log_softmax(dy.affine_transform([dense["output.b"], dense["output.W"], s]), self.valid[at_end])

    # training objectives

    def loss(self, instance: Instance, expert: Expert, model_rollin: float = 0.0, model_rollouts: bool = False,
             random: Optional[Random] = None) -> dy.Expression:
        """Imitation learning with nll: the mean of −log Σ P(optimal actions) along a roll-in.

        `model_rollin` is the probability of a sampled action; `model_rollouts` lets the model finish
        after each candidate, one by one.
        """
        system, table = self.vocabulary.system, self.vocabulary.table
        encoded, decoder = self.encode(instance), self.builders["decoder"].initial_state()
        action, position, j, losses = system.initial_action, instance.start, 0, []
        while action != END and len(losses) < MAX_ACTIONS:
            decoder = decoder.add_input(self.decoder_input(encoded, action, position))
            scores = self.log_probabilities(decoder, position == instance.end)
            costs = expert.candidates(position - instance.start, j)
            if model_rollouts and len(costs) > 1:
                state = instance, encoded, decoder
                costs = {a: self.rollout_edits(state, a, position, len(losses) + 1) for a in costs}
            optimal = optimal_actions(costs)
            losses.append(-dy.logsumexp([dy.pick(scores, a) for a in optimal]))
            if model_rollin and random.random() < model_rollin:
                action = random.choices(range(len(table)), np.exp(scores.vec_value()))[0]
            else:
                action = optimal[0] if len(optimal) == 1 else max(optimal, key=scores.vec_value().__getitem__)
            j = matched(expert.target, table.rows[action].written(instance.text[position]), j)
            position = table.advance(position, action)
        return dy.average(losses)

    def rollout_edits(self, state, action: int, position: int, steps: int) -> int:
        """The insertions and deletions of this action and of what the model does after it, greedily."""
        table, edits = self.vocabulary.table, 0
        while True:
            edits += int(table.costs[action])
            position = table.advance(position, action)
            if action == END or steps == MAX_ACTIONS:
                return edits
            state, scores = self.step(state, action, position)
            action = max(self.valid[position == state[0].end], key=scores.__getitem__)
            steps += 1

    def sequence_loss(self, instance: Instance, actions: Sequence[int]) -> dy.Expression:
        """MLE: the mean −log P of these actions."""
        table, losses = self.vocabulary.table, []
        encoded, decoder = self.encode(instance), self.builders["decoder"].initial_state()
        last, position = self.vocabulary.system.initial_action, instance.start
        for action in actions:
            decoder = decoder.add_input(self.decoder_input(encoded, last, position))
            losses.append(-dy.pick(self.log_probabilities(decoder, position == instance.end), action))
            last, position = action, table.advance(position, action)
        return dy.average(losses)

    # weights under the names of the model file

    def weights(self, read=None) -> dict[str, np.ndarray]:
        """Or what else `read` finds in each parameter, such as its gradient."""
        read = read or array
        weights = {name: read(p) for name, p in {**self.tables, **self.dense}.items()}
        for stack, builder in self.builders.items():
            for layer, parameters in enumerate(builder.get_parameters()):
                named = self.layer_weights([read(p) for p in parameters])
                weights.update({f"{stack}.{layer}.{name}": value for name, value in named.items()})
        return weights

    def layer_weights(self, arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        if not self.settings.vanilla_lstm:
            return dict(zip(COUPLED_ORDER, arrays))
        return {kind + gate: part for kind, whole in zip(("x2", "h2", "b"), arrays)
                for gate, part in zip(VANILLA_GATES, np.split(whole, 4))}

    def set_weights(self, weights: dict[str, np.ndarray]) -> None:
        """Copy the weights of a model file, or of our network, into the builders."""
        for name, table in self.tables.items():
            table.init_from_array(weights[name])
        for name, parameter in self.dense.items():
            parameter.set_value(weights[name])
        for stack, builder in self.builders.items():
            for layer, parameters in enumerate(builder.get_parameters()):
                for parameter, value in zip(parameters, self.builder_arrays(weights, f"{stack}.{layer}")):
                    parameter.set_value(value)

    def builder_arrays(self, weights: dict[str, np.ndarray], layer: str) -> list[np.ndarray]:
        if not self.settings.vanilla_lstm:
            return [weights[f"{layer}.{name}"] for name in COUPLED_ORDER]
        return [np.concatenate([weights[f"{layer}.{kind}{gate}"] for gate in VANILLA_GATES])
                for kind in ("x2", "h2", "b")]


def array(parameter) -> np.ndarray:
    return np.asarray(parameter.as_array(), dtype=np.float32)
