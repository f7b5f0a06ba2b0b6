"""The votes of the seeds: RESULTS/SETTING/MODEL/LANGUAGE/1+2+3 holds the vote of seeds 1, 2 and 3.

The predictions of beam search vote, or the predictions of greedy search if no seed has used a beam.
"""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from il_morph.bars import bar
from il_morph.data.formats import SIGMORPHON2016, DataFormat, ReadOptions, Separators
from il_morph.data.read_options import read_options
from il_morph.data.spelling import AS_IS
from il_morph.errors import InputError
from il_morph.evaluation.entries import read_gold
from il_morph.evaluation.voting import ensemble, ranked_ensemble
from il_morph.model.settings import SEPARATORS
from il_morph.reproduction.finished_runs import evaluated
from il_morph.reproduction.paper_tables import PaperTable, System
from il_morph.reproduction.plan import asked_in
from il_morph.run_folder import GREEDY, ResultsTree, RunFolder, search_name
from il_morph.runs.records import stats_of
from il_morph.runs.votes import Count, write_vote

BEAM_TEST, GREEDY_TEST, GREEDY_DEV = f"{search_name(4)}.test", f"{GREEDY}.test", f"{GREEDY}.dev"


def make_ensembles(table: PaperTable, data: Path, results: ResultsTree) -> None:
    """For each setting, model and language, let all finished seeds vote, and the paper's seeds alone.

    Then make the votes of several models.
    """
    votes = {system.model for system in table.systems if system.voters}
    groups = [each for each in results.groups(table.settings) if each[2].parent.name not in votes]
    for setting, language, group in bar(groups, "ensembles", "group"):
        finished = finished_seeds(group)
        gold = data / table.data_file(table.test, setting, language, "")
        for seeds in votes_of(table, finished):
            vote(group, seeds, gold, format_of(table, language))
    for system in filter(lambda system: system.voters, table.systems):
        for language in table.languages:
            vote_together(table, system, language, data, results)


def votes_of(table: PaperTable, finished: Sequence[str]) -> list[Sequence[str]]:
    """The seeds of each vote: all finished seeds, and the paper's seeds if all of them are finished."""
    return [seeds for seeds in dict.fromkeys([tuple(finished), tuple(table.seeds)])
            if len(seeds) > 1 and set(seeds) <= set(finished)]


def finished_seeds(group: Path) -> list[str]:
    """The seeds that have finished with predictions for the test data, in order."""
    seeds = RunFolder(group).seeds()
    part = _part_of(seeds)
    return [seed.path.name for seed in seeds if _is_finished(seed, part)]


def vote(group: Path, seeds: Sequence[str], gold: Path, fmt: DataFormat) -> None:
    """Let the seeds vote, unless their vote exists and is newer than their predictions."""
    members = [RunFolder(group / seed) for seed in seeds]
    _vote_if_new(members, RunFolder(group / "+".join(seeds)), gold, fmt, _part_of(members), ensemble)


def vote_together(table: PaperTable, system: System, language: str, data: Path, results: ResultsTree) -> None:
    """Let several models vote, ranked by dev accuracy, with the seeds that all of the models have finished."""
    groups = [results.root / system.setting / model / language for model in system.voters]
    shared = set.intersection(*(set(finished_seeds(group)) for group in groups))
    gold = data / table.data_file(table.test, system.setting, language, "")
    for seeds in votes_of(table, sorted(shared, key=int)):
        members = [RunFolder(group / seed) for group in groups for seed in seeds]
        accuracies = [evaluated(member.evaluation(GREEDY_DEV)) for member in members]
        together = results.run(system.setting, system.model, language, "", "+".join(seeds))
        _vote_if_new(members, together, gold, format_of(table, language), _part_of(members), _ranked_by(accuracies))


def _ranked_by(accuracies: Sequence[float]) -> Count:
    return lambda models, fmt: ranked_ensemble(models, accuracies, fmt)


def format_of(table: PaperTable, language: str) -> DataFormat:
    asked = asked_in(table.format_of(language))
    return read_options(**asked).known or SIGMORPHON2016


def _vote_if_new(members: Sequence[RunFolder], together: RunFolder, gold: Path, fmt: DataFormat, part: str,
                 count: Count) -> None:
    try:
        if not _is_newer(together.evaluation(part), [member.predictions(part) for member in members]):
            reading = _reading(members[0], fmt)
            write_vote(members, together, part, fmt, read_gold(gold, reading), count, reading.separators)
    except (InputError, OSError):
        if all(_is_finished(member, part) for member in members):
            raise
        # a member is being trained again at this moment; the command that trains it repeats the vote


def _reading(member: RunFolder, fmt: DataFormat) -> ReadOptions:
    """How a run has read its data: the format, the Unicode form and the separators."""
    with stats_of(member) as stats:
        settings = stats.get("settings", {})
        return ReadOptions(fmt, unicode=settings.get("unicode", AS_IS),
                           separators=Separators(*(settings.get(name, "") for name in SEPARATORS)))


def _part_of(runs: Sequence[RunFolder]) -> str:
    """The predictions that vote: beam search if any of the runs has it, else greedy search."""
    return BEAM_TEST if any(_is_finished(run, BEAM_TEST) for run in runs) else GREEDY_TEST


def _is_finished(run: RunFolder, part: str) -> bool:
    return run.finished and run.predictions(part).exists()


def _is_newer(path: Path, others: Sequence[Path]) -> bool:
    return path.exists() and all(path.stat().st_mtime_ns > other.stat().st_mtime_ns for other in others)
