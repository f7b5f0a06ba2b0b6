"""Hallucinated samples: what is redrawn and what stays, their schedule, and trainings with them."""
import unicodedata
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import il_morph
from il_morph.commands import main
from il_morph.data.hallucination import EDGE, SHORTEST_BLOCK, Hallucination, inner_places
from il_morph.data.samples import Sample
from il_morph.data.symbols import Separators, Symbols
from il_morph.errors import InputError
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.training.augmentation import Augmentation, checked_schedule, fakes_in_epoch, most_fakes
from il_morph.training.imitation import ImitationLearning
from tests.cli import TRAIN, Run, error_of, training_arguments

WORDS = st.text("abcdeéx -'\u0301", max_size=9)
SAMPLES = st.lists(st.builds(lambda before, stem, after, ending, tag: Sample(before + stem + after, tag, stem + ending),
                             st.text("ab", max_size=2), WORDS, st.text("cd", max_size=2), st.text("abc", max_size=3),
                             st.sampled_from(["N;PL", "V;PST"])), min_size=1, max_size=12)
SEEDS = st.integers(0, 2**32)


def drawn(samples, seed, number=5):
    return Hallucination(samples).draw(number, Random(seed))


def pairs(text):
    return {(a, b) for a, b in zip("⟪" + text, text + "⟫")}


# Fakes

@given(SAMPLES, SEEDS)
def test_features_and_edits_stay_and_the_rest_is_the_same_in_input_and_output(samples, seed):
    for fake, source in drawn(samples, seed):
        places = dict(inner_places(source))
        assert source in samples and fake.tag == source.tag
        assert (len(fake.input), len(fake.output)) == (len(source.input), len(source.output))
        assert all(fake.input[i] == source.input[i] for i in range(len(source.input)) if i not in places)
        assert all(fake.output[j] == source.output[j] for j in range(len(source.output)) if j not in places.values())
        assert all(fake.input[i] == fake.output[j] for i, j in places.items())


@given(SAMPLES, SEEDS)
def test_no_fake_is_a_real_input_with_its_features(samples, seed):
    real = {(sample.input, sample.tag) for sample in samples}
    assert not any((fake.sample.input, fake.sample.tag) in real for fake in drawn(samples, seed))


@given(SAMPLES, SEEDS)
def test_punctuation_blanks_and_marks_stay_and_are_never_drawn(samples, seed):
    for fake, source in drawn(samples, seed):
        for new, old in zip(fake.input + fake.output, source.input + source.output):
            if new != old:
                assert unicodedata.category(new) == unicodedata.category(old) == "Ll"


@given(SAMPLES, SEEDS)
def test_only_characters_of_inputs_and_outputs_are_drawn(samples, seed):
    inputs, outputs = ({*"".join(texts)} for texts in zip(*((each.input, each.output) for each in samples)))
    for fake, source in drawn(samples, seed):
        assert {*fake.input} - {*source.input} <= inputs & outputs


@given(SAMPLES, SEEDS)
def test_the_same_seed_draws_the_same(samples, seed):
    assert drawn(samples, seed) == drawn(samples, seed)


def test_another_seed_draws_something_else():
    samples = [Sample(*line) for line in TRAIN]
    assert len({tuple(drawn(samples, seed)) for seed in range(20)}) == 20


@pytest.mark.parametrize("source, target, redrawn", [
    ("walk", "walked", "w"), ("walking", "walked", "w"), ("sleeping", "sleeping", "sleeping"),
    ("bebek", "bebeğime", "b"),
    ("cat", "cats", "c"), ("ox", "oxen", ""), ("machen", "gemacht", "ac"), ("schreiben", "geschreibt", "r"),
    ("abcdefgh", "xabcdefghy", "de"), ("abc", "xabcy", "b"), ("up", "go up", ""), ("go", "undergo", ""), ("", "", ""),
])
def test_what_is_redrawn(source, target, redrawn):
    places = list(inner_places(Sample(source, "", target)))
    assert "".join(source[i] for i, _ in places) == "".join(target[j] for _, j in places) == redrawn


@given(st.text("abc", min_size=SHORTEST_BLOCK, max_size=12))
def test_next_to_an_edit_characters_are_kept_and_one_at_least_is_redrawn(stem):
    assert len(list(inner_places(Sample(stem, "", stem + "xy")))) == max(len(stem) - EDGE, 1)
    assert len(list(inner_places(Sample("x" + stem, "", stem + "y")))) == max(len(stem) - 2 * EDGE, 2 - len(stem) % 2)


