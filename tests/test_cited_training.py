"""The cited systems through `il-morph train` and `predict`: they learn, repeat themselves, reload, and refuse."""
import json
import zipfile
from dataclasses import replace

import pytest

from il_morph.commands import main
from il_morph.errors import InputError
from il_morph.model.modelfile import load_model, save_model
from il_morph.model.registry import ARCHITECTURES
from il_morph.model.settings import PRESETS, TrainingSettings
from il_morph.training.history import Epoch, History
from tests.cli import SHORT, TRAIN, Run, error_of, il_morph, training_arguments
from tests.random_models import random_model
from tests.test_cited_architectures import VARIANTS, cited_model

SIZES = {
    "ha-2017": ["--input=8", "--feat-input=4", "--enc-hidden=8", "--dec-hidden=8"],
    "soft": ["--input=8", "--enc-hidden=8", "--dec-hidden=8"],
    "hacm": ["--input=8", "--feat-input=4", "--enc-hidden=8", "--dec-hidden=8"],
    "haem-2017": ["--input=8", "--action-input=6", "--enc-hidden=8", "--dec-hidden=8", "--mlp=8"],
}
LARGER = ["--input=24", "--enc-hidden=32", "--dec-hidden=32", "--enc-layers=1", "--dec-layers=1"]
MEMORISING = {"ha-2017": [*LARGER, "--feat-input=12"], "soft": LARGER, "hacm": [*LARGER, "--feat-input=12"],
              "haem-2017": [*LARGER, "--action-input=24", "--mlp=32", "--lucky-w=5"]}
QUICK = ["--dynet-mem=16", *SHORT]


@pytest.fixture
def trained_preset(data, tmp_path):
    """A function that trains a small model of a preset in this process."""
    pytest.importorskip("dynet")

    def run(name, *flags, layout="2016", folder="results", sizes=SIZES):
        flags = [f"--model={name}", *sizes[name], *flags]
        assert main(training_arguments(data, tmp_path / folder, flags, layout, QUICK)) == 0
        return Run(tmp_path / folder)

    return run


@pytest.mark.parametrize("name", SIZES)
def test_a_preset_trains_and_decodes_greedily_alone(trained_preset, name, data):
    run = trained_preset(name, f"--test-path={data('test', '2016')}")
    assert run.settings["mode"] == "mle"
    assert run.settings["architecture"] == PRESETS[name].get("architecture", "transducer")
    assert {"f.model", "f.log", "f.stats", "f.greedy.dev.predictions", "f.greedy.test.predictions"} <= run.files
    assert not [each for each in run.files if "beam" in each]


def test_the_settings_of_the_presets_are_those_of_the_papers():
    ha, soft, hacm, haem = (PRESETS[name] for name in SIZES)
    for preset in (ha, soft):
        assert (preset["input"], preset["action_input"]) == (300, 300)
        assert (preset["enc_hidden"], preset["dec_hidden"]) == (100, 100)
        assert (preset["enc_layers"], preset["dec_layers"], preset["epochs"], preset["patience"]) == (2, 2, 100, 100)
    assert (ha["transducer"], ha["pos_emb"], ha["avm_feat_format"]) == ("hard", False, True)
    assert (soft["mle_loss"], soft["pick_ties"], soft["feat_input"]) == ("sum", "later", 300)
    assert (hacm["epochs"], hacm["patience"]) == (50, 10)
    assert (haem["epochs"], haem["patience"], haem["mlp"]) == (60, 30, 200)


