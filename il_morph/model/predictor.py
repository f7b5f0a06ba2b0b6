"""A trained model, ready to use."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Callable, Optional, Union

from il_morph.data.dataformat import FEATURES, INPUT, OUTPUT
from il_morph.data.formats import DataFormat, Sample
from il_morph.data.samples import refuse_beyond_a_line, refuse_unusable
from il_morph.data.spelling import normalised
from il_morph.data.symbols import Separators
from il_morph.data.tables import items_in
from il_morph.errors import InputError
from il_morph.files import PathLike
from il_morph.model.architectures import inference_of
from il_morph.model.lexicon import Lexicon
from il_morph.model.modelfile import Model, load_model
from il_morph.model.replies import Form, NBest, Paradigm, Prediction, Score
from il_morph.model.scoring import SCORING_WIDTH, log_sum, score_outputs
from il_morph.model.search import BEAM_WIDTH, Hypothesis, SearchModel, TooLarge, as_written, decode, describe
from il_morph.model.settings import MAX_BEAM_WIDTH
from il_morph.model.threads import one_thread
from il_morph.model.unknown import Unknown
from il_morph.model.vocabulary import Vocabulary
from il_morph.values import number as number_of

log = logging.getLogger(__name__)


Item = Union[str, tuple[str, str]]  # an input without features, or a pair of input and features
WIDEST = 256  # the widest beam tried to reach a share of the probability


def sample_of(item: Item) -> Sample:
    """The sample of an input without features, or of a pair of input and features."""
    pair = (item, "") if isinstance(item, str) else tuple(item) if isinstance(item, (tuple, list)) else ()
    if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise InputError(f"predict takes inputs and pairs (input, features), not {item!r}")
    return usable(Sample(*pair, None), repr(item))


def scored_sample(item: tuple[str, str, str]) -> Sample:
    if not isinstance(item, (tuple, list)) or len(item) != 3 or not all(isinstance(part, str) for part in item):
        raise InputError(f"score takes triples (input, features, output), not {item!r}")
    return usable(Sample(*item), repr(item))


def usable(sample: Sample, where: str) -> Sample:
    """The sample, or an InputError if it could not be a line of data."""
    refuse_unusable(sample, where)
    for name, text in (("input", sample.input), ("features", sample.tag), ("output", sample.output or "")):
        refuse_beyond_a_line(name, text)
    return sample


def refuse_width(name: str, value: int, low: int) -> None:
    """Raise an InputError unless a value given in Python under this name is within the bounds of the command line."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= value <= MAX_BEAM_WIDTH:
        raise InputError(f"{name} takes a whole number from {low} to {MAX_BEAM_WIDTH}, not {value!r}")


