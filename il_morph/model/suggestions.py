"""Which words to ask next: those that the models are least sure of, spread over feature bundles and inputs.

The probability of an output is its mean probability in the models, so they are less sure where they disagree. The
expected number of errors in a bundle is the sum of 1 − P(best output). Bundles get questions in proportion to their
expected errors, as parties get seats (Sainte-Laguë); within a bundle, inputs not asked yet come first, and among these
the least sure ones.
"""
from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Callable, Optional

from il_morph.bars import bar
from il_morph.data.formats import Sample
from il_morph.model.combination import VotingPredictor
from il_morph.model.predictor import AnyPredictor, Predictor
from il_morph.model.search import BEAM_WIDTH

AT_ONCE = 1024  # samples between two updates of the progress bar
Pair = tuple[str, str]  # input and features


@dataclass(frozen=True)
class Suggestion:
    """An input with features to ask about, the answer of the models, and its probability."""

    input: str
    features: str
    output: str
    probability: float


def suggestions(predictor: AnyPredictor, samples: Sequence[Sample], number: int,
                beam_width: int = BEAM_WIDTH) -> list[Suggestion]:
    """`number` of the samples, in the order of choice: a smaller number would give the first of these."""
    return spread(answered(predictor, samples, beam_width), number)


def answered(predictor: AnyPredictor, samples: Sequence[Sample], beam_width: int) -> list[Suggestion]:
    """The answer of the models to each sample, with its probability."""
    members = predictor.members if isinstance(predictor, VotingPredictor) else [predictor]
    found: list[Suggestion] = []
    for start in bar(range(0, len(samples), AT_ONCE), "looked at", f"x{AT_ONCE}"):
        block = samples[start:start + AT_ONCE]
        ranked = [member.ranked(block, number_of_paths(member), beam_width) for member in members]
        for sample, of_members in zip(block, zip(*ranked)):
            shares: dict[str, float] = defaultdict(float)
            for prediction in (each for of_member in of_members for each in of_member):
                shares[prediction.output] += prediction.probability / len(members)
            best = max(shares, key=shares.__getitem__)
            found.append(Suggestion(sample.input, sample.tag, best, min(shares[best], 1.0)))
    return found


def number_of_paths(member: AnyPredictor) -> Optional[int]:
    """How many hypotheses to use: all that the beam has found (None), or the best path alone from a lattice."""
    return 1 if isinstance(member, Predictor) and member.inference.weighs_paths else None


def spread(found: Iterable[Suggestion], number: int) -> list[Suggestion]:
    """Choose suggestions one after the other. Equally good ones are chosen in the order in which they came."""
    left: dict[str, list[Suggestion]] = defaultdict(list)
    for each in found:
        left[each.features].append(each)
    expected = {tag: sum(1 - each.probability for each in own) for tag, own in left.items()}
    bundles, inputs, chosen = Counter[str](), Counter[str](), list[Suggestion]()
    while left and len(chosen) < number:
        tag = max(left, key=lambda tag: expected[tag] / (2 * bundles[tag] + 1))
        best = min(left[tag], key=lambda each: (inputs[each.input], each.probability))
        left[tag].remove(best)
        if not left[tag]:
            del left[tag]
        bundles[tag] += 1
        inputs[best.input] += 1
        chosen.append(best)
    return chosen


def combined(inputs: Mapping[str, set[str]], bundles: Iterable[str], part_of_speech: Callable[[str], str],
             known: set[Pair]) -> Iterator[Pair]:
    """Each input with every bundle of its parts of speech (of all, if it has none), unless the pair is known."""
    by_part: dict[str, list[str]] = defaultdict(list)
    for tag in bundles:
        by_part[part_of_speech(tag)].append(tag)
    for text, parts in inputs.items():
        for part in sorted(parts or by_part):
            yield from ((text, tag) for tag in by_part.get(part, ()) if (text, tag) not in known)


def drawn(pairs: Callable[[], Iterator[Pair]], most: int, seed: int) -> tuple[list[Pair], int]:
    """At most `most` of the pairs, and the number of all pairs. Iterates twice, and never holds more than `most`."""
    total = sum(1 for _ in pairs())
    if total <= most:
        return list(pairs()), total
    places = {*random.Random(seed).sample(range(total), most)}
    return [pair for place, pair in enumerate(pairs()) if place in places], total
