"""Scoring predictions against gold data, line by line."""
from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional

import editdistance

from il_morph.data.formats import NO_SEPARATORS, DataFormat, Separators
from il_morph.evaluation.entries import Entry, check_same_lines, read_gold, read_predictions

__all__ = ["Entry", "Scores", "check_same_lines", "evaluate", "read_gold", "read_predictions", "score"]


@dataclass(frozen=True)
class Scores:
    """Means over all lines; accuracies, error rates, precision, recall and F1 are in percent.

    There are error rates only for outputs with a separator, and precision, recall and F1 only for outputs with a
    boundary.
    """

    samples: int
    accuracy: float
    levenshtein: float
    normalised_levenshtein: float
    mean_reciprocal_rank: float
    by_pos: dict[str, tuple[float, int]]
    word_error_rate: Optional[float] = None  # 100 − accuracy
    symbol_error_rate: Optional[float] = None  # all distances over all gold symbols
    segment_precision: Optional[float] = None
    segment_recall: Optional[float] = None
    segment_f1: Optional[float] = None

    def as_dict(self) -> dict[str, Any]:
        """The scores as values for JSON."""
        by_pos = {pos: {"accuracy": accuracy, "samples": samples}
                  for pos, (accuracy, samples) in self.by_pos.items()}
        return {name: value for name, value in {**asdict(self), "by_pos": by_pos}.items() if value is not None}

    def as_text(self) -> str:
        """The scores as text, one per line."""
        rows = [("accuracy", f"{self.accuracy:.4f}"),
                ("levenshtein", f"{self.levenshtein:.5f}"),
                ("normalised levenshtein", f"{self.normalised_levenshtein:.5f}"),
                ("mean reciprocal rank", f"{self.mean_reciprocal_rank:.5f}"),
                *((name.replace("_", " ").replace("f1", "F1"), f"{getattr(self, name):.4f}")
                  for name in SYMBOL_SCORES if getattr(self, name) is not None),
                ("lines", f"{self.samples}")]
        if any(self.by_pos):
            rows += [(f"accuracy of {pos or '(none)'}", f"{accuracy:.4f}  ({samples} line{'s' * (samples > 1)})")
                     for pos, (accuracy, samples) in self.by_pos.items()]
        width = max(len(label) for label, _ in rows) + 2
        return "".join(f"{label:<{width}}{value}\n" for label, value in rows)


SYMBOL_SCORES = ("word_error_rate", "symbol_error_rate", "segment_precision", "segment_recall", "segment_f1")


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
        **(_error_rates(correct, distances, pairs) if separators.output else {}),
        **(_segment_scores(golds, best, separators.boundary) if separators.boundary else {}),
    )


def _error_rates(correct: Sequence[bool], distances: Sequence[int],
                 pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, float]:
    """Word and symbol (phoneme) error rate, as in grapheme-to-phoneme conversion."""
    symbols = sum(len(gold) for gold, _ in pairs)
    return {"word_error_rate": 100 - _percent(correct), "symbol_error_rate": 100 * sum(distances) / max(symbols, 1)}


def _segment_scores(golds: Sequence[str], outputs: Sequence[str], boundary: str) -> dict[str, float]:
    """Precision, recall and F1 of segments, as in the shared task of 2022: a segment is right as often as it occurs in
    both gold and output of the line, in any position. Counts are added up over lines."""
    pairs = [(Counter(gold.split(boundary)), Counter(output.split(boundary))) for gold, output in zip(golds, outputs)]
    right = sum(sum((gold & output).values()) for gold, output in pairs)
    expected, found = (sum(sum(each.values()) for each in side) for side in zip(*pairs))
    return {"segment_precision": 100 * right / found, "segment_recall": 100 * right / expected,
            "segment_f1": 100 * 2 * right / (found + expected)}


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
