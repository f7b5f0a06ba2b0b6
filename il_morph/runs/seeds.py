"""`il-morph train --seeds`: a model for each seed, each in a process of its own; their vote, mean and deviation."""
from __future__ import annotations

import hashlib
import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from il_morph.commands.run import cores, run_jobs
from il_morph.data.formats import Parts, Sample
from il_morph.errors import InputError
from il_morph.evaluation.entries import read_predictions
from il_morph.evaluation.scores import score
from il_morph.evaluation.voting import ensemble
from il_morph.files import STREAM, read_bytes, write_atomically
from il_morph.reproduction.plan import PlannedRun
from il_morph.run_folder import RunFolder, search_name
from il_morph.runs.eta import Experience
from il_morph.runs.experiment import Experiment
from il_morph.runs.locks import require_locks
from il_morph.runs.processes import forget, make_folder
from il_morph.runs.records import stats_of


@dataclass(frozen=True)
class SeedRun(PlannedRun):
    """The training of one seed."""

    @property
    def title(self) -> str:
        return f"seed {self.seed}"


def train_seeds(experiment: Experiment, flags: Sequence[str], seeds: Sequence[int], jobs: Optional[int]) -> int:
    """Train what is not trained yet, then let all seeds vote. Nothing is written before all input has been read."""
    if experiment.training.mode == "eval":
        raise InputError("--seeds trains models, --mode=eval does not: leave out one of them")
    _, parts, _ = experiment.check()
    root = RunFolder(os.path.abspath(experiment.results_path))
    runs = [seed_run(experiment, flags, root, seed) for seed in seeds]
    refuse_streams(runs[0])
    identity = identity_of(runs[0], parts)
    refuse_run_of_its_own(root)
    others = other_seeds(root, identity, seeds)
    if others and not experiment.force:
        raise InputError(others)
    require_locks()
    make_folder(root.path)
    if experiment.force:
        forget([*root.seeds(), *(run.results for run in runs)] if others else [run.results for run in runs])
        if others:
            discard(root, runs)
    write_atomically(root.seeds_identity, json.dumps(identity, ensure_ascii=False, indent=1) + "\n")
    if experiment.split:
        experiment.split.write()
    code = train_here(runs, jobs or cores())
    if not code:
        summary = summary_of(root, runs, parts, [search_name(width) for width in (1, *experiment.training.beam_widths)])
        write_atomically(root.summary("json"), json.dumps(summary, ensure_ascii=False, indent=1) + "\n")
        write_atomically(root.summary("txt"), as_text(summary))
        print(as_text(summary), end="")
    return code


def seed_run(experiment: Experiment, flags: Sequence[str], root: RunFolder, seed: int) -> SeedRun:
    """Epochs and patience are said in any case: the time that is left depends on them."""
    files = {"train": experiment.train_path, "dev": experiment.dev_path, "test": experiment.test_path}
    if experiment.split:
        files.update({name: str(target) for name, target in experiment.split.targets.items()})
    training, folder = experiment.training, str(root.path / str(seed))
    test = [f"--test-path={files['test']}"] if files["test"] else []
    return SeedRun("", "", "", "", str(seed), folder, [
        "train", *flags, f"--epochs={training.epochs}", f"--patience={training.patience}", f"--dynet-seed={seed}",
        *test, str(files["train"]), str(files["dev"]), folder])


def identity_of(run: PlannedRun, parts: Parts) -> dict[str, Any]:
    """The same settings and data with another seed belong together."""
    flags = [word for word in run.arguments[1:-3] if not word.startswith(("--dynet-seed=", "--test-path="))]
    data = hashlib.sha256(repr([parts.train, parts.dev, parts.test]).encode()).hexdigest()
    return {"flags": sorted(flags), "data": data}


def refuse_streams(run: PlannedRun) -> None:
    """Each training reads its files itself."""
    if STREAM in [run.arguments[-3], run.arguments[-2]] or f"--test-path={STREAM}" in run.arguments:
        raise InputError("--seeds: several trainings cannot read the standard input: give the path of a file instead "
                         f"of {STREAM}")


def refuse_run_of_its_own(root: RunFolder) -> None:
    """Its model would answer instead of the seeds."""
    if root.model.exists():
        raise InputError(f"{root.path} holds a run of its own, without seeds; choose another folder")


