"""The transducer as an architecture; the architecture, inference and vocabulary that a model's settings select."""

from __future__ import annotations

import numpy as np

from il_morph.data.formats import Parts
from il_morph.model.architecture import AnyArchitecture, Architecture
from il_morph.model.inference import AnyInference, Inference, Weights
from il_morph.model.registry import ArchitectureKind
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary


class Transducer(ArchitectureKind):
    """The paper's transducer."""

    architecture, inference = Architecture, Inference


KIND = Transducer()


def architecture_of(vocabulary: Vocabulary) -> AnyArchitecture:
    """The architecture of a model with this vocabulary and its settings."""
    return vocabulary.settings.kind.architecture(vocabulary)


@np.errstate(all="ignore")  # a search reports what went wrong
def inference_of(weights: Weights, vocabulary: Vocabulary) -> AnyInference:
    return vocabulary.settings.kind.inference(weights, vocabulary)


def vocabulary_of(settings: ModelSettings, parts: Parts) -> Vocabulary:
    return Vocabulary.build(settings.kind.vocabulary_samples(parts), settings)
