"""Ensembles: majority vote over the outputs of several models."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from il_morph.data.formats import DataFormat
from il_morph.evaluation.entries import Entry, check_same_lines


def vote(outputs: Sequence[str]) -> str:
    """The most frequent output; a tie goes to the first model among the tied."""
    counts = Counter(outputs)
    return max(outputs, key=counts.__getitem__)


def ensemble(models: Sequence[Sequence[Entry]], fmt: DataFormat) -> list[str]:
    """The output voted for on each line, given the predictions of each model."""
    for other in models[1:]:
        check_same_lines(models[0], other, fmt)
    return [vote([entry.outputs[0] for entry in entries]) for entries in zip(*models)]
