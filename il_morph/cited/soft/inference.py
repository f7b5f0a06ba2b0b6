"""SOFT: the encoder–decoder with soft attention of Aharoni & Goldberg (2017); it reads features like characters.

    characters [C, input], features [F, input]
    encoder_forward.L.*, encoder_backward.L.*, decoder.L.*: LSTM layers as in the transducer
    attention.W [H, H], attention.U [H, 2 E], attention.v [1, H]
    context.W [H + 2 E, H + 2 E] reads [s; c]; output.W [C, H + 2 E], output.b [C]

for an encoder of size E and a decoder of size H. score_j = v·tanh(W s + U h_j), α = softmax of the scores,
c = Σ α_j h_j, P = softmax(R tanh(W_c [s; c]) + b) over the characters and END.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from il_morph.model.architecture import AnyArchitecture, bias, matrix, table
from il_morph.model.inference import AnyInference, States, Weights, step_layers
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import BEGIN


class SoftArchitecture(AnyArchitecture):
    def __init__(self, vocabulary: Vocabulary):
        super().__init__(vocabulary)
        settings, characters = self.settings, len(vocabulary.characters)
        hidden, encoded = settings.dec_hidden, {"enc_fwd": settings.enc_hidden, "enc_bwd": settings.enc_hidden}
        together = {"s": hidden, **encoded}
        width = sum(together.values())
        self.tables = [table("characters", characters, settings.input),
                       table("features", len(vocabulary.features), settings.input)]
        self.decoder = self._stack("decoder", settings.dec_layers, {"x": settings.input}, hidden)
        self.attention = [matrix("attention.W", hidden, {"s": hidden}), matrix("attention.U", hidden, encoded),
                          matrix("attention.v", 1, {"hidden": hidden})]
        self.context = matrix("context.W", width, together)
        self.classifier = [matrix("output.W", characters, {"o": width}), bias("output.b", characters, zero=False)]
        self.weights = self._list(self.tables, self.forward + self.backward + self.decoder,
                                  [*self.attention, self.context, *self.classifier])


@dataclass
class SoftStates(States):
    """Decoder states with the input of the classifier, tanh(W_c [s; c]), and the most attended place."""

    o: np.ndarray
    attended: np.ndarray  # a position in the buffer; features count as BEGIN

    def take(self, rows: np.ndarray) -> SoftStates:
        kept = super().take(rows)
        return SoftStates(kept.h, kept.c, self.o[rows], self.attended[rows])


@dataclass
class Attended:
    """Encoded samples, padded, as attention reads them: [sample, place, …]."""

    encoded: np.ndarray
    keys: np.ndarray  # U h_j
    padding: np.ndarray  # 0, and −inf beyond the end of a sample
    features: np.ndarray  # the number of places of each sample that are features
    ends: np.ndarray


class SoftInference(AnyInference):
    """SOFT without gradients, for many samples at once."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary):
        architecture = SoftArchitecture(vocabulary)
        super().__init__(weights, vocabulary, architecture)
        self.decoder = self._cells(architecture.decoder)
        self.read_table = super()._symbols() @ self.decoder[0].x + self.decoder[0].b
        self.w, self.u, self.v = (np.ascontiguousarray(weights[f"attention.{name}"].T) for name in "WUv")
        self.context = np.ascontiguousarray(weights["context.W"].T)
        self.output = np.ascontiguousarray(weights["output.W"].T), weights["output.b"]

    def _symbols(self) -> np.ndarray:
        """The characters, then the features."""
        return np.vstack([super()._symbols(), self.weights["features"]])

    def encode(self, instances: Sequence[Instance]) -> Attended:
        first = len(self.vocabulary.characters)
        encoded, _, packing = self.run_encoder(
            [[BEGIN, *(first + slot for slot in instance.slots), *instance.buffer[1:]] for instance in instances])
        rows, lengths = np.arange(len(instances)), packing.lengths
        places = packing.places(rows[:, None], np.minimum(np.arange(lengths.max()), lengths[:, None] - 1))
        padding = np.where(np.arange(lengths.max()) < lengths[:, None], 0, -np.inf).astype(np.float32)
        features, ends = np.array([(len(instance.slots), instance.end) for instance in instances]).T
        return Attended(encoded[places], (encoded @ self.u)[places], padding, features, ends)

    def initial_states(self) -> States:
        return States([None] * len(self.decoder), [None] * len(self.decoder))

    def step(self, encoded: Attended, rows: np.ndarray, positions: np.ndarray, actions: np.ndarray,
             states: States) -> SoftStates:
        stepped = step_layers(self.decoder, np.take(self.read_table, actions, axis=1), states)
        s = stepped.top
        alpha = self.attention(encoded, rows, s)
        context = alpha[:, None, :] @ encoded.encoded[rows]
        o = np.tanh(np.hstack([s, context[:, 0]]) @ self.context)
        return SoftStates(stepped.h, stepped.c, o, np.maximum(alpha.argmax(axis=1) - encoded.features[rows], 0))

    def heads(self, positions: np.ndarray, states: SoftStates) -> np.ndarray:
        return states.attended

    def attention(self, encoded: Attended, rows: np.ndarray, s: np.ndarray) -> np.ndarray:
        """α: [row, place]"""
        scores = (np.tanh(encoded.keys[rows] + (s @ self.w)[:, None]) @ self.v)[:, :, 0] + encoded.padding[rows]
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def logits(self, states: SoftStates) -> np.ndarray:
        return states.o @ self.output[0] + self.output[1]
