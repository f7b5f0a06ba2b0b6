"""The model file: what comes out is what went in, and nothing else is accepted."""
import io
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.model.architecture import Architecture
from il_morph.model.archive import archive_bytes
from il_morph.model.modelfile import VERSION, Model, load_model, save_model
from il_morph.model.predictor import Predictor
from il_morph.transitions.stochastic_edits import StochasticEdits
from tests.random_models import SETTINGS, TAGGED, random_model


@pytest.fixture
def path(tmp_path):
    save_model(tmp_path / "f.model", random_model())
    return tmp_path / "f.model"


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, **changes):
    """Replace (or with None remove) members of a model file."""
    content = {**members(path), **changes}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)


def header(path, **changes):
    return {"header.json": json.dumps({**json.loads(members(path)["header.json"]), **changes})}


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_round_trip(settings, tmp_path):
    model = random_model(**settings)
    model.training.update({"seed": 3, "il_loss": "nll"})
    save_model(tmp_path / "f.model", model)
    copy = load_model(tmp_path / "f.model")
    assert copy.vocabulary.settings == model.vocabulary.settings
    assert copy.vocabulary.as_dict() == model.vocabulary.as_dict()
    assert copy.training == model.training
    assert set(copy.weights) == set(model.weights)
    for name, value in copy.weights.items():
        assert value.dtype == np.float32 and np.array_equal(value, model.weights[name])


def test_a_loaded_model_predicts_the_same(path):
    items = [("walk", "V;PST"), ("mouse", "N;PL")]
    assert Predictor.load(path).predict(items) == Predictor(random_model()).predict(items)


def test_the_same_model_gives_the_same_bytes(path, tmp_path):
    save_model(tmp_path / "again.model", random_model())
    assert (tmp_path / "again.model").read_bytes() == path.read_bytes()
    save_model(tmp_path / "other.model", random_model(seed=1))
    assert (tmp_path / "other.model").read_bytes() != path.read_bytes()


def test_weights_of_any_memory_layout_and_type_give_the_same_bytes(path, tmp_path):
    model = random_model()
    weights = {name: np.asfortranarray(value.astype(np.float64)) for name, value in model.weights.items()}
    save_model(tmp_path / "fortran.model", Model(model.vocabulary, weights))
    assert (tmp_path / "fortran.model").read_bytes() == path.read_bytes()


def test_another_program_can_read_it(path):
    """As the documentation of the module says: a zip of header.json and .npy arrays."""
    content = members(path)
    assert json.loads(content["header.json"])["format"] == "il-morph model"
    arrays = {name[:-4]: np.load(io.BytesIO(data), allow_pickle=False)
              for name, data in content.items() if name.endswith(".npy")}
    assert {name: value.shape for name, value in arrays.items()} == Architecture(random_model().vocabulary).shapes


def test_characters_outside_ascii_survive(tmp_path):
    model = random_model(samples=[Sample("e\u0301ш", " PL;x", "\u200eé ")])
    save_model(tmp_path / "f.model", model)
    assert load_model(tmp_path / "f.model").vocabulary.as_dict() == model.vocabulary.as_dict()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_truncated_file_is_refused(path, share):
    data = path.read_bytes()
    path.write_bytes(data[:int(share * len(data))])
    with pytest.raises(InputError, match="f.model is not a whole il-morph model.*train it again"):
        load_model(path)


def test_damaged_weights_are_refused(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"NUMPY") + 200] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match="not a whole il-morph model"):
        load_model(path)


@pytest.mark.parametrize("content", [b"walk\tV;PST\twalked\n", b"\x80\x04K\x01.", b"PK\x03\x04 and so on"])
def test_a_file_of_another_kind_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a whole il-morph model"):
        load_model(path)


def test_a_zip_of_another_program_is_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
    with pytest.raises(InputError, match="not a whole il-morph model.*header.json"):
        load_model(path)


def test_a_numpy_archive_is_refused(path):
    with open(path, "wb") as stream:
        np.savez(stream, characters=np.zeros((3, 4)))
    with pytest.raises(InputError, match="not a whole il-morph model"):
        load_model(path)


def test_another_format_is_named(path):
    rewrite(path, **header(path, format="something else"))
    with pytest.raises(InputError, match="something else"):
        load_model(path)


def test_a_newer_version_asks_for_an_upgrade(path):
    rewrite(path, **header(path, version=VERSION + 1))
    with pytest.raises(InputError, match=f"newer il-morph.*version {VERSION + 1}.*upgrade"):
        load_model(path)


@pytest.mark.parametrize("damage", [
    {"version": "one"}, {"version": None}, {"settings": {}, "vocabulary": {}}, {"settings": None}, {"vocabulary": []},
    {"vocabulary": {"actions": 7}}, {"settings": {"format": "sigmorphon2099"}}, {"settings": {"transducer": "other"}},
    {"settings": {"input": "wide"}}, {"settings": {"novelty": 1}},
])
def test_a_damaged_header_is_refused(path, damage):
    rewrite(path, **header(path, **damage))
    with pytest.raises(InputError, match="f.model"):
        load_model(path)


