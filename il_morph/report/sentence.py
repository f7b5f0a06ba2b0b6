"""Lemmatize a sentence with a model that was trained on a treebank."""
from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Optional

from il_morph.data.conllu import COLUMNS, FEATS, FORM, ID, LEMMA, NOTHING, UPOS, XPOS
from il_morph.data.dataformat import LEMMATIZE
from il_morph.data.formats import Treebank
from il_morph.errors import InputError
from il_morph.model.answers import FROM_LEXICON, Answers, chosen_rule
from il_morph.model.predictor import AnyPredictor, Prediction, Predictor
from il_morph.report.words import sample_for

CANDIDATES = 4
GIVEN, FROM_TRAINING, UNKNOWN = "given", "training", "unknown"  # where the features of a word come from


def lemmatizes_text(predictor: AnyPredictor) -> bool:
    """Was the model trained to lemmatize a treebank?"""
    return isinstance(predictor.format, Treebank) and predictor.format.task == LEMMATIZE


def lemmatized_sentence(predictor: Predictor, text: str,
                        given: Optional[Sequence[Optional[str]]] = None) -> dict[str, Any]:
    """The words of a sentence, each with features and lemmas. A word without given features gets its most frequent
    features in training."""
    forms = words_in(text)
    if not forms:
        raise InputError("there are no words: type a sentence")
    if given is None:
        given = [None] * len(forms)
    if len(given) != len(forms):
        raise InputError(f"there are features for {len(given)} words, but the sentence has {len(forms)}")
    features = [chosen_features(predictor, *each) for each in zip(forms, given, first_alone(forms))]
    samples = [sample_for(predictor, form, tag) for form, (tag, _) in zip(forms, features)]
    found = Answers(predictor, CANDIDATES, rule=chosen_rule(predictor, None)).ranked(samples, first_alone(forms))
    rows = [row(forms[index], *features[index], found[index]) for index in range(len(forms))]
    return {"words": rows, "conllu": as_conllu(predictor, text, rows)}


def first_alone(forms: Sequence[str]) -> list[bool]:
    return [index == 0 for index in range(len(forms))]


def words_in(text: str) -> list[str]:
    """The words of a text, split at blanks. Punctuation and symbols around a word become words of their own."""
    found: list[str] = []
    for chunk in text.split():
        inner = [index for index, character in enumerate(chunk) if unicodedata.category(character)[0] not in "PS"]
        start, end = (inner[0], inner[-1] + 1) if inner else (len(chunk), len(chunk))
        found += [*runs(chunk[:start]), *([chunk[start:end]] if inner else []), *runs(chunk[end:])]
    return found


def runs(marks: str) -> list[str]:
    """Split marks into runs of the same mark: `...` is one word, `."` two."""
    return ["".join(same) for _, same in groupby(marks)]


def chosen_features(predictor: Predictor, form: str, given: Optional[str], first: bool) -> tuple[str, str]:
    """The features of a word, and where they come from."""
    if predictor.format.separator is None:
        return "", GIVEN
    if given is not None:
        return given, GIVEN
    frequent = predictor.lexicon.usual_features(form, first) if predictor.lexicon else None
    return ("", UNKNOWN) if frequent is None else (frequent, FROM_TRAINING)


def row(form: str, features: str, source: str, found: Sequence[Prediction]) -> dict[str, Any]:
    return {"form": form, "features": features, "source": source, "known": found[0].actions == FROM_LEXICON,
            "lemmas": [[each.output, each.probability] for each in found]}


def as_conllu(predictor: Predictor, text: str, rows: Sequence[dict[str, Any]]) -> str:
    fmt = predictor.format
    assert isinstance(fmt, Treebank)
    lines = [f"# text = {' '.join(text.split())}"]
    for number, each in enumerate(rows, start=1):
        upos, _, feats = each["features"].partition("|")
        columns = {ID: str(number), FORM: each["form"], LEMMA: each["lemmas"][0][0],
                   **({XPOS: each["features"]} if fmt.source == "xpos" else {UPOS: upos, FEATS: feats})}
        lines.append("\t".join(columns.get(column) or NOTHING for column in range(len(COLUMNS))))
    return "\n".join(lines) + "\n\n"
