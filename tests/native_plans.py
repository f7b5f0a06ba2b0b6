"""Losses of every kind, planned in advance: as an objective that the native engine serves, and in plain DyNet."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import Step, StepLoss
from il_morph.transitions.actions import END

STEPWISE = ("nll", "softmax-margin", "mse")
SEQUENTIAL = ("mle", "mrt", "rl")
KINDS = STEPWISE + SEQUENTIAL
ALPHA = 0.1  # keeps Q of random sequences away from 0 and 1


def random_path(vocabulary: Vocabulary, instance: Instance, chance: Random, longest: int = 12) -> list[int]:
    """Valid actions up to END, half of them reading or ending where that is valid."""
    position, actions = instance.start, []
    while END not in actions and len(actions) < longest:
        valid = vocabulary.table.valid_actions(position == instance.end)
        reading = [action for action in valid if not vocabulary.table.inserts[action]]
        actions.append(chance.choice(chance.choice([reading, valid])))
        position = vocabulary.table.advance(position, actions[-1])
    return actions


def positions_of(vocabulary: Vocabulary, instance: Instance, actions: Sequence[int]) -> list[int]:
    """Where each action is taken."""
    positions = [instance.start]
    for action in actions[:-1]:
        positions.append(vocabulary.table.advance(positions[-1], action))
    return positions


@dataclass
class Plan:
    """What is to be learnt from one sample."""

    kind: str
    actions: list[int]
    positions: list[int]
    losses: list = field(default_factory=list)
    sequences: list = field(default_factory=list)
    weights: list = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.actions) if self.kind in (*STEPWISE, "mle") else 1


def plan_of(kind: str, vocabulary: Vocabulary, instance: Instance, seed: int = 0) -> Plan:
    chance = Random(f"{kind} {instance.text} {seed}")
    actions = random_path(vocabulary, instance, chance)
    plan = Plan(kind, actions, positions_of(vocabulary, instance, actions))
    if kind in STEPWISE:
        plan.losses = [step_loss(kind, vocabulary, a, p == instance.end, chance)
                       for a, p in zip(actions, plan.positions)]
        return plan
    others = {tuple(random_path(vocabulary, instance, chance)) for _ in range(3)}
    plan.sequences = [tuple(actions)] if kind == "mle" else sorted({tuple(actions), *others})
    plan.weights = [1.0] if kind == "mle" else [chance.uniform(-1, 1) for _ in plan.sequences]
    return plan


def step_loss(kind: str, vocabulary: Vocabulary, action: int, at_end: bool, chance: Random):
    """A StepLoss in which this action is optimal, or support and targets of a regression."""
    valid = vocabulary.table.valid_actions(at_end)
    if kind == "mse":
        return int(at_end), np.array([chance.uniform(-1, 0) for _ in vocabulary.actions.symbols], dtype=np.float32)
    support = 1 if at_end else chance.choice([0, 2])
    optimal = sorted({action, *chance.sample(valid, chance.randrange(3))})
    margins = np.array([chance.choice([0, 1, 5.0]) for _ in vocabulary.actions.symbols], dtype=np.float32)
    return StepLoss(optimal, support, margins if kind == "softmax-margin" else None)


class Planned:
    """An objective that does what was planned."""

    def __init__(self, kind: str, vocabulary: Vocabulary, seed: int = 0):
        self.kind, self.vocabulary, self.seed = kind, vocabulary, seed

    def begin_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def plan(self, instance: Instance) -> Plan:
        return plan_of(self.kind, self.vocabulary, instance, self.seed)

    def visit(self, decoder):
        plan = self.plan(decoder.instance)
        if self.kind == "mrt":
            decoder.expected_risk(plan.sequences, plan.weights, ALPHA)
        elif self.kind in SEQUENTIAL:
            decoder.sequence_loss(plan.sequences, plan.weights)
        else:
            yield from self.visit_steps(decoder, plan)
        return plan.count

    def visit_steps(self, decoder, plan: Plan):
        state, previous = decoder.initial_state(), self.vocabulary.system.initial_action
        for action, position, loss in zip(plan.actions, plan.positions, plan.losses):
            state = yield Step(state, previous, position)
            if self.kind == "mse":
                decoder.regression_loss(state, *loss)
            else:
                decoder.step_loss(state, loss)
            previous = action
