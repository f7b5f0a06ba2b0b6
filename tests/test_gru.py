"""MED and LEM: gradients against finite differences, training against search, and training from the command line."""
import itertools

import numpy as np
import pytest

import il_morph
from il_morph.cited.gru.inference import is_matrix, sequence_of
from il_morph.cited.gru.learner import CLIP, GruLearner
from il_morph.cited.gru.network import Network, draw_masks
from il_morph.commands import main
from il_morph.data.formats import Sample
from il_morph.engines.native import kernels_numpy
from il_morph.errors import InputError
from il_morph.model.architectures import architecture_of
from il_morph.model.modelfile import load_model, save_model
from il_morph.model.registry import kind_named
from il_morph.model.search import decode
from il_morph.model.settings import PRESETS, TrainingSettings
from il_morph.training.dev_loss import GoldTeacher, step_losses
from il_morph.training.phases import gold_sequences
from il_morph.training.sequences import MaximumLikelihood
from il_morph.transitions.actions import BEGIN, END, UNK
from tests.cli import TEST, Run, error_of
from tests.random_models import SAMPLES, instances_of
from tests.shared import SHARED, needs_shared
from tests.test_cited_architectures import GRU_VARIANTS, TOLERANCE, cited_model, inference, scores_after
from tests.test_inference import edge_cases

NAMES = ("med", "lem")
SMALL = ["--input=8", "--action-input=8", "--enc-hidden=8", "--dec-hidden=8"]
LARGER = ["--input=24", "--action-input=24", "--enc-hidden=32", "--dec-hidden=32", "--enc-layers=1", "--dec-layers=1",
          "--batch-size=2", "--dropout=0"]
SHORT = ["--epochs=2", "--dynet-seed=1"]


def outputs_of(model, instances):
    """What the samples have to write; of one without an output its input."""
    known = [[each for each in instance.sample.output or instance.sample.input if each in model.vocabulary.actions]
             for instance in instances]
    return [[*model.vocabulary.actions_of(each), END] for each in known]


def network_of(model, weights=None, masks=None):
    settings = model.vocabulary.settings
    return Network(settings, weights or model.weights, settings.kind.from_mean, masks or {})


def loss_of(model, instances, weights=None, masks=None, shares=None):
    sequences = [sequence_of(instance, model.vocabulary) for instance in instances]
    return network_of(model, weights, masks).loss(
        sequences, outputs_of(model, instances), shares or [1.0] * len(instances), BEGIN,
        ~model.vocabulary.table.valid.any(axis=0))


@pytest.mark.parametrize("settings", GRU_VARIANTS.values(), ids=GRU_VARIANTS)
def test_training_and_search_agree(settings):
    """The loss of a batch is what the steps of the search add up to, be the samples long or short, seen or unseen."""
    for seed in (1, 2):
        model = cited_model(seed, **settings)
        instances = instances_of(model) + edge_cases(model)
        teachers = [GoldTeacher(actions) for actions in outputs_of(model, instances)]
        expected = [sum(losses) for losses in step_losses(inference(model), instances, teachers)]
        assert loss_of(model, instances)[0] == pytest.approx(sum(expected), rel=1e-5)
        for instance, alone in zip(instances, expected):
            assert loss_of(model, [instance])[0] == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize("settings", GRU_VARIANTS.values(), ids=GRU_VARIANTS)
def test_gradients_are_those_of_finite_differences(settings):
    model = cited_model(3, **settings)
    weights = {name: array.astype(float) for name, array in model.weights.items()}
    instances, random = instances_of(model) + edge_cases(model), np.random.RandomState(1)
    masks = draw_masks(model.vocabulary.settings, len(instances), 0.3, random, float)
    shares = random.uniform(0.5, 1.5, len(instances)).tolist()
    _, gradients = loss_of(model, instances, weights, masks, shares)
    assert gradients.keys() == weights.keys()
    for name, gradient in gradients.items():
        direction, step = random.choice([-1.0, 1.0], gradient.shape), 1e-5
        ends = [loss_of(model, instances, {**weights, name: weights[name] + sign * step * direction}, masks, shares)[0]
                for sign in (1, -1)]
        assert (gradient * direction).sum() == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5, abs=1e-6), name
        assert np.abs(gradient).max() > 0 or name == "features" and "no-features" in settings.values()


