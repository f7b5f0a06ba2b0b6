"""Blocks of a page (headings, remarks, grids of cells) as text, Markdown or TSV."""
from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable, Union

LAYOUTS = ("text", "markdown", "tsv")
WIDTH = 110  # of lines of text; a grid takes the width it needs
FIGURE = re.compile(r"|[-–]|(< )?[-+]?\d[\d.,/+± ()-]*\*?")  # cells to align to the right
MARKS = re.compile(r"[*|]")


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Caption:
    """A small heading over a grid inside another text."""

    text: str


@dataclass(frozen=True)
class Grid:
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Remarks:
    """A list of lines."""

    lines: Sequence[str]


Block = Union[Heading, Caption, Grid, Remarks, str]


def render(blocks: Sequence[Block], layout: str) -> str:
    """The blocks, separated by empty lines. TSV has only the grids, with headings if there are several grids."""
    if layout == "tsv":
        return _tsv(blocks)
    show = _markdown if layout == "markdown" else _text
    return "\n\n".join(show(block) for block in blocks) + "\n"


def _tsv(blocks: Sequence[Block]) -> str:
    if sum(isinstance(block, Grid) for block in blocks) == 1:
        blocks = [block for block in blocks if isinstance(block, Grid)]
    shown = []
    for block in blocks:
        if isinstance(block, Grid):
            shown.append("".join("\t".join(row) + "\n" for row in [block.header, *block.rows]))
        elif isinstance(block, (Heading, Caption)):
            shown.append(f"# {block.text}\n")
    return "".join(shown)


def _text(block: Block) -> str:
    if isinstance(block, Grid):
        return "\n".join(_aligned(block))
    if isinstance(block, Remarks):
        return "\n".join(map(_wrapped, block.lines))
    return _wrapped(block) if isinstance(block, str) else block.text


def _wrapped(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _aligned(grid: Grid) -> list[str]:
    """The lines of a grid with aligned columns: figures to the right, with room for a mark after them."""
    rows = [grid.header, *grid.rows]
    right = figure_columns(grid)
    cells = [[_with_room(cell) if is_right else cell for cell, is_right in zip(row, right)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    justify: list[Callable[[str, int], str]] = [str.rjust if is_right else str.ljust for is_right in right]
    return ["  ".join(put(cell, width) for put, cell, width in zip(justify, row, widths)).rstrip() for row in cells]


def _with_room(cell: str) -> str:
    return cell if cell.endswith("*") else cell + " "


def figure_columns(grid: Grid) -> list[bool]:
    """For each column: does it hold only figures, so that it is aligned to the right?"""
    return [all(FIGURE.fullmatch(cell) for cell in column) for column in zip(*grid.rows)] or [False] * len(grid.header)


def _markdown(block: Block) -> str:
    if isinstance(block, Grid):
        rule = "|" + "".join("---:|" if is_right else "---|" for is_right in figure_columns(block))
        header, *rows = ["| " + " | ".join(map(_escaped, row)) + " |" for row in [block.header, *block.rows]]
        return "\n".join([header, rule, *rows])
    if isinstance(block, Remarks):
        return "\n".join(f"- {_escaped(line)}" for line in block.lines)
    if isinstance(block, Heading):
        return "#" * block.level + " " + _escaped(block.text)
    return f"**{_escaped(block.text)}**" if isinstance(block, Caption) else _escaped(block)


def _escaped(text: str) -> str:
    return MARKS.sub(lambda mark: "\\" + mark[0], text)
