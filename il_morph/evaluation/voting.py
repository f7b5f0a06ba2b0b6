"""Ensembles: majority vote over the outputs of several models."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from il_morph.data.formats import NO_SEPARATORS, DataFormat, Separators
from il_morph.evaluation.entries import Entry, check_same_lines

FOUR_TIMES = 4


def votes_for(outputs: Sequence[str]) -> list[tuple[str, int]]:
    """Each output with its number of votes, the most frequent first; the output of an earlier model wins a tie."""
    return Counter(outputs).most_common()


def vote(outputs: Sequence[str]) -> str:
    return votes_for(outputs)[0][0]


def repaired(entry: Entry, separators: Separators = NO_SEPARATORS) -> Entry:
    """The entry with its input in place of every output that has the same symbol four times in a row."""
    outputs = tuple(separators.as_output(entry.input) if repeats(separators.outputs(output)) else output
                    for output in entry.outputs)
    return replace(entry, outputs=outputs)


def repeats(symbols: Sequence[str]) -> bool:
    return any(len(list(same)) >= FOUR_TIMES for _, same in groupby(symbols))


def ranked_ensemble(models: Sequence[Sequence[Entry]], dev_accuracies: Sequence[float], fmt: DataFormat) -> list[str]:
    """The vote of SGM17TOP: only the three quarters of the models with the best dev accuracy vote, 15 of 20.

    The best model comes first, so it decides ties. Outputs are repaired before the vote.
    """
    ranked = sorted(zip(dev_accuracies, models), key=lambda pair: -pair[0])
    best = ranked[:max(1, len(models) * 3 // 4)]
    return ensemble([[repaired(entry) for entry in model] for _, model in best], fmt)


def ensemble(models: Sequence[Sequence[Entry]], fmt: DataFormat) -> list[str]:
    """The winning output for each line, given the predictions of each model."""
    for other in models[1:]:
        check_same_lines(models[0], other, fmt, "predict both with the same --unicode, for example nfc")
    return [vote([entry.outputs[0] for entry in entries]) for entries in zip(*models)]
