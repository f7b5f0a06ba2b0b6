"""Greedy and beam search over many samples at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Callable

import numpy as np

from il_morph.errors import InputError
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import END

BEAM_WIDTH = 4  # as for all numbers in the paper


@dataclass(frozen=True)
class Hypothesis:
    """An output with the actions that make it and their log probability."""

    output: str
    actions: tuple[int, ...]
    log_probability: float


class TooLarge(InputError):
    """Raised if weights are too large for 32 bits: probabilities are then not numbers, and no output is the best."""

    def __init__(self, instance: Instance, name: str = "the model"):
        word = instance.symbols.input(instance.sample.input)
        super().__init__(f"{name} has no output for {word!r}: its weights are too large to compute with; train it "
                         "again")
        self.instance = instance


def numbers(log_probabilities: np.ndarray, instances: Sequence[Instance], owners: np.ndarray) -> np.ndarray:
    """The log probabilities as given; if a row contains NaN, raise TooLarge for the sample that owns it."""
    nonsense = np.isnan(log_probabilities).any(axis=1)
    if nonsense.any():
        raise TooLarge(instances[owners[nonsense.argmax()]])
    return log_probabilities


class SearchModel(ABC):
    """The interface to a network that search needs."""

    vocabulary: Vocabulary
    weighs_paths = False  # instead of actions: any width finds the best path, steps have no probability

    @abstractmethod
    def encode(self, instances: Sequence[Instance]) -> Any:
        """The encoded samples, with everything that steps need; `ends` holds the positions of END."""

    @abstractmethod
    def initial_states(self) -> Any:
        """The states before the first step."""

    @abstractmethod
    def step(self, encoded: Any, rows: np.ndarray, positions: np.ndarray, actions: np.ndarray, states: Any) -> Any:
        """Row k reads the previous action `actions[k]` at `positions[k]` of sample `rows[k]`."""

    @abstractmethod
    def log_probabilities(self, states: Any, at_end: np.ndarray) -> np.ndarray:
        """log P over the valid actions of each row; −inf for the others."""

    @abstractmethod
    def advance(self, positions: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The positions in the buffer after these actions."""

    def heads(self, positions: np.ndarray, states: Any) -> np.ndarray:
        """Which element of the buffer each row reads: the one at its position, or the one with the most attention."""
        return positions

    def search(self, instances: Sequence[Instance], width: int) -> list[list[Hypothesis]]:
        """Each sample's hypotheses, best first."""
        return BeamSearch(self, instances, max(1, width)).run()

    def best_outputs(self, instances: Sequence[Instance], width: int, batch_size: int) -> list[str]:
        """The best output for each sample."""
        return [hypotheses[0].output for hypotheses in decode(self, instances, width, batch_size)]


@np.errstate(all="ignore")
def lead(inference: SearchModel, instances: Sequence[Instance],
         choose: Callable[[int, int, np.ndarray], tuple[int, bool]]) -> None:
    """Run samples through the network together, without search.

    `choose` receives the number of a sample, the position of its head and log P of all actions; it returns the action
    to take and whether that is the last one.
    """
    encoded, states = inference.encode(instances), inference.initial_states()
    rows, positions = np.arange(len(instances)), np.array([instance.start for instance in instances])
    actions = np.full(len(instances), inference.vocabulary.system.initial_action)
    while len(rows):
        states = inference.step(encoded, rows, positions, actions, states)
        log_probabilities = numbers(
            inference.log_probabilities(states, positions == encoded.ends[rows]), instances, rows)
        heads = np.minimum(inference.heads(positions, states), encoded.ends[rows])
        chosen = [choose(*each) for each in zip(rows.tolist(), heads.tolist(), log_probabilities)]
        actions, live = np.array([action for action, _ in chosen]), np.array([not last for _, last in chosen])
        positions = inference.advance(positions, actions)[live]
        rows, actions, states = rows[live], actions[live], states.take(live)


@np.errstate(all="ignore")  # `numbers` and `sensible` report what went wrong
def decode(inference: SearchModel, instances: Sequence[Instance], width: int = 1, batch_size: int = 128,
           progress: Callable[[Iterable], Iterable] = iter) -> list[list[Hypothesis]]:
    """Each sample's hypotheses, best first. Width 0 or 1 is greedy search."""
    order = sorted(range(len(instances)), key=lambda n: len(instances[n].buffer))
    results: list[list[Hypothesis]] = [[] for _ in instances]
    for batch in progress([order[n:n + batch_size] for n in range(0, len(order), batch_size)]):
        for n, hypotheses in zip(batch, decode_batch(inference, [instances[n] for n in batch], width)):
            results[n] = sensible(hypotheses, instances[n])
    return results


def sensible(hypotheses: Sequence[Hypothesis], instance: Instance) -> list[Hypothesis]:
    """The hypotheses, with log probabilities of at most 0 despite rounding; raise TooLarge if any is not finite."""
    if not hypotheses or not all(isfinite(each.log_probability) for each in hypotheses):
        raise TooLarge(instance)
    return [each if each.log_probability <= 0 else replace(each, log_probability=0.0) for each in hypotheses]


def decode_batch(inference: SearchModel, instances: Sequence[Instance], width: int) -> list[list[Hypothesis]]:
    """Search all samples at once, or in halves if there is too little memory."""
    try:
        return inference.search(instances, width)
    except MemoryError:
        if len(instances) == 1:
            raise
    half = len(instances) // 2
    return [*decode_batch(inference, instances[:half], width), *decode_batch(inference, instances[half:], width)]


