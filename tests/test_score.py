"""`il-morph score` against all action sequences of tiny models."""
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.data.formats import Sample
from il_morph.errors import InputError
from il_morph.model.architectures import architecture_of
from il_morph.model.combination import AveragingPredictor
from il_morph.model.modelfile import Model, save_model
from il_morph.model.predictor import Predictor
from il_morph.model.registry import kind_named
from il_morph.model.scoring import latest_positions, score_outputs
from il_morph.model.search import describe
from il_morph.model.settings import MAX_BEAM_WIDTH
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.actions import END
from tests.cli import as_2017, error_of
from tests.random_models import SETTINGS, TAGGED, random_model, small_settings
from tests.steps import OneByOne, step_log_probabilities

EXACT = 10_000


def all_sequences(vocabulary, instance, output):
    """All valid sequences of actions that write the output."""
    table = vocabulary.table

    def extend(actions, position, rest):
        for action in table.valid_actions(position == instance.end):
            text = table.rows[action].written(instance.text[position])
            if action == END and not rest:
                yield (*actions, END)
            elif action != END and rest.startswith(text):
                yield from extend((*actions, action), table.advance(position, action), rest[len(text):])

    return list(extend((), instance.start, output))


def by_brute_force(predictor, sample):
    instance, network = predictor.vocabulary.instance(sample), OneByOne(predictor.inference)
    scored = []
    for actions in all_sequences(predictor.vocabulary, instance, sample.output):
        rows = step_log_probabilities(network, instance, actions)
        scored.append((sum(float(row[action]) for row, action in zip(rows, actions)), actions))
    return scored


def assert_exact(predictor, sample):
    scored = by_brute_force(predictor, sample)
    found, = predictor.scores([sample], EXACT)
    best, actions = max(scored)
    assert found.best == pytest.approx(best, abs=1e-3)
    assert found.total == pytest.approx(math.log(sum(math.exp(score) for score, _ in scored)), abs=1e-3)
    assert found.actions == describe(actions, predictor.vocabulary.instance(sample), predictor.vocabulary)


@pytest.mark.parametrize("network", SETTINGS.values(), ids=SETTINGS)
def test_a_wide_beam_is_exact(network):
    predictor = Predictor(random_model(**network))
    tag = next(iter(predictor.vocabulary.bundles), "")
    for word, output in (("wa", "aw"), ("", "a"), ("sin", ""), ("a", "a"), ("sa", "as")):
        assert_exact(predictor, Sample(word, tag, output))


@pytest.mark.parametrize("architecture, settings", [("soft", {}), ("haem-2017", {"mlp": 6}), ("med", {}), ("lem", {})])
def test_architectures_with_other_states_are_scored_too(architecture, settings):
    assert_exact(Predictor(cited_model(architecture, **settings)), Sample("wa", "V;PST", "aw"))


def cited_model(architecture, **settings):
    shape = small_settings(**{**kind_named(architecture).fixed, "architecture": architecture, **settings})
    vocabulary = Vocabulary.build(TAGGED, shape)
    generator = np.random.RandomState(1)
    return Model(vocabulary, {name: generator.uniform(-0.8, 0.8, size).astype(np.float32)
                              for name, size in sorted(architecture_of(vocabulary).shapes.items())})


def test_where_actions_may_do_nothing_there_is_no_score():
    with pytest.raises(InputError, match="infinitely many sequences write the same output"):
        Predictor(cited_model("hacm")).score([("wa", "V;PST", "aw")])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.text("walk", max_size=3), st.text("walk", max_size=3),
       st.sampled_from(["haem", "hard"]))
def test_any_output_has_the_probability_of_all_its_sequences(seed, word, output, transducer):
    assert_exact(Predictor(random_model(seed, transducer=transducer)), Sample(word, "V;PST", output))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.text("walk", max_size=4), st.text("walk", max_size=4))
def test_a_wider_beam_never_finds_less(seed, word, output):
    predictor = Predictor(random_model(seed))
    scores = [predictor.score([(word, "V;PST", output)], width)[0] for width in (1, 2, 8, MAX_BEAM_WIDTH)]
    for narrow, wide in zip(scores, scores[1:]):
        assert narrow.best <= scores[-1].best + 1e-4 and narrow.total <= scores[-1].total + 1e-4
        assert wide.best <= wide.total + 1e-6 <= 1e-3


def test_the_probabilities_of_all_outputs_sum_to_one():
    """An input of one letter, outputs of up to two: what is left is the probability of longer ones."""
    model = random_model(samples=[Sample("a", "N;PL", "b")])
    model.weights["output.b"][:] = 0
    model.weights["output.W"][:] = 0
    items = [("a", "N;PL", output) for output in ("", "a", "b", "aa", "ab", "ba", "bb")]
    scores = Predictor(model).score(items, MAX_BEAM_WIDTH)
    shares = [math.exp(score.total) for score in scores]
    # before END four actions, at END three, all of the same probability
    assert shares[0] == pytest.approx(1 / 4 * 1 / 3, abs=1e-5)
    assert shares[2] == pytest.approx(1 / 4 * 1 / 4 * 1 / 3 + 1 / 4 * 1 / 3 * 1 / 3, abs=1e-5)
    assert shares[1] == pytest.approx(shares[2] + 1 / 4 * 1 / 3, abs=1e-5)
    assert sum(shares) < 1


def test_the_best_sequence_of_a_prediction_is_at_least_as_probable_as_the_one_that_was_found():
    predictor = Predictor(random_model(scale=1.5))
    predictor.model.weights["output.b"][[2, 3, 4]] += 4
    predictor = Predictor(predictor.model)
    items = [(sample.input, sample.tag) for sample in TAGGED]
    found = predictor.nbest(items, n=1)
    scores = predictor.score([(*item, each[0].output) for item, each in zip(items, found)], 64)
    for score, (prediction,) in zip(scores, found):
        assert score.best >= prediction.log_probability - 1e-3


