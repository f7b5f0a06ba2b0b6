"""The data and reference files beside the project, which not everybody has."""
import csv
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the data and reference files in ../shared")


def shared_files(pattern):
    """All files of a kind, as values of a parameter; where there are none, one value whose test is skipped."""
    return sorted(SHARED.glob(pattern)) or [pytest.param(SHARED / pattern, marks=needs_shared)]


def reference_rows(name):
    """The rows of a table in ../shared/reference as dictionaries."""
    with open(SHARED / "reference" / name, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))
