"""Odd models, data, checkpoints and requests, as long as one likes: each is used or refused with one clear error.

    python -m tests.fuzz models|data|checkpoints|http --minutes=10 --seed=1

Stops at the first failure, says the number of the attempt and keeps what led to it in a file; the same seed makes the
same attempts. Exit code 1: something failed.
"""
from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from http.client import HTTPConnection, HTTPException
from io import StringIO
from pathlib import Path
from random import Random
from typing import Callable

import pytest

from il_morph.commands import main
from il_morph.errors import CONTROLS
from il_morph.model.modelfile import load_model, save_model
from tests.cli import Data
from tests.random_models import SETTINGS, random_model
from tests.test_cited_architectures import VARIANTS, cited_model
from tests.test_damaged_models import interrupted_training, mutated, outcome, with_surgery
from tests.test_large_weights import MODELS, damaged
from tests.test_modelfile import members
from tests.test_nwfst import model as nwfst_model
from tests.test_serve import MODEL, PLAIN, serving

Attempt = Callable[[Random], str]  # one attempt, and what came of it
PIECES = [*"\t\t\t\n\n\n", "walk", "walked", "V;PST", "pos=V,tense=PST", "\r\n", "\r", "\ufeff", ",", ";", '"',
          " ", "é", "e\u0301", "⟪", "<UNK>", "\0", "\x1b[2J", "😀", "lemma", "form", "-inf", "1", "\u2028", "אב"]


def code_of(*arguments: str) -> str:
    """What a command says; it must end well or with one error, and steer no terminal."""
    said, errors = StringIO(), StringIO()
    with redirect_stdout(said), redirect_stderr(errors):
        code = main([*arguments])
    assert code in (0, 2), f"exit code {code}"
    assert (code == 2) == ("il-morph: error: " in errors.getvalue()), errors.getvalue()
    assert not CONTROLS.search(errors.getvalue()) and "Traceback" not in errors.getvalue(), errors.getvalue()
    return "used" if code == 0 else "refused"


def models(folder: Path) -> Attempt:
    """Model files of every architecture, mutated, or with weights too large to compute with."""
    kinds = {**{name: lambda name=name: random_model(**SETTINGS[name]) for name in SETTINGS}, "nwfst": nwfst_model,
             **{name: lambda name=name: cited_model(**VARIANTS[name]) for name in VARIANTS}}
    path = folder / "f.model"

    def use(model) -> None:
        with_features = model.vocabulary.format.separator is not None
        (folder / "in").write_text("walk\twalked\tV;PST\n" if with_features else "walk\twalked\n", encoding="utf-8")
        columns = "--columns=" + ("input,output,features" if with_features else "input,output")
        for command in ("predict", "score"):
            code_of(command, columns, "--force", str(path), str(folder / "in"), str(folder / "out"))
        code_of("explain", str(path), "walk")

    def attempt(chance: Random) -> str:
        kind = chance.choice(sorted(kinds))
        if chance.random() < 0.3:
            kind = chance.choice(sorted(MODELS))
            model = MODELS[kind]()
            value = chance.choice([1e6, 1e15, 3e38, -3e38])
            save_model(path, damaged(model, chance.choice(sorted(model.weights)), value, chance.random() < 0.5))
        else:
            save_model(path, kinds[kind]())
            whole, content = path.read_bytes(), members(path)
            path.write_bytes(mutated(whole, chance) if chance.random() < 0.5 else with_surgery(content, chance))
        return outcome(load_model, path, use)

    return attempt


def data(folder: Path) -> Attempt:
    """Files of odd pieces: what predict accepts, it answers line by line."""
    names = {"tagged": random_model(), "plain": random_model(format="no-features", pos_emb=False)}
    for name, model in names.items():
        save_model(folder / name, model)
    path, out = folder / "in", folder / "out"

    def attempt(chance: Random) -> str:
        content = "".join(chance.choices(PIECES, k=chance.randrange(30))).encode()
        path.write_bytes(mutated(content, chance) if content and chance.random() < 0.2 else content)
        found = code_of("predict", "--force", str(folder / chance.choice(sorted(names))), str(path), str(out))
        command = chance.choice(["evaluate", "split", "align"])
        more = {"evaluate": [str(out if out.exists() else path)], "align": [],
                "split": ["--force", str(folder / "parts")]}
        code_of(command, str(path), *more[command])
        return found

    return attempt


