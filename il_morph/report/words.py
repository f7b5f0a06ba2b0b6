"""A word to ask a model about, checked against what the model can read."""
from __future__ import annotations

from typing import Optional

from il_morph.data.formats import Sample
from il_morph.data.samples import refuse_beyond_a_line, refuse_unusable
from il_morph.data.spelling import normalised
from il_morph.errors import InputError
from il_morph.model.predictor import Predictor
from il_morph.model.unknown import Unknown
from il_morph.model.vocabulary import Vocabulary
from il_morph.report.characters import shown

LONGEST = 1000  # characters: far more than 150 actions can write


def sample_for(predictor: Predictor, word: str, tag: str = "", gold: Optional[str] = None) -> Sample:
    """The sample of a word, in the Unicode form of the model; `gold` is the right output, if it is known."""
    fmt = predictor.vocabulary.format
    if tag and fmt.separator is None:
        raise InputError(f"this model reads no features: leave out {tag!r}")
    for what, text in (("input", word), ("features", tag), ("right output", gold or "")):
        if len(text) > LONGEST:
            raise InputError(f"the {what} has {len(text):,} characters: give at most {LONGEST:,}")
        refuse_beyond_a_line(what, text)
    sample = Sample(word, tag, gold)
    refuse_unusable(sample, f"the word {word!r}")
    sample = normalised(sample, predictor.vocabulary.settings.unicode)
    predictor.separators.check(sample, f"the word {word!r}")
    return sample


def remarks(vocabulary: Vocabulary, sample: Sample) -> list[str]:
    """Remarks on the characters, features and Unicode forms of a word that training did not show."""
    instance = vocabulary.instance(sample)
    unseen = [shown(instance.symbols.symbol(c)) for c in dict.fromkeys(instance.sample.input)
              if c not in vocabulary.characters]
    kind = "symbols" if vocabulary.settings.input_separator else "characters"
    found = [f"Training did not show {', '.join(unseen)}: the model can only {vocabulary.table.ways_with_unseen} such "
             f"{kind}." if unseen else None]
    if vocabulary.format.separator is not None:
        found.append(_about_features(vocabulary, sample))
    found.append(Unknown(vocabulary, [sample]).about_forms())
    return [remark for remark in found if remark]


def _about_features(vocabulary: Vocabulary, sample: Sample) -> Optional[str]:
    if not sample.tag:
        return "You gave no features, but this model was trained with features."
    unknown = unknown_features(vocabulary, sample)
    return f"Training did not show {unknown}." if unknown else None


def unknown_features(vocabulary: Vocabulary, sample: Sample) -> str:
    pos, features = vocabulary.split(sample.tag)
    unknown = [f"the part of speech {pos}"] if vocabulary.pos is not None and pos not in vocabulary.pos else []
    return ", ".join([*unknown, *(f"the feature {each or '(empty)'}" for each in dict.fromkeys(features)
                                  if each not in vocabulary.features)])
