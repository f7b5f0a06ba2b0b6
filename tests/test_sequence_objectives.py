"""MLE, minimum risk and REINFORCE: values by hand, gradients by finite differences."""
from functools import partial
from random import Random

import numpy as np
import pytest

dy = pytest.importorskip("dynet")

from il_morph.engines.dynet.decoder import DynetDecoder
from il_morph.model.inference import Inference
from il_morph.model.search import decode
from il_morph.model.settings import TrainingSettings
from il_morph.training.dev_loss import GoldTeacher, step_losses
from il_morph.training.phases import gold_sequences
from il_morph.training.sequences import GoldSequences, MaximumLikelihood, MinimumRisk, Reinforce, Sampler, min_max
from il_morph.transitions.actions import BEFORE_END
from il_morph.transitions.aligners import make_aligner
from tests.dynet_models import fresh_network, learner_of, loss_of, run
from tests.random_models import SETTINGS, instances_of, random_actions, random_model


def objective(kind, model, **settings):
    instances, settings = instances_of(model), TrainingSettings(aligner="cls", **settings)
    made = kind(model.vocabulary, settings, Random(1), gold_sequences(model.vocabulary, instances, settings, seed=1))
    learner = learner_of(made, fresh_network(model.vocabulary, model.weights))
    made.network, made.loss = learner.network, partial(loss_of, learner)
    return made, instances


def sampled_sequences(mle, instance, size, random, and_greedy=False):
    """Sequences sampled from the network of an objective."""
    decoder = DynetDecoder(mle.network, instance)
    return run(Sampler(mle.vocabulary).sample(decoder, size, random, and_greedy), decoder)


def fixed_samples(monkeypatch, sampled):
    """From now on these sequences are what is sampled."""
    def sample(*_, **__):
        return sampled
        yield  # a generator too

    monkeypatch.setattr(Sampler, "sample", sample)


def sequence_log_probability(model, instance, actions):
    losses = step_losses(Inference(model.weights, model.vocabulary), [instance], [GoldTeacher(actions)])
    return -sum(losses[0])


@pytest.mark.parametrize("name", SETTINGS)
def test_losses_of_sequences_agree_with_numpy_whatever_the_network(name):
    model = random_model(**SETTINGS[name])
    network = fresh_network(model.vocabulary, model.weights)
    inference = Inference(model.weights, model.vocabulary)
    for instance in instances_of(model)[:3]:
        (aligned,) = make_aligner("cls")([(instance.sample.input, instance.sample.output)])
        gold = model.vocabulary.gold_actions(aligned)
        other = random_actions(model.vocabulary, instance, longest=40)
        if other[-1] != gold[-1]:
            continue
        dy.renew_cg()
        losses = network.graph(instance).losses([gold, other]).npvalue()
        for row, actions in zip(losses, (gold, other)):
            expected = step_losses(inference, [instance], [GoldTeacher(actions)])[0]
            assert row[:len(actions)] == pytest.approx(expected, abs=1e-4)
            assert not row[len(actions):].any()


def test_mle_is_the_mean_of_the_gold_actions():
    model = random_model()
    mle, instances = objective(MaximumLikelihood, model)
    for instance in instances:
        dy.renew_cg()
        expected = step_losses(Inference(model.weights, model.vocabulary), [instance], mle.teachers([instance]))[0]
        assert mle.loss(instance).value() == pytest.approx(np.mean(expected), abs=1e-5)


def test_sampled_log_probabilities_are_those_of_the_model():
    model = random_model()
    mle, instances = objective(MaximumLikelihood, model)
    for instance in instances:
        dy.renew_cg()
        for actions, log_p in sampled_sequences(mle, instance, 5, Random(3)):
            if len(actions) < 150:
                assert log_p == pytest.approx(sequence_log_probability(model, instance, actions), abs=1e-3)


def test_sampling_follows_the_model():
    """The share of the most probable first action among many samples is its probability."""
    model = random_model(scale=0.5)
    mle, instances = objective(MaximumLikelihood, model)
    dy.renew_cg()
    graph = mle.network.graph(instances[0])
    logits = graph.logits(graph.step(graph.initial_states(), model.vocabulary.system.initial_action,
                                     instances[0].start), support=BEFORE_END)
    probabilities = dy.softmax(logits).npvalue()
    chance = Random(5)
    first = [actions[0] for _ in range(30) for actions, _ in sampled_sequences(mle, instances[0], 20, chance)]
    best = int(probabilities.argmax())
    assert first.count(best) / 600 == pytest.approx(probabilities[best], abs=0.07)


