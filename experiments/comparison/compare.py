"""Our runs beside the published results of the authors, language by language.

Usage:
  compare.py [options] TABLE PUBLISHED

Prints, in Markdown, what the runs in experiments/TABLE/measured.tsv say: single models against published
single models, votes against votes, and our single models against the authors' vote where they published no more;
then what voting is worth, how much seeds differ, what variants of a model (ca-r-uniform, ...) are worth against
that noise, and how long the runs took.

The last column of a comparison lists the languages that lie more than two standard deviations off: single models
those of the authors' single models; the others those of the differences of all languages, around their mean.

Arguments:
  TABLE        sigmorphon2016, sigmorphon2017, celex or lemmatization
  PUBLISHED    TSV with the columns dataset, setting, model, kind (single or ensemble), language,
               mean_accuracy, std_accuracy_sample: the authors' published predictions, scored

Options:
  --measured=FILE   runs, as il-morph table --measured writes them (default: experiments/TABLE/measured.tsv)
  --seed=N          of the single models only those with this seed (default: all, a language's mean counts)
  --output=FILE     write to FILE instead of standard output
  --plot=FILE       also draw our accuracy against the authors' (SVG or PNG; needs matplotlib)
  --setting=NAME    setting of the plot (default: the first of the table)
  -h --help         show this
"""

from __future__ import annotations

import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

import csv
import re
import statistics
from dataclasses import dataclass
from io import BytesIO
from math import sqrt
from typing import Iterable, NamedTuple, Optional

from docopt import docopt

from il_morph.errors import InputError, errors_for_people
from il_morph.files import read_bytes, write_atomically
from il_morph.reproduction.facts import EXPERIMENTS, PaperTable, load_table
from il_morph.reproduction.tables import Run, figure, read_runs

SYSTEMS = {"ca": "CA", "ca-crp": "CA", "ha": "HASTAR", "ca-mrt": "CA-MRT", "ha-mrt": "HASTAR-MRT",
           "ca-mrt-a": "CA-MRT-A", "ca-d": "CA-D", "ca-r": "CA-R", "ca-rm": "CA-RM"}
ALIGNERS = {"--align-cls": ("LCS", "cls"), "--align-smart": ("CRP", "crp")}
SETTINGS = {"0500": "bytask-500"}  # where they are named differently
COLUMNS = ("dataset", "setting", "model", "kind", "language", "mean_accuracy", "std_accuracy_sample")
ENOUGH_LANGUAGES = 10  # for one to stand out: of five none can lie two standard deviations off their mean
ENOUGH_FREEDOM = 10  # degrees of freedom of the noise, for a variant to be judged by it
KINDS = {
    "single": "Single models against the authors' single models",
    "vote": "Five models voting against the authors' five models voting",
    "one": "Our single models against the authors' five models voting (they published no single ones of these)",
}


@dataclass(frozen=True)
class Published:
    accuracy: float
    sd: Optional[float]


@dataclass(frozen=True)
class Comparison:
    """Ours and theirs for one model and language."""

    kind: str
    setting: str
    model: str
    language: str
    ours: float
    runs: int
    theirs: Published

    @property
    def difference(self) -> float:
        return self.ours - self.theirs.accuracy


def main(arguments: dict) -> None:
    table = load_table(arguments["TABLE"])
    check_plot(arguments, table)
    path = arguments["--measured"] or EXPERIMENTS / table.name / "measured.tsv"
    runs = of_seed([run for run in read_runs(table, path) if run.test_beam4 is not None], arguments["--seed"], path)
    comparisons = list(compare(table, runs, read_published(arguments["PUBLISHED"], table)))
    text = "\n".join([f"# {table.title}: our runs beside the authors'", "", "Test accuracy in percent, beam 4.", "",
                      *folds(table, runs), *sections(comparisons), *votes(table, runs), *seed_noise(runs),
                      *variants(runs), *durations(runs)])
    if arguments["--plot"]:
        write_atomically(arguments["--plot"], plot(comparisons, arguments["--setting"] or table.settings[0],
                                                   Path(arguments["--plot"]).suffix[1:]))
    if arguments["--output"]:
        write_atomically(arguments["--output"], text)
    else:
        sys.stdout.write(text)


