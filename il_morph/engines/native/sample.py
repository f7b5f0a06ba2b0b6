"""The `SampleDecoder` of the native engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from il_morph.engines.native.decoder import INITIAL, DecoderRows
from il_morph.engines.native.losses import expected_risk
from il_morph.engines.native.network import NativeNetwork
from il_morph.model.vocabulary import Instance
from il_morph.training.engine import StepLoss


@dataclass
class SequenceLoss:
    """A loss of whole sequences; `value` turns their −log P into the loss and its gradient with respect to them."""

    sequences: Sequence[Sequence[int]]
    value: Callable[[np.ndarray], tuple[float, np.ndarray]]


class NativeDecoder:
    """The decoder of one sample of a batch; a state is a node of the network's decoder."""

    def __init__(self, network: NativeNetwork, sample: int, instance: Instance):
        self.network, self.sample, self.instance = network, sample, instance
        self.step_losses: list[tuple[int, StepLoss]] = []
        self.regressions: list[tuple[int, int, np.ndarray]] = []
        self.sequence_losses: list[SequenceLoss] = []

    def initial_state(self) -> int:
        return INITIAL

    def scores(self, state: int) -> Any:
        """The row of the node in the array of scores."""
        return self.network.decoder.nodes.scores[state]

    @contextmanager
    def initial_rows(self, number: int) -> Iterator[DecoderRows]:
        yield self.network.decoder.initial_rows(number)

    def rows_scores(self, rows: DecoderRows) -> np.ndarray:
        return rows.scores[rows.states]

    def touch_rows(self, actions: Sequence[int]) -> None:
        self.network.lookups.add(self.network.decoder.table, actions)

    def step_loss(self, state: int, loss: StepLoss) -> None:
        self.step_losses.append((state, loss))

    def regression_loss(self, state: int, support: int, targets: np.ndarray) -> None:
        self.regressions.append((state, support, targets))

    def sequence_loss(self, sequences: Sequence[Sequence[int]], weights: Sequence[float]) -> None:
        factors = np.array(weights, dtype=np.float64)
        self.sequence_losses.append(SequenceLoss(sequences, lambda losses: (float((factors * losses).sum()), factors)))

    def expected_risk(self, sequences: Sequence[Sequence[int]], risks: Sequence[float], alpha: float) -> None:
        known = np.array(risks, dtype=np.float64)
        self.sequence_losses.append(SequenceLoss(sequences, lambda losses: expected_risk(-losses, known, alpha)))

    def place(self, position: int) -> int:
        return self.network.encoder.place(self.sample, position)