def checkpoints(folder: Path) -> Attempt:
    """Checkpoints, mutated: the training goes on, or refuses to."""
    (folder / "data").mkdir()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(StringIO()):
        path, go_on = interrupted_training(Data(folder / "data"), folder / "run", patch, "--epochs=3")
    whole, content = path.read_bytes(), members(path)

    def attempt(chance: Random) -> str:
        path.write_bytes(mutated(whole, chance) if chance.random() < 0.5 else with_surgery(content, chance))
        with redirect_stderr(StringIO()):
            return outcome(go_on, path, lambda stats: stats["scores"]["greedy.dev"])

    return attempt


def http(folder: Path) -> Attempt:
    """Odd requests to `il-morph serve`, which answers each and goes on."""
    from il_morph.report.answers import Answers

    running = serving(Answers({"words": MODEL, "plain": PLAIN}))
    server = running.__enter__()
    values = ["walk", "V;PST", "words", "", None, 7, -1, 10**30, 1.5, True, [], {},
              "x" * 2000, "\ud800", "\x1b]0;t\x07"]

    def attempt(chance: Random) -> str:
        keys = chance.choices(["model", "input", "features", "gold", "n", "pos", "name", "x"], k=chance.randrange(7))
        body = json.dumps({key: chance.choice(values) for key in keys}).encode()
        body = mutated(body, chance) if chance.random() < 0.3 else body
        path = chance.choice(["/", "/../x", "/%00", "//", "/api", *(
            f"/api/{name}" for name in ("models", "predict", "predict", "paradigm", "file"))])
        kind = chance.choice(["application/json", "text/plain", "application/octet-stream", "x"])
        connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        try:
            connection.request(chance.choice(["GET", "POST", "POST", "POST", "PUT", "OPTIONS"]), path, body,
                               {"Content-Type": kind})
            answer = connection.getresponse()
            text = answer.read()
        except (HTTPException, ConnectionError) as error:
            return type(error).__name__
        finally:
            connection.close()
        assert answer.status < 500 or answer.status == 501, (answer.status, text)
        if answer.headers.get_content_type() == "application/json":
            json.loads(text, parse_constant=lambda constant: pytest.fail(constant))
        return str(answer.status)

    attempt.close = lambda: running.__exit__(None, None, None)  # type: ignore[attr-defined]
    return attempt


TARGETS = {"models": models, "data": data, "checkpoints": checkpoints, "http": http}


def fuzz(target: str, seconds: float, seed: int) -> Counter:
    """What came of the attempts that were made in this time; the first failure is raised."""
    outcomes: Counter = Counter()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        attempt, end = TARGETS[target](Path(name)), time.monotonic() + seconds
        warnings.simplefilter("error", RuntimeWarning)
        try:
            while time.monotonic() < end:
                number = sum(outcomes.values())
                try:
                    outcomes[attempt(Random(f"{seed} {number}"))] += 1
                except BaseException as error:
                    if isinstance(error, KeyboardInterrupt):
                        raise
                    kept = keep(Path(name), f"fuzz-{target}-{seed}-{number}")
                    raise AssertionError(f"attempt {number} of seed {seed} failed; see {kept}") from error
        finally:
            getattr(attempt, "close", lambda: None)()
    return outcomes


def keep(folder: Path, name: str) -> str:
    """The files of a failed attempt, where they outlive it."""
    kept = os.path.join(tempfile.gettempdir(), f"{name}-{os.getpid()}")
    os.rename(folder, kept)
    folder.mkdir()
    return kept


def run(arguments: list[str]) -> int:
    found = [re.fullmatch(r"--(minutes|seed)=(\d+(?:\.\d+)?)", each) for each in arguments[1:]]
    if not arguments or arguments[0] not in TARGETS or None in found:
        print(__doc__, file=sys.stderr)
        return 2
    flags = dict(each.groups() for each in found if each)
    try:
        outcomes = fuzz(arguments[0], 60 * float(flags.get("minutes", 10)), int(flags.get("seed", 1)))
    except AssertionError:
        traceback.print_exc()
        return 1
    print(f"{arguments[0]}: {sum(outcomes.values()):,} attempts:",
          ", ".join(f"{number:,} {what}" for what, number in outcomes.items()))
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
