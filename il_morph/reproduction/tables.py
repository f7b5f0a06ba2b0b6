"""The paper's tables with our runs, a line for each system; and all tables in one."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Optional

from il_morph.reproduction.blocks import Block, Caption, Grid, Remarks
from il_morph.reproduction.cells import (
    FOLDS,
    MISSING,
    NOTHING,
    PARTIAL,
    difference,
    exact,
    listed,
    measure,
    names,
    number,
    plus_minus,
    signed,
    yes,
)
from il_morph.reproduction.figures import LanguageFigure, MeanFigure, TableLine, language_figures, scored, table_line
from il_morph.reproduction.paper_tables import AVERAGE, NONE, PaperTable
from il_morph.reproduction.published import Published
from il_morph.reproduction.runs import Run
from il_morph.reproduction.variants import Variant, variants

WORDS = {"ensemble": "vote", "mean": "mean"}  # what the paper reports
PUBLISHED_SINGLES = "published singles"


def table_blocks(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    """The paper's table, then a line for each system of ours; those that are not in the paper come last."""
    own = scored(runs)
    lines = _lines(table, language_figures(table, published, own), table.summaries)
    blocks: list[Block] = [table.title, measure(table), Caption(table.source[0].upper() + table.source[1:]),
                           _paper_grid(table), *_notes(table)]
    if not lines:
        return [*blocks, NOTHING]
    for column in table.summaries:
        where = f", {column}" if len(table.summaries) > 1 else ""
        inside, outside = _split(table, [line for line in lines if line.column == column])
        blocks += [Caption(f"Ours{where}"), _system_grid(table, inside)] if inside else []
        blocks += [Caption(f"Ours, not in {table.source}{where}"),
                   _other_grid(table, outside, variants(table, own))] if outside else []
    return [*blocks, Remarks(list(_remarks(table, lines)))]


def _lines(table: PaperTable, figures: Sequence[LanguageFigure], columns: Iterable[str],
           empty: bool = False) -> list[TableLine]:
    """A line for each model and column; with `empty`, also where the model has no runs."""
    models = dict.fromkeys(each.model for each in figures)
    found = [table_line(table, figures, model, column) for model in models for column in columns]
    return [figures for figures in found if empty or figures.reported or figures.singles]


def _split(table: PaperTable, lines: Iterable[TableLine]) -> tuple[list[TableLine], list[TableLine]]:
    """The systems of the paper in its order, and the other systems."""
    lines, rows = list(lines), list(table.paper)
    inside = [line for line in lines if table.row(line.model) in rows]
    return sorted(inside, key=lambda line: rows.index(table.row(line.model))), [
        line for line in lines if line not in inside]


def _paper_grid(table: PaperTable) -> Grid:
    rows = []
    for system, figures in table.paper.items():
        marks = [f" [{number}]" for number, (systems, _) in enumerate(table.notes, start=1) if system in systems]
        rows.append([system + "".join(marks), *figures.values()])
    return Grid(["system", *table.columns], rows)


def _notes(table: PaperTable) -> list[Block]:
    lines = [f"[{number}] {', '.join(systems)}: {text}" for number, (systems, text) in enumerate(table.notes, start=1)]
    return [Remarks(lines)] if lines else []


# Lines of systems


def _system_grid(table: PaperTable, lines: Sequence[TableLine]) -> Grid:
    word = WORDS[table.report]
    header = ["system", word, f"published {word}", "difference", "above", "below", "languages"]
    rows = [[table.row(line.model), *_reported_cells(line), *_single_cells(table, line)] for line in lines]
    return Grid(header + _single_header(table), rows)


def _reported_cells(line: TableLine) -> list[str]:
    if line.reported is None:
        return [MISSING] * 5 + [f"0/{line.groups}"]
    differences = line.reported.differences
    counts = [str(differences.above), str(differences.below)] if differences.values else [MISSING, MISSING]
    return [_figure(line), number(line.reported.published), difference(line.reported), *counts,
            f"{len(line.reported.figures)}/{line.groups}"]


def _figure(line: TableLine) -> str:
    return MISSING if line.reported is None else number(line.reported.ours) + ("" if line.complete else PARTIAL)


def _single_header(table: PaperTable) -> list[str]:
    return ["sd", "runs"] if table.report == "mean" else ["single models", PUBLISHED_SINGLES, "languages", "runs"]


