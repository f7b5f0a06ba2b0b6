"""Print our runs of a table beside the published ones: by language, with paired tests, and what voting is worth.

Usage:
  compare.py [options] NAME [RUNS]

Arguments:
  NAME              sigmorphon2016, sigmorphon2017, celex, lemmatization, g2p2020, g2p2021 or segmentation2022
  RUNS              a results folder or a list of runs (default: experiments/NAME/measured.tsv)

Options:
  --models=x,y      only these models (by their names in the results folder)
  --seed=N          only single models with this seed
  --published=FILE  compare with the figures in FILE (columns as in experiments/NAME/published.tsv)
  --format=FORMAT   text, markdown or tsv [default: text]
  -h --help         show this
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Optional

import numpy as np
from docopt import docopt
from frames import UNIT, above_below, figures_frame, mean, number, pd, probability, runs_frame, runs_of, show, signed
from significance import sign_test, signed_rank_test

from il_morph.errors import InputError, errors_for_people
from il_morph.reproduction.blocks import Block, Grid, Heading
from il_morph.reproduction.by_language import KINDS, fold_remark, language_grid
from il_morph.reproduction.cells import MISSING, measure, names
from il_morph.reproduction.figures import (
    BESIDE_SINGLES,
    BESIDE_VOTE,
    LanguageFigure,
    accuracy,
    comparable,
    language_figures,
    scored,
)
from il_morph.reproduction.paper_tables import NONE, PaperTable, load_table
from il_morph.reproduction.published import SINGLE, VOTE, Published, load_published
from il_morph.reproduction.run_list import runs_of_models
from il_morph.reproduction.runs import Run, members_of
from il_morph.reproduction.variants import Variant, seed_noise, single_cells, variants

ENOUGH_LANGUAGES = 10  # for one to stand out: none of five can lie two standard deviations off their mean
ENOUGH_PAIRS = 6  # for a paired test: five of the same sign happen by chance in 6 % of cases
ENOUGH_FREEDOM = 10  # degrees of freedom of the noise, for a variant to be judged by it
NOISE = ("noise: the standard deviation that our mean would have if our models differed from each other as the "
         "published ones do, over folds and seeds.")
TESTS = ("p: the probability of as large a difference by chance, by the sign test or by Wilcoxon's signed-rank test "
         "over languages (two-sided, exact).")


def main(argv: Optional[Sequence[str]] = None) -> None:
    args = docopt(__doc__, argv)
    table = load_table(args["NAME"])
    published, runs = load_published(table, args["--published"]), runs_of(table, args["RUNS"])
    runs, seed = runs_of_models(runs, args["--models"], args["RUNS"] or "our runs"), args["--seed"]
    if seed and not any(run.seed == seed for run in runs):
        raise InputError(f"--seed={seed}: there are no runs with this seed")
    show(comparison(table, published, [run for run in runs if not seed or run.voters > 1 or run.seed == seed]),
         args["--format"])


def comparison(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    runs = scored(runs)
    figures, frame = comparable(table, language_figures(table, published, runs)), runs_frame(table, runs)
    return [Heading(f"{table.title}: our runs beside the published ones", 1), measure(table), TESTS, *engines(frame),
            *fold_remark(table, figures), *beside_published(table, figures), *which_is_better(table, published, frame),
            *worth_of_votes(table, published, runs), *without_voting(published, figures_frame(table, figures)),
            *spread_of_seeds(table, runs), *worth_of_variants(table, runs), *durations(frame)]


def section(title: str, text: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[Block]:
    """Nothing without rows."""
    rows = list(rows)
    return [Heading(title), text, Grid(header, rows)] if rows else []


def engines(runs: pd.DataFrame) -> list[Block]:
    counts = runs[runs["voters"] == 1]["engine"].value_counts().sort_index()
    shown = names(f"{count} by {engine}" for engine, count in counts.items())
    return [f"The runs were made by different engines: {shown}."] if len(counts) > 1 else []


# Ours beside the published


def beside_published(table: PaperTable, figures: Sequence[LanguageFigure]) -> Iterator[Block]:
    for setting in table.settings:
        for (kind, _), title in KINDS.items():
            own = [each for each in figures if (each.setting, each.kind) == (setting, kind)]
            if own:
                yield Heading(f"{title}: {setting}")
                yield from [NOISE] if kind == BESIDE_SINGLES else []
                yield summary_grid(kind, figures_frame(table, own))
                yield language_grid(table, own)


def summary_grid(kind: str, figures: pd.DataFrame) -> Grid:
    """A line for each system: means over languages, mean difference and its spread."""
    noise, scale = (["noise"], "published singles") if kind == BESIDE_SINGLES else ([], "mean difference")
    header = ["system", "languages", "models", "ours", "published", "difference", *noise, "standard error",
              "sd over languages", "above", "below", "p, ranks", "lowest", "highest", f"beyond 2 sd of the {scale}"]
    rows = []
    for system, own in figures.groupby("system", sort=False):
        by, ends = own["difference"], own.set_index("language")["difference"]
        deviations = (own["published_sd"] ** 2 / own["models"]).sum(skipna=False) ** 0.5 / len(own)
        rows.append([system, str(len(own)), str(own["models"].sum()), number(mean(own["ours"])),
                     number(mean(own["published"])), signed(mean(by), 2), *([number(deviations, 2)] if noise else []),
                     number(by.sem(), 2), number(by.std(), 2), *above_below(by), probability(signed_rank_test(by)),
                     *(f"{end} {signed(ends[end])}" for end in (ends.idxmin(), ends.idxmax())), far_off(kind, own)])
    return Grid(header, rows)


def far_off(kind: str, figures: pd.DataFrame) -> str:
    """The languages beyond two standard deviations, and by how many they are off: of the published single models, or
    else of the differences around their mean."""
    own = figures.sort_values("difference", kind="stable").set_index("language")
    by, published = own["difference"], own["published_sd"].replace(0, np.nan)
    enough = len(own) >= ENOUGH_LANGUAGES and by.std() > 0
    off = by / published if kind == BESIDE_SINGLES else (by - by.mean()) / by.std() if enough else by * np.nan
    return MISSING if off.isna().all() else names(f"{name} ({each:+.1f})" for name, each in off[off.abs() > 2].items())


# Which of two systems is better


def which_is_better(table: PaperTable, published: Published, runs: pd.DataFrame) -> list[Block]:
    rows = [(setting, "votes" if kind == VOTE else "single models", whose, table.row(first), table.row(second),
             str(len(by)), signed(mean(by), 2), number(by.sem(), 2), *above_below(by), probability(sign_test(by)),
             probability(signed_rank_test(by)))
            for setting, kind, whose, first, second, by in paired(table, published, runs)]
    text = ("The first minus the second on the languages (and folds) that both have, where there are at least "
            f"{ENOUGH_PAIRS}; single models are means over seeds.")
    return section("Which of two systems is better", text, [
        "setting", "figure", "whose", "first", "second", "languages (and folds)", "difference", "standard error",
        "first better", "second better", "p, sign", "p, ranks"], dict.fromkeys(rows))


Pair = tuple[str, str, str, str, str, pd.Series]  # setting, VOTE or SINGLE, whose, two models, their differences


def paired(table: PaperTable, published: Published, runs: pd.DataFrame) -> Iterator[Pair]:
    """Each two systems of the paper, the later row first, on the languages (and folds) that both have: ours, and the
    published figures for these languages."""
    order = dict.fromkeys(system.model for system in table.systems if system.row != NONE)
    for kind, own in ((VOTE, runs[runs["full_vote"]]), (SINGLE, runs[runs["voters"] == 1])):
        for setting in table.settings:
            by_unit = own[own["setting"] == setting].groupby([*UNIT, "model"], sort=False)["accuracy"].mean().unstack()
            for second, first in combinations([model for model in order if model in by_unit], 2):
                ours = (by_unit[first] - by_unit[second]).dropna()
                tests = [(kind, "ours", ours)]
                for known in (SINGLE, VOTE) if kind == SINGLE else (VOTE,):
                    both = [published_accuracies(table, published, (setting, model, known), ours.index.unique(0))
                            for model in (first, second)]
                    tests.append((known, "published", (both[0] - both[1]).dropna()))
                yield from ((setting, figure, whose, first, second, by) for figure, whose, by in tests
                            if len(by) >= ENOUGH_PAIRS)


def published_accuracies(table: PaperTable, published: Published, what: tuple[str, str, str],
                         languages: Iterable[str]) -> pd.Series:
    setting, model, kind = what
    found = {language: published.find(setting, table.row(model), kind, language, table.folds or [NONE])
             for language in languages}
    return pd.Series({name: figure.accuracy if figure else np.nan for name, figure in found.items()}, dtype=float)


# What voting is worth


def worth_of_votes(table: PaperTable, published: Published, runs: Sequence[Run]) -> list[Block]:
    text = f"A vote of {len(table.seeds)} models against the mean of its members, in our runs."
    theirs = "A published vote against the mean of the single models, where they were published too."
    return [*vote_section("What voting is worth", text, vote_gains(table, runs)),
            *vote_section("What published votes are worth", theirs, published_gains(published))]


def vote_gains(table: PaperTable, runs: Sequence[Run]) -> pd.DataFrame:
    singles, gains = {run.place: accuracy(run) for run in runs}, []
    for run in runs:
        members = [singles.get(member, np.nan) for member in members_of(table, run)]
        if table.is_full_vote(run.seed):
            gains.append((run.setting, table.row(run.model), accuracy(run) - mean(members)))
    return pd.DataFrame(gains, columns=["setting", "system", "gain"]).dropna()


def published_gains(published: Published) -> pd.DataFrame:
    places = ["setting", "system", "language", "fold"]
    figures = pd.DataFrame([(setting, system, *unit, kind, figure.accuracy) for (setting, system, kind, *unit), figure
                            in published.figures.items()], columns=[*places, "kind", "accuracy"])
    votes, singles = (figures[figures["kind"] == kind] for kind in (VOTE, SINGLE))
    both = votes.merge(singles, on=places)
    return both.assign(gain=both["accuracy_x"] - both["accuracy_y"])


def vote_section(title: str, text: str, gains: pd.DataFrame) -> list[Block]:
    rows = [[setting, system, str(len(own)), signed(mean(own), 2), number(own.std(), 2), signed(own.min()),
             signed(own.max())] for (setting, system), own in gains.groupby(["setting", "system"], sort=False)["gain"]]
    return section(title, text, ["setting", "system", "languages (and folds)", "mean gain", "sd over languages",
                                 "lowest", "highest"], rows)


def without_voting(published: Published, figures: pd.DataFrame) -> list[Block]:
    """Single models beside published votes, less what the published vote of another system is worth."""
    gains, rows, systems = published_gains(published), [], ["setting", "system"]
    voted = set(map(tuple, figures[figures["kind"] == VOTE][systems].values))
    for (setting, system), own in figures[figures["kind"] == BESIDE_VOTE].groupby(systems, sort=False):
        here = gains[(gains["setting"] == setting) & (gains["fold"] == NONE)] if (setting, system) not in voted else []
        for voting, theirs in here.groupby("system", sort=False) if len(here) else ():
            both = own.merge(theirs, on="language")
            left = both["difference"] + both["gain"]
            if len(both) >= ENOUGH_PAIRS:
                rows.append([setting, system, voting, str(len(both)), signed(mean(both["difference"]), 2),
                             number(both["difference"].sem(), 2), signed(mean(both["gain"]), 2),
                             signed(mean(left), 2), number(left.sem(), 2), probability(signed_rank_test(left))])
    text = ("Of systems without votes of ours: single models minus the published vote, and what is left of that when "
            "on each language a vote is taken to be worth what the published vote of another system is.")
    return section("Single models beside published votes, voting set aside", text, [
        "setting", "system", "worth of a vote of", "languages", "difference", "standard error", "worth of the vote",
        "left", "standard error of what is left", "p, ranks"], rows)


# Seeds, variants, time


def spread_of_seeds(table: PaperTable, runs: Sequence[Run]) -> list[Block]:
    found = {place: seed_noise(own) for place, own in single_cells(runs).items()}
    rows = [[setting, table.row(model), str(noise.groups), number(noise.sd, 2)]
            for (setting, model), noise in found.items() if noise]
    return section("How much seeds differ", "Standard deviation of single models of the same language, pooled.",
                   ["setting", "system", "languages (and folds)", "sd"], rows)


def worth_of_variants(table: PaperTable, runs: Sequence[Run]) -> list[Block]:
    rows = [[each.setting, each.model, table.row(each.base), str(each.groups), number(each.without),
             number(each.with_it), signed(each.difference, 2), f"{number(each.noise, 2)} ({each.freedom})",
             stands_out(each)] for each in variants(table, runs)]
    text = ("Means over languages of the mean over seeds. The noise is the standard deviation that the difference "
            "would have if only the seeds differed, by those of these languages that have several (its degrees of "
            f"freedom; with fewer than {ENOUGH_FREEDOM} nothing is judged).")
    return section("What variants are worth", text, [
        "setting", "variant", "of", "languages (and folds)", "without it", "with it", "difference", "noise",
        "beyond twice the noise"], rows)


def stands_out(variant: Variant) -> str:
    if variant.noise is None or variant.freedom < ENOUGH_FREEDOM:
        return MISSING
    return "yes" if abs(variant.difference) > 2 * variant.noise else "no"


def durations(runs: pd.DataFrame) -> list[Block]:
    timed = runs[runs["voters"] == 1].dropna(subset=["epochs", "minutes"])
    rows = [[setting, system, engine, str(len(own)), number(mean(own["epochs"])),
             *(number(how(own["minutes"])) for how in (mean, min, max)),
             number(mean(own["cpu_minutes"].dropna())), str(own["cpu_minutes"].count())]
            for (setting, system, engine), own in timed.groupby(["setting", "system", "engine"], sort=False)]
    text = "Minutes by the clock, which other programs on the machine make longer, and of CPU time where it is known."
    return section("How long the runs took", text, [
        "setting", "system", "engine", "runs", "epochs", "minutes", "shortest", "longest", "CPU minutes", "of runs"],
        rows)


if __name__ == "__main__":
    with errors_for_people("compare.py"):
        main()
