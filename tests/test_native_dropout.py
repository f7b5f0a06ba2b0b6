"""Dropout in the native engine: what is drawn, and what it does to losses, gradients and updates."""
import numpy as np
import pytest

from il_morph.engines.native import kernels_numpy
from il_morph.engines.native.learner import NativeLearner
from il_morph.engines.native.network import NativeNetwork
from il_morph.model.settings import TrainingSettings
from tests.cli import crossed
from tests.native_plans import Planned
from tests.random_models import SETTINGS, random_model
from tests.test_native_gradients import check_finite_differences, samples_of
from tests.test_native_updates import batches_of, difference

RATE = 0.3


def dropping(model, dtype=np.float32, rate=RATE):
    network = NativeNetwork(model.vocabulary, kernels_numpy, dtype, rate, np.random.RandomState(1))
    network.set_weights(model.weights)
    return network


def learner_of(model, rate, objective, seed=1):
    learner = NativeLearner(model.vocabulary, objective, TrainingSettings(dropout=rate), kernels_numpy,
                            np.random.RandomState(seed))
    learner.set_weights(model.weights)
    learner.begin_epoch(0)
    return learner


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_masks_drop_their_share_of_rows_and_keep_the_mean_and_the_bias(rate):
    dropout = dropping(random_model(), rate=rate).dropout
    draws = []
    for _ in range(2000):
        dropout.draw()
        draws.append(np.concatenate([mask if name != "decoder.features" else mask[:-1]
                                     for name, mask in dropout.masks.items()]))
        assert dropout.masks["decoder.features"][-1] == 1
    assert set(np.unique(draws)) == {0, np.float32(1 / (1 - rate))}
    assert np.mean(draws) == pytest.approx(1, abs=0.01)
    assert np.mean(draws, axis=0) == pytest.approx(1, abs=0.15)


def test_an_update_sees_masked_rows_and_leaves_the_weights_alone():
    model = random_model()
    network = dropping(model)
    network.begin(samples_of(model))
    assert difference(network.weights(), model.weights) == 0
    for name, mask in network.dropout.masks.items():
        assert np.array_equal(network.dropout.masked[name], network.arrays[name] * mask[:, None])
    assert network.decoder.layer.wh is network.dropout.masked["decoder.h"]
    assert network.encoder.forward[0].wh is network.arrays["forward.h"]


@pytest.mark.parametrize("settings, kind", crossed(["coupled", "vanilla", "untied", "no features",
                                                    "two encoder layers"], ["softmax-margin", "mrt"]))
def test_gradients_are_finite_differences_of_the_loss(settings, kind, monkeypatch):
    """With the same masks all the time."""
    model = random_model(scale=0.5, **SETTINGS[settings])
    network = dropping(model, np.float64)
    monkeypatch.setattr(network.dropout, "random", type("Same", (), {"random_sample": staticmethod(
        lambda rows: np.random.RandomState(rows).random_sample(rows))}))
    gradients = check_finite_differences(network, model.weights, kind, samples_of(model))
    dropped = network.dropout.masks["decoder.h"] == 0
    assert dropped.any() and not gradients["decoder.0.h2i"][:, dropped].any()


@pytest.mark.parametrize("settings", ["coupled", "vanilla"])
def test_with_the_same_masks_both_engines_make_the_same_updates(settings, monkeypatch):
    dy = pytest.importorskip("dynet")
    from il_morph.engines.dynet import cells
    from il_morph.engines.dynet.learner import DynetLearner
    from il_morph.engines.dynet.network import DynetNetwork

    model = random_model(scale=0.3, **SETTINGS[settings])
    objective, training = Planned("nll", model.vocabulary), TrainingSettings(dropout=RATE)
    ours, other = learner_of(model, RATE, objective), DynetLearner(DynetNetwork(model.vocabulary), objective, training)
    other.set_weights(model.weights)
    masks = ours.network.dropout.masks

    class SameMasks(cells.Masks):
        def __init__(self, widths, hidden, rate, cell):
            assert rate == RATE
            read = np.concatenate([masks["decoder.positions"], masks["decoder.features"][:-1],
                                   masks["decoder.actions"]])
            parts = np.split(read, np.cumsum(list(widths.values()))[:-1])
            self.inputs = {block: dy.inputVector(part) for block, part in zip(widths, parts)}
            self._h = dy.inputVector(masks["decoder.h"])
            self._c = dy.inputVector(masks["decoder.c"]) if cell else None

    monkeypatch.setattr(cells, "Masks", SameMasks)
    for batch in batches_of(model, 1) * 3:
        loss, count = ours.update(batch)
        assert other.update(batch) == (pytest.approx(loss, rel=1e-5), count)
    assert difference(ours.weights(), other.weights()) < 1e-5


def test_another_seed_draws_other_masks_and_no_dropout_none():
    model = random_model()
    objective = Planned("nll", model.vocabulary)
    weights = []
    for rate, seed in ((RATE, 1), (RATE, 1), (RATE, 2), (0, 1)):
        learner = learner_of(model, rate, objective, seed)
        for batch in batches_of(model, 2):
            learner.update(batch)
        weights.append(learner.weights())
        assert ("random" in learner.state()) == (rate > 0)
    assert difference(weights[0], weights[1]) == 0
    assert min(difference(weights[0], other) for other in weights[2:]) > 0
