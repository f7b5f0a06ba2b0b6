"""The learning rate: its schedules, and that both engines make the same of a rate."""
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.engines.native import kernels_numpy
from il_morph.model.settings import LR_SCHEDULES, PLATEAU, WARMUP_DECAY, TrainingSettings
from il_morph.training.checkpoint import with_new_settings
from il_morph.training.history import Epoch
from il_morph.training.learning_rate import OPTIMIZER_RATES, epoch_rates, plateaus, warmup_decay
from tests.cli import Run, error_of, training_arguments
from tests.random_models import random_model
from tests.test_native_updates import KERNELS, batches_of, difference, learner_of

RATES = {"ADADELTA": 0.3, "ADAM": 0.002, "SGD": 0.03, "MOMENTUM": 0.005, "ADAGRAD": 0.02}
ACCURACIES = st.lists(st.integers(0, 5), max_size=30)


def epochs_of(accuracies, first=0) -> list:
    return [Epoch(number, 0.0, None, 0.0, float(accuracy)) for number, accuracy in enumerate(accuracies, start=first)]


def rates(settings: TrainingSettings, accuracies=(), updates: int = 4, epoch=None) -> list:
    before = epochs_of(accuracies)
    return list(epoch_rates(settings, len(before) if epoch is None else epoch, before, updates))


# Schedules

@pytest.mark.parametrize("optimization", OPTIMIZER_RATES)
def test_without_flags_the_rate_is_the_optimisers_own_all_the_time(optimization):
    settings = TrainingSettings(optimization=optimization)
    for accuracies in ([], [1, 2, 3], [3] * 20):
        assert rates(settings, accuracies) == [OPTIMIZER_RATES[optimization]] * 4


@given(ACCURACIES, st.floats(1e-6, 10))
def test_a_constant_rate_is_the_one_that_is_given(accuracies, rate):
    assert rates(TrainingSettings(learning_rate=rate), accuracies) == [rate] * 4


@given(st.floats(0.1, 10), st.integers(1, 20))
def test_the_rate_rises_to_the_end_of_the_warm_up_and_falls_after_it(warmup, updates):
    settings = TrainingSettings(learning_rate=2.0, lr_schedule=WARMUP_DECAY, lr_warmup=warmup)
    found = list(chain.from_iterable(rates(settings, updates=updates, epoch=epoch) for epoch in range(15)))
    times = [(n + 1) / updates for n in range(len(found))]
    rising = [rate for time, rate in zip(times, found) if time <= warmup]
    falling = [rate for time, rate in zip(times, found) if time >= warmup]
    assert all(0 < rate <= 2.0 for rate in found)
    assert rising == sorted(rising) and falling == sorted(falling, reverse=True)


def test_the_numbers_of_the_warm_up():
    assert warmup_decay(0.5, 2) == 0.25 and warmup_decay(2, 2) == 1 and warmup_decay(8, 2) == 0.5
    settings = TrainingSettings(optimization="SGD", lr_schedule=WARMUP_DECAY)
    assert rates(settings) == pytest.approx([0.025, 0.05, 0.075, 0.1])
    assert rates(settings, epoch=3)[-1] == pytest.approx(0.05)


@pytest.mark.parametrize("accuracies, number", [
    ([], 0), ([5], 0), ([5, 5], 0), ([5, 5, 5], 1), ([5, 4, 4, 5, 5], 2), ([1, 1, 2, 2, 3, 3], 0),
    ([1, 0, 2, 2, 2], 1)])
def test_a_plateau_is_so_many_epochs_in_a_row_without_a_better_one(accuracies, number):
    assert plateaus(epochs_of(accuracies), patience=2) == number


def test_the_model_a_training_starts_from_is_no_epoch_of_a_plateau():
    assert plateaus(epochs_of([9, 1, 2, 3], first=Epoch.START), patience=1) == 0


@given(ACCURACIES, st.integers(1, 6))
def test_plateaus_are_counted_one_by_one(accuracies, patience):
    counts = [plateaus(epochs_of(accuracies[:n]), patience) for n in range(len(accuracies) + 1)]
    assert counts[0] == 0 and all(0 <= after - before <= 1 for before, after in zip(counts, counts[1:]))
    assert counts[-1] <= max(0, len(accuracies) - 1) // patience


def test_each_plateau_multiplies_the_rate():
    settings = TrainingSettings(learning_rate=1.0, lr_schedule=PLATEAU, lr_decay=0.1, lr_patience=1)
    assert rates(settings, [5, 5, 5]) == pytest.approx([0.01] * 4)


# Engines

@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("optimization", RATES)
def test_both_engines_make_the_same_updates_with_a_rate_that_changes(optimization, kernels):
    pytest.importorskip("dynet")
    from il_morph.engines.dynet.learner import DynetLearner
    from il_morph.engines.dynet.network import DynetNetwork

    model, training = random_model(scale=0.3), TrainingSettings(optimization=optimization)
    ours = learner_of(model, "mse" if optimization == "ADAGRAD" else "mle", training, KERNELS[kernels]())
    other, plain = (DynetLearner(DynetNetwork(model.vocabulary), ours.objective, training) for _ in range(2))
    for learner in (other, plain):
        learner.set_weights(model.weights)
    for number, batch in enumerate(batches_of(model, 1) * 5):
        for learner in (ours, other):
            learner.set_learning_rate(RATES[optimization] * (1 + number % 3))
        plain.update(batch)
        assert ours.update(batch)[0] == pytest.approx(other.update(batch)[0], rel=1e-4)
    assert difference(ours.weights(), other.weights()) < 2e-5
    assert difference(plain.weights(), other.weights()) > 1e-3


