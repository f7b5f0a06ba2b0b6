"""CoNLL-U in, CoNLL-U out; a lexicon of the words that training has shown."""
from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import il_morph
from il_morph.commands import main
from il_morph.data import streaming
from il_morph.data.conllu import COLUMNS, LEMMA, MISC, conllu_block, is_conllu, sentences_of, with_candidates
from il_morph.data.dataformat import FEATURE_SOURCES, TASKS, treebank
from il_morph.data.formats import ReadOptions, Sample, format_named, parse_data, read_data
from il_morph.data.streaming import DataStream
from il_morph.errors import InputError
from il_morph.model.answers import Answers
from il_morph.model.lexicon import FREQUENT, UNANIMOUS, Lexicon
from il_morph.model.modelfile import load_model
from tests.cli import error_of
from tests.shared import shared_files

UD = shared_files("data/ud/*.conllu")
SMALL = ["--engine=native", "--model=ca-d", "--epochs=1", "--dynet-seed=1", "--input=8", "--action-input=8",
         "--feat-input=4", "--enc-hidden=8", "--dec-hidden=8"]


def word(number, form, lemma, upos="NOUN", feats="_", misc="_") -> str:
    return "\t".join([str(number), form, lemma, upos, "X", feats, "0", "root", "_", misc])


SENTENCES = [
    ["# sent_id = one", "# text = Evler evde in New York", word("1-2", "Evlerde", "_", "_"),
     word(1, "Evler", "ev", feats="Number=Plur"), word(2, "evde", "ev", feats="Case=Loc|Number=Sing"),
     word("2.1", "null", "null"), word(3, "New York", "New York", "PROPN", misc="SpaceAfter=No")],
    ["# sent_id = two", word(1, "evler", "ev", feats="Number=Plur"), word(2, "gitti", "git", "VERB"),
     word(3, "gitti", "git", "VERB"), word(4, "gitti", "gitmek", "VERB"), word(5, "_", "_", "SYM")],
]
TEXT = "".join("\n".join(lines) + "\n\n" for lines in SENTENCES)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebank")
    (folder / "train.conllu").write_text(TEXT, encoding="utf-8")
    path = str(folder / "train.conllu")
    assert main(["train", *SMALL, path, path, str(folder / "results")]) == 0
    return str(folder / "results")


def predicted(model, content: bytes, tmp_path, *flags) -> bytes:
    (tmp_path / "in.conllu").write_bytes(content)
    assert main(["predict", "--force", *flags, model, str(tmp_path / "in.conllu"), str(tmp_path / "out.conllu")]) == 0
    return (tmp_path / "out.conllu").read_bytes()


def without(content: bytes, column: int = LEMMA) -> list[list[bytes]]:
    rows = [line.split(b"\t") for line in content.split(b"\n")]
    return [row[:column] + row[column + 1:] if len(row) == len(COLUMNS) else row for row in rows]


# Reading

def test_words_are_read_once_with_their_counts():
    data = parse_data(TEXT.encode(), "a file", need_output=True)
    assert data.samples == [
        Sample("Evler", "NOUN|Number=Plur", "ev"), Sample("evde", "NOUN|Case=Loc|Number=Sing", "ev"),
        Sample("New York", "PROPN", "New York"), Sample("evler", "NOUN|Number=Plur", "ev"),
        Sample("gitti", "VERB", "git"), Sample("gitti", "VERB", "gitmek"), Sample("_", "SYM", "_")]
    assert data.counts == [1, 1, 1, 1, 2, 1, 1]
    assert data.description == "CoNLL-U: FORM + UPOS + FEATS → LEMMA (8 words, 7 different)"


@pytest.mark.parametrize("task, source, first", [
    ("lemmatize", "none", Sample("Evler", "", "ev")), ("lemmatize", "upos", Sample("Evler", "NOUN", "ev")),
    ("lemmatize", "xpos", Sample("Evler", "X", "ev")),
    ("inflect", "upos+feats", Sample("ev", "NOUN|Number=Plur", "Evler"))])
