"""The weights of MED and LEM, and inference for many samples at once, with the network that training uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np

from il_morph.cited.gru.cells import Attended, Weights, attend
from il_morph.cited.gru.network import Encoded, Network
from il_morph.model.architecture import AnyArchitecture
from il_morph.model.inference import log_softmax
from il_morph.model.search import Hypothesis, SearchModel
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import BEGIN

Draw = Callable[[str, tuple, np.random.RandomState], np.ndarray]


def is_table(name: str) -> bool:
    return "." not in name


def is_matrix(name: str) -> bool:
    return name.endswith((".x", ".h", ".W", ".U"))


class GruArchitecture(AnyArchitecture):
    """Names, shapes and initial values of the weights; `draw_weight` draws the values of one weight."""

    def __init__(self, vocabulary: Vocabulary, from_mean: bool, draw_weight: Draw):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.from_mean, self.draw_weight = from_mean, draw_weight

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        vocabulary, settings = self.vocabulary, self.settings
        read, written, actions = settings.input, settings.action_input, len(vocabulary.actions)
        e, d = settings.enc_hidden, settings.dec_hidden
        shapes: dict[str, tuple[int, ...]] = {
            "characters": (len(vocabulary.characters), read), "features": (len(vocabulary.features), read),
            "actions": (actions, written)}
        for number in range(settings.enc_layers):
            shapes[f"encoder.{number}.x"] = (2, e if number else read, 3 * e)
            shapes[f"encoder.{number}.h"], shapes[f"encoder.{number}.b"] = (2, e, 3 * e), (2, 3 * e)
        for number in range(settings.dec_layers):
            shapes[f"decoder.{number}.x"] = (d if number else written + 2 * e, 3 * d)
            shapes[f"decoder.{number}.h"], shapes[f"decoder.{number}.b"] = (d, 3 * d), (3 * d,)
        starts = settings.dec_layers * d
        return {**shapes, "start.W": (2 * e if self.from_mean else e, starts), "start.b": (starts,),
                "attention.W": (d, d), "attention.U": (2 * e, d), "attention.b": (d,), "attention.v": (d,),
                "readout.W": (d + written + 2 * e, written), "readout.b": (written,),
                "output.W": (written, actions), "output.b": (actions,)}

    def draw(self, seed: int) -> Weights:
        random = np.random.RandomState(seed)
        return {name: self.draw_weight(name, shape, random).astype(np.float32) for name, shape in self.shapes.items()}


def sequence_of(instance: Instance, vocabulary: Vocabulary) -> list[int]:
    """The input of the encoder: BEGIN, features, characters, END. In its table, features come after characters."""
    first, has_features = len(vocabulary.characters), vocabulary.format.separator is not None
    return [BEGIN, *(first + slot for slot in instance.slots if has_features), *instance.buffer[1:]]


@dataclass
class GruStates:
    """Rows of decoder states: the state of each layer, the scores of all actions, and the most attended place."""

    s: list[np.ndarray]
    scores: np.ndarray
    attended: np.ndarray  # a position in the buffer; features count as BEGIN

    def take(self, rows: np.ndarray) -> GruStates:
        return GruStates([s[rows] for s in self.s], self.scores[rows], self.attended[rows])


@dataclass
class EncodedSamples(Encoded):
    """An encoded batch of inputs, with what the search needs."""

    starts: list[np.ndarray]  # the initial states of the decoder
    features: np.ndarray  # the number of places of each sample that are features
    ends: np.ndarray


class GruInference(SearchModel):
    """MED and LEM without gradients. With `by_length`, hypotheses are ranked by log probability per action."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary, from_mean: bool, by_length: bool = False):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.weights, self.by_length = weights, by_length
        self.network = Network(vocabulary.settings, weights, from_mean)
        first, width = self.network.decoder[0], self.settings.action_input
        self.read_table = weights["actions"] @ first.x[:width] + first.b
        self.context_matrix = np.ascontiguousarray(first.x[width:])
        self.table = vocabulary.table
        self.invalid = ~self.table.valid

    def encode(self, instances: Sequence[Instance]) -> EncodedSamples:
        encoded = self.network.encode([sequence_of(instance, self.vocabulary) for instance in instances])
        features = encoded.source.lengths - [len(instance.buffer) for instance in instances]
        return EncodedSamples(encoded.source, encoded.encoded, encoded.keys, encoded.padding, [], [],
                              self.network.start(encoded), features, np.array([each.end for each in instances]))

    def initial_states(self) -> Optional[GruStates]:
        """None: initial states depend on the encoded samples, so `step` takes them from there."""
        return None

    def attention(self, encoded: EncodedSamples, rows: np.ndarray, s: np.ndarray) -> Attended:
        return attend(s @ self.weights["attention.W"], encoded.keys[rows], self.weights["attention.v"],
                      encoded.encoded[rows], encoded.padding[rows])

    def step(self, encoded: EncodedSamples, rows: np.ndarray, positions: np.ndarray, actions: np.ndarray,
             states: Optional[GruStates]) -> GruStates:
        before = [start[rows] for start in encoded.starts] if states is None else states.s
        attended = self.attention(encoded, rows, before[0])
        layers, after = self.network.decoder, []
        s, _ = layers[0].step(self.read_table[actions] + attended.context @ self.context_matrix, before[0])
        after.append(s)
        for layer, last in zip(layers[1:], before[1:]):
            above, _ = layer.step(layer.project(s), last)
            after.append(above)
            s = s + above
        scores, _, _ = self.network.scores(s, self.weights["actions"][actions], attended.context)
        places = attended.alpha.argmax(axis=1)
        return GruStates(after, scores, np.maximum(places - encoded.features[rows], 0))

    def heads(self, positions: np.ndarray, states: GruStates) -> np.ndarray:
        return states.attended

    def advance(self, positions: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return positions + self.table.reads[actions]

    def log_probabilities(self, states: GruStates, at_end: np.ndarray) -> np.ndarray:
        return log_softmax(np.where(self.invalid[at_end.astype(np.int64)], -np.inf, states.scores))

    def search(self, instances: Sequence[Instance], width: int) -> list[list[Hypothesis]]:
        found = super().search(instances, width)
        if self.by_length:
            return [sorted(each, key=lambda found: -found.log_probability / len(found.actions)) for each in found]
        return found