def of_seed(runs: list[Run], seed: Optional[str], path: str) -> list[Run]:
    """All votes, and the single models: all, or those with this seed."""
    if seed is None:
        return runs
    if not any(run.seed == seed for run in runs):
        raise InputError(f"--seed={seed}: {path} lists no runs with this seed")
    return [run for run in runs if run.voters > 1 or run.seed == seed]


def check_plot(arguments: dict, table: PaperTable) -> None:
    setting, path = arguments["--setting"], arguments["--plot"]
    if setting and not path:
        raise InputError("--setting belongs to --plot: leave it out")
    if setting and setting not in table.settings:
        raise InputError(f"--setting takes {' or '.join(table.settings)}, not {setting!r}")
    if path and Path(path).suffix not in (".svg", ".png"):
        raise InputError(f"--plot takes a file .svg or .png, not {path!r}")


# what there is to compare

def read_published(path: str, table: PaperTable) -> dict[tuple[str, ...], Published]:
    """Setting, model, kind and language -> accuracy."""
    lines = read_bytes(path).decode("utf-8", "replace").splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    if set(COLUMNS) - set(rows.fieldnames or ()):
        raise InputError(f"{path} does not have the columns {', '.join(COLUMNS)}")
    try:
        return {tuple(row[column] for column in ("setting", "model", "kind", "language")):
                Published(figure(row["mean_accuracy"]), figure(row["std_accuracy_sample"], missing="NA"))
                for row in rows if row["dataset"] == table.name}
    except (TypeError, ValueError):
        raise InputError(f"{path}, line {rows.line_num}: mean_accuracy or std_accuracy_sample is no number") from None


def published_names(table: PaperTable) -> dict[tuple[str, str], list[str]]:
    """Setting and model -> the names it may have; those of models with an aligner end with its name."""
    names = {}
    for model in table.systems:
        system = SYSTEMS.get(model.model)
        endings = [ending for flag, both in ALIGNERS.items() if flag in model.options for ending in both]
        names[model.setting, model.model] = [system, *(f"{system}-{ending}" for ending in endings)] if system else []
    return names


def compare(table: PaperTable, runs: list[Run], published: dict) -> Iterable[Comparison]:
    names = published_names(table)
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.setting, run.model, run.language), []).append(run)

    def theirs(setting: str, model: str, language: str, kind: str) -> Optional[Published]:
        if language not in table.languages:
            raise InputError(f"{language} is not a language of {table.name}: see experiments/{table.name}/languages.tsv")
        column = table.languages[language]
        places = [(SETTINGS.get(setting, setting), called, kind, written)
                  for called in names.get((setting, model), []) for written in (language, column)]
        return next((published[place] for place in places if place in published), None)

    for (setting, model, language), group in groups.items():
        single, vote = (theirs(setting, model, language, kind) for kind in ("single", "ensemble"))
        ours = [run.test_beam4 for run in group if run.voters == 1]
        if ours and (single or vote):
            yield Comparison("single" if single else "one", setting, model, language, statistics.fmean(ours), len(ours),
                             single or vote)
        for run in group:
            if vote and table.is_full_vote(run):
                yield Comparison("vote", setting, model, language, run.test_beam4, run.voters, vote)


# text

def folds(table: PaperTable, runs: list[Run]) -> Iterable[str]:
    """Folds differ in how hard they are, so it matters which of them were run."""
    own = sorted({run.fold for run in runs})
    if table.folds and runs and len(own) < len(table.folds):
        yield from [f"Ours: fold {', '.join(own)} of {len(table.folds)}. The authors' figures are means over all folds; "
                    "their ± is over folds and seeds. Folds differ in how hard they are.", ""]