def test_the_task_and_the_features_are_chosen(task, source, first):
    data = parse_data(TEXT.encode(), "a file", ReadOptions(treebank=treebank(task, source)), need_output=True)
    assert data.samples[0] == first
    assert data.format == format_named(f"conllu:{task}:{source}")


def test_every_treebank_format_has_a_name():
    for task in TASKS:
        for source in FEATURE_SOURCES:
            assert format_named(treebank(task, source).name) == treebank(task, source)


@pytest.mark.parametrize("lines, found", [
    ([word(1, "a", "a")], True), ([word("1-2", "a", "a")], True), (["# a", "", word("0.1", "a", "a")], True),
    (["walk\twalked\tV"], False), (["1\tone\tNUM"], False), (["# 1", "1\tone\tNUM"], False),
    (["# text = a", word(1, "a", "a").rsplit("\t", 1)[0]], True), ([word(2, "a", "a")], False), ([""], False)])
def test_it_is_recognised_by_its_content(lines, found):
    assert is_conllu(lines) is found


@pytest.mark.parametrize("old, new, message", [
    ("\tgit\tVERB", "\tVERB", "9 columns, but a line of CoNLL-U has 10"),
    ("\tgit\tVERB", "\t\tVERB", "LEMMA is empty"),
    ("2\tgitti", "x\tgitti", "the ID 'x' is neither")])
def test_bad_lines_are_named_by_line_and_sentence(old, new, message, model, tmp_path, capsys):
    path = tmp_path / "bad.conllu"
    path.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    text = error_of(capsys, "predict", model, str(path), str(tmp_path / "out"))
    assert f"{path}, line 11 (sentence two): {message}" in text
    assert not (tmp_path / "out").exists()


def test_flags_for_treebanks_need_one(tmp_path, capsys):
    (tmp_path / "words.tsv").write_text("walk\twalked\tV;PST\n" * 3)
    text = error_of(capsys, "train", "--task=inflect", *[str(tmp_path / "words.tsv")] * 2, str(tmp_path / "results"))
    assert "--task=inflect" in text and "CoNLL-U" in text


def test_a_treebank_for_a_model_of_other_data_is_refused():
    expected = ReadOptions(expected=format_named("sigmorphon2017"), because="the model was trained on")
    with pytest.raises(InputError, match="a file is CoNLL-U: give data in the format that the model was trained on"):
        parse_data(TEXT.encode(), "a file", expected)


def test_words_without_lemmas_are_left_out_of_training(caplog):
    data = parse_data(TEXT.replace("\tev\t", "\t_\t", 1).encode(), "a file", need_output=True)
    assert Sample("Evler", "NOUN|Number=Plur", "ev") not in data.samples and len(data.samples) == 6
    assert "a file: 1 word has no LEMMA (_) and is left out" in caplog.text
    with pytest.raises(InputError, match="has no lemmas"):
        parse_data(word(1, "a", "_").encode(), "a file", need_output=True)


# Writing

@pytest.mark.parametrize("path", UD, ids=lambda path: path.name)
@pytest.mark.parametrize("change", [lambda text: text, lambda text: text.replace(b"\n", b"\r\n"),
                                    lambda text: text.rstrip(b"\n")], ids=["as it is", "CRLF", "no line end"])
def test_a_treebank_comes_back_byte_for_byte(path, change):
    """With the lemmas that are there; read in blocks."""
    content = change(path.read_bytes())
    blocks = [conllu_block(content, path.name)]
    assert "".join(block.filled([{LEMMA: word.fields[LEMMA]} for word in block.words]) for block in blocks) == (
        content.decode())
    changed = blocks[0].filled([{LEMMA: "x"} for _ in blocks[0].words]).encode()
    assert without(changed) == without(content) and changed != content


@pytest.mark.parametrize("change", [
    lambda text: text, lambda text: text.replace("\n", "\r\n"), lambda text: text.rstrip("\n"),
    lambda text: "\ufeff" + text, lambda text: text + "\n\n# the end\n", lambda text: "\n" + text])
def test_predict_changes_lemmas_alone(change, model, tmp_path):
    content = change(TEXT).encode()
    result = predicted(model, content, tmp_path)
    assert without(result) == without(content)
    assert b"\tgitti\tgitmek\t" not in result or b"\tgitti\tgit\t" not in result, "equal inputs have equal lemmas"


