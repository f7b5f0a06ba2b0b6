"""Our accuracy against the published one, a point for each language. Needs matplotlib."""
from __future__ import annotations

import hashlib
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from il_morph.errors import InputError
from il_morph.reproduction.cells import plus_minus, signed
from il_morph.reproduction.comparisons import LIKE, UNLIKE, Comparison, Summary
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.published import VOTE

FORMATS = (".svg", ".png")
STYLES = {UNLIKE: ("single models beside a vote", "o", "none"), LIKE: ("single models", "s", "none"),
          VOTE: ("votes", "o", "C1")}
MODELS = ("ca-d", "ca-r", "ca-rm")


def load_pyplot() -> Any:
    """matplotlib, which draws into files and needs no screen."""
    try:
        import matplotlib
    except ImportError:
        raise InputError("pictures need matplotlib: pip install matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "il-morph"  # the same picture is the same file
    return pyplot


def pictured(comparisons: Sequence[Comparison], setting: str) -> list[Comparison]:
    """What a picture of this setting shows."""
    return [each for each in comparisons if each.setting == setting and each.model in MODELS]


def draw_comparisons(table: PaperTable, comparisons: Sequence[Comparison], setting: str, kind: str) -> bytes:
    """A column for each of CA-D, CA-R and CA-RM, as svg or png: ours against the published, and the differences."""
    pyplot, own = load_pyplot(), pictured(comparisons, setting)
    models = list(dict.fromkeys(each.model for each in own))
    if not models:
        raise InputError(f"--plot: there are no runs of CA-D, CA-R or CA-RM to compare in {setting}")
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


def _signature(comparisons: Sequence[Comparison]) -> str:
    """The same for the same points, whichever matplotlib draws them: it tells whether a picture is up to date."""
    points = [(each.model, each.language, each.kind, f"{each.ours:.4f}") for each in comparisons]
    return f"{len(points)} points, {hashlib.sha256(repr(points).encode()).hexdigest()[:16]}"


def _draw(axis: Any, comparisons: Sequence[Comparison], title: str) -> None:
    axis.plot([0, 100], [0, 100], color="0.7", linewidth=0.8)
    for kind, (label, marker, fill) in STYLES.items():
        own = [each for each in comparisons if each.kind == kind and each.published]
        axis.scatter([each.published.accuracy for each in own if each.published], [each.ours for each in own], s=22,
                     marker=marker, facecolors=fill, edgecolors="C1" if fill != "none" else "C0", linewidths=0.8,
                     label=f"{label} ({len(own)})" if own else None)
    axis.set(title=title, xlabel="published, test accuracy", xlim=(0, 100), ylim=(0, 100), aspect="equal")
    axis.legend(loc="upper left", frameon=False)


def _draw_differences(axis: Any, comparisons: Sequence[Comparison]) -> None:
    """Of votes where there are some, with their mean and twice its standard error."""
    kind = next(kind for kind in (VOTE, LIKE, UNLIKE) if any(each.kind == kind for each in comparisons))
    own = Summary(tuple(each for each in comparisons if each.kind == kind))
    label, marker, fill = STYLES[kind]
    axis.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axis.scatter([each.published.accuracy for each in own.comparisons if each.published], own.differences.values, s=22,
                 marker=marker, facecolors=fill, edgecolors="C1" if fill != "none" else "C0", linewidths=0.8)
    mean, error = own.differences.mean, own.differences.standard_error
    if mean is not None and error is not None:
        axis.axhline(mean, color="C2", linewidth=1, zorder=0)
        axis.axhspan(mean - 2 * error, mean + 2 * error, color="C2", alpha=0.2, linewidth=0, zorder=0)
        axis.set_title(f"{label}: {plus_minus(signed(mean, 2), error, 2)}", fontsize="medium")
    axis.set(xlabel="published, test accuracy", xlim=(0, 100))
