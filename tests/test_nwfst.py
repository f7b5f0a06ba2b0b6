"""NWFST: its lattice against brute force, gradients against finite differences, training from the command line."""
import itertools
import logging

import numpy as np
import pytest
from hypothesis import given, settings, strategies

import il_morph
from il_morph.cited.nwfst import lattice_numpy
from il_morph.cited.nwfst.gradients import all_paths, paths_to
from il_morph.cited.nwfst.inference import (
    GATES,
    KEPT,
    NwfstArchitecture,
    NwfstInference,
    Shape,
    arcs_of,
    copies,
    draw_weight,
    encode,
    for_test,
)
from il_morph.cited.nwfst.lattice import (
    DEL,
    INS,
    LONGER,
    MOST_STATES,
    SUB,
    Arcs,
    Viterbi,
    log_partition,
    number_of_states,
)
from il_morph.cited.nwfst.learner import NwfstLearner
from il_morph.cited.nwfst.network import DropoutMasks, NwfstGradients, NwfstNetwork
from il_morph.commands import main
from il_morph.data.formats import NO_FEATURES, Parts, Sample
from il_morph.engines.native.engine import fastest_kernels
from il_morph.errors import InputError
from il_morph.model.architectures import architecture_of, inference_of, vocabulary_of
from il_morph.model.modelfile import Model, load_model, save_model
from il_morph.model.registry import kind_named
from il_morph.model.search import decode, describe
from il_morph.model.settings import PRESETS, ModelSettings, TrainingSettings
from tests.cli import Run, error_of
from tests.random_models import PLAIN
from tests.shared import SHARED, needs_shared

TINY = Shape(characters=2, embedding=2, hidden=2, layers=2)
SMALL = ["--input=3", "--enc-hidden=4", "--enc-layers=2"]
SHORT = ["--epochs=2", "--trials=1", "--dynet-seed=1"]
LEARNING = ["--epochs=40", "--trials=1", "--dynet-seed=1"]


def random_arcs(length, characters, seed, scale=1.0, words=1):
    random, letters = np.random.RandomState(seed), characters + 1
    sizes = [(words, length + 1, letters, characters)] * 2 + [(words, length + 1, letters)]
    return Arcs(*(scale * random.normal(size=size) for size in sizes))


def all_edits(arcs, word=0):
    """Every path of a lattice, by brute force: its score and its edits."""
    length, characters = arcs.rows - 1, arcs.sub.shape[-1]

    def walk(i, j, p, score, edits):
        if i == length:
            yield score, edits
        else:
            yield from walk(i + 1, j, p, score + arcs.dele[word, i + 1, p], (*edits, (DEL, 0)))
        for y in range(1, characters + 1) if j < length + LONGER else ():
            if i < length:
                yield from walk(i + 1, j + 1, y, score + arcs.sub[word, i + 1, p, y - 1], (*edits, (SUB, y)))
            yield from walk(i, j + 1, y, score + arcs.ins[word, i, p, y - 1], (*edits, (INS, y)))

    return list(walk(0, 0, 0, 0.0, ()))


def by_output(paths):
    scores = {}
    for score, edits in paths:
        scores.setdefault(tuple(y for _, y in edits if y), []).append(score)
    return {output: np.logaddexp.reduce(of_output) for output, of_output in scores.items()}


def log_z_in_log_space(arcs):
    """State by state with logarithms alone."""
    length, letters = arcs.rows - 1, arcs.letters
    sums = np.full((length + 2, length + LONGER + 2, letters), -np.inf)
    for i, j in itertools.product(range(length + 1), range(length + LONGER + 1)):
        into = [sums[i - 1, j] + arcs.dele[0, i]]
        for previous, scores in ((sums[i - 1, j - 1], arcs.sub), (sums[i, j - 1], arcs.ins)):
            into.append(np.append(-np.inf, np.logaddexp.reduce(previous[:, None] + scores[0, i], axis=0)))
        sums[i, j] = np.logaddexp.reduce(into, axis=0)
        if i == j == 0:
            sums[0, 0, 0] = 0.0
    return np.logaddexp.reduce(sums[length, :-1], axis=None)


def kernels():
    """Those of NumPy and, where it is installed, those of Numba."""
    return list(dict.fromkeys([lattice_numpy, fastest_kernels("il_morph.cited.nwfst.lattice")]))


each_kernel = pytest.mark.parametrize("of", kernels(), ids=lambda module: module.NAME)
SIZES = [(0, 2), (1, 1), (1, 3), (2, 2), (3, 1)]


