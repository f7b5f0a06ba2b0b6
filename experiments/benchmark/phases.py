"""Where the time of the native engine goes: its phases, each timed where `NativeLearner.update` enters it."""

from __future__ import annotations

import time
from typing import Any

from speed import Bench

from il_morph.model.settings import TrainingSettings

# What an update calls, by phase. A step may be any of several calls.
ENCODER, DECODER, BACKWARD, UPDATE, REST = PHASES = ("encoder", "decoder", "backward", "update", "rest")


class Stopwatch:
    """Adds up the CPU seconds of methods."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)

    def watch(self, phase: str, owner: Any, *names: str) -> None:
        for name in names:
            setattr(owner, name, self.timed(phase, getattr(owner, name)))

    def timed(self, phase: str, method: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            started = time.process_time()
            result = method(*arguments, **named)
            self.seconds[phase] += time.process_time() - started
            return result

        return call


def phases(bench: Bench, settings: TrainingSettings, epochs: int) -> dict[str, float]:
    """ms per sample of each phase with Numba, after the first epoch. The rest: the objective, in Python, and losses."""
    learner, watch = bench.timed("numba", settings).learner, Stopwatch()
    network = learner.network
    train_epoch(learner, bench, 0)
    watch.watch(ENCODER, network, "begin")
    watch.watch(DECODER, network.decoder, "step_one", "step_rows", "roll_out", "run_tree")
    watch.watch(BACKWARD, network, "backward")
    watch.watch(UPDATE, learner.optimizer, "update")
    started = time.process_time()
    for epoch in range(1, 1 + epochs):
        train_epoch(learner, bench, epoch)
    watch.seconds[REST] = time.process_time() - started - sum(watch.seconds.values())
    return {phase: 1000 * seconds / (epochs * len(bench.train)) for phase, seconds in watch.seconds.items()}


def train_epoch(learner: Any, bench: Bench, epoch: int) -> None:
    learner.begin_epoch(epoch)
    for instance in bench.train:
        learner.update([instance])
