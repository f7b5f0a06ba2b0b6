"""Terminal escapes in data, features and names of files are shown escaped: a message moves no cursor, sets no title."""
import logging
import re

import pytest

from il_morph.commands import main
from il_morph.data.formats import Sample
from il_morph.errors import InputError, printable
from il_morph.model.modelfile import save_model
from tests.random_models import TAGGED, random_model

ESCAPES = "\x1b[31m\x1b]0;title\x07\x9b2J\x08\x7f"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def model(tmp_path):
    save_model(tmp_path / "f.model", random_model(samples=[*TAGGED, Sample("x" + ESCAPES, "V;PST", "y" + ESCAPES)]))
    return str(tmp_path / "f.model")


def said(capfd, *arguments) -> str:
    main([*arguments])
    captured = capfd.readouterr()
    assert not CONTROLS.search(captured.out + captured.err)
    return captured.out + captured.err


def test_explain_shows_them_by_their_code_points(model, capfd):
    text = said(capfd, "explain", model, f"walk{ESCAPES}", f"V;{ESCAPES}", f"--gold=y{ESCAPES}")
    assert "U+001B" in text and "U+009B" in text


@pytest.mark.parametrize("command", ["predict", "score", "evaluate", "split"])
def test_errors_about_data_and_names_of_files_show_them_escaped(model, command, tmp_path, capfd):
    path = tmp_path / f"in{ESCAPES}"
    before = [] if command in ("evaluate", "split") else [model]
    text = said(capfd, command, *before, str(path), str(tmp_path / "other"))
    assert "\\x1b[31m\\x1b]0;title\\x07\\x9b2J" in text
    path.write_text(f"walk{ESCAPES}⟪\twalked\tV;PST\n" * 2, encoding="utf-8")
    assert "\\x1b[31m" in said(capfd, command, *before, str(path), str(tmp_path / "other"))


def test_warnings_show_them_escaped(model, tmp_path, capfd, monkeypatch):
    (tmp_path / "in").write_text(f"walk\twalked\tV;{ESCAPES}\n", encoding="utf-8")
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    assert "\\x1b[31m" in said(capfd, "predict", model, str(tmp_path / "in"), str(tmp_path / "out"))


def test_what_is_no_control_character_stays_as_it_is():
    assert printable("a\tb\nç ‏ا 😀") == "a\tb\nç ‏ا 😀"
    assert str(InputError("x\x1b]0;y\x07")) == "x\\x1b]0;y\\x07"
