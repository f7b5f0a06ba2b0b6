"""`il-morph predict` with several models, as JSON, up to a share of the probability, and as a stream."""
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import il_morph
from il_morph.commands import main
from il_morph.data import streaming
from il_morph.data.formats import NO_FEATURES, SIGMORPHON2017, ReadOptions, parse_data
from il_morph.data.streaming import DataStream, blocks_of_lines, end_of_lines
from il_morph.errors import InputError
from il_morph.model.modelfile import save_model
from tests.cli import ROOT, error_of
from tests.random_models import TAGGED
from tests.test_decoding import ending_model

TEXT = "".join(f"{sample.input}\t{sample.tag}\n" for sample in TAGGED)
ITEMS = [(sample.input, sample.tag) for sample in TAGGED]


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """A folder with the models of three seeds."""
    folder = tmp_path_factory.mktemp("seeds")
    for seed in (1, 2, 3):
        (folder / str(seed)).mkdir()
        save_model(folder / str(seed) / "f.model", ending_model(seed))
        (folder / str(seed) / "f.stats").write_text("{}")
    return folder


@pytest.fixture
def inputs(tmp_path):
    (tmp_path / "inputs.tsv").write_text(TEXT, encoding="utf-8")
    return tmp_path / "inputs.tsv"


def predict(capsys, *arguments) -> list:
    capsys.readouterr()
    assert main(["predict", *map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def outputs(lines) -> list:
    return [line.split("\t")[1] for line in lines]


# Several models

@pytest.mark.parametrize("combine", ["vote", "average"])
def test_several_models_answer_as_one(seeds, inputs, capsys, combine):
    expected = il_morph.load(seeds, combine=combine).predict(ITEMS)
    files = [seeds / seed / "f.model" for seed in "123"]
    for models in (files, [seeds], [seeds / "1", seeds / "2", files[2]]):
        assert outputs(predict(capsys, f"--combine={combine}", f"--input={inputs}", *models)) == expected
    assert outputs(predict(capsys, f"--combine={combine}", seeds, inputs)) == expected


def test_the_vote_is_the_default_and_one_model_needs_no_combination(seeds, inputs, capsys):
    assert predict(capsys, f"--input={inputs}", seeds) == predict(capsys, "--combine=vote", f"--input={inputs}", seeds)
    assert predict(capsys, f"--input={inputs}", seeds / "2") == predict(capsys, seeds / "2", inputs)


def test_several_models_write_an_output_file(seeds, inputs, tmp_path, capsys):
    expected = predict(capsys, f"--input={inputs}", seeds)
    assert predict(capsys, f"--input={inputs}", f"--output={tmp_path / 'out'}", seeds) == []
    assert (tmp_path / "out").read_text(encoding="utf-8").splitlines() == expected
    message = error_of(capsys, "predict", f"--input={inputs}", f"--output={tmp_path / 'out'}", str(seeds))
    assert "exists already" in message


@pytest.mark.parametrize("arguments, message", [
    (["--combine=mean", "--input={inputs}", "{seeds}"], "--combine takes one of vote, average, not 'mean'"),
    (["--input=", "{seeds}"], "--input is empty"), (["--input={inputs}", "--output=", "{seeds}"], "--output is empty"),
    (["--mass=0", "{seeds}", "{inputs}"], "--mass takes a number from 1e-06 up to 1, not '0'"),
    (["--mass=2", "{seeds}", "{inputs}"], "--mass takes"), (["--mass=much", "{seeds}", "{inputs}"], "--mass takes"),
    (["--format=xml", "{seeds}", "{inputs}"], "--format takes one of tsv, json, not 'xml'"),
    (["--input={inputs}"], "the arguments do not fit the usage"),
    (["{seeds}"], "the arguments do not fit the usage"),
])
def test_bad_arguments(seeds, inputs, capsys, arguments, message):
    words = [word.format(seeds=seeds, inputs=inputs) for word in arguments]
    assert error_of(capsys, "predict", *words).startswith(message)


def test_models_that_have_no_average_say_so(seeds, inputs, tmp_path, capsys):
    save_model(tmp_path / "hard", ending_model(transducer="hard"))
    words = [f"--input={inputs}", str(seeds / "1"), str(tmp_path / "hard")]
    assert "let them vote" in error_of(capsys, "predict", "--combine=average", *words)
    assert len(predict(capsys, *words)) == len(ITEMS)


# JSON and mass

def test_json_lines_hold_the_predictions_of_each_input(seeds, inputs, capsys):
    found = [json.loads(line) for line in predict(capsys, "--format=json", "--nbest=3", seeds / "1", inputs)]
    assert [(each["input"], each["features"]) for each in found] == ITEMS
    for each, expected in zip(found, il_morph.load(seeds / "1").nbest(ITEMS, n=3)):
        assert [(p["output"], p["actions"]) for p in each["predictions"]] == [(p.output, p.actions) for p in expected]
        for name in ("probability", "log_probability"):
            assert [p[name] for p in each["predictions"]] == pytest.approx([getattr(p, name) for p in expected])


def test_json_of_data_without_features_has_none(tmp_path, capsys):
    save_model(tmp_path / "f.model", ending_model(format="no-features", pos_emb=False))
    (tmp_path / "words").write_text("walk\nsing\n")
    found = [json.loads(line) for line in predict(capsys, "--format=json", tmp_path / "f.model", tmp_path / "words")]
    assert [set(each) for each in found] == [{"input", "predictions"}] * 2


def test_mass_gives_as_many_outputs_as_it_takes(seeds, inputs, capsys):
    expected = il_morph.load(seeds / "1").nbest(ITEMS, mass=0.3)
    rows = [line.split("\t") for line in predict(capsys, "--mass=0.3", seeds / "1", inputs)]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        (lemma, each.output, str(rank)) for (lemma, _), found in zip(ITEMS, expected)
        for rank, each in enumerate(found, start=1)]
    assert len(rows) > len(ITEMS)
    capped = predict(capsys, "--mass=0.3", "--nbest=1", seeds / "1", inputs)
    assert outputs(capped) == [found[0].output for found in expected]


def test_mass_of_a_vote_is_a_share_of_the_votes(seeds, inputs, capsys):
    rows = [line.split("\t") for line in predict(capsys, "--mass=1", seeds, inputs)]
    for lemma, tag in ITEMS:
        shares = [2.718281828 ** float(row[4]) for row in rows if (row[0], row[2]) == (lemma, tag)]
        assert sum(shares) == pytest.approx(1, abs=1e-4)
        assert all(min(abs(share - k / 3) for k in (1, 2, 3)) < 1e-4 for share in shares)


# Streams

def test_a_pipe_is_answered_line_by_line(seeds):
    expected = il_morph.load(seeds / "1").predict([("walk", "V;PST"), ("sing", "N;PL")])
    process = subprocess.Popen([sys.executable, "-m", "il_morph", "predict", str(seeds / "1"), "-"], cwd=ROOT,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    for line, output in zip(("walk\tV;PST\n", "sing\tN;PL\n"), expected):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline().split("\t")[1] == output  # before the next line is there
    process.stdin.write("\n\n")
    assert process.communicate()[0] == ""
    assert process.returncode == 0


def test_a_named_pipe_is_a_stream(seeds, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen([sys.executable, "-m", "il_morph", "predict", str(seeds / "1"), str(tmp_path / "pipe")],
                               cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8")
    with open(tmp_path / "pipe", "w", encoding="utf-8") as pipe:
        for lemma, tag in ITEMS[:2]:
            print(lemma, tag, sep="\t", file=pipe, flush=True)
            assert process.stdout.readline().startswith(f"{lemma}\t")
    assert process.communicate()[0] == ""


def test_files_of_many_blocks_are_read_like_small_ones(seeds, inputs, tmp_path, capsys, monkeypatch, caplog):
    expected = predict(capsys, seeds / "1", inputs)
    monkeypatch.setattr(streaming, "BLOCK", 20)
    caplog.set_level("INFO")
    assert predict(capsys, seeds / "1", inputs) == expected
    assert f'{inputs}: input, features separated by ";" (6 lines)' in caplog.text
    assert predict(capsys, seeds / "1", inputs, tmp_path / "out") == []
    assert (tmp_path / "out").read_text(encoding="utf-8").splitlines() == expected


def test_unknown_features_of_all_blocks_are_counted_once(seeds, tmp_path, capsys, monkeypatch, caplog):
    (tmp_path / "inputs").write_text("walk\tV;PST\n" + "walk\tV;NEVER\n" * 50 + "walk \tX;PST\n", encoding="utf-8")
    monkeypatch.setattr(streaming, "BLOCK", 64)
    predict(capsys, seeds / "1", tmp_path / "inputs")
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 2
    assert "begin or end with a blank" in warnings[0]
    assert warnings[1] == ("51 of 52 inputs have features or parts of speech that the model does not know and "
                           "leaves out: NEVER (50), part of speech X (1)")


@pytest.mark.parametrize("last, what", [
    ("walk\n", "1 column"), ("a\tb\tc\td\n", "4 columns"), ("⟪walk\tV;PST\n", "the symbol ⟪ is reserved"),
    (b"w\xe4lk\tV;PST\n", "not UTF-8"), ("\nwalk\tV;PST\n", "the line is blank"),
    ("walk\twalked\tV;PST\n", "output, unlike the lines before"),
])
def test_an_error_in_a_late_block_names_its_line_and_leaves_nothing(seeds, tmp_path, capsys, monkeypatch, last, what):
    monkeypatch.setattr(streaming, "BLOCK", 64)
    content = b"walk\tV;PST\n" * 30 + (last if isinstance(last, bytes) else last.encode("utf-8"))
    (tmp_path / "inputs").write_bytes(content)
    for target in ([], [str(tmp_path / "out")]):
        message = error_of(capsys, "predict", str(seeds / "1"), str(tmp_path / "inputs"), *target)
        assert message.startswith(f"{tmp_path / 'inputs'}, line 31: ") and what in message
    assert [path.name for path in tmp_path.iterdir()] == ["inputs"]


def test_a_file_that_grows_meanwhile_is_an_error(seeds, inputs, tmp_path, capsys, monkeypatch):
    from il_morph.commands import streams as command

    def check_and_grow(*arguments):
        lines = check(*arguments)
        with open(inputs, "a", encoding="utf-8") as stream:
            stream.write("walk\tV;PST\n")
        return lines

    check = command.check
    monkeypatch.setattr(command, "check", check_and_grow)
    message = error_of(capsys, "predict", str(seeds / "1"), str(inputs), str(tmp_path / "out"))
    assert "had 6 lines and now has 7" in message
    assert not (tmp_path / "out").exists()


def test_a_header_row_that_comes_alone_waits_for_the_next_line(seeds):
    process = subprocess.Popen([sys.executable, "-m", "il_morph", "predict", str(seeds / "1"), "-"], cwd=ROOT,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    for line in ("lemma\tfeatures\n", "walk\tV;PST\n"):
        process.stdin.write(line)
        process.stdin.flush()
    assert process.stdout.readline().startswith("walk\t")
    out, err = process.communicate()
    assert (out, process.returncode) == ("", 0)
    assert err == 'il-morph: standard input: input, features separated by ";" (header row skipped)\n'


@given(st.text("ab\n\r", max_size=60), st.integers(1, 9))
def test_blocks_are_whole_lines_and_all_of_the_file(tmp_path_factory, text, size):
    path = tmp_path_factory.mktemp("blocks") / "file"
    path.write_bytes(text.encode())
    whole = streaming.BLOCK
    try:
        streaming.BLOCK = size
        blocks = list(blocks_of_lines(path))
    finally:
        streaming.BLOCK = whole
    assert b"".join(blocks) == text.encode()
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(block.strip(b"\r\n") for block in blocks[1:-1]), "only the last block may be blank lines"


@pytest.mark.parametrize("content, end", [(b"", 0), (b"a", 0), (b"\n\n", 0), (b"a\n", 2), (b"a\nb", 2),
                                          (b"a\n\n\r\n", 2), (b"\na\r\nb", 4)])
def test_the_end_of_the_whole_lines(content, end):
    assert end_of_lines(content) == end


@pytest.mark.parametrize("text, fmt", [(TEXT, SIGMORPHON2017),
                                       ("lemma,features\nwalk,V;PST\nsing,V;PRS\n", SIGMORPHON2017),
                                       ("\ufeffwalk\nsing\nmouse\n", NO_FEATURES),
                                       ("walk\twalked\tV;PST\t\t\nsing\tsang\tV;PST\t\t\n", SIGMORPHON2017)])
def test_blocks_hold_the_samples_of_the_whole(tmp_path, monkeypatch, text, fmt):
    (tmp_path / "file").write_text(text, encoding="utf-8")
    options = ReadOptions(expected=fmt, because="the model was trained on")
    expected = parse_data(text.encode("utf-8"), "file", options)
    monkeypatch.setattr(streaming, "BLOCK", 8)
    blocks = list(DataStream(tmp_path / "file", options))
    assert [sample for data in blocks for sample in data.samples] == expected.samples
    assert [data.format for data in blocks] == [expected.format] * len(blocks)
    assert [data.first_line for data in blocks][0] == expected.first_line


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match="cannot read .*missing: No such file"):
        list(DataStream(tmp_path / "missing", ReadOptions()))
