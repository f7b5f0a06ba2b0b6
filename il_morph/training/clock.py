"""The time that a training takes."""

from __future__ import annotations

import time


class Clock:
    """Seconds of wall-clock time and of CPU time. Other programs on the machine hardly affect CPU time.

    For a resumed training, counting continues from the given seconds.
    """

    def __init__(self, seconds: float = 0.0, cpu_seconds: float = 0.0):
        self.started, self.cpu_started = time.monotonic() - seconds, time.process_time() - cpu_seconds

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def cpu_seconds(self) -> float:
        return time.process_time() - self.cpu_started

    def as_dict(self) -> dict[str, float]:
        return {"seconds": round(self.seconds, 3), "cpu_seconds": round(self.cpu_seconds, 3)}
