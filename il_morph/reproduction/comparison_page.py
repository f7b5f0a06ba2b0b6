"""The page that `il-morph table --compare` prints: our runs beside the published ones, and what the statistics say."""
from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Optional

from il_morph.reproduction.by_language import KINDS, fold_remark, language_grid
from il_morph.reproduction.cells import MEASURE, MISSING, names, number, probability, signed
from il_morph.reproduction.comparisons import LIKE, Comparison, Summary, compare, scored, summaries
from il_morph.reproduction.data_layout import Block, Grid, Heading
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.published import VOTE, Published
from il_morph.reproduction.runs import Run
from il_morph.reproduction.significance import signed_rank_test
from il_morph.reproduction.statistics import (
    ENOUGH_FREEDOM,
    ENOUGH_PAIRS,
    VoteGain,
    durations,
    paired_tests,
    published_vote_gains,
    seed_noise,
    variants,
    vote_gains,
    votes_aside,
)

NOISE = ("noise: the standard deviation that our mean would have if our models differed from each other as the "
         "published ones do, over folds and seeds.")
TESTS = ("p: the probability of as large a difference by chance, by the sign test or by Wilcoxon's signed-rank test "
         "over languages (two-sided, exact).")


def compared(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Comparison]:
    """What is comparable: votes of the paper's seeds, and single models; where something was published."""
    return [each for each in compare(table, published, scored(runs))
            if each.published and all(table.is_full_vote(vote) for vote in each.votes)]


