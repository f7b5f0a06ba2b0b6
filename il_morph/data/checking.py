"""Find what looks wrong in data files, and in which lines. Nothing is changed."""
from __future__ import annotations

import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Callable

import editdistance

from il_morph.data.dataformat import Treebank
from il_morph.data.reading import OTHER_SEPARATORS, Data, warnings_about_separators
from il_morph.data.recognition import SEPARATORS
from il_morph.data.spelling import (
    examples,
    has_outer_blank,
    is_quoted,
    warning_about_blanks,
    warning_about_letters,
    warning_about_quotes,
)

OTHER_SIGNS = {*SEPARATORS, *OTHER_SEPARATORS}
MOST_SHOWN = 8  # lines in a list
MOST_OF_A_KIND = 20  # findings in a list for people
RARE, FREQUENT = 2, 10  # a misspelt feature occurs at most, the right one at least, this often
LONG, TIMES_LONGER = 40, 4  # a very long word has this many characters, and this many times the median
ONE_SCRIPT = {"HIRAGANA": "JAPANESE", "KATAKANA": "JAPANESE", "CJK": "JAPANESE", "KATAKANA-HIRAGANA": "JAPANESE"}


@dataclass(frozen=True)
class Finding:
    """One kind of problem in one file: its lines, and a description with examples."""

    kind: str
    file: str
    lines: list[int]
    what: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def where(self) -> str:
        """`lines 3, 8, 9, … (40 in all)`."""
        if not self.lines:
            return ""
        listed = ", ".join(map(str, self.lines[:MOST_SHOWN]))
        more = f", … ({len(self.lines):,} in all)" if len(self.lines) > MOST_SHOWN else ""
        return f"line{'s' if len(self.lines) > 1 else ''} {listed}{more}"


def check_file(data: Data) -> list[Finding]:
    """The findings in one file. Running text repeats itself, so treebanks are checked for spelling only."""
    in_lists = not isinstance(data.format, Treebank)
    found: list[Finding] = []
    for kind, find in FINDERS.items():
        if in_lists or kind in OF_RUNNING_TEXT:
            found += [Finding(kind, data.name, [*map(data.rows.line_of, indices)] if in_lists else [], what)
                      for indices, what in find(data)]
    return found


def check_together(first: Data, other: Data) -> list[Finding]:
    """Findings about what a file shares with the training data, and what is new in it."""
    if isinstance(first.format, Treebank) or isinstance(other.format, Treebank):
        return []
    known: dict[tuple[str, str], set] = defaultdict(set)
    for sample in first.samples:
        known[sample.input, sample.tag].add(sample.output)
    lines: list[int] = []
    others: list[int] = []
    for index, sample in enumerate(other.samples):
        outputs = known.get((sample.input, sample.tag))
        if outputs:
            (lines if sample.output in outputs or sample.output is None else others).append(index)
    inputs = {sample.input for sample in first.samples}
    shared = [index for index, sample in enumerate(other.samples) if sample.input in inputs]
    facts = [("shared lines", lines, f"also in {first.name}: they say nothing about new words"),
             ("contradictions", others, f"another output than in {first.name}"),
             ("shared inputs", shared, f"{100 * len(shared) / len(other.samples):.0f} % of the lines have an input of "
              f"{first.name}")]
    found = [Finding(kind, other.name, [*map(other.rows.line_of, indices)], what)
             for kind, indices, what in facts if indices]
    return found + [*_new_features(first, other)]


def _new_features(first: Data, other: Data) -> Iterator[Finding]:
    if first.format.separator is None or other.format.separator is None:
        return
    known = {feature for sample in first.samples for feature in first.format.features(sample.tag)}
    new = {index: [feature for feature in other.format.features(sample.tag) if feature not in known]
           for index, sample in enumerate(other.samples)}
    indices = [index for index in new if new[index]]
    if indices:
        features = dict.fromkeys(feature for index in indices for feature in new[index])
        yield Finding("new features", other.name, [*map(other.rows.line_of, indices)],
                      f"not in {first.name}: {examples([*map(repr, features)])}")


Found = Iterator[tuple[list[int], str]]  # the indices of the samples, and what is wrong


def duplicates(data: Data) -> Found:
    again = [indices[1:] for indices in _places(data.samples, lambda sample: sample).values() if len(indices) > 1]
    if again:
        yield sorted(index for indices in again for index in indices), "the same as an earlier line"


def contradictions(data: Data) -> Found:
    """The same input and features with different outputs."""
    for (word, tag), indices in _places(data.samples, lambda sample: (sample.input, sample.tag)).items():
        outputs = list(dict.fromkeys(filter(None, (data.samples[index].output for index in indices))))
        if len(outputs) > 1:
            yield indices, f"{' + '.join(filter(None, (word, tag)))} → {' or '.join(outputs)}"


