"""Roll-outs: which action the model takes next after each candidate of a step, and when a candidate ends."""

from __future__ import annotations

from math import inf

import numpy as np

from il_morph.training.engine import RolledOut, RollOut
from il_morph.transitions.actions import AT_END, BEFORE_END, END, ActionTable


class GreedyRollOuts:
    """The candidates of a request while the model finishes them: their actions, positions and costs so far."""

    def __init__(self, request: RollOut, table: ActionTable, end: int):
        self.request, self.table, self.end, self.bound = request, table, end, request.bound
        self.actions = [[action] for action in request.actions]
        self.positions = list(request.positions)
        self.costs = [float(request.costs[action]) for action in request.actions]
        self.ended = [action == END for action in request.actions]
        self.dropped = [False] * len(self.actions)

    @property
    def last(self) -> list[int]:
        return [actions[-1] for actions in self.actions]

    def running(self) -> list[int]:
        """The candidates that go on; the rest have ended, or are dropped because they cost more than the bound."""
        for k, cost in enumerate(self.costs):
            self.dropped[k] = self.dropped[k] or (not self.ended[k] and cost > self.bound)
        return [k for k in range(len(self.actions)) if not (self.ended[k] or self.dropped[k])]

    def take(self, scores: np.ndarray) -> None:
        """Let each running candidate take its most probable valid action."""
        kinds = [AT_END if position == self.end else BEFORE_END for position in self.positions]
        best = np.where(self.table.valid[kinds], scores, -inf).argmax(axis=1).tolist()
        for k in self.running():
            self.actions[k].append(best[k])
            self.costs[k] += float(self.request.costs[best[k]])
            self.positions[k] = self.table.advance(self.positions[k], best[k])
            self.ended[k] = best[k] == END
        if self.request.tightens:
            self.bound = min([self.bound, *(cost for cost, ended in zip(self.costs, self.ended) if ended)])

    def finished(self) -> list[RolledOut]:
        return [RolledOut(*each) for each in zip(self.actions, self.costs, self.dropped)]
