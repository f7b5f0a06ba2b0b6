"""Answers for running text: from the lexicon if possible, else from the model, which decodes equal inputs only once."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Callable, Optional, Union

from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.model.lexicon import OFF, UNANIMOUS, Lexicon
from il_morph.model.parallel import DecodingPool, Ranked
from il_morph.model.predictor import AnyPredictor, Prediction, up_to_mass

MOST_REMEMBERED = 1 << 17  # different inputs; the memory is cleared before it would exceed this
FROM_LEXICON = "(lexicon)"  # shown in place of edits


def chosen_rule(predictor: AnyPredictor, rule: Optional[str]) -> str:
    """The rule for looking up words: the given one, or else the default for this model."""
    if rule == OFF or rule is None and predictor.lexicon is None:
        return OFF
    if predictor.lexicon is None:
        raise InputError(f"--lexicon={rule}: the model has no lexicon; train it on CoNLL-U or with --keep-lexicon")
    return rule or UNANIMOUS


@dataclass
class Decoding:
    """Inputs that are decoded together, in this process or another; `found` waits for their predictions."""

    samples: Sequence[Sample]
    result: Callable[[], Ranked]

    @cached_property
    def found(self) -> dict[Sample, list[Prediction]]:
        return dict(zip(self.samples, self.result()))


@dataclass
class Answers:
    """Answers queries to a model, and remembers the answers."""

    predictor: AnyPredictor
    number: Optional[int] = 1
    beam_width: int = 4
    mass: Optional[float] = None
    batch_size: int = 128
    rule: str = OFF  # which answers of the lexicon are trusted
    pool: Optional[DecodingPool] = None  # processes that decode
    remembered: dict[tuple[Sample, bool], Union[list[Prediction], Decoding]] = field(default_factory=dict, repr=False)

    def ranked(self, samples: Sequence[Sample], initial: Optional[Sequence[bool]] = None) -> Ranked:
        """The best predictions for each sample; `initial` marks the first words of sentences."""
        return self.ask(samples, initial)()

    def ask(self, samples: Sequence[Sample], initial: Optional[Sequence[bool]] = None) -> Callable[[], Ranked]:
        """A function that returns the same predictions later; meanwhile, the processes of a pool decode new inputs."""
        firsts = initial or [False] * len(samples)
        keys = [(Sample(sample.input, sample.tag, None), first) for sample, first in zip(samples, firsts)]
        new = [key for key in dict.fromkeys(keys) if key not in self.remembered]
        if len(self.remembered) + len(new) > MOST_REMEMBERED:
            self.remembered.clear()
            new = list(dict.fromkeys(keys))
        self._answer(new)
        found = [(sample, self.remembered[sample, first]) for sample, first in keys]
        return lambda: [each.found[sample] if isinstance(each, Decoding) else each for sample, each in found]

    def _answer(self, keys: Sequence[tuple[Sample, bool]]) -> None:
        """Look up and decode inputs that are not remembered."""
        lexicon = self.predictor.lexicon if self.rule != OFF else None
        for sample, first in keys:
            decoded = self.remembered.get((sample, not first))
            known = self._looked_up(lexicon, sample, first) if lexicon else []
            if known or isinstance(decoded, Decoding):
                self.remembered[sample, first] = known or decoded  # type: ignore[assignment]
        rest = [key for key in keys if key not in self.remembered]
        if rest:
            decoding = self._decoding(list(dict.fromkeys(sample for sample, _ in rest)))
            self.remembered.update(dict.fromkeys(rest, decoding))

    def _decoding(self, samples: Sequence[Sample]) -> Decoding:
        how = self.number, self.beam_width, self.mass, self.batch_size
        return Decoding(samples, self.pool.decode(samples, *how) if self.pool
                        else partial(self.predictor.ranked, samples, *how))

    def _looked_up(self, lexicon: Lexicon, sample: Sample, initial: bool) -> list[Prediction]:
        shares = lexicon.found(sample, self.rule, initial) or {}
        found = [Prediction(output, math.log(share), FROM_LEXICON) for output, share in shares.items()]
        return up_to_mass(found, self.mass or 1)[:self.number]
