"""Updates, epochs, early stopping: training apart from what is learnt."""
from random import Random

import numpy as np
import pytest

dy = pytest.importorskip("dynet")

from il_morph.data.formats import Sample
from il_morph.engines.dynet.learner import OPTIMIZERS, DynetLearner
from il_morph.engines.dynet.network import DynetNetwork
from il_morph.errors import InputError
from il_morph.model.search import SearchModel
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.training.imitation import ImitationLearning
from il_morph.training.loop import Epoch, TrainingLoop
from tests.dynet_models import fresh_network
from tests.random_models import TAGGED, small_settings

RATE = 0.1  # of DyNet's SGD
CERTAIN = {"il_beta": 1.0, "il_tforcing_epochs": 99}  # roll-ins and roll-outs of the expert alone


def new_network(seed: int = 1, **settings) -> DynetNetwork:
    return fresh_network(Vocabulary.build(TAGGED, small_settings(**settings)), seed=seed)


def imitation(network: DynetNetwork, samples=TAGGED, **settings) -> TrainingLoop:
    settings = TrainingSettings(**{**CERTAIN, "epochs": 1, **settings})
    instances = [network.vocabulary.instance(sample) for sample in samples]
    objective = ImitationLearning(network.vocabulary, settings, Random(1))
    learner = DynetLearner(network, objective, settings)
    return TrainingLoop(learner, objective.teachers, network.vocabulary, instances, instances, settings, Random(1))


def change(start: dict, samples, **settings) -> dict:
    """By how much one epoch with SGD changes the weights."""
    network = new_network()
    network.set_weights(start)
    imitation(network, samples, optimization="SGD", **settings).run()
    return {name: weight - start[name] for name, weight in network.weights().items()}


@pytest.fixture
def start() -> dict:
    return new_network().weights()


# Updates

def test_an_update_follows_the_mean_over_all_steps_of_its_batch(start):
    """Not the mean of the means of its samples: a sample of more steps weighs more."""
    steps = [7, 6, 8]  # walk → walked, sing → sang, mouse → mice: copies, deletions, insertions and END
    apart = [change(start, [sample]) for sample in TAGGED[:3]]
    together = change(start, TAGGED[:3], batch_size=3)
    for name, moved in together.items():
        weighted = sum(number * each[name] for number, each in zip(steps, apart)) / sum(steps)
        np.testing.assert_allclose(moved, weighted, atol=2e-6)
    assert max(np.abs(moved).max() for moved in together.values()) > 1e-3


@pytest.mark.parametrize("size, updates", [(1, 6), (2, 3), (4, 2), (6, 1), (100, 1)])
def test_the_number_of_updates(size, updates):
    training = imitation(new_network(), batch_size=size)
    counted = []
    update = training.learner.optimizer.update

    class TargetTracker:
        def update(self):
            counted.append(1)
            update()

    training.learner.optimizer = TargetTracker()
    training.run()
    assert len(counted) == updates


def test_the_loss_of_an_epoch_is_the_mean_of_its_updates():
    """Of its samples, or of the steps of a batch: with a learning rate near 0 the model stands still."""
    def loss(samples, size):
        training = imitation(new_network(), samples, batch_size=size, optimization="SGD", learning_rate=1e-12)
        return training.run().epochs[0].loss

    samples, steps = TAGGED[:3], [7, 6, 8]
    each = [loss([sample], 1) for sample in samples]
    assert loss(samples, 1) == pytest.approx(np.mean(each), abs=1e-5)
    assert loss(samples, 3) == pytest.approx(np.average(each, weights=steps), abs=1e-5)
    assert min(each) > 0.5 and np.ptp(each) > 0.01


def test_l2_pulls_the_weight_matrices_towards_zero(start):
    """d/dW l2·0.5·‖W‖ = l2·0.5·W/‖W‖; tables and biases are left alone."""
    penalty = 0.1
    without, with_it = change(start, TAGGED[:1]), change(start, TAGGED[:1], l2=penalty)
    for name, weight in start.items():
        matrix = weight.ndim == 2 and name not in ("characters", "features", "pos")
        expected = -RATE * penalty * 0.5 * weight / np.linalg.norm(weight) if matrix else np.zeros_like(weight)
        np.testing.assert_allclose(with_it[name] - without[name], expected, atol=2e-6)


def test_the_penalty_is_not_part_of_the_loss_that_is_shown():
    shown = [imitation(new_network(), TAGGED[:1], l2=l2).run().epochs[0].loss for l2 in (0.0, 0.5)]
    assert shown[0] == pytest.approx(shown[1], abs=1e-6)