def comparison_blocks(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    own = scored(runs)
    comparisons = compared(table, published, own)
    return [Heading(f"{table.title}: our runs beside the published ones", 1), MEASURE, TESTS, *_engines(own),
            *fold_remark(table, comparisons), *_sections(table, comparisons), *_paired(table, published, own),
            *_votes(table, published, own), *_votes_aside(table, published, comparisons), *_seeds(table, own),
            *_variants(table, own), *_durations(table, own)]


def _engines(runs: Sequence[Run]) -> list[Block]:
    counts = {engine: sum(run.voters == 1 and run.engine == engine for run in runs)
              for engine in sorted({engine for run in runs for engine in run.engines})}
    if len(counts) < 2:
        return []
    shown = names(f"{count} by {engine}" for engine, count in counts.items())
    return [f"The runs were made by different engines: {shown}."]


def _sections(table: PaperTable, comparisons: Sequence[Comparison]) -> list[Block]:
    blocks: list[Block] = []
    for setting in table.settings:
        for (kind, _), title in KINDS.items():
            own = [each for each in comparisons if (each.setting, each.kind) == (setting, kind)]
            if own:
                blocks += [Heading(f"{title}: {setting}"), *([NOISE] if kind == LIKE else []),
                           _summary_grid(table, kind, own), language_grid(table, own)]
    return blocks


def _summary_grid(table: PaperTable, kind: str, comparisons: Sequence[Comparison]) -> Grid:
    """A line for each model: means over languages, mean difference and its spread."""
    scale = "of the published singles" if kind == LIKE else "of the mean difference"
    header = ["system", "languages", "models", "ours", "published", "difference", *(["noise"] if kind == LIKE else []),
              "standard error", "sd over languages", "above", "below", "p, ranks", "lowest", "highest",
              f"beyond 2 sd {scale}"]
    return Grid(header, [_summary_row(table, kind, summary) for summary in summaries(comparisons)])


def _summary_row(table: PaperTable, kind: str, summary: Summary) -> list[str]:
    own = summary.differences
    return [table.row(summary.comparisons[0].model), str(len(summary.comparisons)), str(summary.models),
            number(summary.ours), number(summary.published), signed(own.mean, 2),
            *([number(summary.noise, 2)] if kind == LIKE else []), number(own.standard_error, 2), number(own.sd, 2),
            str(own.above), str(own.below), probability(signed_rank_test(own.values)),
            *(f"{each.language} {signed(each.difference)}" for each in (summary.lowest, summary.highest)),
            _far_off(summary)]


def _far_off(summary: Summary) -> str:
    """The languages beyond two standard deviations, and by how many they are off."""
    far = summary.far_off()
    return MISSING if far is None else names(f"{off.comparison.language} ({off.deviations:+.1f})" for off in far)


def _section(title: str, text: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Block]:
    """Nothing where there are no rows."""
    return [Heading(title), *([text] if text else []), Grid(header, rows)] if rows else []


def _paired(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    rows = [[test.setting, "votes" if test.kind == VOTE else "single models", test.whose, table.row(test.first),
             table.row(test.second), str(len(test.differences.values)), signed(test.differences.mean, 2),
             number(test.differences.standard_error, 2), str(test.differences.above), str(test.differences.below),
             probability(test.sign), probability(test.signed_rank)] for test in paired_tests(table, published, runs)]
    text = ("The first minus the second on the languages (and folds) that both have, where there are at least "
            f"{ENOUGH_PAIRS}; single models are means over seeds.")
    return _section("Which of two systems is better", text, [
        "setting", "figure", "whose", "first", "second", "languages (and folds)", "difference", "standard error",
        "first better", "second better", "p, sign", "p, ranks"], rows)


def _votes(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    text = f"A vote of {len(table.seeds)} models against the mean of its members, in our runs."
    theirs = "A published vote against the mean of the single models, where they were published too."
    return [*_vote_section("What voting is worth", text, vote_gains(table, runs)),
            *_vote_section("What published votes are worth", theirs, published_vote_gains(published))]


def _vote_section(title: str, text: str, found: Sequence[VoteGain]) -> list[Block]:
    rows = [[each.setting, each.system, str(len(each.gains.values)), signed(each.gains.mean, 2),
             number(each.gains.sd, 2), signed(min(each.gains.values)), signed(max(each.gains.values))]
            for each in found]
    return _section(title, text, [
        "setting", "system", "languages (and folds)", "mean gain", "sd over languages", "lowest", "highest"], rows)


def _votes_aside(table: PaperTable, published: Published, comparisons: Sequence[Comparison]) -> list[Block]:
    rows = [[each.setting, table.row(each.model), each.voting, str(len(each.left.values)),
             signed(each.differences.mean, 2), number(each.differences.standard_error, 2), signed(each.gains.mean, 2),
             signed(each.left.mean, 2), number(each.left.standard_error, 2),
             probability(signed_rank_test(each.left.values))] for each in votes_aside(published, comparisons)]
    text = ("Of systems without votes of ours: single models minus the published vote, and what is left of that when "
            "on each language a vote is taken to be worth what the published vote of another system is.")
    return _section("Single models beside published votes, voting set aside", text, [
        "setting", "system", "worth of a vote of", "languages", "difference", "standard error", "worth of the vote",
        "left", "standard error of what is left", "p, ranks"], rows)


def _seeds(table: PaperTable, runs: Sequence[Run]) -> list[Block]:
    rows = [[setting, table.row(model), str(noise.groups), number(noise.sd, 2)]
            for (setting, model), noise in seed_noise(runs).items()]
    text = "Standard deviation of single models of the same language, pooled."
    return _section("How much seeds differ", text, ["setting", "system", "languages (and folds)", "sd"], rows)


def _variants(table: PaperTable, runs: Sequence[Run]) -> list[Block]:
    rows = [[each.setting, each.model, table.row(each.base), str(each.groups), number(each.without),
             number(each.with_it), signed(each.difference, 2), f"{number(each.noise, 2)} ({each.freedom})",
             _verdict(each.stands_out)] for each in variants(table, runs)]
    text = ("Means over languages of the mean over seeds. The noise is the standard deviation that the difference "
            "would have if only the seeds differed, by those of these languages that have several (its degrees of "
            f"freedom; with fewer than {ENOUGH_FREEDOM} nothing is judged).")
    return _section("What variants are worth", text, [
        "setting", "variant", "of", "languages (and folds)", "without it", "with it", "difference", "noise",
        "beyond twice the noise"], rows)


def _verdict(stands_out: Optional[bool]) -> str:
    return MISSING if stands_out is None else "yes" if stands_out else "no"


def _durations(table: PaperTable, runs: Sequence[Run]) -> list[Block]:
    rows = [[each.setting, table.row(each.model), each.engine, str(len(each.minutes)), number(fmean(each.epochs)),
             *(number(of(each.minutes)) for of in (fmean, min, max)),
             number(fmean(each.cpu_minutes)) if each.cpu_minutes else MISSING, str(len(each.cpu_minutes))]
            for each in durations(runs)]
    text = "Minutes by the clock, which other programs on the machine make longer, and of CPU time where it is known."
    return _section("How long the runs took", text, [
        "setting", "system", "engine", "runs", "epochs", "minutes", "shortest", "longest", "CPU minutes",
        "of runs"], rows)
