"""docs/scale.md, run on local processes: every way gives the bytes of one process."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import il_morph
from il_morph.commands import main
from il_morph.errors import InputError
from tests.cli import ROOT
from tests.test_parallel import model, sentences, treebank_model  # noqa: F401

PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
SBATCH = """#!/usr/bin/env bash
# Stands for Slurm: runs the tasks of an array at the same time.
for last in "$@"; do :; done
for task in $(seq 0 "${1#--array=0-}"); do SLURM_CPUS_PER_TASK=1 SLURM_ARRAY_TASK_ID=$task bash "$last" & done
wait
"""


def block(kind: str, containing: str) -> str:
    """A block of code of the page."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.S | re.M)
    (found,) = [text for each, text in blocks if each == kind and containing in text]
    return found


@pytest.fixture
def folder(treebank_model, tmp_path):  # noqa: F811
    """A text, a model called RESULTS, and what one process makes of them."""
    (tmp_path / "RESULTS").mkdir()
    (tmp_path / "RESULTS" / "f.model").write_bytes(Path(treebank_model).read_bytes())
    (tmp_path / "text.conllu").write_text(sentences(30), encoding="utf-8")
    assert main(["predict", treebank_model, str(tmp_path / "text.conllu"), str(tmp_path / "expected")]) == 0
    return tmp_path


def run(folder: Path, *scripts: str) -> None:
    """Run blocks of the page in a folder, with this il-morph."""
    programs = folder / "programs"
    programs.mkdir()
    for name, text in {"sbatch": SBATCH, "il-morph": f'#!/bin/sh\nexec {sys.executable} -m il_morph "$@"\n'}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    for script in scripts:
        subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, check=True,
                       env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)})


@pytest.mark.slow
def test_a_dask_bag_gives_the_bytes_of_one_process(folder):
    pytest.importorskip("dask.bag", reason="needs dask (pip install dask)")
    code = block("python", "dask").replace("10MB", "700B")
    (folder / "lemmas.py").write_text(code, encoding="utf-8")
    run(folder, block("", "import lemmas"))
    assert len(list((folder / "parts").iterdir())) > 2
    assert (folder / "lemmas.conllu").read_bytes() == (folder / "expected").read_bytes()


@pytest.mark.slow
def test_a_slurm_array_gives_the_bytes_of_one_process(folder):
    (folder / "lemmas.sh").write_text(block("bash", "SLURM_ARRAY_TASK_ID"))
    run(folder, block("", "sbatch").replace("n=10000", "n=8"), block("", "cat lemmas/"))
    assert len(list((folder / "parts").iterdir())) == 4
    assert (folder / "lemmas.conllu").read_bytes() == (folder / "expected").read_bytes()


def test_text_is_filled_from_python(folder):
    predictor, text = il_morph.load(folder / "RESULTS"), (folder / "text.conllu").read_text(encoding="utf-8")
    assert il_morph.predict_conllu(predictor, text) == (folder / "expected").read_text(encoding="utf-8")
    assert "\tknown\t" not in il_morph.predict_conllu(predictor, text, lexicon="off", beam_width=1)


@pytest.mark.parametrize("arguments, message", [
    ({"content": "walk\tV\n"}, "the text is not CoNLL-U"), ({"content": b"1"}, "content"),
    ({"content": "# a", "lexicon": "some"}, "lexicon takes one of off, unanimous, frequent, not 'some'"),
    ({"content": "# sent_id = x\n1\ta\tb\tX\n"}, r"the text, line 2 \(sentence x\): 4 columns"),
    ({"content": "", "beam_width": -1}, "beam_width takes")])
def test_bad_text_is_refused_in_python(folder, arguments, message):
    with pytest.raises(InputError, match=message):
        il_morph.predict_conllu(il_morph.load(folder / "RESULTS"), **arguments)


def test_a_model_of_other_data_fills_no_treebank(model, folder):  # noqa: F811
    with pytest.raises(InputError, match="the text is CoNLL-U: give data in the format that the model was trained on"):
        il_morph.predict_conllu(il_morph.load(model), (folder / "text.conllu").read_text(encoding="utf-8"))
    unlike = il_morph.load(folder / "RESULTS")
    unlike.model.lexicon = None
    with pytest.raises(InputError, match="the model has no lexicon"):
        il_morph.predict_conllu(unlike, (folder / "text.conllu").read_text(encoding="utf-8"), lexicon="unanimous")
