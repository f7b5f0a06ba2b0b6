"""Objectives on whole action sequences: MLE, minimum risk training, REINFORCE (the paper's baselines)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from random import Random
from statistics import fmean
from typing import Any, Callable, Optional

import editdistance
import numpy as np

from il_morph.model.search import execute
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.dev_loss import GoldTeacher
from il_morph.training.engine import Request, RowStates, SampleDecoder, StepRows, Visit
from il_morph.training.sampling import draw_rows, stream_of_sample
from il_morph.transitions.actions import AT_END, BEFORE_END, END, MAX_ACTIONS

GoldActions = Callable[[Sequence[Instance]], list]
Sampled = list  # of pairs (actions, log P)
MIN_LOG_PROBABILITY = -20.0  # a sampled sequence less probable than this is not worth computing with


class GoldSequences:
    """The gold action sequences that an aligner finds for the training data, and for other samples on demand."""

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
    """The base class of the objectives below."""

    def __init__(self, vocabulary: Vocabulary, settings: TrainingSettings, random: Random, gold: GoldSequences):
        self.vocabulary, self.settings, self.random, self.gold = vocabulary, settings, random, gold
        self.table = vocabulary.table
        self.sampler = Sampler(vocabulary)

    def sample(self, decoder: SampleDecoder, and_greedy: bool = False) -> Generator[Request, Any, Sampled]:
        random = stream_of_sample(self.random, self.settings.batch_size)
        return self.sampler.sample(decoder, self.settings.sample_size, random, and_greedy)

    def begin_epoch(self, epoch: int) -> None:
        """No schedule depends on the epoch."""

    def visit(self, decoder: SampleDecoder) -> Visit:
        raise TypeError("a subclass defines what is learnt from sequences")

    def teachers(self, instances: Sequence[Instance]) -> list[GoldTeacher]:
        return self.gold.teachers(instances)

    def distance(self, instance: Instance, actions: Sequence[int]) -> float:
        """Edit distance between the output of the actions and the target, divided by the longer length."""
        output, target = execute(actions, instance, self.vocabulary), instance.sample.target
        return editdistance.eval(output, target) / max(len(output), len(target), 1)


class MaximumLikelihood(SequenceObjective):
    """−log P of the actions of the gold sequence: the mean, or the sum with `--mle-loss=sum`."""

    def visit(self, decoder: SampleDecoder) -> Visit:
        gold = self.gold[decoder.instance]
        decoder.sequence_loss([gold], [1.0])
        return len(gold) if self.settings.mle_loss == "mean" else 1
        yield  # makes this a generator: a visit without requests


class MinimumRisk(SequenceObjective):
    """Expected risk over the gold sequence and sampled ones, Q ∝ P^alpha."""

    def visit(self, decoder: SampleDecoder) -> Visit:
        """There is nothing to learn if no sampled sequence differs from the gold one.

        Updates with a zero gradient would make ADADELTA forget how large gradients are, and the next update would then
        throw the model off.
        """
        gold = tuple(self.gold[decoder.instance])
        drawn = yield from self.sample(decoder)
        sampled = {actions for actions, log_p in drawn if log_p >= MIN_LOG_PROBABILITY}
        sequences = [gold, *sorted(sampled - {gold})]
        if len(sequences) == 1:
            return 0
        decoder.expected_risk(sequences, self.risks(decoder.instance, sequences), self.settings.alpha)
        return 1

    def risks(self, instance: Instance, sequences: Sequence[Sequence[int]]) -> list[float]:
        """The risk of a sequence: −1 if correct, else `--beta` times the normalised distance.

        `--mrt-action-cost` is the share of the risk that depends on the cost of the actions instead.
        """
        share = self.settings.mrt_action_cost
        risks = [self.settings.beta * distance if distance else -1.0
                 for distance in (self.distance(instance, actions) for actions in sequences)]
        costs = min_max([sum(self.table.costs[list(actions)]) for actions in sequences])
        return [(1 - share) * risk + share * cost for risk, cost in zip(risks, costs)]


class Reinforce(SequenceObjective):
    """REINFORCE: −log P of sampled sequences, weighted by how much better than greedy they are."""

    def visit(self, decoder: SampleDecoder) -> Visit:
        """There is nothing to learn if all advantages are zero."""
        instance = decoder.instance
        drawn = yield from self.sample(decoder, and_greedy=True)
        greedy, *sampled = [actions for actions, _ in drawn]
        rewards = [self.reward(instance, actions) for actions in sampled]
        advantages = self.advantages(rewards, self.reward(instance, greedy))
        if not any(advantages.values()):
            return 0
        weights = [advantage / len(sampled[n]) / len(advantages) for n, advantage in advantages.items()]
        decoder.sequence_loss([sampled[n] for n in advantages], weights)
        return 1

    def reward(self, instance: Instance, actions: Sequence[int]) -> float:
        distance = self.distance(instance, actions)
        return -self.settings.beta * distance if distance else 1.0

    def advantages(self, rewards: Sequence[float], baseline: float) -> dict[int, float]:
        """The advantages other than zero, by the number of the sampled sequence; negative ones are scaled.

        Without a baseline: the rewards other than zero, centred and divided by their range.
        """
        baseline = 0.0 if self.settings.no_baseline else baseline
        scaled = {n: (reward - baseline) * (self.settings.scale_negative if reward < baseline else 1.0)
                  for n, reward in enumerate(rewards)}
        kept = {n: advantage for n, advantage in scaled.items() if advantage}
        return centred(kept) if self.settings.no_baseline and kept else kept


def centred(values: dict[int, float]) -> dict[int, float]:
    """The values minus their mean, divided by their range; all 0 if they are equal."""
    mean, spread = fmean(values.values()), max(values.values()) - min(values.values())
    return {n: (value - mean) / (spread or 1.0) for n, value in values.items()}


def min_max(values: Sequence[float]) -> list[float]:
    """The values scaled to [0, 1]; all 0 if they are equal."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low or 1) for value in values]


