"""A prediction step by step: the character under the head, the action, its probability, and the next best actions.
If the right output is known, a trace also shows what the expert would have done.

A step is *optimal* if its action is in the expert's optimal set. A *detour* still leads to the right output, with more
edits than necessary. After a *wrong* step the output can no longer become right.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import exp
from typing import Any, Optional

import numpy as np

from il_morph.data.formats import Sample
from il_morph.data.symbols import Symbols
from il_morph.model.predictor import Predictor
from il_morph.model.replies import COLOURS, COPIED, chip, html_table
from il_morph.model.search import Hypothesis, SearchModel, lead
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.report.characters import direction, isolated, shown, shown_form
from il_morph.transitions.actions import END, UNK
from il_morph.transitions.expert import optimal_actions

OPTIMAL, DETOUR, WRONG = "optimal", "detour", "wrong"
COPY_KIND, DELETE_KIND, INSERT_KIND, STEP_KIND, SUBSTITUTE_KIND = "copy", "delete", "insert", "step", "substitute"
RUNNERS_UP = 2


@dataclass(frozen=True)
class Edit:
    """An action for display: its kind and the symbol it copies, deletes or inserts."""

    kind: str
    character: str = ""

    @property
    def label(self) -> str:
        """`copy w`, `insert ␣`, `end`."""
        return f"{self.kind} {shown(self.character)}" if self.character else self.kind


@dataclass(frozen=True)
class TraceStep:
    """One action, taken with the head at position `at` of the tape."""

    at: int
    character: str  # under the head; with soft attention, the one with the most attention
    edit: Edit
    probability: Optional[float]  # None if the model weighs whole sequences
    others: tuple[tuple[Edit, float], ...]  # the next best
    output: str  # including what this step writes
    optimal: tuple[Edit, ...] = ()  # what the expert would do, if there is one and the right output is known
    verdict: Optional[str] = None


@dataclass(frozen=True)
class Trace:
    """All steps of a prediction."""

    sample: Sample
    tape: tuple[str, ...]  # what the head moves over: the input and END (after START, if the system reads that)
    output: str
    log_probability: float
    steps: tuple[TraceStep, ...]
    gold: Optional[str] = None
    separator: str = ""  # between the symbols of the output

    @property
    def probability(self) -> float:
        return exp(self.log_probability)

    @property
    def right(self) -> Optional[bool]:
        return None if self.gold is None else self.output == self.gold

    @property
    def first_wrong(self) -> Optional[int]:
        """The number, from 1, of the first step that the expert would not take or, without an expert, of the first
        step at which the output departs from the right one."""
        return self._first(DETOUR, WRONG)

    @property
    def departs(self) -> Optional[int]:
        """The number, from 1, of the first step after which the output cannot become right."""
        return self._first(WRONG)

    @property
    def substitutes(self) -> bool:
        """Does any of the edits shown replace a symbol?"""
        return any(edit.kind == SUBSTITUTE_KIND for edit in self._edits())

    def _first(self, *verdicts: str) -> Optional[int]:
        return next((number for number, step in enumerate(self.steps, start=1) if step.verdict in verdicts), None)

    def as_dict(self) -> dict[str, Any]:
        """A short form for the pages: an edit is [kind, character], a step is [at, edit, probability, others, optimal,
        verdict]."""
        symbols = {edit.character for edit in self._edits() if edit.character}
        return {
            "input": self.sample.input, "tag": self.sample.tag, "tape": [shown(character) for character in self.tape],
            "output": self.output, "separator": self.separator, "probability": self.probability,
            "gold": self.gold, "right": self.right, "first_wrong": self.first_wrong, "departs": self.departs,
            "direction": direction(self.sample.input + self.output),
            "shown": {symbol: shown(symbol) for symbol in sorted(symbols) if shown(symbol) != symbol},
            "steps": [[step.at, _pair(step.edit), _short(step.probability),
                       [[*_pair(edit), _short(probability)] for edit, probability in step.others],
                       [_pair(edit) for edit in step.optimal], step.verdict] for step in self.steps],
        }

    def _repr_html_(self) -> str:
        """For notebooks: the edits as coloured chips, and a row for each step."""
        rows = [[str(number), escape(shown(step.character)), _chip(step.edit, step.verdict),
                 "–" if step.probability is None else f"{step.probability:.4f}",
                 " ".join(f"{_chip(edit)} {probability:.4f}" for edit, probability in step.others),
                 escape(shown_form(step.output)), " ".join(map(_chip, step.optimal))]
                for number, step in enumerate(self.steps, start=1)]
        names = ["step", "reads", "action", "probability", "next best", "output so far", "expert"]
        width = len(names) if any(step.optimal for step in self.steps) else len(names) - 1
        said = [f"{escape(self.sample.input)} {escape(self.sample.tag)} → <b>{escape(self.output)}</b>, probability "
                f"{self.probability:.4f}", " ".join(_chip(step.edit, step.verdict) for step in self.steps),
                escape(verdict(self))]
        return ("".join(f"<p>{line}</p>" for line in said if line)
                + html_table(names[:width], [row[:width] for row in rows]))

    def _edits(self) -> Iterator[Edit]:
        for step in self.steps:
            yield from (step.edit, *(edit for edit, _ in step.others), *step.optimal)


def verdict(trace: Trace) -> str:
    """A sentence that compares a trace with the right output."""
    if trace.gold is None:
        return ""
    if trace.right:
        return "The output is right." if trace.first_wrong is None else (
            f"The output is right; step {trace.first_wrong} takes a detour: the expert needs fewer edits.")
    gold = f"The right output is {isolated(shown_form(trace.gold))}"
    if trace.first_wrong is None:
        return f"{gold}; no step is wrong, but the sequence was cut."
    step = trace.steps[trace.first_wrong - 1]
    instead = f" instead of {' or '.join(edit.label for edit in step.optimal)}" if step.optimal else ""
    return f"{gold}. The first wrong step is {trace.first_wrong}: {step.edit.label}{instead}."


def _chip(edit: Edit, judged: Optional[str] = None) -> str:
    """An edit as a coloured chip for a notebook."""
    sign = {INSERT_KIND: "+", DELETE_KIND: "-", SUBSTITUTE_KIND: "~"}.get(edit.kind, "")
    mark = {WRONG: " ✗", DETOUR: " ~"}.get(judged or "", "")
    return chip(COLOURS.get(sign, COPIED), f"{sign}{shown(edit.character) if edit.character else edit.kind}{mark}")


def _pair(edit: Edit) -> list[str]:
    return [edit.kind, edit.character]


def _short(probability: Optional[float]) -> Optional[float]:
    return None if probability is None else float(f"{probability:.4g}")


def trace_best(predictor: Predictor, sample: Sample, gold: Optional[str], beam_width: int) -> Trace:
    """The trace of the best output."""
    return trace(predictor, [sample], [predictor.hypotheses([sample], beam_width)[0][0]], [gold])[0]


def trace(predictor: Predictor, samples: Sequence[Sample], hypotheses: Sequence[Hypothesis],
          golds: Sequence[Optional[str]], batch_size: int = 128) -> list[Trace]:
    """The traces of given outputs, computed in bulk."""
    instances = [predictor.vocabulary.instance(replace(sample, output=gold)) for sample, gold in zip(samples, golds)]
    traces = []
    for first in range(0, len(samples), batch_size):
        part = slice(first, first + batch_size)
        with predictor.computing():
            replayed = replay(predictor.inference, instances[part], [each.actions for each in hypotheses[part]])
        traces += [_trace(predictor.vocabulary, *each)
                   for each in zip(samples[part], instances[part], hypotheses[part], golds[part], replayed)]
    return traces


def replay(inference: SearchModel, instances: Sequence[Instance],
           sequences: Sequence[Sequence[int]]) -> list[list[tuple[int, np.ndarray]]]:
    """For each step of each sequence: the position of the head, and log P of all actions.

    log P is NaN if the model scores only whole sequences.
    """
    if inference.weighs_paths:
        return [[(position, np.full(len(inference.vocabulary.actions), np.nan))
                 for _, position in inference.vocabulary.table.walk(sequence, instance.start, instance.end)]
                for instance, sequence in zip(instances, sequences)]
    found: list[list[tuple[int, np.ndarray]]] = [[] for _ in instances]

    def follow(sample: int, head: int, log_probabilities: np.ndarray) -> tuple[int, bool]:
        found[sample].append((head, log_probabilities))
        step, sequence = len(found[sample]), sequences[sample]
        return sequence[step - 1], step == len(sequence)

    lead(inference, instances, follow)
    return found


def _trace(vocabulary: Vocabulary, sample: Sample, instance: Instance, hypothesis: Hypothesis, gold: Optional[str],
           replayed: Sequence[tuple[int, np.ndarray]]) -> Trace:
    judge = None if gold is None else (ExpertJudge if vocabulary.system.has_expert else PrefixJudge)(
        vocabulary, instance)
    steps, output, symbols = [], "", instance.symbols
    walk = vocabulary.table.walk(hypothesis.actions, instance.start, instance.end)
    for (action, position), (head, scores) in zip(walk, replayed):
        character = instance.text[position]
        optimal, verdict = judge.judge(action, position, output) if judge else ((), None)
        output += vocabulary.table.rows[action].written(character)
        others = tuple((edit_of(vocabulary, other, character, symbols), exp(scores[other]))
                       for other in next_best(scores, action))
        probability = None if np.isnan(scores[action]) else exp(scores[action])
        steps.append(TraceStep(head - instance.start, symbols.symbol(instance.text[head]),
                               edit_of(vocabulary, action, character, symbols), probability, others,
                               symbols.output(output), optimal, verdict))
    return Trace(sample, tuple(map(symbols.symbol, instance.text[instance.start:])), hypothesis.output,
                 hypothesis.log_probability, tuple(steps), gold, symbols.separators.output)


def next_best(scores: np.ndarray, action: int) -> list[int]:
    """The most probable actions except the one that was taken."""
    best = np.argsort(-scores, kind="stable")[:RUNNERS_UP + 1].tolist()
    return [other for other in best if other != action and np.isfinite(scores[other])][:RUNNERS_UP]


def edit_of(vocabulary: Vocabulary, action: int, character: str, symbols: Symbols) -> Edit:
    """The edit of an action when `character` is under the head, with the symbol that the character stands for."""
    row = vocabulary.table.rows[action]
    return Edit(row.kind, symbols.symbol(row.subject(character)))


class PrefixJudge:
    """Judges steps of a system without an expert: is the output so far a prefix of the right one?"""

    def __init__(self, vocabulary: Vocabulary, instance: Instance):
        self.vocabulary, self.instance, self.gold = vocabulary, instance, instance.sample.target

    def judge(self, action: int, position: int, output: str) -> tuple[tuple[Edit, ...], Optional[str]]:
        return (), None if self.fits(action, position, output) else WRONG

    def fits(self, action: int, position: int, output: str) -> bool:
        """Can the output still become right after an action? No action removes a superfluous character from it."""
        written = output + self.vocabulary.table.rows[action].written(self.instance.text[position])
        return written == self.gold if action == END else self.gold.startswith(written)


class ExpertJudge(PrefixJudge):
    """Judges steps by the expert's optimal set."""

    def __init__(self, vocabulary: Vocabulary, instance: Instance):
        super().__init__(vocabulary, instance)
        self.counting = vocabulary.tracker(self.gold)
        self.expert = vocabulary.expert(instance.sample)

    def judge(self, action: int, position: int, output: str) -> tuple[tuple[Edit, ...], Optional[str]]:
        """The optimal edits before an action, and the verdict on the action. Call it once before each action."""
        i, places = position - self.instance.start, self.counting.places(output)
        optimal = optimal_actions(self.expert.candidates(i, *places))
        edits = tuple(self._edit(each, i, places) for each in optimal)
        return edits, OPTIMAL if action in optimal else DETOUR if self.fits(action, position, output) else WRONG

    def _edit(self, action: int, i: int, places: Sequence[int]) -> Edit:
        """The edit of an optimal action. UNK stands for inserting a character that the model cannot insert."""
        symbols = self.instance.symbols
        if action == UNK:
            unseen = next(j for j in places if any(move.action == UNK for move in self.expert.moves(i, j)))
            return Edit(INSERT_KIND, symbols.symbol(self.gold[unseen]))
        return edit_of(self.vocabulary, action, self.instance.text[self.instance.start + i], symbols)
