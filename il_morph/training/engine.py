"""The seam between objectives and engines: an objective decides, an engine computes.

An objective visits one sample at a time. Its visit is a generator: it yields requests to the decoder of the sample,
is sent the states they lead to, and leaves losses behind. An engine may serve the visits of a batch one after the
other, or together, so that the requests of all samples become one product.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Callable, NamedTuple, Optional, Protocol, Union

import numpy as np

from il_morph.errors import InputError
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.dev_loss import Teacher

State = Any  # of the decoder after some steps along a sample; what it is, only the engine knows
RowStates = Any  # of several sequences of actions, side by side; without gradient


class Step(NamedTuple):
    """The decoder reads the previous action at this position of the buffer. The reply is the next state."""

    state: State
    action: int
    position: int


class StepRows(NamedTuple):
    """The same for rows of states, without gradient: samples of the model. The reply are the next rows."""

    rows: RowStates
    actions: Sequence[int]
    positions: Sequence[int]


class RollOut(NamedTuple):
    """Candidates of one state, which the model finishes greedily, without gradient. The reply: each one, `RolledOut`.

    Candidate k, the action `actions[k]`, leads to `positions[k]` of the buffer. What follows goes up to END, or is cut
    off after `limit` actions. One whose costs exceed the bound is dropped.
    """

    state: State
    actions: Sequence[int]
    positions: Sequence[int]
    costs: np.ndarray  # of every action
    limit: int
    bound: float
    tightens: bool  # are the costs of a candidate that is finished the next bound?


class RolledOut(NamedTuple):
    """A candidate with what the model did after it."""

    actions: list[int]
    cost: float
    dropped: bool


Request = Union[Step, StepRows, RollOut]
Visit = Generator[Request, Any, int]


class StepLoss(NamedTuple):
    """−log Σ P(a) over the optimal actions, in the softmax over a support; margins are added to the scores first."""

    optimal: Sequence[int]
    support: int
    margins: Optional[np.ndarray] = None


class SampleDecoder(Protocol):
    """The network on one sample, whose input is encoded."""

    instance: Instance

    def initial_state(self) -> State: ...

    def scores(self, state: State) -> Sequence[float]:
        """The scores of all actions, valid or not. Reading them may cost more than computing them."""

    def initial_rows(self, number: int) -> AbstractContextManager[RowStates]: ...

    def rows_scores(self, rows: RowStates) -> np.ndarray:
        """[row, action]: of all actions, valid or not."""

    def touch_rows(self, actions: Sequence[int]) -> None:
        """The embeddings of these actions take part in the update with a gradient of zero."""

    def step_loss(self, state: State, loss: StepLoss) -> None:
        """Leave the loss of a step."""

    def regression_loss(self, state: State, support: int, targets: np.ndarray) -> None:
        """Leave the mean square of score − target over the actions of a support."""

    def sequence_loss(self, sequences: Sequence[Sequence[int]], weights: Sequence[float]) -> None:
        """Leave −log P of whole sequences, weighted and summed."""

    def expected_risk(self, sequences: Sequence[Sequence[int]], risks: Sequence[float], alpha: float) -> None:
        """Leave Σ Q·risk over these sequences, Q ∝ P^alpha."""


class Objective(Protocol):
    """What a sample is trained on."""

    def begin_epoch(self, epoch: int) -> None: ...

    def visit(self, decoder: SampleDecoder) -> Visit:
        """Leave the losses of a sample; return what their sum is divided by, 0 if there is nothing to learn."""

    def teachers(self, instances: Sequence[Instance]) -> Sequence[Teacher]:
        """Who leads through these samples when the dev loss is taken."""


class Learner(Protocol):
    """A network in training: an objective, an optimiser and the weights."""

    def begin_epoch(self, epoch: int) -> None: ...

    def set_learning_rate(self, rate: float) -> None:
        """The rate of the updates from now on."""

    def update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        """One update of the weights; the mean loss of the batch and how many of its samples have one."""

    def weights(self) -> dict[str, np.ndarray]:
        """As the model file keeps them."""

    def set_weights(self, weights: dict[str, np.ndarray]) -> None: ...

    def state(self) -> dict[str, np.ndarray]:
        """All that the optimiser remembers, for a checkpoint; of a resumable engine."""

    def restore(self, state: dict[str, np.ndarray]) -> None: ...


class Engine(Protocol):
    """Makes learners."""

    name: str
    resumable: bool  # can its learners go on from a checkpoint?

    @property
    def kernels_name(self) -> Optional[str]:
        """What it computes with where there is a choice: others round differently."""

    def refuse(self, model: ModelSettings, training: TrainingSettings) -> None:
        """An InputError for what this engine does not do."""

    def start(self, vocabulary: Vocabulary, training: TrainingSettings, train: Sequence[Instance], seed: int) -> None:
        """Get ready for a training on these samples; what it cannot hold is refused here."""

    def learner(self, vocabulary: Vocabulary, objective: Objective, training: TrainingSettings) -> Learner: ...


def diverged(epoch: int, reason: str) -> InputError:
    """What an engine raises when the gradient is no longer finite."""
    return InputError(f"training diverged in epoch {epoch} ({reason}): the weights are no longer finite; "
                      "try a lower --learning-rate, or another --optimization, --l2 or --dynet-seed")


def reply_to(visit: Visit, serve: Callable[[Request], Any]) -> int:
    """Serve one visit to its end; what it returns."""
    try:
        request = next(visit)
        while True:
            request = visit.send(serve(request))
    except StopIteration as end:
        return end.value
