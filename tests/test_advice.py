"""What `train` says at the end: which epoch it kept, and what to try next."""
import pytest

from il_morph.commands import main
from il_morph.engines.native import kernels_numpy
from il_morph.engines.native.engine import NativeEngine
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.runs.advice import advice, kept
from il_morph.runs.spec import RunSpec
from il_morph.training.history import Epoch, History

pytest.importorskip("numba", reason="the advice about engines needs Numba: pip install numba")


def history(*accuracies: float, train: float = 50.0) -> History:
    found = History()
    for number, accuracy in enumerate(accuracies):
        found.add(Epoch(number, 0.0, 1.0, train, accuracy), {})
    return found


def said(found: History, dev: int = 100, engine: str = "native", **settings) -> str:
    spec = RunSpec("train", "dev", "results", settings={"epochs": 3, **settings})
    return " | ".join(advice(spec, ModelSettings(), found, dev, engine))


def test_more_epochs_are_advised_if_the_last_one_was_the_best():
    assert said(history(10, 20, 30)) == "the last epoch is the best one, so more may help: --epochs=6"
    assert said(history(10, 30, 20)) == ""
    assert said(history(10, 20, train=30), patience=1) == "", "it was stopped, or has not come so far"


def test_few_dev_lines_and_a_gap_between_train_and_dev_are_named():
    assert said(history(10, 30, 20), dev=7).startswith("7 dev lines cannot tell good models from bad ones")
    assert said(history(30, 70, 20, train=99)) == (
        "train accuracy 99, dev accuracy 70: the model knows its data but not new words; more data helps most, then "
        "--seeds=1-5, whose models vote")
    assert said(history(30, 80, 20, train=99)) == ""


def test_the_faster_engine_is_advised_where_it_can_train():
    assert said(history(10, 30, 20), engine="dynet") == "--engine=native learns the same three to four times as fast"
    assert "--engine=native" in said(history(10, 30, 20), engine="dynet", dropout=0.5)
    spec = RunSpec("train", "dev", "results")
    for refused in ModelSettings(mlp=4), ModelSettings(dec_layers=2):
        assert advice(spec, refused, history(10, 30, 20), 100, "dynet") == []


def test_there_are_at_most_two_sentences():
    assert said(history(10, 20, 30, train=99), dev=7, engine="dynet").count(" | ") == 1


@pytest.mark.parametrize("settings, words", [
    ({}, "kept epoch 1: of epochs with the best dev accuracy, the first"),
    ({"pick_ties": "loss"}, "kept epoch 1: of epochs with the best dev accuracy, the one with the lowest loss"),
    ({"pick_loss": True}, "kept epoch 1, which has the lowest dev loss")])
def test_the_rule_by_which_an_epoch_was_kept_is_said(settings, words):
    assert kept(RunSpec("train", "dev", "results", settings=settings), history(10, 30, 20)) == words


def test_a_training_ends_with_what_was_kept_and_with_advice(data, tmp_path, caplog, numpy_kernels):
    caplog.set_level("INFO")
    sizes = ["--epochs=1", "--input=8", "--enc-hidden=8", "--dec-hidden=8", "--engine=native"]
    assert main(["train", *sizes, data("train"), data("dev"), str(tmp_path / "r")]) == 0
    lines = [record.getMessage() for record in caplog.records]
    assert "kept epoch 0: of epochs with the best dev accuracy, the one with the lowest loss" in lines
    assert lines[-2] == "advice: the last epoch is the best one, so more may help: --epochs=2"
    assert lines[-1].startswith("advice: 4 dev lines cannot tell good models from bad ones")


def test_without_numba_the_engine_says_what_to_install(caplog, data, tmp_path):
    from tests.random_models import random_model

    caplog.set_level("INFO")
    NativeEngine(kernels_numpy).start(random_model().vocabulary, TrainingSettings(), [], 1)
    assert "kernels of NumPy; those of Numba are several times as fast: pip install numba" in caplog.text
