"""Imitation learning (section 4 of the paper): roll in with a mixture of expert and model, score each step."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from random import Random
from typing import Optional
from weakref import WeakKeyDictionary

import numpy as np

from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.dev_loss import ExpertTeacher
from il_morph.training.engine import SampleDecoder, State, Step, StepLoss, Visit
from il_morph.training.rollouts import Configuration, RollOuts, edits_of_actions
from il_morph.training.sampling import draw, stream_of_sample
from il_morph.transitions.actions import AT_END, BEFORE_END, BEFORE_END_OR_END, END, HEAD, MAX_ACTIONS, NOTHING
from il_morph.transitions.expert import (
    BETA,
    Expert,
    LengthTargetTracker,
    ProgramTargetTracker,
    optimal_actions,
    regrets,
)

MAX_EXPONENT = 700.0  # math.exp overflows above about 709
BIASED = 0.5  # the share of steps that --il-bias-inserts applies to


def model_rollin_probability(settings: TrainingSettings, epoch: int) -> float:
    """e, the probability of sampling the next action from the model. Its epochs count from 0 after teacher forcing."""
    k = settings.il_k
    epoch -= settings.il_tforcing_epochs
    if epoch < 0:
        return 0.0
    if settings.il_decay == "exponential":
        return 1 - k ** epoch
    return 1 - k / (k + exp(min(epoch / k, MAX_EXPONENT)))


class RollOutDraws:
    """Draws whether the expert (with probability `--il-beta`) or the model rolls out, per sequence or per step."""

    def __init__(self, settings: TrainingSettings, random: Random):
        self.settings, self.random = settings, random
        self.model = self._draw()

    def _draw(self) -> bool:
        return self.random.random() > self.settings.il_beta

    def model_rolls_out(self, steps: int) -> bool:
        if not self.settings.il_global_rollout and steps:
            self.model = self._draw()
        return self.model


class ImitationLearning:
    """The objective of imitation learning: the loss of a sample is the mean of the step losses along one roll-in."""

    def __init__(self, vocabulary: Vocabulary, settings: TrainingSettings, random: Random):
        self.vocabulary, self.settings, self.random = vocabulary, settings, random
        self.table = vocabulary.table
        self.program = settings.il_rules == "program"
        self.tracker = (LengthTargetTracker if not settings.il_optimal_oracle
                        else ProgramTargetTracker if self.program else vocabulary.tracker)
        self.valid = [np.flatnonzero(support) for support in self.table.valid]
        self.edits = edits_of_actions(self.table, self.program)
        self.experts: WeakKeyDictionary[Instance, Expert] = WeakKeyDictionary()
        self.model_rollin = 0.0

    def begin_epoch(self, epoch: int) -> None:
        self.model_rollin = model_rollin_probability(self.settings, epoch)

    def expert(self, instance: Instance) -> Expert:
        """The expert for a pair, cached across epochs. The expert for a fake is freed together with the fake."""
        expert = self.experts.get(instance)
        if expert is None:
            expert = self.experts[instance] = self.vocabulary.expert(instance.sample)
        return expert

    def teachers(self, instances: Sequence[Instance]) -> list[ExpertTeacher]:
        return [ExpertTeacher(self.expert(instance)) for instance in instances]

    def visit(self, decoder: SampleDecoder) -> Visit:
        instance, random = decoder.instance, stream_of_sample(self.random, self.settings.batch_size)
        expert, draws = self.expert(instance), RollOutDraws(self.settings, random)
        tracker = self.tracker(expert.target)
        rollouts = RollOuts(decoder, expert.target, self.table, self.settings, self.edits)
        at = Configuration(decoder.initial_state(), instance.start)
        action = self.vocabulary.system.initial_action
        while action != END and at.steps < MAX_ACTIONS:
            at.state = yield Step(at.state, action, at.position)
            support = AT_END if at.position == instance.end else BEFORE_END
            costs = expert.candidates(at.position - instance.start, *tracker.places(at.output))
            free = self._free_insertion(costs, random)
            if len(costs) > 1 and draws.model_rolls_out(at.steps):
                costs = yield from rollouts.costs(at, [action for action in costs if action != free])
            if free is not None:
                costs[free] = min(costs[action] for action in costs if self._copies(action))
            optimal = self.leave_loss(decoder, at.state, costs, support)
            action = self._roll_in(decoder, at.state, optimal, support, random)
            rollouts.advance(action)
            at = at.after(self.table.rows[action], instance.text[at.position])
        return at.steps

    def _free_insertion(self, costs: dict[int, float], random: Random) -> Optional[int]:
        """The insertion that COPY could replace, if it is to cost as much as COPY.

        This is so in half of the steps, with `--il-bias-inserts`.
        """
        if not self.settings.il_bias_inserts or random.random() >= BIASED or not any(map(self._copies, costs)):
            return None
        return next(action for action in costs if self.table.inserts[action])

    def _copies(self, action: int) -> bool:
        return self.table.rows[action].writes is HEAD

    def _roll_in(self, decoder: SampleDecoder, state: State, optimal: Sequence[int], support: int,
                 random: Random) -> int:
        """The next action: sampled from the model, or one of the optimal actions."""
        if self.model_rollin and random.random() < self.model_rollin:
            return self._sample(decoder.scores(state), support, random)
        if len(optimal) == 1:
            return optimal[0]
        if self.settings.il_rollin == "uniform":
            return random.choice(optimal)
        return max(optimal, key=decoder.scores(state).__getitem__)

    def _sample(self, scores: Sequence[float], support: int, random: Random) -> int:
        valid = self.valid[support]
        raised = np.asarray(scores)[valid]
        return int(valid[draw(np.exp(raised - raised.max()), random)])

    def leave_loss(self, decoder: SampleDecoder, state: State, costs: dict[int, float], support: int) -> list[int]:
        """Add the loss of a step (nll, softmax-margin or mse) to the decoder; return the optimal actions."""
        optimal = optimal_actions(costs)
        if self.settings.il_loss == "nll":
            decoder.step_loss(state, StepLoss(optimal, support))
        elif self.settings.il_loss == "softmax-margin":
            decoder.step_loss(state, StepLoss(optimal, *self._margins(costs, support)))
        else:
            regret = self._regrets(costs, support)
            decoder.regression_loss(state, support, -regret / (regret.max() or 1.0))
        return optimal

    def _margins(self, costs: dict[int, float], support: int) -> tuple[int, np.ndarray]:
        """The support of the softmax and the regrets to add to its scores.

        When the target is complete but input is left, the authors' program assigns no regret to END, although END is
        not valid there, and as much regret to DELETE as to every other action.
        """
        complete = all(self.table.rows[action].writes == NOTHING for action in costs)
        if self.program and complete and support == BEFORE_END:
            return BEFORE_END_OR_END, regrets({END: 0.0}, self.table.valid[BEFORE_END_OR_END])
        return support, self._regrets(costs, support)

    def _regrets(self, costs: dict[int, float], support: int) -> np.ndarray:
        """The regret of each action. Learnt costs have a scale of their own: none of their regrets is above BETA, which
        is that of an action that leads away from the target."""
        found = regrets(costs, self.table.valid[support])
        return found if self.vocabulary.learnt_costs is None else np.minimum(found, BETA)