@each_kernel
@pytest.mark.parametrize("length, characters", SIZES)
def test_log_z_is_that_of_all_paths(length, characters, of):
    for seed in range(3):
        arcs = random_arcs(length, characters, seed)
        expected = np.logaddexp.reduce([score for score, _ in all_edits(arcs)])
        assert log_partition(arcs) == pytest.approx([expected])
        assert all_paths(arcs, of)[0] == pytest.approx(expected)


@each_kernel
@pytest.mark.parametrize("length, characters", SIZES)
def test_log_z_of_each_output_is_that_of_its_paths_and_their_probabilities_sum_to_one(length, characters, of):
    arcs = random_arcs(length, characters, seed=4)
    expected = by_output(all_edits(arcs))
    found = {output: paths_to(arcs, np.array(output, dtype=np.int64), of)[0] for output in expected}
    assert found == pytest.approx(expected)
    assert sum(np.exp(log_z - log_partition(arcs)[0]) for log_z in found.values()) == pytest.approx(1)


@each_kernel
def test_expected_counts_are_those_of_all_paths(of):
    arcs = random_arcs(2, 2, seed=5)
    paths = all_edits(arcs)
    log_z, counts = all_paths(arcs, of)
    expected = Arcs(*map(np.zeros_like, (arcs.sub, arcs.ins, arcs.dele)))
    for score, edits in paths:
        i, p = 0, 0
        for edit, y in edits:
            i += edit != INS
            cell = (0, i, p) if edit == DEL else (0, i, p, y - 1)
            {SUB: expected.sub, INS: expected.ins, DEL: expected.dele}[edit][cell] += np.exp(score - log_z)
            p = y or p
    for name in ("sub", "ins", "dele"):
        assert getattr(counts, name) == pytest.approx(getattr(expected, name)), name


@pytest.mark.parametrize("length, characters", SIZES)
def test_viterbi_finds_the_best_of_all_paths(length, characters):
    for seed in range(5):
        arcs = random_arcs(length, characters, seed)
        score, edits = max(all_edits(arcs))
        viterbi = Viterbi(arcs)
        assert viterbi.scores == pytest.approx([score])
        assert viterbi.path(0) == list(edits)


def test_words_of_a_batch_do_not_influence_each_other():
    arcs = random_arcs(3, 2, seed=6, words=4)
    single = [Arcs(arcs.sub[n:n + 1], arcs.ins[n:n + 1], arcs.dele[n:n + 1]) for n in range(4)]
    assert log_partition(arcs) == pytest.approx([log_partition(one)[0] for one in single])
    assert [Viterbi(arcs).path(n) for n in range(4)] == [Viterbi(one).path(0) for one in single]


@each_kernel
@settings(deadline=None, max_examples=25)
@given(length=strategies.integers(0, 6), characters=strategies.integers(1, 3), seed=strategies.integers(0, 10**6),
       scale=strategies.sampled_from([0.1, 1.0, 10.0, 60.0]))
def test_log_z_is_exact_however_large_the_scores(of, length, characters, seed, scale):
    arcs = random_arcs(length, characters, seed, scale)
    expected = log_z_in_log_space(arcs)
    assert log_partition(arcs) == pytest.approx([expected], rel=1e-10, abs=1e-10)
    log_z, counts = all_paths(arcs, of)
    assert log_z == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert counts.sub.sum() + counts.dele.sum() == pytest.approx(length)  # each character is read once
    assert Viterbi(arcs).scores[0] <= expected + 1e-9


@each_kernel
def test_words_of_a_hundred_characters_are_safe(of):
    for scale in (1.0, 30.0):
        arcs, output = random_arcs(100, 2, seed=7, scale=scale), np.random.RandomState(1).randint(1, 3, 103)
        log_z, counts = all_paths(arcs, of)
        assert log_z == pytest.approx(log_z_in_log_space(arcs), rel=1e-12)
        assert counts.sub.sum() + counts.dele.sum() == pytest.approx(100)
        log_z_of_output, wanted = paths_to(arcs, output, of)
        assert log_z_of_output < log_z
        assert wanted.sub.sum() + wanted.ins.sum() == pytest.approx(103)  # each character is written once


