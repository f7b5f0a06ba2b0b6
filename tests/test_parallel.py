"""`il-morph predict --jobs`: decoding in several processes."""
from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

import il_morph
from il_morph.commands import main
from il_morph.data import streaming
from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.model.answers import Answers
from il_morph.model.lexicon import Lexicon
from il_morph.model.modelfile import save_model
from il_morph.model.parallel import DecodingPool
from il_morph.model.predictor import Prediction
from tests.cli import ROOT, error_of
from tests.random_models import TAGGED
from tests.test_decoding import ending_model
from tests.test_treebanks import word

TREEBANK = "conllu:lemmatize:upos"
WORDS = sorted({sample.input for sample in TAGGED})


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("jobs") / "f.model"
    save_model(path, ending_model(1))
    return str(path)


@pytest.fixture(scope="module")
def treebank_model(tmp_path_factory):
    samples = [Sample(sample.input, sample.tag[0], sample.output) for sample in TAGGED]
    path, made = tmp_path_factory.mktemp("jobs") / "f.model", ending_model(1, samples=samples, format=TREEBANK)
    made.lexicon = Lexicon().add([Sample(WORDS[0], "V", "known")])
    save_model(path, made)
    return str(path)


def lines_of_words(number: int) -> str:
    return "".join(f"{WORDS[n % len(WORDS)]}{'a' * (n % 7)}\t{TAGGED[n % len(TAGGED)].tag}\n" for n in range(number))


def sentences(number: int) -> str:
    return "".join(f"# sent_id = s{n}\n" + "".join(
        word(m + 1, WORDS[(n + m) % len(WORDS)] + "a" * (n % 7), "_", "VN"[m % 2]) + "\n" for m in range(3)) + "\n"
        for n in range(number))


@pytest.mark.parametrize("kind, flags", [("tsv", ["--nbest=2", "--actions"]), ("conllu", ["--nbest=2"])])
def test_processes_give_the_bytes_of_one(model, treebank_model, kind, flags, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "BLOCK", 600)
    path = tmp_path / f"in.{kind}"
    path.write_text(lines_of_words(200) if kind == "tsv" else sentences(60))
    used = model if kind == "tsv" else treebank_model
    for jobs in (1, 2):
        assert main(["predict", f"--jobs={jobs}", *flags, used, str(path), str(tmp_path / f"out{jobs}")]) == 0
    written = (tmp_path / "out1").read_bytes()
    assert (tmp_path / "out2").read_bytes() == written and written.count(b"\n") >= 200
    assert kind == "tsv" or b"\tknown\t" in written


def test_the_number_of_processes_is_checked(model, tmp_path, capsys):
    assert "--jobs takes" in error_of(capsys, "predict", "--jobs=0", model, str(tmp_path / "in"))


class Odd:
    """Stands for a model that fails."""

    lexicon = None

    def __init__(self, does):
        self.does = does

    def ranked(self, samples, *how):
        if self.does == "die":
            os._exit(1)
        if self.does == "refuse":
            raise Refusal(samples[0], "too long")
        return [[Prediction(sample.input.upper(), 0.0, str(os.getpid()))] for sample in samples]


class Refusal(InputError):
    def __init__(self, sample, reason):
        super().__init__(f"{sample.input} is {reason}")


@pytest.mark.parametrize("does, message", [("die", "a process of --jobs was killed"), ("refuse", "walk is too long")])
def test_errors_of_a_process_are_told(does, message):
    with pytest.raises(InputError, match=message), DecodingPool(Odd(does), 2) as pool:
        pool.decode([Sample("walk", "V", None)])()
    assert not set(pool.executor._processes or ())


def test_what_is_known_already_is_not_decoded_again():
    with DecodingPool(Odd("answer"), 2) as pool:
        answers = Answers(Odd("answer"), pool=pool)
        asked = [answers.ask([Sample(text, "V", None) for text in texts]) for texts in (["a", "b"], ["b", "c"])]
        asked.append(answers.ask([Sample("c", "V", "gold")], [True]))
        found = [[prediction.output for (prediction,) in later()] for later in asked]
    assert found == [["A", "B"], ["B", "C"], ["C"]]
    assert asked[0]()[1] is asked[1]()[0] and asked[1]()[1] is asked[2]()[0]
    assert int(asked[0]()[0][0].actions) != os.getpid()


def started(model, *flags) -> subprocess.Popen:
    command = [sys.executable, "-m", "il_morph", "predict", "--jobs=2", *flags, model, "-"]
    return subprocess.Popen(command, cwd=ROOT, encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True)


@pytest.fixture
def answering(model):
    """A command that has answered a line from a pipe which is still open: lines are not waited for."""
    process = started(model)
    process.stdin.write("walk\tV;PST\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("walk\t")
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def members(group: int) -> list[int]:
    """The processes of a group, but for those that have ended."""
    found = subprocess.run(["ps", "-e", "-o", "pid=,pgid=,stat="], capture_output=True, encoding="utf-8", check=True)
    rows = [line.split() for line in found.stdout.splitlines()]
    return [int(pid) for pid, pgid, state in rows if int(pgid) == group and not state.startswith("Z")]


def wait_until_gone(group: int) -> None:
    deadline = time.monotonic() + 30
    while members(group) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not members(group)


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_without_a_traceback(answering):
    os.killpg(answering.pid, signal.SIGINT)
    assert answering.wait(30) == 130
    assert answering.stderr.read() == "il-morph: interrupted\n"
    wait_until_gone(answering.pid)


@pytest.mark.slow
def test_no_process_outlives_a_command_that_is_killed(answering):
    assert len(members(answering.pid)) > 1
    os.kill(answering.pid, signal.SIGKILL)
    wait_until_gone(answering.pid)


def test_predictors_of_all_kinds_are_picklable(model):
    one = il_morph.load(model)
    for predictor in (one, il_morph.load([model, model]), il_morph.load([model, model], combine="average")):
        copy = pickle.loads(pickle.dumps(predictor))
        items = [(sample.input, sample.tag) for sample in TAGGED]
        assert copy.nbest(items) == predictor.nbest(items)
