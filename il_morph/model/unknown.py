"""What a model does not know in its inputs: features, parts of speech, characters, Unicode forms."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Optional

from il_morph.data.formats import Sample
from il_morph.data.spelling import Letters, examples, normalise
from il_morph.model.vocabulary import Vocabulary

MOST_BUNDLES = 100  # bundles with unknown features that are compared with the bundles of the training data


class Unknown:
    """Collects what a model does not know in samples. The model leaves such features out and guesses such letters."""

    def __init__(self, vocabulary: Vocabulary, samples: Sequence[Sample] = ()):
        self.vocabulary, self.samples, self.affected = vocabulary, 0, 0
        self.features: Counter = Counter()
        self.bundles: dict[str, None] = {}  # bundles with unknown features
        self.unseen: Counter[frozenset[str]] = Counter()  # the unseen characters of each input
        self.letters = Letters()
        self.add(samples)

    def add(self, samples: Sequence[Sample]) -> None:
        for tag, number in Counter(sample.tag for sample in samples).items():
            found = self._unknown_features(tag)
            self.features.update(dict.fromkeys(found, number))
            self.affected += number if found else 0
            if found and len(self.bundles) < MOST_BUNDLES:
                self.bundles[tag] = None
        self.samples += len(samples)
        symbols, known = self.vocabulary.symbols.covering(samples), self.vocabulary.characters.positions
        self.unseen.update(frozenset(symbols.symbol(each) for each in symbols.encoded(sample).input
                                     if each not in known) for sample in samples)
        letters = Letters.of("\n".join(sample.input for sample in samples))
        self.letters.composed.update(letters.composed)
        self.letters.decomposed.update(letters.decomposed)

    def _unknown_features(self, tag: str) -> list[str]:
        vocabulary = self.vocabulary
        pos, features = vocabulary.split(tag)
        found = [feature for feature in dict.fromkeys(features) if feature not in vocabulary.features]
        if vocabulary.pos is not None and pos not in vocabulary.pos:
            found.insert(0, f"part of speech {pos}" if pos else "no part of speech")
        return found

    def warnings(self, characters: bool = True) -> tuple[Optional[str], ...]:
        """One warning of each kind, or None."""
        return self.about_features(), self.about_forms(), self.about_characters() if characters else None

    def about_features(self) -> Optional[str]:
        """A warning about parts of speech and features that training did not show, with counts."""
        if not self.affected:
            return None
        counted = [f"{feature if feature == feature.strip() != '' else repr(feature)} ({number:,})"
                   for feature, number in self.features.most_common()]
        return (f"{self.affected:,} of {self.samples:,} inputs have features or parts of speech that the model does "
                f"not know and leaves out: {examples(counted, 5)}{self._suggestion()}")

    def _suggestion(self) -> str:
        """`; did you mean N;ACC;SG for n;acc;sg?`, if training showed the same features in another case."""
        known = {self._without_case(tag): tag for tag in self.vocabulary.bundles}
        meant = [(known[self._without_case(tag)], tag) for tag in self.bundles if self._without_case(tag) in known]
        return f"; did you mean {meant[0][0]} for {meant[0][1]}?" if meant else ""

    def _without_case(self, tag: str) -> tuple[str, ...]:
        return tuple(sorted(feature.strip().casefold() for feature in self.vocabulary.format.features(tag)))

    def about_characters(self) -> Optional[str]:
        """A warning about characters of inputs that training did not show, with counts."""
        forms = {part for letter in sum(self._in_other_form(), []) for part in (letter, *normalise(letter, "nfd")[1:])}
        counts: Counter[str] = Counter()
        for characters, number in self.unseen.items():
            counts.update(dict.fromkeys(characters - forms, number))
        if not counts:
            return None
        affected = sum(number for characters, number in self.unseen.items() if characters - forms)
        counted = [f"{character} ({number:,})" for character, number in counts.most_common()]
        return (f"{affected:,} of {self.samples:,} inputs have characters that training did not show, which the model "
                f"can only {self.vocabulary.table.ways_with_unseen}: {examples(counted, 5)}")

    def about_forms(self) -> Optional[str]:
        """A warning about letters that the model knows only in their other Unicode form."""
        other, composed = self._in_other_form()
        if not other and not composed:
            return None
        return (f"the model was trained on {examples(other or composed)} in another Unicode form: "
                f"--unicode={'nfc' if other else 'nfd'} normalises the inputs")

    def _in_other_form(self) -> tuple[list[str], list[str]]:
        """The letters known only in the other form: those decomposed in the inputs, and those composed there."""
        known = {*"".join(self.vocabulary.letters)}
        other = [letter for letter in self.letters.decomposed
                 if letter in known and normalise(letter, "nfd")[1:] not in known]
        return other, [letter for letter in self.letters.composed
                       if letter not in known and all(part in known for part in normalise(letter, "nfd"))]
