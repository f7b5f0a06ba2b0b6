"""The native engine as a whole: what it refuses, how it ends, what its results do not depend on."""
from __future__ import annotations

import logging
import os
import subprocess
import sys
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from il_morph.engines.native import engine as engine_module
from il_morph.engines.native import kernels_numpy
from il_morph.engines.native.aligned_memory import Scratch, side_by_side
from il_morph.engines.native.batch import Batch
from il_morph.engines.native.engine import NativeEngine
from il_morph.engines.native.packing import BatchPacking
from il_morph.errors import InputError
from il_morph.model import threads
from il_morph.model.architecture import Architecture
from il_morph.model.settings import TrainingSettings
from il_morph.training.engine import Step, StepRows
from il_morph.training.phases import make_objective
from tests.native_plans import Planned, positions_of, random_path
from tests.random_models import SETTINGS, instances_of, random_model, small_settings
from tests.test_native_gradients import native, samples_of
from tests.test_native_updates import KERNELS, learner_of
from tests.tiny import PROJECT


@pytest.mark.parametrize("asked, flag", [
    ({"dec_layers": 2}, "--dec-layers"), ({"mlp": 4}, "--mlp")])
def test_a_larger_network_is_refused_by_its_flag(asked, flag):
    with pytest.raises(InputError, match=f"leave out {flag}, or train with --engine=dynet"):
        NativeEngine().refuse(small_settings(**asked), TrainingSettings())


def test_what_the_paper_trains_is_not_refused():
    for mode in ("il", "mle", "mrt", "rl"):
        training = TrainingSettings(mode=mode, batch_size=5, l2=0.1, dropout=0.1, pretrain_dropout=0.1)
        assert NativeEngine().refuse(small_settings(enc_layers=2), training) is None


def test_the_log_says_which_kernels_are_used(caplog):
    model = random_model()
    with caplog.at_level(logging.INFO):
        NativeEngine(kernels_numpy).start(model.vocabulary, TrainingSettings(), [], 1)
    assert "kernels of NumPy" in caplog.text


def test_without_numba_numpy_does_the_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "il_morph.engines.native.kernels_numba", None)
    assert engine_module.fastest_kernels() is kernels_numpy


def test_where_nothing_can_be_written_compiled_kernels_are_kept_in_a_temporary_folder(tmp_path):
    pytest.importorskip("numba")
    script = ("from numba.core import caching\n"
              "caching.CacheImpl._locator_classes = caching.CacheImpl._locator_classes[:1]  # NUMBA_CACHE_DIR alone\n"
              "from il_morph.engines.native.engine import fastest_kernels\n"
              "print(fastest_kernels().NAME)\n"
              "import os, tempfile\n"
              "print(*os.listdir(tempfile.gettempdir()))\n")
    process = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, text=True, capture_output=True,
                             env={**os.environ, "TMPDIR": str(tmp_path)})
    name, kept = process.stdout.splitlines()
    assert name == "Numba" and kept.startswith("il-morph-numba-"), process.stderr
    assert not list(tmp_path.iterdir()), "the folder goes with the process"


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("name", ["output.W", "decoder.0.h2i", "encoder_forward.0.c2o", "characters"])
def test_a_training_that_diverged_says_so(kernels, name):
    model = random_model()
    weights = {**model.weights, name: np.full_like(model.weights[name], np.nan)}
    learner = learner_of(model, "nll", TrainingSettings(), KERNELS[kernels]())
    learner.set_weights(weights)
    learner.begin_epoch(7)
    with pytest.raises(InputError, match="training diverged in epoch 7"):
        learner.update(samples_of(model)[:1])


@pytest.mark.parametrize("settings", ["coupled", "vanilla", "untied", "hard", "close"])
def test_named_weights_come_back_as_they_went_in(settings):
    model = random_model(**SETTINGS[settings])
    weights = native(model).weights()
    assert set(weights) == set(model.weights)
    assert all(np.array_equal(weights[name], model.weights[name]) for name in weights)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("settings", ["coupled", "vanilla"])
