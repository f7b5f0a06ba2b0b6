"""The votes of the seeds: RESULTS/SETTING/MODEL/LANGUAGE/1+2+3 holds what seeds 1, 2 and 3 have voted for."""
from __future__ import annotations

from pathlib import Path
from typing import Sequence

from il_morph.bars import bar
from il_morph.data.formats import DataFormat, Sample, format_from_flags
from il_morph.errors import InputError
from il_morph.evaluation.scores import evaluate, read_gold, read_predictions
from il_morph.evaluation.voting import ensemble
from il_morph.files import write_atomically
from il_morph.reproduction.facts import PaperTable
from il_morph.results import ResultsTree, RunFolder, search_name

PART = f"{search_name(4)}.test"


def make_ensembles(table: PaperTable, data: Path, results: ResultsTree) -> None:
    """For each setting, model and language the vote of all finished seeds, and that of the paper's alone."""
    for setting, language, group in bar(list(results.groups(table.settings)), "ensembles", "group"):
        finished = finished_seeds(group)
        gold = data / table.data_file(table.test, setting, language, "")
        for seeds in dict.fromkeys([tuple(finished), tuple(table.seeds)]):
            if len(seeds) > 1 and set(seeds) <= set(finished):
                vote(group, seeds, gold, format_of(table))


def finished_seeds(group: Path) -> list[str]:
    """The seeds that have finished with predictions for the test data, in order."""
    seeds = [path.name for path in group.glob("*") if path.name.isascii() and path.name.isdecimal()]
    return sorted(filter(lambda seed: _is_finished(RunFolder(group / seed)), seeds), key=int)


def vote(group: Path, seeds: Sequence[str], gold: Path, fmt: DataFormat) -> None:
    """Let the seeds vote, unless their vote is there and newer than they."""
    members = [RunFolder(group / seed) for seed in seeds]
    together = RunFolder(group / "+".join(seeds))
    try:
        if not _is_newer(together.evaluation(PART), [member.predictions(PART) for member in members]):
            _vote(members, together, gold, fmt)
    except (InputError, OSError):
        if all(map(_is_finished, members)):
            raise
        # one of them is trained again at this moment: whoever does that lets them vote again


def format_of(table: PaperTable) -> DataFormat:
    return format_from_flags(table.format == "--sigm2017format", table.format == "--no-feat-format")


def _vote(members: Sequence[RunFolder], together: RunFolder, gold: Path, fmt: DataFormat) -> None:
    predictions = [read_predictions(member.predictions(PART), fmt) for member in members]
    lines = [fmt.line(Sample(entry.input, entry.tag, None), output) + "\n"
             for entry, output in zip(predictions[0], ensemble(predictions, fmt))]
    together.path.mkdir(exist_ok=True)
    for path in together.leftovers():
        path.unlink(missing_ok=True)
    write_atomically(together.predictions(PART), "".join(lines))
    scores = evaluate(read_gold(gold, fmt), read_predictions(together.predictions(PART), fmt), fmt)
    write_atomically(together.evaluation(PART), scores.as_text())


def _is_finished(run: RunFolder) -> bool:
    return run.finished and run.predictions(PART).exists()


def _is_newer(path: Path, others: Sequence[Path]) -> bool:
    return path.exists() and all(path.stat().st_mtime_ns > other.stat().st_mtime_ns for other in others)