def test_optimisers_are_those_of_dynet():
    expected = {"ADADELTA": dy.AdadeltaTrainer, "ADAM": dy.AdamTrainer, "SGD": dy.SimpleSGDTrainer,
                "MOMENTUM": dy.MomentumSGDTrainer, "ADAGRAD": dy.AdagradTrainer}
    made = {name: imitation(new_network(), optimization=name).learner.optimizer for name in OPTIMIZERS}
    assert {name: type(trainer) for name, trainer in made.items()} == expected
    assert made["ADAM"].learning_rate == pytest.approx(0.0005)
    assert made["SGD"].learning_rate == pytest.approx(RATE)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimiser_lowers_the_loss(name):
    losses = [epoch.loss for epoch in imitation(new_network(), optimization=name, epochs=4).run().epochs]
    assert losses[-1] < losses[0]


def test_weights_that_are_no_longer_finite_end_the_training():
    network = new_network()
    broken = network.weights()
    broken["output.b"] = np.full_like(broken["output.b"], np.nan)
    network.set_weights(broken)
    with pytest.raises(InputError, match="training diverged in epoch 0 .* try a lower --learning-rate, or"):
        imitation(network).run()


# Epochs: an objective and a search that do what the tests want

class Script:
    """Decoding that gets so many dev samples right in each epoch, and dev losses by the epoch."""

    def __init__(self, monkeypatch, right=(), losses=(), train_right=()):
        self.right, self.losses, self.train_right = iter(right), iter(losses), iter(train_right)
        self.searches = []
        monkeypatch.setattr(SearchModel, "best_outputs", lambda model, *arguments: self.best_outputs(*arguments))
        monkeypatch.setattr("il_morph.training.loop.mean_loss", lambda *arguments: next(self.losses))

    def best_outputs(self, instances, width, batch_size):
        probing = len(self.searches) % 2 == 0
        self.searches.append((len(instances), width, batch_size))
        number = next(self.train_right if probing else self.right, 0)
        return [instance.sample.output if n < number else "wrong" for n, instance in enumerate(instances)]


class Pull:
    """An objective that pulls the output bias towards zero and remembers what it was asked."""

    def __init__(self):
        self.epochs, self.seen, self.loss = [], [], self.pull

    def begin_epoch(self, epoch):
        self.epochs.append(epoch)

    def visit(self, decoder):
        self.seen.append(decoder.instance.sample.input)
        loss = self.loss(decoder)
        decoder.losses += [] if loss is None else [loss]
        return len(decoder.losses)
        yield  # a visit without requests

    def pull(self, decoder):
        return dy.squared_norm(decoder.network.output[1].parameter)

    def teachers(self, instances):
        return [None for _ in instances]


def scripted(train=TAGGED, dev=TAGGED, **options) -> TrainingLoop:
    network = new_network()
    settings = {name: options.pop(name) for name in list(options) if name in TrainingSettings().as_dict()}
    train, dev = ([network.vocabulary.instance(sample) for sample in samples] for samples in (train, dev))
    objective, settings = Pull(), TrainingSettings(**settings)
    learner = DynetLearner(network, objective, settings)
    return TrainingLoop(learner, objective.teachers, network.vocabulary, train, dev, settings, Random(1), **options)


def test_all_epochs_are_run(monkeypatch):
    Script(monkeypatch, right=[1, 2, 3, 4])
    training = scripted(epochs=4, patience=9)
    history = training.run()
    assert [epoch.epoch for epoch in history.epochs] == training.learner.objective.epochs == [0, 1, 2, 3]
    assert [epoch.dev_accuracy for epoch in history.epochs] == pytest.approx([100 * n / 6 for n in (1, 2, 3, 4)])


@pytest.mark.parametrize("patience, epochs, best", [(1, 2, 0), (2, 5, 2), (3, 6, 2), (9, 8, 7)])
def test_patience_counts_epochs_without_improvement(monkeypatch, patience, epochs, best):
    """An accuracy as good as the best is no improvement."""
    Script(monkeypatch, right=[2, 2, 4, 3, 4, 1, 4, 5])
    history = scripted(epochs=8, patience=patience).run()
    assert (len(history.epochs), history.best.epoch) == (epochs, best)


@pytest.mark.parametrize("patience, epochs, best", [(2, 4, -1), (3, 8, 6)])
def test_patience_from_a_trained_model_counts_from_the_best_epoch_of_the_training_itself(monkeypatch, patience,
                                                                                         epochs, best):
    """A model that its first updates throw off gets the time to come back; it is kept when it beats the start."""
    Script(monkeypatch, right=[4, 1, 1, 1, 2, 3, 4, 5])
    history = scripted(epochs=7, patience=patience, from_trained=True).run()
    assert (len(history.epochs), history.best.epoch) == (epochs, best)


