"""Refuses data unlike the training data of a model: identifiers in place of words, or only unknown features."""
from __future__ import annotations

from collections.abc import Sequence

from il_morph.data.formats import Data
from il_morph.errors import InputError
from il_morph.model.predictor import AnyPredictor

ADVICE = ("if that is another column, give the file a header row, as in ID lemma features, or name the columns, as in "
          "--columns=-,input,features")


def refuse_other_data(data: Data, predictor: AnyPredictor) -> None:
    """Refuse inputs or outputs that are numbers, and features that are all unknown, if training had nothing similar.

    CoNLL-U is always accepted, because its columns are named.
    """
    if data.block is not None:
        return
    vocabularies = predictor.vocabularies
    letters = "".join(letter for vocabulary in vocabularies for letter in vocabulary.letters)
    for what, words in (("inputs", [sample.input for sample in data.samples]),
                        ("outputs", [sample.output or "" for sample in data.samples])):
        if are_numbered(words) and not any(map(str.isdecimal, letters)):
            have = "are" if all(map(str.isdecimal, words)) else "have"
            raise InputError(f"{data.rows.where(0)}: the {what} {have} numbers ({words[0]}), which the model has never "
                             f"seen; {ADVICE}")
    tags = {sample.tag for sample in data.samples}
    if len(data.samples) > 1 and not any(vocabulary.knows_some(tag) for vocabulary in vocabularies for tag in tags):
        raise InputError(f"{data.rows.where(0)}: the model knows no feature of any line ({data.samples[0].tag!r}); "
                         f"{ADVICE}")


def are_numbered(words: Sequence[str]) -> bool:
    """Whether a single word is a number, or all of several words contain digits, as identifiers and dates do."""
    if len(words) == 1:
        return words[0].isdecimal()
    return all(any(map(str.isdecimal, word)) for word in words)