def random_weights(shape, seed=1, dtype=np.float64):
    """As they are drawn, but with larger embeddings and with biases, so that everything has a gradient to speak of."""
    random = np.random.RandomState(seed)
    weights = {name: draw_weight(name, size, random).astype(dtype) for name, size in shape.weights().items()}
    weights["embeddings"] *= 100
    for name in weights:
        if name.endswith(".b"):
            weights[name] += random.normal(size=weights[name].shape).astype(dtype)
    return weights


def random_masks(shape, length, seed=2, dtype=np.float64):
    return DropoutMasks.draw(shape, length + 1, np.random.RandomState(seed), dtype)


def multiplied_out(gradients):
    return {**gradients.dense, "arcs": gradients.read.T @ gradients.scores}


WORD, OUTPUT = np.array([1, 2, 2]), np.array([2, 2, 1, 1])


@each_kernel
def test_gradients_of_all_parameters_are_those_of_finite_differences(of):
    weights, masks = random_weights(TINY), random_masks(TINY, len(WORD))
    network = NwfstNetwork(TINY, weights, of)
    gradients = multiplied_out(network.loss(WORD, OUTPUT, masks)[1])
    assert set(gradients) == set(weights)
    for name, array in weights.items():
        numeric, flat = np.empty(array.size), array.reshape(-1)
        for place in range(array.size):
            kept, losses = flat[place], []
            for step in (1e-5, -1e-5):
                flat[place] = kept + step
                losses.append(network.loss(WORD, OUTPUT, masks)[0])
            flat[place] = kept
            numeric[place] = (losses[0] - losses[1]) / 2e-5
        assert gradients[name].reshape(-1) == pytest.approx(numeric, rel=1e-5, abs=1e-8), name
        assert np.abs(numeric).max() > 1e-4, name


def test_the_loss_is_minus_the_log_probability_of_the_output():
    weights = random_weights(TINY)
    everything = DropoutMasks(np.ones((4, TINY.width(0))), [np.ones((4, TINY.width(layer)))
                                                            for layer in range(TINY.layers)])
    network = NwfstNetwork(TINY, weights, lattice_numpy)
    gamma, _ = network.forward(WORD, everything)
    arcs = arcs_of(gamma[None], weights["arcs"], weights["copy"][0], WORD[None], TINY.characters)
    shorter = Arcs(arcs.sub[:, :3], arcs.ins[:, :3], arcs.dele[:, :3])  # of its first two characters
    scores = by_output(all_edits(shorter))
    assert paths_to(shorter, OUTPUT[:3], lattice_numpy)[0] == pytest.approx(scores[tuple(OUTPUT[:3])])
    log_z, log_z_of_output = all_paths(arcs, lattice_numpy)[0], paths_to(arcs, OUTPUT, lattice_numpy)[0]
    assert network.loss(WORD, OUTPUT, everything)[0] == pytest.approx(log_z - log_z_of_output)


def test_copies_share_one_score():
    weights = random_weights(TINY)
    gamma = encode(weights, TINY, WORD[None])
    arcs = arcs_of(gamma, weights["arcs"], 12.5, WORD[None], TINY.characters)
    assert [arcs.sub[0, i + 1, previous, x - 1] for i, (previous, x) in enumerate(zip([0, 1, 2], WORD))] == [12.5] * 3
    assert (arcs.sub == 12.5).sum() == 3
    others = np.ones(arcs.sub.shape, dtype=bool)
    others[copies(WORD[None])] = False
    plain = gamma @ weights["arcs"]
    assert arcs.sub[others] == pytest.approx(plain[..., :6].reshape(arcs.sub.shape)[others])
    assert arcs.ins == pytest.approx(plain[..., 6:12].reshape(arcs.ins.shape))
    assert arcs.dele == pytest.approx(plain[..., 12:])


def test_training_without_dropout_computes_what_inference_does():
    weights = random_weights(TINY)
    everything = DropoutMasks(np.ones((4, TINY.width(0))), [np.ones((4, TINY.width(layer)))
                                                            for layer in range(TINY.layers)])
    gamma = encode(weights, TINY, WORD[None])[0]
    for of in kernels():
        assert NwfstNetwork(TINY, weights, of).forward(WORD, everything)[0] == pytest.approx(gamma)


