"""The records of a run, f.stats and f.log, checked as they are read: errors name the file and the line."""
from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional

from il_morph.data.formats import format_named
from il_morph.data.spelling import AS_IS, FORMS
from il_morph.data.symbols import complaint_about_separator
from il_morph.errors import InputError
from il_morph.files import read_regular
from il_morph.model.settings import SEPARATORS
from il_morph.run_folder import RunFolder
from il_morph.training.checkpoint import LOG_COLUMNS

FIGURES = LOG_COLUMNS[1:]
TOO_LARGE = 1e100  # to draw
WITHOUT_STATS = "delete the file and run it again"
WITHOUT_LOG = "run it again, or delete the file to get a page without a learning curve"


def read_stats(path: Path) -> dict[str, Any]:
    """The JSON object in f.stats."""
    try:
        stats = json.loads(text_of(path, WITHOUT_STATS))
    except json.JSONDecodeError as error:
        raise damaged(f"{path}, line {error.lineno}", error.msg, WITHOUT_STATS) from error
    except (ValueError, RecursionError) as error:
        raise damaged(str(path), str(error), WITHOUT_STATS) from error
    if not isinstance(stats, dict):
        raise damaged(str(path), "it is not a JSON object", WITHOUT_STATS)
    return stats


@contextmanager
def stats_of(folder: RunFolder) -> Iterator[dict[str, Any]]:
    """The content of f.stats. If the `with` block finds it damaged, the error names the file."""
    stats = read_stats(folder.stats)
    try:
        yield stats
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise damaged(str(folder.stats), repr(error), WITHOUT_STATS) from error


def accuracy_of(folder: RunFolder, name: str) -> float:
    """The accuracy of a decoding, such as `beam4.dev`."""
    with stats_of(folder) as stats:
        return float(stats["scores"][name]["accuracy"])


def read_complete_stats(path: Path) -> dict[str, Any]:
    """Like `read_stats`, but everything that a page needs must be present and of the right type."""
    stats = read_stats(path)
    complaint = complaint_about(stats)
    if complaint:
        raise damaged(str(path), complaint, WITHOUT_STATS)
    return stats


def complaint_about(stats: dict[str, Any]) -> Optional[str]:
    """What is wrong with the content of f.stats, if anything is."""
    command, training, settings = stats.get("command"), stats.get("training", {}), stats.get("settings")
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return '"command" is not a list of words'
    if not isinstance(training, dict) or not isinstance(settings, dict):
        return f'"{"training" if isinstance(settings, dict) else "settings"}" is not a JSON object'
    if settings.get("unicode", AS_IS) not in FORMS:
        return f'"unicode" is not one of {", ".join(FORMS)}'
    for name in SEPARATORS:
        separator = settings.get(name, "")
        if not isinstance(separator, str) or complaint_about_separator(separator):
            return f'"{name}" is not a separator'
    try:
        format_named(str(settings.get("format")))
    except ValueError as error:
        return str(error)
    return complaint_about_figures({"seed": stats.get("seed", 0), **training})


def complaint_about_figures(figures: dict[str, Any]) -> Optional[str]:
    """Check the figures a page shows. The best epoch may be -1: the model that training started from."""
    for name, check in (("seed", count), ("epochs", count), ("best_epoch", lambda value: count(value + 1)),
                        ("seconds", finite)):
        try:
            check(figures.get(name, 0))
        except (ValueError, TypeError, OverflowError):
            return f'"{name}" is {str(figures[name])[:40]!r}, which is impossible'
    return None


def read_log(path: Path) -> list[dict[str, str]]:
    """The rows of f.log; a run of --mode=eval has none."""
    if not path.exists():
        return []
    lines = [line.split("\t") for line in text_of(path, WITHOUT_LOG).splitlines()] or [[]]
    header, rows = lines[0], lines[1:]
    missing = [column for column in LOG_COLUMNS if column not in header]
    if missing:
        raise damaged(f"{path}, line 1", f"there is no column {missing[0]}", WITHOUT_LOG)
    for number, row in enumerate(rows, start=2):
        complaint = complaint_about_row(header, row)
        if complaint:
            raise damaged(f"{path}, line {number}", complaint, WITHOUT_LOG)
    return [dict(zip(header, row)) for row in rows]


def complaint_about_row(header: list[str], row: list[str]) -> Optional[str]:
    """What is wrong with a row of f.log, if anything is."""
    if len(row) != len(header):
        return f"it has {len(row)} of {len(header)} columns"
    for column, cell in zip(header, row):
        try:
            figure(cell if column in FIGURES else "NA")
        except ValueError:
            return f"{column} is {cell[:40]!r}, not a number"
    return None


def figure(cell: str) -> float:
    """The number in a cell of f.log; NaN if the epoch has none or it is too large to draw."""
    value = math.nan if cell == "NA" else float(cell)
    return value if abs(value) < TOO_LARGE else math.nan


def text_of(path: Path, advice: str) -> str:
    content = read_regular(path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise damaged(f"{path}, line {line}", "it is not UTF-8", advice) from error


def damaged(where: str, what: str, advice: str) -> InputError:
    return InputError(f"{where} is not what `il-morph train` writes ({what}): {advice}")


def finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is not a finite number from 0 up")
    return float(value)


def percentage(value: Any) -> float:
    if finite(value) > 100:
        raise ValueError(f"{value!r} is not an accuracy in percent")
    return float(value)


def count(value: Any) -> int:
    if finite(value) != value or isinstance(value, float):
        raise ValueError(f"{value!r} is not a whole number")
    return int(value)
