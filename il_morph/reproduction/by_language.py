"""The table by language: our figures beside the published ones."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from il_morph.reproduction.blocks import Block, Caption, Grid
from il_morph.reproduction.cells import FOLDS, NOTHING, PARTIAL, exact, measure, number, plus_minus, yes
from il_morph.reproduction.figures import (
    BESIDE_SINGLES,
    BESIDE_VOTE,
    LanguageFigure,
    MeanFigure,
    language_figures,
    scored,
)
from il_morph.reproduction.paper_tables import NONE, PaperTable
from il_morph.reproduction.published import SINGLE, VOTE, Published
from il_morph.reproduction.runs import Run

KINDS = {  # what is compared, and whether a published figure exists
    (VOTE, True): "Votes beside published votes",
    (BESIDE_SINGLES, True): "Single models beside published single models",
    (BESIDE_VOTE, True): "Single models beside published votes (no single models of these were published)",
}
UNKNOWN = {(VOTE, False): "Votes of which nothing was published",
           (BESIDE_SINGLES, False): "Single models of which nothing was published"}
LANGUAGE_HEADER = ["setting", "system", "model", "language", "kind", "ours", "sd", "models", "seeds", "folds", "full",
                   "published_kind", "published", "published_sd", "published_folds", "difference", "engines"]


def language_blocks(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    """A grid for each setting and kind of figure."""
    figures = language_figures(table, published, scored(runs))
    blocks: list[Block] = [table.title, measure(table)]
    for setting in table.settings:
        for (kind, known), title in {**KINDS, **UNKNOWN}.items():
            own = [each for each in figures
                   if (each.setting, each.kind, bool(each.published)) == (setting, kind, known)]
            blocks += [Caption(f"{title}: {setting}"), language_grid(table, own)] if own else []
    if any(each.kind == VOTE and not each.full for each in figures):
        blocks.append(f"{PARTIAL} fewer than {table.source}'s {len(table.seeds)} voted.")
    return [*blocks, *fold_remark(table, figures)] if figures else [*blocks, NOTHING]


def fold_remark(table: PaperTable, figures: Sequence[LanguageFigure]) -> list[Block]:
    """A remark that names our folds if the published figures cover more: some folds are harder than others."""
    others = MeanFigure(tuple(figures)).other_folds
    if not others:
        return []
    return [f"Ours: fold {', '.join(others)} of {len(table.folds)}. The published figures are means over all folds; "
            "their ± is over folds and seeds. Folds differ in how hard they are."]


def language_grid(table: PaperTable, figures: Sequence[LanguageFigure]) -> Grid:
    models = list(dict.fromkeys(each.model for each in figures))
    found = {(each.model, each.language): each for each in figures}
    known = {model: any(found[key].published for key in found if key[0] == model) for model in models}
    header = ["language"]
    for model in models:
        header += [f"{table.row(model)}, ours", "published"] if known[model] else [f"{table.row(model)}, ours"]
    rows = [[language, *(cell for model in models for cell in _both(found.get((model, language)))[:1 + known[model]])]
            for language in table.languages if any(each.language == language for each in figures)]
    return Grid(header, rows)


def _both(figure: Optional[LanguageFigure]) -> list[str]:
    if figure is None:
        return ["", ""]
    mark = PARTIAL if figure.kind == VOTE and not figure.full else ""
    theirs = figure.published
    return [number(figure.ours) + mark, plus_minus(number(theirs.accuracy), theirs.sd) if theirs else ""]


def language_tsv(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    figures = language_figures(table, published, scored(runs))
    return [Grid(LANGUAGE_HEADER, [_language_row(table, each) for each in figures])]


def _language_row(table: PaperTable, each: LanguageFigure) -> list[str]:
    theirs = each.published
    kind = (SINGLE if each.kind == BESIDE_SINGLES else VOTE) if theirs else NONE
    return [each.setting, table.row(each.model), each.model, each.language, "vote" if each.votes else "single",
            exact(each.ours), exact(each.sd), str(each.models), ",".join(dict.fromkeys(run.seed for run in each.runs)),
            ",".join(each.folds), yes(each.full), kind, exact(theirs.accuracy if theirs else None),
            exact(theirs.sd if theirs else None), yes(theirs.same_folds, FOLDS) if theirs else NONE,
            exact(each.difference), "+".join(sorted(each.engines)) or NONE]
