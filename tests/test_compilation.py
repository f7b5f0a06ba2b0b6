"""Numba's cache: kernels always come from it, whoever compiled them."""
import io
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("numba")

from il_morph.engines.native import compilation
from tests.cli import ROOT, Data, Run, il_morph, training_arguments

CALL = ("import logging, numpy as np\n"
        "logging.basicConfig(format='%(message)s')\n"
        "from il_morph.engines.native.kernels_numba import sigmoid\n"
        "value, stats = sigmoid(np.float32(1)), sigmoid.stats\n"
        "print(round(value, 4), sum(stats.cache_hits.values()), len(stats.cache_misses))\n")
ANSWER = "0.7311 1 0"


def call_a_kernel(cache: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", CALL], cwd=ROOT, text=True, capture_output=True, check=True,
                          env={**os.environ, "NUMBA_CACHE_DIR": str(cache)})


def test_a_kernel_comes_from_the_cache_even_the_first_time(tmp_path):
    assert call_a_kernel(tmp_path).stdout.strip() == ANSWER
    assert list(tmp_path.rglob("*sigmoid*.nbc"))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_is_compiled_again(suffix, tmp_path):
    call_a_kernel(tmp_path)
    for path in tmp_path.rglob(f"*.{suffix}"):
        path.write_bytes(path.read_bytes()[:20])
    process = call_a_kernel(tmp_path)
    assert process.stdout.strip() == ANSWER
    assert "Numba's cache of sigmoid is damaged" in process.stderr
    assert "damaged" not in call_a_kernel(tmp_path).stderr


def test_without_the_other_process_the_training_compiles_and_says_so(tmp_path):
    script = ("from il_morph.engines.native import compilation\n"
              "compilation.SERVER = 'raise SystemExit'\n" + CALL)
    process = subprocess.run([sys.executable, "-c", script], cwd=ROOT, text=True, capture_output=True, check=True,
                             env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)})
    assert process.stdout.strip() == "0.7311 0 1"
    assert "compiled by the training itself" in process.stderr


def test_the_bar_starts_where_the_last_kernel_left_it(monkeypatch):
    started = []
    monkeypatch.setattr(compilation, "meter", lambda total, what, unit, done: started.append(done) or nullcontext())
    compiler = compilation.Compiler.__new__(compilation.Compiler)
    compiler.number, compiler.process = 0, SimpleNamespace(stdin=io.BytesIO(), stdout=io.BytesIO(b"..."))
    assert all(compiler.compile(test_the_bar_starts_where_the_last_kernel_left_it, ()) for _ in range(3))
    assert started == [0, 1, 2]


@pytest.mark.slow
def test_the_first_training_gives_the_bytes_of_all_later_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    data, models = Data(tmp_path), []
    for name in ("first", "second"):
        assert il_morph(*training_arguments(data, tmp_path / name, ["--engine=native"])).returncode == 0
        models.append(Run(tmp_path / name).model_bytes)
    assert models[0] == models[1]
