"""Damaged and hostile model files and checkpoints: one clear error, whatever is in them."""
import io
import json
import struct
import zipfile
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from il_morph.commands import main, train
from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.model.archive import LARGEST_HEADER
from il_morph.model.modelfile import load_model, save_model
from il_morph.runs.experiment import RunReport
from tests.cli import error_of, training_arguments
from tests.random_models import random_model
from tests.test_cited_architectures import VARIANTS, cited_model
from tests.test_modelfile import header, members, npy, rewrite
from tests.test_nwfst import model as nwfst_model


@pytest.fixture
def path(tmp_path):
    save_model(tmp_path / "f.model", random_model())
    return tmp_path / "f.model"


def changed(path, part, **values):
    """The header with other settings, or another vocabulary."""
    return header(path, **{part: {**json.loads(members(path)["header.json"])[part], **values}})


def refused(path) -> str:
    with pytest.raises(InputError) as caught:
        load_model(path)
    message = str(caught.value)
    assert "f.model is not a whole il-morph model (" in message and "\n" not in message and len(message) < 600
    return message


# Weights

@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_or_infinite_are_refused(path, value, tmp_path, capsys):
    weight = random_model().weights["decoder.0.h2i"]
    weight[1, 2] = value
    rewrite(path, **{"decoder.0.h2i.npy": npy(weight)})
    assert "decoder.0.h2i has weights that are infinite or no numbers" in refused(path)
    (tmp_path / "in").write_text("walk\twalked\tV;PST\n")
    assert "decoder.0.h2i" in error_of(capsys, "predict", str(path), str(tmp_path / "in"), str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("flags", [[], ["--beam-width=1"], ["--nbest=2"], ["--mass=0.9"], ["--format=json"]])
def test_weights_that_are_too_large_to_compute_with_give_no_output_and_an_error(path, flags, tmp_path, capsys):
    weights = {name: np.sign(weight) * np.float32(3e38) for name, weight in random_model().weights.items()}
    rewrite(path, **{f"{name}.npy": npy(weight.astype(np.float32)) for name, weight in weights.items()})
    (tmp_path / "in").write_text("walk\twalked\tV;PST\nmouse\tmice\tN;PL\n")
    with np.errstate(all="ignore"):
        message = error_of(capsys, "predict", *flags, str(path), str(tmp_path / "in"), str(tmp_path / "out"))
    assert "has no output for" in message and not (tmp_path / "out").exists()


@pytest.mark.parametrize("flags", [[], ["--beam-width=1"], ["--format=json"], ["--beam-width=30"]])
def test_predict_writes_exactly_as_many_lines_as_it_reads(path, flags, tmp_path):
    lines = [f"{word * repeated}\t{tag}\n" for word in ("w", "walk", "Ω", "q k") for tag in ("V;PST", "N;PL", "X")
             for repeated in (1, 7, 40)]
    (tmp_path / "in").write_text("".join(lines), encoding="utf-8")
    assert main(["predict", *flags, str(path), str(tmp_path / "in"), str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_bytes().count(b"\n") == len(lines)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.bool_, np.complex64, ">f4"])
def test_weights_are_32_bit_floats(path, dtype):
    rewrite(path, **{"output.b.npy": npy(random_model().weights["output.b"].astype(dtype))})
    assert "output.b" in refused(path)


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(-1,)", "(2, 3)", "(10**9,)", "()", "(0,)", "(True,)", "x",
                                   "(" * 90, "(" + "9" * 5000 + ",)", "((" + "1," * 9 + "),)"])
def test_a_shape_that_lies_is_found_out_before_memory_is_taken(path, shape):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)
    rewrite(path, **{"output.b.npy": content})
    refused(path)


def test_bytes_beyond_a_weight_are_refused(path):
    rewrite(path, **{"output.b.npy": members(path)["output.b.npy"] + b"more"})
    assert "output.b has" in refused(path)


# The zip

@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_members_are_refused(path, method):
    content = members(path)
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    assert "is compressed or encrypted" in refused(path)


@pytest.mark.parametrize("offset, value", [(8, 0x01), (8, 0x20), (8, 0x41), (10, 99), (10, 14), (6, 200),
                                           (24, 0xFF), (45, 0x7F)])
def test_fields_of_the_directory_that_lie_are_found_out(path, offset, value):
    """Encryption, patches, unknown compression, a version to come, a huge size, a place beyond the file."""
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + offset] = value
    path.write_bytes(bytes(data))
    refused(path)