@pytest.mark.parametrize("settings", GRU_VARIANTS.values(), ids=GRU_VARIANTS)
def test_the_gradient_of_a_batch_is_the_sum_of_those_of_its_samples(settings):
    model = cited_model(4, **settings)
    weights = {name: array.astype(float) for name, array in model.weights.items()}
    instances = instances_of(model) + edge_cases(model)
    together = loss_of(model, instances, weights)[1]
    alone = [loss_of(model, [instance], weights)[1] for instance in instances]
    for name, gradient in together.items():
        assert gradient == pytest.approx(sum(each[name] for each in alone), abs=1e-9), name


def test_dropout_masks_keep_their_share_and_the_mean():
    settings = cited_model(**GRU_VARIANTS["lem"]).vocabulary.settings
    masks = draw_masks(settings, 2000, 0.25, np.random.RandomState(1))
    assert {*masks} == {"source", "target", "encoded", "s", "encoder.0", "encoder.1", "decoder.0", "decoder.1"}
    for mask in masks.values():
        assert {*np.unique(mask)} == {0, np.float32(1 / 0.75)} and mask.mean() == pytest.approx(1, abs=0.03)
    assert draw_masks(settings, 3, 0.0, np.random.RandomState(1)) == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_network_as_it_is_written_down(name):
    """The first two steps with one layer, in plain NumPy."""
    model = cited_model(5, **{**GRU_VARIANTS["med"], "architecture": name})
    weights, vocabulary = model.weights, model.vocabulary
    sample = SAMPLES["sigmorphon2016"][1]
    instance, action = vocabulary.instance(sample), vocabulary.actions["s"]

    def gru(layer, x, h, way=()):
        wx, wh, b = (weights[f"{layer}.{part}"][way] for part in "xhb")
        (xr, xz, xc), (hr, hz, hc) = np.split(x @ wx + b, 3), np.split(h @ wh, 3)
        r, z = 1 / (1 + np.exp(-xr - hr)), 1 / (1 + np.exp(-xz - hz))
        return z * h + (1 - z) * np.tanh(xc + r * hc)

    def states(way, read):
        return list(itertools.accumulate(read, lambda h, x: gru("encoder.0", x, h, way), initial=np.zeros(5)))[1:]

    characters = weights["characters"]
    read = [characters[BEGIN], *weights["features"][list(instance.slots)], *characters[list(instance.buffer[1:])]]
    encoded = np.hstack([states(0, read), states(1, read[::-1])[::-1]])
    summary = encoded.mean(axis=0) if name == "lem" else encoded[0, 5:]
    s, expected = np.tanh(summary @ weights["start.W"] + weights["start.b"]), []
    for last in weights["actions"][[BEGIN, action]]:
        hidden = np.tanh(s @ weights["attention.W"] + encoded @ weights["attention.U"] + weights["attention.b"])
        alpha = np.exp(hidden @ weights["attention.v"]) / np.exp(hidden @ weights["attention.v"]).sum()
        context = alpha @ encoded
        s = gru("decoder.0", np.concatenate([last, context]), s)
        o = np.tanh(np.concatenate([s, last, context]) @ weights["readout.W"] + weights["readout.b"])
        logits = (o @ weights["output.W"] + weights["output.b"])[END:]
        expected.append(logits - np.log(np.exp(logits).sum()))
    assert scores_after(model, sample)[END:] == pytest.approx(expected[0], abs=TOLERANCE)
    assert scores_after(model, sample, [action])[END:] == pytest.approx(expected[1], abs=TOLERANCE)


