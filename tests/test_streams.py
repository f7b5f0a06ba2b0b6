"""Around a command: closed streams, devices as output, Ctrl-C, `python -OO`, too little memory, too long lines."""
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

import il_morph
from il_morph import commands
from il_morph.commands import main
from il_morph.commands.streams import answer
from il_morph.data import streaming
from il_morph.data.formats import ReadOptions
from il_morph.data.samples import LONGEST
from il_morph.data.streaming import LONGEST_LINE, DataStream
from il_morph.errors import InputError
from il_morph.model.modelfile import save_model
from il_morph.model.predictor import Predictor
from il_morph.model.search import BeamSearch
from tests.cli import ROOT, error_of
from tests.random_models import random_model

LINES = "walk\twalked\tV;PST\nmouse\tmice\tN;PL\n"


@pytest.fixture
def folder(tmp_path):
    """A model and its input."""
    save_model(tmp_path / "f.model", random_model())
    (tmp_path / "in").write_text(LINES)
    return tmp_path


def shell(command: str, **options) -> subprocess.CompletedProcess:
    """With the word `il-morph` for the command of this checkout, whose folder may have that name, too."""
    command = re.sub(r"(?<![\w/.-])il-morph(?= )", lambda _: f"'{sys.executable}' -m il_morph", command)
    return subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, **options)


@pytest.mark.parametrize("redirection, name", [("<&-", "input"), (">&-", "output"), ("<&- >&-", "input")])
def test_a_closed_stream_is_named(folder, redirection, name):
    done = shell(f"il-morph predict {folder}/f.model {folder}/in {folder}/out {redirection}")
    assert done.returncode == 2 and not (folder / "out").exists()
    assert done.stderr == (f"il-morph: error: the standard {name} is closed: redirect it to /dev/null if you "
                           "do not need it\n")


def test_a_closed_standard_error_is_named_on_the_output(folder):
    done = shell(f"il-morph predict {folder}/f.model {folder}/in {folder}/out 2>&-")
    assert done.returncode == 2 and "the standard error is closed" in done.stdout and not (folder / "out").exists()


def test_devices_and_processes_can_be_the_output(folder):
    plain = shell(f"il-morph predict {folder}/f.model {folder}/in").stdout
    assert plain.count("\n") == 2
    assert shell(f"il-morph predict {folder}/f.model {folder}/in /dev/stdout").stdout == plain
    assert plain in shell(f"il-morph predict {folder}/f.model {folder}/in /dev/stderr").stderr
    assert shell(f"il-morph predict {folder}/f.model {folder}/in >(cat) | cat").stdout == plain
    assert shell(f"il-morph predict {folder}/f.model {folder}/in /dev/stdout > {folder}/out").returncode == 0
    assert (folder / "out").read_text() == plain


@pytest.mark.parametrize("arguments", [
    ["predict", "f.model", "in", "f.model"], ["predict", ".", "in", "f.model"], ["predict", "..", "in", "f.model"],
    ["predict", "--input=in", "--output=link", "f.model"], ["score", "f.model", "in", "f.model"],
    ["explain", "--output=f.model", "f.model", "walk", "V;PST"],
])
def test_the_model_is_never_overwritten_by_its_own_output(folder, capsys, monkeypatch, arguments):
    monkeypatch.chdir(folder)
    os.symlink("f.model", "link")
    before = Path("f.model").read_bytes()
    message = error_of(capsys, arguments[0], "--force", *arguments[1:])
    assert "is the model itself: choose another name" in message and Path("f.model").read_bytes() == before