@given(st.lists(st.sampled_from([*SENTENCES[0], *SENTENCES[1], "", "# text = a b", "#"]), max_size=25),
       st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 300))
def test_blocks_of_any_size_give_the_whole_file(tmp_path_factory, lines, end, ended, size):
    path = tmp_path_factory.mktemp("blocks") / "file.conllu"
    content = (end.join([SENTENCES[0][3], *lines]) + end * ended).encode()
    path.write_bytes(content)
    whole, streaming.BLOCK = streaming.BLOCK, size
    try:
        blocks = [data.block for data in DataStream(path, ReadOptions())]
    finally:
        streaming.BLOCK = whole
    assert "".join(block.filled([{} for _ in block.words]) for block in blocks).encode() == content


@given(st.lists(st.sampled_from([*SENTENCES[0], "", " ", "# a"]), max_size=25), st.booleans())
def test_sentences_are_all_of_the_file(lines, ended):
    content = ("\n".join(lines) + "\n" * ended).encode()
    assert b"".join(sentences_of(content)) == content
    assert len(sentences_of(TEXT.encode())) == 2


def test_a_pipe_gives_the_same_bytes(model, tmp_path, capsys, monkeypatch):
    path = tmp_path / "in.conllu"
    path.write_text(TEXT, encoding="utf-8")
    expected = predicted(model, TEXT.encode(), tmp_path).decode()
    monkeypatch.setattr(streaming, "BLOCK", 40)
    assert main(["predict", model, str(path)]) == 0
    assert capsys.readouterr().out == expected


def test_nbest_goes_to_misc(model, tmp_path):
    result = predicted(model, TEXT.encode(), tmp_path, "--nbest=2", "--lexicon=off")
    rows = [line.split(b"\t") for line in result.split(b"\n") if line[:1].isdigit()]
    words = [row for row in rows if row[0].isdigit()]
    assert all(row[MISC].split(b"LemmaCandidates=")[1].startswith(row[LEMMA].replace(b" ", b"%20") + b":")
               for row in words)
    assert [row[MISC] for row in rows if not row[0].isdigit()] == [b"_", b"_"]
    assert [row[MISC] for row in words if row[1] == b"New York"][0].startswith(b"SpaceAfter=No|LemmaCandidates=")
    assert with_candidates("A=b|LemmaCandidates=x:1", [("a:b|c", 0.5)]) == "A=b|LemmaCandidates=a%3Ab%7Cc:0.5000"


def test_uncertain_lemmas_are_left_out(model, tmp_path):
    result = predicted(model, TEXT.encode(), tmp_path, "--lexicon=off", "--min-probability=1").decode()
    assert "\tgitti\t_\tVERB" in result
    assert "\tevde\tev\t" in predicted(model, TEXT.encode(), tmp_path, "--min-probability=1").decode()


# The lexicon

def test_words_of_the_training_data_are_looked_up(model, tmp_path):
    lexicon = load_model(model).lexicon
    assert lexicon.entries["gitti", "VERB"] == {"git": 2, "gitmek": 1}
    result = predicted(model, TEXT.encode(), tmp_path, "--lexicon=frequent").decode()
    assert "\tevde\tev\t" in result and result.count("\tgitti\tgit\t") == 3


@pytest.mark.parametrize("form, tag, initial, unanimous, frequent", [
    ("ev", "N", False, "ev", "ev"), ("a", "N", False, None, "x"), ("b", "N", False, None, None),
    ("Ev", "N", True, "ev", "ev"), ("Ev", "N", False, None, None), ("Ay", "N", True, "Ay", "Ay"),
    ("Ay", "V", True, None, None), ("İp", "N", True, "ip", "ip"), ("Irk", "N", True, "ırk", "ırk"),
    ("", "N", True, None, None)])