@pytest.mark.parametrize("table, seen, unseen", [
    ("characters", Sample("w", "f00=V,f11=PST", None), Sample("ü", "f00=V,f11=PST", None)),
    ("features", Sample("wa", "f00=V", None), Sample("wa", "f00=NEW", None)),
])
def test_an_unseen_symbol_is_the_average_of_all_others(table, seen, unseen):
    model = cited_model(**GRU_VARIANTS["med"])
    index = getattr(model.vocabulary, table)
    row = index["w" if table == "characters" else "f00=V"]
    model.weights[table][row] = np.delete(model.weights[table], [UNK, row], axis=0).mean(axis=0)
    expected = scores_after(model, seen)
    assert scores_after(model, unseen) == pytest.approx(expected, abs=TOLERANCE)
    model.weights[table][UNK] += 1
    assert scores_after(model, unseen) == pytest.approx(expected, abs=TOLERANCE)


def test_without_features_the_encoder_reads_characters_between_boundaries():
    model = cited_model(**GRU_VARIANTS["lem"])
    instance = model.vocabulary.instance(Sample("walk", "", None))
    assert sequence_of(instance, model.vocabulary) == list(instance.buffer)
    tagged = cited_model(**GRU_VARIANTS["med"])
    instance, first = tagged.vocabulary.instance(SAMPLES["sigmorphon2016"][0]), len(tagged.vocabulary.characters)
    assert sequence_of(instance, tagged.vocabulary) == [
        BEGIN, *(first + slot for slot in instance.slots), *instance.buffer[1:]]
    assert len(instance.slots) == 2


def test_lem_ranks_by_log_probability_per_action_and_med_by_log_probability():
    differs = 0
    for name, seed in itertools.product(NAMES, range(5)):
        model = cited_model(seed, scale=1.0, **{**GRU_VARIANTS["lem"], "architecture": name})
        for found in decode(inference(model), instances_of(model), 8):
            total = [each.log_probability for each in found]
            mean = [each.log_probability / len(each.actions) for each in found]
            assert (mean if name == "lem" else total) == sorted(mean if name == "lem" else total, reverse=True)
            differs += name == "lem" and total != sorted(total, reverse=True)
    assert differs


def test_it_says_what_its_attention_is_on():
    model = cited_model(6, scale=2.0, **GRU_VARIANTS["med"])
    numpy_model, instances, found = inference(model), instances_of(model), set()
    encoded, states = numpy_model.encode(instances), numpy_model.initial_states()
    rows, actions, before = np.arange(len(instances)), np.full(len(instances), BEGIN), encoded.starts[0]
    for _ in range(5):
        places = numpy_model.attention(encoded, rows, before).alpha.argmax(axis=1)
        states = numpy_model.step(encoded, rows, rows * 0, actions, states)
        slots = np.array([len(instance.slots) for instance in instances])
        heads = numpy_model.heads(rows * 0, states)
        assert heads.tolist() == [max(0, place - number) for place, number in zip(places, slots)]
        actions, before = states.scores[:, END + 1:].argmax(axis=1) + END + 1, states.s[0]
        found |= set(heads.tolist())
    assert len(found) > 1


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_cut_after_75_characters(name):
    model = cited_model(**GRU_VARIANTS[name])
    model.weights["output.b"][END] = -1000
    assert {len(found.actions) for (found,) in decode(inference(model), instances_of(model))} == {75}


def test_initial_weights():
    """MED: square matrices are identities; LEM: columns of matrices have length 1. Biases are 0."""
    for name in NAMES:
        model = cited_model(**{**GRU_VARIANTS[name], "enc_hidden": 7})
        drawn = architecture_of(model.vocabulary).draw(3)
        assert {each: array.shape for each, array in drawn.items()} == architecture_of(model.vocabulary).shapes
        assert all(not array.any() for each, array in drawn.items() if each.endswith(".b"))
        assert all(array.any() for each, array in drawn.items() if not each.endswith(".b"))
        if name == "lem":
            for each in filter(is_matrix, drawn):
                assert np.sqrt((drawn[each] ** 2).sum(axis=-2)) == pytest.approx(1, abs=1e-5)
        else:
            assert (drawn["attention.W"] == np.eye(7)).all() and (drawn["start.W"] == np.eye(7)).all()
            assert (drawn["decoder.0.h"] == np.hstack([np.eye(7)] * 3)).all()
            assert (drawn["encoder.0.h"] == np.hstack([np.eye(7)] * 3)).all() and len(drawn["encoder.0.h"]) == 2
            assert drawn["encoder.0.x"].std() > 0 and drawn["attention.U"].std() > 0