def test_members_that_are_there_twice_or_do_not_belong_are_refused(path):
    whole = path.read_bytes()
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning):
        archive.writestr("output.b.npy", members(path)["output.b.npy"])
    assert "'output.b.npy' is there twice" in refused(path)
    path.write_bytes(whole)
    rewrite(path, **{"../more.npy": npy(np.zeros(3, dtype=np.float32))})
    assert "'../more.npy' does not belong" in refused(path)


# The header

def test_a_header_beyond_the_limit_is_not_read(path):
    rewrite(path, **{"header.json": b" " * (LARGEST_HEADER + 1)})
    assert "its header has 16,777,217 bytes" in refused(path)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"format":' * 200_000, "1" * 10_000, "{\"version\": 1e999}",
                                  "\ud800", "NaN"])
def test_headers_that_are_deep_long_or_odd_are_refused(path, text):
    rewrite(path, **{"header.json": text.encode("utf-8", "surrogatepass")})
    refused(path)


@pytest.mark.parametrize("values", [
    {"input": 10**9}, {"input": 0}, {"enc_layers": 10**6}, {"enc_hidden": True}, {"dec_hidden": 7.0},
    {"mlp": -1}, {"mlp": None},
    {"lucky_w": float("nan")}, {"lucky_w": 1e308}, {"nonlin": "sine"}, {"nonlin": ["ReLU"]}, {"vanilla_lstm": 1},
    {"architecture": "other"}, {"unicode": "nfkc"}, {"format": 7}, {"format": None},
    {"action_input": 9}, {"tag_wraps": "none"},
    {"architecture": "soft"}, {"architecture": "haem-2017"}, {"feat_input": 0, "avm_feat_format": True},
    {"input": "9" * 9999},
])
def test_settings_that_no_training_has_are_refused(path, values):
    rewrite(path, **changed(path, "settings", **values))
    refused(path)


SPECIALS = ["<UNK>", "⟪", "⟫", "<DEL>", "<COPY>"]


@pytest.mark.parametrize("values", [
    {"actions": ["a"], "characters": ["a"]}, {"features": ["PST"]}, {"features": []},
    {"pos": ["V"]}, {"pos": None}, {"pos": "<UNK>"},
    {"actions": [*SPECIALS, "ab"], "characters": [*SPECIALS, "ab"]},
    {"actions": [*SPECIALS, ""], "characters": [*SPECIALS, ""]},
    {"actions": [*SPECIALS, "a", "a"], "characters": [*SPECIALS, "a", "a"]}, {"features": ["<UNK>", 7]},
    {"novelty": []},
    {"actions": [*SPECIALS, "\n"], "characters": [*SPECIALS, "\n"]},
    {"actions": [*SPECIALS, "\t"], "characters": [*SPECIALS, "\t"]},
    {"actions": [*SPECIALS, "\ud800"], "characters": [*SPECIALS, "\ud800"]}, {"characters": SPECIALS},
    {"attributes": ["PST"]},
    {"bundles": [["V;PST"]]}, {"bundles": [["V;PST", 0]]}, {"bundles": [["V\nPST", 1]]}, {"bundles": 7},
    {"bundles": [[[], 1]]},
])
def test_a_vocabulary_that_no_training_makes_is_refused(path, values):
    rewrite(path, **changed(path, "vocabulary", **values))
    refused(path)


def test_attributes_are_those_of_the_features(path):
    save_model(path, random_model(format="sigmorphon2016", avm_feat_format=True))
    load_model(path)
    rewrite(path, **changed(path, "vocabulary", attributes=["other"]))
    assert "its attributes are not those of its features" in refused(path)


@pytest.mark.parametrize("values", [{"version": 0}, {"version": True}, {"version": 1.0},
                                    {"training": []}, {"format": ["x"] * 9999}])
def test_other_parts_of_the_header_are_checked(path, values):
    rewrite(path, **header(path, **values))
    refused(path)


def test_files_of_version_1_0_are_still_read(path):
    """They lack settings and bundles that came later."""
    content = json.loads(members(path)["header.json"])
    for name in ("architecture", "unicode"):
        del content["settings"][name]
    del content["vocabulary"]["bundles"]
    rewrite(path, **{"header.json": json.dumps(content)})
    copy = load_model(path)
    assert copy.vocabulary.settings == random_model().vocabulary.settings
    assert all(np.array_equal(weight, random_model().weights[name]) for name, weight in copy.weights.items())


# Chance

