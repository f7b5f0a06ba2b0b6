"""Little data: which epoch is kept, what is said about it, and cross-validation."""
import json
from collections import Counter

import pytest

import il_morph
from il_morph.commands import main
from il_morph.data.formats import NO_FEATURES, Parts, Sample
from il_morph.runs.small_data import SMALL_DEV, with_rule_for_ties
from il_morph.runs.spec import RunSpec
from il_morph.training.history import Epoch, History
from tests.cli import Run, error_of
from tests.shared import SHARED, needs_shared
from tests.test_seeds import NATIVE, SAMPLES, file, results, train  # noqa: F401
from tests.test_training import Script, scripted

pytestmark = pytest.mark.usefixtures("numpy_kernels")


def parts(dev: int) -> Parts:
    return Parts(NO_FEATURES, [Sample("a", "", "b")], [Sample("a", "", "b")] * dev, None)


@pytest.mark.parametrize("dev, settings, model, rule", [
    (SMALL_DEV - 1, {}, None, "loss"), (SMALL_DEV, {}, None, "earlier"), (3, {"pick_ties": "earlier"}, None, "earlier"),
    (3, {"pick_loss": True}, None, "earlier"), (3, {}, "soft", "later"),
    (SMALL_DEV, {"pick_ties": "loss"}, None, "loss")])
def test_the_dev_loss_breaks_ties_where_dev_is_small_and_no_rule_is_given(dev, settings, model, rule):
    spec = RunSpec("train", "dev", "results", model, settings=settings)
    assert with_rule_for_ties(spec, parts(dev)).training.pick_ties == rule


@needs_shared
def test_no_development_data_of_the_papers_tables_is_small():
    files = [*SHARED.glob("data/sigmorphon2017/task1/*-dev"), *SHARED.glob("data/sigmorphon2016/*-dev"),
             *SHARED.glob("data/celex/*/*/*/dev"), *SHARED.glob("data/lemmatization/*_dev.txt")]
    assert len(files) > 100
    assert all(path.read_bytes().count(b"\n") >= SMALL_DEV for path in files)


def test_of_equal_accuracies_the_lower_loss_is_kept_and_patience_starts_again(monkeypatch):
    for rule, best, epochs in ("earlier", 0, 3), ("later", 2, 3), ("loss", 2, 5):
        Script(monkeypatch, right=[1] * 6, losses=[0.9, 0.8, 0.4, 0.5, 0.6, 0.7])
        history = scripted(epochs=6, patience=2, pick_ties=rule).run()
        assert (history.best.epoch, len(history.epochs)) == (best, epochs)
        assert all(epoch.dev_loss is None for epoch in history.epochs)


def test_a_higher_accuracy_wins_over_a_lower_loss():
    history = History()
    assert history.add(Epoch(0, 0, 1, 0, 10, tie_loss=0.1), {}) and history.add(Epoch(1, 0, 1, 0, 20, tie_loss=0.9), {})
    assert not history.add(Epoch(2, 0, 1, 0, 10, tie_loss=0.0), {}) and history.best.epoch == 1


def test_a_training_with_few_dev_lines_says_so_and_records_the_rule(file, results, caplog):  # noqa: F811
    caplog.set_level("INFO")
    assert train(file, results) == 0
    assert "dev: 2 lines, so one line is 50 points of dev accuracy" in caplog.text
    assert "one file and --folds=5 use all data in turns" in caplog.text
    assert "told apart by their dev loss (--pick-ties=loss)" in caplog.text
    assert Run(results).settings["pick_ties"] == "loss"


# Cross-validation

def test_folds_use_all_lines_in_turns_and_the_models_vote(file, results, capsys):  # noqa: F811
    test = file.with_name("test.tsv")
    test.write_text("dog\tdogs\tN;PL\nwalk\twalked\tV;PST\n", encoding="utf-8")
    assert train("--folds=3", "--jobs=2", f"--test-path={test}", file, results) == 0
    shown = capsys.readouterr().out
    assert shown == (results / "summary.txt").read_text() and "fold 3" in shown and "chose its best epoch" in shown
    devs = [(results / fold / "dev.tsv").read_text().splitlines() for fold in "123"]
    every = file.read_text().splitlines()
    assert Counter(line for dev in devs for line in dev) == Counter(every)
    for fold, dev in zip("123", devs):
        lines = (results / fold / "train.tsv").read_text().splitlines()
        assert Counter(lines + dev) == Counter(every)
        assert not {line.split("\t")[0] for line in lines} & {line.split("\t")[0] for line in dev}
    summary = json.loads((results / "summary.json").read_text())
    assert summary["folds"] == 3 and "vote" not in summary["scores"]["beam4.dev"]
    assert 0 <= summary["scores"]["beam4.test"]["vote"] <= 100
    assert len(il_morph.load(results).members) == 3
    before = [Run(results / fold).model_bytes for fold in "123"]
    assert train("--folds=3", f"--test-path={test}", file, results) == 0, "what is finished is kept"
    assert [Run(results / fold).model_bytes for fold in "123"] == before
    for others in (["--folds=2"], ["--seeds=1-3"], ["--folds=3", "--dynet-seed=7"]):
        assert train(*others, f"--test-path={test}", file, results) == 2
    assert [Run(results / fold).model_bytes for fold in "123"] == before


def test_folds_are_not_warned_of_the_development_data_they_do_not_use(file, results, capsys, caplog):  # noqa: F811
    assert train("--folds=2", file, results) == 0
    shown = capsys.readouterr().out
    assert "dev: " not in caplog.text and "vote  " not in shown
    assert "give this folder to `il-morph predict`, and they vote" in shown


@pytest.mark.parametrize("arguments, message", [
    (["--folds=1"], "--folds takes a whole number from 2 up to 100"), (["--folds=90"], "different inputs"),
    (["--folds=3", "--seeds=1-2"], "exclude each other")])
def test_folds_that_cannot_be_are_refused(file, results, capsys, arguments, message):  # noqa: F811
    assert message in error_of(capsys, "train", *NATIVE, *arguments, str(file), str(results))
    assert not results.exists()


def test_folds_need_one_file(file, results, capsys):  # noqa: F811
    assert main(["train", *NATIVE, "--folds=3", str(file), str(file), str(results)]) == 2
    assert "--folds cuts one file" in capsys.readouterr().err and len(SAMPLES) > 10