@pytest.mark.skipif(len(kernels()) == 1, reason="Numba is not installed")
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-9), (np.float32, 2e-3)])
def test_numpy_and_numba_train_alike(dtype, tolerance):
    shape, random = Shape(characters=5, embedding=3, hidden=4, layers=3), np.random.RandomState(3)
    networks = [NwfstNetwork(shape, random_weights(shape, dtype=dtype), of) for of in kernels()]
    for step in range(30):
        word = random.randint(1, 6, random.randint(1, 9))
        output = random.randint(1, 6, len(word) + random.randint(0, 3))
        masks = random_masks(shape, len(word), step, dtype)
        losses = []
        for network in networks:
            loss, gradients = network.loss(word, output, masks)
            network.update(gradients, 0.4)
            losses.append(loss)
        assert losses[0] == pytest.approx(losses[1], rel=tolerance)
    for name, array in networks[0].weights.items():
        assert array == pytest.approx(networks[1].weights[name], rel=tolerance, abs=tolerance), name


def gradients_of(shape, value):
    dense = {name: np.full(size, value) for name, size in shape.weights().items() if name != "arcs"}
    rows, columns = shape.weights()["arcs"]
    return NwfstGradients(dense, np.full((3, rows), value), np.full((3, columns), value))


@each_kernel
def test_gradients_are_clipped_together_but_not_biases_and_the_copy_score(of):
    for value in (1e-3, 0.5):
        network, gradients = NwfstNetwork(TINY, random_weights(TINY), of), gradients_of(TINY, value)
        before = {name: array.copy() for name, array in network.weights.items()}
        norm = np.linalg.norm([np.linalg.norm(array) for name, array in multiplied_out(gradients).items()
                               if name != "copy" and not name.endswith(".b")])
        assert gradients.norm() == pytest.approx(norm)
        network.update(gradients, 0.01)
        factor = 0.01 * min(1, 10 / norm)
        for name, gradient in multiplied_out(gradients).items():
            rate = 0.01 if name.endswith(".b") or name == "copy" else factor
            assert network.weights[name] == pytest.approx(before[name] - rate * gradient), name
    assert norm > 10


@each_kernel
def test_after_an_update_no_unit_and_no_embedding_is_longer_than_seven(of):
    network = NwfstNetwork(TINY, random_weights(TINY), of)
    for name, array in network.weights.items():
        array *= 20 if name != "copy" and not name.endswith(".b") else 1
    shorter = network.weights["arcs"][:, 3] = 0.1
    biases = network.weights["encoder.0.b"].copy()
    network.update(gradients_of(TINY, 0.0), 0.4)
    assert np.linalg.norm(network.weights["embeddings"], axis=1).max() == pytest.approx(7)
    for name in ("arcs", "encoder.0.x", "encoder.1.x", "encoder.0.h", "encoder.1.h"):
        norms = np.linalg.norm(network.weights[name], axis=-2)
        assert norms.max() == pytest.approx(7), name
    assert (network.weights["arcs"][:, 3] == shorter).all()
    assert (network.weights["encoder.0.b"] == biases).all()


def nwfst_settings(**sizes):
    return ModelSettings(**{"format": NO_FEATURES.name, "architecture": "nwfst", **kind_named("nwfst").fixed,
                            "input": 3, "enc_hidden": 4, "enc_layers": 2, **sizes})


def vocabulary(samples=PLAIN, **sizes):
    return vocabulary_of(nwfst_settings(**sizes), Parts(NO_FEATURES, samples, samples[:1], None))


def model(seed=1, samples=PLAIN, **sizes):
    symbols = vocabulary(samples, **sizes)
    return Model(symbols, architecture_of(symbols).draw(seed))


def inference(of):
    found = inference_of(of.weights, of.vocabulary)
    assert isinstance(found, NwfstInference)
    return found


def test_sizes_and_initial_values_are_those_of_the_original():
    sizes = {name: PRESETS["nwfst"][name] for name in ("input", "enc_hidden", "enc_layers")}
    symbols = vocabulary([Sample("abc", "", "abd")], **sizes)
    assert Shape.of(symbols).symbols == 28
    assert [Shape.of(symbols).width(layer) for layer in range(5)] == [30, 60, 90, 120, 150]
    weights = architecture_of(symbols).draw(1)
    assert {name: array.shape for name, array in weights.items()} == architecture_of(symbols).shapes
    assert weights["embeddings"].min() >= 0 and 0.0099 < weights["embeddings"].max() <= 0.01
    assert -1 <= weights["arcs"].min() < -0.99 and -0.01 < weights["arcs"].max() <= 0
    assert weights["copy"] == [3] and not weights["encoder.3.b"].any()
    assert -1 <= weights["encoder.2.x"].min() < -0.99 and 0.99 < weights["encoder.2.x"].max() <= 1
    for gate in np.split(weights["encoder.1.h"][1], GATES, axis=1):
        assert gate @ gate.T == pytest.approx(np.eye(15), abs=1e-5)
    other = architecture_of(symbols).draw(2)
    assert all((weights[name] != other[name]).any() for name in weights if name != "copy" and not name.endswith(".b"))