def sections(comparisons: list[Comparison]) -> Iterable[str]:
    for setting in dict.fromkeys(each.setting for each in comparisons):
        for kind, title in KINDS.items():
            own = [each for each in comparisons if (each.setting, each.kind) == (setting, kind)]
            if own:
                yield from [f"## {title}: {setting}", "", *summary(kind, own), "", *by_language(own), ""]


def summary(kind: str, comparisons: list[Comparison]) -> Iterable[str]:
    """A line for each model: means over languages, mean difference and its spread."""
    deviations = deviations_from_singles if kind == "single" else deviations_from_mean
    scale = "of the authors' singles" if kind == "single" else "of the mean difference"
    yield ("| model | languages | runs | ours | authors | mean difference | sd over languages | lowest | highest | "
           f"beyond 2 sd {scale} |")
    yield "|---|---:|---:|---:|---:|---:|---:|---|---|---|"
    for model in dict.fromkeys(each.model for each in comparisons):
        own = sorted((each for each in comparisons if each.model == model), key=lambda each: each.difference)
        differences = [each.difference for each in own]
        yield (f"| {name(model)} | {len(own)} | {sum(each.runs for each in own)} | {mean(each.ours for each in own)} | "
               f"{mean(each.theirs.accuracy for each in own)} | {statistics.fmean(differences):+.2f} | "
               f"{spread(differences)} | {own[0].language} {own[0].difference:+.1f} | "
               f"{own[-1].language} {own[-1].difference:+.1f} | {far_off(own, deviations(own))} |")


def deviations_from_singles(comparisons: list[Comparison]) -> list[Optional[float]]:
    return [each.difference / each.theirs.sd if each.theirs.sd else None for each in comparisons]


def deviations_from_mean(comparisons: list[Comparison]) -> list[Optional[float]]:
    differences = [each.difference for each in comparisons]
    if len(differences) < ENOUGH_LANGUAGES or not statistics.stdev(differences):
        return [None] * len(differences)
    center, sd = statistics.fmean(differences), statistics.stdev(differences)
    return [(difference - center) / sd for difference in differences]


def far_off(comparisons: list[Comparison], deviations: list[Optional[float]]) -> str:
    """The languages beyond two standard deviations, and by how many they are off."""
    if all(by is None for by in deviations):
        return "–"
    far = [f"{each.language} ({by:+.1f})" for each, by in zip(comparisons, deviations) if by is not None and abs(by) > 2]
    return ", ".join(far) or "none"


def by_language(comparisons: list[Comparison]) -> Iterable[str]:
    """Ours and theirs for each language."""
    models = list(dict.fromkeys(each.model for each in comparisons))
    found = {(each.model, each.language): each for each in comparisons}
    yield "| language | " + " | ".join(f"{name(model)}, ours | authors" for model in models) + " |"
    yield "|---|" + "---:|---:|" * len(models)
    for language in sorted({each.language for each in comparisons}):
        cells = [cell for model in models for cell in both(found.get((model, language)))]
        yield f"| {language} | " + " | ".join(cells) + " |"


def both(comparison: Optional[Comparison]) -> list[str]:
    if comparison is None:
        return ["", ""]
    theirs = comparison.theirs
    return [f"{comparison.ours:.1f}", f"{theirs.accuracy:.1f}" + (f" ± {theirs.sd:.1f}" if theirs.sd else "")]


def name(model: str) -> str:
    return re.sub(r"^HA\b", "HA*", model.upper())


def mean(values: Iterable[float]) -> str:
    return f"{statistics.fmean(values):.1f}"


def spread(values: list[float]) -> str:
    return f"{statistics.stdev(values):.2f}" if len(values) > 1 else "–"


# votes, seeds and variants

