"""Drawing from distributions."""

from __future__ import annotations

from random import Random
from typing import Protocol

import numpy as np


class Uniform(Protocol):
    """Numbers from 0 up to 1, such as those of random.Random."""

    def random(self) -> float: ...


def stream_of_sample(random: Random, batch_size: int) -> Random:
    """The random numbers of one sample. In a batch each has a stream of its own: samples may be visited together."""
    return random if batch_size == 1 else Random(random.getrandbits(64))


def draw(weights: np.ndarray, random: Uniform) -> int:
    """An index with a probability proportional to its weight: one uniform number, walked through the weights."""
    cumulative = weights.cumsum(dtype=np.float64)
    place = cumulative.searchsorted(random.random() * cumulative[-1], side="right")
    return min(int(place), len(cumulative) - 1)


def draw_rows(weights: np.ndarray, random: Uniform) -> np.ndarray:
    """The same for each row of weights, one after the other."""
    cumulative = np.cumsum(weights, axis=1, dtype=np.float64)
    thresholds = np.array([random.random() for _ in weights]) * cumulative[:, -1]
    places = np.count_nonzero(cumulative <= thresholds[:, None], axis=1)
    return np.minimum(places, weights.shape[1] - 1)


def state_of(random: np.random.RandomState) -> dict[str, np.ndarray]:
    """Where these random numbers are, for a checkpoint."""
    state = random.get_state(legacy=False)["state"]
    return {"random": state["key"], "place": np.array([state["pos"]])}


def set_state(random: np.random.RandomState, state: dict[str, np.ndarray]) -> None:
    """Go on from what `state_of` returned."""
    place = int(state["place"][0])
    if not 0 <= place <= len(state["random"]):  # NumPy does not look
        raise ValueError("its random numbers go on at no place")
    random.set_state(("MT19937", state["random"], place, 0, 0.0))
