"""Objectives on whole action sequences: MLE, minimum risk training, REINFORCE (the paper's baselines)."""

from __future__ import annotations

from random import Random
from typing import Callable, Optional, Sequence

import dynet as dy
import editdistance
import numpy as np

from il_morph.model.search import execute
from il_morph.training.likelihood import GoldTeacher
from il_morph.engines.dynet.network import Network, SampleGraph, passing
from il_morph.model.settings import TrainingSettings
from il_morph.transitions.systems import END, MAX_ACTIONS
from il_morph.model.vocabulary import Instance

GoldActions = Callable[[Sequence[Instance]], list[list[int]]]
MIN_LOG_PROBABILITY = -20.0  # a sampled sequence less probable than this is not worth its computation


class GoldSequences:
    """The gold action sequences that an aligner found for the training data, and finds for others."""

    def __init__(self, align: GoldActions, train: Sequence[Instance]):
        self.align = align
        self.train = dict(zip(train, align(train)))
        self.others: dict[tuple, list[list[int]]] = {}

    def __getitem__(self, instance: Instance) -> list[int]:
        return self.train[instance]

    def teachers(self, instances: Sequence[Instance]) -> list[GoldTeacher]:
        aligned = self.others.get(tuple(instances))
        if aligned is None:
            aligned = self.others[tuple(instances)] = self.align(instances)
        return [GoldTeacher(actions) for actions in aligned]


class SequenceObjective:
    """What the objectives below share."""

    def __init__(self, network: Network, settings: TrainingSettings, random: Random, gold: GoldSequences):
        self.network, self.settings, self.random, self.gold = network, settings, random, gold
        self.vocabulary, self.system = network.vocabulary, network.vocabulary.system

    def begin_epoch(self, epoch: int) -> None:
        """No schedule depends on the epoch."""

    def teachers(self, instances: Sequence[Instance]) -> list[GoldTeacher]:
        """Who leads through these samples when the dev loss is taken."""
        return self.gold.teachers(instances)

    def graph(self, instance: Instance) -> SampleGraph:
        return self.network.graph(instance, self.settings.dropout)

    def distance(self, instance: Instance, actions: Sequence[int]) -> float:
        """Edit distance between what the actions write and the target, divided by the longer length."""
        output, target = execute(actions, instance, self.vocabulary), instance.sample.output
        return editdistance.eval(output, target) / max(len(output), len(target), 1)


class MaximumLikelihood(SequenceObjective):
    """Mean −log P of the actions of the gold sequence."""

    def loss(self, instance: Instance) -> dy.Expression:
        return dy.mean_elems(self.graph(instance).losses([self.gold[instance]]))


class MinimumRisk(SequenceObjective):
    """Expected risk over the gold sequence and sampled ones, Q ∝ P^alpha."""

    def loss(self, instance: Instance) -> Optional[dy.Expression]:
        """None if no sampled sequence differs from the gold one: there is nothing to choose.

        Updates with a zero gradient would make ADADELTA forget how large gradients are, and the next
        one throws the model off.
        """
        graph, gold = self.graph(instance), tuple(self.gold[instance])
        sampled = {actions for actions, log_p in sample_sequences(graph, self.settings.sample_size, self.random)
                   if log_p >= MIN_LOG_PROBABILITY}
        sequences = [gold, *sorted(sampled - {gold})]
        if len(sequences) == 1:
            return None
        log_probabilities = -dy.sum_dim(graph.losses(sequences), [1])
        q = dy.softmax(log_probabilities * self.settings.alpha)
        return dy.dot_product(q, dy.inputVector(self.risks(instance, sequences)))

    def risks(self, instance: Instance, sequences: Sequence[Sequence[int]]) -> list[float]:
        """−1 when correct, else the normalised distance; `--beta` below 1 mixes in the action cost."""
        beta = self.settings.beta
        distances = [self.distance(instance, actions) for actions in sequences]
        costs = min_max([sum(map(self.system.is_edit, actions)) for actions in sequences])
        return [beta * (distance or -1.0) + (1 - beta) * cost for distance, cost in zip(distances, costs)]


class Reinforce(SequenceObjective):
    """REINFORCE: −log P of sampled sequences, weighted by how much better than greedy they are."""

    def loss(self, instance: Instance) -> Optional[dy.Expression]:
        """None if all advantages are zero."""
        graph, size = self.graph(instance), self.settings.sample_size
        greedy, *sampled = [a for a, _ in sample_sequences(graph, size, self.random, and_greedy=True)]
        rewards = [self.reward(instance, actions) for actions in sampled]
        advantages = self.advantages(rewards, self.reward(instance, greedy))
        kept = [(actions, advantage) for actions, advantage in zip(sampled, advantages) if advantage]
        if not kept:
            return None
        sums = dy.sum_dim(graph.losses([actions for actions, _ in kept]), [1])
        weights = [advantage / len(actions) / len(kept) for actions, advantage in kept]
        return dy.dot_product(sums, dy.inputVector(weights))

    def reward(self, instance: Instance, actions: Sequence[int]) -> float:
        distance = self.distance(instance, actions)
        return -self.settings.beta * distance if distance else 1.0

    def advantages(self, rewards: Sequence[float], baseline: float) -> list[float]:
        if self.settings.no_baseline:
            spread = max(rewards) - min(rewards) or 1.0
            centred = [(reward - sum(rewards) / len(rewards)) / spread for reward in rewards]
        else:
            centred = [reward - baseline for reward in rewards]
        return [advantage * (self.settings.scale_negative if advantage < 0 else 1.0) for advantage in centred]


def min_max(values: Sequence[float]) -> list[float]:
    """Scaled to [0, 1]; all 0 if they are equal."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low or 1) for value in values]


def sample_sequences(graph: SampleGraph, size: int, random: Random,
                     and_greedy: bool = False) -> list[tuple[tuple[int, ...], float]]:
    """Action sequences sampled from the model in one batch, with their log P; `and_greedy` puts one first.

    Nothing of it stays in the graph.
    """
    rows = size + and_greedy
    with passing():
        return run_batch(graph, rows, random, range(int(and_greedy)))


def run_batch(graph: SampleGraph, rows: int, random: Random, greedy: range) -> list[tuple[tuple[int, ...], float]]:
    vocabulary, end = graph.network.vocabulary, graph.instance.end
    masks = np.array(graph.network.masks)
    actions = np.full(rows, vocabulary.system.initial_action)
    positions = np.full(rows, graph.instance.start)
    states, histories, log_probabilities = graph.initial_states(), [[] for _ in range(rows)], np.zeros(rows)
    live = np.ones(rows, dtype=bool)
    for _ in range(MAX_ACTIONS):
        states = graph.step_batch(states, actions.tolist(), positions.tolist())
        scores = np.array(graph.unmasked_logits(states).vec_value()).reshape(rows, -1)
        scores += masks[(positions == end).astype(int)]
        scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
        for row in np.nonzero(live)[0]:
            actions[row] = scores[row].argmax() if row in greedy else draw(np.exp(scores[row]), random)
            histories[row].append(int(actions[row]))
            log_probabilities[row] += scores[row, actions[row]]
            positions[row] += int(actions[row]) in vocabulary.system.advancing
        live &= actions != END
        if not live.any():
            break
    return [(tuple(history), float(log_p)) for history, log_p in zip(histories, log_probabilities)]


def draw(probabilities: np.ndarray, random: Random) -> int:
    """An index with this probability."""
    cumulative = np.cumsum(probabilities)
    return int(np.searchsorted(cumulative, random.random() * cumulative[-1], side="right"))
