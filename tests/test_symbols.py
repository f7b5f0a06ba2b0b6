"""Symbols of several characters: phonemes and jamo, from the files through every command and back."""
from __future__ import annotations

import json
import pickle
import unicodedata
from dataclasses import replace

import editdistance
import pytest
from hypothesis import given
from hypothesis import strategies as st

import il_morph
from il_morph.commands import main
from il_morph.data.formats import NO_FEATURES, ReadOptions, Sample, Separators, parse_data
from il_morph.data.symbols import MOST, PRIVATE_USE, Symbols, complaint_about_separator, private_character, symbols_of
from il_morph.errors import InputError
from il_morph.evaluation.entries import Entry
from il_morph.evaluation.scores import score
from il_morph.evaluation.voting import repaired
from il_morph.model.combination import AveragingPredictor, VotingPredictor
from il_morph.model.modelfile import load_model, save_model
from il_morph.model.predictor import Predictor
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.report.answers import Answers
from il_morph.report.characters import shown
from il_morph.report.trace import trace_best
from il_morph.report.words import sample_for
from il_morph.transitions.actions import UNK
from tests.cli import Run, error_of
from tests.cli import il_morph as run_command
from tests.random_models import random_model
from tests.shared import SHARED, needs_shared
from tests.test_modelfile import header, members, rewrite

PHONEMES = [
    Sample("cena", "", "t͡ʃ eː n a"), Sample("pace", "", "p aː t͡ʃ e"), Sample("gelo", "", "d͡ʒ ɛː l o"),
    Sample("ago", "", "aː ɡ o"), Sample("canna", "", "k a nː a"), Sample("oggi", "", "ɔ dː͡ʒ i"),
    Sample("zio", "", "t͡s iː o"), Sample("anno", "", "a nː o"),
]
HANGUL = [("가다", "갔다"), ("사다", "샀다"), ("자다", "잤다"), ("오다", "왔다"), ("보다", "봤다"), ("주다", "줬다")]
BLANK = Separators(output=" ")
SIZES = {"model": "ca-d", "input": 32, "enc_hidden": 32, "dec_hidden": 32, "epochs": 40, "patience": 40,
         "dynet_seed": 1, "beam_widths": "0"}
PARTS = {"ᅪ": "ᅩᅡ", "ᅯ": "ᅮᅥ", "ᆻ": "ᆺᆺ"}  # of complex jamo


def syllables(word: str) -> str:
    """Symbols of several characters: the jamo of a syllable."""
    return " ".join(unicodedata.normalize("NFD", syllable) for syllable in word)


def jamo(word: str) -> str:
    """Simple jamo are one character, complex ones two."""
    return " ".join(PARTS.get(each, each) for each in unicodedata.normalize("NFD", word))


def lines(samples) -> str:
    return "".join(f"{sample.input}\t{sample.output}\n" for sample in samples)


def write(path, samples) -> str:
    path.write_text(lines(samples), encoding="utf-8")
    return str(path)


def phoneme_model(seed: int = 0, samples=PHONEMES, **settings):
    return random_model(seed, samples=samples, **{"format": "no-features", "pos_emb": False, "output_separator": " ",
                                                  **settings})


@pytest.fixture
def path(tmp_path):
    save_model(tmp_path / "f.model", phoneme_model())
    return tmp_path / "f.model"


@pytest.fixture(scope="module", params=["native", "dynet"])
def phonemes(request, tmp_path_factory) -> Run:
    """A model that knows its phonemes, trained by the real command."""
    if request.param == "dynet":
        pytest.importorskip("dynet")
    folder = tmp_path_factory.mktemp("phonemes")
    data = write(folder / "data.tsv", PHONEMES)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in SIZES.items()]
    done = run_command("train", *flags, f"--engine={request.param}", "--output-separator= ", "--verbose",
                       f"--test-path={data}", data, data, str(folder / "results"))
    assert done.returncode == 0, done.stderr
    assert "dev: cena +  -> " in done.stderr and " (gold: t͡ʃ eː n a)" in done.stderr
    assert PRIVATE_USE.search(done.stderr) is None
    return Run(folder / "results")


# Encoding and decoding

words = st.lists(st.text(st.characters(exclude_categories=["Co", "Cs", "Cc"], exclude_characters=" |⟪⟫〰"), min_size=1,
                         max_size=4), max_size=8)


@given(st.lists(st.tuples(words, words), max_size=5), st.sampled_from(["", " ", "|", " | "]),
       st.sampled_from(["", " ", "|", "||"]))
def test_what_is_encoded_is_decoded_again_and_has_a_character_for_each_symbol(pairs, source, target):
    separators = Separators(source, target)
    samples = [Sample(source.join(one), "V", target.join(other)) for one, other in pairs]
    symbols = Symbols(separators).covering(samples)
    for sample in samples:
        separators.check(sample, "here")
        inside = symbols.encoded(sample)
        assert (symbols.input(inside.input), inside.tag, symbols.output(inside.target)) == (
            sample.input, sample.tag, sample.output)
        assert len(inside.input) == len(separators.inputs(sample.input))
        assert len(inside.target) == len(separators.outputs(sample.target))


