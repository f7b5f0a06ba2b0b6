"""A page with the findings of `il-morph check`."""
from __future__ import annotations

from collections.abc import Sequence

from il_morph.data.checking import Finding, listed
from il_morph.data.formats import Data
from il_morph.report.pages import page


def check_page(files: Sequence[Data], findings: Sequence[Sequence[Finding]]) -> str:
    return page("check.html", files=list(zip(files, map(listed, findings))),
                title=", ".join(file.name for file in files))
