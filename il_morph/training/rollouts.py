"""Model roll-outs (section 4 of the paper): execute a candidate, let the model finish greedily.

All candidates of a step are one batch; none of it stays in the graph, for there is no gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Sequence

import dynet as dy
import editdistance

from il_morph.engines.dynet.cells import CellState
from il_morph.transitions.expert import BETA
from il_morph.engines.dynet.network import SampleGraph, passing
from il_morph.transitions.systems import END, MAX_ACTIONS, TransitionSystem


@dataclass
class Configuration:
    """Where a sequence of actions has led to."""

    states: list[CellState]
    position: int
    output: str = ""
    steps: int = 0  # how many actions have been taken


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

    `exact` says that the cost of every candidate is needed; otherwise a candidate whose edits
    already exceed the cost of a finished one is dropped, as it cannot be optimal.
    """

    graph: SampleGraph
    target: str
    system: TransitionSystem
    symbols: Sequence[str]
    loss: str = "edits"
    bias_inserts: bool = False
    exact: bool = False
    known: dict[int, RollOut] = field(default_factory=dict)

    def costs(self, configuration: Configuration, candidates: Sequence[int]) -> dict[int, float]:
        """The cost of each candidate; infinite if it was dropped."""
        rollouts = {a: self.known.get(a) or self._begin(a, configuration) for a in candidates}
        with passing():
            self._run(list(rollouts.values()), configuration)
        self.known = rollouts
        return {a: self._cost(rollout, configuration) for a, rollout in rollouts.items()}

    def advance(self, action: int) -> None:
        """`action` was taken: what followed it in its roll-out is known for the next step."""
        taken = self.known.pop(action, None)
        self.known = {}
        if taken and taken.finished and len(taken.actions) > 1:
            rest = taken.actions[1:]
            edits = taken.edits - self._edit(action)
            self.known[rest[0]] = RollOut(rest, taken.position, edits, finished=True)

    def _begin(self, action: int, configuration: Configuration) -> RollOut:
        position = configuration.position + (action in self.system.advancing)
        return RollOut([action], position, self._edit(action))

    def _edit(self, action: int) -> float:
        """1 for an insertion or deletion; `--il-bias-inserts` scores insertions like copies."""
        if self.bias_inserts and action >= self.system.first_insert:
            return 0.0
        return float(self.system.is_edit(action))

    def _cost(self, rollout: RollOut, configuration: Configuration) -> float:
        """The edits, or the paper's β·distance(y, target) + edits."""
        if rollout.dropped:
            return inf
        if self.loss == "edits":
            return rollout.edits
        output = configuration.output + self._written(rollout, configuration.position)
        return BETA * editdistance.eval(output, self.target) + rollout.edits

    def _written(self, rollout: RollOut, position: int) -> str:
        written = []
        for action in rollout.actions:
            written.append(self.system.written(action, self.graph.instance.text[position], self.symbols))
            position += action in self.system.advancing
        return "".join(written)

    def _run(self, rollouts: list[RollOut], configuration: Configuration) -> None:
        """Greedy steps in one batch until each roll-out is finished, dropped or cut off."""
        batch = [rollout for rollout in rollouts if rollout.running]
        states = [repeat(state, len(batch)) for state in configuration.states] if batch else []
        for _ in range(configuration.steps + 1, MAX_ACTIONS):
            self._drop(rollouts, configuration)
            if not any(rollout.running for rollout in batch):
                return
            states = self._step(batch, states)
        for rollout in batch:
            rollout.finished = not rollout.dropped

    def _drop(self, rollouts: list[RollOut], configuration: Configuration) -> None:
        if self.exact:
            return
        best = min((self._cost(r, configuration) for r in rollouts if r.finished), default=inf)
        for rollout in rollouts:
            rollout.dropped = rollout.dropped or (rollout.running and rollout.edits > best)

    def _step(self, batch: list[RollOut], states: list[CellState]) -> list[CellState]:
        states = self.graph.step_batch(states, [r.actions[-1] for r in batch], [r.position for r in batch])
        scores = self.graph.unmasked_logits(states).vec_value()
        width = len(scores) // len(batch)
        for row, rollout in enumerate(batch):
            if rollout.running:
                self._extend(rollout, scores[row * width:(row + 1) * width])
        return states

    def _extend(self, rollout: RollOut, scores: list[float]) -> None:
        at_end = rollout.position == self.graph.instance.end
        action = max(self.system.valid_actions(at_end, len(scores)), key=scores.__getitem__)
        rollout.actions.append(action)
        rollout.edits += self._edit(action)
        rollout.position += action in self.system.advancing
        rollout.finished = action == END


def repeat(state: CellState, times: int) -> CellState:
    return CellState(dy.concatenate_to_batch([state.h] * times), dy.concatenate_to_batch([state.c] * times))