def test_the_greedy_sequence_is_that_of_greedy_search():
    model = random_model(scale=1.5)
    mle, instances = objective(MaximumLikelihood, model)
    found = decode(Inference(model.weights, model.vocabulary), instances)
    for instance, hypotheses in zip(instances, found):
        dy.renew_cg()
        (greedy, _), *_ = sampled_sequences(mle, instance, 2, Random(1), and_greedy=True)
        assert greedy == hypotheses[0].actions


def expected_risk(mrt, model, instance, sequences):
    log_ps = mrt.settings.alpha * np.array([sequence_log_probability(model, instance, s) for s in sequences])
    q = np.exp(log_ps - np.logaddexp.reduce(log_ps))
    return float(q @ mrt.risks(instance, sequences))


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.3}, {"beta": 0.8}, {"mrt_action_cost": 0.2}])
def test_mrt_is_the_expected_risk_of_gold_and_sampled_sequences(settings, monkeypatch):
    model = random_model()
    mrt, instances = objective(MinimumRisk, model, sample_size=6, **settings)
    for instance in instances:
        gold = tuple(mrt.gold[instance])
        others = sorted({gold[:-1] + tuple(model.vocabulary.actions_of(more)) + gold[-1:] for more in ("s", "as")})
        sampled = [(actions, -3.0) for actions in others * 2] + [(gold, -1.0), ((9, 9, 9, 2), -20.5)]
        fixed_samples(monkeypatch, sampled)
        dy.renew_cg()
        expected = expected_risk(mrt, model, instance, [gold, *others])
        assert mrt.loss(instance).value() == pytest.approx(expected, abs=1e-4)


def test_mrt_learns_nothing_from_the_gold_sequence_alone(monkeypatch):
    mrt, instances = objective(MinimumRisk, random_model())
    gold = tuple(mrt.gold[instances[0]])
    fixed_samples(monkeypatch, [(gold, -1.0)])
    dy.renew_cg()
    assert mrt.loss(instances[0]) is None


def test_the_gradient_of_mrt_is_that_of_finite_differences(monkeypatch):
    model = random_model(scale=0.5)
    mrt, instances = objective(MinimumRisk, model, mrt_action_cost=0.2)
    instance = instances[0]
    start, end = mrt.gold[instance][:4], mrt.gold[instance][6:]
    sampled = [(tuple(start + model.vocabulary.actions_of(letters) + end), -2.0) for letters in ("ad", "en", "t")]
    fixed_samples(monkeypatch, sampled)
    step = 1e-2

    def loss():
        dy.renew_cg()
        return mrt.loss(instance)

    parameter = mrt.network.output[0]["s"]
    loss().value()
    expression = loss()
    expression.value()
    expression.backward()
    gradient, values = np.array(parameter.grad_as_array()), np.array(parameter.as_array())
    assert np.abs(gradient).max() > 1e-3
    for place in [(4, 0), (4, 3), (5, 2), (2, 1), (3, 4)]:
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[place] += sign * step
            parameter.set_value(moved)
            ends.append(loss().value())
        parameter.set_value(values)
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(gradient[place], abs=2e-4, rel=0.02)


def test_risks():
    model = random_model()
    mrt, instances = objective(MinimumRisk, model, mrt_action_cost=0.2)
    walk = instances[0]
    gold = mrt.gold[walk]
    wrong = gold[:4] + [2]  # walk: distance 2 of 6, no edits
    assert mrt.risks(walk, [gold, wrong]) == pytest.approx([0.8 * -1 + 0.2 * 1, 0.8 * 2 / 6 + 0.2 * 0])
    heavy, _ = objective(MinimumRisk, model, beta=3.0)
    assert heavy.risks(walk, [gold, wrong]) == pytest.approx([-1, 3 * 2 / 6])
    both, _ = objective(MinimumRisk, model, beta=3.0, mrt_action_cost=0.2)
    assert both.risks(walk, [gold, wrong]) == pytest.approx([0.8 * -1 + 0.2, 0.8 * 3 * 2 / 6])
    nothing, _ = objective(MinimumRisk, model, beta=0.0)
    assert nothing.risks(walk, [gold, wrong]) == [-1, 0]
    plain, _ = objective(MinimumRisk, model)
    assert plain.risks(walk, [gold, wrong]) == pytest.approx([-1, 2 / 6])
    assert min_max([3, 3]) == [0, 0] and min_max([1, 2, 3]) == [0, 0.5, 1]