# The learner


def learner_of(model, normalised=False, training=None, kernels=None):
    training = training or TrainingSettings(mode="mle", mle_loss="sum", aligner="dumb")
    vocabulary, instances = model.vocabulary, instances_of(model)
    objective = MaximumLikelihood(vocabulary, training, None, gold_sequences(vocabulary, instances, training, 1))
    learner = GruLearner(vocabulary, objective, training, np.random.RandomState(1),
                         vocabulary.settings.kind.from_mean, normalised, kernels)
    learner.set_weights(model.weights)
    return learner, instances


def test_lengths_and_directions_have_the_gradients_of_finite_differences():
    model = cited_model(2, **GRU_VARIANTS["lem"])
    learner, instances = learner_of(model, normalised=True)
    for name, weight in learner.weights().items():
        assert weight == pytest.approx(model.weights[name], abs=1e-6)
    learner.parameters = {name: array.astype(float) for name, array in learner.parameters.items()}
    for name in filter(is_matrix, model.weights):
        learner.parameters[name] *= 1.7  # the weights do not depend on how long a direction is
        assert learner.weights()[name] == pytest.approx(model.weights[name], abs=1e-5)
    gradients = learner._of_parameters(loss_of(model, instances, learner.weights())[1])
    random, parameters = np.random.RandomState(1), dict(learner.parameters)
    assert gradients.keys() == parameters.keys()
    for name, gradient in gradients.items():
        direction, ends = random.choice([-1.0, 1.0], gradient.shape), []
        for sign in (1, -1):
            learner.parameters = {**parameters, name: parameters[name] + sign * 1e-5 * direction}
            ends.append(loss_of(model, instances, learner.weights())[0])
        assert (gradient * direction).sum() == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-5), name


def test_adadelta_takes_its_steps_with_a_clipped_gradient():
    model = cited_model(2, **GRU_VARIANTS["med"])
    learner, instances = learner_of(model)
    value, gradients = loss_of(model, instances, shares=[1 / len(instances)] * len(instances))
    norm = np.sqrt(sum((gradient ** 2).sum() for gradient in gradients.values()))
    assert norm > CLIP
    assert learner.update(instances) == (pytest.approx(value, rel=1e-5), len(instances))
    for name, after in learner.weights().items():
        gradient = gradients[name] * (CLIP / norm)
        step = np.sqrt(1e-6) / np.sqrt(0.05 * gradient ** 2 + 1e-6) * gradient
        assert after == pytest.approx(model.weights[name] - step, abs=1e-5), name


def test_the_loss_is_a_mean_over_characters_where_that_is_asked_for():
    model = cited_model(2, **GRU_VARIANTS["med"])
    learner, instances = learner_of(model, training=TrainingSettings(mode="mle", mle_loss="mean", aligner="dumb"))
    characters = sum(map(len, outputs_of(model, instances)))
    assert learner.update(instances)[0] == pytest.approx(loss_of(model, instances)[0] / characters, rel=1e-5)


def test_updates_are_the_same_with_and_without_numba():
    model = cited_model(2, **GRU_VARIANTS["lem"])
    learners = [learner_of(model, True, kernels=kernels)[0] for kernels in (None, kernels_numpy)]
    for learner, _ in itertools.product(learners, range(3)):
        learner.update(instances_of(model))
    first, second = (learner.weights() for learner in learners)
    assert all(second[name] == pytest.approx(first[name], abs=1e-5) for name in first)


def test_weights_that_are_no_longer_finite_end_the_training():
    model = cited_model(2, **GRU_VARIANTS["med"])
    model.weights["output.b"][END] = np.nan
    learner, instances = learner_of(model)
    with pytest.raises(InputError, match="training diverged in epoch 0"):
        learner.update(instances)


# From the command line


def command(name, data, folder, *flags, layout="2016"):
    """Later flags win."""
    given = {flag.split("=")[0]: flag for flag in [f"--model={name}", *SMALL, *flags]}
    return ["train", *given.values(), data("train", layout), data("dev", layout), str(folder)]


