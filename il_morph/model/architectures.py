"""The architectures by name: what describes their weights, and what computes with them in NumPy.

The first is the paper's transducer, the others are those of systems that the paper cites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from il_morph.cited.hacm.inference import HacmArchitecture, HacmInference
from il_morph.cited.haem2017.inference import HaemArchitecture, HaemInference
from il_morph.cited.nwfst.inference import LETTERS, NwfstArchitecture, NwfstInference
from il_morph.cited.soft.inference import SoftArchitecture, SoftInference
from il_morph.data.formats import Parts, Sample
from il_morph.model.architecture import AnyArchitecture, Architecture
from il_morph.model.inference import AnyInference, Inference, Weights
from il_morph.model.settings import HACM, HAEM_2017, NWFST, SOFT, TRANSDUCER, ModelSettings
from il_morph.model.vocabulary import Vocabulary


@dataclass(frozen=True)
class Kind:
    """Network and inference of an architecture."""

    architecture: Callable[[Vocabulary], AnyArchitecture]
    inference: Callable[[Weights, Vocabulary], AnyInference]


KINDS = {
    TRANSDUCER: Kind(Architecture, Inference),
    SOFT: Kind(SoftArchitecture, SoftInference),
    HACM: Kind(HacmArchitecture, HacmInference),
    HAEM_2017: Kind(HaemArchitecture, HaemInference),
    NWFST: Kind(NwfstArchitecture, NwfstInference),
}


def architecture_of(vocabulary: Vocabulary) -> AnyArchitecture:
    """The weights of a model with this vocabulary and its settings."""
    return KINDS[vocabulary.settings.architecture].architecture(vocabulary)


def inference_of(weights: Weights, vocabulary: Vocabulary) -> AnyInference:
    return KINDS[vocabulary.settings.architecture].inference(weights, vocabulary)


def vocabulary_of(settings: ModelSettings, parts: Parts) -> Vocabulary:
    """The symbols of the training data. NWFST knows the characters of all its data, and a–z."""
    letters = Sample(settings.input_separator.join(LETTERS), "", None)
    others = [*parts.dev, *(parts.test or []), letters] if settings.architecture == NWFST else []
    return Vocabulary.build([*parts.train, *others], settings)
