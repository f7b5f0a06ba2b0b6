"""Drawing from distributions."""

from __future__ import annotations

from random import Random
from typing import Protocol

import numpy as np


class Uniform(Protocol):
    """A source of uniform numbers in [0, 1), such as random.Random."""

    def random(self) -> float: ...


def stream_of_sample(random: Random, batch_size: int) -> Random:
    """The random generator for one sample. In a batch each sample has its own: samples may be visited together."""
    return random if batch_size == 1 else Random(random.getrandbits(64))


def draw(weights: np.ndarray, random: Uniform) -> int:
    """An index drawn with a probability proportional to its weight, by inverting the cumulative sum of the weights."""
    cumulative = weights.cumsum(dtype=np.float64)
    place = cumulative.searchsorted(random.random() * cumulative[-1], side="right")
    return min(int(place), len(cumulative) - 1)


def draw_rows(weights: np.ndarray, random: Uniform) -> np.ndarray:
    """Such an index for each row of weights, drawn one after the other."""
    cumulative = np.cumsum(weights, axis=1, dtype=np.float64)
    thresholds = np.array([random.random() for _ in weights]) * cumulative[:, -1]
    places = np.count_nonzero(cumulative <= thresholds[:, None], axis=1)
    return np.minimum(places, weights.shape[1] - 1)


def state_of(random: np.random.RandomState) -> dict[str, np.ndarray]:
    """The state of this random generator, for a checkpoint."""
    state = random.get_state(legacy=False)["state"]
    return {"random": state["key"], "place": np.array([state["pos"]])}


def set_state(random: np.random.RandomState, state: dict[str, np.ndarray]) -> None:
    """Restore a state that `state_of` returned."""
    place = int(state["place"][0])
    if not 0 <= place <= len(state["random"]):  # NumPy does not check
        raise ValueError("the place in its random numbers is out of range")
    random.set_state(("MT19937", state["random"], place, 0, 0.0))
