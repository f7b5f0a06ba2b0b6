"""Model roll-outs (section 4 of the paper): execute a candidate, let the model finish greedily.

All candidates of a step are rows of one batch, without gradient.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import editdistance
import numpy as np

from il_morph.model.settings import TrainingSettings
from il_morph.training.engine import AT_END, BEFORE_END, Request, Rows, SampleDecoder, State, StepRows
from il_morph.transitions.actions import END, MAX_ACTIONS
from il_morph.transitions.expert import BETA
from il_morph.transitions.systems import TransitionSystem


@dataclass
class Configuration:
    """Where a sequence of actions has led to."""

    state: State
    position: int
    output: str = ""
    steps: int = 0  # how many actions have been taken

    def after(self, action: int, written: str, system: TransitionSystem) -> Configuration:
        return Configuration(self.state, system.advance(self.position, action), self.output + written, self.steps + 1)


@dataclass
class RollOut:
    """A candidate and what the model does after it."""

    actions: list[int]
    position: int
    edits: float
    finished: bool = False
    dropped: bool = False

    @property
    def running(self) -> bool:
        return not (self.finished or self.dropped)


@dataclass
class RollOuts:
    """The roll-outs along one sample.

    With nll only the optimal candidates count: one whose edits already exceed the cost of a finished one is dropped.
    """

    decoder: SampleDecoder
    target: str
    system: TransitionSystem
    symbols: Sequence[str]
    supports: np.ndarray
    settings: TrainingSettings
    known: dict[int, RollOut] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.program = self.settings.il_rules == "program"
        self.exact = self.program or self.settings.il_loss != "nll"

    def costs(self, at: Configuration, candidates: Sequence[int]) -> Generator[Request, Any, dict[int, float]]:
        """The cost of each candidate; infinite if it was dropped."""
        rollouts = {action: self.known.get(action) or self._begin(action, at) for action in candidates}
        batch = [rollout for rollout in rollouts.values() if rollout.running]
        if batch:
            with self.decoder.rows(at.state, len(batch)) as rows:
                yield from self._run(rows, batch, list(rollouts.values()), at)
        if self.program:  # its roll-outs stay in the graph
            self.decoder.look_up([action for rollout in batch for action in rollout.actions[:-1]])
        self.known = rollouts
        return {action: self._cost(rollout, at) for action, rollout in rollouts.items()}

    def advance(self, action: int) -> None:
        """`action` was taken: what followed it in its roll-out is known for the next step."""
        if not self.known:
            return
        taken = self.known.pop(action, None)
        self.known = {}
        if taken and taken.finished and len(taken.actions) > 1:
            rest = taken.actions[1:]
            edits = taken.edits - self._edit(action)
            self.known[rest[0]] = RollOut(rest, taken.position, edits, finished=True)

    def _begin(self, action: int, at: Configuration) -> RollOut:
        return RollOut([action], self.system.advance(at.position, action), self._edit(action))

    def _edit(self, action: int) -> float:
        """1 for an insertion or deletion, and for END in the authors' program."""
        return 1.0 if action == END and self.program else float(self.system.cost(action))

    def _cost(self, rollout: RollOut, at: Configuration) -> float:
        """The edits, or the paper's β·distance(y, target) + edits."""
        if rollout.dropped:
            return inf
        if self.settings.il_rollout_loss == "edits":
            return rollout.edits
        text = self.decoder.instance.text
        output = at.output + self.system.output(rollout.actions, text, at.position, self.symbols)
        return BETA * editdistance.eval(output, self.target) + rollout.edits

    def _run(self, rows: Rows, batch: list[RollOut], rollouts: list[RollOut],
             at: Configuration) -> Generator[Request, Any, None]:
        """Greedy steps in one batch until each roll-out is finished, dropped or cut off."""
        for _ in range(at.steps + 1, MAX_ACTIONS):
            self._drop(rollouts, at)
            if not any(rollout.running for rollout in batch):
                return
            rows = yield StepRows(rows, [r.actions[-1] for r in batch], [r.position for r in batch])
            self._extend(batch, self.decoder.rows_scores(rows))
        for rollout in batch:
            rollout.finished = not rollout.dropped

    def _drop(self, rollouts: list[RollOut], at: Configuration) -> None:
        if self.exact:
            return
        best = min((self._cost(r, at) for r in rollouts if r.finished), default=inf)
        for rollout in rollouts:
            rollout.dropped = rollout.dropped or (rollout.running and rollout.edits > best)

    def _extend(self, batch: list[RollOut], scores: np.ndarray) -> None:
        """Each roll-out takes the most probable of its valid actions."""
        end = self.decoder.instance.end
        kinds = [AT_END if rollout.position == end else BEFORE_END for rollout in batch]
        best = np.where(self.supports[kinds], scores, -inf).argmax(axis=1).tolist()
        for rollout, action in zip(batch, best):
            if rollout.running:
                rollout.actions.append(action)
                rollout.edits += self._edit(action)
                rollout.position = self.system.advance(rollout.position, action)
                rollout.finished = action == END