def trained(name, data, folder, *flags, layout="2016"):
    assert main(command(name, data, folder, *SHORT, *flags, layout=layout)) == 0
    return Run(folder)


def test_the_settings_of_the_presets_are_those_of_the_papers():
    for name in NAMES:
        preset = PRESETS[name]
        assert (preset["input"], preset["action_input"]) == (300, 300)
        assert (preset["enc_hidden"], preset["dec_hidden"], preset["beam_widths"][-1]) == (100, 100, 12)
    med, lem = (PRESETS[name] for name in NAMES)
    assert (med["enc_layers"], med["dec_layers"], med["batch_size"], med["epochs"]) == (1, 1, 20, 20)
    assert "dropout" not in med and not kind_named("med").normalised and not kind_named("med").from_mean
    assert (lem["enc_layers"], lem["dec_layers"], lem["batch_size"], lem["dropout"]) == (2, 2, 60, 0.2)
    assert kind_named("lem").normalised and kind_named("lem").by_length and lem["patience"] == 10


@pytest.mark.parametrize("name", NAMES)
def test_a_run_writes_what_others_write_and_predict_and_load_use_it(name, data, tmp_path, capsys):
    run = trained(name, data, tmp_path / "r", f"--test-path={data('test', '2016')}")
    names = {f"f.{search}.{part}.{kind}" for search in ("greedy", "beam4", "beam12") for part in ("dev", "test")
             for kind in ("predictions", "eval")}
    assert run.files >= {"f.model", "f.log", "f.stats", *names}
    assert run.settings["architecture"] == name and run.stats["engine"] == "native"
    capsys.readouterr()
    assert main(["predict", "--beam-width=12", "--nbest=2", run.model_path, data("test", "2016")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2 * len(TEST)
    assert main(["explain", run.model_path, "walk", "pos=V,tense=PST"]) == 0
    assert " end " in capsys.readouterr().out
    model = il_morph.load(run.folder)
    assert model.predict([("walk", "pos=V,tense=PST")]) and model.score([("walk", "pos=V,tense=PST", "w")])[0].best < 0


@pytest.mark.parametrize("name, epochs", [("med", 70), pytest.param("lem", 120, marks=pytest.mark.slow)])
def test_they_learn_their_samples(name, epochs, data, tmp_path):
    run = trained(name, data, tmp_path / "r", *LARGER, f"--epochs={epochs}", f"--patience={epochs}")
    assert max(float(row["train_accuracy"]) for row in run.log) >= 80
    assert run.losses[-1] < run.losses[0] / 3


@pytest.mark.parametrize("layout", ["", "plain", "columns"])
@pytest.mark.parametrize("name", NAMES)
def test_other_formats(name, layout, data, tmp_path):
    assert len(trained(name, data, tmp_path / "r", "--epochs=1", "--pick-loss", layout=layout).log) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bytes_and_another_one_others(name, data, tmp_path):
    runs = [trained(name, data, tmp_path / str(number), "--dropout=0.2", f"--dynet-seed={seed}")
            for number, seed in enumerate((1, 1, 2))]
    assert runs[0].model_bytes == runs[1].model_bytes != runs[2].model_bytes
    assert runs[0].losses == runs[1].losses != runs[2].losses


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_training_goes_on_to_the_same_model(name, data, tmp_path, monkeypatch):
    flags = ["--dropout=0.2", "--batch-size=4", "--epochs=4"]
    whole, update, numbers = trained(name, data, tmp_path / "whole", *flags), GruLearner.update, itertools.count()

    def interrupted(self, batch):
        if next(numbers) == 7:  # in the third epoch
            raise KeyboardInterrupt
        return update(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(GruLearner, "update", interrupted)
        assert main(command(name, data, tmp_path / "parts", *SHORT, *flags)) != 0
    assert not (tmp_path / "parts" / "f.stats").exists()
    parts = trained(name, data, tmp_path / "parts", *flags)
    assert parts.losses == whole.losses and parts.model_bytes == whole.model_bytes


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_reloaded_and_goes_on(name, data, tmp_path):
    first = trained(name, data, tmp_path / "r")
    (tmp_path / "train").write_text("wälk\tpos=V,tense=FUT\twalks\n", encoding="utf-8")  # unseen, character and feature
    assert main(["train", f"--model={name}", *SMALL, *SHORT, f"--reload-path={first.folder}", str(tmp_path / "train"),
                 data("dev", "2016"), str(tmp_path / "again")]) == 0
    assert [row["epoch"] for row in Run(tmp_path / "again").log] == ["-1", "0", "1"]
    assert load_model(first.model_path).vocabulary.settings == load_model(
        Run(tmp_path / "again").model_path).vocabulary.settings


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_several_seeds_vote_and_average(name, data, tmp_path, capsys):
    flags = ["--epochs=1", "--seeds=1-2", "--jobs=1", f"--test-path={data('test', '2016')}"]
    assert main(command(name, data, tmp_path / "r", *flags)) == 0
    both = [str(tmp_path / "r" / seed) for seed in "12"]
    for combine in ("vote", "average"):
        capsys.readouterr()
        assert main(["predict", f"--combine={combine}", f"--input={data('test', '2016')}", *both]) == 0
        assert len(capsys.readouterr().out.splitlines()) == len(TEST)


@pytest.mark.parametrize("flags, complaint", [
    (["--optimization=ADAM"], "--optimization: --architecture=med is trained with ADADELTA"),
    (["--l2=0.1"], "--l2: --architecture=med"), (["--mode=il"], "--mode=mle alone"),
    (["--engine=dynet"], "leave out --engine"), (["--mlp=3"], "leaves no choice in --mlp"),
    (["--param-tying"], "leaves no choice in --param-tying"), (["--vanilla-lstm"], "--vanilla-lstm"),
    (["--transducer=hard"], "leaves no choice in --transducer"),
])
def test_settings_that_it_does_not_have_are_refused(flags, complaint, data, tmp_path, capsys):
    assert complaint in error_of(capsys, *command("med", data, tmp_path / "r", *flags))
    assert not (tmp_path / "r").exists()


def test_samples_that_are_too_long_are_refused(data, tmp_path, capsys):
    (tmp_path / "train").write_text("a\tb\n" * 30 + f"{'a' * 6000}\t{'b' * 9000}\n", encoding="utf-8")
    flags = ["train", "--model=lem", *SMALL, str(tmp_path / "train"), data("dev", "columns"), str(tmp_path / "r")]
    error = error_of(capsys, *flags)
    assert "a batch of 31 samples with inputs of up to 6,002 and outputs of up to 9,001 symbols" in error
    assert "smaller --batch-size" in error and not (tmp_path / "r").exists()


def test_a_model_of_one_is_not_trained_as_the_other(data, tmp_path, capsys):
    first = trained("med", data, tmp_path / "r")
    error = error_of(capsys, *command("lem", data, tmp_path / "s", f"--reload-path={first.folder}"))
    assert "was trained with med, not lem" in error


@pytest.mark.parametrize("name", NAMES)
def test_a_model_file_that_lacks_a_weight_or_has_one_of_another_shape_is_refused(name, tmp_path):
    model = cited_model(**GRU_VARIANTS[name])
    whole = dict(model.weights)
    model.weights["attention.U"] = whole["attention.U"][:, :-1]
    save_model(tmp_path / "f.model", model)
    with pytest.raises(InputError, match="attention.U has shape"):
        load_model(tmp_path / "f.model")
    del model.weights["attention.U"]
    save_model(tmp_path / "g.model", model)
    with pytest.raises(InputError, match="not a whole il-morph model.*attention.U.npy"):
        load_model(tmp_path / "g.model")


@pytest.mark.slow
@needs_shared
def test_lem_learns_to_lemmatize(tmp_path):
    """Irish, of whose dev lemmas a copy gets none right."""
    train, dev = (str(SHARED / "data" / "lemmatization" / f"irish_0_{part}.txt") for part in ("train", "dev"))
    assert main(["train", "--model=lem", "--epochs=5", "--batch-size=10", "--beam-widths=0", "--dynet-seed=1", train,
                 dev, str(tmp_path / "r")]) == 0
    assert Run(tmp_path / "r").stats["training"]["dev_accuracy"] > 70