@given(words, words)
def test_distances_over_symbols_are_those_of_lists(gold, output):
    found = score([" ".join(gold)], [[" ".join(output)]], [""], BLANK)
    assert found.levenshtein == editdistance.eval(gold, output) == brute_force(gold, output)
    assert found.normalised_levenshtein == pytest.approx(brute_force(gold, output) / max(len(gold), len(output), 1))


def brute_force(one, other) -> int:
    table = {(i, j): max(i, j) for i in range(len(one) + 1) for j in range(len(other) + 1) if not i or not j}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1,
                              table[i - 1, j - 1] + (one[i - 1] != other[j - 1]))
    return table[len(one), len(other)]


def test_symbols_get_characters_in_the_order_of_the_training_data_and_later_ones_come_after():
    symbols = Symbols(BLANK).covering(PHONEMES)
    assert symbols.listed[:4] == ("t͡ʃ", "eː", "aː", "d͡ʒ") and symbols.characters["t͡ʃ"] == "\ue000"
    more = symbols.covering([Sample("ai", "", "aː iː q͡χ")])
    assert more.listed == (*symbols.listed, "q͡χ")
    assert symbols.covering(PHONEMES) is symbols


def test_without_separators_nothing_is_encoded():
    sample = Sample("\ue000 b", "", "t͡ʃ  ")
    assert Symbols().covering([sample]).encoded(sample) is sample
    assert Symbols().output("\ue000 ") == "\ue000 "
    Separators().check(sample, "here")


def test_after_the_private_use_characters_of_the_first_plane_come_the_others():
    numbers = (0, 6399, 6400, 6400 + 65533, 6400 + 65534, MOST - 1)
    assert [ord(private_character(number)) for number in numbers] == [
        0xE000, 0xF8FF, 0xF0000, 0xFFFFD, 0x100000, 0x10FFFD]
    assert {unicodedata.category(private_character(number)) for number in numbers} == {"Co"}
    with pytest.raises(InputError, match="more than 137,468 different symbols of several characters"):
        private_character(MOST)


def test_many_symbols_reach_the_higher_planes():
    samples = [Sample("", "", " ".join(f"s{number}" for number in range(7000)))]
    symbols = Symbols(BLANK).covering(samples)
    assert symbols.output(symbols.encoded(samples[0]).target) == samples[0].output


def test_a_symbol_that_holds_the_separator_is_left_out_of_outputs():
    symbols = Symbols(BLANK).covering([])
    assert symbols.output("new york") == "n e w y o r k"


def test_symbols_are_shown_whole_and_nothing_invisible():
    assert shown("t͡ʃ") == "t͡ʃ" and shown("\u0361ʃ") == "◌\u0361ʃ" and shown("new york") == "new␣york"
    assert shown("a\u200b") == "aU+200B"


# What is refused

@pytest.mark.parametrize("output", ["a  b", " a b", "a b ", " "])
def test_empty_symbols_are_refused_with_their_line(output):
    with pytest.raises(InputError, match='FILE, line 2: the output .* has an empty symbol: the separator " "'):
        parse_data(f"x\ta b\ny\t{output}\n".encode(), "FILE", ReadOptions(NO_FEATURES, separators=BLANK))


@pytest.mark.parametrize("separators", [BLANK, Separators(input=" ")])
@pytest.mark.parametrize("line, name", [("x\ue000y\ta b", "input"), ("x\ta \U000f0000", "output")])
def test_private_use_characters_are_refused_where_there_are_separators(separators, line, name):
    content = f"x\ta b\n{line}\n".encode()
    with pytest.raises(InputError, match=f"FILE, line 2: the {name} has the private-use character U.* replace it"):
        parse_data(content, "FILE", ReadOptions(NO_FEATURES, separators=separators))
    assert len(parse_data(content, "FILE", ReadOptions(NO_FEATURES)).samples) == 2


def test_unicode_is_normalised_before_symbols_are_split():
    content = "x\te\u0301 n\n".encode()
    data = parse_data(content, "FILE", ReadOptions(NO_FEATURES, unicode="nfc", separators=BLANK))
    assert Symbols(BLANK).covering(data.samples).listed == () and data.samples[0].output == "é n"


@pytest.mark.parametrize("separator", ["\t", "a\n", "\r", "\ue000", "⟫", "\ud800"])
def test_separators_that_cannot_be_are_refused(separator, tmp_path, capsys):
    assert complaint_about_separator(separator)
    if separator != "\ud800":
        message = error_of(capsys, "align", f"--output-separator={separator}", write(tmp_path / "data", PHONEMES))
        assert message.startswith("--output-separator=") and "give another separator" in message


def test_the_training_command_names_the_line_and_writes_nothing(tmp_path, capsys):
    data = write(tmp_path / "data", [*PHONEMES, Sample("a", "", "a  b")])
    message = error_of(capsys, "train", "--engine=native", "--output-separator= ", data, data, str(tmp_path / "run"))
    assert f"{data}, line {len(PHONEMES) + 1}: the output 'a  b' has an empty symbol" in message
    assert not (tmp_path / "run").exists()


