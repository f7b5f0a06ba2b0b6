"""`il-morph train --seeds` and `--folds`: several models, each in a process of its own; vote, mean and deviation."""
from __future__ import annotations

import hashlib
import json
import logging
import os
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Callable, Optional

from il_morph.bars import are_hidden
from il_morph.data.formats import Parts, Sample
from il_morph.errors import InputError
from il_morph.evaluation.entries import Entry
from il_morph.files import read_regular, write_atomically
from il_morph.run_folder import RunFolder, search_name
from il_morph.runs.asked import make_spec
from il_morph.runs.experiment import Prepared, prepare, run
from il_morph.runs.folds import fold_task, split_into_folds
from il_morph.runs.locks import require_locks
from il_morph.runs.processes import forget, make_folder
from il_morph.runs.records import accuracy_of
from il_morph.runs.rules import check_folds, check_seeds, check_spec
from il_morph.runs.spec import RunSpec, Task
from il_morph.runs.unused_settings import unused
from il_morph.runs.votes import write_vote
from il_morph.runs.workers import train_jobs

OF_FOLDS = ("Each fold's accuracy is on the lines that chose its best epoch, which favours it.\n"
            "Together the models are the result: give this folder to `il-morph predict`, and they vote.\n")

log = logging.getLogger(__name__)


def carry_out(spec: RunSpec, seeds: Optional[Sequence[int]], jobs: Optional[int], command: Sequence[str] = (),
              folds: Optional[int] = None) -> int:
    """Train one model, or one for each seed or fold. Returns the exit code."""
    check_spec(spec)
    if folds is not None:
        check_folds(spec, seeds)
    if seeds is not None:
        check_seeds(spec)
    for remark in unused(spec):
        log.warning("%s", remark)
    if seeds is not None:
        return train_seeds(spec, seeds, jobs)
    if folds is not None:
        return train_folds(spec, folds, jobs)
    if jobs:
        raise InputError("--jobs is about several trainings: say which with --seeds or --folds, or leave it out")
    run(spec, command)
    return 0


def train_seeds(spec: RunSpec, seeds: Sequence[int], jobs: Optional[int]) -> int:
    """Train what is not trained yet, then let all seeds vote. Nothing is written before all input has been read."""
    prepared, root = prepare(spec), RunFolder(os.path.abspath(spec.results))
    tasks = [seed_task(prepared, root, seed) for seed in seeds]
    take_folder(prepared, root, tasks)
    if prepared.split:
        prepared.split.write()
    return train_tasks(tasks, jobs, lambda: summary_of(root, tasks, prepared.parts), root)


def train_folds(spec: RunSpec, folds: int, jobs: Optional[int]) -> int:
    """Cross-validation: a model for each part of the file, which is the development data of that model alone."""
    prepared, root = prepare(spec, dev_is_used=False), RunFolder(os.path.abspath(spec.results))
    assert prepared.split is not None, "one file is split"
    files = split_into_folds(prepared.split, root, folds)
    tasks = [fold_task(prepared, file, root, number) for number, file in enumerate(files, start=1)]
    for file in files:
        file.refuse_others(spec.force)
    take_folder(prepared, root, tasks, folds)
    for file in files:
        make_folder(file.targets["dev"].parent)
        file.write()
    return train_tasks(tasks, jobs, lambda: summary_of_folds(root, tasks, prepared), root)


def train_tasks(tasks: Sequence[Task], jobs: Optional[int], summarise: Callable[[], dict[str, Any]],
                root: RunFolder) -> int:
    """Train the tasks that are not finished; then write and show the summary. Returns the exit code."""
    code = train_jobs([[task] for task in tasks if not task.folder.finished],
                      [task for task in tasks if task.folder.finished], jobs)
    if not code:
        summary = summarise()
        write_atomically(root.summary("json"), json.dumps(summary, ensure_ascii=False, indent=1) + "\n")
        write_atomically(root.summary("txt"), as_text(summary))
        if not are_hidden():
            print(as_text(summary), end="")
    return code