def test_outputs_that_cannot_be_written_have_no_probability():
    predictor = Predictor(random_model())
    never, copied, crossed = predictor.score([("walk", "V;PST", "wälk"), ("wälk", "V;PST", "älk"),
                                              ("äö", "N;PL", "öä")], 1)
    assert never.best == never.total == crossed.best == -math.inf
    assert copied.best > -math.inf and "ä" in copied.actions.split()
    hard = Predictor(random_model(transducer="hard"))
    assert hard.score([("wälk", "V;PST", "älk")])[0].total == -math.inf


@pytest.mark.parametrize("items", [[("walk", "V;PST")], ["walk"], [("walk", "V;PST", None)]])
def test_python_callers_give_triples(items):
    with pytest.raises(InputError, match="score takes triples"):
        Predictor(random_model()).score(items)


# The command

@pytest.fixture
def path(tmp_path):
    save_model(tmp_path / "f.model", random_model())
    return str(tmp_path / "f.model")


@pytest.fixture
def gold(tmp_path):
    (tmp_path / "gold").write_text(as_2017([(sample.input, sample.tag, sample.output) for sample in TAGGED]))
    return str(tmp_path / "gold")


def score(capsys, *arguments) -> list:
    capsys.readouterr()
    assert main(["score", *arguments]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_score_writes_two_more_columns(path, gold, tmp_path, capsys, caplog):
    caplog.set_level("INFO")
    expected = Predictor.load(path).scores(TAGGED)
    rows = score(capsys, "--actions", path, gold)
    assert [row[:3] for row in rows] == [[sample.input, sample.output, sample.tag] for sample in TAGGED]
    assert [float(row[3]) for row in rows] == pytest.approx([each.best for each in expected], abs=1e-5)
    assert [float(row[4]) for row in rows] == pytest.approx([each.total for each in expected], abs=1e-5)
    assert [row[5] for row in rows] == [each.actions for each in expected]
    assert "sum over the action sequences in a beam of 32" in caplog.text
    assert score(capsys, path, gold, str(tmp_path / "out")) == []
    lines = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t") for line in lines] == [row[:5] for row in rows]
    assert "exists already" in error_of(capsys, "score", path, gold, str(tmp_path / "out"))


def test_a_narrow_beam_finds_less(path, gold, capsys):
    narrow, wide = (score(capsys, f"--beam-width={width}", path, gold) for width in (1, 64))
    assert all(float(one[4]) < float(other[4]) for one, other in zip(narrow, wide) if other[0] != "a")


def test_outputs_that_cannot_be_written_are_counted(path, tmp_path, capsys, caplog):
    caplog.set_level("INFO")
    (tmp_path / "gold").write_text("walk\twälk\tV;PST\nwalk\twalk\tV;PST\n", encoding="utf-8")
    rows = score(capsys, path, str(tmp_path / "gold"))
    assert rows[0][3:] == ["-inf", "-inf"] and float(rows[1][4]) < 0
    assert "the model cannot write 1 outputs" in caplog.text


def test_a_folder_of_seeds_is_averaged(gold, tmp_path, capsys):
    for seed in (1, 2):
        (tmp_path / "seeds" / str(seed)).mkdir(parents=True)
        save_model(tmp_path / "seeds" / str(seed) / "f.model", random_model(seed))
    rows = score(capsys, str(tmp_path / "seeds"), gold)
    expected = AveragingPredictor([Predictor(random_model(seed)) for seed in (1, 2)]).scores(TAGGED)
    assert [float(row[4]) for row in rows] == pytest.approx([each.total for each in expected], abs=1e-5)


@pytest.mark.parametrize("flags, content, message", [
    (["--beam-width=0"], "walk\twalked\tV;PST\n", "--beam-width takes a whole number from 1 up to 1000, not '0'"),
    ([], "walk\tV;PST\n", "{gold} has no outputs, but they are needed here"),
    ([], "", "{gold} is empty"),
])
def test_bad_input_of_score(path, tmp_path, capsys, flags, content, message):
    (tmp_path / "gold").write_text(content)
    found = error_of(capsys, "score", *flags, path, str(tmp_path / "gold"), str(tmp_path / "out"))
    assert found.startswith(message.format(gold=tmp_path / "gold"))
    assert not (tmp_path / "out").exists()


@given(st.text("walkΩЖ", max_size=6), st.text("walkΩЖ", max_size=6))
def test_the_latest_positions_are_those_from_which_the_output_can_still_be_written(word, output):
    model = random_model()
    instance = model.vocabulary.instance(Sample(word, "V;PST", output))
    latest = latest_positions(model.vocabulary, instance, output)
    for written in range(len(output) + 1):
        for position in range(instance.start, instance.end + 1):
            left = iter(instance.text[position:instance.end])
            needed = [each for each in output[written:] if each not in model.vocabulary.actions]
            assert (position <= latest[written]) == all(each in left for each in needed)


def test_the_work_for_an_output_grows_with_its_length_alone():
    """As many characters are looked at for each one of the output, however long it is."""
    class Counted(str):
        looked = 0

        def __getitem__(self, key):
            found = str.__getitem__(self, key)
            Counted.looked += len(found)
            return found

    predictor, looked = Predictor(random_model()), {}
    for length in (50, 200):
        Counted.looked = 0
        instance = predictor.vocabulary.instance(Sample("walk" * (length // 4), "V;PST", None))
        score_outputs(predictor.inference, [instance], [Counted("walk" * (length // 4))], width=2)
        looked[length] = Counted.looked / length
    assert looked[200] < 1.2 * looked[50]