def mutated(data: bytes, chance: Random) -> bytes:
    """Flipped bits (often in the headers and the directory), a piece cut out, the end cut off, pieces exchanged."""
    kind = chance.choice(["flip", "flip headers", "flip headers", "end", "cut", "repeat", "overwrite"])
    start = chance.randrange(len(data))
    length = min(chance.choice([1, 2, 30, 500]), len(data) - start)
    if kind.startswith("flip"):
        places = [place for mark in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")
                  for place in found(data, mark)] or [start]
        content = bytearray(data)
        for _ in range(chance.choice([1, 1, 3])):
            place = start if kind == "flip" else chance.choice(places) + chance.randrange(46)
            content[min(place, len(data) - 1)] ^= 1 << chance.randrange(8)
        return bytes(content)
    if kind == "overwrite":
        return data[:start] + chance.choice([b"\0", b"\xff", b"PK"]) * length + data[start + length:]
    ends = {"end": b"", "cut": data[start + length:], "repeat": data[start:start + length] + data[start:]}
    return data[:start] + ends[kind]


def found(data: bytes, mark: bytes) -> list:
    places, place = [], data.find(mark)
    while place >= 0:
        places.append(place)
        place = data.find(mark, place + 1)
    return places


def with_surgery(content: dict, chance: Random) -> bytes:
    """Members that are exchanged, left out or mutated one by one, in a zip that is whole."""
    content = dict(content)
    one, other = chance.sample(sorted(content), 2)
    kind = chance.choice(["exchange", "drop", "mutate", "mutate", "header", "header", "header"])
    if kind == "exchange":
        content[one], content[other] = content[other], content[one]
    elif kind == "drop":
        del content[one]
    else:
        name = "header.json" if kind == "header" else one
        content[name] = mutated(content[name] + b"PK\x01\x02", chance)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return stream.getvalue()


def outcome(load, path, use) -> str:
    """Either it is read and can be used, or there is one clear error; all else is raised."""
    try:
        loaded = load(path)
    except InputError as error:
        assert str(path) in str(error) or f"{path.parent} holds an unfinished run of another kind" in str(error)
        assert "\n" not in str(error)
        return "refused"
    use(loaded)
    return "read"


def use_model(model) -> None:
    from il_morph.model.predictor import Predictor

    predictor = Predictor(model)
    assert len(predictor.predict([("walk", "V;PST"), ("Ωk", "X")])) == 2
    repr(predictor)


def use_model_without_features(model) -> None:
    from il_morph.model.predictor import Predictor

    assert len(Predictor(model).predict(["walk", "Ωk"])) == 2


def use_model_with_attributes(model) -> None:
    from il_morph.model.predictor import Predictor

    assert len(Predictor(model).predict([("walk", "pos=V,tense=PST"), ("Ωk", "x=y")])) == 2


def outcomes_of_mutations(path, chance: Random, number: int, load, use) -> list:
    whole, content = path.read_bytes(), members(path)
    outcomes = []
    for k in range(number):
        path.write_bytes(mutated(whole, chance) if k % 2 else with_surgery(content, chance))
        outcomes.append(outcome(load, path, use))
    return outcomes


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_no_mutation_of_a_model_leads_to_anything_but_an_error(path, seed):
    samples = [Sample("walk", "V;PST", "walked"), Sample("ox", "N;PL", "oxen")]
    model = random_model(samples=samples)
    learnt = replace(model, vocabulary=model.vocabulary.with_expert(all_prefixes=True, learns=True, samples=samples))
    for each in (model, learnt):
        save_model(path, each)
        assert outcomes_of_mutations(path, Random(seed), 150, load_model, use_model).count("refused") > 75


@pytest.mark.slow
@pytest.mark.parametrize("name", ["soft", "hacm", "haem", "nwfst", "med", "lem"])
def test_no_mutation_of_a_model_of_a_cited_system_does_either(path, name):
    model = nwfst_model() if name == "nwfst" else cited_model(
        samples=[Sample("walk", "V;PST", "walked"), Sample("ox", "N;PL", "oxen")],
        **{**VARIANTS[name], "format": "sigmorphon2017"})
    save_model(path, model)
    use = use_model_without_features if name == "nwfst" else use_model
    assert outcomes_of_mutations(path, Random(name), 150, load_model, use).count("refused") > 75


@pytest.mark.slow
def test_nor_of_a_model_like_ha_of_2017(path):
    """Hard attention, two layers, a slot for each attribute."""
    samples = [Sample("walk", "pos=V,tense=PST", "walked"), Sample("ox", "pos=N,num=PL", "oxen")]
    save_model(path, random_model(samples=samples, transducer="hard", enc_layers=2, dec_layers=2, pos_emb=False,
                                  avm_feat_format=True, format="sigmorphon2016"))
    outcomes = outcomes_of_mutations(path, Random("ha-2017"), 150, load_model, use_model_with_attributes)
    assert outcomes.count("refused") > 75 and "read" in outcomes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_no_mutation_of_a_checkpoint_leads_to_anything_but_an_error(interrupted, seed):
    path, go_on = interrupted
    outcomes = outcomes_of_mutations(path, Random(seed), 150, go_on, lambda stats: stats["scores"]["greedy.dev"])
    assert outcomes.count("refused") > 50 and "read" in outcomes


