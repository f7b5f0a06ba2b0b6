"""Estimate how long runs will still take from the epochs of the runs that are training."""
from __future__ import annotations

import heapq
import statistics
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Optional

from il_morph.errors import InputError
from il_morph.run_folder import RunFolder
from il_morph.runs.records import read_log, stats_of
from il_morph.runs.spec import Job, Task


@dataclass(frozen=True)
class Pace:
    """The progress of a training."""

    epochs: int  # finished epochs
    seconds: float  # that these epochs took
    best: int  # the epoch with the best dev accuracy, from 0
    dev_accuracy: float  # after the last epoch
    since: float  # seconds since the last epoch

    @property
    def seconds_per_epoch(self) -> float:
        return self.seconds / self.epochs


def read_pace(results: RunFolder) -> Optional[Pace]:
    """The pace of a training according to its log; None before its first epoch is over."""
    with suppress(InputError, OSError, ValueError):
        rows = read_log(results.log)
        since = time.time() - results.log.stat().st_mtime
        phase = [row for row in rows if row["phase"] == rows[-1]["phase"] and int(row["epoch"]) >= 0]
        accuracies = [float(row["dev_accuracy"]) for row in phase]
        seconds = sum(float(row["seconds"]) for row in phase)
        if phase:
            return Pace(len(phase), seconds, accuracies.index(max(accuracies)), accuracies[-1], max(since, 0.0))
    return None


@dataclass
class Experience:
    """What finished runs took: the share of their maximum number of epochs until early stopping, and seconds in all."""

    shares: dict[str, list[float]] = field(default_factory=dict)  # by kind
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, task: Task) -> None:
        """Add a finished run; a damaged record is ignored."""
        with suppress(InputError), stats_of(task.folder) as stats:
            epochs, seconds = int(stats["training"]["epochs"]), float(stats["training"]["seconds"])
            self.shares.setdefault(task.kind, []).append(min(epochs / task.spec.training.epochs, 1.0))
            self.seconds.setdefault(task.kind, []).append(seconds)

    def share(self, kind: str) -> float:
        """The typical share of the maximum number of epochs; 1 while nothing is known."""
        known = _typical(self.shares, kind)
        return 1.0 if known is None else known


def epochs_expected(task: Task, pace: Pace, share: float) -> int:
    """How many epochs a run will have: not fewer than its patience demands, nor more than its maximum; in between, the
    typical share of the maximum."""
    training = task.spec.training
    soonest = pace.best + 1 + training.patience
    return max(pace.epochs, min(training.epochs, max(round(share * training.epochs), soonest)))


def seconds_left(task: Task, pace: Pace, share: float) -> float:
    """Seconds left for a run that is training. They fall with every epoch and, within an epoch, with every second."""
    to_come = (epochs_expected(task, pace, share) - pace.epochs) * pace.seconds_per_epoch
    return max(to_come - min(pace.since, pace.seconds_per_epoch), 0.0)


@dataclass(frozen=True)
class AtWork:
    """A run that has been training for `elapsed` seconds."""

    task: Task
    pace: Optional[Pace]
    elapsed: float


def time_left(at_work: Sequence[AtWork], waiting: Iterable[Job], slots: int, experience: Experience) -> Optional[float]:
    """Seconds until everything is over if `slots` runs train at a time; None while no epoch of any run is over."""
    left = {id(each): seconds_left(each.task, each.pace, experience.share(each.task.kind))
            for each in at_work if each.pace}
    totals = {kind: list(seconds) for kind, seconds in experience.seconds.items()}
    for each in at_work:
        if each.pace and each.task.kind not in experience.seconds:
            totals.setdefault(each.task.kind, []).append(each.elapsed + left[id(each)])
    if not totals:
        return None
    now = [left[id(each)] if each.pace else max(_seconds(totals, each.task) - each.elapsed, 0.0) for each in at_work]
    return last_end(now, [sum(_seconds(totals, task) for task in job) for job in waiting], slots)


def last_end(now: Sequence[float], later: Iterable[float], slots: int) -> float:
    """Seconds until everything is over if each of `later` starts as soon as a slot is free."""
    ends = [*now, *[0.0] * (slots - len(now))]
    heapq.heapify(ends)
    for seconds in later:
        heapq.heapreplace(ends, ends[0] + seconds)
    return max(ends)


def share_done(at_work: AtWork, experience: Experience) -> float:
    """How much of a run is done, from 0 to 1."""
    if not at_work.pace:
        return 0.0
    return at_work.pace.epochs / epochs_expected(at_work.task, at_work.pace, experience.share(at_work.task.kind))


def _seconds(totals: dict[str, list[float]], task: Task) -> float:
    return _typical(totals, task.kind) or 0.0


def _typical(known: dict[str, list[float]], kind: str) -> Optional[float]:
    """The mean over this kind, or over all kinds if it is unknown."""
    values = known.get(kind) or [value for values in known.values() for value in values]
    return statistics.fmean(values) if values else None