class AnyPredictor:
    """The interface of a trained model, or of several together.

        m = il_morph.load("results")
        m.predict([("walk", "V;PST")])             # ["walked"]
        m.nbest([("walk", "V;PST")], n=3)          # [[Prediction(output="walked", …), …]]
        m.paradigm("walk", pos="V")                # [Form(features="V;PST", output="walked", …), …]
    """

    @property
    def vocabularies(self) -> Sequence[Vocabulary]:
        """The vocabulary of each model; all read the same data."""
        raise TypeError("a predictor is one model, or several")

    def ranked(self, samples: Sequence[Sample], number: Optional[int] = 1, beam_width: int = BEAM_WIDTH,
               mass: Optional[float] = None, batch_size: int = 128) -> list[list[Prediction]]:
        """The best predictions for each sample, at most `number` (None: all), best first.

        With `mass`, the outputs are distinct, as many as it takes to reach this share of the probability.
        """
        raise TypeError("a predictor is one model, or several")

    @property
    def lexicon(self) -> Optional[Lexicon]:
        """The words of the training data, if the models keep them."""
        raise TypeError("a predictor is one model, or several")

    @property
    def format(self) -> DataFormat:
        """The format of the data that the models were trained on."""
        return self.vocabularies[0].format

    @property
    def unicode(self) -> str:
        """The Unicode form to which inputs are normalised."""
        return self.vocabularies[0].settings.unicode

    @property
    def separators(self) -> Separators:
        """The separators between the symbols of inputs and of outputs."""
        return self.vocabularies[0].settings.separators

    def predict(self, items: Iterable[Item], beam_width: int = BEAM_WIDTH) -> list[str]:
        """The output for each (input, features); a plain string has no features. A beam of 0 is greedy search."""
        refuse_width("beam_width", beam_width, 0)
        return [found[0].output for found in self.ranked(self.samples_of(items), 1, beam_width)]

    def nbest(self, items: Iterable[Item], n: Optional[int] = None, beam_width: Optional[int] = None,
              mass: Optional[float] = None) -> NBest:
        """The n best predictions for each (input, features), best first: output, probability and actions.

        `n` defaults to 4 unless `mass` is given; the default beam is at least as wide. Two predictions may have the
        same output, written by different actions. With `mass` (for example 0.95), the outputs are distinct, as many as
        it takes to reach that share of the probability, summed over the action sequences that the beam has found.
        """
        if mass is not None and not 0 < number_of("mass", mass) <= 1:
            raise InputError(f"mass takes a share of the probability between 0 and 1, not {mass}")
        if n is not None:
            refuse_width("n", n, 1)
        number = n or (BEAM_WIDTH if mass is None else None)
        width = max(BEAM_WIDTH, number or 0) if beam_width is None else beam_width
        refuse_width("beam_width", width, 0)
        samples = self.samples_of(items)
        return NBest(samples, self.ranked(samples, number, width, mass))

    def score(self, items: Iterable[tuple[str, str, str]], beam_width: int = SCORING_WIDTH) -> list[Score]:
        """The log probability of given outputs, for (input, features, output)."""
        raise TypeError("a predictor is one model, or several")

    def paradigm(self, lemma: str, pos: Optional[str] = None, beam_width: int = BEAM_WIDTH) -> Paradigm:
        """The output for each feature bundle of the training data; only those of one part of speech if it is given."""
        refuse_width("beam_width", beam_width, 0)
        bundles = self.bundles(pos)
        samples = [self._readable(sample_of((lemma, tag))) for tag in bundles]
        return Paradigm(Form(tag, found[0].output, found[0].probability, count)
                        for (tag, count), found in zip(bundles.items(), self.ranked(samples, 1, beam_width)))

    def bundles(self, pos: Optional[str] = None) -> dict[str, int]:
        """The feature bundles of the training data with their counts, in alphabetical order; only those of one part of
        speech if it is given."""
        known = dict(sorted(self.vocabularies[0].bundles.items()))
        if not known:
            raise InputError("the model has no features, so there is no paradigm" if self.format.separator is None
                             else "the model file does not keep the feature bundles of its training data, as those "
                             "of il-morph 1.0 do not: train the model again")
        chosen = {tag: count for tag, count in known.items()
                  if pos is None or pos in names_of_pos(self.format.features(tag)[0])}
        if not chosen:
            there = dict.fromkeys(self.format.features(tag)[0] for tag in known)
            raise InputError(f"the training data has no part of speech {pos!r}; there is: {', '.join(there)}")
        return chosen

    def warnings(self, blocks: Iterable[Sequence[Sample]], characters: bool = True) -> list[str]:
        """Warnings about features and letters in these blocks of samples that training did not show, one of each kind.

        Models of different data, such as those of folds, may know different features and letters.
        """
        unknown = [Unknown(vocabulary) for vocabulary in self.vocabularies]
        for samples in blocks:
            for each in unknown:
                each.add(samples)
        kinds = [[*dict.fromkeys(same)] for same in zip(*(each.warnings(characters) for each in unknown))]
        return [next(filter(None, kind)) + (" (according to one of the models; others differ)" if len(kind) > 1 else "")
                for kind in kinds if any(kind)]

    def samples_of(self, items: Iterable[Item]) -> list[Sample]:
        """The samples for items given in Python, as the models read them. Warn about unknown features and letters."""
        if isinstance(items, str):
            raise InputError(f"predict takes a list of inputs, not the string {items!r}: put it into a list")
        listed = items_in("predict", items, (INPUT, FEATURES), self.format.separator is not None,
                          self.format.separator or "")
        self._refuse_pair(listed, isinstance(items, tuple))
        samples = [self._readable(sample_of(item)) for item in listed]
        for warning in self.warnings([samples]):
            log.warning("%s", warning)
        return samples

    def _readable(self, sample: Sample) -> Sample:
        """The sample in the Unicode form of the models, after a check that it consists of symbols."""
        sample = normalised(sample, self.unicode)
        self.separators.check(sample, repr(sample.input))
        return sample

    def _refuse_pair(self, items: list, is_tuple: bool) -> None:
        """Refuse a pair that is not in a list: it looks like two inputs without features."""
        if (len(items) == 2 and all(isinstance(item, str) for item in items) and self.format.separator is not None
                and (is_tuple or items[1] in self.vocabularies[0].bundles)):
            raise InputError(f"predict takes a list of pairs: write [({items[0]!r}, {items[1]!r})]")