def test_rows_score_as_states_do(kernels, settings):
    """Paths that part, some of which end early: all rows together, and each path on its own."""
    model = random_model(**SETTINGS[settings])
    instance, vocabulary = instances_of(model)[0], model.vocabulary
    paths = [random_path(vocabulary, instance, Random(seed)) for seed in range(6)]
    network = native(model, KERNELS[kernels]())
    expected = [scores_along(network, instance, path) for path in paths]
    batch = Batch(network, [instance])
    found = [[] for _ in paths]

    def visit(decoder):
        actions, positions = [vocabulary.system.initial_action] * len(paths), [instance.start] * len(paths)
        with decoder.initial_rows(len(paths)) as rows:
            for step in range(max(map(len, paths))):
                rows = yield StepRows(rows, actions, positions)
                for row, path in enumerate(paths):
                    if step < len(path):
                        found[row].append(decoder.rows_scores(rows)[row])
                        actions[row] = path[step]
                        positions[row] = vocabulary.table.advance(positions[row], path[step])
        return 0

    batch.serve([visit(decoder) for decoder in batch.decoders])
    for row, path in enumerate(paths):
        np.testing.assert_allclose(found[row], expected[row], atol=1e-6)


def scores_along(network, instance, path):
    """The scores before each action of a path."""
    scores = []

    def visit(decoder):
        state, previous = decoder.initial_state(), network.vocabulary.system.initial_action
        for action, position in zip(path, positions_of(network.vocabulary, instance, path)):
            state = yield Step(state, previous, position)
            scores.append(np.array(decoder.scores(state)))
            previous = action
        return 0

    batch = Batch(network, [instance])
    batch.serve([visit(decoder) for decoder in batch.decoders])
    return scores


def test_a_batch_without_anything_to_learn_changes_nothing():
    model = random_model()
    learner = learner_of(model, "nll", TrainingSettings(), kernels_numpy)

    class Nothing(Planned):
        def visit(self, decoder):
            yield from super().visit(decoder)
            return 0

    learner.objective = Nothing("nll", model.vocabulary)
    assert learner.update(samples_of(model)) == (0.0, 0)
    assert all(np.array_equal(weight, model.weights[name]) for name, weight in learner.weights().items())


def test_samples_without_a_loss_are_not_counted():
    model = random_model()
    learner = learner_of(model, "nll", TrainingSettings(), kernels_numpy)
    instances = samples_of(model)
    alone = learner_of(model, "nll", TrainingSettings(), kernels_numpy).update(instances[:1])[0]

    class OnlyFirst(Planned):
        def visit(self, decoder):
            count = yield from super().visit(decoder)
            return count if decoder.instance == instances[0] else 0

    learner.objective = OnlyFirst("nll", model.vocabulary)
    loss, count = learner.update(instances)
    assert count == 1
    assert loss == pytest.approx(alone, rel=1e-6)


def test_rows_that_are_only_looked_up_are_updated_with_a_zero_gradient():
    """ADADELTA forgets a little of what it knows of them; the weights stay."""
    model = random_model()
    learner = learner_of(model, "nll", TrainingSettings(), kernels_numpy)
    instance = samples_of(model)[0]
    for other in samples_of(model)[1:]:
        learner.update([other])
    before, weights = learner.state()["0.characters"], learner.weights()["characters"]
    row = next(r for r in range(5, len(before)) if before[r].any() and r not in instance.buffer
               and r not in learner.objective.plan(instance).actions)

    class LookingUp(Planned):
        def visit(self, decoder):
            decoder.touch_rows([row])
            return (yield from super().visit(decoder))

    learner.objective = LookingUp("nll", model.vocabulary)
    learner.update([instance])
    np.testing.assert_allclose(learner.state()["0.characters"][row], 0.95 * before[row], rtol=1e-6)
    assert np.array_equal(learner.weights()["characters"][row], weights[row])


@pytest.mark.parametrize("mode", ["il", "mle", "rl"])
@pytest.mark.parametrize("kernels", KERNELS)
def test_real_objectives_run_in_batches(kernels, mode):
    model = random_model(scale=0.3)
    instances = instances_of(model)
    settings = TrainingSettings(mode=mode, batch_size=3, sample_size=4)
    gold = {instance: random_path(model.vocabulary, instance, Random(1)) for instance in instances}
    objective = make_objective(model.vocabulary, settings, Random(1), gold)
    engine = NativeEngine(KERNELS[kernels]())
    learner = engine.learner(model.vocabulary, objective, settings)
    learner.set_weights(model.weights)
    learner.begin_epoch(20)
    losses = [learner.update(instances[first:first + 3]) for first in (0, 3) * 3]
    assert all(np.isfinite(loss) and count in (0, 1, 2, 3) for loss, count in losses)
    assert any(not np.array_equal(weight, model.weights[name]) for name, weight in learner.weights().items())