def test_a_character_follows_what_it_follows_in_the_data():
    """Far more often than by chance, with smoothing of one character."""
    samples = [Sample(word, "V", word + "n") for word in ("balaba", "dodobe", "kikiba", "labado", "bekido")]
    seen = set().union(*(pairs(text) for sample in samples for text in (sample.input, sample.output)))
    found = [pair for fake in drawn(samples, 1, 200) for pair in pairs(fake.sample.input)]
    assert len(found) > 1000 and sum(pair in seen for pair in found) / len(found) > 0.8


def test_a_pair_that_shares_nothing_makes_no_fakes():
    assert drawn([Sample("go", "V;PST", "went"), Sample("ox", "N;PL", "oxen")], 1) == []


def test_where_almost_every_word_is_real_there_are_fewer_fakes():
    samples = [Sample(a + "bbb", "N", a + "bbbx") for a in "ab"]
    assert drawn(samples, 1) == []
    assert len(drawn([*samples, Sample("cbbb", "V", "cbbbx")], 1, 50)) == 50


@given(SEEDS)
def test_symbols_of_several_characters_are_drawn_as_one(seed):
    words = [Sample("t͡ʃ a l aː s", "V", "t͡ʃ a l aː s n"), Sample("a t͡ʃ aː l a", "V", "a t͡ʃ aː l a n")]
    symbols = Symbols(Separators(" ", " ")).covering(words)
    for fake, _ in Hallucination([symbols.encoded(word) for word in words], symbols).draw(5, Random(seed)):
        written = symbols.input(fake.input).split(" ")
        assert len(written) == 5 and {*written} <= {"t͡ʃ", "a", "l", "aː", "s"}
        assert symbols.output(fake.output) == " ".join([*written, "n"])


# Schedules

@pytest.mark.parametrize("given_, numbers", [
    ("200", [200] * 4), (7, [7] * 4), ("200,100@1,30@3", [200, 100, 100, 30]), ("0,5@2", [0, 0, 5, 5]),
    ("3,0@1", [3, 0, 0, 0]), ("0", [0] * 4)])
def test_a_schedule_says_how_many_fakes_an_epoch_has(given_, numbers):
    schedule = checked_schedule(given_)
    assert [fakes_in_epoch(schedule, epoch) for epoch in range(4)] == numbers
    assert most_fakes(schedule) == max(numbers) and checked_schedule(schedule) == schedule


@pytest.mark.parametrize("value", ["", "-1", "1.5", "5@2", "5,3", "5,3@", "5,3@0", "5,3@4,2@4", "5,3@4,2@2", "5,,3@2",
                                   "1000001", "5,3@100001", "٣", "many", " 5", "5,3@2\n"])
def test_a_schedule_that_is_none_is_refused(data, tmp_path, capsys, value):
    message = error_of(capsys, *training_arguments(data, tmp_path / "run", [f"--augment={value}"]))
    assert "--augment takes numbers of samples up to 1,000,000" in message and "200,100@10,0@20" in message
    assert not (tmp_path / "run").exists()


# Trainings

def vocabulary_and_instances():
    samples = [Sample(*line) for line in TRAIN]
    vocabulary = Vocabulary.build(samples, ModelSettings(format="sigmorphon2017"))
    return vocabulary, [vocabulary.instance(sample) for sample in samples]


def test_each_epoch_has_fresh_fakes():
    augmentation, random = Augmentation("20,10@2", *vocabulary_and_instances()), Random(3)
    epochs = [augmentation.instances(epoch, random) for epoch in range(4)]
    assert [len(fakes) for fakes in epochs] == [20, 20, 10, 10]
    assert epochs[0] != epochs[1] and epochs[2] != epochs[3]


def test_too_few_fakes_are_said_once(caplog):
    samples = [Sample(a + "bbb", "N", a + "bbbx") for a in "ab"]
    vocabulary = Vocabulary.build(samples, ModelSettings(format="sigmorphon2017"))
    augmentation = Augmentation("4", vocabulary, [vocabulary.instance(sample) for sample in samples])
    assert [augmentation.instances(epoch, Random(1)) for epoch in range(3)] == [[], [], []]
    assert [message for message in caplog.messages if "has 0 hallucinated samples instead of 4" in message
            ] == caplog.messages and len(caplog.messages) == 1


def test_without_a_schedule_nothing_is_drawn():
    random = Random(3)
    before = random.getstate()
    assert Augmentation("", *vocabulary_and_instances()).instances(0, random) == []
    assert Augmentation("5,0@3", *vocabulary_and_instances()).instances(3, random) == []
    assert random.getstate() == before


def test_the_expert_of_a_fake_is_forgotten_with_it():
    vocabulary, real = vocabulary_and_instances()
    objective = ImitationLearning(vocabulary, TrainingSettings(), Random(1))
    fakes = Augmentation("9", vocabulary, real).instances(0, Random(1))
    experts = [objective.expert(instance) for instance in [*real, *fakes]]
    assert len(objective.experts) == len({*real, *fakes}) > len(real)
    assert objective.expert(real[0]) is experts[0]
    fakes.clear()
    assert len(objective.experts) == len(real)


