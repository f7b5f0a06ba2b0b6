"""Learning curves. Needs matplotlib."""
from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any, Optional

from il_morph.report.drawing import load_pyplot
from il_morph.report.finished import FinishedRun
from il_morph.runs.records import figure

COLUMNS = {"dev_accuracy": "development accuracy", "train_accuracy": "training accuracy (a sample)",
           "loss": "training loss"}


def learning_curves(runs: Sequence[FinishedRun]) -> Optional[bytes]:
    """Accuracies and loss by epoch as SVG, or None if no run was trained."""
    trained = [run for run in runs if run.epochs]
    if not trained:
        return None
    pyplot = load_pyplot()
    canvas, axes = pyplot.subplots(1, len(COLUMNS), figsize=(11, 3.2))
    for axis, (column, title) in zip(axes, COLUMNS.items()):
        for run in trained:
            _draw(axis, run, column)
        axis.set(title=title, xlabel="epoch")
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid(alpha=0.25)
    if len(trained) > 1:
        axes[0].legend([run.name for run in trained], frameon=False, fontsize="small")
    canvas.tight_layout()
    picture = BytesIO()
    canvas.savefig(picture, format="svg", transparent=True, metadata={"Date": None})
    pyplot.close(canvas)
    return picture.getvalue()


def _draw(axis: Any, run: FinishedRun, column: str) -> None:
    """Draw one value for each row of the log; the phases of a training follow one another."""
    values = [figure(row[column]) for row in run.epochs]
    axis.plot(range(len(values)), values, marker="o", markersize=2.5, linewidth=1.2, label=run.name)
