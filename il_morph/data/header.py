"""The header row: names of columns, in a dozen languages, and what they say about the columns."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from il_morph.data.dataformat import FEATURES, IGNORED, INPUT, OUTPUT
from il_morph.data.recognition import TAGS, kinds_of

INPUT_NAMES = {
    "input", "source", "src", "lemma", "base", "base form", "citation form", "dictionary form", "headword",
    "stem", "grundform", "nennform", "stichwort", "lemme", "forme de base", "entrée", "lema", "forma base", "entrada",
    "forma di base", "лемма", "начальная форма", "словарная форма", "лема", "sözlük biçimi", "madde başı",
    "kök", "forma podstawowa", "hasło", "grondvorm", "grundord", "grunnform", "perusmuoto", "sanakirjamuoto",
    "základní tvar", "heslo", "szótári alak", "词根", "原形", "見出し語", "기본형"}
OUTPUT_NAMES = {
    "output", "target", "tgt", "form", "inflected", "inflected form", "inflected_form", "inflection",
    "wordform", "word form", "word_form", "surface", "surface form", "flektierte form", "wortform", "forme",
    "forme fléchie", "forma", "forma flexionada", "forma flessa", "форма", "словоформа", "biçim",
    "çekimli biçim", "słowoforma", "vorm", "woordvorm", "verbogen vorm", "böjd form", "bøyd form", "bøjet form",
    "muoto", "taivutusmuoto", "tvar", "alak", "词形", "活用形", "활용형"}
EITHER_NAMES = {"word", "wort", "mot", "palabra", "palavra", "parola", "слово", "kelime", "sözcük", "słowo", "woord",
                "ord", "sana", "slovo", "szó"}
FEATURE_NAMES = {
    "features", "feature", "feats", "feat", "msd", "msds", "tag", "tags", "pos", "morphology", "unimorph", "bundle",
    "morphosyntactic description", "morphological features", "merkmale", "merkmal", "traits", "trait",
    "caractéristiques", "rasgos", "etiquetas", "traços", "tratti", "признаки", "граммемы", "тег", "теги", "özellikler",
    "etiket", "cechy", "znacznik", "kenmerken", "särdrag", "trekk", "piirteet", "rysy", "značka", "jegyek", "特征",
    "素性", "자질"}
OTHER_NAMES = {
    "", "id", "no", "nr", "number", "index", "line", "speaker", "informant", "consultant", "comment",
    "comments", "note", "notes", "translation", "meaning", "english", "source text", "date", "example", "sentence",
    "page", "ipa", "segmentation", "segments", "sprecher", "bemerkung", "übersetzung", "bedeutung",
    "locuteur", "traduction", "remarque", "hablante", "traducción", "nota", "notas", "falante", "tradução",
    "parlante", "traduzione", "номер", "говорящий", "перевод", "примечание", "konuşmacı", "çeviri", "not"}
GLOSSES = {"gloss", "glosses", "glosse", "glosa", "глосса"}  # translations or features


def header_of(rows: Sequence[Sequence[str]]) -> Optional[list[str]]:
    """The columns that the first row names, if it is a header row: it consists of known names and never recurs."""
    names = [field.strip().lower() for field in rows[0]]
    while len(names) > 2 and not names[-1]:
        names.pop()  # empty columns at the end have no name
    if len(rows) < 2 or len(names) < 2 or any(row[:len(names)] == list(rows[0]) for row in rows[1:]):
        return None
    tags = _features_under_a_gloss(names, rows)
    places = [index for index, name in enumerate(names) if index not in tags and name in OTHER_NAMES | GLOSSES]
    columns = _columns_named([FEATURES if index in tags else name for index, name in enumerate(names)
                              if index not in places])
    if columns is None:
        return None
    for place in places:
        columns.insert(place, IGNORED)
    return columns


def _features_under_a_gloss(names: Sequence[str], rows: Sequence[Sequence[str]]) -> set[int]:
    """The column of glosses if it has tags, and no other column is named for them."""
    glosses = [index for index, name in enumerate(names) if name in GLOSSES]
    if not glosses or FEATURE_NAMES.intersection(names):
        return set()
    kinds = kinds_of(rows[1:])
    return {index for index in glosses if index < len(kinds) and kinds[index].name == TAGS}


def _columns_named(names: Sequence[str]) -> Optional[list[str]]:
    """The columns that these names stand for; None if one of them is unknown, or they do not fit each other."""
    places = [index for index, each in enumerate(names) if each in FEATURE_NAMES]
    words = [each for each in names if each in INPUT_NAMES | OUTPUT_NAMES | EITHER_NAMES]
    if len(places) + len(words) != len(names) or len(names) < 2 or len(words) not in (1, 2):
        return None
    if len(words) == 2 and any(set(words) <= same for same in (INPUT_NAMES, OUTPUT_NAMES)):
        return None
    is_reverse = words[0] in OUTPUT_NAMES and words[-1] in INPUT_NAMES and (places or words != ["form", "lemma"])
    return columns_with([OUTPUT, INPUT] if is_reverse else [INPUT, OUTPUT][:len(words)], places)


def column_named(name: str) -> str:
    """The column that a name stands for; a name that is unknown, or may stand for two, stays as it is."""
    names = {INPUT: INPUT_NAMES, OUTPUT: OUTPUT_NAMES, FEATURES: FEATURE_NAMES}
    return next((column for column, known in names.items() if name.strip().lower() in known), name)


def columns_with(words: Sequence[str], places: Sequence[int]) -> list[str]:
    """The columns of words, with features inserted at these places."""
    columns = list(words)
    for place in places:
        columns.insert(place, FEATURES)
    return columns
