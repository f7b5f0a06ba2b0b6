"""The header row: names of columns, in a dozen languages, and what they say about the columns."""
from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Optional

from il_morph.data.dataformat import FEATURES, IGNORED, INPUT, OUTPUT
from il_morph.data.recognition import EMPTY, TAGS, WORDS, kinds_of

LEMMA_NAMES = {"lemma", "lemme", "lema", "лемма", "лема", "lemat", "lemmă", "λήμμα"}  # hardly ever words of the data
INPUT_NAMES = LEMMA_NAMES | {
    "input", "source", "src", "base", "base form", "citation form", "dictionary form", "headword", "stem", "root",
    "infinitive", "grundform", "nennform", "stichwort", "forme de base", "entrée", "forma base", "entrada",
    "forma di base", "начальная форма", "словарная форма", "sözlük biçimi", "madde başı", "kök", "forma podstawowa",
    "hasło", "grondvorm", "grundord", "grunnform", "perusmuoto", "sanakirjamuoto", "základní tvar", "heslo",
    "szótári alak", "szótő", "الجذر", "ערך", "词根", "词元", "原形", "見出し語", "기본형"}
OUTPUT_NAMES = {
    "output", "target", "tgt", "form", "inflected", "inflected form", "inflection", "wordform", "word form", "surface",
    "surface form", "flektierte form", "flexionsform", "vollform", "wortform", "forme", "forme fléchie", "flexion",
    "forma", "forma flexionada", "flexión", "flexão", "forma flessa", "flessione", "форма", "словоформа", "biçim",
    "çekimli biçim", "çekim", "słowoforma", "vorm", "woordvorm", "verbogen vorm", "böjd form", "böjningsform",
    "bøyd form", "bøyningsform", "bøjet form", "bøjningsform", "muoto", "taivutusmuoto", "tvar", "alak", "szóalak",
    "oblik", "oblika", "formă", "τύπος", "الصيغة", "צורה", "词形", "活用形", "활용형"}
EITHER_NAMES = {"word", "wort", "mot", "palabra", "palavra", "parola", "слово", "kelime", "sözcük", "słowo", "woord",
                "ord", "sana", "slovo", "szó"}
FEATURE_NAMES = {
    "features", "feature", "feats", "feat", "msd", "msds", "tag", "tags", "pos", "morphology", "unimorph", "bundle",
    "unimorph tag", "morphosyntactic description", "morphological features", "category", "case", "tense", "person",
    "gender", "mood", "aspect", "voice", "merkmale", "merkmal", "kategorie", "traits", "trait", "caractéristiques",
    "étiquette", "étiquettes", "rasgos", "etiqueta", "etiquetas", "traços", "tratti", "признаки", "граммемы",
    "грамматические признаки", "тег", "теги", "ознаки", "özellikler", "etiket", "cechy", "znacznik", "kenmerken",
    "särdrag", "taggar", "trekk", "piirteet", "rysy", "značka", "jegyek", "címke", "oznaka", "oznake", "trăsături",
    "χαρακτηριστικά", "السمات", "תכונות", "特征", "素性", "자질",
    "part of speech", "word class", "wortart", "kasus", "tempus", "modus", "genus", "numerus", "temps", "mode", "genre",
    "personne", "tiempo", "modo", "género", "gênero", "persona", "pessoa", "caso", "tempo", "genere", "часть речи",
    "падеж", "время", "лицо", "род", "наклонение", "zaman", "kişi", "durum", "sözcük türü"}
NUMBERS = {"number", "nombre", "número", "numero", "число", "sayı"}  # singular and plural, or numbers of lines
FEATURE_NAMES |= NUMBERS
OTHER_NAMES = {
    "", "id", "no", "nr", "index", "line", "speaker", "informant", "consultant", "comment",
    "comments", "note", "notes", "translation", "meaning", "english", "source text", "date", "example", "sentence",
    "page", "ipa", "segmentation", "segments", "sprecher", "datum", "bemerkung", "übersetzung", "bedeutung",
    "locuteur", "traduction", "remarque", "hablante", "traducción", "nota", "notas", "falante", "tradução",
    "parlante", "traduzione", "номер", "говорящий", "перевод", "примечание", "konuşmacı", "çeviri", "not"}
GLOSSES = {"gloss", "glosses", "glosse", "glosa", "глосса"}  # translations or features
NAMED = INPUT_NAMES | OUTPUT_NAMES | EITHER_NAMES | FEATURE_NAMES


