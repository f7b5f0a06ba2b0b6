"""SECURITY.md names a test for each promise."""
import re

from tests.cli import ROOT


def test_the_tests_that_check_the_promises_exist():
    lines = (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ")][1:]
    named = [re.findall(r"`(test_\w+\.py)::(test_\w+)`", row) for row in rows]
    assert len(rows) > 10 and all(named)
    for file, test in {pair for pairs in named for pair in pairs}:
        assert f"\ndef {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), f"{file}::{test}"
