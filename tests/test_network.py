"""Our network against the same network on DyNet's own LSTM builders, with the same parameters."""
from math import sqrt
from pathlib import Path
from random import Random

import numpy as np
import pytest

dy = pytest.importorskip("dynet")

import il_morph.engines.dynet.cells as cells_module
import il_morph.engines.dynet.network as network_module
import il_morph.sample
from experiments.benchmark.stock_model import StockModel
from il_morph.data.formats import SIGMORPHON2017, Sample, read_samples
from il_morph.model.architecture import Architecture
from il_morph.model.modelfile import Model
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.training.imitation import ImitationLearning
from tests.dynet_models import DynetModel, fresh_network, learner_of, loss_of
from tests.random_models import SAMPLES, SETTINGS, SMALL, instances_of, random_actions, random_model
from tests.reference_models import read_reference, reference_models
from tests.shared import SHARED, needs_shared
from tests.steps import step_log_probabilities

CA_D = TrainingSettings(il_beta=1.0)
MEDIUM = {"input": 30, "action_input": 30, "feat_input": 10, "enc_hidden": 40, "dec_hidden": 40}
EDIT_SETTINGS = {name: values for name, values in SETTINGS.items() if values.get("transducer") != "hard"}
TURKISH = read_samples(Path(il_morph.sample.__file__).parent / "turkish-train.tsv", SIGMORPHON2017)[:25]


class Pair:
    """Ours and the stock model from the same weights, and the samples to train them on."""

    def __init__(self, model, samples):
        self.ours, self.stock = fresh_network(model.vocabulary, model.weights), StockModel(model.vocabulary)
        self.stock.set_weights(model.weights)
        self.instances = [model.vocabulary.instance(sample) for sample in samples]
        self.objective = ImitationLearning(model.vocabulary, CA_D, Random(1))
        self.learner = learner_of(self.objective, self.ours)

    def update(self, instance, trainers):
        """One teacher-forced CA-D sample; the two losses."""
        return self.update_on(trainers, lambda: loss_of(self.learner, instance),
                              lambda: self.stock.loss(instance, self.objective.expert(instance)))

    def update_on_sequence(self, instance, actions, trainers):
        """The mean −log P of some actions; the two losses."""
        return self.update_on(trainers, lambda: dy.mean_elems(self.ours.graph(instance).losses([actions])),
                              lambda: self.stock.sequence_loss(instance, actions))

    def update_on(self, trainers, *losses):
        values = []
        for trainer, make_loss in zip(trainers, losses):
            dy.renew_cg()
            loss = make_loss()
            values.append(loss.value())
            loss.backward()
            trainer.update()
        return values

    def trainers(self, make):
        return make(self.ours.collection), make(self.stock.collection)

    def difference(self):
        """The largest difference of any two weights."""
        return max(distances(self.ours.weights(), self.stock.weights()).values())


def distances(weights, others):
    assert set(weights) == set(others)
    return {name: np.abs(weights[name] - others[name]).max() for name in weights}


def descend(collection):
    """An update that subtracts the gradient as it is."""
    trainer = dy.SimpleSGDTrainer(collection, learning_rate=1.0)
    trainer.set_clip_threshold(0)
    return trainer


def turkish_model(scale, **settings):
    """A model as DyNet initialises it, all weights times `scale`."""
    vocabulary = Vocabulary.build(TURKISH, ModelSettings(format="sigmorphon2017", **settings))
    dy.reset_random_seed(1)
    return Model(vocabulary, {name: scale * value for name, value in StockModel(vocabulary).weights().items()})


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_log_probabilities_are_those_of_the_stock_model(settings):
    model = random_model(**settings)
    stock = StockModel(model.vocabulary)
    stock.set_weights(model.weights)
    for instance in instances_of(model, [*SAMPLES[model.vocabulary.settings.format], Sample("wüx", "X;Y", None)]):
        actions = random_actions(model.vocabulary, instance)
        ours = step_log_probabilities(DynetModel.of(model), instance, actions)
        assert ours == pytest.approx(step_log_probabilities(stock, instance, actions), abs=1e-5)


