"""A page that shows one prediction step by step."""
from __future__ import annotations

from collections.abc import Sequence

from il_morph.report.pages import page
from il_morph.report.trace import Trace, verdict


def explanation_page(trace: Trace, remarks: Sequence[str] = ()) -> str:
    return page("explanation.html", trace=trace, remarks=remarks, verdict=verdict(trace))
