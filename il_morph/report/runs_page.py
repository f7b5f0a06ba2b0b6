"""The report on finished runs, a single page."""
from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from il_morph.report.accuracies import overall, sections
from il_morph.report.curves import learning_curves
from il_morph.report.finished import FinishedRun, Judged
from il_morph.report.mistakes import count_confusions, find_mistakes
from il_morph.report.pages import page, picture_source

MOST_DETAILS = 20  # confusions listed in full; the errors can be filtered by all of them


def runs_page(judged: Judged) -> str:
    curves = learning_curves(judged.runs)
    mistakes, remarks = find_mistakes(judged)
    confusions = count_confusions(mistakes)
    errors = [mistake.as_dict(judged.format.features(mistake.gold.tag)[0], judged.separators) for mistake in mistakes]
    return page(
        "report.html", ("trace.js", "report.js"), judged=judged, runs=judged.runs, scores=judged.scores(),
        overall=overall(judged), sections=sections(judged), curves=curves and picture_source(curves),
        remarks=judged.remarks + remarks, confusions=confusions, details=confusions.details[:MOST_DETAILS],
        settings=settings_table(judged.runs), commands=[shlex.join(run.stats["command"]) for run in judged.runs],
        mistakes=mistakes, substitutes=any(each.substitutes for mistake in mistakes for each in mistake.traces if each),
        data={"runs": [run.name for run in judged.runs], "errors": errors})


def settings_table(runs: Sequence[FinishedRun]) -> list[tuple[str, list[str], bool]]:
    """Each setting with its values and whether they differ; differing settings come first."""
    names = dict.fromkeys(name for run in runs for name in run.stats["settings"])
    rows = [("seed", [str(run.stats.get("seed", "–")) for run in runs])]
    rows += [(name.replace("_", "-"), [_value(run.stats["settings"].get(name)) for run in runs]) for name in names]
    marked = [(name, values, len(set(values)) > 1) for name, values in rows]
    return sorted(marked, key=lambda row: not row[2])


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, str) and not value.strip():
        return f'"{value}"'
    return "–" if value is None else str(value)
