"""A trained model, ready to use."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Callable, Optional, Union

from il_morph.data.formats import Sample
from il_morph.data.spelling import Letters, examples, normalise, normalised
from il_morph.errors import InputError
from il_morph.files import PathLike
from il_morph.model.architectures import inference_of
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


class Predictor:
    """A trained model, ready to use: `il_morph.load("results/f.model").predict([("walk", "V;PST")])`."""

    def __init__(self, model: Model):
        self.vocabulary = model.vocabulary
        self.inference = inference_of(model.weights, model.vocabulary)

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
