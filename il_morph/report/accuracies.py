"""Accuracy by part of speech, by feature, by what training showed, and by length."""
from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Callable, Optional

from il_morph.data.formats import Sample
from il_morph.evaluation.analysis import CHARACTERS, FEATURE, PARTITION, Group, by_feature, correct_lines, groups_of
from il_morph.evaluation.entries import Entry
from il_morph.evaluation.voting import ensemble
from il_morph.report.finished import Judged

POS, LENGTH = "part of speech", "length of the input"
TITLES = {POS: "By part of speech", PARTITION: "By what training showed", FEATURE: "By feature",
          CHARACTERS: "By characters that training showed", LENGTH: "By length of the input"}
STEP = 3  # lengths are grouped by three characters
LONG = 16


@dataclass(frozen=True)
class AccuracyRow:
    """The accuracy of each run on a group of lines."""

    name: str
    lines: int
    accuracies: list[float]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.accuracies)


@dataclass(frozen=True)
class Section:
    title: str
    rows: list[AccuracyRow]


@dataclass(frozen=True)
class Overall:
    """Accuracies of all runs together."""

    accuracies: list[float]
    vote: Optional[float]  # if there are several runs

    @property
    def mean(self) -> float:
        return statistics.fmean(self.accuracies)

    @property
    def sd(self) -> Optional[float]:
        return statistics.stdev(self.accuracies) if len(self.accuracies) > 1 else None


def overall(judged: Judged) -> Overall:
    golds = [entry.outputs[0] for entry in judged.gold]
    vote = None
    if len(judged.runs) > 1:
        voted = ensemble(judged.predictions, judged.format)
        vote = 100 * sum(map(str.__eq__, golds, voted)) / len(golds)
    return Overall([scores.accuracy for scores in judged.scores()], vote)


def sections(judged: Judged) -> list[Section]:
    """Groups of lines under their titles, with the accuracy of each run."""
    correct = [correct_lines(judged.gold, each) for each in judged.predictions]
    groups = _groups(judged)
    titles = dict.fromkeys(group.section for group in groups)
    return [Section(TITLES[title], [AccuracyRow(group.name, len(group.lines),
                                                [group.accuracy(each) for each in correct])
                            for group in groups if group.section == title]) for title in titles]


def _groups(judged: Judged) -> list[Group]:
    """The groups of lines; groups by what training showed need the training data."""
    gold, fmt, separators = judged.gold, judged.format, judged.separators
    groups = list(_named(LENGTH, _by(gold, lambda entry: _length(len(separators.inputs(entry.input))),
                                     key=_first_number)))
    if judged.train is not None:
        groups = groups_of(gold, judged.train.samples, fmt, separators) + groups
    elif fmt.separator is not None:
        known = [Sample(entry.input, entry.tag, None) for entry in gold]
        groups = list(_named(FEATURE, by_feature(gold, known, fmt))) + groups
    if fmt.separator is not None:
        groups = list(_named(POS, _by(gold, lambda entry: fmt.features(entry.tag)[0]))) + groups
    return groups


def _named(section: str, groups: dict[str, list[int]]) -> Iterable[Group]:
    return (Group(section, name or "(none)", lines) for name, lines in groups.items())


def _by(gold: Sequence[Entry], name: Callable[[Entry], str], key: Optional[Callable] = None) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for line, entry in enumerate(gold):
        groups[name(entry)].append(line)
    order = key or (lambda each: (-len(groups[each]), each))
    return {each: groups[each] for each in sorted(groups, key=order)}


def _length(length: int) -> str:
    if length >= LONG:
        return f"{LONG} and more"
    first = max(1, (length - 1) // STEP * STEP + 1)
    return f"{first}–{first + STEP - 1}" if length else "0"


def _first_number(name: str) -> int:
    return int(name.split("–")[0].split()[0])
