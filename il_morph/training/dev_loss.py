"""Dev loss under teacher forcing, for many samples at once.

A teacher gives the optimal actions of each step; the model takes the most probable of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from il_morph.model.search import SearchModel, lead
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import END, HEAD, UNK
from il_morph.transitions.expert import Expert, optimal_actions


class Teacher(Protocol):
    """Leads a sample from its first step to END."""

    def optimal(self) -> Sequence[int]: ...

    def take(self, action: int) -> None: ...


class ExpertTeacher:
    """The expert, followed without errors."""

    def __init__(self, expert: Expert):
        self.expert = expert
        self.i = self.j = 0

    def optimal(self) -> list[int]:
        return optimal_actions(self.expert.candidates(self.i, self.j))

    def take(self, action: int) -> None:
        if action != END:
            self.i, self.j = self.expert.after(action, self.i, self.j)


class GoldTeacher:
    """One gold sequence of actions."""

    def __init__(self, actions: Sequence[int]):
        self.actions = list(actions)
        self.step = 0

    def optimal(self) -> list[int]:
        return [self.actions[self.step]]

    def take(self, action: int) -> None:
        self.step += 1


def step_losses(inference: SearchModel, instances: Sequence[Instance],
                teachers: Sequence[Teacher]) -> list[list[float]]:
    """−log Σ P(a) over the teacher's optimal actions, for each step of each sample."""
    losses: list[list[float]] = [[] for _ in instances]

    def follow(sample: int, head: int, log_probabilities: np.ndarray) -> tuple[int, bool]:
        optimal = teachers[sample].optimal()
        losses[sample].append(-float(np.logaddexp.reduce(log_probabilities[optimal])))
        action = max(optimal, key=log_probabilities.__getitem__)
        teachers[sample].take(action)
        return action, action == END

    lead(inference, instances, follow)
    return losses


def mean_loss(inference: SearchModel, instances: Sequence[Instance], teachers: Sequence[Teacher],
              batch_size: int = 128) -> float:
    """The mean over samples of the mean step loss."""
    losses: list[float] = []
    for first in range(0, len(instances), batch_size):
        part = slice(first, first + batch_size)
        losses += [float(np.mean(steps)) for steps in step_losses(inference, instances[part], teachers[part])]
    return float(np.mean(losses))


def producible(instances: Sequence[Instance], vocabulary: Vocabulary) -> list[Instance]:
    """The samples whose output has only characters that the model can insert.

    If UNK copies unseen input characters, no other action is possible there, so the input must not have any, either.
    """
    return [instance for instance in instances if UNK not in vocabulary.actions_of(instance.sample.target)
            and not (vocabulary.table.rows[UNK].writes is HEAD and UNK in instance.buffer)]
