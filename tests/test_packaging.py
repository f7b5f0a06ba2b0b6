"""Packaging: what hints may name."""
import re

from tests.cli import ROOT


def test_no_hint_installs_il_morph_from_an_index():
    """The name is not ours there: anybody could publish a package of that name."""
    files = [path for folder in ("il_morph", "bin", "docs") for path in (ROOT / folder).rglob("*.*")
             if path.suffix in {".py", ".sh", ".md", ".html", ".js"}]
    for path in [*files, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"pip3? install[^\n`]*\bil[-_]morph\b|\bil-morph\[", text), path