def test_the_model_knows_the_characters_of_all_its_data_and_a_to_z():
    parts = Parts(NO_FEATURES, [Sample("ä", "", "b")], [Sample("ö", "", "ü")], [Sample("ß", "", None)])
    known = vocabulary_of(nwfst_settings(), parts)
    assert set("äöüß" + "abcdefghijklmnopqrstuvwxyz") == set(known.letters)


def test_dropout_keeps_four_fifths_and_inference_scales_what_was_dropped():
    masks = random_masks(Shape(20), 500)
    for mask in (masks.embeddings, *masks.layers):
        assert set(np.unique(mask)) == {0, 1} and mask.mean() == pytest.approx(KEPT, abs=0.02)
    weights = random_weights(TINY)
    scaled = for_test(weights)
    for name, array in weights.items():
        factor = KEPT if name == "embeddings" or name.endswith(".x") else 1
        assert scaled[name] == pytest.approx(factor * array), name


def test_the_rate_shrinks_after_two_increases_of_the_loss_in_a_row():
    learner = NwfstLearner(vocabulary(), np.random.RandomState(1))
    rates = []
    for epoch, loss in enumerate([5, 4, 4.5, 4.2, 4.3, 4.4, 4.5, 4.0, 4.0]):
        learner.begin_epoch(epoch)
        rates.append(learner.rate)
        learner.losses[-1] = loss
    assert rates == pytest.approx([0.4] * 6 + [0.36, 0.324, 0.324])


def test_a_learner_learns_its_sample():
    symbols = vocabulary()
    learner = NwfstLearner(symbols, np.random.RandomState(1))
    learner.set_weights(architecture_of(symbols).draw(1))
    learner.begin_epoch(0)
    losses = [learner.update([symbols.instance(PLAIN[0])])[0] for _ in range(30)]
    assert losses[-1] < 0.1 * losses[0]
    assert learner.losses == [pytest.approx(sum(losses))]
    found = decode(inference(Model(symbols, learner.weights())), [symbols.instance(PLAIN[0])])
    assert found[0][0].output == PLAIN[0].output


def test_a_hypothesis_has_the_log_probability_of_its_path_and_edits_that_make_its_output():
    of = model()
    instances = [of.vocabulary.instance(Sample(x, "", None)) for x in ("walk", "a", "", "sings", "äb", "yßx", "walk")]
    hypotheses = decode(inference(of), instances, 4)
    assert [len(found) for found in hypotheses] == [1] * len(instances)
    for instance, (found,) in zip(instances, hypotheses):
        assert found.log_probability < 0
        edits = describe(found.actions, instance, of.vocabulary).split()
        assert "".join(edit.lstrip("+") for edit in edits if not edit.startswith("-")) == found.output
        assert "".join(edit.lstrip("-") for edit in edits if not edit.startswith("+")) == instance.sample.input
    assert hypotheses[0][0] == hypotheses[-1][0]


def test_outputs_are_enumerated_with_probabilities_that_sum_to_one():
    of = model(samples=[Sample("ab", "", "b")])
    arcs = inference(of).arcs(np.array([[1, 2]]))
    few = Arcs(arcs.sub[..., :3, :2], arcs.ins[..., :3, :2], arcs.dele[..., :3])  # of the characters a and b
    outputs = by_output(all_edits(few))
    assert sum(np.exp(log_z - log_partition(few)[0]) for log_z in outputs.values()) == pytest.approx(1)


def test_an_unknown_character_is_copied_where_the_copy_is_dear():
    of = model()
    of.weights["copy"][:] = 50
    instance = of.vocabulary.instance(Sample("gжß", "", None))
    assert decode(inference(of), [instance])[0][0].output == "gжß"
    arcs = inference(of).arcs(np.array([[1, Shape.of(of.vocabulary).characters + 1]]))
    assert np.isinf(arcs.ins[..., -1]).all() and np.isinf(arcs.sub[0, 1, :, -1]).all()
    assert np.isfinite(arcs.sub[0, 2, :, -1]).all()


