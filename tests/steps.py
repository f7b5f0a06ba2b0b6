"""The network asked for one step at a time, for searches and tests that go as plainly as can be."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from il_morph.model.inference import AnyInference
from il_morph.model.vocabulary import Instance


def step_log_probabilities(model: Any, instance: Instance, actions: Sequence[int]) -> np.ndarray:
    """The log probabilities of the valid actions at each step of a sequence; 0 for invalid ones."""
    table, number = model.vocabulary.table, len(model.vocabulary.actions)
    state, position, rows = model.begin(instance), instance.start, []
    for last, action in zip((model.vocabulary.system.initial_action, *actions), actions):
        state, scores = model.step(state, last, position)
        valid = table.valid_actions(position == instance.end)
        rows.append(np.zeros(number))
        rows[-1][valid] = np.asarray(scores)[valid]
        position = min(table.advance(position, action), instance.end)
    return np.array(rows)


class OneByOne:
    """The NumPy network, one row at a time."""

    def __init__(self, inference: AnyInference):
        self.inference, self.vocabulary = inference, inference.vocabulary

    def begin(self, instance: Instance):
        return self.inference.encode([instance]), self.inference.initial_states()

    def step(self, state, action: int, position: int):
        encoded, states = state
        states = self.inference.step(encoded, np.array([0]), np.array([position]), np.array([action]), states)
        scores = self.inference.log_probabilities(states, np.array([position]) == encoded.ends)
        return (encoded, states), scores[0].tolist()