def test_dynets_own_rates_are_the_defaults():
    """But for ADAM, whose rate is that of the authors' program."""
    dy = pytest.importorskip("dynet")
    from il_morph.engines.dynet.learner import OPTIMIZERS

    collection = dy.ParameterCollection()
    own = {name: trainer(collection).learning_rate for name, trainer in OPTIMIZERS.items()}
    assert own == pytest.approx({**OPTIMIZER_RATES, "ADAM": 0.001})


def test_a_factor_of_adadelta_multiplies_its_first_update():
    model, weights = random_model(scale=0.3), {}
    for rate in (1.0, 0.25):
        learner = learner_of(model, "mle", TrainingSettings(), kernels_numpy)
        learner.set_learning_rate(rate)
        learner.update(batches_of(model, 1)[0])
        weights[rate] = learner.weights()
    for name, start in model.weights.items():
        assert weights[0.25][name] - start == pytest.approx(0.25 * (weights[1.0][name] - start), abs=1e-7)


# Flags

NATIVE = ["--engine=native", "--model=ca-d"]


@pytest.fixture
def trained(data, tmp_path):
    def train(name, *flags, engine="native"):
        flags = [f"--engine={engine}", "--model=ca-d", "--epochs=3", *flags]
        assert main(training_arguments(data, tmp_path / name, flags)) == 0
        return Run(tmp_path / name)

    return train


@pytest.mark.parametrize("engine", ["native", "dynet"])
def test_the_default_rate_is_that_of_no_flag(trained, engine):
    if engine == "dynet":
        pytest.importorskip("dynet")
    without = trained("without", engine=engine).weights
    for number, flags in enumerate((["--learning-rate=0"], ["--learning-rate=1", "--lr-schedule=constant"])):
        weights = trained(f"with-{number}", *flags, engine=engine).weights
        assert all(np.array_equal(weights[name], without[name]) for name in without)


@pytest.mark.parametrize("flags", [["--learning-rate=0.5"], ["--lr-schedule=warmup-decay"],
                                   ["--lr-schedule=plateau", "--lr-patience=1", "--lr-decay=0.01",
                                    "--pick-ties=earlier"]])
def test_flags_change_the_training_and_are_recorded(trained, flags):
    run = trained("with", *flags)
    assert run.losses != trained("without").losses
    for flag in flags:
        name, value = flag[2:].split("=")
        assert str(run.settings[name.replace("-", "_")]) == value


def test_each_phase_starts_its_schedule_anew(trained, monkeypatch):
    asked = []

    def recording(settings, number, before, updates):
        asked.append((settings.mode, number, len(before)))
        return epoch_rates(settings, number, before, updates)

    monkeypatch.setattr("il_morph.training.loop.epoch_rates", recording)
    trained("run", "--pretrain-epochs=2", "--align-cls", "--lr-schedule=plateau")
    # the second phase evaluates the model it starts from before its first epoch
    assert asked == [("mle", 0, 0), ("mle", 1, 1), ("il", 0, 1), ("il", 1, 2), ("il", 2, 3)]


@pytest.mark.parametrize("flag, message", [
    ("--learning-rate=-1", "--learning-rate takes"), ("--learning-rate=fast", "--learning-rate takes"),
    ("--lr-schedule=cosine", f"--lr-schedule takes one of {', '.join(LR_SCHEDULES)}, not 'cosine'"),
    ("--lr-warmup=0", "--lr-warmup takes"), ("--lr-decay=2", "--lr-decay takes"),
    ("--lr-patience=0", "--lr-patience takes")])
def test_a_bad_value_is_refused(flag, message, data, tmp_path, capsys):
    assert message in error_of(capsys, *training_arguments(data, tmp_path / "r", [*NATIVE, flag]))


@pytest.mark.parametrize("flag", ["--learning-rate=0.1", "--lr-schedule=plateau"])
def test_nwfst_has_a_schedule_of_its_own(flag, data, tmp_path, capsys):
    arguments = training_arguments(data, tmp_path / "r", ["--model=nwfst", flag], "columns", defaults=["--epochs=1"])
    assert f"{flag.split('=')[0]}: --architecture=nwfst leaves no choice there" in error_of(capsys, *arguments)


def test_a_checkpoint_from_before_there_were_rates_has_the_default_one():
    new = ("learning_rate", "lr_schedule", "lr_warmup", "lr_decay", "lr_patience")
    now = with_new_settings({"seed": 1, "epochs": 7})
    assert now["epochs"] == 7 and now["seed"] == 1
    assert [now[name] for name in new] == [0.0, "constant", 1.0, 0.5, 5]
