"""A table of the paper as a page, with a plot of our accuracy against the published one."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from il_morph.report.accuracy_picture import draw_accuracies, pictured
from il_morph.report.pages import page, picture_source
from il_morph.reproduction.blocks import Block, Caption, Grid, Remarks, figure_columns
from il_morph.reproduction.figures import comparable, language_figures, scored
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.published import Published
from il_morph.reproduction.runs import Run

Measured = tuple[PaperTable, Published, Sequence[Run]]


def table_page(title: str, blocks: Sequence[Block], tables: Sequence[Measured]) -> str:
    """The blocks of one or more tables under a title, which the blocks do not repeat."""
    return page("table.html", title=title, blocks=[_described(block) for block in blocks if block != title],
                pictures=[picture for each in tables for picture in _pictures(*each)])


def _described(block: Block) -> dict[str, Any]:
    """A block for the template: its kind and content."""
    if isinstance(block, Grid):
        return {"kind": "grid", "header": block.header, "rows": block.rows, "figures": figure_columns(block)}
    if isinstance(block, Remarks):
        return {"kind": "remarks", "lines": block.lines}
    if isinstance(block, str):
        return {"kind": "text", "text": block}
    return {"kind": "heading", "text": block.text, "level": 3 if isinstance(block, Caption) else max(2, block.level)}


def _pictures(table: PaperTable, published: Published, runs: Sequence[Run]) -> Iterator[tuple[str, str]]:
    """Title and source of a picture for each setting that has something to compare."""
    figures = comparable(table, language_figures(table, published, scored(runs)))
    for setting in table.settings:
        if pictured(figures, setting):
            svg = draw_accuracies(table, figures, setting, "svg")
            yield f"{table.title}, {setting}" if len(table.settings) > 1 else table.title, picture_source(svg)
