"""Flags that have no effect in a training: they are accepted, it is said, and the model is the same without them."""
import numpy as np
import pytest

from il_morph.commands import main
from tests.cli import SMALL, Run, training_arguments

NATIVE = ["--engine=native", "--epochs=1", "--dynet-seed=1", *SMALL[:-1]]
GOLD = "gold sequences, of --mode=mle, mrt and rl, and of pre-training"
IDLE = [
    ([], "--nonlin=tanh", "--mlp"), ([], "--lucky-w=3", "--feat-input=0"), ([], "--align-cls", GOLD),
    ([], "--try-reverse", GOLD), ([], "--iterations=3", GOLD), ([], "--mle-loss=sum", "--mode=mle and pre-training"),
    ([], "--sample-size=5", "--mode=mrt and rl"), ([], "--beta=2", "--mode=mrt and rl"),
    ([], "--lr-warmup=2", "--lr-schedule=warmup-decay"), ([], "--lr-decay=0.1", "--lr-schedule=plateau"),
    (["--lr-schedule=warmup-decay"], "--lr-patience=1", "--lr-schedule=plateau"),
    ([], "--alpha=2", "--mode=mrt"), ([], "--mrt-action-cost=0.5", "--mode=mrt"), ([], "--no-baseline", "--mode=rl"),
    ([], "--scale-negative=0.5", "--mode=rl"), ([], "--dynet-mem=64", "--engine=dynet"),
    (["--model=ca-d"], "--il-rollout-loss=distance", "roll-outs of the model, --il-beta below 1"),
    (["--model=ca", "--align-cls"], "--il-beta=0.9", "--mode=il"),
    (["--model=ca", "--align-cls"], "--il-loss=mse", "--mode=il"),
    (["--model=ca", "--align-cls"], "--il-rollin=uniform", "--mode=il"),
    (["--model=ca", "--align-cls"], "--il-bias-inserts", "--mode=il"),
    (["--model=ca", "--align-cls"], "--iterations=3", "--align-smart"),
]


@pytest.fixture
def trained(data, tmp_path, caplog):
    """What a training says, and the weights that it ends with."""
    def train(name, *flags):
        caplog.clear()
        assert main(training_arguments(data, tmp_path / name, flags, defaults=NATIVE)) == 0
        return [record.getMessage() for record in caplog.records if "has no effect" in record.getMessage()], \
            Run(tmp_path / name).model.weights

    return train


@pytest.mark.parametrize("flags, idle, of", IDLE)
def test_a_flag_without_effect_is_named_and_has_none(trained, flags, idle, of):
    without, expected = trained("without", *flags)
    said, weights = trained("with", *flags, idle)
    assert without == [] and said == [f"{idle.split('=')[0]} has no effect here: it belongs to {of}"]
    assert weights.keys() == expected.keys()
    assert all(np.array_equal(weights[name], expected[name]) for name in weights)


def test_without_attributes_their_flag_has_no_effect(trained, data, tmp_path, caplog):
    _, expected = trained("without")
    said, weights = trained("with", "--avm-feat-format")
    assert said == ["--avm-feat-format has no effect here: no feature of the training data is an attribute=value"]
    assert all(np.array_equal(weights[name], expected[name]) for name in weights)
    caplog.clear()
    assert main(training_arguments(data, tmp_path / "2016", ["--avm-feat-format"], layout="2016", defaults=NATIVE)) == 0
    assert "has no effect" not in caplog.text


@pytest.mark.parametrize("flags", [
    ["--il-beta=0.9", "--il-loss=mse", "--il-rollin=uniform", "--no-il-global-rollout", "--il-rollout-loss=distance"],
    ["--model=ca", "--align-smart", "--iterations=3", "--try-reverse", "--mle-loss=sum"],
    ["--pretrain-epochs=1", "--align-cls", "--mle-loss=sum"], ["--feat-input=0", "--lucky-w=3"],
    ["--learning-rate=0.5", "--lr-schedule=warmup-decay", "--lr-warmup=2"],
    ["--lr-schedule=plateau", "--lr-decay=0.1", "--lr-patience=2"],
    ["--mode=mrt", "--pretrain-epochs=1", "--align-cls", "--sample-size=3", "--beta=2", "--alpha=2",
     "--mrt-action-cost=0.5"],
    ["--mode=rl", "--pretrain-epochs=1", "--align-cls", "--sample-size=3", "--beta=2", "--no-baseline",
     "--scale-negative=0.5"],
])
def test_of_flags_that_have_an_effect_nothing_is_said(trained, flags):
    said, _ = trained("run", *flags)
    assert said == []


def test_an_evaluation_names_flags_of_the_training(data, trained, tmp_path, caplog):
    trained("model")
    assert main(["train", "--mode=eval", f"--reload-path={tmp_path / 'model'}", "--patience=3", "--il-beta=0.1",
                 "--decbatch-size=2", "--sigm2017format", data("train"), data("dev"), str(tmp_path / "eval")]) == 0
    said = [record.getMessage() for record in caplog.records if "has no effect" in record.getMessage()]
    assert said == [f"{flag} has no effect here: it belongs to training, and --mode=eval trains nothing"
                    for flag in ("--patience", "--il-beta")]


def test_a_model_of_another_transducer_is_evaluated_without_naming_it(data, trained, tmp_path):
    """What --model would set by default is not asked for."""
    trained("hard", "--model=ha", "--align-cls")
    assert main(["train", "--mode=eval", f"--reload-path={tmp_path / 'hard'}", "--sigm2017format", data("train"),
                 data("dev"), str(tmp_path / "eval")]) == 0
    assert Run(tmp_path / "eval").stats["scores"] == Run(tmp_path / "hard").stats["scores"]
