"""Model roll-outs (section 4 of the paper): execute a candidate, then let the model finish greedily.

One request covers all candidates of a step.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import editdistance
import numpy as np

from il_morph.model.settings import TrainingSettings
from il_morph.training.engine import Request, RolledOut, RollOut, SampleDecoder, State
from il_morph.transitions.actions import END, MAX_ACTIONS, Action, ActionTable
from il_morph.transitions.expert import BETA


@dataclass
class Configuration:
    """The configuration after a sequence of actions."""

    state: State
    position: int
    output: str = ""
    steps: int = 0  # how many actions have been taken

    def after(self, row: Action, head: str) -> Configuration:
        """The configuration after an action with this row of the table, if `head` is the next symbol of the input."""
        return Configuration(self.state, self.position + row.reads, self.output + row.written(head), self.steps + 1)


@dataclass
class RollOuts:
    """The roll-outs along one sample.

    With nll only the optimal candidates matter, so a candidate is dropped once its edits exceed the cost of a finished
    candidate.
    """

    decoder: SampleDecoder
    target: str
    table: ActionTable
    settings: TrainingSettings
    edits: np.ndarray  # the cost of each action: see `edits_of_actions`
    known: dict[int, RolledOut] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.program = self.settings.il_rules == "program"
        self.exact = self.program or self.settings.il_loss != "nll"
        self.by_edits = self.settings.il_rollout_loss == "edits"

    def costs(self, at: Configuration, candidates: Sequence[int]) -> Generator[Request, Any, dict[int, float]]:
        """The cost of each candidate; infinite if it was dropped."""
        rollouts = {action: self.known[action] for action in candidates if action in self.known}
        new = [action for action in candidates if action not in rollouts]
        if new:
            finished = yield self._request(at, new, rollouts.values())
            rollouts.update(zip(new, finished))
            if self.program:  # in the authors' program, roll-outs stay in the graph
                self.decoder.touch_rows([action for rollout in finished for action in rollout.actions[:-1]])
        self.known = rollouts
        return {action: self._cost(rollouts[action], at) for action in candidates}

    def advance(self, action: int) -> None:
        """Take `action`. The rest of its roll-out is already known for the next step."""
        taken, self.known = self.known.get(action), {}
        if taken and not taken.dropped and len(taken.actions) > 1:
            rest = taken.actions[1:]
            self.known[rest[0]] = RolledOut(rest, taken.cost - float(self.edits[action]), dropped=False)

    def _request(self, at: Configuration, candidates: Sequence[int], known: Iterable[RolledOut]) -> RollOut:
        bound = inf if self.exact else min((self._cost(rollout, at) for rollout in known), default=inf)
        positions = [self.table.advance(at.position, action) for action in candidates]
        return RollOut(at.state, candidates, positions, self.edits, MAX_ACTIONS - at.steps - 1, bound,
                       tightens=self.by_edits and not self.exact)

    def _cost(self, rollout: RolledOut, at: Configuration) -> float:
        """The edits, or the paper's β·distance(y, target) + edits."""
        if rollout.dropped:
            return inf
        if self.by_edits:
            return rollout.cost
        text = self.decoder.instance.text
        output = at.output + self.table.output(rollout.actions, text, at.position)
        return BETA * editdistance.eval(output, self.target) + rollout.cost


def edits_of_actions(table: ActionTable, program: bool) -> np.ndarray:
    """The cost of each action; in the authors' program END counts as an edit."""
    edits = table.costs.copy()
    edits[END] = float(program)
    return edits