def vote_gains(table: PaperTable, runs: list[Run]) -> dict[tuple[str, str], list[float]]:
    """Setting and model -> by how much each vote of all seeds is better than the mean of its members."""
    singles, gains = {run.place: run.test_beam4 for run in runs}, {}
    for run in runs:
        if table.is_full_vote(run) and all(member in singles for member in run.members):
            gain = run.test_beam4 - statistics.fmean(singles[member] for member in run.members)
            gains.setdefault((run.setting, run.model), []).append(gain)
    return gains


def votes(table: PaperTable, runs: list[Run]) -> Iterable[str]:
    gains = vote_gains(table, runs)
    if gains:
        yield from ["## What voting is worth", "", "A vote of five models against the mean of its members, in our runs.", "",
                    "| setting | model | languages (and folds) | mean gain | sd over languages | lowest | highest |",
                    "|---|---|---:|---:|---:|---:|---:|"]
        yield from (f"| {setting} | {name(model)} | {len(each)} | {statistics.fmean(each):+.2f} | {spread(each)} | "
                    f"{min(each):+.1f} | {max(each):+.1f} |" for (setting, model), each in gains.items())
        yield ""


def accuracies(runs: list[Run]) -> dict[tuple[str, ...], dict[tuple[str, ...], float]]:
    """Setting and model -> language, fold and seed -> accuracy of single models."""
    found: dict = {}
    for run in runs:
        if run.voters == 1:
            found.setdefault((run.setting, run.model), {})[run.language, run.fold, run.seed] = run.test_beam4
    return found


def by_group(cells: dict[tuple[str, ...], float]) -> dict[tuple[str, str], list[float]]:
    """Language and fold -> the accuracies of its seeds."""
    groups: dict = {}
    for (language, fold, _), accuracy in cells.items():
        groups.setdefault((language, fold), []).append(accuracy)
    return groups


class SeedNoise(NamedTuple):
    """Standard deviation of the seeds of the same language and fold, pooled over those that have several."""

    sd: float
    freedom: int
    groups: int


def measure_noise(cells: dict[tuple[str, ...], float]) -> Optional[SeedNoise]:
    several = [values for values in by_group(cells).values() if len(values) > 1]
    if not several:
        return None
    freedom = sum(len(values) - 1 for values in several)
    squares = sum(statistics.variance(values) * (len(values) - 1) for values in several)
    return SeedNoise(sqrt(squares / freedom), freedom, len(several))


def seed_noise(runs: list[Run]) -> Iterable[str]:
    measured = {place: measure_noise(cells) for place, cells in accuracies(runs).items()}
    lines = [f"| {setting} | {name(model)} | {noise.groups} | {noise.sd:.2f} |"
             for (setting, model), noise in measured.items() if noise]
    if lines:
        yield from ["## How much seeds differ", "", "Standard deviation of single models of the same language, pooled.", "",
                    "| setting | model | languages (and folds) | sd |", "|---|---|---:|---:|", *lines, ""]


def variants(runs: list[Run]) -> Iterable[str]:
    """What a change of a model is worth: variants are named after their model, as ca-r-uniform after ca-r."""
    found = accuracies(runs)
    bases = {(setting, variant): found.get((setting, variant.rpartition("-")[0]))
             for setting, variant in found if variant not in SYSTEMS}
    figures = {place: worth(found[place], base) for place, base in bases.items() if base}
    lines = [f"| {setting} | {name(variant)} | {row} |" for (setting, variant), row in figures.items() if row]
    if lines:
        yield from ["## What variants are worth", "",
                    "Means over languages of the mean over seeds. The noise is the standard deviation that the difference",
                    "would have if only the seeds differed, by those of these languages that have several (its degrees",
                    f"of freedom; with fewer than {ENOUGH_FREEDOM} nothing is judged).", "",
                    "| setting | variant | languages (and folds) | without it | with it | difference | noise | beyond twice the noise |",
                    "|---|---|---:|---:|---:|---:|---:|---|", *lines, ""]