@pytest.fixture
def interrupted(data, tmp_path, monkeypatch):
    """A checkpoint after two of three epochs, and what goes on from it."""
    return interrupted_training(data, tmp_path / "run", monkeypatch, "--epochs=3")


def interrupted_training(data, folder, monkeypatch, *flags, **options):
    arguments = training_arguments(data, folder, ["--engine=native", "--beam-widths=1", *flags], **options)
    with monkeypatch.context() as patch:
        patch.setattr(RunReport, "on_state", interrupting_at_epoch(1, RunReport.on_state))
        assert main(arguments) == 130

    def go_on(path):
        assert train.run(arguments) == 0
        stats = json.loads((folder / "f.stats").read_text())
        (folder / "f.stats").unlink()
        return stats

    return folder / "f.checkpoint", go_on


def interrupting_at_epoch(last, on_state):
    def interrupting(report, phase, training):
        on_state(report, phase, training)
        if training.history.epochs[-1].epoch == last:
            raise KeyboardInterrupt

    return interrupting


@pytest.mark.parametrize("changes", [
    {"phase": 7}, {"phase": -1}, {"phase": "0"}, {"epochs": []}, {"epochs": [{}]}, {"epochs": None}, {"best": None},
    {"probe": [0, 10]}, {"probe": [-1]}, {"probe": ["a"]}, {"probe": 3}, {"log": []}, {"log": "x"}, {"log": ["x\n"]},
    {"log": [5]}, {"identity": 5}, {"identity": {}}, {"identity": {"seed": "1"}}, {"seconds": "a"},
    {"cpu_seconds": None}, {"random": [3, [], None]}, {"random": 3}, {"version": 1000},
    {"best": {"epoch": "0", "seconds": 1.0, "loss": None, "train_accuracy": 1.0, "dev_accuracy": 1.0}},
    {"best_trained": {"epoch": 0, "seconds": 1.0, "loss": "a", "train_accuracy": 1.0, "dev_accuracy": 1.0}},
], ids=str)
def test_a_checkpoint_whose_header_says_something_else_is_refused(interrupted, changes):
    path, go_on = interrupted
    rewrite(path, **header(path, **changes))
    assert outcome(go_on, path, None) == "refused"
    assert path.exists()


@pytest.mark.parametrize("group, damage", [
    (group, damage) for group in ("weights", "best", "optimizer") for damage in ("missing", "shape", "type", "nan")])
def test_a_checkpoint_with_other_arrays_is_refused(interrupted, group, damage):
    path, go_on = interrupted
    name = sorted(name for name in members(path) if name.startswith(group))[0]
    array = np.load(io.BytesIO(members(path)[name]))
    damaged = {"missing": None, "shape": npy(array[:1, :1]), "type": npy(array.astype(np.float64)),
               "nan": npy(np.full_like(array, np.nan))}[damage]
    rewrite(path, **{name: damaged})
    assert outcome(go_on, path, None) == "refused"


@pytest.mark.parametrize("optimizer", ["ADADELTA", "ADAM", "SGD"])
@pytest.mark.parametrize("updates", [None, np.array(-1), np.array([1, 2]), np.array(1.5)])
def test_a_checkpoint_with_another_count_of_updates_is_refused(data, tmp_path, monkeypatch, optimizer, updates):
    path, go_on = interrupted_training(data, tmp_path / "run", monkeypatch, "--epochs=3",
                                       f"--optimization={optimizer}")
    rewrite(path, **{"optimizer/updates.npy": updates if updates is None else npy(updates)})
    assert outcome(go_on, path, None) == "refused"


@pytest.mark.parametrize("name, value", [
    ("rate", None), ("rate", np.zeros(0)), ("losses", np.array(1.0)), ("losses", np.array([np.nan])),
    ("random", np.zeros(3, dtype=np.uint32)), ("place", np.array([700])), ("place", np.array([-1]))])
def test_a_checkpoint_of_nwfst_with_another_schedule_is_refused(data, tmp_path, monkeypatch, name, value):
    path, go_on = interrupted_training(data, tmp_path / "run", monkeypatch, "--epochs=3", "--model=nwfst",
                                       layout="plain", defaults=["--dynet-seed=1"])
    rewrite(path, **{f"optimizer/{name}.npy": value if value is None else npy(value)})
    assert outcome(go_on, path, None) == "refused"