@pytest.mark.parametrize("settings", EDIT_SETTINGS.values(), ids=EDIT_SETTINGS)
def test_loss_and_gradients_are_those_of_the_stock_model(settings):
    model = random_model(scale=0.5, **settings)
    pair = Pair(model, SAMPLES[model.vocabulary.settings.format])
    moved = set()
    for instance in pair.instances:
        pair.ours.set_weights(model.weights)
        pair.stock.set_weights(model.weights)
        ours, stock = pair.update(instance, pair.trainers(descend))
        assert ours == pytest.approx(stock, abs=2e-6)
        assert pair.difference() < 1e-6
        moved |= {name for name, distance in distances(pair.ours.weights(), model.weights).items() if distance > 1e-5}
    assert moved == set(model.weights)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_loss_and_gradients_of_a_whole_sequence_are_those_of_the_stock_model(settings):
    model = random_model(scale=0.5, **settings)
    pair = Pair(model, SAMPLES[model.vocabulary.settings.format])
    for instance in pair.instances:
        pair.ours.set_weights(model.weights)
        pair.stock.set_weights(model.weights)
        actions = random_actions(model.vocabulary, instance)
        ours, stock = pair.update_on_sequence(instance, actions, pair.trainers(descend))
        assert ours == pytest.approx(stock, abs=2e-6)
        assert pair.difference() < 1e-6


@pytest.mark.parametrize("settings", ["coupled", "vanilla", "two layers"])
def test_recurrent_matrices_may_be_cut_into_blocks_anywhere(monkeypatch, settings):
    """As those of the paper's size are: with and without dropout masks a step reads the parts of h and c."""
    monkeypatch.setattr(cells_module, "GEMV_LIMIT", 3)
    pair = Pair(random_model(scale=0.5, **SETTINGS[settings]), SAMPLES["sigmorphon2017"])
    assert len(pair.ours.decoder[0].ranges) == 3
    trainers = pair.trainers(descend)
    for instance in pair.instances * 2:
        ours, stock = pair.update(instance, trainers)
        assert ours == pytest.approx(stock, abs=2e-6)
    assert pair.difference() < 2e-6


def test_feature_columns_may_be_cut_into_blocks_anywhere(monkeypatch):
    monkeypatch.setattr(network_module, "BLOCK_LIMIT", 2 * SMALL["feat_input"] * SMALL["dec_hidden"])
    pair = Pair(random_model(scale=0.5), SAMPLES["sigmorphon2017"])
    assert len(pair.ours.slot_ranges) > 2
    trainers = pair.trainers(descend)
    for instance in pair.instances:
        pair.update(instance, trainers)
    assert pair.difference() < 2e-6


# The coupled cell starts as DyNet initialises it. The vanilla cell starts from smaller weights: at full
# size its training is chaotic, two stock models that start 6e-8 apart are 1e-2 apart after 100 updates.
@pytest.mark.parametrize("vanilla, scale", [(False, 1.0), (True, 0.3)], ids=["coupled", "vanilla"])
@pytest.mark.parametrize("layers", [1, 2], ids=["one layer", "two layers"])
@pytest.mark.parametrize("sizes", [SMALL, MEDIUM], ids=["small", "medium"])
def test_a_hundred_adadelta_updates_agree(vanilla, scale, layers, sizes):
    model = turkish_model(scale, vanilla_lstm=vanilla, enc_layers=layers, dec_layers=layers, **sizes)
    pair = Pair(model, TURKISH)
    trainers = pair.trainers(dy.AdadeltaTrainer)
    for update in range(100):
        ours, stock = pair.update(pair.instances[update % len(pair.instances)], trainers)
        assert ours == pytest.approx(stock, abs=3e-6)
    assert pair.difference() < 2e-6
    assert max(distances(pair.ours.weights(), model.weights).values()) > 0.1