# A model with random weights

def test_a_vocabulary_has_one_action_for_each_symbol():
    vocabulary = phoneme_model().vocabulary
    spelled = set(map(vocabulary.symbols.symbol, vocabulary.actions.symbols))
    assert {"t͡ʃ", "eː", "d͡ʒ", "n", "c"} <= spelled and " " not in spelled and "\u0361" not in spelled
    instance = vocabulary.instance(PHONEMES[0])
    assert len(instance.sample.target) == 4 and UNK not in vocabulary.actions_of(instance.sample.target)


def test_a_copy_of_a_vocabulary_knows_the_same_symbols():
    vocabulary = phoneme_model().vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)).as_dict() == vocabulary.as_dict()


def test_what_models_answer_has_no_private_use_character():
    predictor = Predictor(phoneme_model(scale=0.3))
    inputs = [sample.input for sample in PHONEMES]
    found = predictor.nbest(inputs, n=8)
    assert [each[0].output for each in found] == predictor.predict(inputs, beam_width=8)
    for prediction in (prediction for predictions in found for prediction in predictions):
        BLANK.check(Sample("", "", prediction.output), "an output")
        assert PRIVATE_USE.search(prediction.actions) is None
    edits = " ".join(prediction.actions for predictions in found for prediction in predictions).split()
    assert any(edit.startswith("+") and len(edit) > 2 for edit in edits)


@pytest.mark.parametrize("transducer", ["haem", "hard"])
def test_unseen_symbols_are_copied_and_come_out_unchanged(transducer):
    samples = [Sample("t͡ʃ a", "", "t͡ʃ a"), Sample("a nː", "", "a nː")]
    predictor = Predictor(phoneme_model(3, samples, input_separator=" ", transducer=transducer))
    (found,) = predictor.nbest(["q͡χ ŋ͡m nː"], n=200)
    copied = {symbol for each in found for symbol in each.output.split(" ")} & {"q͡χ", "ŋ͡m"}
    assert copied == ({"q͡χ", "ŋ͡m"} if transducer == "haem" else set())
    scores = predictor.score([("q͡χ a", "", "q͡χ t͡ʃ"), ("q͡χ a", "", "ŋ͡m")])
    assert (scores[0].total > float("-inf")) == (transducer == "haem") and scores[1].total == float("-inf")
    if transducer == "haem":
        assert "q͡χ" in scores[0].actions.split()


def test_a_model_refuses_what_its_separators_do_not_allow():
    predictor = Predictor(phoneme_model(input_separator=" "))
    for ask in (predictor.predict, predictor.nbest):
        with pytest.raises(InputError, match="'a  b': the input 'a  b' has an empty symbol"):
            ask(["a  b"])
    with pytest.raises(InputError, match="private-use character U\\+E000"):
        predictor.score([("a", "", "\ue000")])
    with pytest.raises(InputError, match="the word 'a ': the input 'a ' has an empty symbol"):
        sample_for(predictor, "a ")


def test_traces_show_symbols():
    predictor = Predictor(phoneme_model(1, scale=0.3))
    for sample in PHONEMES:
        trace = trace_best(predictor, sample, sample.output, 4)
        assert (trace.output,) == tuple(predictor.predict([sample.input]))
        assert trace.steps[-1].output == trace.output and trace.gold == sample.output
        assert PRIVATE_USE.search(json.dumps(trace.as_dict(), ensure_ascii=False)) is None
        assert all(trace.tape[step.at] == step.character for step in trace.steps)
    optimal = {edit.label for step in trace_best(predictor, PHONEMES[0], "t͡ʃ q͡χ", 4).steps for edit in step.optimal}
    assert optimal & {"insert t͡ʃ", "insert q͡χ"}


def test_models_with_their_symbols_in_another_order_answer_together():
    one, other = Predictor(phoneme_model(1)), Predictor(phoneme_model(1, PHONEMES[::-1]))
    inputs = [*(sample.input for sample in PHONEMES), "ŋa"]
    averaged, voting = AveragingPredictor([one, other]), VotingPredictor([one, other])
    for predictor in (averaged, voting, pickle.loads(pickle.dumps(averaged))):
        assert not any(map(PRIVATE_USE.search, predictor.predict(inputs)))
    triples = [(sample.input, "", sample.output) for sample in PHONEMES]
    twice = AveragingPredictor([other, recoded(other)])
    for ours, theirs in zip(twice.score(triples), other.score(triples)):
        assert ours.total == pytest.approx(theirs.total) and ours.actions == theirs.actions


def test_models_that_read_different_symbols_answer_together_and_can_be_copied():
    settings = {"input_separator": " ", "output_separator": "", "param_tying": False}
    inputs = ["aa bb", "bb cc", "aa cc"]
    members = [Predictor(phoneme_model(seed, [Sample(each, "", "pq")], **settings)) for seed, each in enumerate(inputs)]
    for predictor in (AveragingPredictor(members), VotingPredictor(members)):
        assert pickle.loads(pickle.dumps(predictor)).predict(inputs) == predictor.predict(inputs)


