"""Every flag of `il-morph train` acts: what it changes in the run, in the model or in the log."""
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import il_morph
from il_morph.commands import main
from il_morph.commands import train as command
from il_morph.data.formats import Sample
from il_morph.model.search import BeamSearch, SearchModel
from il_morph.model.settings import ModelSettings, TrainingSettings, declarations
from il_morph.runs.spec import OTHERS, SETTINGS, RunSpec, flag_of
from il_morph.transitions.aligners import ALIGNERS
from tests.cli import ROOT, SMALL, TRAIN, Run, training_arguments

pytest.importorskip("dynet")


# From the command line to the run

OPTIONS = dict(re.findall(r"^  (--[\w-]+)(=\S+)?  ", command.__doc__, re.M))
DEFAULTS = set(re.findall(r"^  (--[\w-]+)  .*\(default[,)]", command.__doc__, re.M))
DECLARED = declarations()
OTHER_VALUES = {
    "--model": "ca-d", "--test-path": "x", "--reload-path": "x", "--verbose": "1", "--dynet-seed": "3",
    "--dynet-mem": "99", "--dynet-autobatch": "1", "--engine": "native", "--beam-widths": "2,3",
    "--columns": "output,input", "--feature-separator": "|", "--split-by": "line", "--split-seed": "7",
    "--input-separator": " ", "--output-separator": "|", "--task": "inflect", "--conllu-features": "upos",
    "--augment": "5,2@3", "--boundary": " @@",
}
OF_SEEDS = {"--seeds", "--folds", "--jobs"}  # tested in test_seeds.py and test_small_data.py


@pytest.fixture
def experiment(monkeypatch):
    """A function from flags to the run that is asked for, which is not carried out."""
    given = []
    monkeypatch.setattr(command, "carry_out", lambda spec, *others: given.append(spec) or 0)

    def build(*flags, paths=("TRAIN", "DEV", "RESULTS")) -> RunSpec:
        assert main(["train", *flags, *paths]) == 0
        return given.pop()

    return build


def another(flag: str) -> str:
    """The flag with a value that is not its default."""
    name = flag[2:].replace("-", "_")
    defaults = {**ModelSettings().as_dict(), **TrainingSettings().as_dict()}
    if not OPTIONS[flag]:
        return flag
    if flag in OTHER_VALUES:
        return f"{flag}={OTHER_VALUES[flag]}"
    if "choices" in DECLARED[name].metadata:
        return f"{flag}={next(value for value in DECLARED[name].metadata['choices'] if value != defaults[name])}"
    return f"{flag}=7" if isinstance(defaults[name], int) else f"{flag}=0.25"


def test_the_usage_text_lists_the_flags():
    assert len(OPTIONS) > 45
    assert {"--il-loss", "--force", "--no-pos-emb", "--dynet-seed"} <= set(OPTIONS)
    assert {"--pos-emb", "--param-tying", "--il-global-rollout", "--il-optimal-oracle"} <= DEFAULTS


@pytest.mark.parametrize("name", [name for name in DECLARED if "--" + name.replace("_", "-") in OPTIONS])
def test_the_usage_text_says_the_default_that_is_declared(name):
    default, flag = DECLARED[name].default, "--" + name.replace("_", "-")
    text = re.search(rf"^  {flag}(?:=\S+)?  (.*(?:\n {{10,}}.*)*)", command.__doc__, re.M)[1]
    said = re.search(r"\(default ?([^,)]*)", text)
    if isinstance(default, bool):
        assert bool(said) == default
    elif default == "":
        assert said[1] == "none"
    elif default or not isinstance(default, (int, float)) or said:
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
        assert said[1] == (f"{shown:g}" if isinstance(shown, float) else str(shown))


def test_the_usage_text_and_the_declarations_know_the_same_flags():
    declared = {flag_of(name): each for name, each in {**SETTINGS, **OTHERS}.items() if name != "aligner"}
    opposites = {f"--no-{flag[2:]}" for flag, each in declared.items() if each.default is True}
    assert set(OPTIONS) == {*declared, *opposites, *OF_SEEDS, *(f"--align-{name}" for name in ALIGNERS)}


