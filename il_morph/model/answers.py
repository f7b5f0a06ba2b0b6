"""Answers for running text: from the lexicon first, then by the model, which decodes equal inputs once."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Optional

from il_morph.data.formats import Sample
from il_morph.model.lexicon import OFF, Lexicon
from il_morph.model.predictor import AnyPredictor, Prediction, up_to_mass

MOST_REMEMBERED = 1 << 17  # different inputs; then the memory is emptied
FROM_LEXICON = "(lexicon)"  # in the place of edits


@dataclass
class Answers:
    """What to ask a model, and what it has answered already."""

    predictor: AnyPredictor
    number: Optional[int] = 1
    beam_width: int = 4
    mass: Optional[float] = None
    batch_size: int = 128
    rule: str = OFF  # which answers of the lexicon are trusted
    remembered: dict[tuple[Sample, bool], list[Prediction]] = field(default_factory=dict, repr=False)

    def ranked(self, samples: Sequence[Sample], initial: Optional[Sequence[bool]] = None) -> list[list[Prediction]]:
        """The best predictions for each sample; `initial` says which are the first word of a sentence."""
        firsts = initial or [False] * len(samples)
        keys = [(replace(sample, output=None), first) for sample, first in zip(samples, firsts)]
        new = [key for key in dict.fromkeys(keys) if key not in self.remembered]
        if len(self.remembered) + len(new) > MOST_REMEMBERED:
            self.remembered.clear()
            new = list(dict.fromkeys(keys))
        self._answer(new)
        return [self.remembered[key] for key in keys]

    def _answer(self, keys: Sequence[tuple[Sample, bool]]) -> None:
        """Look up and decode inputs that are not remembered."""
        lexicon = self.predictor.lexicon if self.rule != OFF else None
        for key in keys if lexicon else ():
            known = self._looked_up(lexicon, *key)  # type: ignore[arg-type]
            if known:
                self.remembered[key] = known
        rest = list(dict.fromkeys(sample for sample, first in keys if (sample, first) not in self.remembered))
        decoded = self.predictor.ranked(rest, self.number, self.beam_width, self.mass, self.batch_size) if rest else []
        found = dict(zip(rest, decoded))
        for key in keys:
            self.remembered.setdefault(key, found.get(key[0], []))

    def _looked_up(self, lexicon: Lexicon, sample: Sample, initial: bool) -> list[Prediction]:
        shares = lexicon.found(sample, self.rule, initial) or {}
        found = [Prediction(output, math.log(share), FROM_LEXICON) for output, share in shares.items()]
        return up_to_mass(found, self.mass or 1)[:self.number]
