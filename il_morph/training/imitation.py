"""Imitation learning (section 4 of the paper): roll in with a mixture of expert and model, score each step."""

from __future__ import annotations

from math import exp
from random import Random
from typing import Sequence

import numpy as np

from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.chance import draw
from il_morph.training.engine import AT_END, BEFORE_END, SampleDecoder, State, Step, StepLoss, Visit, supports
from il_morph.training.likelihood import ExpertTeacher
from il_morph.training.rollouts import Configuration, RollOuts
from il_morph.transitions.actions import END, MAX_ACTIONS
from il_morph.transitions.expert import Expert, matched, optimal_actions, regrets

MAX_EXPONENT = 700.0  # of a float


def model_rollin_probability(settings: TrainingSettings, epoch: int) -> float:
    """e, the probability that the next action is sampled from the model (epochs count from 0)."""
    k = settings.il_k
    if epoch < settings.il_tforcing_epochs:
        return 0.0
    if settings.il_decay == "exponential":
        return 1 - k ** epoch
    return 1 - k / (k + exp(min(epoch / k, MAX_EXPONENT)))


class ImitationLearning:
    """The loss of a sample is the mean of the step losses along one roll-in."""

    def __init__(self, vocabulary: Vocabulary, settings: TrainingSettings, random: Random):
        self.vocabulary, self.settings, self.random = vocabulary, settings, random
        self.system, self.symbols = vocabulary.system, vocabulary.actions.symbols
        self.supports = supports(vocabulary)
        self.valid = [np.flatnonzero(support) for support in self.supports]
        self.experts: dict[Instance, Expert] = {}
        self.model_rollin = 0.0

    def begin_epoch(self, epoch: int) -> None:
        self.model_rollin = model_rollin_probability(self.settings, epoch)

    def expert(self, instance: Instance) -> Expert:
        """The expert of a pair is kept from epoch to epoch."""
        if instance not in self.experts:
            sample = instance.sample
            self.experts[instance] = self.system.expert(
                sample.input, sample.output, self.vocabulary.actions_of(sample.output), self.settings.il_optimal_oracle)
        return self.experts[instance]

    def teachers(self, instances: Sequence[Instance]) -> list[ExpertTeacher]:
        return [ExpertTeacher(self.expert(instance), self.vocabulary) for instance in instances]

    def visit(self, decoder: SampleDecoder) -> Visit:
        instance = decoder.instance
        expert, j = self.expert(instance), 0
        self._draw_rollout()
        rollouts = self._rollouts(decoder, expert.target)
        at = Configuration(decoder.initial_state(), instance.start)
        action = self.system.initial_action
        while action != END and at.steps < MAX_ACTIONS:
            at.state = yield Step(at.state, action, at.position)
            support = AT_END if at.position == instance.end else BEFORE_END
            costs = expert.candidates(at.position - instance.start, j)
            if len(costs) > 1 and self._model_rolls_out(at.steps):
                costs = yield from rollouts.costs(at, list(costs))
            self.leave_loss(decoder, at.state, costs, support)
            action = self._roll_in(decoder, at.state, optimal_actions(costs), support)
            rollouts.advance(action)
            written = self.system.written(action, instance.text[at.position], self.symbols)
            j = matched(expert.target, written, j)
            at = at.after(action, written, self.system)
        return at.steps

    def _rollouts(self, decoder: SampleDecoder, target: str) -> RollOuts:
        settings = self.settings
        return RollOuts(decoder, target, self.system, self.symbols, self.supports, settings.il_rollout_loss,
                        settings.il_bias_inserts, exact=settings.il_loss != "nll")

    def _draw_rollout(self) -> None:
        """The expert rolls out with probability `--il-beta`."""
        self.rolling_out = self.random.random() >= self.settings.il_beta

    def _model_rolls_out(self, steps: int) -> bool:
        if not self.settings.il_global_rollout and steps:
            self._draw_rollout()
        return self.rolling_out

    def _roll_in(self, decoder: SampleDecoder, state: State, optimal: Sequence[int], support: int) -> int:
        """The next action: sampled from the model, or one of the expert's."""
        if self.model_rollin and self.random.random() < self.model_rollin:
            return self._sample(decoder.scores(state), support)
        if len(optimal) == 1:
            return optimal[0]
        if self.settings.il_rollin == "uniform":
            return self.random.choice(optimal)
        return max(optimal, key=decoder.scores(state).__getitem__)

    def _sample(self, scores: Sequence[float], support: int) -> int:
        valid = self.valid[support]
        raised = np.asarray(scores)[valid]
        return int(valid[draw(np.exp(raised - raised.max()), self.random)])

    def leave_loss(self, decoder: SampleDecoder, state: State, costs: dict[int, float], support: int) -> None:
        """The loss of a step: nll, softmax-margin or mse."""
        optimal = optimal_actions(costs)
        if self.settings.il_loss == "nll":
            decoder.step_loss(state, StepLoss(optimal, support))
        elif self.settings.il_loss == "softmax-margin":
            decoder.step_loss(state, StepLoss(optimal, support, regrets(costs, self.supports[support])))
        else:
            regret = regrets(costs, self.supports[support])
            decoder.regression_loss(state, support, -regret / (regret.max() or 1.0))