@pytest.mark.parametrize("name", SIZES)
def test_they_learn_their_samples(trained_preset, name, data, tmp_path):
    run = trained_preset(name, "--epochs=45", "--patience=45", sizes=MEMORISING)
    assert max(float(row["train_accuracy"]) for row in run.log) >= 80
    assert run.losses[-1] < run.losses[0] / 3
    assert main(["predict", run.model_path, data("dev", "2016"), str(tmp_path / "again")]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_the_same_command_gives_the_same_bytes_and_another_seed_does_not(trained_preset, name):
    runs = [trained_preset(name, folder=f"run{number}") for number in range(2)]
    assert runs[0].model_bytes == runs[1].model_bytes
    assert runs[0].predictions("greedy.dev") == runs[1].predictions("greedy.dev")
    other = trained_preset(name, "--dynet-seed=2", folder="other")
    assert other.model_bytes != runs[0].model_bytes


@pytest.mark.parametrize("name", SIZES)
def test_batches_dropout_l2_and_the_dev_loss(trained_preset, name):
    run = trained_preset(name, "--batch-size=3", "--dropout=0.3", "--l2=0.001", "--pick-loss", "--epochs=2")
    assert all(float(row["dev_loss"]) > 0 for row in run.log)


@pytest.mark.parametrize("name", SIZES)
def test_automatic_batching_gives_the_same_losses(trained_preset, data, tmp_path, name):
    flags = [f"--model={name}", *SIZES[name], "--dynet-autobatch=1"]
    process = il_morph(*training_arguments(data, tmp_path / "batched", flags, "2016", QUICK))
    assert process.returncode == 0, process.stderr
    assert Run(tmp_path / "batched").losses == pytest.approx(trained_preset(name).losses, abs=1e-3)


@pytest.mark.parametrize("name", ["soft", "hacm", "haem-2017"])
def test_a_model_is_reloaded_and_goes_on(trained_preset, name, data, tmp_path):
    first = trained_preset(name, "--epochs=3")
    again = trained_preset(name, f"--reload-path={first.folder}", "--epochs=1", folder="again")
    assert again.settings["architecture"] == PRESETS[name]["architecture"]
    evaluated = tmp_path / "evaluated"
    assert main(["train", f"--model={name}", "--mode=eval", f"--reload-path={first.folder}", data("train", "2016"),
                 data("dev", "2016"), str(evaluated)]) == 0
    assert (evaluated / "f.greedy.dev.predictions").read_text() == first.text("f.greedy.dev.predictions")


@pytest.mark.parametrize("layout", ["", "plain"])
@pytest.mark.parametrize("name", ["soft", "hacm", "haem-2017"])
def test_other_formats(trained_preset, name, layout):
    assert len(trained_preset(name, layout=layout).log) == 1


def test_a_size_that_a_flag_gives_is_that_of_all_tied_embeddings(trained_preset):
    settings = trained_preset("soft").settings
    assert settings["input"] == settings["action_input"] == settings["feat_input"] == 8


# Errors


@pytest.mark.parametrize("flags, message", [
    (["--model=soft", "--mode=il"], "--mode=il: a model with --architecture=soft is trained with --mode=mle alone"),
    (["--model=hacm", "--mode=mrt", "--pretrain-epochs=1"], "--mode=mrt: a model with --architecture=hacm is trained"),
    (["--architecture=haem-2017", "--mlp=5"], "--mode=il: a model with --architecture=haem-2017 is trained"),
    (["--architecture=haem-2017", "--mode=mle"], "has a hidden layer: give its size with --mlp"),
    (["--model=soft", "--pos-emb"], "--architecture=soft leaves no choice in --pos-emb: leave the flag out"),
    (["--model=hacm", "--transducer=haem"], "--architecture=hacm leaves no choice in --transducer"),
    (["--model=haem-2017", "--feat-input=5"], "--architecture=haem-2017 leaves no choice in --feat-input"),
    (["--model=soft", "--input=8", "--feat-input=4"], "--input=8 and --feat-input=4 differ, but the encoder reads"),
    (["--architecture=lstm"], "--architecture takes one of transducer, soft, hacm, haem-2017, nwfst, med, "
     "lem, not 'lstm'"),
    (["--pick-ties=none"], "--pick-ties takes one of earlier, later, loss, not 'none'"),
    (["--mle-loss=product"], "--mle-loss takes one of mean, sum, not 'product'"),
])
def test_what_does_not_fit_is_refused(data, tmp_path, capsys, flags, message):
    assert message in error_of(capsys, "train", *flags, data("train", "2016"), data("dev", "2016"), str(tmp_path / "r"))
    assert not (tmp_path / "r").exists()


def test_a_model_of_one_architecture_is_not_trained_as_another(trained_preset, data, tmp_path, capsys):
    first = trained_preset("soft")
    message = error_of(capsys, "train", "--model=hacm", f"--reload-path={first.folder}", data("train", "2016"),
                       data("dev", "2016"), str(tmp_path / "r"))
    assert "was trained with soft, not hacm; leave it out" in message


def test_a_model_file_without_an_architecture_is_of_the_transducer(tmp_path):
    """As those of earlier versions are."""
    save_model(tmp_path / "f.model", random_model())
    with zipfile.ZipFile(tmp_path / "f.model") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(content["header.json"])
    assert header["settings"].pop("architecture") == "transducer"
    content["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(tmp_path / "old.model", "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    assert load_model(tmp_path / "old.model").vocabulary.settings == random_model().vocabulary.settings


@pytest.mark.parametrize("setting, value, reason", [
    ("architecture", "lstm", "the setting architecture cannot be 'lstm'"),
    ("param_tying", False, "the architecture soft does not have its param_tying"),
])
def test_a_model_file_whose_settings_do_not_fit_is_refused(tmp_path, setting, value, reason):
    model = cited_model(**VARIANTS["soft"])
    model.vocabulary.settings = replace(model.vocabulary.settings, **{setting: value})
    save_model(tmp_path / "f.model", model)
    with pytest.raises(InputError, match=f"not a whole il-morph model .{reason}"):
        load_model(tmp_path / "f.model")


@pytest.mark.parametrize("name, weight", [("soft", "attention.U"), ("hacm", "gate.W"), ("haem", "empty.deleted")])
def test_a_model_file_that_lacks_a_weight_is_refused(tmp_path, name, weight):
    model = cited_model(**VARIANTS[name])
    del model.weights[weight]
    save_model(tmp_path / "f.model", model)
    with pytest.raises(InputError, match=f"not a whole il-morph model.*{weight}.npy"):
        load_model(tmp_path / "f.model")


@pytest.mark.parametrize("architecture", ["soft", "hacm", "haem-2017"])
def test_the_native_engine_refuses_them(architecture):
    from il_morph.engines.native.engine import NativeEngine
    from il_morph.model.settings import ModelSettings

    with pytest.raises(InputError, match=f"not --architecture={architecture}: train with --engine=dynet"):
        NativeEngine().refuse(ModelSettings(architecture=architecture), TrainingSettings(mode="mle"))
    assert architecture in ARCHITECTURES


# What they brought with them


def test_the_later_of_two_epochs_is_kept_where_that_is_asked_for():
    accuracies = [50.0, 60.0, 60.0, 55.0, 60.0]
    for later, kept in ((False, 1), (True, 4)):
        history = History()
        for number, accuracy in enumerate(accuracies):
            history.add(Epoch(number, 0.0, 1.0, 0.0, accuracy), {"number": number}, later=later)
        assert (history.best.epoch, history.weights["number"]) == (kept, kept)
        assert history.epochs_without_improvement == 3, "patience counts from the first of them"


def test_the_loss_of_a_sequence_is_its_sum_or_its_mean(trained_preset):
    """The first epoch of one sample in one update has the loss of the initial weights."""
    from il_morph.training.sequences import MaximumLikelihood

    class Decoder:
        instance = "sample"

        def sequence_loss(self, sequences, weights):
            self.left = sequences, weights

    for how, divisor in (("mean", 3), ("sum", 1)):
        objective = object.__new__(MaximumLikelihood)
        objective.gold, objective.settings = {"sample": [5, 6, 2]}, TrainingSettings(mle_loss=how)
        decoder = Decoder()
        with pytest.raises(StopIteration) as end:
            next(objective.visit(decoder))
        assert end.value.value == divisor
        assert decoder.left == ([[5, 6, 2]], [1.0])


def test_the_gold_sequence_of_soft_needs_no_aligner(trained_preset):
    losses = [trained_preset("soft", flag, folder=flag.strip("-")).losses for flag in ("--align-dumb", "--align-cls")]
    assert losses[0] == losses[1]
    assert len(TRAIN) == 10
