"""Feature bundles in the model file, `il-morph paradigm` and `Predictor.paradigm`."""
import copy
import json
import pickle
import zipfile

import pytest

from il_morph.commands import main
from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.model.modelfile import load_model, save_model
from il_morph.model.predictor import Predictor
from tests.cli import error_of
from tests.random_models import SAMPLES, SETTINGS, TAGGED, random_model

BUNDLES = sorted(sample.tag for sample in TAGGED)


@pytest.fixture
def path(tmp_path):
    save_model(tmp_path / "f.model", random_model(samples=[*TAGGED, TAGGED[0]]))
    return tmp_path / "f.model"


def change_vocabulary(path, change) -> None:
    """Rewrite a model file whose vocabulary was changed."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(content["header.json"])
    change(header["vocabulary"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**content, "header.json": json.dumps(header).encode()}.items():
            archive.writestr(name, data)


@pytest.fixture
def older(path):
    """The model as il-morph 1.0 wrote it, without bundles."""
    change_vocabulary(path, lambda vocabulary: vocabulary.pop("bundles"))
    return path


def paradigm(capsys, *arguments) -> str:
    capsys.readouterr()
    assert main(["paradigm", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_the_model_file_keeps_the_bundles_with_their_counts_in_order_of_first_occurrence(path):
    bundles = load_model(path).vocabulary.bundles
    assert list(bundles.items()) == [(sample.tag, 2 if sample is TAGGED[0] else 1) for sample in TAGGED]


def test_data_without_features_has_no_bundles(tmp_path):
    assert random_model(format="no-features", pos_emb=False).vocabulary.bundles == {}


@pytest.mark.parametrize("bundles", [7, ["V;PST"], [["V;PST", 0]], [["V;PST", "1"]], [[1, 1]], [["V", 1, 1]]])
def test_bundles_that_are_none_are_refused(path, bundles):
    change_vocabulary(path, lambda vocabulary: vocabulary.update(bundles=bundles))
    with pytest.raises(InputError, match="f.model is not a whole il-morph model"):
        load_model(path)


def test_a_paradigm_has_a_form_for_each_bundle(path):
    predictor = Predictor.load(path)
    forms = predictor.paradigm("walk")
    assert [form.features for form in forms] == BUNDLES
    assert [form.output for form in forms] == predictor.predict([("walk", tag) for tag in BUNDLES])
    assert {form.features: form.count for form in forms}["V;PST"] == 2
    best = [found[0].log_probability for found in predictor.hypotheses([Sample("walk", tag, None) for tag in BUNDLES])]
    assert [form.probability for form in forms] == pytest.approx([2.718281828 ** each for each in best])


def test_a_part_of_speech_has_its_own_bundles(path):
    predictor = Predictor.load(path)
    assert [form.features for form in predictor.paradigm("walk", pos="N")] == ["N;PL", "N;PL;ERG"]
    with pytest.raises(InputError, match="no part of speech 'X'; there is: ADJ, N, V"):
        predictor.paradigm("walk", pos="X")


def test_a_part_of_speech_is_named_with_or_without_its_attribute(tmp_path):
    predictor = Predictor(random_model(format="sigmorphon2016"))
    first = SAMPLES["sigmorphon2016"][0].tag.split(",")[0]
    assert predictor.paradigm("walk", pos=first) == predictor.paradigm("walk", pos=first.split("=")[1]) != []


def test_older_models_still_load_but_know_no_paradigm(older, capsys):
    assert len(Predictor.load(older).predict([("walk", "V;PST")])) == 1
    assert "train the model again" in error_of(capsys, "paradigm", str(older), "walk")


def test_a_model_without_features_has_no_paradigm():
    with pytest.raises(InputError, match="no features"):
        Predictor(random_model(format="no-features", pos_emb=False)).paradigm("walk")


def test_the_table_as_tsv(path, capsys):
    rows = [line.split("\t") for line in paradigm(capsys, "--format=tsv", path, "walk", "sing").splitlines()]
    assert [row[:2] for row in rows] == [[lemma, tag] for lemma in ("walk", "sing") for tag in BUNDLES]
    forms = Predictor.load(path).paradigm("walk")
    assert [(row[2], float(row[3])) for row in rows[:len(BUNDLES)]] == [
        (form.output, pytest.approx(form.probability, abs=1e-6)) for form in forms]


def test_a_lemma_with_a_tab_makes_no_more_columns(path, capsys):
    assert error_of(capsys, "paradigm", str(path), "wa\tlk", "--format=tsv").startswith(
        "the input 'wa\\tlk' contains a tab, a line end or a lone surrogate")


def test_the_table_as_text_has_aligned_columns(path, capsys):
    first, second = paradigm(capsys, path, "walk", "日本").rstrip("\n").split("\n\n")
    assert (first.splitlines()[0], second.splitlines()[0]) == ("walk", "日本")
    assert len({len(line) for line in first.splitlines()[1:]}) == 1
    assert len(first.splitlines()) == len(BUNDLES) + 1


def test_the_table_as_markdown(path, capsys):
    lines = paradigm(capsys, "--format=markdown", "--pos=V", path, "a|b_").splitlines()
    assert lines[:2] == ["| features | a\\|b\\_ | probability |", "|---|---|---:|"]
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| V;PRS;3", "| V;PST", "| V;PST;3"]


@pytest.mark.parametrize("flags, message", [
    (["--format=html"], "--format takes one of text, tsv, markdown, not 'html'"),
    (["--beam-width=-1"], "--beam-width takes a whole number"),
    (["--pos=X"], "the training data has no part of speech"),
])
def test_bad_flags_of_paradigm(path, capsys, flags, message):
    assert error_of(capsys, "paradigm", *flags, str(path), "walk").startswith(message)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_predictors_can_be_pickled_and_copied(settings):
    predictor = Predictor(random_model(**settings))
    samples = SAMPLES[predictor.vocabulary.settings.format]
    expected = predictor.hypotheses(samples)
    for other in (pickle.loads(pickle.dumps(predictor)), copy.copy(predictor), copy.deepcopy(predictor)):
        assert other.hypotheses(samples) == expected
        assert (other.vocabulary.characters is other.vocabulary.actions) == predictor.vocabulary.settings.param_tying
        assert other.vocabulary.format is predictor.vocabulary.format or "," in predictor.vocabulary.settings.format