@pytest.mark.parametrize("flag", [flag for flag in OPTIONS if flag not in OF_SEEDS])
def test_every_flag_reaches_the_run(experiment, flag):
    paths = ["FILE", "RESULTS"] if flag.startswith("--split-") else ["TRAIN", "DEV", "RESULTS"]
    without, with_it = experiment(paths=paths), experiment(another(flag), paths=paths)
    assert without != with_it
    if flag not in DEFAULTS and without.settings != with_it.settings:
        assert (without.training, without.network) != (with_it.training, with_it.network)


@pytest.mark.parametrize("flag", sorted(DEFAULTS))
def test_what_is_on_by_default_can_be_said(experiment, flag):
    assert experiment().training == experiment(flag).training
    assert ModelSettings(**experiment().network) == ModelSettings(**experiment(flag).network)


def test_without_flags_it_is_the_papers_ca_r(experiment):
    built = experiment()
    settings, training = ModelSettings(**built.network), built.training
    assert (settings.input, settings.feat_input, settings.action_input) == (100, 20, 100)
    assert (settings.enc_hidden, settings.dec_hidden, settings.enc_layers, settings.dec_layers) == (200, 200, 1, 1)
    assert (settings.mlp, settings.vanilla_lstm, settings.pos_emb, settings.param_tying) == (0, False, True, True)
    assert (training.mode, training.il_loss, training.il_beta, training.il_global_rollout) == ("il", "nll", 0.5, True)
    assert (training.optimization, training.batch_size, training.dropout, training.l2) == ("ADADELTA", 1, 0, 0)
    assert (training.il_decay, training.il_k, training.beam_widths) == ("inverse-sigmoid", 12, (4,))


@pytest.mark.parametrize("flags, loss, beta", [
    (["--model=ca-d"], "nll", 1.0), (["--model=ca-r"], "nll", 0.5), (["--model=ca-rm"], "softmax-margin", 0.5),
    (["--model=ca-d", "--il-beta=0.3"], "nll", 0.3), (["--il-loss=mse", "--model=ca-rm"], "mse", 0.5),
])
def test_presets_and_explicit_flags(experiment, flags, loss, beta):
    training = experiment(*flags).training
    assert (training.il_loss, training.il_beta) == (loss, beta)


def test_the_k_of_exponential_decay_has_its_own_default(experiment):
    assert experiment("--il-decay=exponential").training.il_k == 0.9
    assert experiment("--il-decay=exponential", "--il-k=0.5").training.il_k == 0.5


@pytest.mark.parametrize("flags, sizes", [
    (["--input=8"], (8, 8)), (["--action-input=9"], (9, 9)), (["--input=8", "--action-input=8"], (8, 8)),
    (["--no-param-tying", "--input=8"], (8, 100)), (["--no-param-tying", "--input=8", "--action-input=9"], (8, 9)),
])
def test_tied_embeddings_have_one_size(experiment, flags, sizes):
    settings = ModelSettings(**experiment(*flags).network)
    assert (settings.input, settings.action_input) == sizes


@pytest.mark.parametrize("flags, verbose", [
    ([], False), (["--verbose=0"], False), (["--verbose=1"], True), (["--verbose", "1"], True), (["--verbose"], True)])
def test_the_level_of_verbose_may_be_left_out(experiment, flags, verbose):
    assert bool(experiment(*flags).verbose) is verbose
    assert experiment(*flags).train == "TRAIN"


# Network: the training data has the POS V and N and the features PST, PRS, PL, SG

def decoder_width(run) -> int:
    return run.weights["decoder.0.x2i"].shape[1]


def test_sizes(known):
    run = known("--input=5", "--feat-input=3", "--enc-hidden=6", "--dec-hidden=7")
    number = len(run.model.vocabulary.actions)
    assert run.weights["characters"].shape == (number, 5)
    assert run.weights["features"].shape == (1 + 4, 3)
    assert run.weights["pos"].shape == (1 + 2, 3)
    assert run.weights["encoder_backward.0.h2o"].shape == (6, 6)
    assert run.weights["decoder.0.x2i"].shape == (7, 6 + 6 + 3 + 4 * 3 + 5)
    assert run.weights["output.W"].shape == (number, 7)


