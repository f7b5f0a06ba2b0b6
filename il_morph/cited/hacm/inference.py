"""HACM of Makarov et al. (2017): hard attention with a copy mechanism.

The weights are the transducer's and those of the gate:

    gate.W [1, H + D], gate.b [1]: reads [s; d], d being the decoder's input [enc_fwd; enc_bwd; POS; features; action]

g = σ(w·[s; d] + b), P(a) = g · softmax(R s + b)(a) + (1 − g) · [a = x_i], where x_i may be BEGIN or END.
An x_i that did not occur in training is written (by UNK) and then stepped over, both with probability 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from il_morph.model.architecture import Architecture, bias, matrix
from il_morph.model.inference import Encoded, Inference, Packing, States, Weights
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.actions import STEP, UNK


class HacmArchitecture(Architecture):
    def __init__(self, vocabulary: Vocabulary):
        super().__init__(vocabulary)
        self.gate = [matrix("gate.W", 1, {"s": self.settings.dec_hidden, **self._decoder_inputs()}),
                     bias("gate.b", 1, zero=False)]
        self.weights.update({weight.name: weight for weight in self.gate})


@dataclass
class HacmStates(States):
    """Decoder states with, for each row, the gate w·[s; d] + b, the symbol x_i and the previous action."""

    gates: np.ndarray
    symbols: np.ndarray
    previous: np.ndarray

    def take(self, rows: np.ndarray) -> HacmStates:
        kept = super().take(rows)
        return HacmStates(kept.h, kept.c, self.gates[rows], self.symbols[rows], self.previous[rows])


class HacmInference(Inference):
    def __init__(self, weights: Weights, vocabulary: Vocabulary):
        super().__init__(weights, vocabulary)
        gate, hidden = weights["gate.W"][0], self.settings.dec_hidden
        self.state_gate, read = gate[:hidden], gate[hidden:]
        layer = self.architecture.decoder[0]
        positions, action = layer.columns("enc_fwd", "enc_bwd"), layer.columns("action")
        self.position_gate, self.feature_gate = read[positions], read[positions.stop:action.start]
        self.action_gate = weights["characters"] @ read[action] + weights["gate.b"]
        self.action_gate[UNK] = self.action_gate[1:].mean()
        self.action_table[:, UNK] = self.action_table[:, 1:].mean(axis=1)

    def _gates(self, encoded: np.ndarray, features: np.ndarray, packing: Packing) -> np.ndarray:
        gates = (encoded @ self.position_gate)[:, None]
        packing.add(gates, (features @ self.feature_gate)[:, None])
        return gates[:, 0]

    def step(self, encoded: Encoded, rows: np.ndarray, positions: np.ndarray, actions: np.ndarray,
             states: States) -> HacmStates:
        """A STEP at END does not move: a position beyond END counts as END."""
        positions = np.minimum(positions, encoded.ends[rows])
        stepped = super().step(encoded, rows, positions, actions, states)
        places = encoded.packing.places(rows, positions)
        gates = stepped.top @ self.state_gate + encoded.gates[places] + self.action_gate[actions]
        return HacmStates(stepped.h, stepped.c, gates, encoded.symbols[places], actions)

    def log_probabilities(self, states: HacmStates, at_end: np.ndarray) -> np.ndarray:
        scores = super().log_probabilities(states, at_end)
        rows, symbols = np.arange(len(scores)), states.symbols
        scores -= np.logaddexp(0, -states.gates)[:, None]
        scores[rows, symbols] = np.logaddexp(scores[rows, symbols], -np.logaddexp(0, states.gates))
        unseen = symbols == UNK
        scores[unseen] = -np.inf
        scores[unseen, np.where(states.previous == UNK, STEP, UNK)[unseen]] = 0
        return scores