def test_rules_of_the_lexicon(form, tag, initial, unanimous, frequent):
    samples = [Sample("ev", "N", "ev"), Sample("a", "N", "x"), Sample("a", "N", "y"), Sample("b", "N", "x"),
               Sample("b", "N", "y"), Sample("Ay", "N", "Ay"), Sample("ay", "V", "ay"), Sample("ip", "N", "ip"),
               Sample("ırk", "N", "ırk")]
    lexicon = Lexicon().add(samples, [1, 2, 1, 1, 1, 1, 1, 1, 1])
    for rule, output in ((UNANIMOUS, unanimous), (FREQUENT, frequent)):
        found = lexicon.found(Sample(form, tag, None), rule, initial)
        assert (next(iter(found)) if found else None) == output


def test_models_with_a_lexicon_have_a_version_that_older_programs_refuse(model):
    with zipfile.ZipFile(f"{model}/f.model") as archive:
        assert b'"version": 3' in archive.read("header.json")
        assert archive.read("lexicon.tsv").decode().startswith("Evler\tNOUN|Number=Plur\tev\t1\n")


def test_lines_of_columns_have_a_lexicon_if_asked_for(tmp_path, capsys):
    path, plain, kept = tmp_path / "words.tsv", str(tmp_path / "plain"), str(tmp_path / "kept")
    path.write_text("walk\twalked\tV;PST\ntalk\ttalked\tV;PST\nwalk\twalks\tV;PRS\n")
    assert main(["train", *SMALL, str(path), str(path), plain]) == 0
    assert main(["train", *SMALL, "--keep-lexicon", str(path), str(path), kept]) == 0
    with zipfile.ZipFile(f"{plain}/f.model") as archive:
        assert b'"version": 1' in archive.read("header.json") and "lexicon.tsv" not in archive.namelist()
    capsys.readouterr()
    assert main(["predict", kept, str(path)]) == 0
    assert capsys.readouterr().out == path.read_text()
    assert "the model has no lexicon" in error_of(capsys, "predict", "--lexicon=unanimous", plain, str(path))


@pytest.mark.parametrize("text", ["a\tb\tc\n", "a\tb\tc\t0\n", "a\tb\tc\tx\n", "a\tb\tc\t1",
                                  "a\tb\tc\t1\na\tb\tc\t1\n"])
def test_a_damaged_lexicon_is_refused(text):
    with pytest.raises(ValueError, match="lexicon"):
        Lexicon.from_text(text)


def test_equal_inputs_are_decoded_once(model):
    predictor = il_morph.load(model)
    asked, ranked = [], predictor.ranked
    predictor.ranked = lambda samples, *rest: asked.extend(samples) or ranked(samples, *rest)
    answers = Answers(predictor)
    samples = [Sample("gitti", "VERB", None), Sample("evde", "NOUN", "x"), Sample("gitti", "VERB", "git")]
    first = answers.ranked(samples * 2, [True, False] * 3)
    assert len(asked) == 2 and first[0] == first[2] == first[3]
    answers.ranked(samples)
    assert len(asked) == 2


def test_a_file_of_predictions_is_read_with_the_format_of_the_model(model):
    data = read_data(f"{model}/f.beam4.dev.predictions", ReadOptions(expected=load_model(model).vocabulary.format))
    assert [sample.input for sample in data.samples][:2] == ["Evler", "evde"]


# Splitting

def many_sentences() -> str:
    second = word(2, "gitti", "git", "VERB")
    return "".join(f"# sent_id = s{n}\n{word(1, f'w{n}a', f'w{n}')}\n{second}\n\n" for n in range(30))


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_treebank_is_split_by_sentence(end, tmp_path, capsys):
    path = tmp_path / "all.conllu"
    path.write_text(many_sentences().rstrip("\n") + end)
    assert main(["split", str(path), str(tmp_path / "parts")]) == 0
    parts = [(tmp_path / "parts" / f"{name}.conllu").read_bytes() for name in ("train", "dev", "test")]
    sentences = [sentences_of(part) for part in parts]
    assert [len(each) for each in sentences] == [24, 3, 3]
    assert sorted(sum(sentences, [])) == sorted(sentences_of(path.read_bytes()))
    assert "sentence" in error_of(capsys, "split", "--split-by=line", str(path), str(tmp_path / "others"))


