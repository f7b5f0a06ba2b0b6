"""The probability of a given output: the sum over all action sequences that write it.

The state of the decoder depends on all previous actions, so no two sequences can share work, and dynamic programming is
not possible. Instead, a beam follows the most probable sequences that write the output. Sequences outside the beam are
missing from the sum, which is exact if the beam has room for all sequences.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Optional

import numpy as np

from il_morph.errors import InputError
from il_morph.model.search import SearchModel, numbers
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import END, NOTHING

SCORING_WIDTH = 32

Link = Optional[tuple[Any, int]]  # the actions of a sequence as a linked list: those before, and the last


@dataclass
class OutputScore:
    """The action sequences found that write an output: the best sequence, and the log probabilities of all."""

    actions: tuple[int, ...] = ()
    log_probabilities: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return max(self.log_probabilities, default=-math.inf)

    @property
    def total(self) -> float:
        """The log of the summed probabilities; −inf where the model cannot write the output."""
        return log_sum(self.log_probabilities)

    def add(self, log_probability: float, actions: Link) -> None:
        if log_probability > self.best or not self.log_probabilities:
            self.actions = tuple(reversed(list(unlinked(actions))))
        self.log_probabilities.append(log_probability)


def log_sum(log_probabilities: Sequence[float]) -> float:
    """The log of a sum of probabilities; the sum is at most 1, and may be 0."""
    highest = max(log_probabilities, default=-math.inf)
    if highest == -math.inf:
        return highest
    return min(highest + math.log(math.fsum(math.exp(each - highest) for each in log_probabilities)), 0.0)


def unlinked(link: Link) -> Iterator[int]:
    while link is not None:
        link, action = link
        yield action


@np.errstate(all="ignore")
def score_outputs(inference: SearchModel, instances: Sequence[Instance], outputs: Sequence[str],
                  width: int = SCORING_WIDTH, batch_size: int = 32) -> list[OutputScore]:
    """The action sequences that write the output of each sample, as far as a beam of this width finds them."""
    refuse_endless(inference.vocabulary)
    order = sorted(range(len(instances)), key=lambda n: len(instances[n].buffer) + len(outputs[n]))
    scored: list[OutputScore] = [OutputScore() for _ in instances]
    for first in range(0, len(order), batch_size):
        batch = order[first:first + batch_size]
        search = ForcedSearch(inference, [instances[n] for n in batch], [outputs[n] for n in batch], max(width, 1))
        for n, found in zip(batch, search.run()):
            scored[n] = found
    return scored


def refuse_endless(vocabulary: Vocabulary) -> None:
    """Raise an InputError if an action neither reads nor writes: infinitely many sequences then write one output."""
    rows = vocabulary.table.rows
    for action in vocabulary.table.writers("", NOTHING, at_end=True):
        if action != END and not rows[action].reads:
            raise InputError(f"outputs of the transition system {vocabulary.system.name} have no score: it has actions "
                             "that neither read nor write, so infinitely many sequences write the same output")


@dataclass
class StepStates:
    """The states of rows that made a step together; None before the first step."""

    states: Any = None
    size: int = 0


@dataclass
class PartialSequence:
    """An unfinished sequence of actions: its position in the input and how much of the output it has written."""

    owner: int
    position: int
    written: int
    last: int
    score: float
    actions: Link
    step: StepStates  # the step that made it …
    place: int  # … and its row there

    @property
    def progress(self) -> int:
        """Elements read and written. Rows with the same progress have equally much left, so they are comparable."""
        return self.position + self.written


class ForcedSearch:
    """A beam over sequences that write given outputs, in order of progress.

    An action that both reads and writes (a copy) advances the progress by two, any other action by one.
    """

    def __init__(self, inference: SearchModel, instances: Sequence[Instance], outputs: Sequence[str], width: int):
        self.inference, self.instances, self.outputs, self.width = inference, instances, outputs, width
        self.vocabulary: Vocabulary = inference.vocabulary
        self.encoded = inference.encode(instances)
        self.scored = [OutputScore() for _ in instances]
        self.latest = [latest_positions(self.vocabulary, *each) for each in zip(instances, outputs)]
        self.waiting: dict[int, list[PartialSequence]] = {}  # by progress
        for owner, instance in enumerate(instances):
            self._wait(PartialSequence(owner, instance.start, 0, self.vocabulary.system.initial_action, 0.0, None,
                                       StepStates(), 0))

    def run(self) -> list[OutputScore]:
        while self.waiting:
            self._step(self._beams(self.waiting.pop(min(self.waiting))))
        return self.scored

    def _wait(self, row: PartialSequence) -> None:
        if self._can_end(row):
            self.waiting.setdefault(row.progress, []).append(row)

    def _beams(self, rows: list[PartialSequence]) -> list[PartialSequence]:
        """The best rows of each sample."""
        taken, kept = [0] * len(self.instances), []
        for row in sorted(rows, key=lambda each: -each.score):
            taken[row.owner] += 1
            if taken[row.owner] <= self.width:
                kept.append(row)
        return kept

    def _step(self, rows: list[PartialSequence]) -> None:
        before = self.inference.initial_states() if rows[0].actions is None else gathered(rows)
        owners, positions, last = (np.array([getattr(row, name) for row in rows])
                                   for name in ("owner", "position", "last"))
        states = self.inference.step(self.encoded, owners, positions, last, before)
        scores = numbers(self.inference.log_probabilities(states, positions == self.encoded.ends[owners]),
                         self.instances, owners)
        step = StepStates(states, len(rows))
        for place, row in enumerate(rows):
            for action, written in self._next_actions(row):
                self._take(row, action, written, float(scores[place, action]), step, place)

    def _take(self, row: PartialSequence, action: int, written: int, score: float, step: StepStates,
              place: int) -> None:
        actions, position = (row.actions, action), self.vocabulary.table.advance(row.position, action)
        if action == END:
            self.scored[row.owner].add(row.score + score, actions)
        else:
            self._wait(PartialSequence(row.owner, position, row.written + written, action, row.score + score, actions,
                                       step, place))

    def _next_actions(self, row: PartialSequence) -> Iterator[tuple[int, int]]:
        """The actions that write the next character of the output, or nothing, and how many characters they write."""
        table, instance = self.vocabulary.table, self.instances[row.owner]
        head, at_end = instance.text[row.position], row.position == instance.end
        following = self.outputs[row.owner][row.written:row.written + 1]
        for action in table.writers(head, NOTHING, at_end):
            if not (action == END and following):
                yield action, 0
        for action in table.writers(head, following, at_end) if following else []:
            yield action, 1

    def _can_end(self, row: PartialSequence) -> bool:
        return row.position <= self.latest[row.owner][row.written]


def latest_positions(vocabulary: Vocabulary, instance: Instance, output: str) -> list[int]:
    """[number of characters written]: the last position where the head may be; −1 if there is no such position.

    Characters that the model cannot insert must still be left in the input, in this order, to be copied.
    """
    latest = [instance.end]
    for character in reversed(output):
        before = latest[-1]
        if character not in vocabulary.actions:
            before = instance.text.rfind(character, 0, max(before, 0)) if vocabulary.table.copies else -1
        latest.append(before)
    return latest[::-1]


def gathered(rows: Sequence[PartialSequence]) -> Any:
    """Gather the states of rows that were made in different steps."""
    steps = list({id(row.step): row.step for row in rows}.values())
    starts = dict(zip(map(id, steps), np.cumsum([0, *(step.size for step in steps)])))
    return joined([step.states for step in steps]).take(np.array([starts[id(row.step)] + row.place for row in rows]))


def joined(parts: Sequence[Any]) -> Any:
    """Join several states into one: the rows of all their arrays are concatenated."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if isinstance(first, list):
        return [joined(each) for each in zip(*parts)]
    if isinstance(first, dict):
        return {name: joined([part[name] for part in parts]) for name in first}
    return replace(first, **{each.name: joined([getattr(part, each.name) for part in parts]) for each in fields(first)})