class Predictor(AnyPredictor):
    """A trained model, ready to use: `il_morph.load("results/f.model").predict([("walk", "V;PST")])`."""

    def __init__(self, model: Model, name: str = "a model"):
        self.model, self.name, self.vocabulary = model, name, model.vocabulary
        self.inference: SearchModel = inference_of(model.weights, model.vocabulary)

    def __reduce__(self) -> tuple:
        """A copy keeps the model only and arranges the weights anew."""
        return Predictor, (self.model, self.name)

    @classmethod
    def load(cls, path: PathLike) -> Predictor:
        return cls(load_model(path), str(path))

    @property
    def vocabularies(self) -> list[Vocabulary]:
        return [self.vocabulary]

    @contextmanager
    def computing(self) -> Iterator[None]:
        """A context for computing with one thread, and with errors that name the model."""
        try:
            with one_thread():
                yield
        except TooLarge as error:
            raise TooLarge(error.instance, self.name) from None

    @property
    def lexicon(self) -> Optional[Lexicon]:
        return self.model.lexicon

    def ranked(self, samples: Sequence[Sample], number: Optional[int] = 1, beam_width: int = BEAM_WIDTH,
               mass: Optional[float] = None, batch_size: int = 128) -> list[list[Prediction]]:
        if self.inference.weighs_paths and (mass is not None or number != 1):
            raise InputError("the model finds one output for each input, the best path of its lattice: ask for no "
                             "more, nor for a share of the probability")
        found = self.hypotheses(samples, beam_width, batch_size)
        if mass is None:
            return [self._predictions(sample, hypotheses[:number]) for sample, hypotheses in zip(samples, found)]
        ranked = [merged(self._predictions(sample, hypotheses)) for sample, hypotheses in zip(samples, found)]
        short = [n for n, predictions in enumerate(ranked) if share_of(predictions) < mass]
        if short and beam_width < WIDEST:
            twice = min(2 * max(beam_width, 1), WIDEST)
            for n, wider in zip(short, self.ranked([samples[n] for n in short], None, twice, mass, batch_size)):
                ranked[n] = wider
        elif short:
            log.warning("the outputs of %d inputs reach less than %g of the probability with a beam of %d", len(short),
                        mass, beam_width)
        return [up_to_mass(predictions, mass)[:number] for predictions in ranked]

    def hypotheses(self, samples: Sequence[Sample], beam_width: int = BEAM_WIDTH, batch_size: int = 128,
                   progress: Callable[[Iterable], Iterable] = iter) -> list[list[Hypothesis]]:
        """All hypotheses of the beam for each sample, best first."""
        instances = [self.vocabulary.instance(sample) for sample in samples]
        with self.computing():
            found = decode(self.inference, instances, beam_width, batch_size, progress)
        return as_written(found, instances)

    def score(self, items: Iterable[tuple[str, str, str]], beam_width: int = SCORING_WIDTH) -> list[Score]:
        refuse_width("beam_width", beam_width, 1)
        listed = items_in("score", items, (INPUT, FEATURES, OUTPUT), self.format.separator is not None,
                          self.format.separator or "")
        return self.scores([self._readable(scored_sample(item)) for item in listed], beam_width)

    def scores(self, samples: Sequence[Sample], beam_width: int = SCORING_WIDTH) -> list[Score]:
        """The scores of samples with outputs."""
        instances = [self.vocabulary.instance(sample) for sample in samples]
        with self.computing():
            scored = score_outputs(self.inference, instances, [each.sample.target for each in instances], beam_width)
        return [Score(score.best, score.total, describe(score.actions, instance, self.vocabulary))
                for instance, score in zip(instances, scored)]

    def describe(self, sample: Sample, hypothesis: Hypothesis) -> str:
        return describe(hypothesis.actions, self.vocabulary.instance(sample), self.vocabulary)

    def _predictions(self, sample: Sample, hypotheses: Sequence[Hypothesis]) -> list[Prediction]:
        return [Prediction(each.output, each.log_probability, self.describe(sample, each)) for each in hypotheses]

    def __repr__(self) -> str:
        vocabulary, training = self.vocabulary, self.model.training
        how = "".join(f", {name} {training[name]}" for name in ("mode", "seed") if name in training)
        features = f", {len(vocabulary.features) - 1} features, {len(vocabulary.bundles)} bundles"
        return (f"<{self.name}: {vocabulary.system.name} transducer{how}; reads {vocabulary.format.described(3)}; "
                f"{len(vocabulary.letters)} {'symbols' if vocabulary.settings.separators else 'characters'}"
                f"{features if vocabulary.format.separator else ''}>")


def names_of_pos(feature: str) -> tuple[str, str]:
    """The names of a part of speech: `pos=V` is also called V."""
    return feature, feature.split("=", 1)[-1]


def merged(predictions: Sequence[Prediction]) -> list[Prediction]:
    """Each output once, with its best actions and the summed probability of its predictions, best first."""
    by_output: dict[str, list[Prediction]] = {}
    for prediction in predictions:
        by_output.setdefault(prediction.output, []).append(prediction)
    together = [Prediction(output, log_sum([each.log_probability for each in same]), same[0].actions)
                for output, same in by_output.items()]
    return sorted(together, key=lambda prediction: -prediction.log_probability)


def share_of(predictions: Sequence[Prediction]) -> float:
    return math.fsum(prediction.probability for prediction in predictions)


def up_to_mass(predictions: Sequence[Prediction], mass: float) -> list[Prediction]:
    """As many predictions as it takes to reach this share of the probability."""
    taken: list[Prediction] = []
    for prediction in predictions:
        if share_of(taken) >= mass - 1e-9:
            break
        taken.append(prediction)
    return taken
