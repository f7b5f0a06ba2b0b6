"""The phases of a training run: MLE first where it is asked for, then the objective of the mode."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random
from typing import Optional, Protocol, Sequence

import numpy as np

from il_morph.data.formats import Sample
from il_morph.training.gold import gold_actions, make_aligner
from il_morph.engines.dynet.network import Network
from il_morph.training.imitation import ImitationLearning
from il_morph.training.sequences import GoldSequences, MaximumLikelihood, MinimumRisk, Reinforce
from il_morph.model.settings import TrainingSettings
from il_morph.training.schedule import Course, Epoch, Training
from il_morph.model.vocabulary import Instance, Vocabulary

SEQUENCE_OBJECTIVES = {"mle": MaximumLikelihood, "mrt": MinimumRisk, "rl": Reinforce}


class Observer(Protocol):
    """Who hears how the training goes."""

    def on_epoch(self, phase: str, epoch: Epoch) -> None: ...

    def on_best(self, epoch: Epoch, weights: dict) -> None: ...


def phases_of(settings: TrainingSettings) -> list[TrainingSettings]:
    """The settings of each phase; pre-training runs for its epochs, whatever the patience."""
    epochs = settings.pretrain_epochs or (settings.epochs if settings.pretrain_until else 0)
    pretraining = replace(settings, mode="mle", epochs=epochs, patience=epochs, dropout=settings.pretrain_dropout)
    return [pretraining, settings] if epochs else [settings]


def train_phases(vocabulary: Vocabulary, weights: Optional[dict[str, np.ndarray]], train: Sequence[Sample],
                 dev: Sequence[Sample], settings: TrainingSettings, seed: int, observer: Observer,
                 verbose: bool = False) -> Course:
    """Train from these weights (or new ones); each phase starts from the best model of the one before."""
    network, random = Network(vocabulary), Random(seed)
    train_instances, dev_instances = ([vocabulary.instance(s) for s in samples] for samples in (train, dev))
    phases = phases_of(settings)
    gold = gold_sequences(vocabulary, train_instances, settings, seed) if needs_gold(phases) else None
    for number, phase in enumerate(phases):
        if weights:
            network.set_weights(weights)
        training = Training(
            network, make_objective(network, phase, random, gold), train_instances, dev_instances, phase, random,
            partial(observer.on_epoch, phase.mode), observer.on_best, verbose,
            until=settings.pretrain_until or None if number < len(phases) - 1 else None, from_trained=bool(weights),
        )
        course = training.run()
        weights = course.weights
    return course


def needs_gold(phases: Sequence[TrainingSettings]) -> bool:
    return any(phase.mode in SEQUENCE_OBJECTIVES for phase in phases)


def gold_sequences(vocabulary: Vocabulary, train: Sequence[Instance], settings: TrainingSettings,
                   seed: int) -> GoldSequences:
    aligner = make_aligner(settings.aligner, settings.iterations, seed, settings.try_reverse)
    return GoldSequences(lambda instances: gold_actions(instances, vocabulary, aligner), train)


def make_objective(network: Network, settings: TrainingSettings, random: Random, gold: Optional[GoldSequences] = None):
    if settings.mode == "il":
        return ImitationLearning(network, settings, random)
    return SEQUENCE_OBJECTIVES[settings.mode](network, settings, random, gold)
