"""Draw our accuracy against the published one, a point for each language. Needs matplotlib."""
from __future__ import annotations

import hashlib
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from il_morph.errors import InputError
from il_morph.report.drawing import load_pyplot
from il_morph.reproduction.cells import plus_minus, signed
from il_morph.reproduction.figures import BESIDE_SINGLES, BESIDE_VOTE, LanguageFigure, MeanFigure
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.published import VOTE

STYLES = {BESIDE_VOTE: ("single models beside a vote", "o", "none"), BESIDE_SINGLES: ("single models", "s", "none"),
          VOTE: ("votes", "o", "C1")}
MODELS = ("ca-d", "ca-r", "ca-rm")


def pictured(figures: Sequence[LanguageFigure], setting: str) -> list[LanguageFigure]:
    """The figures that a picture of this setting shows."""
    return [each for each in figures if each.setting == setting and each.model in MODELS]


def draw_accuracies(table: PaperTable, figures: Sequence[LanguageFigure], setting: str, kind: str) -> bytes:
    """A column for each of CA-D, CA-R and CA-RM, as svg or png: accuracies above, differences below."""
    pyplot, own = load_pyplot(), pictured(figures, setting)
    models = list(dict.fromkeys(each.model for each in own))
    if not models:
        raise InputError(f"nothing to draw: no runs of CA-D, CA-R or CA-RM in {setting} have published counterparts")
    canvas, axes = pyplot.subplots(2, len(models), figsize=(4.2 * len(models), 7.2), sharey="row", squeeze=False,
                                   gridspec_kw={"height_ratios": (3, 2)})
    for (above, below), model in zip(axes.T, models):
        _draw(above, [each for each in own if each.model == model], table.row(model))
        _draw_differences(below, [each for each in own if each.model == model])
    axes[0][0].set_ylabel("ours, test accuracy")
    axes[1][0].set_ylabel("ours minus published")
    canvas.tight_layout()
    picture = BytesIO()
    metadata = {"Description": _signature(own), **({"Date": None} if kind == "svg" else {})}
    canvas.savefig(picture, format=kind, dpi=110, metadata=metadata)
    pyplot.close(canvas)
    return picture.getvalue()


def _signature(figures: Sequence[LanguageFigure]) -> str:
    """A signature of the points that does not depend on the version of matplotlib; update.py compares it."""
    points = [(each.model, each.language, each.kind, f"{each.ours:.4f}") for each in figures]
    return f"{len(points)} points, {hashlib.sha256(repr(points).encode()).hexdigest()[:16]}"


def _draw(axis: Any, figures: Sequence[LanguageFigure], title: str) -> None:
    axis.plot([0, 100], [0, 100], color="0.7", linewidth=0.8)
    for kind, (label, marker, fill) in STYLES.items():
        own = [each for each in figures if each.kind == kind and each.published]
        axis.scatter([each.published.accuracy for each in own if each.published], [each.ours for each in own], s=22,
                     marker=marker, facecolors=fill, edgecolors="C1" if fill != "none" else "C0", linewidths=0.8,
                     label=f"{label} ({len(own)})" if own else None)
    axis.set(title=title, xlabel="published, test accuracy", xlim=(0, 100), ylim=(0, 100), aspect="equal")
    axis.legend(loc="upper left", frameon=False)


def _draw_differences(axis: Any, figures: Sequence[LanguageFigure]) -> None:
    """Differences of votes, or else of single models, with their mean and twice its standard error."""
    kind = next(kind for kind in (VOTE, BESIDE_SINGLES, BESIDE_VOTE) if any(each.kind == kind for each in figures))
    own = MeanFigure(tuple(each for each in figures if each.kind == kind))
    label, marker, fill = STYLES[kind]
    axis.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axis.scatter([each.published.accuracy for each in own.figures if each.published], own.differences.values, s=22,
                 marker=marker, facecolors=fill, edgecolors="C1" if fill != "none" else "C0", linewidths=0.8)
    mean, error = own.differences.mean, own.differences.standard_error
    if mean is not None and error is not None:
        axis.axhline(mean, color="C2", linewidth=1, zorder=0)
        axis.axhspan(mean - 2 * error, mean + 2 * error, color="C2", alpha=0.2, linewidth=0, zorder=0)
        axis.set_title(f"{label}: {plus_minus(signed(mean, 2), error, 2)}", fontsize="medium")
    axis.set(xlabel="published, test accuracy", xlim=(0, 100))