@pytest.mark.parametrize("cell", [[], ["--vanilla-lstm"]])
def test_layers(known, cell):
    one, more = known(*cell), known(*cell, "--enc-layers=2", "--dec-layers=3")
    assert "encoder_forward.1.x2i" not in one.weights and "decoder.1.x2i" not in one.weights
    for name in ("encoder_forward.1.x2i", "encoder_backward.1.x2i", "decoder.1.x2i", "decoder.2.x2i"):
        assert more.weights[name].shape == (8, 8)
    assert "encoder_forward.2.x2i" not in more.weights and "decoder.3.x2i" not in more.weights


@pytest.mark.slow
def test_all_layers_learn(known):
    """The weights of two seeds agree nowhere, those of two lengths of training neither."""
    flags = ["--enc-layers=2", "--dec-layers=2", "--mlp=5", "--pick-loss"]
    short, long = known(*flags, "--epochs=1"), known(*flags, "--epochs=3")
    assert long.stats["training"]["best_epoch"] > 0
    unchanged = [name for name, weight in short.weights.items() if np.array_equal(weight, long.weights[name])]
    assert unchanged == []


def test_vanilla_lstm(known):
    coupled, vanilla = known(), known("--vanilla-lstm")
    assert {"decoder.0.c2i", "decoder.0.x2c"} <= set(coupled.weights)
    assert {"decoder.0.x2f", "decoder.0.x2g"} <= set(vanilla.weights)
    assert not {"decoder.0.c2i", "decoder.0.x2c"} & set(vanilla.weights)
    assert vanilla.losses != coupled.losses


def test_mlp_and_its_nonlinearity(known):
    relu, tanh = known("--mlp=5", "--nonlin=ReLU"), known("--mlp=5", "--nonlin=tanh")
    number = len(relu.model.vocabulary.actions)
    assert relu.weights["hidden.W"].shape == (5, 8)
    assert relu.weights["output.W"].shape == (number, 5)
    assert relu.losses != tanh.losses
    plain, plain_tanh = known("--mlp=0"), known("--mlp=0", "--nonlin=tanh")
    assert "hidden.W" not in plain.weights
    assert plain.losses == plain_tanh.losses


def test_bag_of_features(known):
    embedded, bag = known(), known("--feat-input=0")
    assert not {"features", "pos"} & set(bag.weights)
    assert decoder_width(embedded) == 8 + 8 + 4 + 4 * 4 + 8
    assert decoder_width(bag) == 8 + 8 + 6 + 8  # V, N and four more features


def log_probability(run, lemma, tag) -> float:
    predictor = il_morph.load(run.model_path)
    return predictor.hypotheses([Sample(lemma, tag, None)], 1)[0][0].log_probability


def test_lucky_w_is_the_weight_of_a_feature_that_is_present(known):
    none, some = known("--feat-input=0", "--lucky-w=0"), known("--feat-input=0", "--lucky-w=0.5")
    assert log_probability(none, "walk", "V;PST") == log_probability(none, "walk", "N;PL")
    assert log_probability(some, "walk", "V;PST") != log_probability(some, "walk", "N;PL")
    assert known("--feat-input=0").losses != some.losses


def test_attributes_share_a_slot(known):
    """tense=PST and tense=PRS, num=PL and num=SG: two slots instead of four."""
    plain, avm = known(layout="2016"), known("--avm-feat-format", layout="2016")
    assert decoder_width(plain) - decoder_width(avm) == 2 * 4
    assert avm.model.vocabulary.attributes.symbols == ["tense", "num"]


def test_pos_embeddings(known):
    default, with_pos, without = known(), known("--pos-emb"), known("--no-pos-emb")
    assert default.model_bytes == with_pos.model_bytes
    assert with_pos.model.vocabulary.pos.symbols[1:] == ["V", "N"]
    assert "pos" not in without.weights
    assert without.model.vocabulary.features.symbols[1:3] == ["V", "PST"]
    assert decoder_width(without) == 8 + 8 + 6 * 4 + 8


