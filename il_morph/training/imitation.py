"""Training objectives: the loss of one sample as an expression of its graph (section 4 of the paper)."""

from __future__ import annotations

from math import exp
from random import Random
from typing import Sequence

import dynet as dy

from il_morph.transitions.expert import Expert, optimal_actions, progress, regrets
from il_morph.training.likelihood import ExpertTeacher
from il_morph.engines.dynet.network import Network
from il_morph.training.rollouts import Configuration, RollOuts
from il_morph.model.settings import TrainingSettings
from il_morph.transitions.systems import END, MAX_ACTIONS
from il_morph.model.vocabulary import Instance

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
    """Roll in with a mixture of expert and model, score each step against the expert's actions."""

    def __init__(self, network: Network, settings: TrainingSettings, random: Random):
        self.network, self.settings, self.random = network, settings, random
        self.vocabulary, self.system = network.vocabulary, network.vocabulary.system
        number = len(self.vocabulary.actions)
        self.valid = [self.system.valid_actions(at_end, number) for at_end in (False, True)]
        self.experts: dict[Instance, Expert] = {}
        self.model_rollin = 0.0

    def begin_epoch(self, epoch: int) -> None:
        self.model_rollin = model_rollin_probability(self.settings, epoch)

    def expert(self, instance: Instance) -> Expert:
        """The expert of a pair is kept from epoch to epoch."""
        if instance not in self.experts:
            sample = instance.sample
            self.experts[instance] = Expert(sample.input, sample.output, self.vocabulary.actions_of(sample.output),
                                            self.settings.il_optimal_oracle)
        return self.experts[instance]

    def teachers(self, instances: Sequence[Instance]) -> list[ExpertTeacher]:
        """Who leads through these samples when the dev loss is taken."""
        return [ExpertTeacher(self.expert(instance), self.vocabulary) for instance in instances]

    def loss(self, instance: Instance) -> dy.Expression:
        """The mean of the step losses along one roll-in."""
        expert, losses, j = self.expert(instance), [], 0
        graph = self.network.graph(instance, self.settings.dropout)
        rollouts = self._rollouts(graph, expert.target)
        at = Configuration(graph.initial_states(), instance.start)
        action = self.system.initial_action
        while action != END and at.steps < MAX_ACTIONS:
            at.states = graph.step(at.states, action, at.position)
            at_end = at.position == instance.end
            logits = graph.logits(at.states, at_end)
            costs = expert.candidates(at.position - instance.start, j)
            if len(costs) > 1 and self._model_rolls_out(at.steps):
                costs = rollouts.costs(at, list(costs))
            losses.append(self.step_loss(logits, costs, at_end))
            action = self._roll_in(logits, optimal_actions(costs), self.valid[at_end])
            rollouts.advance(action)
            written = self.system.written(action, instance.text[at.position], rollouts.symbols)
            j = progress(expert.target, written, j)
            at.position += action in self.system.advancing
            at.output += written
            at.steps += 1
        return dy.average(losses)

    def _rollouts(self, graph, target: str) -> RollOuts:
        settings = self.settings
        self._draw_rollout()
        return RollOuts(graph, target, self.system, self.vocabulary.actions.symbols, settings.il_rollout_loss,
                        settings.il_bias_inserts, exact=settings.il_loss != "nll")

    def _draw_rollout(self) -> None:
        """The expert rolls out with probability `--il-beta`."""
        self.rolling_out = self.random.random() >= self.settings.il_beta

    def _model_rolls_out(self, steps: int) -> bool:
        if not self.settings.il_global_rollout and steps:
            self._draw_rollout()
        return self.rolling_out

    def _roll_in(self, logits: dy.Expression, optimal: Sequence[int], valid: Sequence[int]) -> int:
        """The next action: sampled from the model, or one of the expert's."""
        if self.model_rollin and self.random.random() < self.model_rollin:
            return self._sample(logits.vec_value(), valid)
        if len(optimal) == 1:
            return optimal[0]
        if self.settings.il_rollin == "uniform":
            return self.random.choice(optimal)
        return max(optimal, key=logits.vec_value().__getitem__)

    def _sample(self, scores: Sequence[float], valid: Sequence[int]) -> int:
        highest = max(scores[action] for action in valid)
        return self.random.choices(valid, [exp(scores[action] - highest) for action in valid])[0]

    def step_loss(self, logits: dy.Expression, costs: dict[int, float], at_end: bool) -> dy.Expression:
        """The loss of a step: nll, softmax-margin or mse."""
        optimal = optimal_actions(costs)
        if self.settings.il_loss == "nll":
            return negative_log_likelihood(logits, optimal)
        regret = regrets(costs, self.valid[at_end])
        if self.settings.il_loss == "softmax-margin":
            margins = dy.inputVector([regret.get(action, 0.0) for action in range(len(self.vocabulary.actions))])
            return negative_log_likelihood(logits + margins, optimal)
        return cost_sensitive_regression(logits, regret)


def negative_log_likelihood(logits: dy.Expression, actions: Sequence[int]) -> dy.Expression:
    """−log Σ P(a) over these actions."""
    if len(actions) == 1:
        return dy.pickneglogsoftmax(logits, actions[0])
    log_probabilities = dy.log_softmax(logits)
    return -dy.logsumexp([dy.pick(log_probabilities, action) for action in actions])


def cost_sensitive_regression(logits: dy.Expression, regret: dict[int, float]) -> dy.Expression:
    """Mean square of score + regret, regrets scaled to [0, 1]: the best action gets the highest score."""
    highest = max(regret.values()) or 1.0
    scores = dy.select_rows(logits, list(regret))
    targets = dy.inputVector([-value / highest for value in regret.values()])
    return dy.squared_distance(scores, targets) / len(regret)
