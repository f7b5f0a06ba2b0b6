"""mle, mrt and rl through the real command: presets, pre-training, and what is refused."""
import pytest

pytest.importorskip("dynet")

from il_morph.commands import main
from tests.cli import SHORT, SMALL, Run, error_of, training_arguments

LONGER = ["--epochs=3", "--align-cls"]


def phases(run):
    return [(row["phase"], row["epoch"]) for row in run.log]


@pytest.mark.parametrize("model, mode, transducer, beta", [
    ("ca", "mle", "haem", 1.0), ("ha", "mle", "hard", 1.0)])
def test_presets_of_mle(train, model, mode, transducer, beta):
    run = train(f"--model={model}", "--align-cls")
    assert run.stats["settings"]["mode"] == mode and run.stats["settings"]["transducer"] == transducer
    assert run.stats["settings"]["aligner"] == "cls" and phases(run)[0] == (mode, "0")


@pytest.mark.parametrize("model, start, share", [("ca-mrt", "ca", 0.0), ("ha-mrt", "ha", 0.0), ("ca-mrt-a", "ca", 0.2)])
def test_presets_of_mrt_start_from_a_trained_model_and_never_fall_behind_it(train, model, start, share):
    mle = train(f"--model={start}", *LONGER)
    run = train(f"--model={model}", "--align-cls", f"--reload-path={mle.folder}", "--sample-size=5")
    assert run.stats["settings"]["mode"] == "mrt" and run.stats["settings"]["mrt_action_cost"] == share
    assert phases(run) == [("mrt", "-1"), ("mrt", "0")]
    accuracies = [float(row["dev_accuracy"]) for row in run.log]
    assert run.stats["scores"]["greedy.dev"]["accuracy"] == pytest.approx(max(accuracies))
    assert accuracies[0] == pytest.approx(mle.stats["scores"]["greedy.dev"]["accuracy"])


def test_mle_learns_its_gold_sequences(train):
    run = train("--model=ca", "--align-smart", "--iterations=10", "--epochs=25", "--patience=25", "--input=16",
                "--action-input=16", "--enc-hidden=16", "--dec-hidden=16")
    losses = [float(row["loss"]) for row in run.log]
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("one, other", [
    (["--align-cls"], ["--align-dumb"]), (["--align-dumb"], ["--align-dumb", "--try-reverse"])])
def test_the_aligner_makes_a_difference(tmp_path, one, other):
    path = tmp_path / "prefixes.tsv"
    path.write_text("mila\tunmila\tV;NEG\nkora\tunkora\tV;NEG\n", encoding="utf-8")
    losses = []
    for number, flags in enumerate((one, other)):
        folder = tmp_path / str(number)
        assert main(["train", "--sigm2017format", "--model=ca", *SMALL, *SHORT, *flags, str(path), str(path),
                     str(folder)]) == 0
        losses.append(Run(folder).losses)
    assert losses[0] != losses[1]


def test_rl_and_its_flags(train):
    mle = train("--model=ca", "--align-cls", "--epochs=12", "--pick-loss")
    plain = ["--mode=rl", "--align-cls", f"--reload-path={mle.folder}"]
    losses = {}
    for flags in [(), ("--no-baseline",), ("--scale-negative=0.1",), ("--beta=3",), ("--sample-size=9",)]:
        run = train(*plain, *flags)
        assert phases(run) == [("rl", "-1"), ("rl", "0")]
        losses[flags] = run.log[1]["loss"]
    assert len(set(losses.values())) == len(losses)


def test_alpha_acts_on_mrt(train):
    mle = train("--model=ca", "--align-cls", "--epochs=25", "--patience=25")
    losses = [train("--model=ca-mrt", "--align-cls", f"--reload-path={mle.folder}", "--sample-size=5",
                    f"--alpha={alpha}").log[1]["loss"] for alpha in ("1", "0.1")]
    assert losses[0] != losses[1]


def test_pretraining_for_some_epochs(train):
    run = train("--model=ca-mrt", "--align-cls", "--pretrain-epochs=2", "--sample-size=5", "--epochs=1")
    assert phases(run) == [("mle", "0"), ("mle", "1"), ("mrt", "-1"), ("mrt", "0")]
    assert run.stats["training"]["epochs"] == 3


def test_pretraining_until_the_train_accuracy_is_reached(train):
    run = train("--mode=il", "--align-cls", "--pretrain-until=0.01", "--epochs=12", "--patience=12", "--input=16",
                "--action-input=16", "--enc-hidden=16", "--dec-hidden=16")
    first = [row for row in run.log if row["phase"] == "mle"]
    assert all(float(row["train_accuracy"]) < 1 for row in first[:-1])
    assert float(first[-1]["train_accuracy"]) >= 1 or len(first) == 12
    assert phases(run)[len(first)] == ("il", "-1")


def test_pretrain_dropout_is_that_of_the_first_phase(train):
    flags = ["--model=ca-mrt", "--align-cls", "--pretrain-epochs=1", "--sample-size=3"]
    without, dropped, late = (train(*flags, *more).log for more in ([], ["--pretrain-dropout=0.5"], ["--dropout=0.5"]))
    assert without[0]["loss"] != dropped[0]["loss"]
    assert without[0]["loss"] == late[0]["loss"]


def test_pick_loss_of_mle_is_the_loss_of_the_gold_sequences(train):
    for model in ("ca", "ha"):
        run = train(f"--model={model}", "--align-cls", "--pick-loss", "--epochs=3", "--patience=3")
        losses = [float(row["dev_loss"]) for row in run.log]
        assert run.stats["training"]["best_epoch"] == losses.index(min(losses))


@pytest.mark.parametrize("flags, message", [
    (["--model=ca-mrt"], "--mode=mrt starts from a trained model"),
    (["--mode=rl"], "--mode=rl starts from a trained model"),
    (["--mode=il", "--transducer=hard"], "--mode=il needs --transducer=haem"),
    (["--mode=mle", "--align-cls", "--align-smart"], "exclude each other"),
    (["--mode=mle", "--iterations=0"], "--iterations takes a whole number from 1 up"),
    (["--mode=mrt", "--pretrain-until=70"], "--pretrain-until takes a number from 0 up to 1"),
    (["--mode=mrt", "--sample-size=0"], "--sample-size takes a whole number from 1 up"),
])
def test_what_is_refused(data, tmp_path, capsys, flags, message):
    assert message in error_of(capsys, *training_arguments(data, tmp_path / "results", flags))
    assert not (tmp_path / "results" / "f.model").exists()
