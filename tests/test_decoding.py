"""Search in bulk against a plain search for one sample at a time."""
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import il_morph
from experiments.benchmark.simple_search import beam, greedy
from il_morph.data.formats import Sample
from il_morph.model.inference import Inference
from il_morph.model.modelfile import save_model
from il_morph.model.predictor import Predictor
from il_morph.model.search import decode, describe, execute
from il_morph.transitions.actions import COPY, END, MAX_ACTIONS
from tests.random_models import SAMPLES, SETTINGS, instances_of, random_model
from tests.steps import OneByOne, step_log_probabilities

TOLERANCE = 1e-5
WORDS = ["", "a", "walk", "mouse", "sing", "go on", "tüll", "mousemousemouse", "ü", "so", "gone", "kin"]


def ending_model(seed=0, **network):
    """Random weights that like to read on and to end, so that searches end sooner or later."""
    model = random_model(seed, scale=1.2, **network)
    model.weights["output.b"][[END, *model.vocabulary.table.reads.nonzero()[0]]] += 2
    return model


def words_of(model):
    tags = [sample.tag for sample in SAMPLES[model.vocabulary.settings.format]]
    return instances_of(model, [Sample(word, tags[n % len(tags)], None) for n, word in enumerate(WORDS)])


def inference_of(model):
    return Inference(model.weights, model.vocabulary)


def same(found, expected):
    """Are these the same hypotheses in the same order?"""
    return [(h.output, h.actions) for h in found] == [(h.output, h.actions) for h in expected] and [
        h.log_probability for h in found] == pytest.approx([h.log_probability for h in expected], abs=100 * TOLERANCE)


@pytest.mark.parametrize("width", [0, 1])
@pytest.mark.parametrize("network", SETTINGS.values(), ids=SETTINGS)
def test_a_beam_of_one_is_greedy_search(network, width):
    model = ending_model(**network)
    inference, instances = inference_of(model), words_of(model)
    for instance, found in zip(instances, decode(inference, instances, width)):
        assert same(found, [greedy(OneByOne(inference), instance)])


@pytest.mark.parametrize("width", [2, 4, 40])
@pytest.mark.parametrize("transducer", ["haem", "hard"])
def test_beam_search_narrows_with_each_hypothesis_that_ends(transducer, width):
    ends = 0
    for seed in (1, 2):
        model = ending_model(seed, transducer=transducer)
        inference, instances = inference_of(model), words_of(model)[:3 if width == 40 else None]
        for instance, found in zip(instances, decode(inference, instances, width)):
            assert same(found, beam(OneByOne(inference), instance, width))
            assert len(found) <= width
            ends += all(hypothesis.actions[-1] == END for hypothesis in found)
    assert ends > len(instances)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.lists(st.text("walksing üxy", max_size=6), min_size=1, max_size=4), st.integers(1, 5))
def test_any_search_is_what_the_plain_one_finds(seed, words, width):
    model = ending_model(seed)
    inference, instances = inference_of(model), instances_of(model, [Sample(word, "V;PST", None) for word in words])
    for instance, found in zip(instances, decode(inference, instances, width)):
        assert same(found, beam(OneByOne(inference), instance, width))


@pytest.mark.parametrize("width", [1, 4])
def test_the_batch_size_changes_nothing(width):
    model = ending_model()
    inference, instances = inference_of(model), words_of(model)
    expected = decode(inference, instances, width)
    for batch_size in (1, 2, 5, 1000):
        found = decode(inference, instances, width, batch_size)
        assert all(same(f, e) for f, e in zip(found, expected))


def test_results_come_in_the_order_of_the_input():
    model = ending_model()
    inference, instances = inference_of(model), words_of(model)
    turned = decode(inference, instances[::-1], 4, 3)[::-1]
    assert all(same(found, expected) for found, expected in zip(turned, decode(inference, instances, 4, 3)))


