"""The core without the systems of other papers: it trains and predicts, and says what is missing when asked for one."""
import os
import subprocess
import sys

import pytest

from il_morph.model.modelfile import save_model
from il_morph.model.registry import CITED
from tests.cli import ROOT, error_of, training_arguments
from tests.test_cited_architectures import VARIANTS, cited_model

WITHOUT = """
import sys
sys.modules["il_morph.cited"] = None  # importing it, or a module in it, raises an ImportError
from il_morph.commands import main
sys.exit(main(sys.argv[1:]))
"""


def il_morph_alone(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], cwd=ROOT, encoding="utf-8", timeout=300,
                          capture_output=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"})


@pytest.mark.parametrize("engine", ["dynet", "native"])
def test_the_core_trains_and_predicts_without_the_cited_systems(engine, data, tmp_path):
    if engine == "dynet":
        pytest.importorskip("dynet")
    trained = il_morph_alone(*training_arguments(data, tmp_path / "r", ["--model=ca-d", f"--engine={engine}"]))
    assert trained.returncode == 0, trained.stderr
    predicted = il_morph_alone("predict", f"--input={data('test', 'covered')}", str(tmp_path / "r"))
    assert predicted.returncode == 0 and len(predicted.stdout.splitlines()) == 3, predicted.stderr


@pytest.mark.parametrize("flag", [f"--{kind}={name}" for name in CITED for kind in ("model", "architecture")])
def test_a_cited_system_that_is_not_there_is_named(flag, data, tmp_path, monkeypatch, capsys):
    without_cited(monkeypatch)
    error = error_of(capsys, *training_arguments(data, tmp_path / "r", [flag, "--mode=mle"]))
    name = flag.split("=")[1]
    assert f"--architecture={name} needs the package {CITED[name]}" in error and "install all of il-morph" in error
    assert not (tmp_path / "r").exists()


def test_so_is_the_one_of_a_model_file(data, tmp_path, monkeypatch, capsys):
    save_model(tmp_path / "f.model", cited_model(**VARIANTS["soft"]))
    without_cited(monkeypatch)
    error = error_of(capsys, "predict", f"--input={data('test', 'covered')}", str(tmp_path / "f.model"))
    assert "--architecture=soft needs the package il_morph.cited.soft" in error


def without_cited(monkeypatch) -> None:
    """The registry finds none of them."""
    from il_morph.model.registry import kind_named

    for module in CITED.values():
        monkeypatch.setitem(sys.modules, module, None)
    kind_named.cache_clear()