def fresh_weights(**settings):
    vocabulary = Vocabulary.build(TURKISH, ModelSettings(format="sigmorphon2017", **{**MEDIUM, **settings}))
    return vocabulary, Architecture(vocabulary).draw(seed=1)


@pytest.mark.parametrize("vanilla", [False, True], ids=["coupled", "vanilla"])
def test_a_matrix_in_blocks_is_drawn_with_the_bound_of_the_whole(vanilla):
    vocabulary, weights = fresh_weights(vanilla_lstm=vanilla)
    matrices = {name: value for name, value in weights.items() if "2" in name or name.endswith(".W")}
    for name, matrix in matrices.items():
        rows, columns = matrix.shape
        stacked = 4 if vanilla and "2" in name else 1
        bound = sqrt(6 / (stacked * rows + columns))
        assert 0.97 * bound < np.abs(matrix).max() <= bound * (1 + 1e-6), name


def test_every_block_of_the_decoder_input_reaches_the_bound():
    vocabulary, weights = fresh_weights()
    hidden, feature, action = MEDIUM["enc_hidden"], MEDIUM["feat_input"], MEDIUM["action_input"]
    widths = [hidden, hidden, feature, vocabulary.number_of_slots * feature, action]
    for gate in "ioc":
        matrix = weights[f"decoder.0.x2{gate}"]
        assert matrix.shape[1] == sum(widths)
        bound = sqrt(6 / sum(matrix.shape))
        for block in np.split(matrix, np.cumsum(widths)[:-1], axis=1):
            assert 0.97 * bound < np.abs(block).max() <= bound * (1 + 1e-6)
            assert np.abs(block).mean() == pytest.approx(bound / 2, rel=0.1)


@pytest.mark.parametrize("vanilla", [False, True], ids=["coupled", "vanilla"])
def test_weights_are_drawn_like_those_of_the_stock_model(vanilla):
    """LSTM biases are 0, that of the forget gate too: its 1 is added in the cell."""
    vocabulary, weights = fresh_weights(vanilla_lstm=vanilla, mlp=30, enc_layers=2, dec_layers=2)
    stock = StockModel(vocabulary).weights()
    assert {name: value.shape for name, value in weights.items()} == {n: v.shape for n, v in stock.items()}
    for name, value in weights.items():
        if name in ("characters", "features", "pos"):
            continue  # drawn as in an older DyNet, see below
        if value.size > 100:  # a short bias may stay far from its bound
            assert np.abs(value).max() == pytest.approx(np.abs(stock[name]).max(), rel=0.1), name
        assert (np.abs(value).max() == 0) == (".b" in name and name not in ("output.b", "hidden.b"))


def test_tables_are_drawn_with_the_bound_of_dynet_2_0():
    _, weights = fresh_weights()
    for name in ("characters", "features", "pos"):
        bound = sqrt(3 / weights[name].shape[1])
        assert 0.9 * bound < np.abs(weights[name]).max() <= bound * (1 + 1e-6)


@needs_shared
@pytest.mark.parametrize("name", reference_models() if SHARED.is_dir() else [])
def test_the_bounds_are_those_of_rows_that_the_authors_never_trained(name):
    """UNK is never read or written in training: its rows are as they were drawn."""
    parameters = read_reference(name)["parameters"]
    rows = {table: np.abs(parameters[table][0]) for table in ("char_lookup", "pos_lookup")}
    assert all(row.max() <= sqrt(3 / len(row)) for row in rows.values())
    beyond = [row.max() > sqrt(6 / (len(row) + len(parameters[table]))) for table, row in rows.items()]
    assert any(beyond)  # DyNet 2.1 could not have drawn them
    bias = np.abs(parameters["output.b"])
    assert 0 < bias[0] <= sqrt(3 / len(bias)) and 0 < bias[1] <= sqrt(3 / len(bias))


def test_the_seed_decides_the_weights():
    vocabulary, _ = fresh_weights()
    drawn = []
    for seed in (1, 1, 2):
        drawn.append(fresh_network(vocabulary, seed=seed).weights()["characters"])
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