def header_of(rows: Sequence[Sequence[str]]) -> Optional[list[str]]:
    """The columns that the first row names, if it is a header row: it has known names and never recurs. Columns with
    other names are ignored; if one of them may be features, the row does not count as a header."""
    names = [name_in(field) for field in rows[0]]
    while len(names) > 2 and not names[-1]:
        names.pop()  # empty columns at the end have no name
    if len(names) < 2 or len(names) + len(rows) < 4 or any(row[:len(names)] == list(rows[0]) for row in rows[1:]):
        return None  # two words alone are data
    names = [_with_numbers(name, [row[place] for row in rows[1:] if place < len(row)])
             for place, name in enumerate(names)]
    tags = _features_under_a_gloss(names, rows)
    places = [index for index, name in enumerate(names) if index not in tags and name not in NAMED]
    fewest = 1 if any(names[index] for index in places) else 2  # ID and word make a header, too
    columns = _columns_named([FEATURES if index in tags else name for index, name in enumerate(names)
                              if index not in places], fewest)
    if columns is None or not _may_be_ignored([index for index in places if names[index] not in OTHER_NAMES | GLOSSES],
                                              names, rows):
        return None
    if FEATURES not in columns and _places_of_tags([index for index in places if names[index] in OTHER_NAMES], rows):
        return None
    for place in places:
        columns.insert(place, IGNORED)
    return columns


def name_in(field: str) -> str:
    """The name in a field: `Inflected_Form` and `inflected-form` are the same."""
    return unicodedata.normalize("NFC", field.strip().lower()).replace("_", " ").replace("-", " ")


def _with_numbers(name: str, fields: Sequence[str]) -> str:
    """A column called `number` holds singular and plural, or numbers of lines."""
    return "no" if name in NUMBERS and fields and all(map(str.isdecimal, filter(None, fields))) else name


def _may_be_ignored(places: Sequence[int], names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Can these columns with unknown names be ignored? Other columns must be named as the input and as something else,
    and these must not look like features."""
    if places and (INPUT_NAMES.isdisjoint(names) or (OUTPUT_NAMES | FEATURE_NAMES).isdisjoint(names)):
        return False
    kinds = dict(enumerate(kinds_of(rows[1:])))
    return all(place in kinds and kinds[place].name in (WORDS, EMPTY) and not kinds[place].few for place in places)


def _features_under_a_gloss(names: Sequence[str], rows: Sequence[Sequence[str]]) -> set[int]:
    """The columns of glosses that hold tags, unless another column is named as features."""
    glosses = [index for index, name in enumerate(names) if name in GLOSSES]
    if not glosses or FEATURE_NAMES.intersection(names):
        return set()
    return _places_of_tags(glosses, rows)


def _places_of_tags(places: Sequence[int], rows: Sequence[Sequence[str]]) -> set[int]:
    """Those of the columns in these places that hold tags."""
    kinds = kinds_of(rows[1:])
    return {index for index in places if index < len(kinds) and kinds[index].name == TAGS}


def _columns_named(names: Sequence[str], fewest: int) -> Optional[list[str]]:
    """The columns that these names stand for; None if a name is unknown or the names do not fit together."""
    places = [index for index, each in enumerate(names) if each in FEATURE_NAMES]
    words = [each for each in names if each in INPUT_NAMES | OUTPUT_NAMES | EITHER_NAMES]
    if len(places) + len(words) != len(names) or len(names) < fewest or len(words) not in (1, 2):
        return None
    if len(words) == 2 and any(set(words) <= same for same in (INPUT_NAMES, OUTPUT_NAMES)):
        return None
    is_reverse = words[0] in OUTPUT_NAMES and words[-1] in INPUT_NAMES and (places or words != ["form", "lemma"])
    return columns_with([OUTPUT, INPUT] if is_reverse else [INPUT, OUTPUT][:len(words)], places)


def column_named(name: str) -> str:
    """The column that a name stands for; an unknown or ambiguous name stays as it is."""
    names = {INPUT: INPUT_NAMES, OUTPUT: OUTPUT_NAMES, FEATURES: FEATURE_NAMES, IGNORED: OTHER_NAMES - {""}}
    return next((column for column, known in names.items() if name_in(name) in known), name)


def names_columns(row: Sequence[str], columns: Sequence[str], fewest: int) -> bool:
    """Do at least `fewest` fields of the row name the column in their place?"""
    return sum(column_named(field) == column for field, column in zip(row, columns) if column != IGNORED) >= fewest


def columns_with(words: Sequence[str], places: Sequence[int]) -> list[str]:
    """The columns of words, with features inserted at these places."""
    columns = list(words)
    for place in places:
        columns.insert(place, FEATURES)
    return columns
