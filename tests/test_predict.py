"""`il-morph predict` and `il_morph.load(path).predict(...)`."""
import io
import sys

import pytest

import il_morph
from il_morph.commands import main
from il_morph.errors import InputError
from tests.cli import DEV, TEST, TRAIN, as_2016, environment_without_dynet, error_of
from tests.cli import il_morph as run_il_morph

KNOWN = [(lemma, tag) for lemma, tag, _ in TRAIN]


@pytest.fixture
def predict(capsys):
    """A function from arguments to the lines of standard output, split into columns."""
    def run(*arguments):
        capsys.readouterr()
        assert main(["predict", *map(str, arguments)]) == 0
        return [line.split("\t") for line in capsys.readouterr().out.splitlines()]

    return run


def give(monkeypatch, text: str) -> None:
    """Let standard input hold this text."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode("utf-8"))))


# Files and streams

def test_a_file_gives_the_columns_of_its_format(trained, data, predict):
    rows = predict(trained.model_path, data("train"))
    assert [(lemma, tag) for lemma, _, tag in rows] == KNOWN
    right = sum(output == form for (_, output, _), (_, _, form) in zip(rows, TRAIN))
    assert right >= 6


def test_other_columns_are_named_or_refused(trained, data, tmp_path, predict, capsys):
    """An ID is not inflected, and no column of words is read as features."""
    numbered, odd = tmp_path / "numbered", tmp_path / "odd"
    numbered.write_text("".join(f"{number}\t{lemma}\t{tag}\n" for number, (lemma, tag) in enumerate(KNOWN)))
    odd.write_text("".join(f"{lemma}\t{tag.replace(';', '.')}\n" for lemma, tag in KNOWN))
    expected = [output for _, output, _ in predict(trained.model_path, data("train"))]
    for columns in ("-,input,features", "-,lemma,msd"):
        rows = predict(f"--columns={columns}", trained.model_path, numbered)
        assert [row[3] for row in rows] == expected and [row[1:3] for row in rows] == [list(each) for each in KNOWN]
    message = error_of(capsys, "predict", trained.model_path, str(numbered), str(tmp_path / "out"))
    assert f"{numbered}, line 1: the inputs are numbers (0), which the model has never seen; " in message
    assert "--columns=-,input,features" in message
    message = error_of(capsys, "predict", trained.model_path, str(odd), str(tmp_path / "out"))
    assert f"{odd}, line 1: the model knows no feature of any line (" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("flags, search", [([], "beam4"), (["--beam-width=4"], "beam4"), (["--beam-width=1"], "greedy"),
                                           (["--beam-width=0"], "greedy")])
def test_predictions_are_those_of_the_training_run(trained, data, predict, flags, search):
    for part in ("dev", "test"):
        assert predict(*flags, trained.model_path, data(part)) == trained.predictions(f"{search}.{part}")


def test_the_beam_finds_what_greedy_search_does_not(trained, data, tmp_path, predict):
    """The log probability of the best hypothesis never falls with the width, and here it rises somewhere."""
    inputs = tmp_path / "inputs"
    inputs.write_text("".join(f"{lemma}\t{tag}\n" for lemma in ("bee", "taxe", "geek", "wolk", "xdoga")
                              for tag in ("N;PL", "V;PST", "N;SG")), encoding="utf-8")
    greedy, wide = (predict(f"--beam-width={width}", "--nbest=1", trained.model_path, inputs) for width in (1, 16))
    gains = [float(row[4]) - float(other[4]) for row, other in zip(wide, greedy)]
    assert min(gains) > -1e-5
    assert max(gains) > 1e-3


def test_a_stream_is_read_and_written(trained, data, predict, monkeypatch):
    text = data.path("dev").read_text(encoding="utf-8")
    give(monkeypatch, text)
    from_stream = predict(trained.model_path, "-", "-")
    give(monkeypatch, text)
    assert predict(trained.model_path, "-") == from_stream == predict(trained.model_path, data("dev"))


def test_a_stream_of_a_real_pipe(trained):
    process = run_il_morph("predict", trained.model_path, "-", input="walk\tV;PST\nžluťoučký\tN;PL\n")
    assert process.returncode == 0, process.stderr
    rows = [line.split("\t") for line in process.stdout.splitlines()]
    assert [row[0] for row in rows] == ["walk", "žluťoučký"]
    assert process.stderr == ""


def test_an_output_file(trained, data, tmp_path, predict):
    output = tmp_path / "output"
    assert predict(trained.model_path, data("dev"), output) == []
    assert output.read_text(encoding="utf-8") == trained.text("f.beam4.dev.predictions")


def test_an_output_file_is_only_overwritten_with_force(trained, data, tmp_path, predict, capsys):
    output = tmp_path / "output"
    output.write_text("precious")
    message = error_of(capsys, "predict", trained.model_path, data("dev"), str(output))
    assert message == f"{output} exists already; choose another name, or overwrite it with --force\n"
    assert output.read_text() == "precious"
    predict("--force", trained.model_path, data("dev"), output)
    assert output.read_text(encoding="utf-8") == trained.text("f.beam4.dev.predictions")


def test_covered_input(trained, data, tmp_path, predict):
    empty_column = tmp_path / "empty_column"
    empty_column.write_text("".join(f"{lemma}\t\t{tag}\n" for lemma, tag, _ in DEV), encoding="utf-8")
    expected = predict(trained.model_path, data("dev"))
    assert predict(trained.model_path, data("dev", "covered")) == expected
    assert predict(trained.model_path, empty_column) == expected


def test_decbatch_size_does_not_change_the_predictions(trained, data, predict):
    assert predict("--decbatch-size=1", trained.model_path, data("train")) == predict(trained.model_path, data("train"))


# --nbest

def test_nbest_has_ranks_and_falling_log_probabilities(trained, data, predict):
    rows = predict("--nbest=3", trained.model_path, data("dev"))
    assert all(len(row) == 5 for row in rows)
    assert [int(row[3]) for row in rows] == [1, 2, 3] * len(DEV)
    for first in range(0, len(rows), 3):
        group = rows[first:first + 3]
        assert {(row[0], row[2]) for row in group} == {DEV[first // 3][:2]}
        scores = [float(row[4]) for row in group]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] <= 0
    assert [row[:3] for row in rows[::3]] == trained.predictions("beam4.dev")


def test_nbest_widens_the_beam(trained, data, predict):
    rows = predict("--nbest=6", trained.model_path, data("dev"))
    assert [int(row[3]) for row in rows] == [1, 2, 3, 4, 5, 6] * len(DEV)
    assert rows == predict("--nbest=6", "--beam-width=6", trained.model_path, data("dev"))


def test_nbest_of_one_has_its_columns_too(trained, data, predict):
    rows = predict("--nbest=1", trained.model_path, data("dev"))
    assert [len(row) for row in rows] == [5] * len(DEV)
    assert {row[3] for row in rows} == {"1"}


def test_log_probabilities_of_a_wide_beam_sum_to_at_most_one(trained, data, predict):
    rows = predict("--nbest=20", trained.model_path, data("dev"))
    for lemma in {row[0] for row in rows}:
        assert sum(2.718281828 ** float(row[4]) for row in rows if row[0] == lemma) <= 1 + 1e-4


def test_evaluate_takes_nbest_predictions(trained, data, tmp_path, predict, capsys):
    output = tmp_path / "nbest"
    predict("--nbest=4", trained.model_path, data("dev"), output)
    assert main(["evaluate", "--sigm2017format", data("dev"), str(output)]) == 0
    assert capsys.readouterr().out == trained.text("f.beam4.dev.eval")


def test_evaluate_takes_predictions(trained, data, tmp_path, predict, capsys):
    output = tmp_path / "predictions"
    predict("--beam-width=1", trained.model_path, data("dev"), output)
    assert main(["evaluate", "--sigm2017format", data("dev"), str(output)]) == 0
    assert capsys.readouterr().out == trained.text("f.greedy.dev.eval")


# --actions

def replay(lemma: str, edits: str) -> tuple:
    """What the described edits write, and what of the input they leave."""
    rest, output = lemma, ""
    for edit in edits.split(" ") if edits else []:
        if len(edit) == 2 and edit[0] == "+":
            output += edit[1].replace("␣", " ")
            continue
        character = (edit[1] if len(edit) == 2 and edit[0] == "-" else edit).replace("␣", " ")
        assert rest[0] == character
        rest = rest[1:]
        output += "" if len(edit) == 2 else character
    return output, rest


@pytest.mark.parametrize("flags", [["--beam-width=1"], [], ["--nbest=4"]], ids=" ".join)
def test_the_described_edits_make_the_output(trained, data, predict, flags):
    rows = predict("--actions", *flags, trained.model_path, data("train"))
    assert {len(row) for row in rows} == {6 if "--nbest=4" in flags else 4}
    for row in rows:
        assert replay(row[0], row[-1]) == (row[1], "")


def test_the_edits_of_a_known_word_copy_delete_and_insert(trained, data, predict):
    """Which of two equally short ways a model takes is its own choice: the kinds of edits are not."""
    rows = {(row[0], row[2]): row for row in predict("--actions", trained.model_path, data("train"))}
    assert rows["walk", "V;PST"][3].split()[:4] == list("walk")
    edits = " ".join(row[3] for row in rows.values()).split()
    assert any(edit.startswith("+") for edit in edits)


def test_blanks_are_shown(trained, tmp_path, predict):
    inputs = tmp_path / "inputs"
    inputs.write_text("walk talk\tV;PST\n", encoding="utf-8")
    (row,) = predict("--actions", trained.model_path, inputs)
    assert "␣" in row[3]
    assert replay(row[0], row[3])[0] == row[1]


# Symbols that training did not show

def test_unseen_characters_features_and_pos(trained, tmp_path, predict):
    inputs = tmp_path / "inputs"
    inputs.write_text("žluť\tN;PL\nwalk\tV;FUT;3\nwalk\tPUNCT;PST\n\tV;PST\n", encoding="utf-8")
    rows = predict(trained.model_path, inputs)
    assert [(row[0], row[2]) for row in rows] == [("žluť", "N;PL"), ("walk", "V;FUT;3"),
                                                  ("walk", "PUNCT;PST"), ("", "V;PST")]


def test_an_unseen_feature_counts_as_absent(trained, tmp_path, predict):
    inputs = tmp_path / "inputs"
    inputs.write_text("walk\tV;PST\nwalk\tV;PST;NEVER\n", encoding="utf-8")
    known, unseen = predict("--nbest=1", trained.model_path, inputs)
    assert (known[1], known[4]) == (unseen[1], unseen[4])


# Other formats

def test_2016_format(train, data, predict):
    run = train(layout="2016")
    rows = predict(run.model_path, data("dev", "2016"))
    assert rows == run.predictions("beam4.dev")
    assert [tuple(row[:2]) for row in rows][0] == ("walk", "pos=V,tense=PST")


def test_without_features_two_and_three_columns_are_one(train, data, tmp_path, predict):
    run = train(layout="columns")
    words = tmp_path / "words"
    words.write_text("".join(f"{lemma}\n" for lemma, _, _ in DEV), encoding="utf-8")
    rows = predict(run.model_path, data("dev", "plain"))
    assert rows == predict(run.model_path, words)
    assert predict(run.model_path, data("dev", "columns")) == [[row[0], row[2]] for row in rows], "two in, two out"
    assert [row[:2] for row in rows] == [[lemma, ""] for lemma, _, _ in DEV]
    assert il_morph.load(run.model_path).predict([lemma for lemma, _, _ in DEV]) == [row[2] for row in rows]


# Python

def test_predict_from_python(trained, data, predict):
    predictor = il_morph.load(trained.model_path)
    assert predictor.predict(KNOWN) == [row[1] for row in predict(trained.model_path, data("train"))]
    assert predictor.predict(KNOWN, beam_width=1) == [
        row[1] for row in predict("--beam-width=1", trained.model_path, data("train"))]
    assert predictor.predict([]) == []


def test_load_takes_path_objects_and_refuses_what_is_no_model(trained, data):
    assert il_morph.load(trained.folder / "f.model").predict([("walk", "V;PST")])
    with pytest.raises(InputError, match="is not a whole il-morph model"):
        il_morph.load(data("train"))


# Errors; those of model files are in test_train_errors.py

@pytest.mark.parametrize("flags, message", [
    (["--beam-width=wide"], "--beam-width takes a whole number from 0 up to 1000, not 'wide'"),
    (["--beam-width=-1"], "--beam-width takes a whole number from 0 up to 1000, not '-1'"),
    (["--beam-width="], "--beam-width takes a whole number from 0 up to 1000, not ''"),
    (["--nbest=0"], "--nbest takes a whole number from 1 up to 1000, not '0'"),
    (["--nbest="], "--nbest takes a whole number from 1 up to 1000, not ''"),
    (["--nbest=5", "--beam-width=4"], "--nbest=5 exceeds --beam-width=4: widen the beam"),
    (["--nbest=2", "--beam-width=0"], "--nbest=2 exceeds --beam-width=0: widen the beam"),
    (["--decbatch-size=0"], "--decbatch-size takes a whole number from 1 up, not '0'"),
    (["--sigm2017format"], "unknown flag --sigm2017format"),
])
def test_bad_flags(trained, data, capsys, flags, message):
    assert error_of(capsys, "predict", *flags, trained.model_path, data("dev")).startswith(message)


@pytest.mark.parametrize("content, where, what", [
    ("", "", "is empty"),
    ("walk\n", ", line 1", "1 column"),
    ("walk\twalked\tV;PST\tmore\n", ": 4 columns", "say it with --columns"),
    (b"w\xe4lk\tV;PST\n", ", line 1", "not UTF-8"),
    ("⟪walk\tV;PST\n", ", line 1", "the symbol ⟪ is reserved"),
    (as_2016(TRAIN), "", "does not look like the sigmorphon2017 format"),
])
def test_bad_input(trained, tmp_path, capsys, content, where, what):
    inputs, output = tmp_path / "inputs", tmp_path / "output"
    inputs.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    message = error_of(capsys, "predict", trained.model_path, str(inputs), str(output))
    assert message.startswith(f"{inputs}{where}")
    assert what in message
    assert not output.exists()


def test_files_that_are_missing(trained, data, tmp_path, capsys):
    missing = str(tmp_path / "missing")
    reason = "No such file or directory"
    assert error_of(capsys, "predict", missing, data("dev")) == f"cannot read {missing}: {reason}\n"
    assert error_of(capsys, "predict", trained.model_path, missing) == f"cannot read {missing}: {reason}\n"
    below = str(tmp_path / "missing" / "output")
    assert error_of(capsys, "predict", trained.model_path, data("dev"), below) == f"cannot write {below}: {reason}\n"


def test_the_advice_about_formats_is_one_that_can_be_followed(trained, data, capsys):
    """The format comes with the model: predict has no flag for it."""
    message = error_of(capsys, "predict", trained.model_path, data("dev", "2016"))
    assert "flag" not in message.replace("--sigm2017format", "")
    assert "sigmorphon2016" in message


# Without DyNet

def test_predict_and_evaluate_work_without_dynet(trained, data, tmp_path):
    environment = environment_without_dynet(tmp_path)
    output = tmp_path / "output"
    process = run_il_morph("predict", trained.model_path, data("test"), str(output), env=environment)
    assert process.returncode == 0, process.stderr
    assert output.read_text(encoding="utf-8") == trained.text("f.beam4.test.predictions")
    process = run_il_morph("evaluate", "--sigm2017format", data("test"), str(output), env=environment)
    assert process.returncode == 0, process.stderr
    accuracy = trained.stats["scores"]["beam4.test"]["accuracy"]
    assert process.stdout.split()[:2] == ["accuracy", f"{accuracy:.4f}"]
    assert len(TEST) == int(process.stdout.splitlines()[4].split()[1])


@pytest.mark.parametrize("items", ["walk", [("walk",)], [None], [("walk", 3)]])
def test_python_callers_get_clear_errors_too(trained, items):
    with pytest.raises(InputError, match="predict takes"):
        il_morph.load(trained.model_path).predict(items)


def test_a_results_folder_stands_for_its_model(trained):
    inputs = [("walk", "V;PST")]
    assert il_morph.load(trained.folder).predict(inputs) == il_morph.load(
        trained.model_path).predict(inputs)
