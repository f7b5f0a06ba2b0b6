"""Weights too large to compute with: every log probability is a number up to 0, or there is one clear error."""
import json
import math
import warnings

import numpy as np
import pytest

from il_morph.commands import main
from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.model.combination import AveragingPredictor
from il_morph.model.modelfile import save_model
from il_morph.model.predictor import Predictor
from il_morph.report.trace import trace_best
from tests.random_models import random_model
from tests.test_cited_architectures import VARIANTS, cited_model
from tests.test_nwfst import model as nwfst_model

MODELS = {
    "ca": random_model, "vanilla": lambda: random_model(vanilla_lstm=True, mlp=4),
    "hard": lambda: random_model(transducer="hard"), "nwfst": nwfst_model,
    **{name: lambda name=name: cited_model(**VARIANTS[name]) for name in ("soft", "hacm", "haem", "med", "lem")},
}
DAMAGES = [(3e38, True), (3e38, False), (-3e38, False), (1e15, True)]


def damaged(model, name, value, everywhere):
    weight = model.weights[name] = model.weights[name].copy()
    if everywhere:
        weight[...] = np.where(weight < 0, -1, 1) * np.float32(value)
    else:
        weight.flat[weight.size // 2] = value
    return model


def answers(predictor, sample) -> list:
    """All log probabilities that come out, and the probabilities of steps."""
    logs = [predictor.ranked([sample], 1)[0][0].log_probability]
    steps = [step.probability for step in trace_best(predictor, sample, None, 4).steps if step.probability is not None]
    if not predictor.inference.weighs_paths:
        logs += [each.log_probability for each in predictor.ranked([sample], 4)[0]]
    if predictor.vocabulary.table.copies and not predictor.inference.weighs_paths:
        score = predictor.scores([Sample(sample.input, sample.tag, sample.input)])[0]
        logs += [log for log in (score.best, score.total) if log != -math.inf]
    assert all(0 <= probability <= 1 + 1e-6 for probability in steps)
    return logs


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", [
    "ca", *(pytest.param(kind, marks=pytest.mark.slow) for kind in MODELS if kind != "ca")])
def test_log_probabilities_are_finite_and_at_most_0_or_there_is_an_error(kind, damage, monkeypatch):
    monkeypatch.setattr(type(MODELS[kind]().vocabulary.system), "max_actions", 20)  # outputs without end take long
    outcomes = set()
    for name in MODELS[kind]().weights:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                logs = answers(Predictor(damaged(MODELS[kind](), name, *damage), "f.model"),
                               Sample("walk", "" if kind == "nwfst" else "V;PST", None))
            except InputError as error:
                assert str(error).startswith("f.model has no output for 'walk': its weights are too large to compute")
                outcomes.add("refused")
            else:
                assert all(-math.inf < log <= 0 for log in logs), (name, logs)
                outcomes.add("computed")
    assert outcomes


def test_a_mean_of_models_says_that_one_of_them_is_too_large():
    models = [random_model(), damaged(random_model(), "output.W", 3e38, True)]
    predictor = AveragingPredictor([Predictor(model, f"{n}.model") for n, model in enumerate(models)])
    with pytest.raises(InputError, match=r"^one of 0\.model, 1\.model has no output for 'walk': its weights are too"):
        predictor.predict([("walk", "V;PST")])


@pytest.mark.parametrize("value", [1e15, 3e38])
@pytest.mark.parametrize("command", [["predict", "--format=json"], ["score"], ["explain"], ["paradigm"]])
@pytest.mark.parametrize("kind, name", [("ca", "output.b"), ("ca", "decoder.0.c2o"), ("nwfst", "copy"),
                                        ("nwfst", "arcs")])
def test_commands_write_numbers_or_an_error_and_no_warnings(kind, name, command, value, tmp_path, capsys):
    save_model(tmp_path / "f.model", damaged(MODELS[kind](), name, value, everywhere=False))
    features = [] if kind == "nwfst" else ["V;PST"]
    (tmp_path / "in").write_text("\t".join(["walk", "walk", *features]) + "\n")
    asked = {"explain": ["walk", *features], "paradigm": ["walk"]}.get(command[0], [str(tmp_path / "in")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = main([*command, str(tmp_path / "f.model"), *asked])
    captured = capsys.readouterr()
    assert code in (0, 2) and "Warning" not in captured.err
    assert "nan" not in captured.out and "inf" not in captured.out.replace("-inf", "")
    if code == 0 and "--format=json" in command:
        (found,) = json.loads(captured.out, parse_constant=pytest.fail)["predictions"]
        assert found["log_probability"] <= 0 and found["probability"] <= 1


def test_an_evaluation_says_it_without_warnings(data, tmp_path, capfd):
    model = random_model(samples=[Sample("walk", "V;PST", "walked"), Sample("cat", "N;PL", "cats")])
    save_model(tmp_path / "f.model", damaged(model, "output.W", 3e38, True))
    flags = ["--mode=eval", f"--reload-path={tmp_path / 'f.model'}", "--sigm2017format"]
    assert main(["train", *flags, data("train"), data("dev"), str(tmp_path / "r")]) == 2
    captured = capfd.readouterr()
    assert "weights are too large to compute with" in captured.err and "Warning" not in captured.err