def feature_case(data: Data) -> Found:
    yield from _variants(data, str.casefold, "differ only in case")


def feature_order(data: Data) -> Found:
    """Bundles of the same features in another order; the most frequent order is taken for the right one."""
    bundles: dict[tuple, dict[tuple, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, bundle in enumerate(_bundles(data)):
        bundles[tuple(sorted(bundle))][bundle].append(index)
    for orders in bundles.values():
        if len(orders) > 1:
            usual = max(orders, key=lambda bundle: len(orders[bundle]))
            sign = data.format.separator or ""
            for bundle, indices in orders.items():
                if bundle != usual:
                    yield indices, f"{sign.join(bundle)} is elsewhere {sign.join(usual)}"


def feature_spelling(data: Data) -> Found:
    """A rare feature that is one letter away from a frequent one."""
    counts = Counter(feature for bundle in _bundles(data) for feature in bundle)
    frequent = [feature for feature, number in counts.items() if number >= FREQUENT and len(feature) > 2]
    for feature, number in counts.items():
        near = [other for other in frequent if number <= RARE and len(feature) > 2 and feature.isalpha()
                and editdistance.eval(feature, other) == 1]
        if near:
            yield (_having(data, feature), f"{feature} ({times(number)}) may be {near[0]} ({times(counts[near[0]])})")


def feature_separators(data: Data) -> Found:
    """Bundles in which another character stands between known features."""
    bundles = _bundles(data)
    known = {feature for bundle in bundles if len(bundle) > 1 for feature in bundle}
    for sign in sorted(OTHER_SIGNS - {data.format.separator}):
        odd = [index for index, bundle in enumerate(bundles) if any(
            sign in feature and known.issuperset(feature.split(sign)) for feature in bundle)]
        if odd:
            yield odd, f'"{sign}" separates features in {data.samples[odd[0]].tag}, elsewhere "{data.format.separator}"'


def misplaced_features(data: Data) -> Found:
    """Inputs and outputs that consist of known features: columns that are swapped in a line."""
    known, sign = {feature for bundle in _bundles(data) for feature in bundle}, data.format.separator or ""
    for what, texts in (("input", [sample.input for sample in data.samples]),
                        ("output", [sample.output or "" for sample in data.samples])):
        odd = [index for index, text in enumerate(texts) if known and sign in text
               and known.issuperset(text.split(sign))]
        if odd:
            yield odd, f"the {what} looks like features ({texts[odd[0]]})"


def first_features(data: Data) -> Found:
    """The first feature is taken for the part of speech: a feature should always be first, or never."""
    first, later = Counter(), Counter()  # type: Counter[str], Counter[str]
    for bundle in _bundles(data):
        first[bundle[0]] += 1
        later.update(bundle[1:])
    for feature in first:
        if later[feature]:
            rare = [index for index, bundle in enumerate(_bundles(data)) if feature in bundle
                    and (bundle[0] == feature) == (first[feature] < later[feature])]
            yield rare, (f"{feature} comes first {times(first[feature])} and later {times(later[feature])}; the "
                         "first feature is taken for the part of speech (--no-pos-emb treats all alike)")


def single_characters(data: Data) -> Found:
    """Characters that occur in one line alone: nothing can be learnt about them, and some are typing errors."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, sample in enumerate(data.samples):
        for character in {*sample.input, *(sample.output or "")}:
            places[character].append(index)
    single = {character: indices[0] for character, indices in sorted(places.items()) if len(indices) == 1}
    if single:
        named = [f"{character} (U+{ord(character):04X})" for character in single]
        what = "1 character occurs" if len(single) == 1 else f"{len(single)} characters occur"
        yield sorted(set(single.values())), f"{what} in one line alone: {examples(named, 6)}"


def mixed_scripts(data: Data) -> Found:
    """Words with letters of two scripts, such as a Cyrillic а among Latin letters."""
    found = {index: scripts for index, sample in enumerate(data.samples)
             for scripts in (scripts_of(sample.input) | scripts_of(sample.output or ""),) if len(scripts) > 1}
    if found:
        shown = [f"{data.samples[index].input} ({' and '.join(map(str.title, sorted(scripts)))})"
                 for index, scripts in found.items()]
        yield [*found], f"letters of two scripts in one line: {examples(shown)}"


def scripts_of(word: str) -> set[str]:
    names = {unicodedata.name(letter, "").split(" ")[0] for letter in word if letter.isalpha()
             and unicodedata.category(letter) != "Lm"}
    return {ONE_SCRIPT.get(name, name) for name in names if name}


def empty_fields(data: Data) -> Found:
    for what, texts in (("input", [sample.input for sample in data.samples]),
                        ("features", [sample.tag for sample in data.samples if data.format.separator is not None]),
                        ("output", [sample.output or "" for sample in data.samples])):
        empty = [index for index, text in enumerate(texts) if not text.strip()]
        if empty and (what == "input" or len(empty) < len(texts)):
            yield empty, f"the {what} {'are' if what == 'features' else 'is'} empty"


def long_lines(data: Data) -> Found:
    lengths = [max(len(sample.input), len(sample.output or "")) for sample in data.samples]
    usual = statistics.median(lengths)
    long = [index for index, length in enumerate(lengths) if length >= LONG and length > TIMES_LONGER * usual]
    if long:
        yield long, f"much longer than most: up to {max(lengths)} characters; half of the lines have at most {usual:g}"


def spelling(data: Data) -> Found:
    """What reading warns about: blanks, quotation marks, Unicode forms, empty features, features that are not split."""
    tests = {warning_about_blanks(data.name, data.samples): has_outer_blank,
             warning_about_quotes(data.name, data.samples): is_quoted,
             warning_about_letters(data.name, data.letters): data.letters.is_rare_in}
    for warning in filter(lambda each: each != data.warning_about_empty_inputs,  # which has a finder of its own
                          data.warnings() + warnings_about_separators(data)):
        test = tests.get(warning, lambda text: False)  # other warnings name their line
        yield [index for index, sample in enumerate(data.samples)
               if any(map(test, (sample.input, sample.tag, sample.output or "")))], warning


FINDERS: dict[str, Callable[[Data], Found]] = {
    "contradictions": contradictions, "duplicates": duplicates, "features in another case": feature_case,
    "features in another order": feature_order, "misspelt features": feature_spelling,
    "other feature separators": feature_separators, "features in another column": misplaced_features,
    "first features": first_features, "empty fields": empty_fields, "mixed scripts": mixed_scripts,
    "rare characters": single_characters, "long lines": long_lines, "spelling": spelling}
OF_RUNNING_TEXT = {"mixed scripts", "spelling"}  # the only checks of treebanks, which are read as distinct words
WORTH_SAYING = ("contradictions", "duplicates", "features in another case", "features in another order",
                "misspelt features", "other feature separators", "features in another column", "first features",
                "shared lines", "mixed scripts")


def check_all(files: Sequence[Data]) -> list[list[Finding]]:
    """The findings of each file; the first is the training data."""
    return [check_file(files[0]), *(check_file(file) + check_together(files[0], file) for file in files[1:])]


def summary(findings: Sequence[Finding]) -> str:
    """One line with the findings to be known before a training: `contradictions (2 lines), …`."""
    lines: dict[str, set] = defaultdict(set)
    for finding in findings:
        lines[finding.kind] |= {(finding.file, line) for line in finding.lines}
    return ", ".join(f"{kind} ({len(lines[kind]):,} line{'s' if len(lines[kind]) > 1 else ''})"
                     for kind in WORTH_SAYING if lines[kind])


def listed(findings: Sequence[Finding]) -> list[Finding]:
    """The findings to show to people: the first ones of each kind, and the number of the rest."""
    shown: list[Finding] = []
    for kind in dict.fromkeys(finding.kind for finding in findings):
        same = [finding for finding in findings if finding.kind == kind]
        rest = same[MOST_OF_A_KIND:]
        more = [Finding(kind, rest[0].file, sorted({line for each in rest for line in each.lines}),
                        f"and {len(rest):,} more")] if rest else []
        shown += same[:MOST_OF_A_KIND] + more
    return shown


def times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _variants(data: Data, form: Callable[[str], str], what: str) -> Found:
    """Features that are the same in this form; the most frequent is taken for the right one."""
    counts = Counter(feature for bundle in _bundles(data) for feature in bundle)
    for same in _places([*counts], form).values():
        features = sorted((list(counts)[place] for place in same), key=lambda each: -counts[each])
        for feature in features[1:]:
            yield _having(data, feature), f"{feature} and {features[0]} {what}"


def _having(data: Data, feature: str) -> list[int]:
    return [index for index, bundle in enumerate(_bundles(data)) if feature in bundle]


def _bundles(data: Data) -> list[tuple[str, ...]]:
    return [] if data.format.separator is None else [data.format.features(sample.tag) for sample in data.samples]


def _places(items: Iterable[Any], key: Callable[[Any], Hashable]) -> dict[Any, list[int]]:
    """The indices of the items with each key."""
    places: dict[Any, list[int]] = defaultdict(list)
    for index, item in enumerate(items):
        places[key(item)].append(index)
    return places