def _single_cells(table: PaperTable, line: TableLine) -> list[str]:
    runs = f"{line.runs}/{line.expected}"
    if table.report == "mean":
        return [number(line.single_sd, 2), runs]
    if line.singles is None:
        return [MISSING, MISSING, f"0/{line.groups}", runs]
    return [plus_minus(number(line.singles.ours), line.single_sd), number(line.singles.published_singles),
            f"{len(line.singles.figures)}/{line.groups}", runs]


def _other_grid(table: PaperTable, lines: Sequence[TableLine], judged: Sequence[Variant]) -> Grid:
    """The systems that are not in the paper; a variant is compared with its base model on the same languages."""
    kept = [name != PUBLISHED_SINGLES for name in _single_header(table)]
    header = ["system", WORDS[table.report], "languages", *compress(_single_header(table), kept), "variant of",
              "languages of both", "without", "with it", "difference", "noise"]
    found = {(each.setting, each.model): each for each in judged}
    rows = []
    for line in lines:
        languages = len(line.reported.figures) if line.reported else 0
        rows.append([line.model, _figure(line), f"{languages}/{line.groups}",
                     *compress(_single_cells(table, line), kept), *_variant_cells(table, _variant_of(line, found))])
    return Grid(header, rows)


def _variant_of(line: TableLine, found: dict[tuple[str, str], Variant]) -> Optional[Variant]:
    """The variant on a line, if the line has single models: variants are judged by them."""
    return found.get((line.singles.figures[0].setting, line.model)) if line.singles else None


def _variant_cells(table: PaperTable, variant: Optional[Variant]) -> list[str]:
    if variant is None:
        return [MISSING] * 6
    return [table.row(variant.base), str(variant.groups), number(variant.without), number(variant.with_it),
            signed(variant.difference), number(variant.noise, 2)]


def _remarks(table: PaperTable, lines: Sequence[TableLine]) -> Iterator[str]:
    word = WORDS[table.report]
    kind = "majority vote of the seeds" if table.report == "ensemble" else "mean over languages of folds and seeds"
    yield (f"{word}: {kind}; published {word}: the published figure for the same languages; difference: ours minus "
           "published, ± standard error over languages; above, below: on how many languages ours is.")
    if table.report == "ensemble":
        yield ("single models: mean over languages of the mean over seeds, ± standard deviation over the seeds that "
               "all languages share; next to it the published single models of the same languages.")
    else:
        yield "sd: standard deviation over the folds and seeds that all languages share."
    yield f"runs: ours out of {table.source}'s."
    if any(line.reported and not line.complete for line in lines):
        yield f"{PARTIAL} partial: some runs are missing."
    found: dict[str, list[str]] = {}
    for line in lines:
        who = table.row(line.model) + (f", {line.column}" if len(table.summaries) > 1 else "")
        for remark in _line_remarks(table, line):
            found.setdefault(remark, []).append(who)
    yield from (f"{'; '.join(who)}: {remark}" for remark, who in found.items())


def _line_remarks(table: PaperTable, line: TableLine) -> Iterator[str]:
    word = WORDS[table.report]
    if line.reported:
        yield from _coverage_remarks(table, line.reported, line.groups)
    if any(run.test_beam4 is None for each in (line.reported, line.singles) if each for own in each.figures
           for run in own.runs):
        yield "greedy search, without a beam."
    figures = {word: line.reported, **({} if table.report == "mean" else {"single models": line.singles})}
    for what, mean in figures.items():
        if mean and len(mean.engines) > 1:
            yield f"engines are mixed in the {what} ({names(_engine_counts(mean))} runs)."


def _coverage_remarks(table: PaperTable, reported: MeanFigure, groups: int) -> Iterator[str]:
    """The languages, folds and seeds behind a partial figure."""
    if len(reported.figures) < groups:
        yield f"{WORDS[table.report]} on {listed(reported.languages, groups)}."
    smaller = [f"{each.language} ({vote.voters})" for each in reported.figures for vote in each.votes
               if vote.voters < len(table.seeds)]
    if smaller:
        yield f"fewer than {table.source}'s {len(table.seeds)} voted in {names(smaller)}."
    if reported.other_folds:
        yield (f"ours are fold {names(reported.other_folds)} of {len(table.folds)}, the published figures are means "
               "over all folds; folds differ in how hard they are.")


def _engine_counts(mean: MeanFigure) -> list[str]:
    engines = [run.engine for each in mean.figures for run in each.runs]
    return [f"{engine}: {engines.count(engine)}" for engine in sorted(set(engines))]


# Machine-readable tables


