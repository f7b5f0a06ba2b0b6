"""A trace as text for a terminal."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from il_morph.report.characters import columns, isolated, padded, shown, shown_form
from il_morph.report.trace import (
    COPY_KIND,
    DELETE_KIND,
    DETOUR,
    INSERT_KIND,
    STEP_KIND,
    SUBSTITUTE_KIND,
    WRONG,
    Edit,
    Trace,
    TraceStep,
    verdict,
)

COLOURS = {COPY_KIND: "", INSERT_KIND: "32", DELETE_KIND: "31", STEP_KIND: "35", SUBSTITUTE_KIND: "35",
           WRONG: "1;31", DETOUR: "33"}
MARKS = {WRONG: "✗", DETOUR: "~"}


def colourful(stream: TextIO) -> bool:
    """Is this a terminal, and does its user accept colours (https://no-color.org)?"""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Painter:
    """Colours text, and keeps right-to-left text in its column if the terminal can do that."""

    def __init__(self, colours: bool):
        self.colours = colours

    def __call__(self, text: str, colour: str) -> str:
        return f"\033[{COLOURS[colour]}m{text}\033[0m" if self.colours and COLOURS.get(colour) else text

    def isolated(self, text: str) -> str:
        return isolated(text) if self.colours else text


def trace_text(trace: Trace, colours: bool = False) -> str:
    paint = Painter(colours)
    rows = [_cells(number, step) for number, step in enumerate(trace.steps, start=1)]
    header = ["step", "reads", "action", "P", "next best", "", "output"]
    if trace.gold is not None:
        header += ["expert", ""]
    rows = [row[:len(header)] for row in rows]
    if trace.gold is not None and not any(step.optimal for step in trace.steps):  # a system without an expert
        header.remove("expert")
        rows = [[*row[:-2], row[-1]] for row in rows]
    widths = [max(map(columns, column)) for column in zip(header, *rows)]
    lines = [_title(trace, paint), "", _line(header, widths, [""] * len(header), paint)]
    for step, row in zip(trace.steps, rows):
        paints = ["", "", step.edit.kind, "", *(edit.kind for edit, _ in _two(step)), "", step.verdict or "",
                  step.verdict or ""]
        lines.append(_line(row, widths, paints, paint))
    return "\n".join([*lines, *_verdict(trace, paint)]) + "\n"


def _title(trace: Trace, paint: Painter) -> str:
    features = f" + {shown_form(trace.sample.tag)}" if trace.sample.tag else ""
    source = paint.isolated(shown_form(trace.sample.input)) + features
    return (f"{source} → {paint.isolated(shown_form(trace.output))}   "
            f"P = {trace.probability:.4f}, {len(trace.steps)} steps")


def _two(step: TraceStep) -> list[tuple[Edit, float]]:
    return [*step.others, *[(Edit(""), 0.0)] * 2][:2]


def _cells(number: int, step: TraceStep) -> list[str]:
    others = [f"{edit.label} {probability:.4f}" if edit.kind else "" for edit, probability in _two(step)]
    probability = "–" if step.probability is None else f"{step.probability:.4f}"
    expert = " or ".join(edit.label for edit in step.optimal)
    return [str(number), shown(step.character), step.edit.label, probability, *others,
            shown_form(step.output), expert, MARKS.get(step.verdict or "", "")]


def _line(cells: Sequence[str], widths: Sequence[int], paints: Sequence[str], paint: Painter) -> str:
    padding = [padded("", width - columns(cell)) for cell, width in zip(cells, widths)]
    shown_cells = [paint(paint.isolated(cell), colour) + room for cell, colour, room in zip(cells, paints, padding)]
    return "  ".join(shown_cells).rstrip()


def _verdict(trace: Trace, paint: Painter) -> list[str]:
    sentence = verdict(trace)
    return ["", paint(sentence, WRONG if trace.right is False else "")] if sentence else []
