"""--model=best: what it sets depends on the size of the training data, and the log says it."""
import pytest

from il_morph.commands import main
from il_morph.model.settings import RECIPES, TrainingSettings, recipe_for
from il_morph.runs.asked import value_of
from il_morph.runs.spec import SETTINGS, RunSpec
from tests.cli import TRAIN, Run, as_2017, error_of, training_arguments

FEW, SOME, MANY = recipe_for(100), recipe_for(1000), recipe_for(10_000)


def spec_of(**others) -> RunSpec:
    return RunSpec("train", "dev", "results", **{"model": "best", **others})


@pytest.mark.parametrize("recipe", RECIPES.values())
def test_recipes_are_settings_with_values_that_flags_could_have(recipe):
    assert {name: value_of(SETTINGS[name], value) for name, value in recipe.items()} == recipe


def test_the_size_of_the_data_decides():
    assert FEW["augment"] and recipe_for(1) == FEW == recipe_for(300)
    assert FEW != SOME == recipe_for(301) == recipe_for(3000) and SOME["augment"] != FEW["augment"]
    assert SOME != MANY == recipe_for(3001) and "augment" not in MANY
    assert spec_of().for_data(100).training == TrainingSettings(**FEW)
    assert spec_of().for_data(1000).training == TrainingSettings(**SOME)
    assert spec_of().for_data(10_000).training == TrainingSettings(**MANY)


def test_explicit_settings_win_and_stay_explicit_when_the_run_is_read_back():
    spec = spec_of(settings={"epochs": 3, "augment": "0"}).for_data(100)
    assert spec.training == TrainingSettings(**{**FEW, "epochs": 3, "augment": "0"})
    assert RunSpec.from_dict(spec.as_dict()).for_data(5000) == spec.for_data(5000)
    assert spec.for_data(100) == spec


@pytest.mark.parametrize("model", [None, "ca-r", "ca-d", "g2p"])
def test_no_other_preset_depends_on_the_data(model):
    spec = spec_of(model=model)
    assert spec.for_data(100) is spec


def test_the_log_names_what_is_set_and_a_training_has_it(data, tmp_path, caplog):
    caplog.set_level("INFO")
    flags = ["--engine=native", "--model=best", "--epochs=2"]
    assert main(training_arguments(data, tmp_path / "few", flags)) == 0
    said = next(line for line in caplog.messages if "--model=best sets" in line)
    assert said == ("--model=best sets for 10 training samples: --patience=16 --il-k=9 --augment=200,100@10,30@20 "
                    "--il-rollin=uniform --average-weights=0.995")
    assert {name: Run(tmp_path / "few").settings[name] for name in FEW} == {**FEW, "epochs": 2}


@pytest.mark.parametrize("times, recipe", [(31, SOME), (301, MANY)])
def test_larger_data_has_another_recipe(times, recipe, data, tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text(as_2017(TRAIN * times), encoding="utf-8")
    flags = ["--input=4", "--enc-hidden=4", "--dec-hidden=4", "--feat-input=2", "--engine=native", "--epochs=1"]
    assert main(["train", "--model=best", *flags, str(path), data("dev"), str(tmp_path / "run")]) == 0
    settings = Run(tmp_path / "run").settings
    assert {name: settings[name] for name in recipe} == recipe
    assert settings["augment"] == recipe.get("augment", "")


def test_what_the_preset_sets_is_refused_in_words_that_help(data, tmp_path, capsys):
    message = error_of(capsys, *training_arguments(data, tmp_path / "run", ["--model=best", "--pretrain-epochs=2"]))
    assert "--augment makes samples for --mode=il alone" in message and "with --model=best" in message
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_several_seeds_of_the_preset_are_trained_alike(data, tmp_path):
    flags = ["--engine=native", "--model=best", "--epochs=1", "--augment=5", "--seeds=1,2", "--jobs=1"]
    arguments = [each for each in training_arguments(data, tmp_path / "run", flags) if "--dynet-seed" not in each]
    assert main(arguments) == 0
    runs = [Run(tmp_path / "run" / seed) for seed in "12"]
    assert [run.settings["average_weights"] for run in runs] == [FEW["average_weights"]] * 2
    assert main(arguments) == 0  # finished already: the same flags belong to the same runs


def test_an_evaluation_needs_no_training_data(data, tmp_path):
    flags = ["--engine=native", "--epochs=1", "--augment=3", "--model=best"]
    assert main(training_arguments(data, tmp_path / "run", flags)) == 0
    assert main(["train", "--model=best", "--mode=eval", f"--reload-path={tmp_path / 'run'}", data("train"),
                 data("dev"), str(tmp_path / "evaluated")]) == 0
