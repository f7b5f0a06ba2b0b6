"""The phases of a training run: MLE pre-training if requested, then the objective of the mode; or several trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Optional, Protocol

import numpy as np

from il_morph.model.architectures import architecture_of
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.averaging import averaged
from il_morph.training.checkpoint import Checkpoint
from il_morph.training.engine import Engine, Objective
from il_morph.training.history import Epoch, History
from il_morph.training.imitation import ImitationLearning
from il_morph.training.loop import TrainingLoop
from il_morph.training.sequences import GoldSequences, MaximumLikelihood, MinimumRisk, Reinforce
from il_morph.transitions.aligners import make_aligner

SEEDS = 2**32
APART = 1_000_003  # distance between the seeds of trials, so large that no other run starts from the same weights
SEQUENCE_OBJECTIVES = {"mle": MaximumLikelihood, "mrt": MinimumRisk, "rl": Reinforce}


class Observer(Protocol):
    """Receives notifications about the progress of a training."""

    def on_epoch(self, phase: str, epoch: Epoch) -> None: ...

    def on_best(self, epoch: Epoch, weights: dict) -> None: ...

    def on_state(self, phase: int, training: TrainingLoop) -> None:
        """Called after each epoch if the engine is resumable, to save the current state."""

    def on_end(self) -> None:
        """Called at the end of each epoch, after `on_epoch` and `on_state`."""


def phases_of(settings: TrainingSettings) -> list[TrainingSettings]:
    """The settings of each phase. Pre-training runs for all of its epochs, regardless of patience."""
    epochs = settings.pretrain_epochs or (settings.epochs if settings.pretrain_until else 0)
    pretraining = replace(settings, mode="mle", epochs=epochs, patience=epochs, dropout=settings.pretrain_dropout)
    return [pretraining, settings] if epochs else [settings] * settings.trials


def train_phases(engine: Engine, vocabulary: Vocabulary, weights: Optional[dict[str, np.ndarray]],
                 train: Sequence[Instance], dev: Sequence[Instance], settings: TrainingSettings, seed: int,
                 observer: Observer, verbose: bool = False, checkpoint: Optional[Checkpoint] = None) -> History:
    """Train from these weights (or new ones), or continue from a checkpoint.

    Each phase starts from the best model of the phase before. Each trial starts anew, and has to beat the best model of
    the trials before.
    """
    random, phases, history = Random(seed), phases_of(settings), History()
    start, is_trial = weights, settings.trials > 1
    own = vocabulary.settings.kind.objective()
    needs_gold = own is None and any(phase.mode in SEQUENCE_OBJECTIVES for phase in phases)
    gold = gold_sequences(vocabulary, train, settings, seed) if needs_gold else None
    for number, phase in enumerate(phases):
        resumed = checkpoint if checkpoint and checkpoint.phase == number else None
        if checkpoint and number < checkpoint.phase:
            continue
        objective = own or make_objective(vocabulary, phase, random, gold)
        learner = averaged(engine.learner(vocabulary, objective, phase), phase.average_weights)
        if is_trial:
            weights, history = start, History(best=history.best, weights=history.weights)
        else:
            history = History()
        learner.set_weights(weights or architecture_of(vocabulary).draw((seed + is_trial * number * APART) % SEEDS))
        training = TrainingLoop(
            learner, objective.teachers, vocabulary, train, dev, phase, random, lambda epoch: None, observer.on_best,
            verbose,
            until=settings.pretrain_until or None if number < len(phases) - 1 else None,
            from_trained=bool(weights) or (number > 0 and not is_trial), history=resumed.history if resumed
            else history,
            probe=resumed.probe if resumed else None,
        )
        if resumed:
            go_on(training, resumed)
        name = f"{phase.mode}.{number + 1}" if is_trial else phase.mode
        training.on_epoch = partial(tell, observer, name, number, training, engine.resumable)
        history = training.run()
        weights = history.weights
    return history


def go_on(training: TrainingLoop, checkpoint: Checkpoint) -> None:
    checkpoint.restore(training.learner)
    training.random.setstate(checkpoint.random.getstate())


def tell(observer: Observer, name: str, number: int, training: TrainingLoop, resumable: bool, epoch: Epoch) -> None:
    observer.on_epoch(name, epoch)
    if resumable:
        observer.on_state(number, training)
    observer.on_end()


def gold_sequences(vocabulary: Vocabulary, train: Sequence[Instance], settings: TrainingSettings,
                   seed: int) -> GoldSequences:
    aligner = make_aligner(settings.aligner, settings.iterations, seed, settings.try_reverse)

    def align(instances: Sequence[Instance]) -> list[list[int]]:
        aligned = aligner([(instance.sample.input, instance.sample.target) for instance in instances])
        return [vocabulary.gold_actions(pair) for pair in aligned]

    return GoldSequences(align, train)


def make_objective(vocabulary: Vocabulary, settings: TrainingSettings, random: Random,
                   gold: Optional[GoldSequences] = None) -> Objective:
    if settings.mode == "il":
        return ImitationLearning(vocabulary, settings, random)
    assert gold is not None, "these objectives learn from gold sequences"
    return SEQUENCE_OBJECTIVES[settings.mode](vocabulary, settings, random, gold)