def test_a_model_file_comes_back_as_it_was_and_a_wrong_shape_is_refused(tmp_path):
    of = model()
    save_model(tmp_path / "f.model", of)
    back = load_model(tmp_path / "f.model")
    assert back.vocabulary.settings.architecture == "nwfst" and back.vocabulary.as_dict() == of.vocabulary.as_dict()
    assert all((back.weights[name] == array).all() for name, array in of.weights.items())
    of.weights["arcs"] = of.weights["arcs"][:, :-1]
    save_model(tmp_path / "f.model", of)
    with pytest.raises(InputError, match="arcs has shape"):
        load_model(tmp_path / "f.model")


def test_it_has_no_probabilities_of_steps():
    of = inference(model())
    for ask in (lambda: of.encode([]), of.initial_states, lambda: of.log_probabilities(None, None),
                lambda: of.step(None, np.zeros(1), np.zeros(1), np.zeros(1), None)):
        with pytest.raises(InputError, match="no probabilities of single steps"):
            ask()


def test_an_input_that_is_too_long_is_refused():
    of = model()
    letters = Shape.of(of.vocabulary).letters
    length = next(n for n in itertools.count(step=10) if number_of_states(n, letters) > MOST_STATES)
    with pytest.raises(InputError, match=f"{length:,} characters.*shorten the input"):
        decode(inference(of), [of.vocabulary.instance(Sample("a" * length, "", None))])


def nwfst(data, folder, *flags, layout="columns"):
    """Train in this process."""
    sizes = [] if any(flag.startswith("--model=") for flag in flags) else ["--model=nwfst"]
    return ["train", *sizes, *SMALL, *flags, data("train", layout), data("dev", layout), str(folder)]


def test_a_training_run_writes_what_others_write_and_predict_and_load_use_it(data, tmp_path, capsys):
    assert main(nwfst(data, tmp_path / "r", *LEARNING, f"--test-path={data('test', 'columns')}")) == 0
    run = Run(tmp_path / "r")
    names = {f"f.greedy.{part}.{kind}" for part in ("dev", "test") for kind in ("predictions", "eval")}
    assert run.files >= {"f.model", "f.log", "f.stats", *names} and not any("beam" in name for name in run.files)
    assert run.settings["architecture"] == "nwfst" and run.stats["engine"] == "native"
    assert run.losses[-1] < 0.3 * run.losses[0]
    assert float(run.log[-1]["train_accuracy"]) == 70  # without features three inputs have two outputs
    capsys.readouterr()
    assert main(["predict", "--actions", run.model_path, data("test", "columns")]) == 0
    predicted = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [[text, "", output] for text, output, _ in predicted] == run.predictions("greedy.test")
    assert il_morph.load(run.folder).predict(["talk", "dog", "bee"]) == [columns[-2] for columns in predicted]


def test_the_best_path_is_the_same_at_any_width(data, tmp_path):
    assert main(nwfst(data, tmp_path / "r", *SHORT, "--beam-widths=4", "--beam-width=7")) == 0
    run = Run(tmp_path / "r")
    assert run.text("f.greedy.dev.predictions") == run.text("f.beam4.dev.predictions")


