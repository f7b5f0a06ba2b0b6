"""The errors of runs: each with its trace, and the actions confused at the first wrong step."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from il_morph.data.formats import Sample, Separators
from il_morph.evaluation.edits import COMES, GOES, STAYS, edit_steps
from il_morph.evaluation.entries import Entry
from il_morph.report.characters import direction, shown
from il_morph.report.finished import FinishedRun, Judged, beam_width
from il_morph.report.trace import COPY_KIND, DELETE_KIND, INSERT_KIND, Trace, trace

KINDS = {STAYS: COPY_KIND, GOES: DELETE_KIND, COMES: INSERT_KIND}
NO_STEP = "no step (the sequence was cut)"


@dataclass(frozen=True)
class Mistake:
    """A line that at least one run gets wrong."""

    gold: Entry
    outputs: list[str]  # one for each run
    traces: list[Optional[Trace]]  # one for each run; None if it is right or cannot be traced

    @property
    def wrong(self) -> list[int]:
        """The numbers of the runs that are wrong."""
        return [run for run, output in enumerate(self.outputs) if output != self.gold.outputs[0]]

    def as_dict(self, pos: str, separators: Separators) -> dict[str, Any]:
        right = self.gold.outputs[0]
        outputs = {output: edit_steps(separators.outputs(output), separators.outputs(right))
                   for output in self.outputs if output != right}
        characters = {character for steps in outputs.values() for _, character in steps}
        return {
            "line": self.gold.line, "input": self.gold.input, "tag": self.gold.tag, "pos": pos, "gold": right,
            "outputs": self.outputs, "wrong": self.wrong, "direction": direction(right),
            "edits": {output: [[KINDS[sign], character] for sign, character in steps]
                      for output, steps in outputs.items()},
            "shown": {each: shown(each) for each in sorted(characters) if shown(each) != each},
            "confusions": [None if each is None else confusion(each).label for each in self.traces],
            "traces": [None if each is None else each.as_dict() for each in self.traces],
        }


@dataclass(frozen=True)
class Confusion:
    """What a run did at its first wrong step, and what the expert would have done."""

    expected: tuple[str, ...]  # edits as displayed; empty without an expert
    done: str
    expected_kinds: tuple[str, ...]
    done_kind: str

    @property
    def label(self) -> str:
        return f"{self.done} instead of {' or '.join(self.expected)}" if self.expected else self.done


def confusion(wrong: Trace) -> Confusion:
    if wrong.first_wrong is None:
        return Confusion((), NO_STEP, (), NO_STEP)
    step = wrong.steps[wrong.first_wrong - 1]
    return Confusion(tuple(edit.label for edit in step.optimal), step.edit.label,
                     tuple(dict.fromkeys(edit.kind for edit in step.optimal)), step.edit.kind)


def find_mistakes(judged: Judged) -> tuple[list[Mistake], list[str]]:
    """The lines that some run gets wrong, and remarks about steps that cannot be shown."""
    outputs = [[entry.outputs[0] for entry in each] for each in judged.predictions]
    traced, remarks = [], []
    for run, own in zip(judged.runs, outputs):
        found, remark = trace_errors(run, beam_width(judged.search), judged.gold, own)
        traced.append(found)
        remarks += [remark] if remark else []
    mistakes = []
    for line, gold in enumerate(judged.gold):
        if any(own[line] != gold.outputs[0] for own in outputs):
            mistakes.append(Mistake(gold, [own[line] for own in outputs], [found.get(line) for found in traced]))
    return mistakes, remarks


def trace_errors(run: FinishedRun, width: int, gold: Sequence[Entry],
                 outputs: Sequence[str]) -> tuple[dict[int, Trace], Optional[str]]:
    """A trace for each wrong line, and a remark if some are missing."""
    predictor = run.predictor()
    if predictor is None:
        return {}, f"The model of {run.name} ({run.folder.model.name}) is gone, so the page does not show its steps."
    lines = [line for line, (entry, output) in enumerate(zip(gold, outputs)) if output != entry.outputs[0]]
    samples = [Sample(gold[line].input, gold[line].tag, None) for line in lines]
    best = [hypotheses[0] for hypotheses in predictor.hypotheses(samples, width)]
    traces = trace(predictor, samples, best, [gold[line].outputs[0] for line in lines])
    found = {line: each for line, each in zip(lines, traces) if each.output == outputs[line]}
    missing = len(lines) - len(found)
    return found, f"{run.name}: for {missing} of {len(lines)} errors the model no longer writes the recorded " \
                  "prediction; the page does not show their steps." if missing else None


@dataclass(frozen=True)
class Confusions:
    """Counts of the actions that were confused, by kind and in detail."""

    kinds: Counter  # (kinds of the expert, kind of the model) -> count
    details: list[tuple[str, int]]

    @property
    def rows(self) -> list[str]:
        return list(dict.fromkeys(expected for expected, _ in sorted(self.kinds)))

    @property
    def columns(self) -> list[str]:
        return sorted({done for _, done in self.kinds})

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


def count_confusions(mistakes: Iterable[Mistake]) -> Confusions:
    found = [confusion(each) for mistake in mistakes for each in mistake.traces if each is not None]
    kinds = Counter((" or ".join(each.expected_kinds), each.done_kind) for each in found)
    return Confusions(kinds, Counter(each.label for each in found).most_common())
