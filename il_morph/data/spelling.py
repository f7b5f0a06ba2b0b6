"""Unicode forms and blanks: il-morph warns about them and changes them only on request."""
from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Callable, Optional

from il_morph.data.samples import Sample

AS_IS = "as-is"
NFC, NFD, NFD_IN_NFC_OUT = "nfc", "nfd", "nfd-nfc"
FORMS = (AS_IS, NFC, NFD, NFD_IN_NFC_OUT)


def normalised(sample: Sample, form: str) -> Sample:
    """The sample in a Unicode form, its features included."""
    if form == AS_IS:
        return sample
    output = None if sample.output is None else normalise(sample.output, NFC if form == NFD_IN_NFC_OUT else form)
    return Sample(normalise(sample.input, form), normalise(sample.tag, form), output, sample.row)


def normalise(text: str, form: str) -> str:
    """An input or features in a Unicode form."""
    return text if form == AS_IS else unicodedata.normalize("NFC" if form == NFC else "NFD", text)


@dataclass
class Letters:
    """How often each letter with two spellings is written as one character, and how often as several."""

    composed: Counter = field(default_factory=Counter)
    decomposed: Counter = field(default_factory=Counter)

    @classmethod
    def of(cls, text: str) -> Letters:
        """Count the letters of a text under their composed forms."""
        letters = cls()
        if not unicodedata.is_normalized("NFD", text):
            letters.composed.update({character: number for character, number in Counter(text).items()
                                     if is_composed(character)})
        if not unicodedata.is_normalized("NFC", text):
            letters.decomposed.update(decomposed_letters(text))
        return letters

    def is_rare_in(self, text: str) -> bool:
        """Does the text have the rarer of the two spellings?"""
        decomposed = sum(self.decomposed.values()) <= sum(self.composed.values())
        return not unicodedata.is_normalized("NFC" if decomposed else "NFD", text)

    def spelled_otherwise(self, other: Letters) -> list[str]:
        """Letters that are written as one character here and as several there."""
        return sorted(self.composed.keys() & other.decomposed.keys())


def is_composed(character: str) -> bool:
    return unicodedata.is_normalized("NFC", character) and not unicodedata.is_normalized("NFD", character)


def decomposed_letters(text: str) -> Iterable[str]:
    """The composed form of each letter that is followed by a combining mark."""
    for letter, mark in zip(text, text[1:]):
        if mark > "\u02ff":
            composed = unicodedata.normalize("NFC", letter + mark)
            if len(composed) == 1:
                yield composed


def warning_about_letters(name: str, letters: Letters) -> Optional[str]:
    """Warn of a file that spells the same letter in two ways."""
    return _two_spellings(letters, letters, f"{name} writes", "and")


def warning_across(name: str, letters: Letters, other_name: str, others: Letters) -> Optional[str]:
    """Warn of two files that spell the same letter differently, each consistently."""
    if letters.spelled_otherwise(letters) or others.spelled_otherwise(others):
        return None
    return (_two_spellings(letters, others, f"{name} writes", f"and {other_name}")
            or _two_spellings(others, letters, f"{other_name} writes", f"and {name}"))


def _two_spellings(one: Letters, other: Letters, who: str, and_who: str) -> Optional[str]:
    both = one.spelled_otherwise(other)
    if not both:
        return None
    composed, decomposed = sum(one.composed[each] for each in both), sum(other.decomposed[each] for each in both)
    return (f"{who} {examples(both)} as one character ({composed:,} times) {and_who} as a letter with a combining mark "
            f"({decomposed:,} times); --unicode=nfc or --unicode=nfd of train, predict, score and evaluate makes them "
            "the same")


def warning_about_blanks(name: str, samples: Sequence[Sample]) -> Optional[str]:
    """Warn of fields that begin or end with a blank."""
    found = [text for text in _fields(samples) if has_outer_blank(text)]
    return _kept(name, found, "begin or end with a blank, which is")


def warnings_about_features(where: Callable[[int], str], bundles: Sequence[Sequence[str]]) -> list[str]:
    """Warn of empty features, of features that differ only in blanks, and of features with half a pair of brackets;
    `where` gives the file and line of an index."""
    known = {feature for bundle in bundles for feature in bundle if feature.strip()}
    doubled = {feature for feature in known if feature != feature.strip() and feature.strip() in known}
    empty = [index for index, bundle in enumerate(bundles) if len(bundle) > 1 and "" in bundle]
    blank = [index for index, bundle in enumerate(bundles) if not doubled.isdisjoint(bundle)]
    found = []
    if empty:
        found.append(f"{where(empty[0])}: a feature is empty, and counts as one ({such_lines(empty)})")
    if blank:
        feature = next(feature for feature in bundles[blank[0]] if feature in doubled)
        found.append(f"{where(blank[0])}: the feature {feature!r} differs from {feature.strip()!r}, which also occurs, "
                     f"only in blanks ({such_lines(blank)})")
    halves = {feature for feature in known if has_half_a_bracket(feature)}
    broken = [index for index, bundle in enumerate(bundles) if not halves.isdisjoint(bundle)]
    if broken:
        feature = next(feature for feature in bundles[broken[0]] if feature in halves)
        found.append(f"{where(broken[0])}: the feature {feature!r} has a bracket without its partner; features are "
                     f"kept whole in ( ) alone ({such_lines(broken)})")
    return found


def has_half_a_bracket(feature: str) -> bool:
    return any(feature.count(pair[0]) != feature.count(pair[1]) for pair in ("()", "[]", "{}"))


def such_lines(indices: Sequence[int]) -> str:
    return f"{len(indices):,} such line{'s' if len(indices) > 1 else ''}"


def warning_about_quotes(name: str, samples: Sequence[Sample]) -> Optional[str]:
    """Warn of quoted fields in a tab-separated file, as spreadsheets write them."""
    found = [text for text in _fields(samples) if is_quoted(text)]
    return _kept(name, found, "stand in quotation marks, which are")


def has_outer_blank(text: str) -> bool:
    return text != text.strip()


def is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == '"' == text[-1]


def _fields(samples: Sequence[Sample]) -> list[str]:
    return [text for sample in samples for text in (sample.input, sample.tag, sample.output) if text]


def _kept(name: str, found: Sequence[str], what: str) -> Optional[str]:
    if not found:
        return None
    return f"{name}: fields that {what} kept: {len(found):,} ({examples(list(map(repr, dict.fromkeys(found))))})"


def examples(items: Sequence[str], most: int = 3) -> str:
    return ", ".join(items[:most]) + (", …" if len(items) > most else "")
