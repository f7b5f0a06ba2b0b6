"""A trained model, ready to use."""

from __future__ import annotations

from typing import Callable, Iterable, Sequence, Union

from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.files import PathLike
from il_morph.model.inference import Inference
from il_morph.model.modelfile import Model, load_model
from il_morph.model.search import BEAM_WIDTH, Hypothesis, decode, describe


def sample_of(item: Union[str, tuple[str, str]]) -> Sample:
    """The sample of an input without features, or of a pair of input and features."""
    pair = (item, "") if isinstance(item, str) else tuple(item) if isinstance(item, (tuple, list)) else ()
    if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise InputError(f"predict takes inputs and pairs (input, features), not {item!r}")
    return Sample(*pair, None)


class Predictor:
    """A trained model, ready to use: `il_morph.load("results/f.model").predict([("walk", "V;PST")])`."""

    def __init__(self, model: Model):
        self.vocabulary = model.vocabulary
        self.inference = Inference(model.weights, model.vocabulary)

    @classmethod
    def load(cls, path: PathLike) -> "Predictor":
        return cls(load_model(path))

    def predict(self, items: Iterable[Union[str, tuple[str, str]]], beam_width: int = BEAM_WIDTH) -> list[str]:
        """The output for each (input, features); a plain string has no features."""
        if isinstance(items, str):
            raise InputError(f"predict takes a list of inputs, not the string {items!r}: put it into a list")
        samples = [sample_of(item) for item in items]
        return [hypotheses[0].output for hypotheses in self.hypotheses(samples, beam_width)]

    def hypotheses(self, samples: Sequence[Sample], beam_width: int = BEAM_WIDTH, batch_size: int = 128,
                   progress: Callable[[Iterable], Iterable] = iter) -> list[list[Hypothesis]]:
        """All hypotheses of the beam for each sample, best first."""
        return decode(self.inference, [self.vocabulary.instance(sample) for sample in samples],
                      beam_width, batch_size, progress)

    def describe(self, sample: Sample, hypothesis: Hypothesis) -> str:
        return describe(hypothesis.actions, self.vocabulary.instance(sample), self.vocabulary)