def test_pos_embeddings_without_features(known):
    assert "pos" not in known(layout="plain").weights
    assert "pos" in known("--pos-emb", layout="plain").weights


def test_parameter_tying(known):
    tied, also_tied = known(), known("--param-tying")
    untied = known("--no-param-tying", "--input=6", "--action-input=10")
    assert tied.model_bytes == also_tied.model_bytes
    assert "actions" not in tied.weights
    vocabulary = untied.model.vocabulary
    assert untied.weights["characters"].shape == (len(vocabulary.characters), 6)
    assert untied.weights["actions"].shape == (len(vocabulary.actions), 10)
    assert "c" in vocabulary.characters and "c" in vocabulary.actions
    assert "n" in vocabulary.actions and "n" not in vocabulary.characters  # only in the output oxen


def test_tag_wraps(known):
    both, close = known("--tag-wraps=both"), known("--tag-wraps=close")
    sample = Sample("dog", "N;PL", "dogs")
    wrapped, closed = (run.model.vocabulary.instance(sample) for run in (both, close))
    assert (len(wrapped.buffer), wrapped.start) == (5, 1)
    assert (len(closed.buffer), closed.start) == (4, 0)
    assert wrapped.buffer[1:] == closed.buffer
    assert both.losses != close.losses
    assert both.model_bytes == known().model_bytes


# Training

def difference(one, other) -> float:
    return max(float(np.abs(weight - other.weights[name]).max()) for name, weight in one.weights.items())


def test_every_optimiser_updates_in_its_own_way(known):
    runs = {name: known(f"--optimization={name}") for name in DECLARED["optimization"].metadata["choices"]}
    assert runs["ADADELTA"].model_bytes == known().model_bytes
    names = list(runs)
    for position, one in enumerate(names):
        for other in names[position + 1:]:
            assert difference(runs[one], runs[other]) > 1e-5, (one, other)


def test_l2_makes_the_weight_matrices_smaller(known):
    def size(run):
        return sum(float((weight ** 2).sum()) for name, weight in run.weights.items()
                   if name.endswith(("W", "x2i", "h2i")))

    flags = ["--optimization=SGD", "--il-beta=1"]
    without, little, much = known(*flags), known(*flags, "--l2=0.01"), known(*flags, "--l2=0.1")
    assert size(much) < size(little) < size(without)
    assert without.model_bytes == known(*flags, "--l2=0").model_bytes


def test_dropout_changes_training_but_not_decoding(known):
    without, dropped = known(), known("--dropout=0.5")
    assert without.model_bytes == known("--dropout=0").model_bytes
    assert dropped.losses != without.losses
    lines = dropped.predictions("greedy.dev")
    predicted = il_morph.load(dropped.model_path).predict([(lemma, tag) for lemma, _, tag in lines], beam_width=1)
    assert predicted == [form for _, form, _ in lines]


def test_batch_size(known):
    """Ten samples: ten updates, one update; more than all samples are one batch."""
    one, half, whole, more = (known(f"--batch-size={size}") for size in (1, 5, 10, 11))
    assert difference(one, half) > 1e-5
    assert difference(half, whole) > 1e-5
    assert difference(whole, more) == 0
    assert one.model_bytes == known().model_bytes


def test_epochs(known):
    assert [len(known(f"--epochs={epochs}").log) for epochs in (1, 2)] == [1, 2]


def test_patience(train, caplog):
    """ADAM takes small steps: the dev accuracy stays 0."""
    caplog.set_level("INFO")
    run = train("--optimization=ADAM", "--epochs=9", "--patience=2", "--pick-ties=earlier")
    assert {row["dev_accuracy"] for row in run.log} == {"0.0000"}
    assert len(run.log) == 3
    assert run.stats["training"]["best_epoch"] == 0
    assert "no improvement in 2 epochs: stopping" in caplog.text