def test_advantages_with_and_without_baseline():
    model = random_model()
    rl, instances = objective(Reinforce, model, beta=0.5, scale_negative=0.1)
    walk = instances[0]
    gold = rl.gold[walk]
    assert rl.reward(walk, gold) == 1.0
    assert rl.reward(walk, gold[:4] + [2]) == pytest.approx(-0.5 * 2 / 6)
    free_of_charge, _ = objective(Reinforce, model, beta=0.0)
    assert free_of_charge.reward(walk, gold[:4] + [2]) == 0.0
    assert rl.advantages([1.0, 0.2, -1.0], 0.2) == pytest.approx({0: 0.8, 2: -0.12})
    free, _ = objective(Reinforce, model, no_baseline=True)
    assert free.advantages([1.0, 0.0, -1.0], 0.7) == pytest.approx({0: 0.5, 2: -0.5})
    assert free.advantages([1.0, 1.0], 0.7) == {0: 0.0, 1: 0.0}
    assert free.advantages([0.0, 0.0], 0.7) == {}


def test_without_baseline_negatives_are_scaled_and_zeros_dropped_before_the_rest_is_centred():
    """1, 0, −0.6, −1 become 1, −0.3, −0.5: their mean is 0.2 / 3, their range 1.5."""
    free, _ = objective(Reinforce, random_model(), no_baseline=True, scale_negative=0.5)
    mean = 0.2 / 3
    expected = {0: (1 - mean) / 1.5, 2: (-0.3 - mean) / 1.5, 3: (-0.5 - mean) / 1.5}
    assert free.advantages([1.0, 0.0, -0.6, -1.0], 0.7) == pytest.approx(expected)


def test_reinforce_is_the_mean_of_weighted_sequences_without_zero_advantages(monkeypatch):
    model = random_model()
    rl, instances = objective(Reinforce, model)
    walk = instances[0]
    gold, wrong = tuple(rl.gold[walk]), tuple(rl.gold[walk][:4] + [2])
    worse = tuple(model.vocabulary.actions_of("sss") + list(wrong))
    fixed_samples(monkeypatch, [(wrong, -1.0), (gold, -1.0), (wrong, -1.0), (worse, -2.0)])
    dy.renew_cg()
    baseline = rl.reward(walk, wrong)
    terms = [(rl.reward(walk, s) - baseline) * -sequence_log_probability(model, walk, s) / len(s)
             for s in (gold, worse)]
    assert rl.loss(walk).value() == pytest.approx(sum(terms) / 2, abs=1e-4)
    fixed_samples(monkeypatch, [(wrong, -1.0), (wrong, -1.0)])
    dy.renew_cg()
    assert rl.loss(walk) is None


@pytest.mark.parametrize("kind", [MinimumRisk, Reinforce])
def test_updates_make_correct_outputs_more_probable(kind):
    """Starting near the gold sequence, the objective raises its probability."""
    model = random_model(scale=0.3)
    mle, instances = objective(MaximumLikelihood, model)
    trainer = dy.AdamTrainer(mle.network.collection, alpha=0.02)
    for _ in range(40):
        for instance in instances:
            update(mle, instance, trainer)
    trained = kind(mle.vocabulary, TrainingSettings(sample_size=10), Random(2), mle.gold)
    trained.loss = partial(loss_of, learner_of(trained, mle.network))
    before = gold_probability(mle, instances)
    trainer = dy.SimpleSGDTrainer(mle.network.collection, learning_rate=0.05)
    for _ in range(10):
        for instance in instances:
            update(trained, instance, trainer)
    assert gold_probability(mle, instances) > before


def update(some_objective, instance, trainer):
    dy.renew_cg()
    loss = some_objective.loss(instance)
    if loss is not None:
        loss.value()
        loss.backward()
        trainer.update()


def gold_probability(mle, instances):
    total = 0.0
    for instance in instances:
        dy.renew_cg()
        total += np.exp(-np.sum(mle.network.graph(instance).losses([mle.gold[instance]]).npvalue()))
    return total


def test_dev_data_are_aligned_once():
    calls = []
    gold = GoldSequences(lambda instances: calls.append(len(instances)) or [[1]] * len(instances), ["train"])
    assert gold.teachers(["a", "b"])[1].actions == gold.teachers(["a", "b"])[1].actions == [1]
    assert calls == [1, 2]
