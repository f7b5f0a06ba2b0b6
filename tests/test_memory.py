"""DyNet ends the process when a pool grows under a checkpoint: the memory we ask for must be enough."""
import subprocess
import sys

import pytest

from il_morph.engines.dynet.memory_estimate import errors_of_pools, megabytes_needed
from il_morph.model.registry import TRANSDUCER
from il_morph.model.settings import TrainingSettings
from tests.cli import ROOT
from tests.random_models import random_model

# A model that never ends inserts 150 characters; one long sample is trained on with the memory we ask for.
WORST_CASE = """
import sys
from random import Random
from il_morph.data.formats import Sample
from il_morph.engines.dynet.engine import start_dynet
from il_morph.engines.dynet.memory_estimate import megabytes_needed
from il_morph.model.registry import kind_named
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Vocabulary

mode, share, architecture = sys.argv[1], float(sys.argv[2]), sys.argv[3]
samples = [Sample("abcdefghij" * 5, "V;PST", "xyzuv" * 10), Sample("ab", "V;PRS", "y")]
sizes = {"feat_input": 100} if architecture == "soft" else {"mlp": 100} if architecture == "haem-2017" else {}
model = ModelSettings(**{"format": "sigmorphon2017", "architecture": architecture, "vanilla_lstm": mode == "rl",
                         "enc_hidden": 100, "dec_hidden": 100, **sizes, **kind_named(architecture).fixed})
vocabulary = Vocabulary.build(samples, model)
settings = TrainingSettings(mode=mode, aligner="cls", il_loss="softmax-margin", il_beta=0.0, dropout=0.2, sample_size=8)
autobatch = architecture != "transducer" or sys.argv[4] == "autobatch"
start_dynet(1, int(share * megabytes_needed(vocabulary, settings, 50, 2, autobatch)), autobatch)

from il_morph.engines.dynet.learner import DynetLearner
from il_morph.engines.dynet.network import network_of
from il_morph.model.architectures import architecture_of
from il_morph.training.phases import gold_sequences, make_objective

instances = [vocabulary.instance(sample) for sample in samples]
gold = gold_sequences(vocabulary, instances, settings, 1) if mode != "il" else None
learner = DynetLearner(network_of(vocabulary), make_objective(vocabulary, settings, Random(1), gold), settings)
weights = architecture_of(vocabulary).draw(seed=1)
weights["output.b"][-1] = 6.0
learner.set_weights(weights)
learner.begin_epoch(1000)
for instance in instances:
    learner.update([instance])
print("survived")
"""


def worst_case(mode: str, share: float, architecture: str = TRANSDUCER,
               batching: str = "") -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", WORST_CASE, mode, str(share), architecture, batching], cwd=ROOT,
                          capture_output=True, text=True)


@pytest.mark.parametrize("mode", ["il", *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("mrt", "rl"))])
def test_what_we_ask_for_is_enough(mode):
    pytest.importorskip("dynet")
    assert "survived" in worst_case(mode, 1).stdout


@pytest.mark.parametrize("architecture", ["soft", "hacm", "haem-2017"])
def test_it_is_enough_for_the_cited_systems_and_automatic_batching(architecture):
    pytest.importorskip("dynet")
    done = worst_case("mle", 1, architecture)
    assert "survived" in done.stdout, done.stderr


@pytest.mark.slow
def test_it_is_enough_for_roll_outs_and_automatic_batching():
    """The memory of roll-outs is not given back before the next update."""
    pytest.importorskip("dynet")
    done = worst_case("il", 1, batching="autobatch")
    assert "survived" in done.stdout, done.stderr


def test_the_worst_case_does_need_memory():
    pytest.importorskip("dynet")
    assert "survived" not in worst_case("rl", 0.1).stdout


def test_too_little_memory_with_automatic_batching_is_said_with_what_to_do():
    pytest.importorskip("dynet")
    done = worst_case("mle", 0.1, "hacm")
    assert "survived" not in done.stdout
    assert "InputError: DyNet has used up its memory in one update: give it more with --dynet-mem" in done.stderr


def test_other_errors_of_dynet_keep_their_words():
    with pytest.raises(ValueError, match="^another error$"), errors_of_pools():
        raise ValueError("another error")


def test_more_samples_in_a_graph_need_more():
    vocabulary = random_model().vocabulary
    needs = [megabytes_needed(vocabulary, TrainingSettings(**settings), 10, 100)
             for settings in ({}, {"batch_size": 50}, {"mode": "mrt", "sample_size": 500})]
    assert needs[0] < needs[1] < needs[2]
    assert megabytes_needed(vocabulary, TrainingSettings(), 10_000, 100) > needs[0]


def test_a_batch_is_never_larger_than_the_data():
    vocabulary = random_model().vocabulary
    needs = [megabytes_needed(vocabulary, TrainingSettings(batch_size=size), 10, samples=50) for size in (50, 10**6)]
    assert needs[0] == needs[1] > megabytes_needed(vocabulary, TrainingSettings(batch_size=5), 10, samples=50)
