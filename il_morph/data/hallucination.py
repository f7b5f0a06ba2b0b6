"""Hallucinated samples, fakes for short: real pairs in which characters far from every edit are redrawn.

Input and output of a pair share blocks: the longest common substring, then in turn the longest to its left and right.
Inside a block of at least three characters, all but the characters next to an edit are redrawn from left to right, the
same in input and output. So a fake has the features and the edits of its pair but another stem: `walk → walked`
becomes `salk → salked`. Each character c is drawn in proportion to P(c | previous character), times
P(next character | c) if the next character is kept. P(b | a) = (count(ab) + P(b)) / (count(a) + 1), with counts over
inputs and outputs with boundaries. Punctuation, blanks, symbols and marks are never redrawn.
"""
from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from random import Random
from typing import NamedTuple

from il_morph.data.samples import BEGIN, END, Sample
from il_morph.data.symbols import PLAIN, Symbols

SHORTEST_BLOCK = 3
EDGE = 3  # characters of a block that are kept next to an edit; fewer in short blocks, so that one can be redrawn
TRIES = 20  # for one fake: most fail if nearly all words over the alphabet are real
FIXED = "PZSM"  # Unicode categories that are never redrawn: punctuation, separators, symbols, marks

Place = tuple[int, int]  # the index of a character of a block in the input and in the output


class Fake(NamedTuple):
    """A hallucinated sample and the real sample it was made from."""

    sample: Sample
    source: Sample


def inner_places(sample: Sample) -> Iterator[Place]:
    """The places of characters that input and output share and that are not next to an edit, from left to right."""
    source, target = sample.input, sample.target
    for i, j, size in SequenceMatcher(None, source, target, autojunk=False).get_matching_blocks():
        at_start, at_end = i == j == 0, i + size == len(source) and j + size == len(target)
        edges = (not at_start) + (not at_end)
        edge = min(EDGE, (size - 1) // edges) if edges else 0
        first, last = (0 if at_start else edge), size - (0 if at_end else edge)
        if size >= SHORTEST_BLOCK:
            yield from ((i + k, j + k) for k in range(first, last))


class Hallucination:
    """A source of fakes. In its samples each symbol is one character; `symbols` maps characters to their symbols."""

    def __init__(self, samples: Sequence[Sample], symbols: Symbols = PLAIN):
        self.samples, self.symbols = samples, symbols
        self.weights: dict[str, list[float]] = {}

    @cached_property
    def places(self) -> dict[Sample, list[Place]]:
        """The places to redraw, for every sample that has any."""
        found = {sample: [(i, j) for i, j in inner_places(sample) if not self._stays(sample.input[i])]
                 for sample in self.samples}
        return {sample: places for sample, places in found.items() if places}

    @cached_property
    def sources(self) -> list[Sample]:
        """The samples that fakes are made from."""
        return [sample for sample in self.samples if sample in self.places]

    @cached_property
    def real(self) -> set[tuple[str, str]]:
        return {(sample.input, sample.tag) for sample in self.samples}

    def draw(self, number: int, random: Random) -> list[Fake]:
        """Up to `number` fakes; fewer if hardly anything but real samples comes out."""
        fakes = (self._fake(random) for _ in range(number if self.sources else 0))
        return [fake for each in fakes for fake in each]

    def _fake(self, random: Random) -> list[Fake]:
        """One fake in a list, or none if all tries fail, that is, give the input and features of a real sample."""
        for _ in range(TRIES):
            source = random.choice(self.sources)
            fake = self.redrawn(source, random)
            if (fake.input, fake.tag) not in self.real:
                return [Fake(fake, source)]
        return []

    def redrawn(self, sample: Sample, random: Random) -> Sample:
        source, target = [BEGIN, *sample.input, END], list(sample.target)
        redrawn = {i for i, _ in self.places[sample]}
        for i, j in self.places[sample]:
            weights = self._weights(source[i])
            if i + 1 not in redrawn:
                following = source[i + 2]
                weights = [weight * self._probability(following, c) for weight, c in zip(weights, self.letters)]
            source[i + 1] = target[j] = random.choices(self.letters, weights)[0]
        return Sample("".join(source[1:-1]), sample.tag, "".join(target))

    def _stays(self, character: str) -> bool:
        return unicodedata.category(self.symbols.symbol(character)[0])[0] in FIXED

    @cached_property
    def letters(self) -> list[str]:
        """The characters that can be drawn: only those in both inputs and outputs, which a model can read and write."""
        inputs, outputs = ({*"".join(texts)} for texts in zip(*((each.input, each.target) for each in self.samples)))
        return sorted(c for c in inputs & outputs if not self._stays(c))

    @cached_property
    def _pairs(self) -> Counter[tuple[str, str]]:
        texts = [f"{BEGIN}{text}{END}" for sample in self.samples for text in (sample.input, sample.target)]
        return Counter(pair for text in texts for pair in zip(text, text[1:]))

    @cached_property
    def _counts(self) -> tuple[Counter[str], Counter[str], int]:
        """How often each character is the first of a pair, how often the second, and the number of pairs."""
        before, after = Counter(), Counter()  # type: Counter[str], Counter[str]
        for (first, second), number in self._pairs.items():
            before[first] += number
            after[second] += number
        return before, after, sum(after.values())

    def _probability(self, character: str, before: str) -> float:
        firsts, seconds, total = self._counts
        return (self._pairs[before, character] + seconds[character] / total) / (firsts[before] + 1)

    def _weights(self, before: str) -> list[float]:
        """P(c | before) of every letter c."""
        if before not in self.weights:
            self.weights[before] = [self._probability(c, before) for c in self.letters]
        return self.weights[before]
