"""How long the runs of a table will still take, from the epochs of those that train."""
from __future__ import annotations

import heapq
import json
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Optional

from il_morph.reproduction.plan import Job, PlannedRun
from il_morph.run_folder import RunFolder

System = tuple[str, str]


@dataclass(frozen=True)
class Pace:
    """How far a training has come."""

    epochs: int  # that are over
    seconds: float  # that they took
    best: int  # the epoch with the best dev accuracy, from 0
    dev_accuracy: float  # after the last epoch
    since: float  # seconds since then

    @property
    def seconds_per_epoch(self) -> float:
        return self.seconds / self.epochs


def read_pace(results: RunFolder) -> Optional[Pace]:
    """What the log of a training says; nothing before its first epoch is over."""
    try:
        lines = results.log.read_text(encoding="utf-8").splitlines()
        since = time.time() - results.log.stat().st_mtime
        rows = [dict(zip(lines[0].split("\t"), line.split("\t"))) for line in lines[1:]]
        phase = [row for row in rows if row["phase"] == rows[-1]["phase"] and int(row["epoch"]) >= 0]
        accuracies = [float(row["dev_accuracy"]) for row in phase]
        seconds = sum(float(row["seconds"]) for row in phase)
    except (OSError, ValueError, LookupError):
        return None
    if not phase:
        return None
    return Pace(len(phase), seconds, accuracies.index(max(accuracies)), accuracies[-1], max(since, 0.0))


@dataclass
class Experience:
    """What finished runs took: the share of their most epochs before early stopping, and seconds in all."""

    shares: dict[System, list[float]] = field(default_factory=dict)
    seconds: dict[System, list[float]] = field(default_factory=dict)

    def add(self, run: PlannedRun) -> None:
        """Learn from a finished run."""
        try:
            training = json.loads(run.results.stats.read_bytes())["training"]
            epochs, seconds = int(training["epochs"]), float(training["seconds"])
        except (OSError, ValueError, LookupError, TypeError):
            return
        self.shares.setdefault(run.system, []).append(min(epochs / (run.number("--epochs") or epochs or 1), 1.0))
        self.seconds.setdefault(run.system, []).append(seconds)

    def share(self, system: System) -> float:
        """The typical share of the most epochs; all of them while nothing is known."""
        known = _typical(self.shares, system)
        return 1.0 if known is None else known


def epochs_expected(run: PlannedRun, pace: Pace, share: float) -> int:
    """A run cannot stop before its patience is over, nor after its last epoch; in between it does what is typical."""
    most = run.number("--epochs") or pace.epochs
    soonest = pace.best + 1 + (run.number("--patience") or 0)
    return max(pace.epochs, min(most, max(round(share * most), soonest)))


def seconds_left(run: PlannedRun, pace: Pace, share: float) -> float:
    """Of a run that trains. It falls with every epoch, and within an epoch with every second."""
    to_come = (epochs_expected(run, pace, share) - pace.epochs) * pace.seconds_per_epoch
    return max(to_come - min(pace.since, pace.seconds_per_epoch), 0.0)


@dataclass(frozen=True)
class AtWork:
    """A run that trains, since `elapsed` seconds."""

    run: PlannedRun
    pace: Optional[Pace]
    elapsed: float


def time_left(at_work: Sequence[AtWork], waiting: Iterable[Job], slots: int, experience: Experience) -> Optional[float]:
    """Seconds until everything is over when `slots` runs train at a time; nothing while no epoch is over anywhere."""
    left = {id(each): seconds_left(each.run, each.pace, experience.share(each.run.system))
            for each in at_work if each.pace}
    totals = {system: list(seconds) for system, seconds in experience.seconds.items()}
    for each in at_work:
        if each.pace and each.run.system not in experience.seconds:
            totals.setdefault(each.run.system, []).append(each.elapsed + left[id(each)])
    if not totals:
        return None
    now = [left[id(each)] if each.pace else max(_seconds(totals, each.run) - each.elapsed, 0.0) for each in at_work]
    return last_end(now, [sum(_seconds(totals, run) for run in job) for job in waiting], slots)


def last_end(now: Sequence[float], later: Iterable[float], slots: int) -> float:
    """When everything is over, if each of `later` starts as soon as one of the slots is free."""
    ends = [*now, *[0.0] * (slots - len(now))]
    heapq.heapify(ends)
    for seconds in later:
        heapq.heapreplace(ends, ends[0] + seconds)
    return max(ends)


def share_done(at_work: AtWork, experience: Experience) -> float:
    """How much of a run is done, from 0 to 1."""
    if not at_work.pace:
        return 0.0
    return at_work.pace.epochs / epochs_expected(at_work.run, at_work.pace, experience.share(at_work.run.system))


def _seconds(totals: dict[System, list[float]], run: PlannedRun) -> float:
    return _typical(totals, run.system) or 0.0


def _typical(known: dict[System, list[float]], system: System) -> Optional[float]:
    """The mean of the system, or else of all."""
    values = known.get(system) or [value for values in known.values() for value in values]
    return statistics.fmean(values) if values else None
