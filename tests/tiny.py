"""Tiny data for the scripts in bin/, and ways to run them with the il-morph of this checkout."""
from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from tests.table_output import figures_by_column

PROJECT = Path(__file__).resolve().parents[1]

LANGUAGES = {"sigmorphon2016": "russian,german", "sigmorphon2017": "turkish,navajo",
             "celex": "13SIA-13SKE,rP-pA", "lemmatization": "english,irish"}
SIZES = {"train": 40, "dev": 10, "test": 30}
SMALL = ["--", "--epochs", "2", "--input", "8", "--enc-hidden=8", "--dec-hidden", "8", "--dynet-mem", "16"]
LEARNING = ["--", "--epochs=8", "--input=16", "--enc-hidden=16", "--dec-hidden=16", "--dynet-mem=16"]
ENDINGS = {"a": "b", "b": "", "c": "ca"}


def gold_path(table: str, data: Path, language: str, fold: str = "-", setting: str = "low", part: str = "test") -> Path:
    if table == "sigmorphon2016":
        return data / f"{language}-task1-{part}"
    if table == "sigmorphon2017":
        names = {"train": f"train-{setting}", "test": "uncovered-test"}
        return data / "task1" / f"{language}-{names.get(part, part)}"
    if table == "celex":
        return data / language / "0500" / fold / part
    return data / f"{language}_{fold}_{part}.txt"


def line(table: str, word: str, ending: str) -> str:
    columns = {"sigmorphon2016": (word, "pos=N,case=ERG", word + ending),
               "sigmorphon2017": (word, word + ending, "N;ERG"),
               "celex": (word, word + ending), "lemmatization": (word, "", word + ending)}
    return "\t".join(columns[table]) + "\n"


def make_data(table: str, folder: Path, folds: str = "0") -> Path:
    """Words whose ending depends on their last letter, in the layout of the table, for two languages."""
    chance = random.Random(table)
    for language in LANGUAGES[table].split(","):
        for fold in folds.split(","):
            for part, size in SIZES.items():
                path = gold_path(table, folder, language, fold, part=part)
                path.parent.mkdir(parents=True, exist_ok=True)
                words = ["".join(chance.choices("abc", k=chance.randint(1, 4))) for _ in range(size)]
                path.write_text("".join(line(table, word, ENDINGS[word[-1]]) for word in words), encoding="utf-8")
    return folder


JOURNAL = """\
import atexit, os, sys

def note(*words):
    with open({journal!r}, "a") as journal:
        print(*words, file=journal)

if sys.argv[1:2] == ["train"]:
    threads = ",".join(str(os.environ.get(name + "_NUM_THREADS")) for name in ("OMP", "OPENBLAS", "MKL"))
    note("start", sys.argv[-1], "threads=" + threads)
    atexit.register(note, "end", sys.argv[-1])
"""


def environment(folder: Path) -> dict:
    """PATH begins with an il-morph of this checkout that keeps a journal of the trainings that start and end."""
    command, modules = folder / "bin" / "il-morph", folder / "modules"
    if not command.exists():
        command.parent.mkdir(parents=True)
        modules.mkdir()
        # Python imports this module when it starts.
        (modules / "sitecustomize.py").write_text(JOURNAL.format(journal=str(folder / "journal")), encoding="utf-8")
        command.write_text(f"#!/bin/sh\nPYTHONPATH='{modules}:{PROJECT}' exec '{sys.executable}' -m il_morph \"$@\"\n")
        command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}


def journal(folder: Path, word: str) -> list:
    path = folder / "journal"
    rows = [row.split() for row in path.read_text().splitlines()] if path.exists() else []
    return [row[1] for row in rows if row[0] == word]


def script(table: str) -> str:
    return str(PROJECT / "bin" / f"run_{table}.sh")


def run_script(folder: Path, table: str, *options: str) -> subprocess.CompletedProcess:
    """The script of a table; data and results are in `folder`."""
    return subprocess.run([script(table), "--data", folder / "data", "--results", folder / "results", *options],
                          env=environment(folder), capture_output=True, text=True)


def table_rows(folder: Path, table: str) -> dict:
    """Our rows of a table: (system, figure) -> column -> cell."""
    done = subprocess.run(["il-morph", "table", table, folder / "results", "--format=tsv"], env=environment(folder),
                          capture_output=True, text=True, check=True)
    rows = figures_by_column(done.stdout)
    return {(system, figure): cells for (source, system, figure), cells in rows.items() if source == "ours"}