LONG_HEADER = ["source", "column", "system", "model", "kind", "figure", "published", "difference", "standard_error",
               "above", "below", "languages", "of", "language_names", "complete", "single_mean", "single_sd",
               "single_languages", "published_singles", "runs", "expected", "engines", "published_folds"]


def table_tsv(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    """A row for each system and column: the paper's figures as printed, then ours."""
    paper = [_long_row("paper", column, system, NONE, kind=table.report, figure=figure)
             for system, figures in table.paper.items() for column, figure in figures.items()]
    lines = _lines(table, language_figures(table, published, scored(runs)), table.columns, empty=True)
    return [Grid(LONG_HEADER, paper + [_long_line(table, line) for line in lines])]


def _long_row(source: str, column: str, system: str, model: str, **cells: str) -> list[str]:
    known = {"source": source, "column": column, "system": system, "model": model, **cells}
    return [known.get(name, NONE) for name in LONG_HEADER]


def _long_line(table: PaperTable, line: TableLine) -> list[str]:
    cells = {"kind": table.report, "runs": str(line.runs), "expected": str(line.expected), "of": str(line.groups),
             "single_sd": exact(line.single_sd), "complete": yes(line.complete)}
    if line.reported:
        cells.update(_long_reported(line.reported))
    if line.singles:
        cells.update(single_mean=exact(line.singles.ours), single_languages=str(len(line.singles.figures)),
                     published_singles=exact(line.singles.published_singles))
        cells.setdefault("engines", "+".join(sorted(line.singles.engines)) or NONE)
    return _long_row("ours", line.column, table.row(line.model), line.model, **cells)


def _long_reported(reported: MeanFigure) -> dict[str, str]:
    own = reported.differences
    cells = {"figure": exact(reported.ours), "published": exact(reported.published), "difference": exact(own.mean),
             "standard_error": exact(own.standard_error), "languages": str(len(reported.figures)),
             "language_names": ",".join(reported.languages), "engines": "+".join(sorted(reported.engines)) or NONE,
             "published_folds": yes(not reported.other_folds, FOLDS) if own.values else NONE}
    return {**cells, "above": str(own.above), "below": str(own.below)} if own.values else cells


# All tables in one


def all_blocks(tables: Sequence[tuple[PaperTable, Published, Sequence[Run]]]) -> list[Block]:
    """A line for each system: the figure that the paper reports (votes, or means over folds and seeds), or else the
    single models, if figures for single models were published."""
    rows, waiting, other_folds = [], [], False
    for table, published, runs in tables:
        inside, _ = _split(table, _lines(table, language_figures(table, published, scored(runs)), table.summaries))
        for line in sorted(inside, key=lambda line: table.summaries.index(line.column)):
            if line.reported:
                rows.append(_all_row(table, line, WORDS[table.report] + _voters(line.reported), line.reported))
                other_folds |= bool(line.reported.other_folds)
            elif line.singles and line.singles.published_singles is not None:
                rows.append(_all_row(table, line, "single models", line.singles))
            else:
                waiting.append(f"{_all_name(table, line)} {table.row(line.model)}")
    legend = ["Test accuracy in percent, beam 4. Published: on the same languages. Difference: ours minus published, ± "
              "standard error over languages. Runs: ours out of the paper's."]
    legend += ["[f] ours cover some of the folds, the published figures are means over all."] if other_folds else []
    if waiting:
        legend.append(f"Not shown, because ours are single models and the published figures votes: {names(waiting)}.")
    return [Grid(["table", "system", "figure", "ours", "published", "difference", "languages", "runs"], rows),
            Remarks(legend)]


def _voters(reported: MeanFigure) -> str:
    """` of 3` or ` of 2 to 4` if fewer voted than in the paper."""
    voters = [vote.voters for each in reported.figures for vote in each.votes]
    if not voters or all(each.full for each in reported.figures):
        return ""
    return f" of {min(voters)}" + (f" to {max(voters)}" if min(voters) < max(voters) else "")


def _all_row(table: PaperTable, line: TableLine, figure: str, mean: MeanFigure) -> list[str]:
    folds = " [f]" if mean.other_folds else ""
    other = f", {table.measure.name}" if table.measure.name != "accuracy" else ""
    return [_all_name(table, line), table.row(line.model), figure + other + folds, number(mean.ours),
            number(mean.published), difference(mean), f"{len(mean.figures)} of {line.groups}",
            f"{line.runs} of {line.expected}"]


def _all_name(table: PaperTable, line: TableLine) -> str:
    return table.name if line.column == AVERAGE else f"{table.name} {line.column}"
