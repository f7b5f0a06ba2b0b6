"""Data frames, arrays and lists in Python, what notebooks show, and the estimator for scikit-learn."""
import copy
import io
import logging
import pickle
import sys

import numpy as np
import pytest

import il_morph
from il_morph import bars
from il_morph.errors import InputError
from il_morph.model.predictor import Predictor
from il_morph.runs.python import shown
from tests.cli import DEV, TRAIN, Data
from tests.test_decoding import ending_model

pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")

ITEMS = [("walk", "V;PST"), ("mouse", "N;PL"), ("sing", "V;PST;3")]
SMALL = {"engine": "native", "dynet_seed": 1, "input": 8, "feat_input": 4, "enc_hidden": 8, "dec_hidden": 8}


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(ending_model())


FRAMES = {
    "names of files": pandas.DataFrame(ITEMS, columns=["lemma", "tag"]),
    "another order, and columns that are ignored": pandas.DataFrame(
        [(tag, number, lemma, "?") for number, (lemma, tag) in enumerate(ITEMS)],
        columns=["features", "ID", "input", "output"]),
    "lemmas as index": pandas.DataFrame(ITEMS, columns=["lemma", "tag"]).set_index("lemma"),
    "several columns of features": pandas.DataFrame(
        [(tag[0], lemma, tag[2:], number) for number, (lemma, tag) in enumerate(ITEMS)],
        columns=["POS", "lemma", "msd", "seen in 2024"]),
    "dicts": [{"features": tag, "lemma": lemma} for lemma, tag in ITEMS],
    "array": np.array(ITEMS),
    "array of objects": np.array(ITEMS, dtype=object),
    "generator": (item for item in ITEMS),
    "tuples": tuple(ITEMS),
}


@pytest.mark.parametrize("values", FRAMES.values(), ids=FRAMES)
def test_tables_arrays_and_generators_are_read_by_rows(predictor, values):
    assert predictor.predict(values) == predictor.predict(ITEMS)


def test_a_column_of_inputs_is_enough_for_a_model_without_features(predictor):
    plain = Predictor(ending_model(format="no-features", pos_emb=False))
    words = [lemma for lemma, _ in ITEMS]
    frame = pandas.DataFrame({"word": words})
    for values in (frame, frame["word"], np.array(words), [{"lemma": word} for word in words]):
        assert plain.predict(values) == plain.predict(words)
    with pytest.raises(il_morph.InputError, match="a table with the columns input, features"):
        predictor.predict(frame)


@pytest.mark.parametrize("values, message", [
    (pandas.DataFrame(ITEMS), "not 0, 1: rename them"),
    (pandas.DataFrame(ITEMS, columns=["colour", "size"]), "not 'colour', 'size': rename them"),
    (pandas.DataFrame({"lemma": ["walk", None], "tag": ["V;PST", "V;PST"]}), "the input of row 1 is (None|nan)"),
    (pandas.DataFrame({"lemma": ["walk"], "tag": [7]}), "the features of row 0 is 7"),
    ([{"lemma": "walk", "tag": "V;PST"}, {"lemma": "walk"}], "items that are alike: number 1"),
    ([{"lemma": "walk", "tag": "V;PST"}, ("walk", "V;PST")], "items that are alike: number 1"),
    (np.array([[1, 2]]), r"not \[1, 2\]"),
    (np.array([["a", "b", "c"]]), "predict takes inputs and pairs"),
])
def test_other_tables_are_refused(predictor, values, message):
    with pytest.raises(il_morph.InputError, match=message):
        predictor.predict(values)


def test_a_table_with_outputs_is_scored(predictor):
    triples = [("walk", "V;PST", "walked"), ("mouse", "N;PL", "mice")]
    frame = pandas.DataFrame(triples, columns=["Lemma", "MSD", "Form"])
    assert predictor.score(frame) == predictor.score(triples)
    with pytest.raises(il_morph.InputError, match="^score takes a list, or a table .* input, features, output"):
        predictor.score(frame[["Lemma", "MSD"]])