def test_the_symbols_that_keep_models_from_a_mean_are_shown_as_in_files():
    """Each symbol comes once, though it has two actions: INSERT and SUBSTITUTE."""
    members = [Predictor(phoneme_model(samples=PHONEMES[:number], transducer="substitute", param_tying=False), name)
               for name, number in (("one", 1), ("two", 2))]
    with pytest.raises(InputError, match=r"\(only one of one and two can insert aː, e, p\)"):
        AveragingPredictor(members)


def costs_of(vocabulary, text: str) -> list:
    """The costs of the expert for this input and the output pq."""
    return vocabulary.expert(vocabulary.instance(Sample(text, "", "pq")).sample).costs


@pytest.mark.parametrize("trained_on", [["aa", "bb", "cc", "dd"], ["aa", "dd"]])
def test_learnt_costs_keep_symbols_that_the_network_does_not_know(trained_on):
    """A training that goes on with other data learns costs of symbols that are not in the indices."""
    outputs, texts = {"aa": "p", "bb": "q", "cc": "", "dd": "pq"}, ["cc dd", "dd cc", "ee dd", "aa cc"]
    vocabulary = phoneme_model(samples=[Sample("aa bb", "", "pq")], input_separator=" ", output_separator="").vocabulary
    samples = [Sample(f"{each} {other}", "", outputs[each] + outputs[other])
               for each in trained_on for other in trained_on]
    for more in ([Sample("cc ff", "", "p")], samples):  # the second training does not show what the first one did
        vocabulary.symbols = vocabulary.symbols.covering(more)
        vocabulary = vocabulary.with_expert(all_prefixes=False, learns=True, samples=more)
    expected = [costs_of(vocabulary, text) for text in texts]
    loaded = Vocabulary.from_dict(vocabulary.as_dict(), vocabulary.settings)
    assert "dd" in loaded.symbols.listed and "ff" not in loaded.symbols.listed
    other = loaded.recoded(Symbols(loaded.settings.separators, ("ee", *reversed(loaded.symbols.listed))))
    for copy in (loaded, other, Vocabulary.from_dict(other.as_dict(), other.settings)):
        assert [costs_of(copy, text) for text in texts] == expected


def recoded(predictor: Predictor) -> Predictor:
    """The same model, whose symbols have other characters."""
    model, symbols = predictor.model, predictor.vocabulary.symbols
    reverse = Symbols(symbols.separators, symbols.listed[::-1])
    return Predictor(type(model)(predictor.vocabulary.recoded(reverse), model.weights))


def test_models_with_other_separators_do_not_answer_together():
    with pytest.raises(InputError, match='was trained with output-separator " ", a model with "|"'):
        VotingPredictor([Predictor(phoneme_model()), Predictor(phoneme_model(output_separator="|"))])


def test_the_page_is_answered_in_symbols():
    answers = Answers({"phonemes": Predictor(phoneme_model(2, scale=0.3))})
    answer = answers.predict({"input": "cena", "gold": "t͡ʃ eː n a"})
    found = answers.file({"name": "data"}, lines(PHONEMES).encode())
    assert [each["separator"] for each in answer["answers"]] == [" "] * 4
    assert "outputs are symbols separated by" in found["read"] and found["lines"] == len(PHONEMES)
    assert PRIVATE_USE.search(json.dumps([answers.models(), answer, found], ensure_ascii=False)) is None
    with pytest.raises(InputError, match="the output 'a  b' has an empty symbol"):
        answers.predict({"input": "cena", "gold": "a  b"})
    assert "symbols" in answers.predict({"input": "cena"})["remarks"] or not answers.predict({"input": "c"})["remarks"]


def test_paradigms_are_in_symbols():
    samples = [Sample("a", "V;PST", "aː t͡ʃ"), Sample("b", "V;PRS", "b t͡ʃ")]
    predictor = Predictor(random_model(0, 0.3, samples, output_separator=" "))
    assert not any(PRIVATE_USE.search(form.output) for form in predictor.paradigm("a"))


def test_the_vote_of_sgm17top_counts_symbols():
    entry = Entry("FILE", 1, "ab", "", ("t͡ʃ t͡ʃ t͡ʃ t͡ʃ", "aaaa b", "a a a b"))
    assert repaired(entry, BLANK).outputs == ("a b", "aaaa b", "a a a b")
    assert repaired(entry).outputs == ("t͡ʃ t͡ʃ t͡ʃ t͡ʃ", "ab", "a a a b")


# The model file

def test_the_model_file_keeps_separators_and_symbols(path):
    before, after = phoneme_model(), load_model(path)
    written = json.loads(members(path)["header.json"])
    assert written["version"] == 2 and written["settings"]["output_separator"] == " "
    assert written["vocabulary"]["symbols"][:2] == ["t͡ʃ", "eː"] and "input_separator" not in written["settings"]
    assert after.vocabulary.as_dict() == before.vocabulary.as_dict()
    inputs = [sample.input for sample in PHONEMES]
    assert Predictor(after).predict(inputs) == Predictor(before).predict(inputs)