class BeamSearch:
    """Beam search for a batch of samples; the live hypotheses of all samples are the rows of one state.

    A hypothesis that takes END leaves the beam of its sample and narrows it by one.
    """

    def __init__(self, inference: SearchModel, instances: Sequence[Instance], width: int):
        self.inference, self.instances = inference, instances
        self.encoded = inference.encode(instances)
        system = inference.vocabulary.system
        self.limit = system.max_actions + (width > 1)  # the authors' beam takes one step more than their greedy search
        self.greedy = width == 1
        self.widths = np.full(len(instances), width)
        self.owners = np.arange(len(instances))  # the sample of each row, ascending
        self.positions = np.array([instance.start for instance in instances])
        self.last = np.full(len(instances), system.initial_action)
        self.scores = np.zeros(len(instances))
        self.states = inference.initial_states()
        self.trace: list[tuple[np.ndarray, np.ndarray]] = []  # for each step: the parent rows, the actions taken
        self.found: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in instances]

    def run(self) -> list[list[Hypothesis]]:
        while len(self.owners) and len(self.trace) < self.limit:
            self._step()
        empty = {owner for owner in self.owners if not self.found[owner]}
        for row, owner in enumerate(self.owners):
            if owner in empty:
                self.found[owner].append((self.scores[row], self._history(row)))
        return [self._hypotheses(n) for n in range(len(self.instances))]

    def _step(self) -> None:
        at_end = self.positions == self.encoded.ends[self.owners]
        self.states = self.inference.step(self.encoded, self.owners, self.positions, self.last, self.states)
        log_probabilities = numbers(
            self.inference.log_probabilities(self.states, at_end), self.instances, self.owners)
        parents, actions, scores = self._best_expansions(log_probabilities)
        ended = actions == END
        for row, score in zip(parents[ended], scores[ended]):
            owner = self.owners[row]
            self.found[owner].append((score, self._history(row) + (END,)))
            self.widths[owner] -= 1
        self._keep(parents[~ended], actions[~ended], scores[~ended])

    def _best_expansions(self, log_probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The `width` best expansions of each sample, over all actions of all its rows: parent row, action, score.

        The best actions of each row are selected first, because the alphabet may be large.
        """
        actions = best_of_rows(log_probabilities, 1 if self.greedy else self.widths[self.owners].max())
        scores = np.take_along_axis(log_probabilities, actions, axis=1) + self.scores[:, None]
        if self.greedy:
            return np.arange(len(scores)), actions[:, 0], scores[:, 0]
        rows, columns, values = self._best_of_samples(scores)
        return rows, actions[rows, columns], values

    def _best_of_samples(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The `width` best scores of each sample over all its rows, best first: row, column, score."""
        _, first_row, sample = np.unique(self.owners, return_index=True, return_inverse=True)
        place = np.arange(len(self.owners)) - first_row[sample]
        number, widest = scores.shape[1], self.widths[self.owners].max()
        table = np.full((len(first_row), place.max() + 1, number), -np.inf)
        table[sample, place] = scores
        table = table.reshape(len(first_row), -1)
        best = best_of_rows(table, widest)
        values = np.take_along_axis(table, best, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        best, values = np.take_along_axis(best, order, axis=1), np.take_along_axis(values, order, axis=1)
        within = np.arange(best.shape[1])[None, :] < self.widths[self.owners[first_row]][:, None]
        chosen = within & (values > -np.inf)
        samples = np.nonzero(chosen)[0]
        return first_row[samples] + best[chosen] // number, best[chosen] % number, values[chosen]

    def _keep(self, parents: np.ndarray, actions: np.ndarray, scores: np.ndarray) -> None:
        self.trace.append((parents, actions))
        self.owners, self.scores, self.last = self.owners[parents], scores, actions
        self.positions = self.inference.advance(self.positions[parents], actions)
        self.states = self.states.take(parents)

    def _history(self, row: int) -> tuple[int, ...]:
        """The actions that led to a row."""
        actions = []
        for parents, taken in reversed(self.trace):
            actions.append(int(taken[row]))
            row = parents[row]
        return tuple(reversed(actions))

    def _hypotheses(self, n: int) -> list[Hypothesis]:
        vocabulary, instance = self.inference.vocabulary, self.instances[n]
        ranked = sorted(self.found[n], key=lambda found: -found[0])
        return [Hypothesis(execute(actions, instance, vocabulary), actions, float(score))
                for score, actions in ranked]


def best_of_rows(scores: np.ndarray, number: int) -> np.ndarray:
    """[row, k]: the columns of the `number` highest scores of each row, or of all if there are fewer, in any order."""
    if number == 1:
        return scores.argmax(axis=1)[:, None]
    first = max(0, scores.shape[1] - number)
    return np.argpartition(scores, first, axis=1)[:, first:]


def as_written(found: Sequence[Sequence[Hypothesis]], instances: Sequence[Instance]) -> list[list[Hypothesis]]:
    """The hypotheses, with outputs as they are written in files."""
    if not instances or not instances[0].symbols.separators:
        return list(map(list, found))
    return [[replace(each, output=instance.symbols.output(each.output)) for each in hypotheses]
            for hypotheses, instance in zip(found, instances)]


def execute(actions: Iterable[int], instance: Instance, vocabulary: Vocabulary) -> str:
    """The output of a sequence of actions."""
    return vocabulary.table.output(actions, instance.text, instance.start)


def describe(actions: Iterable[int], instance: Instance, vocabulary: Vocabulary) -> str:
    """The edits, readable: `x` copies, `-x` deletes, `+x` inserts, `~x` substitutes, `>` moves on."""
    table = vocabulary.table
    shown = (table.rows[action].show(instance.text[position])
             for action, position in table.walk(actions, instance.start, instance.end))
    return instance.symbols.edits(" ".join(filter(None, shown)))
