"""The interface between objectives and engines: an objective decides, an engine computes.

An objective visits one sample at a time. A visit is a generator: it yields requests to the decoder of the sample,
receives the resulting states, and adds losses to the decoder. An engine may serve the visits of a batch one after
another, or together, so that the requests of all samples become one matrix product.
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

State = Any  # the decoder state after some steps along a sample; its type depends on the engine
RowStates = Any  # the decoder states of several action sequences, side by side; without gradient


class Step(NamedTuple):
    """A request to read the previous action at this position of the buffer. The reply is the next state."""

    state: State
    action: int
    position: int


class StepRows(NamedTuple):
    """A request to make a step with rows of states, without gradient, for sampling. The reply is the next rows."""

    rows: RowStates
    actions: Sequence[int]
    positions: Sequence[int]


class RollOut(NamedTuple):
    """A request to finish the candidates of one state greedily, without gradient. The reply is a `RolledOut` for each.

    Candidate k is the action `actions[k]`, which leads to `positions[k]` of the buffer. The continuation ends with END,
    or is cut off after `limit` actions. A candidate whose cost exceeds the bound is dropped.
    """

    state: State
    actions: Sequence[int]
    positions: Sequence[int]
    costs: np.ndarray  # the cost of every action
    limit: int
    bound: float
    tightens: bool  # does the cost of a finished candidate lower the bound?


class RolledOut(NamedTuple):
    """A candidate and the actions with which the model continued it."""

    actions: list[int]
    cost: float
    dropped: bool


Request = Union[Step, StepRows, RollOut]
Visit = Generator[Request, Any, int]


class StepLoss(NamedTuple):
    """−log Σ P(a) over the optimal actions. P is the softmax over a support, after margins were added to the scores."""

    optimal: Sequence[int]
    support: int
    margins: Optional[np.ndarray] = None


class SampleDecoder(Protocol):
    """The network applied to one sample, whose input is already encoded."""

    instance: Instance

    def initial_state(self) -> State: ...

    def scores(self, state: State) -> Sequence[float]:
        """The scores of all actions, valid or not. Reading them may cost more than computing them."""

    def initial_rows(self, number: int) -> AbstractContextManager[RowStates]: ...

    def rows_scores(self, rows: RowStates) -> np.ndarray:
        """[row, action]: the scores of all actions, valid or not."""

    def touch_rows(self, actions: Sequence[int]) -> None:
        """Include the embeddings of these actions in the update, with a gradient of zero."""

    def step_loss(self, state: State, loss: StepLoss) -> None:
        """Add the loss of a step."""

    def regression_loss(self, state: State, support: int, targets: np.ndarray) -> None:
        """Add the mean square of score − target over the actions of a support."""

    def sequence_loss(self, sequences: Sequence[Sequence[int]], weights: Sequence[float]) -> None:
        """Add −log P of whole sequences, weighted and summed."""

    def expected_risk(self, sequences: Sequence[Sequence[int]], risks: Sequence[float], alpha: float) -> None:
        """Add Σ Q·risk over these sequences, Q ∝ P^alpha."""


class Objective(Protocol):
    """Defines the losses that each sample is trained on."""

    def begin_epoch(self, epoch: int) -> None: ...

    def visit(self, decoder: SampleDecoder) -> Visit:
        """Add the losses of a sample; return the divisor for their sum, or 0 if there is nothing to learn."""

    def teachers(self, instances: Sequence[Instance]) -> Sequence[Teacher]:
        """The teachers for these samples when the dev loss is computed."""


class Learner(Protocol):
    """A network in training: an objective, an optimiser and the weights."""

    def begin_epoch(self, epoch: int) -> None: ...

    def set_learning_rate(self, rate: float) -> None:
        """Set the learning rate of all further updates."""

    def update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        """Update the weights once; return the mean loss of the batch and the number of its samples that have a loss."""

    def weights(self) -> dict[str, np.ndarray]:
        """The weights as stored in the model file."""

    def set_weights(self, weights: dict[str, np.ndarray]) -> None: ...

    def state(self) -> dict[str, np.ndarray]:
        """The state of the optimiser, for a checkpoint; only resumable engines need it."""

    def restore(self, state: dict[str, np.ndarray]) -> None: ...


class Engine(Protocol):
    """Makes learners."""

    name: str
    resumable: bool  # can its learners continue from a checkpoint?

    @property
    def kernels_name(self) -> Optional[str]:
        """The name of the kernels, if the engine has a choice: different kernels round differently."""

    def refuse(self, model: ModelSettings, training: TrainingSettings) -> None:
        """Raise an InputError for settings that this engine does not support."""

    def start(self, vocabulary: Vocabulary, training: TrainingSettings, train: Sequence[Instance], seed: int) -> None:
        """Prepare for training on these samples; raise an InputError for what the engine cannot hold."""

    def learner(self, vocabulary: Vocabulary, objective: Objective, training: TrainingSettings) -> Learner: ...


def diverged(epoch: int, reason: str) -> InputError:
    """The error that an engine raises when the gradient is no longer finite."""
    return InputError(f"training diverged in epoch {epoch} ({reason}): the weights are no longer finite; "
                      "try a lower --learning-rate, or another --optimization, --l2 or --dynet-seed")


def reply_to(visit: Visit, serve: Callable[[Request], Any]) -> int:
    """Serve one visit to its end and return its result."""
    try:
        request = next(visit)
        while True:
            request = visit.send(serve(request))
    except StopIteration as end:
        return end.value
