"""Bring the tables and pictures in the texts up to date with experiments/<table>/measured.tsv.

Usage:
  update.py [--check] [TEXT...]

A table stands between two marks:

    <!-- table: ARGUMENTS -->
    … the output of `il-morph table ARGUMENTS --format=markdown` in the project's folder, or of
    `python experiments/analysis/ARGUMENTS --format=markdown` if the first of them is a script
    <!-- end of table -->

Arguments:
  TEXT        Markdown files (default: all of the project, and the pictures)

Options:
  --check     change nothing; list what is not up to date, with exit code 1
  -h --help   show this
"""
from __future__ import annotations

import importlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT), str(PROJECT / "experiments" / "analysis")]

from docopt import docopt  # noqa: E402

from il_morph.commands import main as il_morph  # noqa: E402
from il_morph.errors import InputError, errors_for_people  # noqa: E402
from il_morph.files import write_atomically  # noqa: E402
from il_morph.reproduction.paper_tables import lines_of  # noqa: E402

TEXTS = ("README.md", "docs/treebanks.md", "docs/guide.md", "experiments/*.md", "experiments/*/comparison.md")
PICTURES = {"experiments/sigmorphon2017/low.svg": ["sigmorphon2017", "--setting=low"]}
MARKDOWN = "--format=markdown"
BEGIN, END = re.compile(r"<!-- table: (.+) -->"), "<!-- end of table -->"
SIGNATURE = re.compile(r"<dc:description>(.*?)</dc:description>")


def table(arguments: str) -> str:
    """The output of il-morph table or of a script of the analysis."""
    output, errors, here, words = io.StringIO(), io.StringIO(), os.getcwd(), shlex.split(arguments)
    os.chdir(PROJECT)
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            code = run_script(*words) if words[0].endswith(".py") else il_morph(["table", *words, MARKDOWN])
    finally:
        os.chdir(here)
    if code:
        raise InputError(f"il-morph table {arguments}: {errors.getvalue().strip()}")
    return output.getvalue()


def run_script(name: str, *arguments: str) -> None:
    importlib.import_module(name.removesuffix(".py")).main([*arguments, MARKDOWN])


def updated(path: Path) -> str:
    """A text with its tables made again."""
    lines, inside = [], False
    for number, line in enumerate(lines_of(path), start=1):
        begin = BEGIN.fullmatch(line)
        if (begin and inside) or (line == END and not inside):
            raise InputError(f"{path}, line {number}: marks of tables come in pairs")
        if begin or line == END or not inside:
            lines.append(line + "\n")
        if begin:
            lines.append(table(begin[1]))
        inside = bool(begin) or (inside and line != END)
    if inside:
        raise InputError(f"{path}: the last table has no {END}")
    return "".join(lines)


def picture(arguments: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        importlib.import_module("picture").main([*arguments, str(path)])
        return path.read_text(encoding="utf-8")


def signature(svg: str) -> str:
    """What a picture shows, whichever matplotlib drew it."""
    found = SIGNATURE.search(svg)
    return found[1] if found else ""


def stale(arguments: dict) -> dict[Path, str]:
    """The files that are not up to date, and what they should hold."""
    texts = [Path(text) for text in arguments["TEXT"]] or sorted(
        path for pattern in TEXTS for path in PROJECT.glob(pattern))
    found = {path: updated(path) for path in texts}
    found = {path: text for path, text in found.items() if text.splitlines() != lines_of(path)}
    for name, options in PICTURES.items() if not arguments["TEXT"] else ():
        path, svg = PROJECT / name, picture(options)
        if not path.exists() or signature(svg) != signature("\n".join(lines_of(path))):
            found[path] = svg
    return found


def main(arguments: dict) -> int:
    found = stale(arguments)
    for path, content in found.items():
        print(f"{path} {'is not up to date' if arguments['--check'] else 'updated'}")
        if not arguments["--check"]:
            write_atomically(path, content)
    return 1 if found and arguments["--check"] else 0


if __name__ == "__main__":
    with errors_for_people("update.py"):
        sys.exit(main(docopt(__doc__)))