TRAINING = """
import hashlib, sys
from random import Random
from il_morph.engines.native.engine import NativeEngine
from il_morph.model.settings import TrainingSettings
from il_morph.training.phases import make_objective
from tests.random_models import instances_of, random_model

model = random_model(scale=0.1, input=100, action_input=100, feat_input=20, enc_hidden=200, dec_hidden=200)
settings = TrainingSettings(batch_size=3)
engine = NativeEngine()
engine.start(model.vocabulary, settings, [], 1)
learner = engine.learner(model.vocabulary, make_objective(model.vocabulary, settings, Random(1)), settings)
learner.set_weights(model.weights)
learner.begin_epoch(20)
for instances in (instances_of(model)[:3], instances_of(model)[3:], instances_of(model)[:1]):
    learner.update(instances)
weights = learner.weights()
print(engine.kernels.NAME, hashlib.sha256(b"".join(weights[name].tobytes() for name in sorted(weights))).hexdigest())
"""


@pytest.mark.parametrize("numba", [pytest.param(False, id="numpy"),
                                   pytest.param(True, id="numba", marks=pytest.mark.slow)])
def test_results_depend_neither_on_threads_nor_on_the_hash_seed(numba):
    if numba:
        pytest.importorskip("numba")
    hidden = "" if numba else "import sys; sys.modules['numba'] = None\n"
    outputs = set()
    for number in ("1", "2", "3"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED")
        variables = dict.fromkeys(names, number)
        process = subprocess.run([sys.executable, "-c", hidden + TRAINING], cwd=PROJECT, text=True, capture_output=True,
                                 env={**os.environ, **variables})
        assert process.returncode == 0, process.stderr
        outputs.add(process.stdout)
    assert len(outputs) == 1
    assert outputs.pop().startswith("Numba" if numba else "NumPy")


def test_threads_are_limited_with_and_without_threadpoolctl():
    controller = pytest.importorskip("threadpoolctl").ThreadpoolController()
    found = [threads.libraries()]
    assert found[0] and all(isinstance(library, threads.Controlled) for library in found[0])
    built_with = (np.__config__.show(mode="dicts") or {}).get("Build Dependencies", {})
    if built_with.get("blas", {}).get("name") == "scipy-openblas":
        found.append(threads.bundled_libraries())
    of_numpy = [each for each in controller.select(user_api="blas").lib_controllers
                if "scipy.libs" not in each.filepath]  # which another test may have loaded
    for libraries in found:
        assert libraries
        for number in (2, 1):
            for library in libraries:
                library.threads = number
            assert {each.num_threads for each in of_numpy} == {number}
            assert {library.threads for library in libraries} == {number}


def test_who_cannot_limit_threads_says_so(monkeypatch, caplog):
    monkeypatch.setattr(threads, "libraries", lambda: [])
    threads.use_one_thread()
    assert "OPENBLAS_NUM_THREADS=1" in caplog.text


def test_arrays_start_at_cache_lines():
    arrays = [*side_by_side({"a": (3, 5), "b": (7,), "c": (2, 2)}, np.float32).values()]
    scratch = Scratch(np.float32)
    arrays += [scratch.zeros(3, 5), scratch.zeros(1, 1), scratch.zeros(1000, 1000), scratch.zeros(2, 3)]
    assert all(array.ctypes.data % 64 == 0 and not array.any() for array in arrays)
    for number, array in enumerate(arrays):
        array += number + 1
    assert all((array == number + 1).all() for number, array in enumerate(arrays))


def test_packed_sequences_continue_their_own_previous_element():
    lengths = [2, 5, 1, 5, 3]
    packing = BatchPacking(lengths, 0)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    positions = np.concatenate([np.arange(length) for length in lengths])
    assert sorted(packing.places) == list(range(sum(lengths)))
    for place, owner, position in zip(packing.places, owners, positions):
        parent = packing.parents[place]
        assert (parent == -1) == (position == 0)
        if position:
            before = list(packing.places).index(parent)
            assert (owners[before], positions[before]) == (owner, position - 1)
        block = np.searchsorted(packing.bounds, place, side="right") - 1
        assert block == position


def test_the_initial_weights_of_the_architecture_train():
    model = random_model()
    settings = replace(TrainingSettings(), il_beta=1.0)
    engine = NativeEngine(kernels_numpy)
    learner = engine.learner(model.vocabulary, make_objective(model.vocabulary, settings, Random(1)), settings)
    learner.set_weights(Architecture(model.vocabulary).draw(1))
    instances = instances_of(model)
    means = []
    for epoch in range(15):
        learner.begin_epoch(0)
        means.append(np.mean([learner.update([instance])[0] for instance in instances]))
    assert means[-1] < 0.5 * means[0]
