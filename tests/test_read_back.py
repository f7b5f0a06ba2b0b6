"""For every file that `predict` accepts, `evaluate` accepts its output."""
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.model.modelfile import save_model
from tests.cli import error_of
from tests.random_models import random_model

FIELDS = st.text(st.sampled_from("walked;,\"' \ufeff\u2028\x85\x0b\x1c\0é"), max_size=5)
TAGS = st.sampled_from(["V;PST", "N;PL", "V;\ufeff", "V;PST;3", "N;\r;PL"])
LINES = st.lists(st.tuples(FIELDS, FIELDS.filter(bool), TAGS), min_size=1, max_size=4)
STARTS, ENDS = st.sampled_from(["", "\ufeff", "\ufeff\ufeff"]), st.sampled_from(["\n", "\r\n", "\r\r\n"])


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, options in {"tagged": {}, "plain": {"format": "no-features", "pos_emb": False}}.items():
        model = random_model(**options)
        model.weights["output.b"][4] += 5  # it mostly copies
        save_model(folder / name, model)
    return folder


@pytest.mark.parametrize("start, end, complaint", [
    ("", "\r\r\n", "a carriage return is not part of the line end; remove it: tr -d '\\r' < "),
    ("\ufeff\ufeff", "\n", "there are two byte order marks; remove one: tail -c +4 < ")])
def test_double_line_ends_and_byte_order_marks_are_refused(models, tmp_path, capsys, start, end, complaint):
    (tmp_path / "in").write_bytes(f"{start}walk\twalked\tV;PST{end}go\twent\tV;PST{end}".encode())
    message = error_of(capsys, "predict", str(models / "tagged"), str(tmp_path / "in"), str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert message.startswith(f"{tmp_path / 'in'}, line 1: {complaint}")


@pytest.mark.parametrize("kind", ["tagged", "plain"])
@settings(max_examples=100)
@example(lines=[("walk", "walked", "V;PST")], start="\ufeff", end="\r\n")
@example(lines=[(";", ",", "V;PST")], start="", end="\n")
@example(lines=[(";;;", ";", "V;PST")], start="", end="\n")
@given(lines=LINES, start=STARTS, end=ENDS)
def test_what_predict_writes_evaluate_reads(models, tmp_path_factory, kind, lines, start, end):
    folder = tmp_path_factory.mktemp("read", numbered=True)
    rows = ["\t".join(line if kind == "tagged" else line[:2]) for line in lines]
    (folder / "in").write_bytes((start + "".join(row + end for row in rows)).encode())
    if main(["predict", str(models / kind), str(folder / "in"), str(folder / "out")]) == 2:
        return
    assert (folder / "out").read_bytes().count(b"\n") == len(lines)
    flag = "--sigm2017format" if kind == "tagged" else "--no-feat-format"
    assert main(["evaluate", flag, str(folder / "in"), str(folder / "out")]) == 0
