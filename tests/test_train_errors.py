"""What `il-morph train` refuses: exit code 2, a message that says what, where and what to do, and nothing written."""
import io
import json
import os
import zipfile

import pytest

from il_morph.commands import main
from il_morph.model.modelfile import load_model, save_model
from il_morph.model.settings import PRESETS, declarations
from tests.cli import SHORT, SMALL, TRAIN, as_2016, as_2017, covered_2017, error_of, il_morph, training_arguments

GOOD = as_2017(TRAIN)


@pytest.fixture
def refused(data, tmp_path, capsys):
    """A function that trains on these files and gives the message; nothing may be written."""
    def run(*flags, train=None, dev=None, test=None, results=None):
        folder = results or tmp_path / "results"
        paths = {"train": data("train"), "dev": data("dev")}
        for name, content in (("train", train), ("dev", dev), ("test", test)):
            if content is not None:
                path = tmp_path / name
                path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
                paths[name] = str(path)
        test_flag = [f"--test-path={paths['test']}"] if "test" in paths else []
        before = sorted(tmp_path.rglob("*"))
        message = error_of(capsys, "train", *flags, *test_flag, paths["train"], paths["dev"], str(folder))
        assert sorted(tmp_path.rglob("*")) == before
        return message

    return run


# Data

@pytest.mark.parametrize("part", ["train", "dev", "test"])
@pytest.mark.parametrize("content, where, what", [
    ("", "", "is empty: it needs at least one line of data"),
    ("\n\n", "", "is empty: it needs at least one line of data"),
    (GOOD + "walk\twalked\tV;PST\tmore\n", ", line 11",
     "4 columns, but the sigmorphon2017 format (--sigm2017format) has input, output, features, separated by tabs"),
    (GOOD + "walk walked\n", ", line 11", "1 column, but the sigmorphon2017 format"),
    (as_2016(TRAIN), "", "does not look like the sigmorphon2017 format (--sigm2017format) but like sigmorphon2016: "
                         "leave out the format flag"),
    (GOOD.encode("utf-8") + b"w\xe4lk\twalk\tV;PST\n", ", line 11", "not UTF-8; convert the file to UTF-8"),
    (GOOD + "wal〰k\twalked\tV;PST\n", ", line 11", "the symbol 〰 is reserved by il-morph; replace it"),
    (GOOD + "walk\twalked⟫\tV;PST\n", ", line 11", "the symbol ⟫ is reserved by il-morph; replace it"),
    (GOOD + "⟪walk\twalked\tV;PST\n", ", line 11", "the symbol ⟪ is reserved by il-morph; replace it"),
    (GOOD + "walk\t\tV;PST\n", ", line 11", "no output, but other lines have one"),
], ids=["empty", "blank lines", "4 columns", "1 column", "2016 data", "bad UTF-8", "GAP", "END",
        "BEGIN", "partly covered"])
def test_bad_data(refused, tmp_path, part, content, where, what):
    message = refused("--sigm2017format", **{part: content})
    assert message.startswith(f"{tmp_path / part}{where}")
    assert what in message


@pytest.mark.parametrize("part", ["train", "dev"])
def test_data_without_outputs(refused, tmp_path, part):
    message = refused("--sigm2017format", **{part: covered_2017(TRAIN)})
    assert message.startswith(f"{tmp_path / part} has no outputs, but they are needed here; give a file with outputs")


def test_development_data_in_another_format_than_the_training_data(refused, data):
    assert refused(dev=as_2016(TRAIN)).endswith(
        "dev does not look like the sigmorphon2017 format (--sigm2017format) but like sigmorphon2016: give data in the "
        f"format that {data('train')} has\n")


def test_2017_data_read_without_features(refused, data):
    assert f"{data('train')} does not look like the no-features format" in refused("--no-feat-format")


def test_both_format_flags(refused):
    message = refused("--sigm2017format", "--no-feat-format")
    assert message == "--sigm2017format and --no-feat-format exclude each other: give one of them\n"


@pytest.mark.parametrize("place", ["TRAIN", "DEV", "TEST"])
@pytest.mark.parametrize("path, reason", [("missing", "No such file or directory"), ("", "Is a directory")])
def test_files_that_cannot_be_read(data, tmp_path, capsys, place, path, reason):
    bad = str(tmp_path / path)
    paths = {"TRAIN": data("train"), "DEV": data("dev"), "TEST": data("test"), place: bad}
    message = error_of(capsys, "train", "--sigm2017format", f"--test-path={paths['TEST']}", paths["TRAIN"],
                       paths["DEV"], str(tmp_path / "results"))
    assert message == f"cannot read {bad}: {reason}\n"
    assert not (tmp_path / "results").exists()