def test_symbols_that_came_later_are_not_kept(path, tmp_path):
    model = load_model(path)
    model.vocabulary.symbols = model.vocabulary.symbols.covering([Sample("", "", "q͡χ")])
    save_model(tmp_path / "again", model)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_files_of_models_without_separators_are_as_in_version_2(tmp_path):
    save_model(tmp_path / "f.model", random_model())
    written = json.loads(members(tmp_path / "f.model")["header.json"])
    assert written["version"] == 1 and "symbols" not in written["vocabulary"]
    assert not [name for name in written["settings"] if "separator" in name]
    assert load_model(tmp_path / "f.model").vocabulary.settings.separators == Separators()


@pytest.mark.parametrize("symbols, message", [
    (None, "vocabulary is not that of its settings"), ("t͡ʃ", "no list of symbols"), ([1], "no list of symbols"),
    (["x", "y"], "no list of symbols of several characters"), (["t͡ʃ", "t͡ʃ"], "symbols are not all different"),
    (["t͡ʃ"], "symbols are not those of its characters, actions and learnt costs"), (["a\tb"], "a line feed, a tab"),
    (["\ue000a"], "characters among them that no data may have"), (["⟫a"], "that no data may have"),
])
def test_damaged_symbols_are_found_out(path, symbols, message):
    vocabulary = json.loads(members(path)["header.json"])["vocabulary"]
    changed = {**vocabulary, "symbols": symbols} if symbols is not None else {
        name: value for name, value in vocabulary.items() if name != "symbols"}
    rewrite(path, **header(path, vocabulary=changed))
    with pytest.raises(InputError, match=f"is not a whole il-morph model .*{message}"):
        load_model(path)


def test_too_many_symbols_in_a_file_and_separators_that_cannot_be_are_found_out(path):
    written = json.loads(members(path)["header.json"])
    listed = [*written["vocabulary"]["symbols"], "more"]
    for changes in ({"vocabulary": {**written["vocabulary"], "symbols": listed}},
                    {"settings": {**written["settings"], "output_separator": "\t"}},
                    {"settings": {**written["settings"], "output_separator": 1}}):
        save_model(path, phoneme_model())
        rewrite(path, **header(path, **changes))
        with pytest.raises(InputError, match="is not a whole il-morph model"):
            load_model(path)


# Commands

def test_a_trained_model_predicts_phonemes(phonemes, tmp_path, capsys):
    assert phonemes.settings["output_separator"] == " "
    predicted = {row[0]: row[-1] for row in phonemes.predictions("greedy.test")}
    right = [sample for sample in PHONEMES if predicted[sample.input] == sample.output]
    assert len(right) >= 6 and any("t͡ʃ" in sample.target for sample in right)
    model = il_morph.load(phonemes.folder)
    assert model.predict([sample.input for sample in PHONEMES], beam_width=1) == list(predicted.values())
    data = write(tmp_path / "data", PHONEMES)
    assert main(["predict", "--beam-width=1", phonemes.model_path, data]) == 0
    predictions = phonemes.text("f.greedy.test.predictions")
    assert capsys.readouterr().out == predictions.replace("\t\t", "\t"), "two columns in, two columns out"


def test_the_scores_of_a_run_are_those_of_evaluate_and_count_symbols(phonemes, tmp_path, capsys):
    data = write(tmp_path / "data", PHONEMES)
    predictions = str(phonemes.folder / "f.greedy.test.predictions")
    assert main(["evaluate", "--output-separator= ", data, predictions]) == 0
    assert capsys.readouterr().out == phonemes.text("f.greedy.test.eval")
    outputs = [row[-1] for row in phonemes.predictions("greedy.test")]
    expected = sum(brute_force(sample.target.split(), output.split() if output else [])
                   for sample, output in zip(PHONEMES, outputs)) / len(outputs)
    for answers in (predictions, outputs):
        assert il_morph.evaluate(data, answers, output_separator=" ").levenshtein == pytest.approx(expected)
    longer = [f"{sample.target} " for sample in PHONEMES]  # an extra separator is a wrong symbol, as in a file
    assert il_morph.evaluate(data, longer, output_separator=" ").levenshtein == 1


def test_nbest_json_score_and_explain_show_symbols(phonemes, tmp_path, capsys):
    data = write(tmp_path / "data", PHONEMES[:2])
    for arguments in (["predict", "--nbest=3", "--actions"], ["predict", "--format=json"], ["score", "--actions"]):
        assert main([*arguments, phonemes.model_path, data]) == 0
    assert main(["explain", "--gold=t͡ʃ eː n a", phonemes.model_path, "cena"]) == 0
    shown_ = capsys.readouterr().out
    assert "+t͡ʃ" in shown_ and "insert t͡ʃ" in shown_ and PRIVATE_USE.search(shown_) is None