def test_a_last_sentence_of_one_line_without_its_end_gets_into_a_part(tmp_path):
    path = tmp_path / "all.conllu"
    path.write_text(many_sentences() + word(1, "son", "son").rstrip("\n"))
    assert main(["split", str(path), str(tmp_path / "parts")]) == 0
    parts = [(tmp_path / "parts" / f"{name}.conllu").read_text() for name in ("train", "dev", "test")]
    assert sum("\tson\t" in part for part in parts) == 1


def test_one_treebank_is_split_and_trained(tmp_path):
    path, results = tmp_path / "all.conllu", tmp_path / "results"
    path.write_text(many_sentences())
    assert main(["train", *SMALL, str(path), str(results)]) == 0
    train = parse_data((results / "train.conllu").read_bytes(), "train")
    assert load_model(results).lexicon == Lexicon().add(train.samples, train.counts)
    assert load_model(results).lexicon.entries["gitti", "VERB"] == {"git": 24}


def test_lines_have_no_sentences_to_split(tmp_path, capsys):
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"w{n}\tw{n}s\n" for n in range(20)))
    assert "has no sentences" in error_of(capsys, "split", "--split-by=sentence", str(path), str(tmp_path / "parts"))


# Evaluation

def test_lemmas_are_counted_over_words(tmp_path, capsys):
    gold, predictions = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    gold.write_text(TEXT, encoding="utf-8")
    predictions.write_text(TEXT.replace("\tgitmek\t", "\tgit\t").replace("\tNew York\tPROPN", "\tYork\tPROPN")
                           .replace("5\t_\t_\t", "5\t_\tx\t"), encoding="utf-8")
    train = tmp_path / "train.conllu"
    train.write_text(word(1, "gitti", "git", "VERB") + "\n\n", encoding="utf-8")
    assert main(["evaluate", "--format=tsv", f"--train={train}", str(gold), str(predictions)]) == 0
    assert [line.split("\t") for line in capsys.readouterr().out.splitlines()] == [
        ["section", "group", "words", "correct", "accuracy"], ["words", "all", "8", "6", "75.00"],
        ["UPOS", "NOUN", "3", "3", "100.00"], ["UPOS", "PROPN", "1", "0", "0.00"], ["UPOS", "SYM", "1", "1", "100.00"],
        ["UPOS", "VERB", "3", "2", "66.67"], ["form", "seen in training", "3", "2", "66.67"],
        ["form", "unseen in training", "5", "4", "80.00"]]


@pytest.mark.parametrize("old, new, message", [
    ("2\tgitti", "2\tgittim", "line 11 (sentence two) has the word 2 gittim, but"),
    (SENTENCES[1][-1], "# gone", "has no counterpart in")])
def test_files_with_other_words_are_refused(old, new, message, tmp_path, capsys):
    gold, predictions = tmp_path / "gold.conllu", tmp_path / "predicted.conllu"
    gold.write_text(TEXT, encoding="utf-8")
    predictions.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    assert message in error_of(capsys, "evaluate", str(gold), str(predictions))


def test_a_page_reports_a_treebank(model, tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(Path(model).parent)
    target = tmp_path / "page.html"
    assert main(["report", "--dev=train.conllu", "--train=train.conllu", f"--output={target}", "results"]) == 0
    assert "New York" in target.read_text(encoding="utf-8")


def test_accuracies_are_measured_and_printed(model, tmp_path, monkeypatch, capsys):
    from tests.analysis import script as analysis  # skips where a package is missing

    script = analysis("lemmas")
    monkeypatch.setattr(script, "MEASURED", tmp_path / "measured.tsv")
    path = str(Path(model).parent / "train.conllu")
    for _ in range(2):  # the second time the rows replace those of the first
        script.main(["measure", "--treebank=Turkish", f"--train={path}", f"--test={path}", model])
    assert len((tmp_path / "measured.tsv").read_text().splitlines()) == 1 + 2 * 3
    capsys.readouterr()
    script.main(["--format=markdown"])
    row = capsys.readouterr().out.splitlines()[2].split(" | ")
    assert row[:4] == ["| Turkish", "UPOS, FEATS", "seed 1, not averaged", "1"]
    assert float(row[4]) <= float(row[5]) == float(row[6]) and row[7] == "–"