@pytest.mark.parametrize("text", ["[]", "1", "{", "\"text\"", "{}"])
def test_a_header_that_is_no_header_is_refused(path, text):
    rewrite(path, **{"header.json": text})
    with pytest.raises(InputError, match="f.model is not a whole"):
        load_model(path)


def test_a_missing_weight_is_named(path):
    rewrite(path, **{"decoder.0.h2i.npy": None})
    with pytest.raises(InputError, match="decoder.0.h2i"):
        load_model(path)


def test_a_weight_of_the_wrong_shape_is_named(path):
    rewrite(path, **{"output.b.npy": npy(np.zeros(3, dtype=np.float32))})
    with pytest.raises(InputError, match=r"output.b has shape \[3\], not"):
        load_model(path)


def test_weights_that_are_no_numbers_are_refused(path):
    shape = random_model().weights["output.b"].shape
    rewrite(path, **{"output.b.npy": npy(np.full(shape, "x"))})
    with pytest.raises(InputError, match="f.model"):
        load_model(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot read .*none.model"):
        load_model(tmp_path / "none.model")


class Bomb:
    """Unpickling it would leave a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_loading_never_unpickles(path, tmp_path):
    trap = tmp_path / "exploded"
    shape = random_model().weights["output.b"].shape
    objects = np.empty(shape, dtype=object)
    objects[:] = Bomb(trap)
    for content in (npy(objects, allow_pickle=True), pickle.dumps(Bomb(trap))):
        rewrite(path, **{"output.b.npy": content})
        with pytest.raises(InputError, match="f.model"):
            load_model(path)
    path.write_bytes(pickle.dumps(Bomb(trap)))
    with pytest.raises(InputError, match="f.model"):
        load_model(path)
    assert not trap.exists()


def test_a_model_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        save_model(tmp_path / "no folder" / "f.model", random_model())
    assert list(tmp_path.iterdir()) == []


def test_files_from_before_unicode_forms_are_read_as_they_are(path):
    settings = json.loads(members(path)["header.json"])["settings"]
    assert settings.pop("unicode") == "as-is"
    rewrite(path, **header(path, settings=settings))
    assert load_model(path).vocabulary.settings.unicode == "as-is"


def test_formats_without_a_name_of_their_own_are_kept(tmp_path):
    model = random_model(format="features,-,input,output:+", samples=[Sample("walk", "V+PST", "walked")])
    save_model(tmp_path / "f.model", model)
    fmt = load_model(tmp_path / "f.model").vocabulary.format
    assert (fmt.columns, fmt.separator) == (("features", "-", "input", "output"), "+")
    assert fmt.features("V+ACC(2+SG)") == ("V", "ACC(2+SG)")


def test_too_little_memory_for_an_archive_is_too_little_memory(monkeypatch):
    """Not what zipfile says when it cannot close the archive."""
    def full(archive, name, data):
        archive.fp.close()
        raise MemoryError

    monkeypatch.setattr("il_morph.model.archive.add_member", full)
    with pytest.raises(MemoryError):
        archive_bytes({}, {})


# Learnt costs

def learnt_model():
    model = random_model(transducer="substitute")
    return replace(model, vocabulary=model.vocabulary.with_expert(True, True, TAGGED))


def test_learnt_costs_are_no_part_of_the_header(tmp_path):
    """The costs of 1,000 × 1,000 edits would be too long for it."""
    letters = [chr(0x4e00 + number) for number in range(1000)]
    model = learnt_model()
    model.vocabulary.learnt_costs = StochasticEdits.uniform(letters, letters)
    save_model(tmp_path / "f.model", model)
    assert load_model(tmp_path / "f.model").vocabulary.as_dict() == model.vocabulary.as_dict()


def test_learnt_costs_in_the_header_of_older_files_are_read(path):
    model = learnt_model()
    save_model(path, model)
    rewrite(path, **{"log_probabilities.npy": None}, **header(path, vocabulary=model.vocabulary.as_dict()))
    assert load_model(path).vocabulary.as_dict() == model.vocabulary.as_dict()


@pytest.mark.parametrize("damage", [
    lambda row: None, lambda row: row[1:], lambda row: row[None], lambda row: row.astype(np.float32),
    lambda row: row.astype(int), lambda row: -row, lambda row: row * np.nan, lambda row: row * np.inf,
], ids=["missing", "short", "two dimensions", "float32", "integers", "positive", "no numbers", "infinite"])
def test_damaged_learnt_costs_are_refused(path, damage):
    model = learnt_model()
    save_model(path, model)
    array = damage(model.vocabulary.learnt_costs.log_probabilities)
    rewrite(path, **{"log_probabilities.npy": None if array is None else npy(array)})
    with pytest.raises(InputError, match="not a whole il-morph model.*its learnt costs are not"):
        load_model(path)


@pytest.mark.parametrize("expert", [None, {"expert": {"all_prefixes": True, "costs": None}}, {"expert": []}])
def test_learnt_costs_that_the_header_does_not_name_are_refused(path, expert):
    rewrite(path, **{"log_probabilities.npy": npy(np.full(3, -1.0))},
            **header(path, vocabulary={**random_model().vocabulary.as_dict(), **(expert or {})}))
    with pytest.raises(InputError, match="not a whole il-morph model"):
        load_model(path)
