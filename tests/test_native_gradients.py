"""Losses and gradients of the native engine: against finite differences, against DyNet, compiled or not."""
from __future__ import annotations

import numpy as np
import pytest

from il_morph.data.formats import Sample
from il_morph.engines.native import kernels_numpy
from il_morph.engines.native.batch import Batch
from il_morph.engines.native.network import NativeNetwork
from tests.cli import crossed
from tests.native_plans import KINDS, Planned
from tests.random_models import SAMPLES, SETTINGS, instances_of, random_model

TRAINED = {name: values for name, values in SETTINGS.items() if not {"dec_layers", "mlp"} & set(values)}
TRAINED["three vanilla encoder layers"] = {"enc_layers": 3, "vanilla_lstm": True}
UNSEEN = Sample("wüxü", "X;Y", "walk")


def compiled_kernels():
    pytest.importorskip("numba")
    from il_morph.engines.native import kernels_numba
    return kernels_numba


def samples_of(model):
    """A few samples, one of them with symbols that are not in the vocabulary."""
    samples = SAMPLES[model.vocabulary.settings.format]
    return instances_of(model, [*samples[:3], UNSEEN])


def native(model, kernels=kernels_numpy, dtype=np.float32):
    network = NativeNetwork(model.vocabulary, kernels, dtype)
    network.set_weights(model.weights)
    return network


def loss_of(network, kind, instances):
    """The loss of a batch and its gradient with respect to the scores."""
    objective = Planned(kind, network.vocabulary)
    batch = Batch(network, instances)
    counts = batch.serve([objective.visit(decoder) for decoder in batch.decoders])
    return batch.loss(counts)


def loss_and_gradients(network, kind, instances):
    loss, dscores = loss_of(network, kind, instances)
    return loss, network.layout.unpack(multiplied_out(network.backward(dscores), network.arrays))


def multiplied_out(gradients, arrays):
    """The gradients of all arrays."""
    dense = {name: np.zeros_like(array) for name, array in arrays.items()}
    for name, (x, d) in gradients.factors.items():
        dense[name] += x.T @ d
    for name, (rows, sums) in gradients.tables.items():
        dense[name][rows] = sums
    return dense


def close(ours, others, tolerance):
    assert set(ours) == set(others)
    for name in ours:
        scale = np.abs(others[name]).max()
        assert np.abs(ours[name] - others[name]).max() <= tolerance * scale + 1e-9, name


def check_finite_differences(network, weights, kind, instances):
    """In float64, along random directions of each weight; the gradients."""
    _, gradients = loss_and_gradients(network, kind, instances)
    generator, step = np.random.RandomState(1), 1e-5
    for name, weight in weights.items():
        direction = generator.normal(size=weight.shape)
        values = []
        for sign in (1, -1):
            network.set_weights({**weights, name: weight + sign * step * direction})
            values.append(loss_of(network, kind, instances)[0])
        slope = (values[0] - values[1]) / (2 * step)
        assert slope == pytest.approx((gradients[name] * direction).sum(), rel=1e-6, abs=1e-8), name
    return gradients


@pytest.mark.parametrize("settings, kind", crossed(TRAINED, KINDS))
def test_gradients_are_finite_differences_of_the_loss(settings, kind):
    model = random_model(scale=0.5, **TRAINED[settings])
    check_finite_differences(native(model, dtype=np.float64), model.weights, kind, samples_of(model))


@pytest.mark.parametrize("settings", TRAINED.values(), ids=TRAINED)
@pytest.mark.parametrize("kind", KINDS)
def test_loss_and_gradients_are_those_of_dynet(settings, kind):
    dy = pytest.importorskip("dynet")
    from tests.native_dynet import PlannedInDynet

    model = random_model(scale=0.5, **settings)
    network, objective, samples = native(model), Planned(kind, model.vocabulary), samples_of(model)
    for instances in (samples, *([instance] for instance in samples)):
        dy.renew_cg()
        plain = PlannedInDynet(model)
        expected = plain.batch_loss([(instance, objective.plan(instance)) for instance in instances])
        value = expected.value()
        expected.backward()
        loss, gradients = loss_and_gradients(network, kind, instances)
        assert loss == pytest.approx(value, rel=1e-5)
        close(gradients, plain.gradients(), 1e-5)


@pytest.mark.parametrize("settings", ["coupled", "vanilla", "untied", "bag of features", "two encoder layers"])
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_kernels_agree_with_numpy(settings, kind):
    model = random_model(scale=0.5, **SETTINGS[settings])
    instances = samples_of(model)
    loss, gradients = loss_and_gradients(native(model), kind, instances)
    compiled_loss, compiled_gradients = loss_and_gradients(native(model, compiled_kernels()), kind, instances)
    assert compiled_loss == pytest.approx(loss, rel=1e-5)
    close(compiled_gradients, gradients, 1e-5)
