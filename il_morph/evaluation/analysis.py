"""Accuracy for lemmas and features seen and unseen in training, for each feature, and for unseen characters."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from il_morph.data.formats import NO_SEPARATORS, DataFormat, Sample, Separators
from il_morph.evaluation.entries import Entry

PARTITION, FEATURE, CHARACTERS = "seen in training", "feature", "characters"


@dataclass(frozen=True)
class Group:
    """Some lines of the gold data and what they have in common."""

    section: str
    name: str
    lines: list[int]

    def accuracy(self, correct: Sequence[bool]) -> float:
        return 100 * sum(correct[line] for line in self.lines) / len(self.lines)


def correct_lines(gold: Sequence[Entry], predictions: Sequence[Entry]) -> list[bool]:
    return [one.outputs[0] == other.outputs[0] for one, other in zip(gold, predictions)]


def groups_of(gold: Sequence[Entry], train: Sequence[Sample], fmt: DataFormat,
              separators: Separators = NO_SEPARATORS) -> list[Group]:
    """All groups with at least one line."""
    unseen = by_unseen_characters(gold, train, separators)
    sections = [(PARTITION, partition(gold, train, fmt)), (CHARACTERS, unseen)]
    if fmt.separator is not None:
        sections.insert(1, (FEATURE, by_feature(gold, train, fmt)))
    return [Group(section, name, lines) for section, groups in sections for name, lines in groups.items()]


def partition(gold: Sequence[Entry], train: Sequence[Sample], fmt: DataFormat) -> dict[str, list[int]]:
    """Lines grouped by whether the lemma, and the whole feature bundle, are seen in training."""
    lemmas = {sample.input for sample in train}
    bundles = {frozenset(fmt.features(sample.tag)) for sample in train}
    groups: dict[str, list[int]] = defaultdict(list)
    for line, entry in enumerate(gold):
        name = f"lemma {seen(entry.input in lemmas)}"
        if fmt.separator is not None:
            name += f", features {seen(frozenset(fmt.features(entry.tag)) in bundles)}"
        groups[name].append(line)
    return dict(sorted(groups.items()))


def seen(known: bool) -> str:
    return "seen" if known else "unseen"


def by_feature(gold: Sequence[Entry], train: Sequence[Sample], fmt: DataFormat) -> dict[str, list[int]]:
    """The lines with each feature, the most frequent first."""
    known = {feature for sample in train for feature in fmt.features(sample.tag)}
    groups: dict[str, list[int]] = defaultdict(list)
    for line, entry in enumerate(gold):
        for feature in dict.fromkeys(fmt.features(entry.tag)):
            groups[feature if feature in known else f"{feature} (unseen)"].append(line)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))


def by_unseen_characters(gold: Sequence[Entry], train: Sequence[Sample],
                         separators: Separators = NO_SEPARATORS) -> dict[str, list[int]]:
    """Lines grouped by whether input and output have symbols unseen in training, which an output can only copy."""
    known = set(characters(train, separators))
    groups: dict[str, list[int]] = defaultdict(list)
    for line, entry in enumerate(gold):
        new_in_input = not known >= set(separators.inputs(entry.input))
        new_in_output = not known >= set(separators.outputs(entry.outputs[0]))
        where = [side for side, new in (("input", new_in_input), ("output", new_in_output)) if new]
        groups[f"unseen in {' and '.join(where)}" if where else "all seen"].append(line)
    return dict(sorted(groups.items()))


def characters(samples: Iterable[Sample], separators: Separators) -> Iterable[str]:
    for sample in samples:
        yield from separators.inputs(sample.input)
        yield from separators.outputs(sample.output or "")