def test_the_n_best_are_lists_and_a_table(predictor):
    found = predictor.nbest(ITEMS, n=2)
    frame = pandas.DataFrame(found)
    assert list(frame.columns) == ["input", "features", "rank", "output", "probability", "log_probability", "actions"]
    assert len(found) == 3 and len(frame) == 6
    assert list(frame["probability"]) == [each.probability for ranked in found for each in ranked]
    assert list(frame["rank"]) == [1, 2] * 3 and list(frame["input"][::2]) == [lemma for lemma, _ in ITEMS]
    assert found == list(found) == pickle.loads(pickle.dumps(found)) == copy.deepcopy(found)
    assert found[0][0].output == frame["output"][0] and found[-1] == list(found)[-1] and found[:1] == [found[0]]
    assert pandas.DataFrame(predictor.nbest([])).empty


def test_notebooks_show_answers_as_tables(predictor):
    shown = predictor.nbest([("<b>", "V;PST")], n=2)._repr_html_()
    assert "<td style=\"text-align:left\">&lt;b&gt;</td>" in shown and "<b>" not in shown and shown.count("<tr>") == 3
    forms = predictor.paradigm("walk")
    assert forms._repr_html_().count("<tr>") == len(forms) + 1 and "V;PST" in forms._repr_html_()


def test_notebooks_show_the_steps_of_a_word_in_colours(predictor):
    trace = il_morph.explain(predictor, "walk", "V;PST", gold="walked")
    shown = trace._repr_html_()
    assert trace.output == predictor.predict([("walk", "V;PST")])[0]
    assert shown.count("<tr>") == len(trace.steps) + 1 and "The right output is" in shown and "background:#" in shown
    with pytest.raises(il_morph.InputError, match="explain takes one model"):
        il_morph.explain("results", "walk")


def test_training_takes_paths_and_says_so_briefly():
    with pytest.raises(il_morph.InputError, match="^train takes a path, not DataFrame$"):
        il_morph.train(FRAMES["names of files"], None, "results")


# Evaluation

def test_evaluate_takes_lists_on_both_sides():
    right = [form for _, _, form in DEV]
    wrong = [*right[:-1], "?"]
    assert il_morph.evaluate(right, wrong).accuracy == 75
    triples = [(lemma, tag, form) for lemma, tag, form in DEV]
    scores = il_morph.evaluate(triples, wrong)
    assert scores.accuracy == 75 and scores.by_pos == {"N": (50.0, 2), "V": (100.0, 2)}
    assert il_morph.evaluate(pandas.DataFrame(triples, columns=["input", "features", "output"]), wrong) == scores
    assert il_morph.evaluate((form for form in right), iter(wrong)).accuracy == 75


@pytest.mark.parametrize("gold, predictions, message", [
    ([("walk", "walked", "V;PST"), ("go", "went", "V;PST")], ["a", "b"], "the outputs look like features"),
    (["a"], ["a", "b"], "2 outputs for the 1 line of gold"), ([], [], "gold is empty"),
    ([("a", "b")], ["a"], "gold takes a path, or a list"), (["a"], "file", "give lists on both sides"),
    ({"a": "b"}, ["b"], "gold takes a list, not dict")])
def test_lists_that_do_not_fit_are_refused(gold, predictions, message):
    with pytest.raises(il_morph.InputError, match=message):
        il_morph.evaluate(gold, predictions)


# Training from Python

def test_training_shows_its_lines_unless_verbose_is_false(data: Data, tmp_path, monkeypatch, capsys):
    logger = logging.getLogger("il_morph")
    monkeypatch.setattr(logger, "propagate", False)  # as in a program without logging of its own
    il_morph.train(data("train"), data("dev"), tmp_path / "1", epochs=1, **SMALL)
    assert "il epoch 0: loss" in capsys.readouterr().err
    il_morph.train(data("train"), data("dev"), tmp_path / "2", epochs=1, verbose=False, **SMALL)
    told = capsys.readouterr()
    assert "il epoch" not in told.err + told.out and not logger.handlers
    il_morph.train(data("train"), data("dev"), tmp_path / "3", epochs=1, verbose=False, seeds=[1],
                   **{name: value for name, value in SMALL.items() if name != "dynet_seed"})
    told = capsys.readouterr()
    assert told.out == "" and "1 of 1 done" not in told.err, "warnings alone"