def test_the_loss_of_an_epoch_is_the_mean_over_samples_that_have_one(monkeypatch):
    Script(monkeypatch)
    training, without = scripted(epochs=1), {sample.input for sample in TAGGED[:2]}
    monkeypatch.setattr(training.learner.objective, "loss", lambda decoder: (
        None if decoder.instance.sample.input in without else dy.scalarInput(3.0)))
    assert training.run().epochs[0].loss == 3.0


def test_the_model_of_the_best_epoch_is_kept(monkeypatch):
    Script(monkeypatch, right=[1, 3, 2])
    kept, heard = [], []
    training = scripted(epochs=3, on_best=lambda epoch, weights: kept.append((epoch.epoch, weights["output.b"].copy())),
                        on_epoch=lambda epoch: heard.append(epoch.epoch))
    history = training.run()
    assert heard == [0, 1, 2]
    assert [epoch for epoch, _ in kept] == [0, 1]
    assert history.best.epoch == 1
    np.testing.assert_array_equal(history.weights["output.b"], kept[-1][1])
    assert (history.weights["output.b"] != training.learner.weights()["output.b"]).any()


def test_pick_loss_goes_by_the_dev_loss(monkeypatch):
    for pick_loss, best, losses in (False, 3, [None] * 4), (True, 1, [0.9, 0.4, 0.5, 0.6]):
        Script(monkeypatch, right=[1, 2, 3, 4], losses=[0.9, 0.4, 0.5, 0.6])
        history = scripted(epochs=4, pick_loss=pick_loss).run()
        assert history.best.epoch == best
        assert [epoch.dev_loss for epoch in history.epochs] == losses


def test_patience_with_pick_loss(monkeypatch):
    Script(monkeypatch, right=[1, 2, 3, 4], losses=[0.9, 0.4, 0.5, 0.6])
    assert len(scripted(epochs=4, pick_loss=True, patience=1).run().epochs) == 3


def test_the_dev_loss_is_taken_where_the_model_can_write_the_output(monkeypatch):
    seen = []
    monkeypatch.setattr("il_morph.training.loop.mean_loss", lambda _, dev, *rest: seen.append(len(dev)) or 1.0)
    scripted(epochs=1, pick_loss=True, dev=[*TAGGED, Sample("дом", "N;PL", "дома")]).run()
    assert seen == [len(TAGGED)]
    with pytest.raises(InputError, match="--pick-loss: no dev output consists of characters seen in training"):
        scripted(epochs=1, pick_loss=True, dev=[Sample("дом", "N;PL", "дома")]).run()


def test_train_accuracy_is_taken_on_100_samples_greedily(monkeypatch):
    script = Script(monkeypatch, right=[3, 3], train_right=[50, 100])
    history = scripted(train=TAGGED * 20, epochs=2, beam_width=3, decbatch_size=7).run()
    assert script.searches == [(100, 1, 7), (len(TAGGED), 3, 7)] * 2
    assert [epoch.train_accuracy for epoch in history.epochs] == [50, 100]


def test_the_order_of_the_samples_changes_from_epoch_to_epoch(monkeypatch):
    Script(monkeypatch)
    training = scripted(epochs=3, patience=9)
    training.run()
    seen, number = training.learner.objective.seen, len(TAGGED)
    orders = [seen[first:first + number] for first in range(0, len(seen), number)]
    assert len(orders) == 3
    assert all(sorted(order) == sorted(sample.input for sample in TAGGED) for order in orders)
    assert orders[0] != orders[1] != orders[2]
    again = scripted(epochs=3, patience=9)
    again.run()
    assert again.learner.objective.seen == seen


def test_verbose_shows_the_first_ten_dev_predictions(monkeypatch, caplog):
    caplog.set_level("INFO")
    Script(monkeypatch, right=[1])
    scripted(epochs=1, dev=TAGGED * 3, verbose=True).run()
    shown = [record.getMessage() for record in caplog.records if record.getMessage().startswith("dev: ")]
    assert len(shown) == 10
    assert shown[:2] == ["dev: walk + V;PST -> walked (gold: walked)", "dev: sing + V;PST;3 -> wrong (gold: sang)"]


def test_samples_without_a_loss_are_passed_over(monkeypatch):
    Script(monkeypatch)
    training = scripted(epochs=1)
    training.learner.objective.loss = lambda decoder: None
    before = training.learner.weights()
    assert training.run().epochs[0].loss is None
    for name, weight in training.learner.weights().items():
        np.testing.assert_array_equal(weight, before[name])


def test_a_row_of_the_log():
    assert Epoch(3, 1.23456, 0.5, 99.0, 12.34567).cells() == ["3", "1.2346", "0.5000", "99.0000", "12.3457", "NA"]
    assert Epoch(Epoch.START, 0.0, None, 1.0, 2.0, 0.25).cells() == ["-1", "0.0000", "NA", "1.0000", "2.0000", "0.2500"]
    assert len(Epoch.COLUMNS) == 6