def seed_task(prepared: Prepared, root: RunFolder, seed: int) -> Task:
    """The training of one seed. If a file is split, all seeds read the same parts."""
    spec = replace(prepared.spec, results=str(root.path / str(seed)), dynet_seed=seed, force=False)
    if prepared.split:
        parts = {name: str(target) for name, target in prepared.split.targets.items()}
        spec = replace(spec, train=parts["train"], dev=parts["dev"], test_path=parts.get("test", spec.test_path),
                       split_by=None, split_seed=None)
    return Task(spec, f"seed {seed}", "seed")


def take_folder(prepared: Prepared, root: RunFolder, tasks: Sequence[Task], folds: Optional[int] = None) -> None:
    """Refuse a folder with other runs, or empty it with --force; then record which training it holds."""
    force, identity = prepared.spec.force, identity_of(prepared.spec, prepared.parts)
    identity |= {} if folds is None else {"folds": folds, "seed": tasks[0].spec.dynet_seed}
    refuse_run_of_its_own(root)
    refuse_links(tasks)
    others = other_seeds(root, identity, [int(task.folder.path.name) for task in tasks])
    if others and not force:
        raise InputError(others)
    require_locks()
    make_folder(root.path)
    if force:
        forget([*root.seeds() * bool(others), *(task.folder for task in tasks)])
        if others:
            discard(root, tasks)
    write_atomically(root.seeds_identity, json.dumps(identity, ensure_ascii=False, indent=1) + "\n")


def identity_of(spec: RunSpec, parts: Parts) -> dict[str, Any]:
    """Identifies a training: seeds with the same settings and data belong together."""
    training = spec.training
    alike = replace(spec, dynet_seed=None, test_path=None, split_by=None, split_seed=None, force=False)
    flags = alike.with_settings(epochs=training.epochs, patience=training.patience).flags()
    data = hashlib.sha256(repr([parts.train, parts.dev, parts.test]).encode()).hexdigest()
    return {"flags": sorted(flags), "data": data}


def in_normal_form(flags: Sequence[str]) -> list[str]:
    """Recorded flags as `identity_of` writes them: version 2 kept what the user typed, such as `--il-k=12.0`."""
    asked = {name[2:].replace("-", "_"): value if equals else True
             for name, equals, value in (word.partition("=") for word in flags)}
    return sorted(make_spec("train", "dev", "results", asked).flags())


def refuse_run_of_its_own(root: RunFolder) -> None:
    """Refuse a folder that holds a run of its own: its model would answer instead of the seeds."""
    if root.model.exists():
        raise InputError(f"{root.path} holds a run of its own, without seeds; choose another folder")


def refuse_links(tasks: Sequence[Task]) -> None:
    """Refuse links: the folders of seeds must be in this folder, not where somebody else wants them."""
    for task in tasks:
        if task.folder.path.is_symlink():
            raise InputError(f"{task.folder.path} is a link; delete it, or choose another folder")


def other_seeds(root: RunFolder, identity: dict[str, Any], seeds: Sequence[int]) -> str:
    """A complaint, with advice, about runs there that do not belong to this training; empty if there are none."""
    what_to_do = "choose another folder, or start over with --force"
    there = [int(run.path.name) for run in root.seeds() if run.remains()]
    if not root.seeds_identity.exists():
        return f"{root.path} holds other runs ({root.path / str(there[0])}); {what_to_do}" if there else ""
    try:
        recorded = json.loads(read_regular(root.seeds_identity))
        recorded["flags"] = in_normal_form(recorded["flags"])
        different = next((name for name in ("data", "flags") if recorded[name] != identity[name]), None)
        different = different or next((name for name in ("folds", "seed") if recorded.get(name) != identity.get(name)),
                                      None)
    except (ValueError, KeyError, TypeError, AttributeError, InputError):
        different = "record"
    if different:
        return (f"{root.path} holds the seeds of another training ({different} changed: see "
                f"{root.seeds_identity}); {what_to_do}")
    if not {*there} <= {*seeds}:
        missing = ", ".join(str(seed) for seed in there if seed not in seeds)
        return f"{root.path} holds seeds that would not vote ({missing}): give them too; or {what_to_do} without them"
    return ""


