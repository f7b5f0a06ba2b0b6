"""Refuses data unlike the training data of a model: identifiers in place of words, or only unknown features."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from il_morph.data.formats import Data, Sample
from il_morph.data.reading import OTHER_SEPARATORS
from il_morph.data.recognition import SEPARATORS
from il_morph.errors import InputError
from il_morph.model.predictor import AnyPredictor
from il_morph.model.vocabulary import Vocabulary

ADVICE = ("if that is another column, give the file a header row, as in ID lemma features, or name the columns, as in "
          "--columns=-,input,features")


def refuse_other_data(data: Data, predictor: AnyPredictor, columns_named: bool = False) -> None:
    """Refuse inputs or outputs that are numbers, and features that are all unknown, if training had nothing similar;
    and a likely header row, unless the user named the columns.

    CoNLL-U is always accepted, because its columns are named.
    """
    if data.block is not None:
        return
    vocabularies = predictor.vocabularies
    letters = "".join(letter for vocabulary in vocabularies for letter in vocabulary.letters)
    for what, words in (("inputs", [sample.input for sample in data.samples]),
                        ("outputs", [sample.output or "" for sample in data.samples])):
        first = first_number(words)
        if first is not None and not any(map(str.isdecimal, letters)):
            have = "are" if all(map(str.isdecimal, filter(None, words))) else "have"
            raise InputError(f"{data.rows.where(first)}: the {what} {have} numbers ({words[first]}), which the model "
                             f"has never seen; {ADVICE}")
    tags = {sample.tag for sample in data.samples}
    if len(data.samples) > 1 and not any(vocabulary.knows_some(tag) for vocabulary in vocabularies for tag in tags):
        raise InputError(f"{data.rows.where(0)}: the model knows no feature of any line ({data.samples[0].tag!r}); "
                         f"{advice_on_separators(data.samples[0].tag, vocabularies[0]) or ADVICE}")
    if not columns_named:
        refuse_unknown_header(data, vocabularies)


def advice_on_separators(tag: str, vocabulary: Vocabulary) -> Optional[str]:
    """What to do about features that another character separates than in training."""
    own = vocabulary.format.separator or ""
    odd = next((sign for sign in (*SEPARATORS, *OTHER_SEPARATORS) if sign in tag
                and vocabulary.knows_some(tag.replace(sign, own))), None)
    return f'the model\'s features are separated by "{own}": write that instead of "{odd}"' if odd else None


def first_number(words: Sequence[str]) -> Optional[int]:
    """The first word with digits, if most have some, as identifiers and dates do; a single word must be a number."""
    numbered = [index for index, word in enumerate(words) if any(map(str.isdecimal, word))]
    if len(words) == 1:
        return 0 if words[0].isdecimal() else None
    return numbered[0] if 2 * len(numbered) > len([*filter(None, words)]) else None


def refuse_unknown_header(data: Data, vocabularies: Sequence[Vocabulary]) -> None:
    """Refuse a first row that may be a header: its features are unknown, and those of all other rows are known."""
    def is_known(sample: Sample) -> bool:
        return any(vocabulary.knows_some(sample.tag) for vocabulary in vocabularies)

    first, *others = data.samples
    if data.rows.header is None and len(others) > 1 and not is_known(first) and all(map(is_known, others)):
        listed = ",".join(data.format.columns_of(data.rows.rows[0], data.rows.where(0)))
        raise InputError(f"{data.rows.where(0)}: {' | '.join(data.rows.rows[0])}: is this a header row? The model "
                         f"knows the features of all other lines. Remove it, or call its columns {listed}; if it is "
                         f"data, say so with --columns={listed}")