def worth(cells: dict[tuple[str, ...], float], base: dict[tuple[str, ...], float]) -> Optional[str]:
    """A variant beside its model, where both have runs and the model several seeds."""
    with_it, without = by_group(cells), by_group(base)
    shared = [group for group in with_it if group in without]
    seeds = measure_noise({cell: accuracy for cell, accuracy in base.items() if cell[:2] in shared})
    if seeds is None:
        return None
    changed, unchanged = ([statistics.fmean(side[group]) for group in shared] for side in (with_it, without))
    difference = statistics.fmean(changed) - statistics.fmean(unchanged)
    noise = seeds.sd * sqrt(sum(1 / len(side[group]) for group in shared for side in (with_it, without))) / len(shared)
    verdict = "–" if seeds.freedom < ENOUGH_FREEDOM else "yes" if abs(difference) > 2 * noise else "no"
    return (f"{len(shared)} | {mean(unchanged)} | {mean(changed)} | {difference:+.2f} | {noise:.2f} ({seeds.freedom}) | "
            f"{verdict}")


def durations(runs: list[Run]) -> Iterable[str]:
    groups: dict = {}
    for run in runs:
        if run.voters == 1 and run.minutes is not None and run.epochs is not None:
            groups.setdefault((run.setting, run.model), []).append(run)
    if groups:
        yield from ["## How long the runs took", "", "| setting | model | runs | epochs | minutes | shortest | longest |",
                    "|---|---|---:|---:|---:|---:|---:|"]
    for (setting, model), own in groups.items():
        minutes = [run.minutes for run in own]
        yield (f"| {setting} | {name(model)} | {len(own)} | {mean(run.epochs for run in own)} | {mean(minutes)} | "
               f"{min(minutes):.1f} | {max(minutes):.1f} |")
    yield ""


# picture

def plot(comparisons: list[Comparison], setting: str, kind: str) -> bytes:
    """Our accuracy against the authors', a point for each language, as svg or png."""
    try:
        import matplotlib
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install 'il-morph[plots]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "il-morph"  # the same picture is the same file
    own = [each for each in comparisons if each.setting == setting and each.model in ("ca-d", "ca-r", "ca-rm")]
    models = list(dict.fromkeys(each.model for each in own))
    if not models:
        raise InputError(f"--plot: there are no runs of CA-D, CA-R or CA-RM to compare in {setting}")
    figure, axes = pyplot.subplots(1, len(models), figsize=(4.2 * len(models), 4.4), sharey=True, squeeze=False)
    for axis, model in zip(axes[0], models):
        draw(axis, [each for each in own if each.model == model], name(model))
    axes[0][0].set_ylabel("ours, test accuracy")
    figure.tight_layout()
    picture = BytesIO()
    figure.savefig(picture, format=kind, dpi=110, metadata={"Date": None} if kind == "svg" else None)
    return picture.getvalue()


def draw(axis, comparisons: list[Comparison], title: str) -> None:
    styles = {"one": ("single models against their vote", "o", "none"), "single": ("single models", "s", "none"),
              "vote": ("votes of five", "o", "C1")}
    axis.plot([0, 100], [0, 100], color="0.7", linewidth=0.8)
    for kind, (label, marker, fill) in styles.items():
        own = [each for each in comparisons if each.kind == kind]
        axis.scatter([each.theirs.accuracy for each in own], [each.ours for each in own], s=22, marker=marker,
                     facecolors=fill, edgecolors="C1" if fill != "none" else "C0", linewidths=0.8,
                     label=f"{label} ({len(own)})" if own else None)
    axis.set(title=title, xlabel="authors, test accuracy", xlim=(0, 100), ylim=(0, 100), aspect="equal")
    axis.legend(loc="upper left", frameon=False)


if __name__ == "__main__":
    with errors_for_people("compare.py"):
        main(docopt(__doc__))