@pytest.mark.parametrize("engine", ["native", "dynet"])
def test_a_training_with_fakes_makes_more_updates_and_says_so_in_its_settings(data, tmp_path, engine, monkeypatch):
    if engine == "dynet":
        pytest.importorskip("dynet")
    seen = []
    visit = ImitationLearning.visit
    monkeypatch.setattr(ImitationLearning, "visit", lambda objective, decoder: (
        seen.append(decoder.instance.sample) or visit(objective, decoder)))
    flags = [f"--engine={engine}", "--epochs=3", "--augment=6,2@1"]
    assert main(training_arguments(data, tmp_path / "run", flags)) == 0
    real, number = {Sample(*line) for line in TRAIN}, len(TRAIN)
    epochs = [seen[:number + 6], seen[number + 6:2 * number + 8], seen[2 * number + 8:]]
    assert [len(epoch) for epoch in epochs] == [number + 6, number + 2, number + 2]
    assert all(len([sample for sample in epoch if sample in real]) == number for epoch in epochs)
    assert Run(tmp_path / "run").settings["augment"] == "6,2@1"


def test_python_takes_a_schedule(data, tmp_path):
    il_morph.train(data("train"), data("dev"), tmp_path / "run", engine="native", epochs=1, augment="3", input=8,
                   enc_hidden=8, dec_hidden=8)
    assert Run(tmp_path / "run").settings["augment"] == "3"
    with pytest.raises(InputError, match="augment takes numbers of samples"):
        il_morph.train(data("train"), data("dev"), tmp_path / "none", augment="some")


@pytest.mark.parametrize("flags", [["--model=ca"], ["--model=ca-mrt", "--pretrain-epochs=2"], ["--pretrain-epochs=1"]])
def test_fakes_have_no_gold_sequences(data, tmp_path, capsys, flags):
    message = error_of(capsys, *training_arguments(data, tmp_path / "run", ["--augment=5", *flags]))
    assert "--augment makes samples for --mode=il alone" in message and not (tmp_path / "run").exists()


def test_data_that_cannot_be_faked_is_refused_before_anything_is_written(data, tmp_path, capsys):
    (tmp_path / "train").write_text("go\twent\tV;PST\nox\toxen\tN;PL\n", encoding="utf-8")
    message = error_of(capsys, "train", "--engine=native", "--augment=5", str(tmp_path / "train"), data("dev"),
                       str(tmp_path / "run"))
    assert "--augment: no training pair shares enough characters" in message and not (tmp_path / "run").exists()
    message = error_of(capsys, "augment", str(tmp_path / "train"))
    assert "no pair shares enough characters" in message


# The command

def test_the_command_shows_fakes_beside_what_they_are_made_of(data, capsys):
    assert main(["augment", "--number=4", data("train")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all(" + " in line and " → " in line and line.endswith(")") for line in lines)
    assert main(["augment", "--number=4", "--format=tsv", data("train")]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert all((source, tag, target) in TRAIN for _, _, tag, source, target in rows)
    assert [f"{a} + {tag} → {b} ({c} → {d})" for a, b, tag, c, d in rows] == lines
    assert main(["augment", "--number=4", "--dynet-seed=2", data("train")]) == 0
    assert capsys.readouterr().out.splitlines() != lines


def test_the_command_knows_symbols_and_data_without_features(tmp_path, capsys):
    (tmp_path / "phonemes").write_text("chato\tt͡ʃ a t o\nchota\tt͡ʃ o t a\nata\ta t a\n", encoding="utf-8")
    assert main(["augment", "--columns=output,-", str(tmp_path / "phonemes")]) == 2
    capsys.readouterr()
    assert main(["augment", "--output-separator= ", "--format=tsv", str(tmp_path / "phonemes")]) == 0
    outputs = [row.split("\t")[1].split(" ") for row in capsys.readouterr().out.splitlines()]
    assert len(outputs) == 10 and {symbol for output in outputs for symbol in output} == {"t͡ʃ", "a", "t", "o"}


@pytest.mark.parametrize("flags, message", [
    (["--number=0"], "--number takes a whole number from 1 up"), (["--number=x"], "--number takes a whole number"),
    (["--dynet-seed=-1"], "--dynet-seed takes a whole number from 0 up"), (["--format=json"], "--format takes one of"),
    (["--unicode=x"], "--unicode takes one of"), (["--seed=1"], "unknown flag --seed")])
def test_bad_flags_of_the_command(data, capsys, flags, message):
    assert message in error_of(capsys, "augment", *flags, data("train"))
