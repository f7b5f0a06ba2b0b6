"""Averaged weights: what is averaged, by both engines, and that training itself does not notice."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.engines.native import kernels_numpy
from il_morph.model.settings import TrainingSettings
from il_morph.training.averaging import EVERY, AveragingLearner, averaged, kept_share
from tests.cli import Run, error_of, training_arguments
from tests.random_models import random_model
from tests.test_native_updates import batches_of, difference, learner_of

MODEL, DECAY = random_model(scale=0.3), 0.97


def plain_learner():
    return learner_of(MODEL, "mle", TrainingSettings(), kernels_numpy)


def averaging_learner(decay=DECAY):
    learner = averaged(plain_learner(), decay)
    learner.set_weights(MODEL.weights)
    return learner


def batches(number):
    found = batches_of(MODEL, 1)
    return [found[update % len(found)] for update in range(number)]


def test_the_numbers_of_the_decay():
    assert kept_share(0.995, 1) == 2 / 11
    assert kept_share(0.995, 10_000) == 0.995 ** 5


@given(st.floats(0.01, 0.999), st.integers(1, 100_000))
def test_the_average_forgets_less_and_less_until_the_decay_is_reached(decay, time):
    assert 0 < kept_share(decay, time) <= kept_share(decay, time + 1) <= decay ** 5


def test_the_average_is_that_of_every_fifth_update_and_the_updates_are_as_without_it():
    plain, learner = plain_learner(), averaging_learner()
    expected = {name: array.astype(np.float64) for name, array in MODEL.weights.items()}
    for number, batch in enumerate(batches(23), start=1):
        assert learner.update(batch) == plain.update(batch)
        if number % EVERY == 0:
            time, weights = number // EVERY, plain.weights()
            kept = min(DECAY ** 5, (1 + time) / (10 + time))
            expected = {name: kept * expected[name] + (1 - kept) * weights[name] for name in expected}
    assert difference(learner.weights(), expected) < 1e-6
    assert difference(learner.learner.weights(), plain.weights()) == 0
    assert difference(learner.weights(), plain.weights()) > 1e-3


def test_before_the_fifth_update_the_average_is_the_start():
    learner = averaging_learner()
    for batch in batches(4):
        learner.update(batch)
    assert difference(learner.weights(), MODEL.weights) == 0


def test_weights_that_are_handed_out_do_not_change():
    learner = averaging_learner()
    before = learner.weights()
    for batch in batches(5):
        learner.update(batch)
    assert difference(before, MODEL.weights) == 0 < difference(learner.weights(), before)


def test_a_batch_without_anything_to_learn_is_no_update(monkeypatch):
    learner = averaging_learner()
    monkeypatch.setattr(learner.learner, "update", lambda batch: (0.0, 0))
    for batch in batches(10):
        assert learner.update(batch) == (0.0, 0)
    assert learner.updates == 0 and difference(learner.weights(), MODEL.weights) == 0


@pytest.mark.parametrize("updates", [3, 5, 12])
def test_a_learner_goes_on_from_its_state(updates):
    whole, first, second = (averaging_learner() for _ in range(3))
    for batch in batches(20)[:updates]:
        whole.update(batch)
        first.update(batch)
    second.set_weights(first.weights())
    second.restore(first.state())
    for batch in batches(20)[updates:]:
        assert whole.update(batch) == second.update(batch)
    assert difference(whole.weights(), second.weights()) == 0


def test_a_state_of_another_network_is_refused():
    learner = averaging_learner()
    state = learner.state()
    with pytest.raises(ValueError, match="not those of the network"):
        learner.restore({**state, "raw.output.b": state["raw.output.b"][:1]})
    with pytest.raises(ValueError, match="not those of the network"):
        learner.restore({**state, "average.updates": np.array(-1)})


def test_without_the_flag_nothing_is_averaged():
    learner = plain_learner()
    assert averaged(learner, 0.0) is learner and isinstance(averaged(learner, 0.5), AveragingLearner)


def test_dynet_averages_as_the_native_engine_does():
    pytest.importorskip("dynet")
    from il_morph.engines.dynet.learner import DynetLearner
    from il_morph.engines.dynet.network import DynetNetwork

    ours = averaging_learner()
    other = averaged(DynetLearner(DynetNetwork(MODEL.vocabulary), ours.learner.objective, TrainingSettings()), DECAY)
    other.set_weights(MODEL.weights)
    other.begin_epoch(0)
    for batch in batches(12):
        assert ours.update(batch)[0] == pytest.approx(other.update(batch)[0], rel=1e-4)
    assert difference(ours.weights(), other.weights()) < 2e-5


@pytest.mark.parametrize("engine", ["native", "dynet"])
def test_the_model_that_is_kept_is_the_average(data, tmp_path, engine):
    if engine == "dynet":
        pytest.importorskip("dynet")
    runs = {}
    for decay in ("0", "0.9"):
        flags = [f"--engine={engine}", "--epochs=3", "--pick-loss", f"--average-weights={decay}"]
        assert main(training_arguments(data, tmp_path / decay, flags)) == 0
        runs[decay] = Run(tmp_path / decay)
    assert runs["0.9"].settings["average_weights"] == 0.9
    assert [row["loss"] for row in runs["0"].log] == [row["loss"] for row in runs["0.9"].log]  # the same updates
    assert difference(runs["0"].weights, runs["0.9"].weights) > 1e-3
    assert runs["0"].log[-1]["dev_loss"] != runs["0.9"].log[-1]["dev_loss"]


@pytest.mark.parametrize("value", ["1", "-0.1", "often", ""])
def test_a_decay_is_below_1(data, tmp_path, capsys, value):
    message = error_of(capsys, *training_arguments(data, tmp_path / "run", [f"--average-weights={value}"]))
    assert "--average-weights takes a number from 0 up to 0.99999" in message
    assert not (tmp_path / "run").exists()