def other_seeds(root: RunFolder, identity: dict[str, Any], seeds: Sequence[int]) -> str:
    """What is in the folder and is not mixed with this training, and what to do; empty if there is nothing."""
    what_to_do = "choose another folder, or start over with --force"
    there = [int(run.path.name) for run in root.seeds() if run.remains()]
    if not root.seeds_identity.exists():
        return f"{root.path} holds other runs ({root.path / str(there[0])}); {what_to_do}" if there else ""
    try:
        recorded = json.loads(read_bytes(root.seeds_identity))
        different = next((name for name in ("data", "flags") if recorded[name] != identity[name]), None)
    except (ValueError, KeyError, TypeError):
        different = "record"
    if different:
        return (f"{root.path} holds the seeds of another training (its {different} differs: see "
                f"{root.seeds_identity}); {what_to_do}")
    if not {*there} <= {*seeds}:
        missing = ", ".join(str(seed) for seed in there if seed not in seeds)
        return f"{root.path} holds seeds that would not vote ({missing}): give them too; or {what_to_do} without them"
    return ""


def discard(root: RunFolder, runs: Sequence[PlannedRun]) -> None:
    """What others have left goes: the models of a folder answer together."""
    ours = {run.seed for run in runs}
    for folder in [root, *(seed for seed in root.seeds() if seed.path.name not in ours)]:
        for path in folder.remains():
            path.unlink(missing_ok=True)
    for ending in ("txt", "json"):
        root.summary(ending).unlink(missing_ok=True)


def train_here(runs: Sequence[PlannedRun], slots: int) -> int:
    experience = Experience()
    for run in runs:
        if run.results.finished:
            experience.add(run)
    jobs = [[run] for run in runs if not run.results.finished]
    return run_jobs(jobs, slots, experience) if jobs else 0


def summary_of(root: RunFolder, runs: Sequence[PlannedRun], parts: Parts, searches: Sequence[str]) -> dict[str, Any]:
    """Accuracies of each seed and of the vote, mean and standard deviation, for each decoding."""
    scores = {}
    for part, samples in (("dev", parts.dev), ("test", parts.test)):
        for name in [f"{search}.{part}" for search in searches] if samples else []:
            voted = vote(root, runs, name, parts, samples or [])
            if voted is not None:
                accuracies = {run.seed: accuracy_of(run.results, name) for run in runs}
                scores[name] = {"seeds": accuracies, "vote": voted, "mean": statistics.fmean(accuracies.values()),
                                "sd": statistics.stdev(accuracies.values()) if len(accuracies) > 1 else None}
    return {"seeds": [int(run.seed) for run in runs], "scores": scores}


def accuracy_of(run: RunFolder, name: str) -> float:
    with stats_of(run) as stats:
        return float(stats["scores"][name]["accuracy"])


def vote(root: RunFolder, runs: Sequence[PlannedRun], name: str, parts: Parts,
         samples: Sequence[Sample]) -> Optional[float]:
    """Write what the seeds vote for, and its accuracy unless the samples are covered."""
    fmt = parts.format
    outputs = ensemble([read_predictions(run.results.predictions(name), fmt) for run in runs], fmt)
    write_atomically(root.predictions(name),
                     "".join(fmt.line(sample, output) + "\n" for sample, output in zip(samples, outputs)))
    if samples[0].output is None:
        return None
    scores = score([sample.target for sample in samples], [[output] for output in outputs],
                   [fmt.features(sample.tag)[0] for sample in samples], parts.separators)
    write_atomically(root.evaluation(name), scores.as_text())
    return scores.accuracy


def as_text(summary: dict[str, Any]) -> str:
    scores: dict[str, dict[str, Any]] = summary["scores"]
    rows = [["accuracy", *scores]]
    rows += [[f"seed {seed}", *(f"{each['seeds'][str(seed)]:.2f}" for each in scores.values())]
             for seed in summary["seeds"]]
    rows += [["mean ± sd", *(f"{each['mean']:.2f}" + ("" if each["sd"] is None else f" ± {each['sd']:.2f}")
                             for each in scores.values())],
             ["vote", *(f"{each['vote']:.2f}" for each in scores.values())]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) + "\n" for row in rows)