def test_models_vote_but_have_no_average(data, tmp_path, capsys):
    for seed in (1, 2):
        save_model(tmp_path / f"{seed}.model", model(seed))
    both = [str(tmp_path / "1.model"), str(tmp_path / "2.model")]
    assert main(["predict", f"--input={data('test', 'columns')}", *both]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    error = error_of(capsys, "predict", "--combine=average", f"--input={data('test', 'columns')}", *both)
    assert "--architecture=nwfst weighs whole paths" in error


def test_dynet_does_not_train_it(data, tmp_path, capsys):
    assert "leave out --engine" in error_of(capsys, *nwfst(data, tmp_path / "r", *SHORT, "--engine=dynet"))
    assert main(nwfst(data, tmp_path / "r", *SHORT, "--engine=native")) == 0


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(data, tmp_path):
    runs = []
    for number, seed in enumerate((1, 1, 2)):
        assert main(nwfst(data, tmp_path / str(number), "--epochs=2", "--trials=1", f"--dynet-seed={seed}")) == 0
        runs.append(Run(tmp_path / str(number)))
    assert runs[0].model_bytes == runs[1].model_bytes != runs[2].model_bytes
    assert runs[0].losses == runs[1].losses != runs[2].losses


def test_of_several_trials_the_best_is_kept(data, tmp_path):
    assert main(nwfst(data, tmp_path / "r", "--epochs=3", "--trials=3", "--dynet-seed=1")) == 0
    run = Run(tmp_path / "r")
    assert [row["phase"] for row in run.log] == [f"mle.{trial}" for trial in (1, 2, 3) for _ in range(3)]
    best = max(float(row["dev_accuracy"]) for row in run.log)
    assert run.stats["training"]["dev_accuracy"] == best and run.stats["training"]["epochs"] == 9
    assert run.stats["scores"]["greedy.dev"]["accuracy"] == pytest.approx(best)
    assert len({row["loss"] for row in run.log}) == 9


def test_an_interrupted_trial_goes_on_to_the_same_model(data, tmp_path, monkeypatch):
    flags = ["--epochs=3", "--trials=2", "--dynet-seed=1"]
    assert main(nwfst(data, tmp_path / "whole", *flags)) == 0
    whole, update, numbers = Run(tmp_path / "whole"), NwfstLearner.update, itertools.count()

    def interrupted(self, batch):
        if next(numbers) == 45:  # in the second epoch of the second trial
            raise KeyboardInterrupt
        return update(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(NwfstLearner, "update", interrupted)
        assert main(nwfst(data, tmp_path / "parts", *flags)) != 0
    assert not (tmp_path / "parts" / "f.stats").exists()
    assert main(nwfst(data, tmp_path / "parts", *flags)) == 0
    parts = Run(tmp_path / "parts")
    assert parts.losses == whole.losses and parts.model_bytes == whole.model_bytes
    assert parts.stats["training"]["epochs"] == whole.stats["training"]["epochs"] == 6


def test_an_interrupted_training_does_not_go_on_with_other_characters(data, tmp_path, monkeypatch, capsys):
    """Those of the test data are characters of the model too."""
    for name, characters in {"first": "é", "other": "ä"}.items():
        (tmp_path / name).write_text(f"{characters}\t{characters}\n", encoding="utf-8")

    def flags(name):
        return ["--epochs=2", "--trials=1", "--dynet-seed=1", f"--test-path={tmp_path / name}"]

    def interrupted(self, batch):
        if self.epoch == 1:
            raise KeyboardInterrupt
        return 1.0, 1

    with monkeypatch.context() as patch:
        patch.setattr(NwfstLearner, "update", interrupted)
        assert main(nwfst(data, tmp_path / "r", *flags("first"))) != 0
    error = error_of(capsys, *nwfst(data, tmp_path / "r", *flags("other")))
    assert "holds an unfinished run of another kind (data: " in error
    assert main(nwfst(data, tmp_path / "r", *flags("first"))) == 0


def test_trials_start_from_weights_of_their_own_whatever_the_seed(data, tmp_path, monkeypatch):
    starts, draw = [], NwfstArchitecture.draw

    def drawn(self, seed):
        starts.append(seed)
        return draw(self, seed)

    monkeypatch.setattr(NwfstArchitecture, "draw", drawn)
    for seed in (1, 2, 3):
        assert main(nwfst(data, tmp_path / str(seed), "--epochs=1", "--trials=3", f"--dynet-seed={seed}")) == 0
    assert len(set(starts)) == 9 and starts[::3] == [1, 2, 3]


def test_a_reloaded_model_leaves_out_inputs_that_it_cannot_read(data, tmp_path, caplog):
    assert main(nwfst(data, tmp_path / "r", *SHORT)) == 0
    (tmp_path / "train").write_text("walЖ\twalked\nwalk\twalked\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert main(["train", "--model=nwfst", *SMALL, *SHORT, f"--reload-path={tmp_path / 'r'}",
                     str(tmp_path / "train"), data("dev", "columns"), str(tmp_path / "s")]) == 0
    assert "train: 1 of 2 samples have characters that the reloaded model does not know" in caplog.text


def test_an_alphabet_that_is_too_large_is_refused(data, tmp_path, capsys):
    """T grows with the square of it."""
    (tmp_path / "train").write_text("".join(f"{chr(0xAC00 + i)}\ta\n" for i in range(2000)), encoding="utf-8")
    error = error_of(capsys, "train", "--model=nwfst", *SHORT, str(tmp_path / "train"), data("dev", "columns"),
                     str(tmp_path / "r"))
    assert "different characters" in error and "train another model" in error
    assert not (tmp_path / "r").exists()


def test_training_goes_on_from_a_trained_model(data, tmp_path):
    assert main(nwfst(data, tmp_path / "r", *SHORT)) == 0
    assert main(["train", "--model=nwfst", *SMALL, *SHORT, f"--reload-path={tmp_path / 'r'}", data("train", "columns"),
                 data("dev", "columns"), str(tmp_path / "s")]) == 0
    assert [row["epoch"] for row in Run(tmp_path / "s").log] == ["-1", "0", "1"]


def test_outputs_that_the_lattice_does_not_have_are_left_out(data, tmp_path, caplog, capsys):
    (tmp_path / "train").write_text("ab\tabcdef\nab\tabcde\nba\tba\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert main(["train", "--model=nwfst", *SMALL, *SHORT, str(tmp_path / "train"), data("dev", "columns"),
                     str(tmp_path / "r")]) == 0
    assert "1 of 3 outputs are more than 3 characters longer" in caplog.text + capsys.readouterr().err
    (tmp_path / "train").write_text("ab\tabcdef\n", encoding="utf-8")
    error = error_of(capsys, "train", "--model=nwfst", *SHORT, str(tmp_path / "train"), data("dev", "columns"),
                     str(tmp_path / "s"))
    assert "all training outputs are more than 3 characters longer" in error
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("flags, complaint", [
    (["--optimization=ADAM"], "--optimization"), (["--batch-size=2"], "--batch-size"), (["--dropout=0.1"], "--dropout"),
    (["--l2=0.1"], "--l2"), (["--pick-loss"], "--pick-loss"), (["--mle-loss=mean"], "--mle-loss"),
    (["--mode=il"], "--mode=mle alone"), (["--dec-hidden=3"], "--dec-hidden"), (["--mlp=3"], "--mlp"),
    (["--transducer=hard"], "--transducer"), (["--pretrain-epochs=1"], "--trials"),
])
def test_settings_that_it_does_not_have_are_refused(flags, complaint, data, tmp_path, capsys):
    assert complaint in error_of(capsys, *nwfst(data, tmp_path / "r", *flags))
    assert not (tmp_path / "r").exists()


