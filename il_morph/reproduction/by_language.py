"""A row for each language: ours beside what was published."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from il_morph.reproduction.cells import FOLDS, MEASURE, NOTHING, PARTIAL, exact, number, plus_minus, yes
from il_morph.reproduction.comparisons import LIKE, UNLIKE, Comparison, Summary, compare, scored
from il_morph.reproduction.data_layout import Block, Caption, Grid
from il_morph.reproduction.paper_tables import NONE, PaperTable
from il_morph.reproduction.published import SINGLE, VOTE, Published
from il_morph.reproduction.runs import Run

KINDS = {  # what is compared, and whether something was published
    (VOTE, True): "Votes beside published votes",
    (LIKE, True): "Single models beside published single models",
    (UNLIKE, True): "Single models beside published votes (of these no single ones were published)",
}
UNKNOWN = {(VOTE, False): "Votes of which nothing was published",
           (LIKE, False): "Single models of which nothing was published"}
LANGUAGE_HEADER = ["setting", "system", "model", "language", "kind", "ours", "sd", "models", "seeds", "folds", "full",
                   "published_kind", "published", "published_sd", "published_folds", "difference", "engines"]


def language_blocks(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    """A row for each language: ours beside what was published."""
    comparisons = compare(table, published, scored(runs))
    blocks: list[Block] = [table.title, MEASURE]
    for setting in table.settings:
        for (kind, known), title in {**KINDS, **UNKNOWN}.items():
            own = [each for each in comparisons
                   if (each.setting, each.kind, bool(each.published)) == (setting, kind, known)]
            blocks += [Caption(f"{title}: {setting}"), language_grid(table, own)] if own else []
    if any(each.kind == VOTE and not each.full for each in comparisons):
        blocks.append(f"{PARTIAL} fewer than the paper's {len(table.seeds)} voted.")
    return [*blocks, *fold_remark(table, comparisons)] if comparisons else [*blocks, NOTHING]


def fold_remark(table: PaperTable, comparisons: Sequence[Comparison]) -> list[Block]:
    """Folds differ in how hard they are, so it matters which of them were run."""
    others = Summary(tuple(comparisons)).other_folds
    if not others:
        return []
    return [f"Ours: fold {', '.join(others)} of {len(table.folds)}. The published figures are means over all folds; "
            "their ± is over folds and seeds. Folds differ in how hard they are."]


def language_grid(table: PaperTable, comparisons: Sequence[Comparison]) -> Grid:
    models = list(dict.fromkeys(each.model for each in comparisons))
    found = {(each.model, each.language): each for each in comparisons}
    known = {model: any(found[key].published for key in found if key[0] == model) for model in models}
    header = ["language"]
    for model in models:
        header += [f"{table.row(model)}, ours", "published"] if known[model] else [f"{table.row(model)}, ours"]
    rows = [[language, *(cell for model in models for cell in _both(found.get((model, language)))[:1 + known[model]])]
            for language in table.languages if any(each.language == language for each in comparisons)]
    return Grid(header, rows)


def _both(comparison: Optional[Comparison]) -> list[str]:
    if comparison is None:
        return ["", ""]
    mark = PARTIAL if comparison.kind == VOTE and not comparison.full else ""
    theirs = comparison.published
    return [number(comparison.ours) + mark, plus_minus(number(theirs.accuracy), theirs.sd) if theirs else ""]


def language_tsv(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    return [Grid(LANGUAGE_HEADER, [_language_row(table, each) for each in compare(table, published, scored(runs))])]


def _language_row(table: PaperTable, each: Comparison) -> list[str]:
    theirs = each.published
    kind = (SINGLE if each.kind == LIKE else VOTE) if theirs else NONE
    return [each.setting, table.row(each.model), each.model, each.language, "vote" if each.votes else "single",
            exact(each.ours), exact(each.sd), str(each.models), ",".join(dict.fromkeys(run.seed for run in each.runs)),
            ",".join(each.folds), yes(each.full), kind, exact(theirs.accuracy if theirs else None),
            exact(theirs.sd if theirs else None), yes(theirs.same_folds, FOLDS) if theirs else NONE,
            exact(each.difference), "+".join(sorted(each.engines)) or NONE]