def discard(root: RunFolder, tasks: Sequence[Task]) -> None:
    """Delete what other trainings have left, because all models of a folder answer together."""
    ours = {task.folder.path.name for task in tasks}
    for folder in [root, *(seed for seed in root.seeds() if seed.path.name not in ours)]:
        for path in folder.remains():
            path.unlink(missing_ok=True)
    for ending in ("txt", "json"):
        root.summary(ending).unlink(missing_ok=True)


def summary_of(root: RunFolder, tasks: Sequence[Task], parts: Parts) -> dict[str, Any]:
    """Accuracies of each seed and of the vote, mean and standard deviation, for each decoding."""
    folders, scores = {task.folder.path.name: task.folder for task in tasks}, {}
    searches = [search_name(width) for width in (1, *tasks[0].spec.training.beam_widths)]
    for part, samples in (("dev", parts.dev), ("test", parts.test)):
        for name in [f"{search}.{part}" for search in searches] if samples else []:
            voted = write_vote([*folders.values()], root, name, parts.format, gold_of(samples or []),
                               separators=parts.separators)
            if voted is not None:
                accuracies = {seed: accuracy_of(folder, name) for seed, folder in folders.items()}
                scores[name] = {"seeds": accuracies, "vote": voted, **spread_of(accuracies)}
    return {"seeds": [int(seed) for seed in folders], "scores": scores}


def summary_of_folds(root: RunFolder, tasks: Sequence[Task], prepared: Prepared) -> dict[str, Any]:
    """Accuracies of each fold on its own development data, mean and standard deviation; for test data also the vote."""
    folders = {task.folder.path.name: task.folder for task in tasks}
    tested = summary_of(root, tasks, replace(prepared.parts, dev=[], test=prepared.parts.test
                                             if prepared.spec.test_path else None))
    scores = {}
    for search in [search_name(width) for width in (1, *tasks[0].spec.training.beam_widths)]:
        accuracies = {fold: accuracy_of(folder, f"{search}.dev") for fold, folder in folders.items()}
        scores[f"{search}.dev"] = {"seeds": accuracies, **spread_of(accuracies)}
    return {"folds": len(tasks), "seeds": tested["seeds"], "scores": {**scores, **tested["scores"]}}


def spread_of(accuracies: dict[str, float]) -> dict[str, Optional[float]]:
    return {"mean": statistics.fmean(accuracies.values()),
            "sd": statistics.stdev(accuracies.values()) if len(accuracies) > 1 else None}


def gold_of(samples: Sequence[Sample]) -> Optional[list[Entry]]:
    """The gold entries of the samples, or None if they are covered."""
    if samples[0].output is None:
        return None
    return [Entry("the data", number, sample.input, sample.tag, (sample.target,))
            for number, sample in enumerate(samples, start=1)]


def as_text(summary: dict[str, Any]) -> str:
    scores: dict[str, dict[str, Any]] = summary["scores"]
    rows, what = [["accuracy", *scores]], "fold" if "folds" in summary else "seed"
    rows += [[f"{what} {seed}", *(f"{each['seeds'][str(seed)]:.2f}" for each in scores.values())]
             for seed in summary["seeds"]]
    rows += [["mean ± sd", *(f"{each['mean']:.2f}" + ("" if each["sd"] is None else f" ± {each['sd']:.2f}")
                             for each in scores.values())]]
    if any("vote" in each for each in scores.values()):
        rows.append(["vote", *(f"{each['vote']:.2f}" if "vote" in each else "–" for each in scores.values())])
    widths = [max(map(len, column)) for column in zip(*rows)]
    text = "".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) + "\n" for row in rows)
    return text + (OF_FOLDS if "folds" in summary else "")