def test_errors_of_evaluate_are_in_symbols(tmp_path, capsys):
    gold = write(tmp_path / "gold", [Sample("cena", "", "t͡ʃ eː n a"), Sample("x", "", "a b")])
    output = write(tmp_path / "output", [Sample("cena", "", "t͡ʃ e n a"), Sample("x", "", "a b")])
    train = write(tmp_path / "train", [Sample("cenax", "", "t͡ʃ e n a")])
    flags = ["--output-separator= ", "--errors", "--format=json", f"--train={train}"]
    assert main(["evaluate", *flags, gold, output]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert (file["levenshtein"], file["normalised_levenshtein"]) == (0.5, 0.125)
    (error,) = file["errors"]
    assert (error["wrong_from"], error["edits"]) == (2, "t͡ʃ -e +eː n a")
    unseen = [group["name"] for group in file["groups"] if group["section"] == "characters"]
    assert unseen == ["unseen in output"]


def test_a_report_is_in_symbols(phonemes, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    gold = write(tmp_path / "test", [Sample(sample.input, "", f"{sample.output} q͡χ") for sample in PHONEMES])
    assert main(["report", f"--test={gold}", f"--output={page}", str(phonemes.folder)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "&#34; &#34;" in text, "a setting that is a blank can be seen"
    assert "end instead of insert q͡χ" in text and PRIVATE_USE.search(text) is None and "\\ue000" not in text


def test_a_run_goes_on_from_a_model_with_its_separators(phonemes, tmp_path, capsys):
    data = write(tmp_path / "data", [*PHONEMES, Sample("qx", "", "q͡χ")])
    flags = ["--engine=native", f"--reload-path={phonemes.model_path}", "--epochs=1", "--dynet-seed=1"]
    assert main(["train", *flags, data, data, str(tmp_path / "more")]) == 0
    assert load_model(tmp_path / "more").vocabulary.as_dict() == load_model(phonemes.model_path).vocabulary.as_dict()
    message = error_of(capsys, "train", *flags, "--output-separator=|", data, data, str(tmp_path / "other"))
    assert '--output-separator: the model' in message and 'was trained with " ", not "|"' in message


def test_alignments_are_in_symbols(tmp_path, capsys):
    data = write(tmp_path / "data", PHONEMES[:1])
    assert main(["align", "--align-dumb", "--format=tsv", "--output-separator= ", data]) == 0
    assert capsys.readouterr().out == "cena\tt͡ʃ eː n a\t\tc e n a\tt͡ʃ eː n a\t-c -e +t͡ʃ +eː n a\n"
    assert main(["align", "--align-expert", "--most=1", "--output-separator= ", data]) == 0
    assert "-c -e +t͡ʃ +eː n a" in capsys.readouterr().out


def test_seeds_vote_with_symbols(tmp_path, capsys):
    data = write(tmp_path / "data", PHONEMES)
    model = il_morph.train(data, data, tmp_path / "seeds", engine="native", seeds="1-2", jobs=1, epochs=2, input=8,
                           enc_hidden=8, dec_hidden=8, output_separator=" ")
    predictions = tmp_path / "seeds" / "f.greedy.dev.predictions"
    assert PRIVATE_USE.search(predictions.read_text(encoding="utf-8")) is None
    assert not PRIVATE_USE.search("".join(model.predict(["cena"])))
    capsys.readouterr()
    assert main(["evaluate", "--output-separator= ", data, str(predictions)]) == 0
    assert capsys.readouterr().out == (tmp_path / "seeds" / "f.greedy.dev.eval").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine, symbols, copied, inserted", [
    ("native", syllables, "다", "갔"), ("dynet", jamo, "\u1103", "\u11bb")])
def test_hangul_is_made_of_symbols_in_and_out(engine, symbols, copied, inserted, tmp_path):
    pytest.importorskip("dynet" if engine == "dynet" else "numpy")
    samples = [Sample(symbols(source), "", symbols(target)) for source, target in HANGUL]
    train, dev = write(tmp_path / "train", samples * 4), write(tmp_path / "dev", samples)
    model = il_morph.train(train, dev, tmp_path / "results", engine=engine, input_separator=" ", output_separator=" ",
                           **SIZES)
    found = model.predict([sample.input for sample in samples])
    assert sum(output == sample.output for output, sample in zip(found, samples)) >= 4
    (best,) = model.nbest([symbols("가다")], n=1)[0]
    assert symbols(copied) in best.actions.split() and f"+{symbols(inserted)}" in best.actions.split()
    (found,) = model.nbest([symbols("마다")], n=4)  # what is unseen stays whole
    assert {symbol for each in found for symbol in each.output.split()} <= {
        *symbols("마다").split(), *" ".join(sample.target for sample in samples).split()}


def test_the_hint_about_separators_is_given_for_phonemes_and_not_for_phrases(tmp_path, caplog):
    caplog.set_level("INFO")
    hint = "the outputs look like symbols separated by blanks"
    assert main(["align", "--align-dumb", write(tmp_path / "phonemes", PHONEMES * 2)]) == 0
    assert hint in caplog.text and '--output-separator=" "' in caplog.text
    caplog.clear()
    for samples in ([Sample("go", "", "have gone")] * 20, [Sample("go on", "", "w e")] * 20):
        assert main(["align", "--align-dumb", write(tmp_path / "phrases", samples)]) == 0
    assert main(["align", "--align-dumb", "--output-separator= ", str(tmp_path / "phonemes")]) == 0
    assert hint not in caplog.text


def test_settings_without_separators_have_the_keys_of_version_2():
    assert "output_separator" not in ModelSettings().as_dict()
    assert ModelSettings(output_separator=" ").as_dict()["output_separator"] == " "
    assert ModelSettings.from_dict(ModelSettings(input_separator="|").as_dict()).separators == Separators("|", "")


def test_a_model_of_lattices_knows_letters_where_inputs_have_a_separator(tmp_path):
    data = write(tmp_path / "data", [Sample("t͡ʃ a", "", "t͡ʃ aː"), Sample("a", "", "aː")])
    model = il_morph.train(data, data, tmp_path / "results", "nwfst", engine="native", input_separator=" ",
                           output_separator=" ", epochs=1, trials=1, dynet_seed=1)
    assert isinstance(model, Predictor) and "z" in model.vocabulary.characters
    assert model.vocabulary.symbols.listed == ("t͡ʃ", "aː")
    assert PRIVATE_USE.search("".join(model.predict(["t͡ʃ a", "q͡χ"]))) is None


@needs_shared
@pytest.mark.parametrize("language", ["ady", "khm"])
def test_a_model_is_trained_on_real_phonemes(language, tmp_path):
    folder = SHARED / "data" / "g2p2021" / "low"
    if not folder.is_dir():
        pytest.skip("needs the G2P data in ../shared")
    train = tmp_path / "train"
    content = (folder / f"{language}_train.tsv").read_text(encoding="utf-8").splitlines(keepends=True)[:100]
    train.write_text("".join(content), encoding="utf-8")
    model = il_morph.train(train, folder / f"{language}_dev.tsv", tmp_path / "results", engine="native",
                           output_separator=" ", epochs=2, input=16, enc_hidden=16, dec_hidden=16, dynet_seed=1)
    assert isinstance(model, Predictor)
    phonemes = {symbol for line in content for symbol in symbols_of(line.rstrip("\n").split("\t")[1], " ")}
    known = set(map(model.vocabulary.symbols.symbol, model.vocabulary.actions.symbols))
    assert phonemes <= known
    outputs = model.predict([line.split("\t")[0] for line in content[:20]])
    assert not any(map(PRIVATE_USE.search, outputs))
    assert isinstance(Vocabulary.from_dict(model.vocabulary.as_dict(), model.vocabulary.settings), Vocabulary)


# Segments and error rates

SEGMENTED = [Sample("hunden", "", "hund @@en"), Sample("hundene", "", "hund @@ene"), Sample("katt", "", "katt"),
             Sample("kattene", "", "katt @@ene"), Sample("barnebok", "", "barn @@bok"), Sample("bok", "", "bok")]


def test_a_boundary_is_one_symbol_among_characters():
    separators = Separators(boundary=" @@")
    symbols = Symbols(separators).covering(SEGMENTED)
    assert separators.outputs("hund @@en @@") == [*"hund", " @@", *"en", " @@"]
    assert separators.outputs("") == [] and Separators(boundary="|").outputs("a|b") == ["a", "|", "b"]
    assert symbols.listed == (" @@",) and separators.remarks == ['" @@" in outputs is a boundary']
    inside = symbols.encoded(SEGMENTED[0])
    assert len(inside.target) == len("hund") + 1 + len("en") and symbols.output(inside.target) == "hund @@en"


def test_a_model_keeps_its_boundary(tmp_path):
    model = phoneme_model(samples=SEGMENTED, output_separator="", boundary=" @@")
    save_model(tmp_path / "f.model", model)
    assert json.loads(members(tmp_path / "f.model")["header.json"])["version"] == 3
    vocabulary = load_model(tmp_path / "f.model").vocabulary
    assert vocabulary.settings.boundary == " @@" and vocabulary.symbols.listed == (" @@",)
    with pytest.raises(ValueError, match="output_separator and boundary do not fit each other"):
        ModelSettings.from_dict({"output_separator": " ", "boundary": "|"})


def test_segment_scores_add_up_the_segments_that_gold_and_output_share():
    found = score(["a @@b @@b", "c", "d @@e"], [["b @@a @@c"], ["c"], ["de"]], [""] * 3, Separators(boundary=" @@"))
    assert found.segment_precision == pytest.approx(100 * 3 / 5) and found.segment_recall == pytest.approx(100 * 3 / 6)
    assert found.segment_f1 == pytest.approx(100 * 2 * 3 / 11)
    assert found.word_error_rate is None and "word_error_rate" not in found.as_dict()
    assert "segment F1              54.5455\n" in found.as_text()


def test_error_rates_are_those_of_words_and_of_all_gold_symbols():
    found = score(["t͡ʃ eː n a", "a"], [["t͡ʃ e n"], ["a"]], [""] * 2, BLANK)
    assert (found.word_error_rate, found.symbol_error_rate) == (50, pytest.approx(100 * 2 / 5))
    assert "symbol error rate       40.0000\n" in found.as_text() and found.segment_f1 is None


def test_evaluate_shows_error_rates_and_segment_scores_in_every_layout(tmp_path, capsys):
    gold = write(tmp_path / "gold", [Sample("ab", "", "a b"), Sample("ac", "", "a c")])
    predictions = write(tmp_path / "predictions", [Sample("ab", "", "a  b"), Sample("ac", "", "a c")])
    assert main(["evaluate", "--output-separator= ", "--format=json", gold, predictions]) == 0
    file = json.loads(capsys.readouterr().out)["files"][0]
    assert (file["word_error_rate"], file["symbol_error_rate"]) == (50, 25)  # an extra separator is a wrong symbol
    assert main(["evaluate", "--boundary= ", "--format=tsv", gold, predictions, gold]) == 0
    head, first, second, mean, *_ = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert head[-3:] == ["segment_precision", "segment_recall", "segment_f1"] and "word_error_rate" not in head
    assert (first[-3:], second[-1], mean[-2]) == (["80.0000", "100.0000", "88.8889"], "100.0000", "100.0000")
    message = error_of(capsys, "evaluate", "--boundary=|", "--output-separator= ", gold, predictions)
    assert "--output-separator and --boundary exclude each other" in message


def test_a_separator_that_no_output_has_is_warned_of(tmp_path, caplog):
    data = write(tmp_path / "data", [Sample("ab", "", "ab"), Sample("b", "", "b")])
    assert main(["evaluate", "--output-separator= ", data, data]) == 0
    assert 'no output has the output separator " ": each is one symbol; --output-separator="" reads' in caplog.text
    assert Separators(output=" ").warnings([Sample("a", "", "b")]) == []
    [warning] = Separators(input=" ").warnings([Sample("ab", "", "a b")])
    assert warning.startswith('no input has the input separator " ": each is one symbol; --input-separator=""')


def test_empty_segments_are_said():
    samples = [Sample("hunden", "", "hund @@en"), Sample("ab", "", "a @@ @@b"), Sample("foo", "", "foo @@")]
    [warning] = Separators(boundary=" @@").warnings(samples)
    assert warning.startswith("2 outputs have an empty segment, which counts as one ('a @@ @@b')")
    assert Separators(boundary=" @@").warnings(samples[:1]) == []


@pytest.mark.parametrize("sign", ["|", ";", ",", "="])
def test_symbols_may_be_separated_like_features(sign):
    separated = [Sample(sign.join(sample.input), "", sample.target.replace(" ", sign)) for sample in PHONEMES]
    content = "".join(f"{sample.input}\t{sample.output}\n" for sample in separated).encode()
    for separators in (Separators(sign, sign), Separators(sign, boundary=sign)):
        for expected in (None, NO_FEATURES):
            data = parse_data(content, "FILE", ReadOptions(expected=expected, separators=separators), need_output=True)
            assert data.samples == separated and data.format == NO_FEATURES


def test_a_model_whose_symbols_are_separated_like_features_reads_its_data(tmp_path, capsys, numpy_kernels,
                                                                          monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = write(tmp_path / "data", [Sample("|".join(sample.input), "", sample.target) for sample in PHONEMES])
    results = str(tmp_path / "results")
    assert main(["train", "--engine=native", "--model=ca-d", "--no-feat-format", "--input-separator=|", "--epochs=1",
                 "--beam-widths=0", data, data, results]) == 0
    assert main(["predict", results, data, str(tmp_path / "predictions")]) == 0
    assert main(["evaluate", "--input-separator=|", data, str(tmp_path / "predictions")]) == 0
    assert main(["score", results, data]) == main(["report", "--output=page.html", f"--dev={data}", results]) == 0
    assert "lines                   " in capsys.readouterr().out


def test_align_shows_the_expert_of_a_model(tmp_path, capsys):
    model = phoneme_model(samples=SEGMENTED, output_separator="", boundary=" @@", transducer="substitute")
    save_model(tmp_path / "f.model", replace(model, vocabulary=model.vocabulary.with_expert(True, True, SEGMENTED)))
    data = write(tmp_path / "data", SEGMENTED[:1])
    assert main(["align", "--align-expert", f"--reload-path={tmp_path}", data]) == 0
    assert capsys.readouterr().out == "hunden → hund @@en (1 optimal sequence)\n  h u n d +␣@@ e n\n"
    for flags, part in ((["--align-expert", "--boundary=|"], "takes --boundary from"), ([], "needs --align-expert")):
        assert part in error_of(capsys, "align", *flags, f"--reload-path={tmp_path}", data)