def test_ctrl_c_while_modules_are_loaded_gives_no_traceback(tmp_path):
    (tmp_path / "docopt.py").write_text("raise KeyboardInterrupt\n")
    done = shell("il-morph predict --help", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (130, "il-morph: interrupted\n")


@pytest.mark.parametrize("arguments", ["train a b c", "predict --help", "table celex x", "evaluate a b"])
def test_without_docstrings_the_reason_is_said(arguments):
    done = shell(f"'{sys.executable}' -OO -m il_morph {arguments}")
    assert done.returncode == 2 and "il-morph needs its docstrings" in done.stderr and "-OO" in done.stderr
    assert "Traceback" not in done.stderr


def test_after_two_hyphens_nothing_is_a_flag(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    Path("--best").write_text(LINES)
    assert main(["ensemble", "--sigm2017format", "--", "votes", "--best", "in"]) == 0
    assert Path("votes").read_text() == LINES
    assert main(["predict", "--", "f.model", "--best", "-o"]) == 0
    assert Path("-o").read_text().count("\n") == 2
    assert main(["evaluate", "--sigm2017format", "--", "--best", "in"]) == 0
    capsys.readouterr()
    assert "cannot read none" in error_of(capsys, "ensemble", "--", "other", "none")
    assert "[--]" not in error_of(capsys, "ensemble")


def test_the_two_hyphens_may_stand_anywhere(folder, monkeypatch, capsys):
    """A linguist's words may begin with a hyphen."""
    monkeypatch.chdir(folder)
    Path("--best").write_text(LINES)
    assert main(["predict", "f.model", "--", "--best", "-o"]) == 0
    assert Path("-o").read_text().count("\n") == 2 and not Path("--").exists()
    capsys.readouterr()
    assert main(["explain", "f.model", "--", "-ler", "V;PST"]) == 0
    assert "-ler" in capsys.readouterr().out
    assert main(["explain", "--", "f.model", "-h", "V;PST"]) == 0
    assert "Usage" not in capsys.readouterr().out
    assert main(["paradigm", "f.model", "--", "-ler"]) == 0
    assert "--" not in capsys.readouterr().out.split()


# Memory and lengths

@pytest.mark.parametrize("name", ["predict", "score", "train"])
def test_too_little_memory_is_said_with_what_to_lower(folder, name, monkeypatch, capsys):
    def no_memory(argv):
        raise MemoryError

    monkeypatch.setattr(f"il_morph.commands.{name}.run", no_memory)
    message = error_of(capsys, name)
    assert message.startswith("there is not enough memory") and "lower --batch-size" in message


def test_too_little_memory_while_predicting_leaves_nothing_half_written(folder):
    """With a limit that the interpreter and the model fit into, but not one of the longest inputs."""
    save_model(folder / "f.model", random_model(enc_hidden=900))
    (folder / "long").write_text(("w" * LONGEST + "\t\tV;PST\n") * 3)
    done = shell(f"ulimit -v 400000; il-morph predict {folder}/f.model {folder}/long {folder}/out")
    assert done.returncode == 2 and "not enough memory" in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["f.model", "in", "long"]


@pytest.mark.parametrize("width", [1, 4])
def test_batches_shrink_to_what_memory_allows(monkeypatch, width):
    predictor = Predictor(random_model())
    items = [("walk", "V;PST"), ("mouse", "N;PL"), ("a", "N;PL"), ("tall", "ADJ;CMPR"), ("ox", "N;PL")]
    expected, run, sizes = predictor.predict(items, width), BeamSearch.run, []

    def with_little_memory(search):
        sizes.append(len(search.instances))
        if len(search.instances) > 2:
            raise MemoryError
        return run(search)

    monkeypatch.setattr(BeamSearch, "run", with_little_memory)
    assert predictor.predict(items, width) == expected
    assert sizes == [5, 2, 3, 1, 2]


def test_long_files_take_no_more_memory_than_short_ones(folder, monkeypatch):
    monkeypatch.setattr(streaming, "BLOCK", 1 << 13)
    predictor, peaks = Predictor.load(folder), []
    for lines in (2_000, 10_000):
        (folder / "long").write_text("walk\t\tV;PST\n" * lines)
        stream = DataStream(folder / "long", ReadOptions(expected=predictor.format))
        tracemalloc.start()
        answer(stream, str(folder / "out"), predictor,
               lambda fmt, samples: lambda: [fmt.line(sample, "") for sample in samples])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert (folder / "out").read_bytes().count(b"\n") == lines
    assert peaks[1] < 1.2 * peaks[0]


def test_inputs_have_a_limit(folder, capsys):
    (folder / "long").write_text(f"walk\t\tV;PST\n{'w' * (LONGEST + 1)}\t\tV;PST\n")
    message = error_of(capsys, "predict", str(folder / "f.model"), str(folder / "long"), str(folder / "out"))
    assert "long, line 2: the input has 10,001 characters, and il-morph takes at most 10,000" in message
    assert not (folder / "out").exists()
    with pytest.raises(InputError, match="the input has 1,000,000 characters") as caught:
        Predictor.load(folder).predict([("w" * 1_000_000, "V;PST")])
    assert len(str(caught.value)) < 400
    assert len(il_morph.load(folder).predict([("w" * LONGEST, "V;PST")])) == 1


@pytest.mark.parametrize("source", ["long", "-"])
def test_a_line_that_never_ends_is_not_kept_in_memory(folder, source):
    (folder / "long").write_text("walk\t\tV;PST\n" + "w" * (LONGEST_LINE + 200_000))
    done = shell(f"cd {folder} && PYTHONPATH={ROOT} il-morph predict f.model {source} out < long")
    assert done.returncode == 2 and "a line has more than 1,048,576 bytes" in done.stderr
    assert not (folder / "out").exists()


def test_exit_codes_are_those_of_the_texts():
    assert (commands.BAD_INPUT, commands.INTERRUPTED, commands.BROKEN_PIPE) == (2, 130, 141)


@pytest.mark.parametrize("megabytes", [
    40, *(pytest.param(size, marks=pytest.mark.slow) for size in (90, 140, 180, 250, 350)), 450])
def test_any_limit_to_memory_is_kept_or_said(folder, megabytes):
    """Whatever library does not get its memory: the work is done, or a message and nothing half-written."""
    (folder / "train").write_text(LINES * 3)
    limit = f"ulimit -v {megabytes * 1024}; il-morph"
    answered = shell(f"{limit} predict {folder}/f.model {folder}/in {folder}/out")
    trained = shell(f"{limit} train --engine=native --epochs=1 --sigm2017format --dynet-seed=1 {folder}/train "
                    f"{folder}/train {folder}/results")
    for done, product in (answered, folder / "out"), (trained, folder / "results" / "f.stats"):
        assert done.returncode == (0 if product.exists() else 2), done.stderr
        assert done.returncode == 0 or "il-morph: error: there is not enough memory" in done.stderr
    assert not list(folder.rglob("*.tmp"))
    assert megabytes > 90 or {answered.returncode, trained.returncode} == {2}
    assert megabytes < 450 or answered.returncode == 0


def test_with_little_memory_training_does_without_the_compiler(folder):
    (folder / "train").write_text(LINES * 3)
    done = shell(f"ulimit -v 300000; il-morph train --engine=native --epochs=1 --sigm2017format {folder}/train "
                 f"{folder}/train {folder}/results")
    assert done.returncode == 0, done.stderr
    assert "kernels of NumPy" in done.stderr


def test_ctrl_c_waits_until_a_command_is_loaded(monkeypatch, capsys):
    """NumPy on Python 3.9 turns one into an ImportError."""
    def load(module):
        signal.raise_signal(signal.SIGINT)
        loaded.append(module)

    loaded = []
    monkeypatch.setattr("importlib.import_module", load)
    assert main(["predict"]) == 130 and capsys.readouterr().err == "il-morph: interrupted\n"
    assert loaded == ["il_morph.commands.predict"]


def test_ctrl_c_while_the_command_starts_leaves_no_traceback_of_ours(folder):
    """What Python itself prints while it starts is its own."""
    for delay in [*range(0, 300, 30), None]:
        started = subprocess.Popen([sys.executable, "-m", "il_morph", "predict", folder / "f.model", "-"], cwd=ROOT,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if delay is None:
            started.stdin.write(LINES)
            started.stdin.flush()
            assert started.stdout.readline()  # now it has started
        else:
            time.sleep(delay / 1000)
        started.send_signal(signal.SIGINT)
        _, errors = started.communicate()
        assert f'File "{ROOT}/il_morph/' not in errors, errors  # a path alone may be one that Python looks for
    assert started.returncode == 130
