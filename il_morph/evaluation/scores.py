"""Scoring predictions against gold data, line by line."""
from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import editdistance

from il_morph.data.formats import NO_SEPARATORS, DataFormat, Separators
from il_morph.evaluation.entries import Entry, check_same_lines, read_gold, read_predictions

__all__ = ["Entry", "Scores", "check_same_lines", "evaluate", "read_gold", "read_predictions", "score"]


@dataclass(frozen=True)
class Scores:
    """Means over all lines; accuracies are in percent."""

    samples: int
    accuracy: float
    levenshtein: float
    normalised_levenshtein: float
    mean_reciprocal_rank: float
    by_pos: dict[str, tuple[float, int]]

    def as_dict(self) -> dict[str, Any]:
        """The scores as values for JSON."""
        by_pos = {pos: {"accuracy": accuracy, "samples": samples}
                  for pos, (accuracy, samples) in self.by_pos.items()}
        return {**asdict(self), "by_pos": by_pos}

    def as_text(self) -> str:
        """The scores as text, one per line."""
        rows = [("accuracy", f"{self.accuracy:.4f}"),
                ("levenshtein", f"{self.levenshtein:.5f}"),
                ("normalised levenshtein", f"{self.normalised_levenshtein:.5f}"),
                ("mean reciprocal rank", f"{self.mean_reciprocal_rank:.5f}"),
                ("lines", f"{self.samples}")]
        if any(self.by_pos):
            rows += [(f"accuracy of {pos or '(none)'}", f"{accuracy:.4f}  ({samples} lines)")
                     for pos, (accuracy, samples) in self.by_pos.items()]
        width = max(len(label) for label, _ in rows) + 2
        return "".join(f"{label:<{width}}{value}\n" for label, value in rows)


def score(golds: Sequence[str], ranked: Sequence[Sequence[str]], pos: Sequence[str],
          separators: Separators = NO_SEPARATORS) -> Scores:
    """Score ranked predictions against the gold output of each line. Distances count symbols."""
    best = [outputs[0] for outputs in ranked]
    correct = [gold == output for gold, output in zip(golds, best)]
    pairs = [(separators.outputs(gold), separators.outputs(output)) for gold, output in zip(golds, best)]
    distances = [editdistance.eval(gold, output) for gold, output in pairs]
    lengths = [max(len(gold), len(output), 1) for gold, output in pairs]
    return Scores(
        samples=len(golds),
        accuracy=_percent(correct),
        levenshtein=statistics.fmean(distances),
        normalised_levenshtein=statistics.fmean(d / n for d, n in zip(distances, lengths)),
        mean_reciprocal_rank=statistics.fmean(map(_reciprocal_rank, golds, ranked)),
        by_pos=_accuracy_by_pos(correct, pos),
    )


def evaluate(gold: Sequence[Entry], predictions: Sequence[Entry], fmt: DataFormat,
             separators: Separators = NO_SEPARATORS) -> Scores:
    """Score predictions against the gold data, line by line."""
    check_same_lines(gold, predictions, fmt)
    return score([entry.outputs[0] for entry in gold],
                 [entry.outputs for entry in predictions],
                 [fmt.features(entry.tag)[0] for entry in gold], separators)


def _reciprocal_rank(gold: str, outputs: Sequence[str]) -> float:
    return next((1 / rank for rank, output in enumerate(outputs, start=1) if output == gold), 0.0)


def _accuracy_by_pos(correct: Sequence[bool], pos: Sequence[str]) -> dict[str, tuple[float, int]]:
    groups: dict[str, list[bool]] = defaultdict(list)
    for name, right in zip(pos, correct):
        groups[name].append(right)
    return {name: (_percent(group), len(group)) for name, group in sorted(groups.items())}


def _percent(correct: Sequence[bool]) -> float:
    return 100 * sum(correct) / len(correct)