def test_nothing_to_decode():
    assert decode(inference_of(random_model()), [], 4) == []


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("transducer", ["haem", "hard"])
def test_the_log_probability_is_the_sum_over_the_steps(transducer, width):
    model = ending_model(transducer=transducer)
    inference, instances = inference_of(model), words_of(model)
    for instance, hypotheses in zip(instances, decode(inference, instances, width)):
        for found in hypotheses:
            steps = step_log_probabilities(OneByOne(inference), instance, found.actions)
            total = sum(row[action] for row, action in zip(steps, found.actions))
            assert found.log_probability == pytest.approx(total, abs=len(steps) * TOLERANCE)
            assert found.output == execute(found.actions, instance, model.vocabulary)


def test_hypotheses_are_different_and_the_best_comes_first():
    model = ending_model()
    for hypotheses in decode(inference_of(model), words_of(model), 4):
        scores = [hypothesis.log_probability for hypothesis in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({hypothesis.actions for hypothesis in hypotheses}) == len(hypotheses)


def test_unfinished_hypotheses_count_only_where_none_has_ended():
    """Greedy search is cut off after 150 actions, a beam one step later, as in the authors' program."""
    model = random_model(seed=2)
    model.weights["output.b"][END] = -1000
    inference, instances = inference_of(model), words_of(model)
    assert {len(h.actions) for found in decode(inference, instances, 1) for h in found} == {MAX_ACTIONS}
    cut = decode(inference, instances, 4)
    assert {len(h.actions) for found in cut for h in found} == {MAX_ACTIONS + 1}
    assert {len(found) for found in cut} == {4}
    model.weights["output.b"][END] = 1
    mixed = decode(inference_of(model), instances, 4)
    assert any(len(found) < 4 for found in mixed)
    assert all(h.actions[-1] == END for found in mixed if len(found) < 4 for h in found)


def test_unseen_characters_can_be_copied():
    model = random_model()
    instance, = instances_of(model, [Sample("ü", "V;PST", None)])
    assert execute([COPY, END], instance, model.vocabulary) == "ü"


def actions_of(model, *symbols):
    return [model.vocabulary.actions.positions[symbol] for symbol in symbols]


def test_edits_are_described_for_readers():
    model = random_model()
    instance, = instances_of(model, [Sample("go on", "V;PST", None)])
    actions = actions_of(model, "<COPY>", "<DEL>", "e", "s", "<COPY>", " ", "<COPY>", "<DEL>", "⟫")
    assert execute(actions, instance, model.vocabulary) == "ges  o"
    assert describe(actions, instance, model.vocabulary) == "g -o +e +s ␣ +␣ o -n"


def test_edits_of_hard_attention_are_described():
    model = random_model(transducer="hard")
    instance, = instances_of(model, [Sample("go", "V;PST", None)])
    actions = actions_of(model, "<STEP>", "g", "<STEP>", "a", "<STEP>", "⟫")
    assert execute(actions, instance, model.vocabulary) == "ga"
    assert describe(actions, instance, model.vocabulary) == "> +g > +a >"


def test_a_model_predicts_from_python(tmp_path):
    model = ending_model()
    save_model(tmp_path / "f.model", model)
    predictor = il_morph.load(tmp_path / "f.model")
    assert isinstance(predictor, Predictor)
    samples = [Sample("walk", "V;PST", None), Sample("", "N", None)]
    expected = decode(inference_of(model), instances_of(model, samples), 4)
    assert predictor.predict([("walk", "V;PST"), ("", "N")]) == [found[0].output for found in expected]
    assert predictor.hypotheses(samples) == expected
    assert predictor.describe(samples[0], expected[0][0]) == describe(
        expected[0][0].actions, model.vocabulary.instance(samples[0]), model.vocabulary)


def test_inputs_without_features_are_plain_strings():
    predictor = Predictor(ending_model(format="no-features", pos_emb=False))
    assert predictor.predict(["walk", "sing"]) == predictor.predict([("walk", ""), ("sing", "")])
    assert predictor.predict(["walk"], beam_width=1) == [
        greedy(OneByOne(predictor.inference), predictor.vocabulary.instance(Sample("walk", "", None))).output]


def test_threads_share_a_predictor():
    from concurrent.futures import ThreadPoolExecutor

    predictor = Predictor(random_model(seed=5, enc_hidden=60, dec_hidden=60))
    words = ["abc" * n for n in range(1, 12)]
    expected = predictor.predict(words)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(predictor.predict, [words] * 24):
            assert found == expected
