"""The architectures of the cited systems: NumPy in bulk against DyNet sample by sample, and what each of them promises."""
from random import Random

import numpy as np
import pytest

from il_morph.data.formats import Sample
from il_morph.model.architectures import KINDS, architecture_of, inference_of
from il_morph.model.modelfile import Model, load_model, save_model
from il_morph.model.search import decode
from il_morph.model.settings import ARCHITECTURES, FIXED, HACM, HAEM_2017, SOFT, ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.actions import BEGIN, END, UNK
from tests.random_models import AVM, SAMPLES, SMALL, instances_of, random_actions
from tests.test_inference import bulk_log_probabilities, edge_cases

TOLERANCE = 1e-5
VARIANTS = {
    "soft": {"architecture": SOFT, "format": "sigmorphon2016", "feat_input": 6},
    "soft, two layers": {"architecture": SOFT, "format": "sigmorphon2016", "feat_input": 6, "enc_layers": 2, "dec_layers": 2},
    "soft, vanilla": {"architecture": SOFT, "format": "sigmorphon2017", "feat_input": 6, "vanilla_lstm": True},
    "soft, no features": {"architecture": SOFT, "format": "no-features", "feat_input": 6},
    "hacm": {"architecture": HACM},
    "hacm, two layers": {"architecture": HACM, "enc_layers": 2, "dec_layers": 2},
    "hacm, bag of features": {"architecture": HACM, "feat_input": 0, "lucky_w": 2.0},
    "hacm, no features": {"architecture": HACM, "format": "no-features", "pos_emb": False},
    "haem": {"architecture": HAEM_2017, "mlp": 4, "lucky_w": 2.0, "action_input": 8},
    "haem, two layers": {"architecture": HAEM_2017, "mlp": 4, "enc_layers": 2, "dec_layers": 2, "nonlin": "tanh"},
    "haem, vanilla": {"architecture": HAEM_2017, "mlp": 4, "lucky_w": 2.0, "vanilla_lstm": True},
    "haem, no features": {"architecture": HAEM_2017, "mlp": 4, "lucky_w": 2.0, "format": "no-features"},
}


def cited_settings(**settings) -> ModelSettings:
    return ModelSettings(**{"format": "sigmorphon2017", **SMALL, **FIXED[settings["architecture"]], **settings})


def cited_model(seed=0, scale=0.8, samples=(), **settings) -> Model:
    shape = cited_settings(**settings)
    vocabulary = Vocabulary.build(samples or SAMPLES[shape.format], shape)
    generator = np.random.RandomState(seed)
    return Model(vocabulary, {name: generator.uniform(-scale, scale, size).astype(np.float32)
                              for name, size in sorted(architecture_of(vocabulary).shapes.items())})


def inference(model):
    return inference_of(model.weights, model.vocabulary)


def dynet_network(model):
    """The model in DyNet; where that is not installed the test is skipped."""
    pytest.importorskip("dynet")
    from il_morph.engines.dynet.networks import network_of

    network = network_of(model.vocabulary)
    network.set_weights(model.weights)
    return network


def dynet_losses(network, instance, sequences):
    """−log P of each action of each sequence, [sequence, step]."""
    import dynet as dy

    dy.renew_cg()
    return np.atleast_2d(network.graph(instance).losses(sequences).npvalue())


def learnable(model, instances):
    """Without those in which HACM must copy an unseen character, whatever it learns."""
    return [instance for instance in instances if model.vocabulary.system.copy != UNK or UNK not in instance.buffer]


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_numpy_and_dynet_agree_on_every_step(settings):
    for seed in (1, 2):
        model = cited_model(seed, **settings)
        network, instances = dynet_network(model), instances_of(model) + learnable(model, edge_cases(model))
        sequences = [random_actions(model.vocabulary, instance) for instance in instances]
        bulk = bulk_log_probabilities(inference(model), instances, sequences)
        for instance, actions, found in zip(instances, sequences, bulk):
            expected = dynet_losses(network, instance, [actions])[0]
            assert -found[np.arange(len(actions)), actions] == pytest.approx(expected, abs=TOLERANCE)
