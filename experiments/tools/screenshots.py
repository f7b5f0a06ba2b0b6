"""Take the pictures of the pages that README.md shows. Needs Chromium.

Usage:
  screenshots.py [--chromium=COMMAND] [RESULTS]

Arguments:
  RESULTS     a finished run on the packaged sample, as bin/quickstart.sh leaves it (default: results/quickstart)

Options:
  --chromium=COMMAND  the browser [default: chromium]
  -h --help           show this

Writes docs/page.png, a word in the page of `il-morph serve`, and docs/report.png, the top of a page of
`il-morph report`.
"""
from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from docopt import docopt  # noqa: E402

from il_morph.commands import main as il_morph  # noqa: E402
from il_morph.errors import InputError, errors_for_people  # noqa: E402
from il_morph.report.answers import Answers  # noqa: E402
from il_morph.report.server import PageServer  # noqa: E402

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--no-first-run", "--hide-scrollbars", "--virtual-time-budget=4000"]
QUESTION = {"word": "yumurta", "features": "N;SG;PSS3S;NOM", "gold": "yumurtası"}
LARGEST = 150_000  # bytes: a README loads all its pictures


def shoot(chromium: str, address: str, size: str, path: Path) -> None:
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, *FLAGS, f"--user-data-dir={profile}", f"--window-size={size}",
                   f"--screenshot={path}", address]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=60)
        except (OSError, subprocess.SubprocessError) as error:
            raise InputError(f"{chromium} took no picture ({error}): name the browser with --chromium") from error
    if path.stat().st_size > LARGEST:
        raise InputError(f"{path} has {path.stat().st_size:,} bytes, more than {LARGEST:,}: make it smaller")


@contextmanager
def served(results: str) -> Iterator[str]:
    with PageServer("127.0.0.1", 0, Answers.load([results])) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


def main() -> None:
    args = docopt(__doc__)
    results = args["RESULTS"] or str(PROJECT / "results" / "quickstart")
    pictures = PROJECT / "docs"
    pictures.mkdir(exist_ok=True)
    with served(results) as address:
        shoot(args["--chromium"], f"{address}#{urlencode(QUESTION)}", "1000,960", pictures / "page.png")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        if il_morph(["report", results, f"--output={page}"]):
            raise InputError(f"there is no report on {results}")
        shoot(args["--chromium"], page.as_uri(), "1000,1000", pictures / "report.png")


if __name__ == "__main__":
    with errors_for_people("screenshots.py"):
        main()
