"""The network in NumPy, in bulk, against the network in DyNet, sample by sample."""
import numpy as np
import pytest

from experiments.benchmark.simple_search import beam, greedy
from il_morph.data.formats import Sample
from il_morph.model.inference import Inference
from il_morph.model.search import decode
from il_morph.transitions.actions import END, MAX_ACTIONS, UNK
from tests.random_models import SAMPLES, SETTINGS, instances_of, random_actions, random_model
from tests.steps import OneByOne, step_log_probabilities

TOLERANCE = 1e-5


def dynet_model(model):
    """The model through DyNet; where that is not installed the test is skipped."""
    pytest.importorskip("dynet")
    from tests.dynet_models import DynetModel

    return DynetModel.of(model)


def edge_cases(model):
    """Unseen symbols of every kind and very short inputs."""
    separator = {"sigmorphon2016": ",", "sigmorphon2017": ";", "no-features": ";"}[model.vocabulary.settings.format]
    seen = SAMPLES[model.vocabulary.settings.format][0]
    unseen_features = separator.join([seen.tag, "UNSEEN"])
    return instances_of(model, [
        Sample("", seen.tag, None), Sample("a", seen.tag, None), Sample("ü", seen.tag, None),
        Sample("wülü", seen.tag, None), Sample("walk", unseen_features, None), Sample("walk", "UNSEEN", None),
        Sample("ü", separator.join(["UNSEEN", "UNSEEN"]), None), Sample("walk", "", None),
        Sample("l" * 30, seen.tag, None),
    ])


def bulk_log_probabilities(inference, instances, sequences):
    """The log probabilities of the valid actions along these sequences, all samples in one batch."""
    encoded, states = inference.encode(instances), inference.initial_states()
    positions = np.array([instance.start for instance in instances])
    actions = np.full(len(instances), inference.vocabulary.system.initial_action)
    rows, found = np.arange(len(instances)), [[] for _ in instances]
    while len(rows):
        states = inference.step(encoded, rows, positions, actions, states)
        scores = inference.log_probabilities(states, positions == encoded.ends[rows])
        for row, row_scores in zip(rows, scores):
            found[row].append(np.where(np.isinf(row_scores), 0, row_scores))
        actions = np.array([sequences[row][len(found[row]) - 1] for row in rows])
        live = np.array([len(found[row]) < len(sequences[row]) for row in rows])
        positions = inference.advance(positions, actions)[live]
        rows, actions, states = rows[live], actions[live], states.take(live)
    return [np.array(steps) for steps in found]


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_numpy_and_dynet_agree_on_every_step(settings):
    for seed in (1, 2):
        model = random_model(seed, **settings)
        slow, instances = dynet_model(model), instances_of(model) + edge_cases(model)
        sequences = [random_actions(model.vocabulary, instance) for instance in instances]
        bulk = bulk_log_probabilities(Inference(model.weights, model.vocabulary), instances, sequences)
        for instance, actions, found in zip(instances, sequences, bulk):
            assert found == pytest.approx(step_log_probabilities(slow, instance, actions), abs=TOLERANCE)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_samples_do_not_influence_each_other(settings):
    model = random_model(**settings)
    inference, instances = Inference(model.weights, model.vocabulary), instances_of(model) + edge_cases(model)
    sequences = [random_actions(model.vocabulary, instance) for instance in instances]
    bulk = bulk_log_probabilities(inference, instances, sequences)
    for instance, actions, found in zip(instances, sequences, bulk):
        assert found == pytest.approx(step_log_probabilities(OneByOne(inference), instance, actions), abs=TOLERANCE)


def first_scores(model, word, tag):
    """The log probabilities of the first step."""
    instance = model.vocabulary.instance(Sample(word, tag, None))
    return step_log_probabilities(OneByOne(Inference(model.weights, model.vocabulary)), instance, [END])[0]


def test_an_unseen_character_is_the_average_of_all_others():
    """Special symbols count, UNK itself does not."""
    model = random_model()
    model.weights["characters"][UNK] = 99
    unseen = first_scores(model, "ü", "V;PST")
    average = model.weights["characters"][1:].mean(axis=0)
    model.weights["characters"][model.vocabulary.characters["w"]] = average
    assert first_scores(model, "w", "V;PST") == pytest.approx(unseen, abs=TOLERANCE)


def test_an_unseen_feature_is_ignored():
    model = random_model()
    assert first_scores(model, "walk", "V;UNSEEN;PST") == pytest.approx(first_scores(model, "walk", "V;PST"), abs=0)
    assert first_scores(model, "walk", "V;3") != pytest.approx(first_scores(model, "walk", "V;PST"), abs=TOLERANCE)


def test_an_unseen_pos_has_the_embedding_of_the_unknown_feature():
    model = random_model()
    unseen = first_scores(model, "walk", "UNSEEN;PST")
    assert unseen != pytest.approx(first_scores(model, "walk", "V;PST"), abs=TOLERANCE)
    model.weights["pos"][model.vocabulary.pos["V"]] = model.weights["features"][UNK]
    assert unseen == pytest.approx(first_scores(model, "walk", "V;PST"), abs=TOLERANCE)


def test_repeated_features_and_their_order_do_not_matter():
    model = random_model()
    assert first_scores(model, "walk", "V;3;PST;3") == pytest.approx(first_scores(model, "walk", "V;PST;3"), abs=0)


@pytest.mark.parametrize("transducer", ["haem", "hard"])
def test_probabilities_of_the_valid_actions_sum_to_one_and_others_have_none(transducer):
    model = random_model(transducer=transducer)
    inference, instances = Inference(model.weights, model.vocabulary), instances_of(model)
    encoded, rows = inference.encode(instances), np.arange(len(instances))
    starts = np.array([instance.start for instance in instances])
    for positions, at_end in ((starts, False), (encoded.ends, True)):
        states = inference.step(encoded, rows, positions, np.full(len(rows), 1), inference.initial_states())
        scores = inference.log_probabilities(states, positions == encoded.ends)
        valid = model.vocabulary.table.valid_actions(at_end)
        assert np.exp(scores[:, valid]).sum(axis=1) == pytest.approx(np.ones(len(rows)), abs=TOLERANCE)
        assert np.isneginf(np.delete(scores, valid, axis=1)).all()


@pytest.mark.parametrize("transducer", ["haem", "hard"])
def test_a_model_that_never_ends_is_cut_off_after_150_actions(transducer):
    model = random_model(transducer=transducer)
    model.weights["output.b"][END] = -1000
    inference, slow = Inference(model.weights, model.vocabulary), dynet_model(model)
    instances = instances_of(model) + edge_cases(model)
    for instance, (found,) in zip(instances, decode(inference, instances)):
        expected = greedy(slow, instance)
        assert len(found.actions) == MAX_ACTIONS and END not in found.actions
        assert (found.output, found.actions) == (expected.output, expected.actions)
        assert found.log_probability == pytest.approx(expected.log_probability, abs=150 * TOLERANCE)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_greedy_and_beam_search_through_dynet_find_the_same(settings):
    model = random_model(scale=1.5, **settings)
    inference, slow, instances = Inference(model.weights, model.vocabulary), dynet_model(model), edge_cases(model)
    for instance, (found,), best in zip(instances, decode(inference, instances), decode(inference, instances, 3)):
        assert found.actions == greedy(slow, instance).actions
        assert [hypothesis.actions for hypothesis in best] == [h.actions for h in beam(slow, instance, 3)]
