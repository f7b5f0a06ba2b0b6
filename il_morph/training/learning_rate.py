"""The learning rate of each update: the base rate times a factor that depends on the schedule.

    constant        1
    warmup-decay    min(t / w, √(w / t)) after t epochs: it rises to 1 in the first w epochs (`--lr-warmup`), then falls
    plateau         f^n, with f = `--lr-decay`: n is how often `--lr-patience` epochs in a row brought no better model

Times and epochs count within a phase: each phase and each trial restarts its schedule. A rate depends only on settings,
time and finished epochs, so a training resumed from a checkpoint has the same rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Optional

from il_morph.model.settings import PLATEAU, WARMUP_DECAY, TrainingSettings
from il_morph.training.history import Epoch

# The default rates: DyNet's, but the authors' for ADAM. ADADELTA has no rate: its value is a factor of the updates.
OPTIMIZER_RATES = {"ADADELTA": 1.0, "ADAM": 0.0005, "SGD": 0.1, "MOMENTUM": 0.01, "ADAGRAD": 0.1}


def epoch_rates(settings: TrainingSettings, number: int, before: Sequence[Epoch], updates: int) -> Iterator[float]:
    """The learning rate of each update in the epoch with this number, given the epochs before it."""
    rate, schedule = settings.learning_rate or OPTIMIZER_RATES[settings.optimization], settings.lr_schedule
    if schedule == PLATEAU:
        rate *= settings.lr_decay ** plateaus(before, settings.lr_patience)
    for update in range(1, updates + 1):
        factor = warmup_decay(number + update / updates, settings.lr_warmup) if schedule == WARMUP_DECAY else 1
        yield rate * factor


def warmup_decay(time: float, warmup: float) -> float:
    return min(time / warmup, sqrt(warmup / time))


def plateaus(epochs: Sequence[Epoch], patience: int) -> int:
    """How often `patience` epochs in a row were no better than the best before. The initial model does not count."""
    best: Optional[Epoch] = None
    number = waited = 0
    for epoch in epochs:
        if epoch.epoch == Epoch.START:
            continue
        waited += 1
        if epoch.is_better_than(best):
            best, waited = epoch, 0
        elif waited == patience:
            number, waited = number + 1, 0
    return number