def test_features_are_refused(data, tmp_path, capsys):
    assert "reads no features" in error_of(capsys, *nwfst(data, tmp_path / "r", "--sigm2017format", layout=""))
    assert "reads no features" in error_of(capsys, *nwfst(data, tmp_path / "r", layout="")).splitlines()[-1]


def test_more_than_one_hypothesis_is_refused(data, tmp_path, capsys):
    save_model(tmp_path / "f.model", model())
    assert main(["predict", "--nbest=1", str(tmp_path / "f.model"), data("test", "columns")]) == 0
    error = error_of(capsys, "predict", "--nbest=2", str(tmp_path / "f.model"), data("test", "columns"))
    assert "finds one output for each input" in error


def test_trials_of_other_models_keep_the_best_too(train):
    run = train("--trials=2", "--mode=mle", "--epochs=2")
    assert [row["phase"] for row in run.log] == ["mle.1", "mle.1", "mle.2", "mle.2"]
    assert run.stats["training"]["dev_accuracy"] == max(float(row["dev_accuracy"]) for row in run.log)
    assert len({row["loss"] for row in run.log}) == 4


def test_samples_in_order_of_length(train, monkeypatch):
    from il_morph.training.loop import TrainingLoop

    orders, order_of = [], TrainingLoop._order

    def order(self, epoch):
        orders.append([len(instance.sample.input) for instance in order_of(self, epoch)])
        return order_of(self, epoch)

    monkeypatch.setattr(TrainingLoop, "_order", order)
    train("--sample-order=length", "--epochs=2")
    assert orders[0] == orders[1] == sorted(orders[0])
    assert TrainingSettings().sample_order == "shuffled"


@pytest.mark.slow
@needs_shared
def test_it_learns_inflection(tmp_path):
    """Two epochs on the first fold of 13SIA-13SKE, half of whose words a copy with another ending gets right."""
    fold = SHARED / "data" / "celex" / "13SIA-13SKE" / "0500" / "0"
    lines = (fold / "dev").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "dev").write_text("".join(lines[:200]), encoding="utf-8")
    assert main(["train", "--model=nwfst", "--trials=1", "--epochs=2", "--beam-widths=0", "--dynet-seed=1",
                 str(fold / "train"), str(tmp_path / "dev"), str(tmp_path / "r")]) == 0
    assert Run(tmp_path / "r").stats["training"]["dev_accuracy"] > 65