def test_errors_have_no_traceback(data, tmp_path):
    process = il_morph("train", "--sigm2017format", str(tmp_path / "missing"), data("dev"), str(tmp_path / "results"))
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr == f"il-morph: error: cannot read {tmp_path / 'missing'}: No such file or directory\n"
    assert list(tmp_path.iterdir()) == []


# The results folder

@pytest.mark.parametrize("below", ["file", "file/results", "file/deep/results"])
def test_a_results_folder_that_cannot_be_made(refused, tmp_path, below):
    pytest.importorskip("dynet")
    (tmp_path / "file").write_text("precious")
    message = refused("--sigm2017format", *SMALL, *SHORT, results=tmp_path / below)
    assert message.startswith(f"cannot make the results folder {tmp_path / below}: ")
    assert message.endswith("; choose another one\n")
    assert (tmp_path / "file").read_text() == "precious"


def test_a_results_folder_with_an_impossible_name(refused, tmp_path):
    pytest.importorskip("dynet")
    folder = tmp_path / ("x" * 300)
    message = refused("--sigm2017format", *SMALL, *SHORT, results=folder)
    assert message == f"cannot make the results folder {folder}: File name too long; choose another one\n"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_results_folder_that_is_write_protected(refused, tmp_path):
    pytest.importorskip("dynet")
    folder = tmp_path / "protected"
    folder.mkdir()
    folder.chmod(0o500)
    message = refused("--sigm2017format", *SMALL, *SHORT, results=folder)
    assert message.startswith(f"cannot write into the results folder {folder}: ")
    assert "cannot make the results folder" in refused("--sigm2017format", *SMALL, *SHORT, results=folder / "results")


# The model of --reload-path (and of predict)

def test_a_missing_model(refused, tmp_path):
    message = refused("--sigm2017format", f"--reload-path={tmp_path / 'missing'}")
    assert message == f"cannot read {tmp_path / 'missing'}: No such file or directory\n"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused("--sigm2017format", f"--reload-path={empty}") == (
        f"cannot read {empty / 'f.model'}: No such file or directory\n")


