"""Scoring predictions against gold data, line by line."""
from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Sequence, Tuple

import editdistance

from il_morph.data.formats import DataFormat, check_format, name_of, read_samples, split_lines
from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes


@dataclass(frozen=True)
class Entry:
    """A line of gold data, or the predictions for one: the outputs, best first."""

    file: str
    line: int
    input: str
    tag: str
    outputs: Tuple[str, ...]

    @property
    def where(self) -> str:
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True)
class Scores:
    """Means over all lines; accuracies in percent, the others as they are."""

    samples: int
    accuracy: float
    levenshtein: float
    normalised_levenshtein: float
    mean_reciprocal_rank: float
    by_pos: Dict[str, Tuple[float, int]]

    def as_dict(self) -> Dict[str, Any]:
        """The scores as JSON knows values."""
        by_pos = {pos: {"accuracy": accuracy, "samples": samples}
                  for pos, (accuracy, samples) in self.by_pos.items()}
        return {**asdict(self), "by_pos": by_pos}

    def as_text(self) -> str:
        """The scores for people, one on each line."""
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


def score(golds: Sequence[str], ranked: Sequence[Sequence[str]], pos: Sequence[str]) -> Scores:
    """Score the predictions for each line, best first, against its gold output."""
    best = [outputs[0] for outputs in ranked]
    correct = [gold == output for gold, output in zip(golds, best)]
    distances = [editdistance.eval(gold, output) for gold, output in zip(golds, best)]
    lengths = [max(len(gold), len(output), 1) for gold, output in zip(golds, best)]
    return Scores(
        samples=len(golds),
        accuracy=_percent(correct),
        levenshtein=statistics.fmean(distances),
        normalised_levenshtein=statistics.fmean(d / n for d, n in zip(distances, lengths)),
        mean_reciprocal_rank=statistics.fmean(map(_reciprocal_rank, golds, ranked)),
        by_pos=_accuracy_by_pos(correct, pos),
    )


def evaluate(gold: Sequence[Entry], predictions: Sequence[Entry], fmt: DataFormat) -> Scores:
    """Score predictions that belong to the gold data line by line."""
    check_same_lines(gold, predictions, fmt)
    return score([entry.outputs[0] for entry in gold],
                 [entry.outputs for entry in predictions],
                 [fmt.features(entry.tag)[0] for entry in gold])


def check_same_lines(first: Sequence[Entry], second: Sequence[Entry], fmt: DataFormat) -> None:
    """Two files must have the same inputs and features in the same order."""
    for one, other in zip(first, second):
        if (one.input, fmt.features(one.tag)) != (other.input, fmt.features(other.tag)):
            raise InputError(f"{other.where} has {_key(other)}, but {one.where} has {_key(one)}; "
                             "the files must have the same inputs and features in the same order")
    if len(first) != len(second):
        longer, shorter = (first, second) if len(first) > len(second) else (second, first)
        raise InputError(f"{longer[len(shorter)].where} has no counterpart in {shorter[0].file}, "
                         f"which ends at line {shorter[-1].line}; "
                         "the files must have a line for each of the other's")


def read_gold(path: PathLike, fmt: DataFormat) -> List[Entry]:
    """Read data with outputs on every line."""
    samples = read_samples(path, fmt, need_output=True)
    return [Entry(name_of(path), number, sample.input, sample.tag, (sample.output,))
            for number, sample in enumerate(samples, start=1)]


def read_predictions(path: PathLike, fmt: DataFormat) -> List[Entry]:
    """Read predictions, which may be empty; the n best ones carry rank and log probability."""
    name = name_of(path)
    rows = [line.split("\t") for line in split_lines(read_bytes(path), name)]
    n_best = len(rows[0]) > len(fmt.columns)
    samples, ranks = [], []
    for number, fields in enumerate(rows, start=1):
        where = f"{name}, line {number}"
        _check_columns(fields, rows[0], fmt, where)
        samples.append(fmt.sample(fields[:-2] if n_best else fields, where))
        ranks.append(_rank(fields, where) if n_best else 1)
    check_format(samples, fmt, name)
    lines = [Entry(name, number, sample.input, sample.tag, (sample.output or "",))
             for number, sample in enumerate(samples, start=1)]
    return _group(lines, ranks, fmt)


def _check_columns(fields: Sequence[str], first: Sequence[str], fmt: DataFormat, where: str) -> None:
    full = len(fmt.columns)
    allowed = (full, full + 2) if fmt.separator else (full - 1, full, full + 1, full + 2)
    count = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
    if len(fields) not in allowed:
        raise InputError(f"{where}: {count}, but predictions in the {fmt.name} format ({fmt.flag}) have "
                         f"{', '.join(fmt.columns)}, and n-best ones rank and log probability as well")
    if len(fields) != len(first):
        raise InputError(f"{where}: {count}, but line 1 has {len(first)}")


def _rank(fields: Sequence[str], where: str) -> int:
    try:
        float(fields[-1])
        return int(fields[-2])
    except ValueError:
        raise InputError(f"{where}: the last two columns of n-best predictions are rank and log "
                         f"probability, not {fields[-2]!r} and {fields[-1]!r}") from None


def _group(lines: Sequence[Entry], ranks: Sequence[int], fmt: DataFormat) -> List[Entry]:
    """Join consecutive lines with the ranks 1, 2, … to one entry."""
    groups: List[List[Entry]] = []
    for line, rank in zip(lines, ranks):
        if rank == 1:
            groups.append([])
        elif not groups or rank != len(groups[-1]) + 1:
            expected = f"1 or {len(groups[-1]) + 1}" if groups else "1"
            raise InputError(f"{line.where}: rank {rank}, but {expected} is due")
        else:
            check_same_lines(groups[-1][:1], [line], fmt)
        groups[-1].append(line)
    return [Entry(group[0].file, group[0].line, group[0].input, group[0].tag,
                  tuple(line.outputs[0] for line in group)) for group in groups]


def _key(entry: Entry) -> str:
    return f"{entry.input!r} with {entry.tag!r}" if entry.tag else repr(entry.input)


def _reciprocal_rank(gold: str, outputs: Sequence[str]) -> float:
    return next((1 / rank for rank, output in enumerate(outputs, start=1) if output == gold), 0.0)


def _accuracy_by_pos(correct: Sequence[bool], pos: Sequence[str]) -> Dict[str, Tuple[float, int]]:
    groups: Dict[str, List[bool]] = defaultdict(list)
    for name, right in zip(pos, correct):
        groups[name].append(right)
    return {name: (_percent(group), len(group)) for name, group in sorted(groups.items())}


def _percent(correct: Sequence[bool]) -> float:
    return 100 * sum(correct) / len(correct)