def test_bars_in_a_notebook_are_those_of_the_notebook(monkeypatch):
    class Shell:
        kernel = None

    class IPython:
        get_ipython = staticmethod(Shell)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert bars.in_notebook() and not bars.meter(3, "answered").disable
    with bars.hidden():
        assert bars.meter(3, "answered").disable
    monkeypatch.delitem(sys.modules, "IPython")
    assert not bars.in_notebook() and bars.meter(3, "answered").disable  # no terminal


def test_lines_in_a_notebook_do_not_look_like_errors(monkeypatch, capsys):
    logger = logging.getLogger("il_morph")
    monkeypatch.setattr(logger, "propagate", False)
    monkeypatch.setattr("il_morph.runs.python.in_notebook", lambda: True)
    with shown(None):
        logger.info("il epoch 0")
    assert capsys.readouterr() == ("il epoch 0\n", "")


# In the style of scikit-learn

WORDS = [(lemma, tag) for lemma, tag, _ in [*TRAIN, *DEV]]
FORMS = [form for _, _, form in [*TRAIN, *DEV]]


def test_a_transducer_is_fitted_and_predicts(tmp_path):
    estimator = il_morph.Transducer(epochs=2, verbose=False, **SMALL)
    with pytest.raises(il_morph.InputError, match="call fit first"):
        estimator.predict(WORDS)
    outputs = estimator.fit(pandas.DataFrame(WORDS, columns=["lemma", "tag"]), FORMS).predict(WORDS)
    assert estimator.fit(WORDS, np.array(FORMS)).predict(WORDS).tolist() == outputs.tolist()
    assert estimator.score(WORDS, outputs) == 1 and 0 <= estimator.score(WORDS, FORMS) < 1
    assert "epochs=2" in repr(estimator)


@pytest.mark.parametrize("X, y, settings, message", [
    (WORDS, FORMS[1:], {}, "13 outputs for 14 inputs"), (WORDS[:5], FORMS[:5], {}, "too few to split"),
    (WORDS, FORMS, {"epoch": 3}, "did you mean epochs"), (WORDS, FORMS, {"held_out": 2}, "held_out takes a number"),
    (WORDS, [*FORMS[:-1], None], {}, "an item of y takes a string"), ("walk", ["x"], {}, "fit takes a list")])
def test_what_cannot_be_fitted_is_refused(X, y, settings, message):
    with pytest.raises(il_morph.InputError, match=message):
        il_morph.Transducer(verbose=False, **settings).fit(X, y)


def test_scikit_learn_can_clone_search_and_cross_validate():
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install scikit-learn")
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    estimator = il_morph.Transducer(model="ca-d", epochs=1, verbose=False, **SMALL)
    assert clone(estimator).get_params() == estimator.get_params() and clone(estimator) is not estimator
    assert clone(estimator).set_params(epochs=2).get_params()["epochs"] == 2
    scores = cross_val_score(estimator, WORDS * 2, FORMS * 2, cv=2)
    assert len(scores) == 2 and all(0 <= score <= 1 for score in scores)


def test_a_line_above_the_bars_of_a_terminal_is_shown_once(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    logger, terminal = logging.getLogger("il_morph"), Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as in a program without logging of its own
    with shown(None), bars.epochs_bar(3, 0) as bar:
        assert not bar.disable
        logger.info("an epoch is over")
    assert terminal.getvalue().count("an epoch is over") == 1


def test_a_series_says_in_its_names_what_it_holds(predictor):
    items = [("walk", "V;PST"), ("sing", "V;PST")]
    lemmas = pandas.Index([lemma for lemma, _ in items], name="lemma")
    tags = pandas.Series([tag for _, tag in items], index=lemmas, name="features")
    assert predictor.predict(tags) == predictor.predict(items)
    with pytest.raises(InputError, match="a table with the columns input, features"):
        predictor.predict(pandas.Series(["V;PST", "V;PRS"], name="features"))
