"""The systems that the paper cites: what a training sample and an input take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from random import Random
from typing import Any

import numpy as np
from speed import CHUNK, ENGINES, Timed, cpu_seconds, take_turns

from il_morph.cited.gru.kind import GruKind
from il_morph.cited.gru.learner import GruLearner
from il_morph.cited.nwfst import lattice_numba, lattice_numpy
from il_morph.cited.nwfst.learner import NwfstLearner
from il_morph.data.formats import Sample
from il_morph.engines.native import kernels_numba, kernels_numpy
from il_morph.model.architectures import architecture_of, inference_of
from il_morph.model.registry import TRANSDUCER, kind_named
from il_morph.model.settings import PRESETS, ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import Learner
from il_morph.training.phases import gold_sequences, make_objective

SYSTEMS = {"HA": "ha-2017", "SOFT": "soft", "HACM": "hacm", "HAEM": "haem-2017", "NWFST": "nwfst",
           "MED": "med", "LEM": "lem"}
KERNELS_OF_NWFST = {"numba": lattice_numba, "numpy": lattice_numpy}
KERNELS_OF_UPDATES = {"numba": kernels_numba, "numpy": kernels_numpy}


def settings_of(preset: str, data_format: str) -> tuple[ModelSettings, TrainingSettings]:
    given: dict[str, Any] = {**kind_named(PRESETS[preset].get("architecture", TRANSDUCER)).fixed, **PRESETS[preset]}
    names = {field.name for field in fields(ModelSettings)}
    model = {name: value for name, value in given.items() if name in names}
    training = {name: value for name, value in given.items() if name not in names}
    return ModelSettings(**{**model, "format": data_format}), TrainingSettings(**{"aligner": "cls", **training})


def learners(vocabulary: Vocabulary, train: Sequence[Instance], settings: TrainingSettings) -> dict[str, Learner]:
    """By the name of what computes."""
    if vocabulary.settings.architecture == "nwfst":
        return {name: NwfstLearner(vocabulary, np.random.RandomState(1), kernels)
                for name, kernels in KERNELS_OF_NWFST.items()}
    objective = make_objective(vocabulary, settings, Random(1), gold_sequences(vocabulary, train, settings, seed=1))
    kind = vocabulary.settings.kind
    if isinstance(kind, GruKind):
        return {name: GruLearner(vocabulary, objective, settings, np.random.RandomState(1), kind.from_mean,
                                 kind.normalised, kernels) for name, kernels in KERNELS_OF_UPDATES.items()}
    return {"dynet": ENGINES["dynet"].learner(vocabulary, objective, settings)}


def training_and_decoding(preset: str, train: Sequence[Sample], dev: Sequence[Sample], data_format: str,
                          epochs: int) -> dict[str, float]:
    """ms per training sample after the first epoch, by engine, and ms per input of greedy search."""
    model, training = settings_of(preset, data_format)
    vocabulary = Vocabulary.build(train, model)
    instances = [vocabulary.instance(sample) for sample in train]
    batch = training.batch_size
    cells = {column: Timed(learner, batch) for column, learner in learners(vocabulary, instances, training).items()}
    for timed in cells.values():
        timed.learner.set_weights(architecture_of(vocabulary).draw(seed=1))
    take_turns(list(cells.values()), instances, range(1 + epochs), CHUNK - CHUNK % batch or batch)
    inference = inference_of(next(iter(cells.values())).learner.weights(), vocabulary)
    inputs = [vocabulary.instance(sample) for sample in dev]
    seconds, _ = cpu_seconds(lambda: inference.best_outputs(inputs, 1, 128))
    return {**{column: timed.later() for column, timed in cells.items()}, "greedy": 1000 * seconds / len(inputs)}
