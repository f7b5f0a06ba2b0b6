"""Small data and models with random weights, made without DyNet."""
from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from il_morph.data.formats import Sample
from il_morph.model.architecture import Architecture
from il_morph.model.modelfile import Model
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import END

SMALL = {"input": 6, "action_input": 6, "feat_input": 3, "enc_hidden": 5, "dec_hidden": 7}

TAGGED = [
    Sample("walk", "V;PST", "walked"), Sample("sing", "V;PST;3", "sang"), Sample("mouse", "N;PL", "mice"),
    Sample("a", "N;PL;ERG", "aa"), Sample("go on", "V;PRS;3", "goes on"), Sample("tall", "ADJ;CMPR", "taller"),
]
AVM = [Sample(s.input, ",".join(f"f{n % 2}{n}={v}" for n, v in enumerate(s.tag.split(";"))), s.output) for s in TAGGED]
PLAIN = [Sample(s.input, "", s.output) for s in TAGGED]
SAMPLES = {"sigmorphon2017": TAGGED, "sigmorphon2016": AVM, "no-features": PLAIN}

SETTINGS = {
    "coupled": {},
    "vanilla": {"vanilla_lstm": True},
    "two layers": {"enc_layers": 2, "dec_layers": 2},
    "two encoder layers": {"enc_layers": 2},
    "two vanilla layers": {"enc_layers": 2, "dec_layers": 2, "vanilla_lstm": True},
    "mlp ReLU": {"mlp": 4},
    "mlp tanh": {"mlp": 4, "nonlin": "tanh"},
    "bag of features": {"feat_input": 0, "lucky_w": 2.0},
    "avm": {"format": "sigmorphon2016", "avm_feat_format": True},
    "comma-separated": {"format": "sigmorphon2016"},
    "no pos": {"pos_emb": False},
    "no features": {"format": "no-features", "pos_emb": False},
    "untied": {"param_tying": False, "action_input": 8},
    "close": {"tag_wraps": "close"},
    "hard": {"transducer": "hard"},
    "substitute": {"transducer": "substitute"},
    "substitute untied": {"transducer": "substitute", "param_tying": False},
    "hard untied close": {"transducer": "hard", "param_tying": False, "tag_wraps": "close"},
}


def small_settings(**settings) -> ModelSettings:
    return ModelSettings(**{"format": "sigmorphon2017", **SMALL, **settings})


def random_model(seed: int = 0, scale: float = 0.8, samples: Sequence[Sample] = (), **settings) -> Model:
    """A model of the small data with weights drawn uniformly from [-scale, scale]."""
    shape = small_settings(**settings)
    vocabulary = Vocabulary.build(samples or SAMPLES[shape.format], shape)
    generator = np.random.RandomState(seed)
    return Model(vocabulary, {name: generator.uniform(-scale, scale, size).astype(np.float32)
                              for name, size in sorted(Architecture(vocabulary).shapes.items())})


def instances_of(model: Model, samples: Sequence[Sample] = ()) -> list[Instance]:
    return [model.vocabulary.instance(s) for s in samples or SAMPLES[model.vocabulary.settings.format]]


def random_actions(vocabulary: Vocabulary, instance: Instance, longest: int = 20) -> list[int]:
    """Valid actions up to END, half of them reading or ending where that is valid."""
    chance, position, actions = Random(instance.text), instance.start, []
    while END not in actions and len(actions) < longest:
        valid = vocabulary.table.valid_actions(position == instance.end)
        reading = [action for action in valid if not vocabulary.table.inserts[action]]
        actions.append(chance.choice(chance.choice([reading, valid])))
        position = vocabulary.table.advance(position, actions[-1])
    return actions
