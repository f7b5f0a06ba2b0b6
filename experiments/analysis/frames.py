"""Runs and figures as data frames, for the scripts in this folder, and their cells in tables."""
from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Optional

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

try:
    import pandas as pd
    import scipy  # noqa: F401
except ImportError as error:
    sys.exit(f"error: the scripts in experiments/analysis need pandas and scipy ({error}): "
             "pip install -e '.[experiments]'")

from il_morph.errors import InputError
from il_morph.reproduction import cells
from il_morph.reproduction.blocks import LAYOUTS, Block, render
from il_morph.reproduction.cells import MISSING
from il_morph.reproduction.figures import LanguageFigure
from il_morph.reproduction.paper_tables import EXPERIMENTS, PaperTable
from il_morph.reproduction.run_list import LIST, read_runs
from il_morph.reproduction.runs import Place, Run

DIGITS = 6  # accuracies have four; smaller differences are rounding errors
UNIT = ["language", "fold"]


def runs_of(table: PaperTable, root: Optional[str]) -> list[Run]:
    """The runs in a results folder or a list; without one, those of experiments/NAME/measured.tsv."""
    return read_runs(table, root or EXPERIMENTS / table.name / LIST)


def runs_frame(table: PaperTable, runs: Iterable[Run]) -> pd.DataFrame:
    """A row for each run."""
    figures = ["accuracy", "epochs", "minutes", "cpu_minutes"]
    rows = [(*run.place, table.row(run.model), run.engine, run.voters, table.is_full_vote(run.seed), run.test,
             run.epochs, run.minutes, run.cpu_minutes) for run in runs]
    frame = pd.DataFrame(rows, columns=[*Place._fields, "system", "engine", "voters", "full_vote", *figures])
    return frame.astype(dict.fromkeys(figures, float))


def figures_frame(table: PaperTable, figures: Iterable[LanguageFigure]) -> pd.DataFrame:
    """A row for each model and language: ours and the published figure."""
    columns = ["setting", "kind", "model", "system", "language", "models", "ours", "published", "published_sd"]
    rows = [(each.setting, each.kind, each.model, table.row(each.model), each.language, each.models, each.ours,
             each.published.accuracy, each.published.sd) for each in figures if each.published]
    frame = pd.DataFrame(rows, columns=columns).astype({"ours": float, "published": float, "published_sd": float})
    return frame.assign(difference=frame["ours"] - frame["published"])


def mean(values: Iterable[float]) -> float:
    """Without rounding errors, which would decide which way a half is rounded."""
    values = list(values)
    return statistics.fmean(values) if values else math.nan


def above_below(differences: pd.Series) -> list[str]:
    rounded = differences.round(DIGITS)
    return [str((rounded > 0).sum()), str((rounded < 0).sum())]


def number(value: Optional[float], digits: int = 1) -> str:
    return cells.number(None if pd.isna(value) else value, digits)


def signed(value: Optional[float], digits: int = 1) -> str:
    return cells.signed(None if pd.isna(value) else value, digits)


def probability(value: Optional[float]) -> str:
    if value is None:
        return MISSING
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def show(blocks: Sequence[Block], layout: str) -> None:
    if layout not in LAYOUTS:
        raise InputError(f"--format takes {', '.join(LAYOUTS)}, not {layout!r}")
    sys.stdout.write(render(blocks, layout))