def test_pick_loss(known):
    by_accuracy, by_loss = known("--epochs=3", "--pick-ties=earlier"), known("--epochs=3", "--pick-loss")
    assert by_accuracy.losses == by_loss.losses
    assert {row["dev_loss"] for row in by_accuracy.log} == {"NA"}
    losses = [float(row["dev_loss"]) for row in by_loss.log]
    assert by_loss.stats["training"]["best_epoch"] == losses.index(min(losses)) > 0
    assert by_accuracy.stats["training"]["best_epoch"] == 0
    assert difference(by_accuracy, by_loss) > 1e-5


def test_verbose_shows_dev_predictions(train, caplog):
    caplog.set_level("INFO")
    train("--verbose=0")
    assert "gold:" not in caplog.text
    train("--verbose=1", "--epochs=2")
    assert len(re.findall(r"dev: walk \+ V;PST -> \w* \(gold: walked\)", caplog.text)) == 2


# Decoding

def test_beam_width_is_that_of_the_dev_accuracy(train, monkeypatch):
    widths, best_outputs = [], SearchModel.best_outputs

    def recording(inference, instances, width=1, *arguments):
        widths.append((len(instances), width))
        return best_outputs(inference, instances, width, *arguments)

    monkeypatch.setattr(SearchModel, "best_outputs", recording)
    train("--beam-width=3")
    assert widths == [(len(TRAIN), 1), (4, 3)]
    widths.clear()
    train()
    assert [max(1, width) for _, width in widths] == [1, 1]


def test_beam_width_chooses_the_epoch(known, trained):
    """The dev accuracy of an epoch is that of its beam."""
    for width in (0, 4):
        run = known(f"--reload-path={trained.folder}", f"--beam-width={width}", "--epochs=1", "--input=24",
                    "--feat-input=12", "--enc-hidden=32", "--dec-hidden=32")
        name = "beam4.dev" if width else "greedy.dev"
        assert run.stats["training"]["dev_accuracy"] == run.stats["scores"][name]["accuracy"]


@pytest.mark.parametrize("widths, found", [("4", {4}), ("2,3", {2, 3}), ("0", set()), ("3,0,3", {3})])
def test_beam_widths_are_those_of_the_final_decoding(known, widths, found):
    run = known(f"--beam-widths={widths}")
    assert {name for name in run.files if name.endswith("predictions")} == {
        "f.greedy.dev.predictions", *(f"f.beam{width}.dev.predictions" for width in found)}
    assert set(run.stats["scores"]) == {"greedy.dev", *(f"beam{width}.dev" for width in found)}


def test_decbatch_size_changes_batches_but_not_results(train, monkeypatch):
    sizes = []

    class Recording(BeamSearch):
        def __init__(self, inference, instances, width):
            sizes.append(len(instances))
            super().__init__(inference, instances, width)

    monkeypatch.setattr("il_morph.model.search.BeamSearch", Recording)
    whole = train("--pick-loss", "--epochs=2")
    assert max(sizes) == len(TRAIN)
    sizes.clear()
    small = train("--pick-loss", "--epochs=2", "--decbatch-size=3")
    assert max(sizes) == 3
    assert difference(whole, small) == 0
    for name in ("f.greedy.dev.predictions", "f.beam4.dev.predictions", "f.beam4.dev.eval"):
        assert whole.text(name) == small.text(name)


# DyNet

MEASURED = """
import sys
from il_morph.commands import main
code = main(sys.argv[1:])
import dynet_config
print(dynet_config.get()["mem"], dynet_config.get()["autobatch"],
      *[line.split()[1] for line in open("/proc/self/status") if line.startswith("VmPeak")])
sys.exit(code)
"""


