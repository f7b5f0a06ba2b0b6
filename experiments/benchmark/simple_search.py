"""Greedy and beam search for one sample at a time, as plainly as can be.

A model here is anything with `vocabulary`, `begin(instance) -> state` and
`step(state, action, position) -> (state, log probabilities of all actions)`.
"""
from __future__ import annotations

from heapq import nlargest
from typing import Any

from il_morph.model.search import Hypothesis
from il_morph.model.vocabulary import Instance
from il_morph.transitions.actions import END


class Path:
    """A hypothesis and where it stands."""

    def __init__(self, model: Any, instance: Instance):
        self.system, self.table = model.vocabulary.system, model.vocabulary.table
        self.instance, self.position = instance, instance.start
        self.actions: tuple[int, ...] = ()
        self.output, self.log_probability = "", 0.0
        self.state = model.begin(instance)

    @property
    def last(self) -> int:
        return self.actions[-1] if self.actions else self.system.initial_action

    def valid(self) -> list[int]:
        return self.table.valid_actions(self.position == self.instance.end)

    def taking(self, action: int, log_probability: float, state: Any) -> Path:
        path = object.__new__(Path)
        path.__dict__.update(self.__dict__)
        path.state = state
        path.actions += (action,)
        path.log_probability += log_probability
        path.output += self.table.rows[action].written(self.instance.text[self.position])
        path.position = min(self.table.advance(self.position, action), self.instance.end)
        return path

    def hypothesis(self) -> Hypothesis:
        return Hypothesis(self.output, self.actions, self.log_probability)


def greedy(model: Any, instance: Instance) -> Hypothesis:
    return finish_greedily(model, Path(model, instance)).hypothesis()


def finish_greedily(model: Any, path: Path) -> Path:
    """The most probable valid action until END or the longest sequence allowed."""
    while path.last != END and len(path.actions) < path.system.max_actions:
        state, scores = model.step(path.state, path.last, path.position)
        action = max(path.valid(), key=scores.__getitem__)
        path = path.taking(action, scores[action], state)
    return path


def beam(model: Any, instance: Instance, width: int) -> list[Hypothesis]:
    """Each hypothesis that takes END narrows the beam; the hypotheses, best first."""
    live, finished = [Path(model, instance)], []
    limit = live[0].system.max_actions + (width > 1)
    for _ in range(limit):
        expansions = []
        for path in live:
            state, scores = model.step(path.state, path.last, path.position)
            expansions += [(path.log_probability + scores[a], a, path, state, scores[a]) for a in path.valid()]
        best = [path.taking(action, score, state) for _, action, path, state, score
                in nlargest(width, expansions, key=lambda expansion: expansion[0])]
        finished += [path for path in best if path.last == END]
        live = [path for path in best if path.last != END]
        width -= len(best) - len(live)
        if not live:
            break
    return sorted((path.hypothesis() for path in finished or live), key=lambda found: -found.log_probability)
