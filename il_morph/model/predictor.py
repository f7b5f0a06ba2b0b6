"""A trained model, ready to use."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Callable, Optional, Union

from il_morph.data.formats import Sample
from il_morph.data.spelling import Letters, examples, normalise, normalised
from il_morph.errors import InputError
from il_morph.files import PathLike
from il_morph.model.inference import Inference
from il_morph.model.modelfile import Model, load_model
from il_morph.model.search import BEAM_WIDTH, Hypothesis, decode, describe
from il_morph.model.vocabulary import Vocabulary

log = logging.getLogger(__name__)


def sample_of(item: Union[str, tuple[str, str]]) -> Sample:
    """The sample of an input without features, or of a pair of input and features."""
    pair = (item, "") if isinstance(item, str) else tuple(item) if isinstance(item, (tuple, list)) else ()
    if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise InputError(f"predict takes inputs and pairs (input, features), not {item!r}")
    return Sample(*pair, None)


def warning_about_features(vocabulary: Vocabulary, samples: Sequence[Sample]) -> Optional[str]:
    """How many samples have a part of speech or features that training did not show, and which."""
    unknown: Counter = Counter()
    affected = 0
    for sample in samples:
        pos, features = vocabulary.split(sample.tag)
        found = [feature for feature in dict.fromkeys(features) if feature not in vocabulary.features]
        if vocabulary.pos is not None and pos not in vocabulary.pos:
            found.insert(0, f"part of speech {pos}" if pos else "no part of speech")
        unknown.update(found)
        affected += bool(found)
    if not affected:
        return None
    counted = [f"{feature} ({number:,})" for feature, number in unknown.most_common()]
    return (f"{affected:,} of {len(samples):,} inputs have features or parts of speech that the model does not know "
            f"and leaves out: {examples(counted, 5)}")


def warning_about_forms(vocabulary: Vocabulary, samples: Sequence[Sample]) -> Optional[str]:
    """Letters that the model knows in their other Unicode form alone."""
    letters, known = Letters.of("\n".join(sample.input for sample in samples)), vocabulary.characters
    other = [letter for letter in letters.decomposed if letter in known and normalise(letter, "nfd")[1:] not in known]
    composed = [letter for letter in letters.composed
                if letter not in known and all(part in known for part in normalise(letter, "nfd"))]
    if not other and not composed:
        return None
    return (f"the model was trained on {examples(other or composed)} in another Unicode form: "
            f"--unicode={'nfc' if other else 'nfd'} normalises the inputs")


@dataclass(frozen=True)
class Form:
    """A cell of a paradigm; `count` is how often training showed its features."""

    features: str
    output: str
    probability: float
    count: int


class Predictor:
    """A trained model, ready to use: `il_morph.load("results/f.model").predict([("walk", "V;PST")])`."""

    def __init__(self, model: Model):
        self.model, self.vocabulary = model, model.vocabulary
        self.inference = Inference(model.weights, model.vocabulary)

    def __reduce__(self) -> tuple:
        """A copy arranges the weights anew."""
        return Predictor, (self.model,)

    @classmethod
    def load(cls, path: PathLike) -> Predictor:
        return cls(load_model(path))

    def predict(self, items: Iterable[Union[str, tuple[str, str]]], beam_width: int = BEAM_WIDTH) -> list[str]:
        """The output for each (input, features); a plain string has no features."""
        if isinstance(items, str):
            raise InputError(f"predict takes a list of inputs, not the string {items!r}: put it into a list")
        samples = [normalised(sample_of(item), self.vocabulary.settings.unicode) for item in items]
        self.warn_of_unknown(samples)
        return [hypotheses[0].output for hypotheses in self.hypotheses(samples, beam_width)]

    def paradigm(self, lemma: str, pos: Optional[str] = None, beam_width: int = BEAM_WIDTH) -> list[Form]:
        """The output for each feature bundle of the training data, those of one part of speech if it is given."""
        bundles = self.bundles(pos)
        samples = [normalised(sample_of((lemma, tag)), self.vocabulary.settings.unicode) for tag in bundles]
        return [Form(tag, found[0].output, math.exp(found[0].log_probability), self.vocabulary.bundles[tag])
                for tag, found in zip(bundles, self.hypotheses(samples, beam_width))]

    def bundles(self, pos: Optional[str] = None) -> list[str]:
        """The feature bundles of the training data in alphabetical order, those of one part of speech if it is given."""
        known = sorted(self.vocabulary.bundles)
        if not known:
            raise InputError("the model has no features, so there is no paradigm"
                             if self.vocabulary.format.separator is None else "the model file does not keep the feature "
                             "bundles of its training data, as those of il-morph 1.0: train the model again")
        chosen = [tag for tag in known if pos is None or pos in names_of_pos(self.vocabulary.format.features(tag)[0])]
        if not chosen:
            there = dict.fromkeys(self.vocabulary.format.features(tag)[0] for tag in known)
            raise InputError(f"the training data has no part of speech {pos!r}; there is: {', '.join(there)}")
        return chosen

    def warn_of_unknown(self, samples: Sequence[Sample]) -> None:
        """Features are left out and letters are guesses where training did not show them: worth a warning."""
        for about in (warning_about_features, warning_about_forms):
            warning = about(self.vocabulary, samples)
            if warning:
                log.warning("%s", warning)

    def hypotheses(self, samples: Sequence[Sample], beam_width: int = BEAM_WIDTH, batch_size: int = 128,
                   progress: Callable[[Iterable], Iterable] = iter) -> list[list[Hypothesis]]:
        """All hypotheses of the beam for each sample, best first."""
        return decode(self.inference, [self.vocabulary.instance(sample) for sample in samples],
                      beam_width, batch_size, progress)

    def describe(self, sample: Sample, hypothesis: Hypothesis) -> str:
        return describe(hypothesis.actions, self.vocabulary.instance(sample), self.vocabulary)


def names_of_pos(feature: str) -> tuple[str, str]:
    """`pos=V` is called V, too."""
    return feature, feature.split("=", 1)[-1]