def measured(data, folder, *flags) -> list:
    arguments = training_arguments(data, folder, flags, defaults=[*SMALL, "--epochs=2", "--dynet-seed=1"])
    process = subprocess.run([sys.executable, "-c", MEASURED, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return [int(value) for value in process.stdout.split()]


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process in /proc")


@needs_proc
def test_dynet_mem(data, tmp_path):
    mem, _, least = measured(data, tmp_path / "little", "--dynet-mem=16")
    assert mem == 16
    mem, _, most = measured(data, tmp_path / "much", "--dynet-mem=400")
    assert mem == 400
    assert most - least > 300 * 1024  # kB
    assert Run(tmp_path / "little").model_bytes == Run(tmp_path / "much").model_bytes


@needs_proc
@pytest.mark.parametrize("flags", [
    pytest.param(["--il-beta=1"], marks=pytest.mark.slow), ["--il-beta=0"],
    pytest.param(["--batch-size=5"], marks=pytest.mark.slow)], ids=" ".join)
def test_dynet_autobatch(data, tmp_path, known, flags):
    _, autobatch, _ = measured(data, tmp_path / "batched", "--dynet-autobatch=1", *flags)
    assert autobatch == 1
    losses = known("--epochs=2", *flags).losses
    assert Run(tmp_path / "batched").losses == pytest.approx(losses, abs=2e-3)  # float32 sums in another order


# Imitation learning: what the flags mean is in test_objectives.py, here that they get there

DIFFERENT = [
    (["--il-loss=nll"], ["--il-loss=softmax-margin"]),
    (["--il-loss=nll"], ["--il-loss=mse"]),
    (["--il-loss=softmax-margin"], ["--il-loss=mse"]),
    (["--il-beta=1"], ["--il-beta=0"]),
    (["--il-k=12"], ["--il-k=3"]),
    (["--il-decay=inverse-sigmoid"], ["--il-decay=exponential"]),
    (["--il-beta=1"], ["--il-beta=1", "--il-rollin=uniform"]),
    (["--il-loss=softmax-margin"], ["--il-loss=softmax-margin", "--no-il-global-rollout"]),
    (["--il-loss=softmax-margin"], ["--il-loss=softmax-margin", "--no-il-optimal-oracle"]),
    (["--il-loss=softmax-margin", "--il-beta=0"],
     ["--il-loss=softmax-margin", "--il-beta=0", "--il-rollout-loss=distance"]),
    (["--il-loss=softmax-margin", "--il-beta=0"], ["--il-loss=softmax-margin", "--il-beta=0", "--il-bias-inserts"]),
    (["--il-tforcing-epochs=0"], ["--il-tforcing-epochs=1"]),
]


@pytest.mark.parametrize("flags, others", DIFFERENT, ids=[" ".join(others) for _, others in DIFFERENT])
def test_imitation_learning_flags_change_the_model(known, flags, others):
    assert difference(known(*flags), known(*others)) > 1e-5


@pytest.mark.parametrize("flags", [
    ["--il-loss=nll"], ["--il-decay=inverse-sigmoid"], ["--il-k=12"], ["--il-tforcing-epochs=0"], ["--il-rollin=best"],
    ["--il-beta=0.5"], ["--il-global-rollout"], ["--il-rollout-loss=edits"], ["--il-optimal-oracle"], ["--model=ca-r"],
    ["--mode=il"], ["--transducer=haem"],
], ids=" ".join)
def test_defaults_given_as_flags_change_nothing(known, flags):
    assert known(*flags).model_bytes == known().model_bytes


def test_presets_are_their_flags(known):
    assert known("--model=ca-d").model_bytes == known("--il-beta=1").model_bytes
    assert known("--model=ca-rm").model_bytes == known("--il-loss=softmax-margin").model_bytes


def test_epochs_of_teacher_forcing(known):
    """Exponential decay begins with expert roll-ins anyway, and it begins after them: n epochs more of those."""
    flags = ["--il-beta=1", "--epochs=3", "--il-decay=exponential", "--il-k=0.2"]
    none, one, two = (known(*flags, f"--il-tforcing-epochs={epochs}").losses for epochs in (0, 1, 2))
    assert none[0] == one[0] == two[0]
    assert none[1] != one[1] == two[1]
    assert one[2] != two[2]
    assert known("--il-beta=1", "--il-tforcing-epochs=1").losses[0] == one[0] != known("--il-beta=1").losses[0]
