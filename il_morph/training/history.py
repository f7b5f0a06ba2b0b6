"""The history of a training: its epochs and the best of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

import numpy as np


@dataclass
class Epoch:
    """A row of the log."""

    epoch: int
    seconds: float
    loss: Optional[float]
    train_accuracy: float
    dev_accuracy: float
    dev_loss: Optional[float] = None
    tie_loss: Optional[float] = None  # the dev loss, if it only decides between equal accuracies

    START = -1  # the number of the epoch that stands for the initial model
    COLUMNS = ("epoch", "seconds", "loss", "train_accuracy", "dev_accuracy", "dev_loss")

    def cells(self) -> list[str]:
        values = [getattr(self, column) for column in self.COLUMNS]
        return ["NA" if v is None else f"{v:.4f}" if isinstance(v, float) else str(v) for v in values]

    def is_better_than(self, best: Optional[Epoch]) -> bool:
        """Compare by dev loss with `--pick-loss`, else by dev accuracy. With `--pick-ties=loss`, the dev loss decides
        between equal accuracies."""
        if best is None:
            return True
        if self.dev_loss is not None and best.dev_loss is not None:
            return self.dev_loss < best.dev_loss
        if self.dev_accuracy == best.dev_accuracy and self.tie_loss is not None and best.tie_loss is not None:
            return self.tie_loss < best.tie_loss
        return self.dev_accuracy > best.dev_accuracy


@dataclass
class History:
    """The epochs of a training, the best epoch, and its weights.

    Patience counts from `best_trained`, which is never the initial model: the first updates may make that model worse,
    and then it takes several epochs to recover and to surpass it.
    """

    epochs: list[Epoch] = field(default_factory=list)
    best: Optional[Epoch] = None
    best_trained: Optional[Epoch] = None
    weights: dict[str, np.ndarray] = field(default_factory=dict)  # of the best epoch

    def add(self, epoch: Epoch, weights: dict[str, np.ndarray], later: bool = False) -> bool:
        """Add an epoch; return whether it is now the best.

        With `later`, it also replaces an equally good epoch, but that does not restart patience.
        """
        self.epochs.append(epoch)
        if epoch.epoch != Epoch.START and epoch.is_better_than(self.best_trained):
            self.best_trained = epoch
        better = epoch.is_better_than(self.best) or (later and self.best is not None
                                                     and not self.best.is_better_than(epoch))
        if better:
            self.best, self.weights = epoch, weights
        return better

    @property
    def epochs_without_improvement(self) -> int:
        return self.epochs[-1].epoch - self.best_trained.epoch if self.best_trained else 0

    def next_epoch(self, first: int) -> int:
        return self.epochs[-1].epoch + 1 if self.epochs else first
