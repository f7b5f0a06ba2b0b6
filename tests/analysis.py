"""The scripts of experiments/analysis, run in this process."""
from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace

import pytest

from il_morph.errors import errors_for_people
from tests.cli import ROOT

for package in ("pandas", "scipy"):
    pytest.importorskip(package, reason=f"experiments/analysis needs {package}: pip install {package}")


def script(name: str) -> ModuleType:
    folder = str(ROOT / "experiments" / "analysis")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)


def run_script(capsys, name: str, *arguments) -> SimpleNamespace:
    """Exit code and output of a script."""
    capsys.readouterr()
    code = 0
    try:
        with errors_for_people(f"{name}.py"):
            script(name).main([*map(str, arguments)])
    except SystemExit as error:
        code = error.code
    captured = capsys.readouterr()
    return SimpleNamespace(returncode=code, stdout=captured.out, stderr=captured.err)
