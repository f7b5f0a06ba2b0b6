import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import il_morph
from il_morph.commands import COMMANDS, main
from il_morph.commands.arguments import UsageError, choice, integer, number, parse_arguments
from il_morph.errors import InputError

ROOT = Path(__file__).resolve().parents[1]

OF_2016 = "walk\tpos=V,tense=PST\twalked\ndog\tpos=N,num=PL\tdogs\n"
OF_2017 = "walk\twalked\tV;PST\ndog\tdogs\tN;PL\n"
WITHOUT = "walked\t\twalk\ndogs\t\tdog\n"


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return str(path)
    return write_file


def il_morph_process(*argv, **options):
    """Run the real command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "il_morph", *argv], cwd=Path(__file__).parents[1],
                          capture_output=True, **options)


def error_of(capsys, *argv):
    """What a command that must fail says, without the prefix."""
    assert main(list(argv)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("il-morph: error: ")
    return captured.err[len("il-morph: error: "):]


# The dispatcher

def test_without_arguments_the_commands_are_listed():
    process = il_morph_process()
    assert process.returncode == 2
    assert process.stdout == b""
    for name in COMMANDS:
        assert f"\n  {name} " in process.stderr.decode("utf-8")


def test_help_and_version(capsys):
    assert main(["--help"]) == 0
    assert "evaluate" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"il-morph {il_morph.__version__}\n"
    assert main(["ensemble", "--help"]) == 0
    assert "il-morph ensemble [options] OUTPUT PREDICTIONS..." in capsys.readouterr().out


def test_unknown_commands_and_flags(capsys):
    assert "unknown command 'evaluat'" in error_of(capsys, "evaluat")
    message = error_of(capsys, "evaluate", "--sigm2018format", "a", "b")
    assert message.startswith("unknown flag --sigm2018format\nUsage:")
    assert "the arguments do not fit the usage" in error_of(capsys, "evaluate", "a")
    assert "--format requires argument" in error_of(capsys, "evaluate", "a", "b", "--format")


def test_errors_have_no_traceback():
    process = il_morph_process("evaluate", "missing", "missing")
    assert process.returncode == 2
    assert process.stderr.decode() == "il-morph: error: cannot read missing: No such file or directory\n"


def test_interrupts_are_one_line(capsys, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("il_morph.commands.evaluate.run", interrupt)
    assert main(["evaluate", "a", "b"]) == 130
    assert capsys.readouterr().err == "il-morph: interrupted\n"


def test_a_reader_that_leaves_is_no_error(write):
    predictions = write("predictions", OF_2016 * 20000)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as broken_pipe:
        process = subprocess.run([sys.executable, "-m", "il_morph", "ensemble", "-", predictions],
                                 cwd=Path(__file__).parents[1], stdout=broken_pipe, stderr=subprocess.PIPE)
    said = f'il-morph: {predictions}: input, features separated by ",", output (40,000 lines)\n'
    assert (process.returncode, process.stderr.decode("utf-8")) == (141, said)


@pytest.mark.parametrize("command", ["evaluate", "ensemble"])
def test_scoring_does_not_load_the_network(command):
    code = (f"import sys, il_morph.commands.{command}; "
            "assert not {'dynet', '_dynet', 'numpy'} & set(sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1]).returncode == 0


# Values of flags

def test_values_of_flags():
    args = {"--epochs": "30", "--alpha": "0.5", "--mode": "il"}
    assert integer(args, "--epochs", minimum=1) == 30
    assert number(args, "--alpha", minimum=0, maximum=1) == 0.5
    assert choice(args, "--mode", ("il", "mle")) == "il"


@pytest.mark.parametrize("value, minimum, message", [
    ("many", None, "--n takes a whole number, not 'many'"),
    ("1.5", 1, "--n takes a whole number from 1 up, not '1.5'"),
    ("0", 1, "--n takes a whole number from 1 up, not '0'"),
])
def test_bad_integers(value, minimum, message):
    with pytest.raises(InputError) as caught:
        integer({"--n": value}, "--n", minimum)
    assert str(caught.value) == message


@pytest.mark.parametrize("value, minimum, maximum, message", [
    ("x", None, None, "--n takes a number, not 'x'"),
    ("nan", None, None, "--n takes a number, not 'nan'"),
    ("-1", 0, None, "--n takes a number from 0 up, not '-1'"),
    ("2", None, 1, "--n takes a number up to 1, not '2'"),
    ("1.5", 0, 1, "--n takes a number from 0 up to 1, not '1.5'"),
])
def test_bad_numbers(value, minimum, maximum, message):
    with pytest.raises(InputError) as caught:
        number({"--n": value}, "--n", minimum, maximum)
    assert str(caught.value) == message


def test_bad_choices():
    with pytest.raises(InputError, match="--mode takes one of il, mle, not 'ml'"):
        choice({"--mode": "ml"}, "--mode", ("il", "mle"))


def test_usage_errors_carry_the_usage():
    with pytest.raises(UsageError) as caught:
        parse_arguments("Usage:\n  il-morph go [options] WHERE\n\nOptions:\n  --fast  run\n", ["go"])
    assert caught.value.usage == "Usage:\n  il-morph go [options] WHERE"


# evaluate

def test_evaluate_one_file(capsys, write):
    predictions = write("predictions", OF_2016.replace("dogs", "dog"))
    assert main(["evaluate", write("gold", OF_2016), predictions]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[:5] == [["accuracy", "50.0000"], ["levenshtein", "0.50000"],
                         ["normalised", "levenshtein", "0.12500"],
                         ["mean", "reciprocal", "rank", "0.50000"], ["lines", "2"]]
    assert lines[5][:4] == ["accuracy", "of", "pos=N", "0.0000"]
    assert lines[6][:4] == ["accuracy", "of", "pos=V", "100.0000"]


@pytest.mark.parametrize("flags, text", [
    ([], OF_2016), (["--sigm2017format"], OF_2017), (["--no-feat-format"], WITHOUT),
    (["--no-feat-format"], WITHOUT.replace("\t\t", "\t")), ([], OF_2017), ([], WITHOUT),
    ([], WITHOUT.replace("\t\t", "\t")),
])
def test_evaluate_each_format(capsys, write, flags, text):
    path = write("gold", text)
    assert main(["evaluate", *flags, path, path]) == 0
    assert capsys.readouterr().out.split()[:2] == ["accuracy", "100.0000"]


def test_evaluate_several_files(capsys, write):
    gold = write("gold", OF_2016)
    worse = write("worse", OF_2016.replace("dogs", "dog"))
    assert main(["evaluate", gold, gold, worse]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0][:4] == ["file", "lines", "accuracy", "levenshtein"]
    assert rows[1][:4] == [gold, "2", "100.0000", "0.00000"]
    assert rows[2][:4] == [worse, "2", "50.0000", "0.50000"]
    assert [row[:3] for row in rows[3:]] == [["mean", "75.0000", "0.25000"], ["sd", "35.3553", "0.35355"],
                                             ["min", "50.0000", "0.00000"], ["max", "100.0000", "0.50000"]]


def test_evaluate_prints_tsv_and_json(capsys, write):
    gold = write("gold", OF_2016)
    assert main(["evaluate", "--format=tsv", gold, gold]) == 0
    header, row = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert dict(zip(header, row))["accuracy"] == "100.0000"
    assert main(["evaluate", "--format=json", gold, gold, gold]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [each["accuracy"] for each in result["files"]] == [100, 100]
    assert result["summary"]["sd"]["levenshtein"] == 0


def test_evaluate_reads_a_stream(write):
    process = il_morph_process("evaluate", write("gold", OF_2016), "-", input=OF_2016.encode("utf-8"))
    assert process.returncode == 0
    assert process.stdout.startswith(b"accuracy ")


@pytest.mark.parametrize("flags, gold, message", [
    ([], b"", "is empty"),
    ([], "walk pos=V walked\n", "line 1: 1 column, but an input and an output are needed"),
    ([], OF_2016 + "walk\tpos=V\twalked\tmore\n", "line 3: 4 columns"),
    ([], "walk\tpos=V\n", "has no outputs"),
    (["--sigm2017format"], OF_2016, "leave out the format flag"),
    (["--no-feat-format"], OF_2017, "use --sigm2017format"),
    ([], OF_2016.encode("utf-8") + b"\xff\tpos=V\tx\n", "line 3: not UTF-8"),
    ([], OF_2016 + "a\tpos=V\t⟪\n", "line 3: the symbol ⟪ is reserved"),
    (["--sigm2017format", "--no-feat-format"], OF_2016, "exclude each other"),
    (["--format=xml"], OF_2016, "--format takes one of text, tsv, json, not 'xml'"),
])
def test_evaluate_refuses_bad_input(capsys, write, flags, gold, message):
    path = write("gold", gold)
    assert message in error_of(capsys, "evaluate", *flags, path, path)


def test_evaluate_refuses_bad_predictions(capsys, write):
    gold = write("gold", OF_2016)
    shorter = write("shorter", OF_2016.splitlines(keepends=True)[0])
    message = error_of(capsys, "evaluate", gold, gold, shorter)
    assert f"{gold}, line 2 has no counterpart in {shorter}" in message
    other = write("other", OF_2016.replace("dog\t", "cat\t"))
    message = error_of(capsys, "evaluate", gold, other)
    assert f"{other}, line 2 has 'cat'" in message and f"{gold}, line 2 has 'dog'" in message
    assert "is empty" in error_of(capsys, "evaluate", gold, write("empty", ""))
    assert "use --sigm2017format" in error_of(capsys, "evaluate", gold, write("2017", OF_2017))


# ensemble

def test_ensemble_writes_the_votes(write, tmp_path):
    models = [write("1", OF_2016.replace("walked", "wolk")), write("2", OF_2016), write("3", OF_2016)]
    output = tmp_path / "output"
    assert main(["ensemble", str(output), *models]) == 0
    assert output.read_text(encoding="utf-8") == OF_2016


@pytest.mark.parametrize("flags, text", [
    ([], OF_2016), (["--sigm2017format"], OF_2017), (["--no-feat-format"], WITHOUT),
])
def test_ensemble_writes_to_a_stream_in_each_format(capsys, write, flags, text):
    assert main(["ensemble", *flags, "-", write("1", text), write("2", text)]) == 0
    assert capsys.readouterr().out == text


def test_ensemble_streams_utf8_whatever_the_locale(write):
    text = "vlk\tpos=N\tvlčí\n"
    process = il_morph_process("ensemble", "-", write("1", text),
                               env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert process.stdout.decode("utf-8") == text


def test_ensemble_overwrites_only_with_force(capsys, write):
    output, model = write("output", "precious"), write("1", OF_2016)
    assert f"{output} exists already" in error_of(capsys, "ensemble", output, model)
    assert Path(output).read_text() == "precious"
    assert main(["ensemble", "--force", output, model]) == 0
    assert Path(output).read_text() == OF_2016


def test_ensemble_refuses_other_lines_and_writes_nothing(capsys, write, tmp_path):
    first, second = write("1", OF_2016), write("2", OF_2016 + "run\tpos=V\tran\n")
    output = tmp_path / "output"
    message = error_of(capsys, "ensemble", str(output), first, second)
    assert f"{second}, line 3 has no counterpart in {first}" in message
    assert not output.exists()


def test_ensemble_refuses_places_that_do_not_exist(capsys, write, tmp_path):
    output = str(tmp_path / "missing" / "output")
    assert f"cannot write {output}" in error_of(capsys, "ensemble", output, write("1", OF_2016))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_takes_nothing_is_an_error(tmp_path):
    path = tmp_path / "gold"
    path.write_text("walk\tpos=V\twalked\n")
    with open("/dev/full", "w") as full:
        process = subprocess.run([sys.executable, "-m", "il_morph", "evaluate", str(path), str(path)], stdout=full,
                                 stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
    assert process.returncode == 2
    assert "cannot write the standard output" in process.stderr and "Traceback" not in process.stderr


def test_closed_streams_end_without_a_traceback():
    process = subprocess.run(f"'{sys.executable}' -m il_morph evaluate - - <&- >&-", shell=True, text=True,
                             stderr=subprocess.PIPE, cwd=Path(__file__).parents[1])
    assert process.returncode == 2 and "Traceback" not in process.stderr


def test_names_of_files_that_are_no_utf8_can_be_shown(write):
    gold = write("gold", "walk\twalked\tV;PST\n")
    odd = Path(gold).parent / os.fsdecode(b"pr\xe9dictions")
    odd.write_text("walk\twalked\tV;PST\n", encoding="utf-8")
    process = il_morph_process("evaluate", "--sigm2017format", gold, gold, str(odd), text=True)
    assert process.returncode == 0, process.stderr
    assert "pr\\udce9dictions" in process.stdout


@pytest.mark.parametrize("arguments", [
    ["predict", "N" * 300, "-"], ["table", "celex", "N" * 300], ["ensemble", "--sigm2017format", "N" * 300, "{gold}"]])
def test_a_name_that_is_too_long_is_named(capsys, write, arguments):
    gold = write("gold", "walk\twalked\tV;PST\n")
    message = error_of(capsys, *(argument.format(gold=gold) for argument in arguments))
    assert "N" * 300 in message and "File name too long" in message


# Paths that a script left empty

@pytest.mark.parametrize("arguments, name", [
    (["predict", "model", "", "output"], "INPUT"), (["predict", "model", "input", ""], "OUTPUT"),
    (["score", "model", "file", ""], "OUTPUT"), (["explain", "--output=", "model", "walk"], "--output"),
    (["report", "--output=", "folder"], "--output"), (["report", "--train=", "folder"], "--train"),
    (["report", "--dev=", "folder"], "--dev"), (["report", "--test=", "folder"], "--test"),
    (["evaluate", "--train=", "gold", "predictions"], "--train"),
    (["table", "--measured=", "celex", "root"], "--measured"),
])
def test_an_empty_path_is_not_one_that_was_left_out(tmp_path, capsys, monkeypatch, arguments, name):
    monkeypatch.chdir(tmp_path)
    assert error_of(capsys, *arguments).startswith(f"{name} is empty: give a ")
    assert not [*tmp_path.iterdir()]
