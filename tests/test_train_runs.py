"""Whole runs of `il-morph train`: the authors' command line, the results folder, reproducibility, reloading, Ctrl-C."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import il_morph
from il_morph.commands import main
from il_morph.data.formats import SIGMORPHON2017, read_samples
from il_morph.model.modelfile import load_model
from tests.cli import ROOT, SHORT, SMALL, TEST, TRAIN, Run, environment_without_dynet, error_of, training_arguments
from tests.cli import il_morph as run_il_morph

pytest.importorskip("dynet")

PARTS = [f"{search}.{part}" for search in ("greedy", "beam4") for part in ("dev", "test")]


# The line that the authors' users have in their scripts, with smaller sizes

DROP_IN = (
    "train --dynet-seed 1 --dynet-mem 500 --dynet-autobatch 0 --transducer=haem --sigm2017format --input=8 "
    "--feat-input=4 --action-input=8 --pos-emb --enc-hidden=9 --dec-hidden=10 --enc-layers=1 --dec-layers=1 --mlp=0 "
    "--nonlin=ReLU --il-optimal-oracle --il-loss=nll --il-beta=0.5 --il-global-rollout --dropout=0 "
    "--optimization=ADADELTA --l2=0 --batch-size=1 --decbatch-size=25 --patience=15 --epochs=2 --tag-wraps=both "
    "--param-tying --mode=il --beam-width=0 --beam-widths=4 {train} {dev} {results} --test-path={test}")
MEANING = {
    "transducer": "haem", "format": "sigmorphon2017", "input": 8, "feat_input": 4, "action_input": 8, "pos_emb": True,
    "enc_hidden": 9, "dec_hidden": 10, "enc_layers": 1, "dec_layers": 1, "mlp": 0, "nonlin": "ReLU",
    "il_optimal_oracle": True, "il_loss": "nll", "il_beta": 0.5, "il_global_rollout": True, "dropout": 0.0,
    "optimization": "ADADELTA", "l2": 0.0, "batch_size": 1, "decbatch_size": 25, "patience": 15, "epochs": 2,
    "tag_wraps": "both", "param_tying": True, "mode": "il", "beam_width": 0, "beam_widths": [4],
    "vanilla_lstm": False, "avm_feat_format": False, "pick_loss": False, "il_bias_inserts": False,
    "il_decay": "inverse-sigmoid", "il_k": 12.0, "il_tforcing_epochs": 0, "il_rollin": "best",
    "il_rollout_loss": "edits", "reload_path": None,
}


def test_the_authors_command_line_runs_and_means_the_same(data, tmp_path):
    line = DROP_IN.format(train=data("train"), dev=data("dev"), test=data("test"), results=tmp_path / "results")
    process = run_il_morph(*line.split())
    assert process.returncode == 0, process.stderr
    assert process.stdout == ""
    run = Run(tmp_path / "results")
    assert {name: run.settings[name] for name in MEANING} == MEANING
    assert run.stats["seed"] == 1
    assert run.stats["command"] == ["il-morph", *line.split()]
    assert run.stats["training"]["epochs"] == len(run.log) == 2
    assert set(run.stats["scores"]) == set(PARTS)
    assert run.weights["encoder_forward.0.x2i"].shape == (9, 8)
    assert run.weights["decoder.0.h2i"].shape == (10, 10)


# The results folder

def test_the_results_folder_is_complete(trained):
    assert trained.files == {"f.model", "f.log", "f.stats"} | {
        f"f.{part}.{kind}" for part in PARTS for kind in ("predictions", "eval")}


@pytest.mark.parametrize("name", PARTS)
def test_predictions_follow_the_data_line_by_line(trained, data, name):
    samples = read_samples(data(name.split(".")[1]), SIGMORPHON2017)
    rows = trained.predictions(name)
    assert [(lemma, tag) for lemma, _, tag in rows] == [(sample.input, sample.tag) for sample in samples]


@pytest.mark.parametrize("name", PARTS)
def test_scores_are_those_of_evaluate(trained, data, name, capsys):
    gold, predictions = data(name.split(".")[1]), str(trained.folder / f"f.{name}.predictions")
    assert main(["evaluate", "--sigm2017format", "--format=json", gold, predictions]) == 0
    scores = json.loads(capsys.readouterr().out)["files"][0]
    ours = trained.stats["scores"][name]
    for measure in ("samples", "accuracy", "levenshtein", "normalised_levenshtein", "by_pos"):
        assert ours[measure] == scores[measure]


@pytest.mark.parametrize("width, search", [("1", "greedy"), ("4", "beam4")])
def test_eval_files_are_what_evaluate_prints_for_all_hypotheses(trained, data, tmp_path, capsys, width, search):
    output = str(tmp_path / "nbest")
    assert main(["predict", f"--nbest={width}", f"--beam-width={width}", trained.model_path, data("dev"), output]) == 0
    capsys.readouterr()
    assert main(["evaluate", "--sigm2017format", data("dev"), output]) == 0
    assert trained.text(f"f.{search}.dev.eval") == capsys.readouterr().out


def test_the_log_has_a_row_for_each_epoch(trained):
    assert list(trained.log[0])[-6:] == ["epoch", "seconds", "loss", "train_accuracy", "dev_accuracy", "dev_loss"]
    assert [row["epoch"] for row in trained.log] == [str(epoch) for epoch in range(25)]
    assert trained.losses[-1] < trained.losses[0] / 2
    for row in trained.log:
        assert 0 <= float(row["train_accuracy"]) <= 100
        assert float(row["seconds"]) > 0
        assert row["dev_loss"] == "NA"


def test_the_model_is_that_of_the_best_epoch(trained):
    accuracies = [float(row["dev_accuracy"]) for row in trained.log]
    assert max(accuracies) > min(accuracies)
    training = trained.stats["training"]
    assert training["best_epoch"] == accuracies.index(max(accuracies))
    assert training["dev_accuracy"] == max(accuracies) == trained.stats["scores"]["greedy.dev"]["accuracy"]
    assert training["epochs"] == 25


def test_the_run_is_recorded(trained, data):
    stats = trained.stats
    assert stats["il_morph"] == il_morph.__version__
    assert stats["command"][:2] == ["il-morph", "train"]
    assert stats["command"][-1] == str(trained.folder)
    assert stats["seed"] == 1
    assert stats["settings"]["enc_hidden"] == 32
    assert stats["training"]["seconds"] > 0


def test_a_covered_test_file_is_predicted_without_scores(train, data):
    run = train(f"--test-path={data('test', 'covered')}")
    assert [row[0] for row in run.predictions("beam4.test")] == [lemma for lemma, _, _ in TEST]
    assert all(len(row) == 3 for row in run.predictions("greedy.test"))
    assert "f.greedy.test.eval" not in run.files
    assert set(run.stats["scores"]) == {"greedy.dev", "beam4.dev"}


def test_without_a_test_file_only_dev_is_predicted(train):
    run = train()
    assert {name for name in run.files if "test" in name} == set()


def test_formats(train):
    of_2016, plain, columns = (train(layout=layout) for layout in ("2016", "plain", "columns"))
    assert of_2016.settings["format"] == "sigmorphon2016"
    assert of_2016.predictions("greedy.dev")[0][:2] == ["walk", "pos=V,tense=PST"]
    assert of_2016.model.vocabulary.pos.symbols[1:] == ["pos=V", "pos=N"]
    for run in plain, columns:
        assert run.settings["format"] == "no-features"
        assert run.settings["pos_emb"] is False
        assert run.model.vocabulary.features.symbols[1:] == [""]
        assert run.predictions("greedy.dev")[0][:2] == ["walk", ""]
    assert plain.model_bytes == columns.model_bytes


# The same command gives the same bytes

def test_the_same_command_gives_the_same_bytes(data, tmp_path):
    flags = ["--epochs=2", "--dynet-seed=5", "--dropout=0.2", "--il-loss=softmax-margin", f"--test-path={data('test')}"]
    runs = []
    for hash_seed in "1", "2":
        folder = tmp_path / f"results{hash_seed}"
        process = run_il_morph(*training_arguments(data, folder, flags),
                               env={**os.environ, "PYTHONHASHSEED": hash_seed})
        assert process.returncode == 0, process.stderr
        runs.append(Run(folder))
    first, second = runs
    assert first.model_bytes == second.model_bytes
    assert first.losses == second.losses
    for part in PARTS:
        assert first.text(f"f.{part}.predictions") == second.text(f"f.{part}.predictions")
        assert first.text(f"f.{part}.eval") == second.text(f"f.{part}.eval")


def test_another_seed_gives_another_model(train):
    first, second, again = (train(f"--dynet-seed={seed}") for seed in (1, 2, 1))
    assert first.model_bytes == again.model_bytes
    assert (first.weights["output.W"] != second.weights["output.W"]).any()
    assert first.losses != second.losses


def test_zero_is_a_seed_like_others(train):
    first, second = train("--dynet-seed=0"), train("--dynet-seed=0")
    assert first.stats["seed"] == 0
    assert first.model_bytes == second.model_bytes


def test_without_a_seed_one_is_drawn_and_recorded(data, tmp_path, train):
    drawn = []
    for name in "first", "second":
        arguments = training_arguments(data, tmp_path / name, [], defaults=[*SMALL, "--epochs=1"])
        assert main(arguments) == 0
        drawn.append(Run(tmp_path / name))
    first, second = drawn
    assert first.stats["seed"] != second.stats["seed"]
    assert first.model_bytes != second.model_bytes
    assert train(f"--dynet-seed={first.stats['seed']}").model_bytes == first.model_bytes


def test_the_seed_may_stand_apart(data, tmp_path, train):
    arguments = training_arguments(data, tmp_path / "apart", ["--dynet-seed", "1"], defaults=[*SMALL, "--epochs=1"])
    assert main(arguments) == 0
    assert Run(tmp_path / "apart").model_bytes == train("--dynet-seed=1").model_bytes


# --reload-path and --mode=eval

def test_reloading_goes_on_where_the_model_stands(train):
    first = train("--epochs=4", "--pick-loss")
    for path in first.folder, first.model_path:
        second = train(f"--reload-path={path}")
        assert second.losses[0] < first.losses[0] - 0.1
        assert second.settings["reload_path"] == str(path)
        assert second.stats["training"]["epochs"] == 1


def test_reloading_takes_the_settings_of_the_network_over(data, tmp_path, train):
    first = train("--mlp=5", "--nonlin=tanh", "--vanilla-lstm")
    arguments = training_arguments(data, tmp_path / "second", [f"--reload-path={first.folder}"], defaults=SHORT)
    assert main(arguments) == 0
    second = Run(tmp_path / "second")
    for name in ("mlp", "nonlin", "vanilla_lstm", "enc_hidden", "input"):
        assert second.settings[name] == first.settings[name]
    assert second.weights["hidden.W"].shape == (5, 8)


def test_reloading_keeps_the_vocabulary(data, tmp_path, train, caplog):
    first = train()
    more = tmp_path / "more"
    more.write_text("zebra\tzebras\tN;PL\nwalk\twalked\tV;PST\nquiz\tquizze\tN;DU\n", encoding="utf-8")
    folder = tmp_path / "second"
    assert main(["train", "--sigm2017format", *SHORT, f"--reload-path={first.folder}", str(more), data("dev"),
                 str(folder)]) == 0
    second = Run(folder)
    assert second.model.vocabulary.as_dict() == first.model.vocabulary.as_dict()
    assert "z" not in second.model.vocabulary.characters
    assert 0 < second.losses[0] < 100
    assert "train: 2 of 3 samples have output characters that the reloaded model does not know" in caplog.text


def test_reloading_refuses_data_without_a_known_output(data, tmp_path, train, capsys):
    first, other = train(), tmp_path / "other"
    other.write_text("дом\tдома\tN;PL\n", encoding="utf-8")
    message = error_of(capsys, "train", "--sigm2017format", f"--reload-path={first.folder}", str(other), data("dev"),
                       str(tmp_path / "no"))
    assert "no training output consists of characters that the model of --reload-path knows" in message
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("flags, message", [
    (["--enc-hidden=9"], "--enc-hidden: the model {} was trained with 8, not 9"),
    (["--vanilla-lstm"], "--vanilla-lstm: the model {} was trained with False, not True"),
    (["--no-pos-emb"], "--no-pos-emb: the model {} was trained with True, not False"),
])
def test_reloading_refuses_flags_that_contradict_the_model(data, tmp_path, train, capsys, flags, message):
    first = train()
    arguments = training_arguments(data, tmp_path / "no", [f"--reload-path={first.folder}", *flags], defaults=SHORT)
    assert message.format(first.folder) in error_of(capsys, *arguments)
    assert not (tmp_path / "no").exists()


def test_reloading_refuses_data_of_another_format(data, tmp_path, train, capsys):
    first = train()
    arguments = training_arguments(data, tmp_path / "no", [f"--reload-path={first.folder}"], "2016", SHORT)
    message = error_of(capsys, *arguments)
    assert "does not look like the sigmorphon2017 format (--sigm2017format) but like sigmorphon2016" in message
    assert f"give data in the format that the model {first.folder} was trained on" in message
    arguments = training_arguments(data, tmp_path / "no", [f"--reload-path={first.folder}"], "plain", SHORT)
    message = error_of(capsys, *arguments)
    assert "reads the sigmorphon2017 format (--sigm2017format), not no-features (--no-feat-format)" in message


def test_eval_decodes_with_a_trained_model(trained, data, tmp_path):
    flags = ["--mode=eval", f"--reload-path={trained.folder}", f"--test-path={data('test')}"]
    assert main(training_arguments(data, tmp_path / "eval", flags, defaults=[])) == 0
    run = Run(tmp_path / "eval")
    for part in PARTS:
        assert run.text(f"f.{part}.predictions") == trained.text(f"f.{part}.predictions")
        assert run.text(f"f.{part}.eval") == trained.text(f"f.{part}.eval")
    assert run.stats["scores"] == trained.stats["scores"]
    assert run.settings["mode"] == "eval"
    assert run.settings["enc_hidden"] == 32
    assert not run.files & {"f.model", "f.log"}


def test_eval_needs_a_model(data, tmp_path, capsys):
    arguments = training_arguments(data, tmp_path / "eval", ["--mode=eval"])
    assert "--mode=eval needs a model: give its path with --reload-path" in error_of(capsys, *arguments)
    assert not (tmp_path / "eval").exists()


def test_eval_in_the_folder_of_the_model_keeps_the_model(train, data):
    run = train()
    before = run.model_bytes
    arguments = training_arguments(data, run.folder, ["--mode=eval", f"--reload-path={run.folder}", "--force",
                                                      "--beam-widths=2"], defaults=[])
    assert main(arguments) == 0
    assert run.model_bytes == before
    assert "f.beam2.dev.predictions" in run.files and "f.beam4.dev.predictions" not in run.files


# A finished run

def test_a_finished_run_is_only_overwritten_with_force(train, data, capsys):
    run = train(f"--test-path={data('test')}")
    before = {name: (run.folder / name).read_bytes() for name in run.files}
    message = error_of(capsys, *training_arguments(data, run.folder, ["--dynet-seed=2"]))
    assert message == f"{run.folder} holds a finished run; choose another folder, or overwrite it with --force\n"
    assert {name: (run.folder / name).read_bytes() for name in run.files} == before
    again = train("--dynet-seed=2", "--force", folder=run.folder)
    assert again.stats["seed"] == 2
    assert again.model_bytes != before["f.model"]
    assert {name for name in again.files if "test" in name} == set()


def test_an_unfinished_run_is_only_started_over_with_force(train, data, capsys):
    """With DyNet, whose trainers cannot go on: the model that is there may be the better one."""
    run = train()
    (run.folder / "f.stats").unlink()
    model = run.model_bytes
    message = error_of(capsys, *training_arguments(data, run.folder, ["--dynet-seed=2"]))
    assert "holds an unfinished run (1 epochs, best dev accuracy" in message and "start over with --force" in message
    assert run.model_bytes == model
    again = train("--dynet-seed=2", "--force", folder=run.folder)
    assert again.stats["seed"] == 2


# Ctrl-C

def begin_training(data, folder, samples=TRAIN):
    path = data.path("endless")
    path.write_text("".join(f"{lemma}\t{form}\t{tag}\n" for lemma, tag, form in samples), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "il_morph", "train", "--sigm2017format", *SMALL, "--epochs=100000", "--patience=100000",
         str(path), data("dev"), str(folder)], cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8",
        # a shell that started the tests in the background may have told them to ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def interrupt_when(process, ready, after=0.0) -> str:
    """Send Ctrl-C so many seconds after the condition has come to hold; what the command says."""
    try:
        while not ready() and process.poll() is None:
            time.sleep(0.02)
        assert ready(), "the training did not begin"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        return process.communicate()[1]
    finally:
        process.kill()


needs_signals = pytest.mark.skipif(os.name != "posix", reason="sends Ctrl-C as POSIX systems do")


@needs_signals
def test_ctrl_c_keeps_the_best_model_and_says_where(data, tmp_path):
    folder = tmp_path / "results"
    process = begin_training(data, folder)
    log = folder / "f.log"
    said = interrupt_when(process, lambda: log.exists() and len(log.read_text().splitlines()) > 2)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "interrupted: the best model so far (epoch " in said
    assert f"is {folder / 'f.model'}\n" in said
    assert {path.name for path in folder.iterdir()} == {"f.model", "f.log"}
    assert load_model(folder / "f.model").vocabulary.settings.enc_hidden == 8
    assert main(["predict", str(folder / "f.model"), data("dev"), str(tmp_path / "predictions")]) == 0


@needs_signals
def test_ctrl_c_before_the_end_of_the_first_epoch(data, tmp_path):
    folder = tmp_path / "results"
    process = begin_training(data, folder, TRAIN * 500)
    said = interrupt_when(process, folder.exists, after=0.5)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "interrupted before the end of the first epoch: no model was written" in said
    assert not (folder / "f.model").exists()


# Unseen symbols, and no DyNet

def test_symbols_unseen_in_training_are_counted_and_reported(data, tmp_path):
    dev = tmp_path / "dev"
    dev.write_text("quiz\tquizzes\tN;PL\nwalk\twälkt\tV;PST\nwalk\twalk\tADJ;PST\ndog\tdogs\tN;DU\n", encoding="utf-8")
    process = run_il_morph("train", "--sigm2017format", *SMALL, *SHORT, "--pick-loss", data("train"), str(dev),
                           str(tmp_path / "results"))
    assert process.returncode == 0, process.stderr
    assert "dev: 1 of 4 samples have input characters unseen in training" in process.stderr
    assert "dev: 2 of 4 samples have output characters unseen in training" in process.stderr
    assert "dev: 2 of 4 samples have features unseen in training" in process.stderr
    assert len(Run(tmp_path / "results").predictions("beam4.dev")) == 4


def test_nothing_is_reported_when_all_symbols_are_known(data, tmp_path):
    process = run_il_morph("train", "--sigm2017format", *SMALL, *SHORT, data("train"), data("train"),
                           str(tmp_path / "results"))
    assert process.returncode == 0, process.stderr
    assert "unseen" not in process.stderr


def test_training_without_dynet_is_refused_and_leaves_finished_runs_alone(trained, data, tmp_path):
    environment = environment_without_dynet(tmp_path)
    before = {name: (trained.folder / name).read_bytes() for name in trained.files}
    for folder in tmp_path / "results", trained.folder:
        process = run_il_morph(*training_arguments(data, folder, ["--force"]), env=environment)
        assert process.returncode == 2
        assert process.stderr.splitlines()[-1] == (
            "il-morph: error: training needs DyNet, which is not installed here: pip install dyNET38")
    assert not (tmp_path / "results").exists()
    assert {name: (trained.folder / name).read_bytes() for name in trained.files} == before


def test_eval_works_without_dynet(trained, data, tmp_path):
    arguments = training_arguments(data, tmp_path / "eval", ["--mode=eval", f"--reload-path={trained.folder}"],
                                   defaults=[])
    process = run_il_morph(*arguments, env=environment_without_dynet(tmp_path))
    assert process.returncode == 0, process.stderr
    assert Run(tmp_path / "eval").text("f.beam4.dev.eval") == trained.text("f.beam4.dev.eval")


def test_a_folder_whose_name_is_not_utf8(data, tmp_path):
    pytest.importorskip("dynet")
    folder = tmp_path / os.fsdecode(b"r\xe9sultats")
    assert main(training_arguments(data, folder, [])) == 0
    assert Run(folder).stats["scores"]["greedy.dev"]["samples"] == 4
