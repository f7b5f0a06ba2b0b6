"""The progress of several runs on standard error: on a terminal in place, elsewhere a line for each change."""
from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from tqdm import tqdm

from il_morph.bars import are_hidden

SECONDS_BETWEEN = 1.0

Counts = tuple[int, int, int]  # finished, running, failed


@dataclass(frozen=True)
class Standing:
    """The progress of the jobs."""

    total: int
    finished: int
    failed: int
    running: Sequence[str]  # a line each
    done: float  # jobs, including the finished shares of running jobs
    left: Optional[float]  # seconds

    @property
    def counts(self) -> Counts:
        return self.finished, len(self.running), self.failed

    @property
    def line(self) -> str:
        return (f"{self.finished} of {self.total} done, {len(self.running)} running, {self.failed} failed, "
                f"{duration(self.left)} left")


def duration(seconds: Optional[float]) -> str:
    if seconds is None:
        return "?"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Lines:
    """A display for files and pipes: prints a new line when something has changed."""

    def __init__(self) -> None:
        self.last: Optional[Counts] = None

    def due(self, counts: Counts) -> bool:
        return counts != self.last

    def show(self, standing: Standing) -> None:
        self.last = standing.counts
        print(standing.line, file=sys.stderr, flush=True)

    def close(self, standing: Standing) -> None:
        if self.due(standing.counts):
            self.show(standing)


class Screen:
    """A display for a terminal: draws a bar, and the running jobs below it."""

    def __init__(self) -> None:
        self.height, self.shown = 0, 0.0
        self.last: Optional[Counts] = None

    def due(self, counts: Counts) -> bool:
        return counts != self.last or time.monotonic() - self.shown >= SECONDS_BETWEEN

    def show(self, standing: Standing) -> None:
        self.last, self.shown = standing.counts, time.monotonic()
        columns, rows = shutil.get_terminal_size()
        lines = [bar(standing, columns - 1), *_fitting([f"  {line}" for line in standing.running], rows - 2)]
        self._draw([line[:columns - 1] for line in lines])

    def close(self, standing: Standing) -> None:
        self.show(standing)
        sys.stderr.write("\n")

    def _draw(self, lines: Sequence[str]) -> None:
        up = f"\033[{self.height - 1}A" if self.height > 1 else ""
        sys.stderr.write(f"\r{up}\033[J" + "\n".join(lines))
        sys.stderr.flush()
        self.height = len(lines)


class Silence(Lines):
    """A display for callers in Python who hide progress: prints nothing."""

    def show(self, standing: Standing) -> None:
        self.last = standing.counts


def display() -> Lines | Screen:
    if are_hidden():
        return Silence()
    return Screen() if sys.stderr.isatty() else Lines()


def bar(standing: Standing, columns: int) -> str:
    return tqdm.format_meter(standing.done, standing.total, 0, ncols=columns, bar_format="{bar}| " + standing.line)


def _fitting(lines: list[str], room: int) -> list[str]:
    if len(lines) <= room:
        return lines
    return [*lines[:max(room - 1, 0)], f"  and {len(lines) - max(room - 1, 0)} more"]
