"""matplotlib, set up to draw into files, without a screen."""
from __future__ import annotations

from typing import Any

from il_morph.errors import InputError


def load_pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise InputError("pictures need matplotlib: pip install matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "il-morph"  # the same picture gives the same file
    return pyplot
