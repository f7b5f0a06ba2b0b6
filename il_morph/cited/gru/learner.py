"""The engine and the learner of MED and LEM, which compute the samples of a batch together, in NumPy."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import isfinite, sqrt
from types import ModuleType
from typing import NoReturn, Optional, cast

import numpy as np

from il_morph.cited.gru.cells import Weights
from il_morph.cited.gru.inference import is_matrix, sequence_of
from il_morph.cited.gru.network import Network, draw_masks
from il_morph.engines.native.engine import fastest_kernels
from il_morph.engines.native.optimizers import RULES
from il_morph.errors import InputError
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.threads import use_one_thread
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import Learner, Objective, SampleDecoder, diverged, reply_to
from il_morph.training.sampling import set_state, state_of

log = logging.getLogger(__name__)

CLIP = 1.0  # the greatest norm of all gradients together
OPTIMIZER = "ADADELTA"
SHORTEST = 1e-20  # the smallest norm that a direction is divided by
MOST_FLOATS = 1_000_000_000  # that attention keeps for the backward pass of a batch


class GoldOutput:
    """A stand-in for the decoder of a sample: records the gold output whose loss the objective leaves."""

    def __init__(self, instance: Instance):
        self.instance = instance
        self.actions: Sequence[int] = []

    def sequence_loss(self, sequences: Sequence[Sequence[int]], weights: Sequence[float]) -> None:
        (self.actions,), (weight,) = sequences, weights
        assert weight == 1.0, "maximum likelihood leaves one sequence"

    def serve(self, request: object) -> NoReturn:
        raise TypeError("maximum likelihood asks for no steps")


class GruEngine:
    """Makes learners of MED and LEM; the seed given to `start` drives their dropout."""

    name = "native"
    resumable = True
    kernels_name = None

    def __init__(self, architecture: str, from_mean: bool, normalised: bool):
        self.architecture, self.from_mean, self.normalised = architecture, from_mean, normalised

    def refuse(self, model: ModelSettings, training: TrainingSettings) -> None:
        wanted = {"optimization": OPTIMIZER, "l2": 0.0}
        for name, value in wanted.items():
            if getattr(training, name) != value:
                raise InputError(f"--{name}: --architecture={self.architecture} is trained with {OPTIMIZER} and "
                                 "without a penalty: leave the flag out")

    def start(self, vocabulary: Vocabulary, training: TrainingSettings, train: Sequence[Instance], seed: int) -> None:
        use_one_thread()
        self.random = np.random.RandomState(seed)
        self._check_lengths(vocabulary, min(training.batch_size, len(train)), train)

    def _check_lengths(self, vocabulary: Vocabulary, batch: int, train: Sequence[Instance]) -> None:
        """Raise an InputError if a batch, padded to the longest input and output, takes too much memory."""
        places = max(len(sequence_of(instance, vocabulary)) for instance in train)
        steps = max(len(instance.sample.target) for instance in train) + 1
        if batch * places * steps * vocabulary.settings.dec_hidden > MOST_FLOATS:
            raise InputError(f"train: a batch of {batch} samples with inputs of up to {places:,} and outputs of up to "
                             f"{steps:,} symbols, boundaries and features included, takes too much memory with "
                             f"--architecture={self.architecture}: leave out long lines or give a smaller --batch-size")

    def learner(self, vocabulary: Vocabulary, objective: Objective, training: TrainingSettings) -> Learner:
        return GruLearner(vocabulary, objective, training, self.random, self.from_mean, self.normalised)


class GruLearner:
    """Trains with ADADELTA on batches.

    With weight normalisation, a matrix column is a length times a unit vector. The `parameters` that ADADELTA updates
    are the lengths and the directions of these vectors; `weights` computes the matrices.
    """

    def __init__(self, vocabulary: Vocabulary, objective: Objective, training: TrainingSettings,
                 random: np.random.RandomState, from_mean: bool, normalised: bool,
                 kernels: Optional[ModuleType] = None):
        self.vocabulary, self.objective, self.training, self.random = vocabulary, objective, training, random
        self.from_mean, self.normalised = from_mean, normalised
        self.kernels = kernels or fastest_kernels()
        self.invalid = np.logical_not(vocabulary.table.valid.any(axis=0))
        self.rate, self.epoch = 1.0, 0
        log.info("%s, kernels of %s", vocabulary.settings.architecture.upper(), self.kernels.NAME)

    def set_learning_rate(self, rate: float) -> None:
        self.rate = rate

    def begin_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        self.objective.begin_epoch(epoch)

    def update(self, batch: Sequence[Instance]) -> tuple[float, int]:
        """The loss is the sum of the losses of the samples, divided by the sum of their counts."""
        golds = [GoldOutput(instance) for instance in batch]
        count = sum(reply_to(self.objective.visit(cast(SampleDecoder, gold)), gold.serve) for gold in golds)
        masks = draw_masks(self.vocabulary.settings, len(batch), self.training.dropout, self.random)
        network = Network(self.vocabulary.settings, self.weights(), self.from_mean, masks)
        loss, gradients = network.loss(
            [sequence_of(instance, self.vocabulary) for instance in batch], [gold.actions for gold in golds],
            [1 / count] * len(batch), self.vocabulary.system.initial_action, self.invalid)
        self._change_weights(self._of_parameters(gradients))
        return loss, len(batch)

    def _change_weights(self, gradients: Weights) -> None:
        norm = sqrt(sum(float(np.vdot(each, each)) for each in gradients.values()))
        if not isfinite(norm):
            raise diverged(self.epoch, f"magnitude of gradient is {norm}")
        rule = RULES[OPTIMIZER]
        scale = CLIP / norm if norm > CLIP else 1.0
        hyper = np.array([scale, self.rate, rule.first, rule.second, rule.epsilon], dtype=np.float32)
        for name, gradient in gradients.items():
            arrays = self.parameters[name], self.squares[name], self.changes[name], np.ascontiguousarray(gradient)
            self.kernels.update_dense(rule.number, hyper, *(each.reshape(-1, each.shape[-1]) for each in arrays))

    def _of_parameters(self, gradients: Weights) -> Weights:
        """The gradients of lengths and directions, from the gradients of the weights."""
        if not self.normalised:
            return gradients
        found: Weights = {}
        for name, gradient in gradients.items():
            if not is_matrix(name):
                found[name] = gradient
                continue
            unit, norms = self._units(name)
            along = (gradient * unit).sum(axis=-2, keepdims=True)
            found[f"{name} length"] = along
            found[name] = (gradient - along * unit) * (self.parameters[f"{name} length"] / norms)
        return found

    def _units(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The directions of a matrix scaled to columns of length 1, and their norms before that."""
        direction = self.parameters[name]
        norms = np.maximum(np.sqrt((direction * direction).sum(axis=-2, keepdims=True)), SHORTEST)
        return direction / norms, norms

    def weights(self) -> Weights:
        weights = {}
        for name, parameter in self.parameters.items():
            if name.endswith(" length"):
                continue
            length = self.parameters.get(f"{name} length")
            weights[name] = parameter.copy() if length is None else length * self._units(name)[0]
        return weights

    def set_weights(self, weights: Weights) -> None:
        self.parameters = {name: np.array(array, dtype=np.float32, order="C") for name, array in weights.items()}
        if self.normalised:
            for name in filter(is_matrix, weights):
                self.parameters[f"{name} length"] = self._units(name)[1]
        self.squares, self.changes = ({name: np.zeros_like(array) for name, array in self.parameters.items()}
                                      for _ in range(2))

    def state(self) -> Weights:
        """The parameters, the running means of ADADELTA, and the state of the random numbers of dropout."""
        kept = {"parameter": self.parameters, "square": self.squares, "change": self.changes}
        return {**state_of(self.random),
                **{f"{kind} {name}": array.copy() for kind, arrays in kept.items() for name, array in arrays.items()}}

    def restore(self, state: Weights) -> None:
        set_state(self.random, state)
        for kind, arrays in {"parameter": self.parameters, "square": self.squares, "change": self.changes}.items():
            for name, array in arrays.items():
                array[:] = state[f"{kind} {name}"]