class Sampler:
    """Samples action sequences from the model; all sequences for one sample are drawn in one batch."""

    def __init__(self, vocabulary: Vocabulary):
        self.initial_action, self.table = vocabulary.system.initial_action, vocabulary.table

    def sample(self, decoder: SampleDecoder, size: int, random: Random,
               and_greedy: bool = False) -> Generator[Request, Any, Sampled]:
        """`size` sampled sequences with their log P; with `and_greedy`, the greedy sequence comes first."""
        with decoder.initial_rows(size + and_greedy) as rows:
            found = yield from self._run(decoder, rows, size + and_greedy, random, 0 if and_greedy else None)
        return found

    def _run(self, decoder: SampleDecoder, rows: RowStates, number: int, random: Random,
             greedy: Optional[int]) -> Generator[Request, Any, Sampled]:
        instance = decoder.instance
        actions, positions = [self.initial_action] * number, [instance.start] * number
        histories: list[list[int]] = [[] for _ in range(number)]
        log_probabilities, live = np.zeros(number), list(range(number))
        for _ in range(MAX_ACTIONS):
            rows = yield StepRows(rows, actions, positions)
            scores = self._log_probabilities(decoder.rows_scores(rows), positions, instance.end)
            sampled = [row for row in live if row != greedy]
            chosen = dict(zip(sampled, draw_rows(np.exp(scores[sampled]), random).tolist()))
            for row in live:
                action = chosen[row] if row in chosen else int(scores[row].argmax())
                histories[row].append(action)
                log_probabilities[row] += scores[row, action]
                actions[row], positions[row] = action, self.table.advance(positions[row], action)
            live = [row for row in live if actions[row] != END]
            if not live:
                break
        return [(tuple(history), float(log_p)) for history, log_p in zip(histories, log_probabilities)]

    def _log_probabilities(self, scores: np.ndarray, positions: Sequence[int], end: int) -> np.ndarray:
        kinds = [AT_END if position == end else BEFORE_END for position in positions]
        scores = np.where(self.table.valid[kinds], scores.astype(np.float64), -np.inf)
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
