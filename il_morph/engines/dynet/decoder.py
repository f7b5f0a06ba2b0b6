"""The `SampleDecoder` of the DyNet engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Union

import dynet as dy
import numpy as np

from il_morph.engines.dynet.cells import CellState
from il_morph.engines.dynet.network import MASKED, AnyNetwork, passing
from il_morph.engines.dynet.rollouts import GreedyRollOuts
from il_morph.model.vocabulary import Instance
from il_morph.training.engine import Request, RolledOut, RollOut, Step, StepLoss
from il_morph.transitions.actions import AT_END, BEFORE_END

CellStates = list  # of CellState: one for each layer


@dataclass
class DynetState:
    """The state of each layer, and the scores computed from it; actions outside the support are masked."""

    cells: CellStates
    support: int
    logits: dy.Expression = None


class DynetDecoder:
    """The decoder of one sample, which adds nodes to its graph; `losses` are the losses left by the objective."""

    def __init__(self, network: AnyNetwork, instance: Instance, dropout: float = 0.0):
        self.network, self.instance = network, instance
        self.graph = network.graph(instance, dropout)
        self.losses: list[dy.Expression] = []

    def serve(self, request: Request) -> Union[DynetState, CellStates, list[RolledOut]]:
        if isinstance(request, Step):
            return self._step(request)
        if isinstance(request, RollOut):
            return self._finish(request)
        return self.graph.step_batch(request.rows, request.actions, request.positions)

    def _step(self, step: Step) -> DynetState:
        cells = self.graph.step(step.state.cells, step.action, step.position)
        support = AT_END if step.position == self.instance.end else BEFORE_END
        return DynetState(cells, support, self.graph.logits(cells, support))

    def _finish(self, request: RollOut) -> list[RolledOut]:
        """Finish all candidates as one batch."""
        candidates = GreedyRollOuts(request, self.network.vocabulary.table, self.instance.end)
        with passing():
            rows = [repeat(cell, len(request.actions)) for cell in request.state.cells]
            for _ in range(request.limit):
                if not candidates.running():
                    break
                rows = self.graph.step_batch(rows, candidates.last, candidates.positions)
                candidates.take(self.rows_scores(rows))
        return candidates.finished()

    def initial_state(self) -> DynetState:
        return DynetState(self.graph.initial_states(), BEFORE_END)

    def scores(self, state: DynetState) -> Sequence[float]:
        return state.logits.vec_value()

    @contextmanager
    def initial_rows(self, number: int) -> Iterator[CellStates]:
        with passing():
            yield self.graph.initial_states()

    def rows_scores(self, rows: CellStates) -> np.ndarray:
        scores = np.array(self.graph.unmasked_logits(rows).vec_value(), dtype=np.float32)
        return scores.reshape(-1, len(self.network.vocabulary.actions))

    def touch_rows(self, actions: Sequence[int]) -> None:
        if actions:
            rows = self.network.actions.rows(sorted(set(actions)))
            self.losses.append(dy.sum_batches(dy.sum_elems(rows)) * 0.0)

    def step_loss(self, state: DynetState, loss: StepLoss) -> None:
        logits = state.logits if loss.support == state.support else self.graph.logits(state.cells, loss.support)
        if loss.margins is not None:
            logits = logits + dy.inputVector(loss.margins.tolist())
        self.losses.append(negative_log_likelihood(logits, loss.optimal))

    def regression_loss(self, state: DynetState, support: int, targets: np.ndarray) -> None:
        actions = [action for action, mask in enumerate(self.network.masks[support]) if mask != MASKED]
        distance = dy.squared_distance(dy.select_rows(state.logits, actions), dy.inputVector(targets[actions].tolist()))
        self.losses.append(distance / len(actions))

    def sequence_loss(self, sequences: Sequence[Sequence[int]], weights: Sequence[float]) -> None:
        sums = dy.sum_dim(self.graph.losses(sequences), [1])
        self.losses.append(dy.dot_product(sums, dy.inputVector(list(weights))))

    def expected_risk(self, sequences: Sequence[Sequence[int]], risks: Sequence[float], alpha: float) -> None:
        log_probabilities = -dy.sum_dim(self.graph.losses(sequences), [1])
        q = dy.softmax(log_probabilities * alpha)
        self.losses.append(dy.dot_product(q, dy.inputVector(list(risks))))


def repeat(state: CellState, times: int) -> CellState:
    return CellState(dy.concatenate_to_batch([state.h] * times), dy.concatenate_to_batch([state.c] * times))


def negative_log_likelihood(logits: dy.Expression, actions: Sequence[int]) -> dy.Expression:
    """−log Σ P(a) over these actions."""
    if len(actions) == 1:
        return dy.pickneglogsoftmax(logits, actions[0])
    log_probabilities = dy.log_softmax(logits)
    return -dy.logsumexp([dy.pick(log_probabilities, action) for action in actions])