def zipped(**members: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, value in members.items():
            archive.writestr(name.replace("__", "."), value)
    return content.getvalue()


def changed_header(content: bytes, **values) -> bytes:
    """The same model file with other values in its header."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            member = old.read(name)
            if name == "header.json":
                member = json.dumps({**json.loads(member), **values}).encode("utf-8")
            new.writestr(name, member)
    return result.getvalue()


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1:]


BROKEN_MODELS = {
    "empty": lambda model: b"",
    "text": lambda model: GOOD.encode("utf-8"),
    "first half": lambda model: model[:len(model) // 2],
    "without its end": lambda model: model[:-1],
    "one byte changed": flipped,
    "another zip": lambda model: zipped(readme__txt=b"hello"),
    "another header": lambda model: zipped(header__json=b'{"format": "something else", "version": 1}'),
    "no JSON": lambda model: zipped(header__json=b"\xff\xfe"),
    "a header alone": lambda model: zipped(header__json=zipfile.ZipFile(io.BytesIO(model)).read("header.json")),
    "a list as header": lambda model: zipped(header__json=b"[]"),
    "settings of other types": lambda model: changed_header(model, settings=[1, 2]),
    "other sizes": lambda model: changed_header(model, settings={
        **json.loads(zipfile.ZipFile(io.BytesIO(model)).read("header.json"))["settings"], "dec_hidden": 17}),
}


@pytest.mark.parametrize("damage", BROKEN_MODELS.values(), ids=BROKEN_MODELS)
def test_truncated_and_foreign_models(refused, trained, data, tmp_path, capsys, damage):
    path = tmp_path / "f.model"
    path.write_bytes(damage(trained.model_bytes))
    message = refused("--sigm2017format", f"--reload-path={path}")
    assert message.startswith(f"{path} is not a whole il-morph model (")
    assert "give the f.model of a training run, or train it again" in message
    assert error_of(capsys, "predict", str(path), data("dev")) == message


def test_a_model_of_a_newer_version(refused, trained, data, tmp_path, capsys):
    path = tmp_path / "f.model"
    path.write_bytes(changed_header(trained.model_bytes, version=99))
    message = refused("--sigm2017format", f"--reload-path={path}")
    assert message.startswith(f"{path} was written by a newer il-morph (model version 99")
    assert "upgrade il-morph" in message
    assert error_of(capsys, "predict", str(path), data("dev")) == message


# Values of flags

FLAGS = {name: field for name, field in declarations().items() if name not in ("format", "aligner", "beam_widths")}
CHOICES = {name: field.metadata["choices"] for name, field in FLAGS.items() if "choices" in field.metadata}
BOUNDS = {name: (field.metadata["low"], field.metadata["high"]) for name, field in FLAGS.items()
          if "low" in field.metadata}
WHOLE = [name for name in BOUNDS if isinstance(FLAGS[name].default, int)]


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def test_every_number_has_bounds():
    assert {name for name, field in FLAGS.items() if type(field.default) in (int, float)} == set(BOUNDS)
    assert len(WHOLE) > 15 and len(BOUNDS) > 25


@pytest.mark.parametrize("name", CHOICES)
def test_choices(refused, name):
    message = refused("--sigm2017format", f"{flag(name)}=nonsense")
    assert message == f"{flag(name)} takes one of {', '.join(CHOICES[name])}, not 'nonsense'\n"


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("kind", ["a word", "a fraction", "too low", "too high", "nothing", "5,000 digits"])
def test_whole_numbers(refused, name, kind):
    least, most = BOUNDS[name]
    value = {"a word": "many", "a fraction": "2.5", "too low": str(least - 1), "too high": str(most + 1), "nothing": "",
             "5,000 digits": "7" * 5000}[kind]
    message = refused("--sigm2017format", f"{flag(name)}={value}")
    assert message == f"{flag(name)} takes a whole number from {least} up to {most}, not {value!r}\n"


def outside(name: str) -> list:
    lowest, highest = BOUNDS[name]
    return ["x", "nan", "inf", "", str(lowest - 0.001), "-inf", str(highest + 0.001), "1e308"]


@pytest.mark.parametrize("name, value", [(name, value) for name in BOUNDS if name not in WHOLE
                                         for value in outside(name)])
def test_numbers(refused, name, value):
    message = refused("--sigm2017format", f"{flag(name)}={value}")
    assert message.startswith(f"{flag(name)} takes a number")
    assert message.endswith(f", not {value!r}\n")


@pytest.mark.parametrize("flags, message", [
    (["--model="], f"--model takes one of {', '.join(PRESETS)}, not ''"),
    (["--model=ca-x"], f"--model takes one of {', '.join(PRESETS)}, not 'ca-x'"),
    (["--verbose=much"], "--verbose takes a whole number from 0 up to 9, not 'much'"),
    (["--dynet-seed=-1"], "--dynet-seed takes a whole number from 0 up to 4294967295, not '-1'"),
    (["--dynet-seed=one"], "--dynet-seed takes a whole number from 0 up to 4294967295, not 'one'"),
    (["--dynet-seed=4294967296"], "--dynet-seed takes a whole number from 0 up to 4294967295, not '4294967296'"),
    (["--dynet-mem=0"], "--dynet-mem takes a whole number from 1 up to 1000000000, not '0'"),
    (["--dynet-mem=1000000000"],
     "--dynet-mem asks for 1000000000 MB, and this machine does not have so much memory free"),
    (["--dynet-autobatch=yes"], "--dynet-autobatch takes a whole number from 0 up to 1, not 'yes'"),
    (["--beam-widths=4,x"], "--beam-widths takes whole numbers separated by commas, not '4,x'"),
    (["--beam-widths=-1"], "--beam-widths takes whole numbers separated by commas, not '-1'"),
    (["--beam-widths=4,"], "--beam-widths takes whole numbers separated by commas, not '4,'"),
    (["--beam-widths=²"], "--beam-widths takes whole numbers separated by commas, not '²'"),
    (["--tag-wraps=none"], "--tag-wraps=none is refused: END needs a symbol; take both or close"),
    (["--il-decay=exponential", "--il-k=1"],
     "--il-k takes a number between 0 and 1 with --il-decay=exponential, not 1"),
    (["--il-decay=exponential", "--il-k=12"],
     "--il-k takes a number between 0 and 1 with --il-decay=exponential, not 12"),
    (["--input=8", "--action-input=9"], "--input=8 and --action-input=9 differ, but characters and actions share their "
                                        "embeddings: make them equal or use --no-param-tying"),
    (["--pos-emb", "--no-pos-emb"], "--pos-emb and --no-pos-emb exclude each other: give one of them"),
    (["--param-tying", "--no-param-tying"], "--param-tying and --no-param-tying exclude each other"),
    (["--il-global-rollout", "--no-il-global-rollout"], "--il-global-rollout and --no-il-global-rollout exclude each"),
    (["--il-optimal-oracle", "--no-il-optimal-oracle"], "--il-optimal-oracle and --no-il-optimal-oracle exclude each"),
    (["--transducer=hard", "--mode=il"], "--mode=il needs --transducer=haem"),
    (["--mode=mrt"], "--mode=mrt starts from a trained model: give one with --reload-path"),
    (["--mode=rl"], "--mode=rl starts from a trained model: give one with --reload-path"),
])
def test_values_that_do_not_fit(refused, flags, message):
    assert refused("--sigm2017format", *flags).startswith(message)


@pytest.mark.parametrize("flags, message", [
    (["--il-gamma=1"], "unknown flag --il-gamma"),
    (["--no-dropout"], "unknown flag --no-dropout"),
    (["--epochs"], "--epochs"),
    (["--force=yes"], "--force"),
])
def test_flags_that_do_not_exist_or_lack_their_value(data, tmp_path, capsys, flags, message):
    said = error_of(capsys, "train", data("train"), data("dev"), str(tmp_path / "results"), *flags)
    assert said.startswith(message)
    assert "Usage:\n  il-morph train [options] TRAIN-PATH DEV-PATH RESULTS-PATH" in said
    assert list(tmp_path.iterdir()) == []


def test_paths_that_are_missing_or_too_many(data, capsys, tmp_path):
    for paths in [data("train")], [data("train"), data("dev")], [data("train"), data("dev"), str(tmp_path / "r"), "x"]:
        assert "Usage:" in error_of(capsys, "train", "--sigm2017format", *paths)
    assert list(tmp_path.iterdir()) == []


def test_pick_loss_needs_outputs_that_the_model_can_write(data, tmp_path, capsys):
    pytest.importorskip("dynet")
    dev = tmp_path / "dev"
    dev.write_text("дом\tдома\tN;PL\n", encoding="utf-8")
    message = error_of(capsys, "train", "--sigm2017format", *SMALL, *SHORT, "--pick-loss", data("train"), str(dev),
                       str(tmp_path / "results"))
    assert message.startswith("--pick-loss: no dev output consists of characters seen in training")


def test_training_that_diverges(data, tmp_path, capsys, trained):
    """From weights so large that scores are no longer finite."""
    pytest.importorskip("dynet")
    model = load_model(trained.folder)
    model.weights["output.W"][:] = 3e38
    save_model(tmp_path / "f.model", model)
    message = error_of(capsys, "train", "--sigm2017format", "--dynet-mem=16", "--epochs=3", f"--reload-path={tmp_path}",
                       data("train"), data("dev"), str(tmp_path / "results"))
    assert message.startswith("training diverged in epoch 0 (")
    assert "try a lower --learning-rate, or another --optimization, --l2 or --dynet-seed" in message
    assert not (tmp_path / "results" / "f.stats").exists()


def test_an_extreme_but_legal_k(data, tmp_path):
    """exp(epoch / k) is larger than any number: the schedule is at its end."""
    pytest.importorskip("dynet")
    assert main(training_arguments(data, tmp_path / "results", ["--il-k=0.001", "--epochs=2"])) == 0


@pytest.mark.parametrize("flags, message", [
    (["--test-path="], "--test-path is empty: give a path"),
    (["--reload-path="], "--reload-path is empty: give a path"),
    (["--enc-layers=1000000000"], "--enc-layers takes a whole number from 1 up to 100"),
    (["--beam-width=99999999999999999999"], "--beam-width takes a whole number from 0 up to 1000"),
    (["--beam-widths=99999999999999999999"], "--beam-widths takes numbers up to 1000"),
    (["--enc-hidden=10000", "--enc-layers=100"], "the network and the samples in one update need"),
    (["--mode=mrt", "--mrt-action-cost=2", "--pretrain-epochs=1"], "--mrt-action-cost takes a number from 0 up to 1"),
])
def test_values_that_lead_nowhere(data, tmp_path, capsys, flags, message):
    assert message in error_of(capsys, *training_arguments(data, tmp_path / "results", flags))
    assert not (tmp_path / "results").exists()


def test_an_empty_results_path_is_not_the_current_folder(data, capsys):
    assert "RESULTS-PATH is empty" in error_of(capsys, *training_arguments(data, "", []))


def test_a_bag_of_features_has_no_attributes(refused):
    message = refused("--avm-feat-format", "--feat-input=0")
    assert "--feat-input=0" in message and "--avm-feat-format" in message


def test_a_preset_does_not_take_a_model_of_the_other_system(train, data, tmp_path, capsys):
    pytest.importorskip("dynet")
    ha = train("--model=ha", "--align-cls")
    message = error_of(capsys, *training_arguments(data, tmp_path / "mrt",
                                                   ["--model=ca-mrt", f"--reload-path={ha.folder}"]))
    assert "transducer" in message
    assert not (tmp_path / "mrt").exists()
