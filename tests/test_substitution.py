"""SUBSTITUTE, learnt costs and all nearest prefixes in whole runs of both engines."""
from __future__ import annotations

from dataclasses import fields

import pytest

from il_morph.commands import main
from il_morph.data.formats import Sample
from il_morph.model.modelfile import load_model, save_model
from il_morph.model.predictor import Predictor
from il_morph.model.settings import PRESETS, TrainingSettings
from il_morph.model.unknown import Unknown
from il_morph.training.imitation import model_rollin_probability
from tests.cli import crossed

WORDS = ["ba", "ab", "cab", "bac", "abc", "cb", "bca", "acb"]
SIZES = ["--input=12", "--action-input=12", "--enc-hidden=20", "--dec-hidden=20", "--no-feat-format", "--dynet-seed=1"]


def transduced(word):
    return " ".join({"a": "ɑ", "b": "b", "c": "ts"}[letter] for letter in word)


def trained(folder, *flags):
    (folder / "train").write_text("".join(f"{word}\t{transduced(word)}\n" for word in WORDS * 20), encoding="utf-8")
    path = str(folder / "train")
    assert main(["train", *SIZES, *flags, path, path, str(folder / "results")]) == 0
    return load_model(folder / "results")


@pytest.mark.parametrize("engine, flags", crossed(["native", "dynet"], [
    ["--model=g2p", "--epochs=30"],
    ["--model=ca-rm", "--transducer=substitute", "--il-prefixes=all", "--il-costs=learnt",
     "--il-rollout-loss=distance", "--epochs=16"]]))
def test_both_engines_learn_to_substitute(engine, flags, tmp_path):
    if engine == "dynet":
        pytest.importorskip("dynet")
        flags = [*flags, "--dynet-mem=16"]
    model = trained(tmp_path, f"--engine={engine}", *flags)
    found = [ranked[0] for ranked in Predictor(model).nbest(WORDS, n=1)]
    assert [each.output for each in found] == [transduced(word) for word in WORDS]
    assert any("~" in each.actions for each in found)


def test_the_model_file_keeps_the_expert(tmp_path, capsys):
    model = trained(tmp_path, "--engine=native", "--model=g2p", "--epochs=1", "--output-separator= ")
    copy = tmp_path / "copy.model"
    save_model(copy, model)
    assert copy.read_bytes() == (tmp_path / "results" / "f.model").read_bytes()
    again = load_model(copy).vocabulary
    assert again.all_prefixes and again.learnt_costs.as_dict() == model.vocabulary.learnt_costs.as_dict()
    assert again.symbols.symbol(again.learnt_costs.outputs[-1]) == "ts"
    capsys.readouterr()
    assert main(["explain", str(tmp_path / "results"), "cab", "--gold=ts ɑ b"]) == 0
    assert "instead of substitute ts" in capsys.readouterr().out


def test_the_paper_s_model_file_has_no_expert(tmp_path):
    model = trained(tmp_path, "--engine=native", "--model=ca-d", "--epochs=1")
    assert "expert" not in model.vocabulary.as_dict()


def test_the_paper_s_system_learns_with_learnt_costs_and_all_prefixes(tmp_path):
    model = trained(tmp_path, "--engine=native", "--model=ca-d", "--il-prefixes=all", "--il-costs=learnt", "--epochs=8")
    assert Predictor(model).predict(WORDS) == [transduced(word) for word in WORDS]


@pytest.mark.parametrize("flag", ["--il-rules=program", "--no-il-optimal-oracle", "--il-bias-inserts"])
def test_all_prefixes_refuse_what_counts_one_place(flag, tmp_path, capsys):
    (tmp_path / "train").write_text("a\tb\n", encoding="utf-8")
    path = str(tmp_path / "train")
    assert main(["train", *SIZES, "--il-prefixes=all", flag, path, path, str(tmp_path / "results")]) == 2
    assert f"--il-prefixes=all and {flag} exclude each other" in capsys.readouterr().err


def test_inputs_are_decomposed_and_outputs_composed(tmp_path):
    (tmp_path / "train").write_text("é\te\u0301\n" * 5, encoding="utf-8")
    path = str(tmp_path / "train")
    assert main(["train", *SIZES, "--engine=native", "--model=g2p", "--epochs=1", path, path,
                 str(tmp_path / "results")]) == 0
    costs = load_model(tmp_path / "results").vocabulary.learnt_costs
    assert costs.inputs == ["e", "\u0301"] and costs.outputs == ["é"]


def training_of(preset):
    names = {each.name for each in fields(TrainingSettings)}
    return TrainingSettings(**{name: value for name, value in PRESETS[preset].items() if name in names})


def test_g2p_rolls_in_with_the_model_and_segmentation_with_the_expert_alone():
    """1 − k / (k + e^(epoch / k)) with k = 1, as in 2021; no roll-in with the model, as in 2022."""
    assert [model_rollin_probability(training_of("g2p"), epoch) for epoch in (0, 1)] == [0.5, pytest.approx(0.731059)]
    assert model_rollin_probability(training_of("segmentation"), 10_000) == 0


def test_a_preset_refuses_outputs_without_its_boundary(tmp_path, capsys):
    (tmp_path / "train").write_text("hunden\thund|en\nkatt\tkatt\n", encoding="utf-8")
    command = ["train", *SIZES, "--engine=native", "--model=segmentation", "--epochs=1"]
    paths = [str(tmp_path / "train"), str(tmp_path / "train"), str(tmp_path / "results")]
    assert main([*command, *paths]) == 2
    assert 'no output has the boundary " @@": each is one segment; --boundary=""' in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
    assert main([*command, "--boundary=|", *paths]) == 0
    assert load_model(tmp_path / "results").vocabulary.settings.boundary == "|"


def test_what_happens_to_unseen_symbols_is_said(tmp_path, capsys):
    model = trained(tmp_path, "--engine=native", "--model=g2p", "--epochs=1")
    *_, warning = Unknown(model.vocabulary, [Sample("aß", "", None)]).warnings()
    assert "which the model can only copy, delete or substitute: ß (1)" in warning
    assert main(["explain", str(tmp_path / "results"), "ab ż"]) == 0
    assert "the model can only copy, delete or substitute such characters" in capsys.readouterr().out


def test_an_unseen_input_symbol_is_read_as_the_mean_of_the_known_ones(tmp_path):
    """Row 0 of the table, which no training changes, is not used."""
    model = trained(tmp_path, "--engine=native", "--model=g2p", "--epochs=3")
    before = Predictor(model).nbest(["aéb"], n=1)[0][0].log_probability
    model.weights["characters"][0] += 7
    assert Predictor(model).nbest(["aéb"], n=1)[0][0].log_probability == before
