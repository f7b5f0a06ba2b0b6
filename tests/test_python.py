"""The Python interface, used as a user would."""
import copy
import inspect
import logging
import math
import pickle
import subprocess
import sys
import threading

import pytest

import il_morph
from il_morph.data.formats import Sample
from il_morph.evaluation.voting import vote
from il_morph.model import threads
from il_morph.model.combination import AveragingPredictor, VotingPredictor
from il_morph.model.modelfile import save_model
from il_morph.model.predictor import Prediction, Predictor, merged, up_to_mass
from il_morph.runs.asked import DECLARED
from il_morph.runs.python import in_python
from il_morph.runs.spec import SETTINGS
from tests.cli import DEV, Data
from tests.random_models import TAGGED, random_model
from tests.steps import OneByOne, step_log_probabilities
from tests.test_decoding import ending_model

SCRIPT = """
import sys
import il_morph

train, dev, test, results = sys.argv[1:]
m = il_morph.train(train, dev, results, model="ca-d", test_path=test, epochs=2, dynet_seed=3, beam_widths=[4],
                   input=8, feat_input=4, enc_hidden=8, dec_hidden=8, dynet_mem=16, pos_emb=True, il_bias_inserts=None)
print(m)
again = il_morph.load(results, results)
lines = [line.rstrip("\\n").split("\\t") for line in open(test, encoding="utf-8")]
items = [(lemma, tag) for lemma, form, tag in lines]
assert m.predict(items) == again.predict(items) == [found[0].output for found in m.nbest(items, n=2)]
for form in m.paradigm("walk", pos="V"):
    print(form.features, form.output, f"{form.probability:.3f}", form.count)
print(il_morph.evaluate(test, m.predict(items)).accuracy)
print(il_morph.evaluate(test, results + "/f.beam4.test.predictions").accuracy)
try:
    m.predict(("walk", "V;PST"))
except il_morph.InputError as error:
    print(error)
"""


def test_a_short_script_trains_loads_predicts_and_evaluates(data: Data, tmp_path):
    pytest.importorskip("dynet")
    results = str(tmp_path / "results")
    done = subprocess.run([sys.executable, "-c", SCRIPT, data("train"), data("dev"), data("test"), results],
                          capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    shown, *forms, accuracy, same, refusal = done.stdout.splitlines()
    assert shown.startswith(f"<{results}")
    assert 'haem transducer, mode il, seed 3; reads input, output, features separated by ";"; 14 characters' in shown
    assert [line.split(" ")[0] for line in forms] == ["V;PRS", "V;PST"]
    assert [line.split(" ")[-1] for line in forms] == ["3", "3"]
    assert accuracy == same and 0 <= float(accuracy) <= 100
    assert refusal == "predict takes a list of pairs: write [('walk', 'V;PST')]"


@pytest.mark.parametrize("arguments, message", [
    ({"epocs": 1}, "epocs: did you mean epochs?"), ({"forse": False}, "forse: did you mean force?"),
    ({"dynet_sed": None}, "dynet_sed: did you mean dynet_seed?"), ({"zzz": 1}, "zzz: there is no such argument"),
    ({"no_force": False}, "no_force: did you mean force?"), ({"seed": 1}, "seed: did you mean seeds?"),
    ({"epochs": "many"}, "epochs takes a whole number from 1 up to 100000, not 'many'"),
    ({"epochs": True}, "epochs takes a whole number from 1 up to 100000, not True"),
    ({"il_rules": "none"}, "il_rules takes one of paper, program, not 'none'"),
    ({"model": "better"}, "model takes one of ca-d, "), ({"pos_emb": "yes"}, "pos_emb takes True or False, not 'yes'"),
    ({"beam_widths": [4, -1]}, "beam_widths takes whole numbers separated by commas, not '4,-1'"),
    ({"columns": ["input"]}, 'columns="input": output is missing; name the columns as in columns="input,features,'),
    ({"mode": "mrt"}, 'mode="mrt" starts from a trained model: give one with reload_path, or train it in the same run '
                      "with pretrain_epochs or pretrain_until"),
    ({"input": 8, "action_input": 9}, "input=8 and action_input=9 differ, but characters and actions share their "
                                      "embeddings: make them equal or use param_tying=False"),
    ({"il_decay": "exponential", "il_k": 3}, 'il_k takes a number between 0 and 1 with il_decay="exponential", not 3'),
    ({"align_cls": True, "aligner": "smart"}, 'aligner="cls" and aligner="smart" exclude each other'),
    ({"sigm2017format": True, "columns": "input,output"}, "sigm2017format=True and columns exclude each other"),
    ({"split_seed": 3}, "split_seed is about one file that is split: give train and results alone"),
    ({"jobs": 2}, "jobs is about several trainings: say which with seeds"), ({"seeds": "5-1"}, "seeds takes seeds up"),
    ({"output_separator": "\t"}, 'output_separator="\\t": a tab separates columns'),
    ({"test_path": 5}, "test_path takes a path, not int"),
    ({"seeds": [1], "dynet_seed": 1}, "seeds and dynet_seed exclude each other"), ({"test_path": ""}, "test_path is "),
])
def test_errors_from_python_speak_of_arguments(data, tmp_path, arguments, message):
    with pytest.raises(il_morph.InputError) as refusal:
        il_morph.train(data("train"), data("dev"), tmp_path / "results", **arguments)
    assert str(refusal.value).startswith(message)
    assert not (tmp_path / "results").exists()


def test_a_finished_run_is_overwritten_with_force_true(data, tmp_path, caplog):
    small = {"engine": "native", "epochs": 1, "input": 8, "enc_hidden": 8, "dec_hidden": 8, "dynet_mem": 16}
    il_morph.train(data("train"), data("dev"), tmp_path, **small)
    assert [record.getMessage() for record in caplog.records if "no effect" in record.getMessage()] == [
        'dynet_mem has no effect here: it belongs to engine="dynet"']
    with pytest.raises(il_morph.InputError, match="choose another folder, or overwrite it with force=True"):
        il_morph.train(data("train"), data("dev"), tmp_path, **small)
    trained = il_morph.train(data("train"), data("dev"), tmp_path, force=True, **small)
    evaluated = il_morph.train(data("train"), data("dev"), tmp_path / "eval", mode="eval", reload_path=tmp_path)
    assert evaluated.predict([("walk", "V;PST")]) == trained.predict([("walk", "V;PST")])


def test_what_is_logged_speaks_of_arguments_while_a_training_from_python_runs(data, tmp_path, caplog):
    caplog.set_level("INFO")
    factory = logging.getLogRecordFactory()
    arguments = {"engine": "native", "epochs": 1, "input": 8, "enc_hidden": 8, "dec_hidden": 8, "split_by": "line"}
    il_morph.train(data("train"), None, tmp_path / "split", **arguments)
    il_morph.train(data("train"), data("dev"), tmp_path / "slots", avm_feat_format=True, **{**arguments,
                                                                                           "split_by": None})
    said = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("avm_feat_format=True has no effect here") for line in said)
    assert not [line for line in said if "--" in line]
    assert logging.getLogRecordFactory() is factory


@pytest.mark.parametrize("message, python", [
    ("without --force", "without force=True"), ("--il-k takes", "il_k takes"), ("(--no-pos-emb)", "(pos_emb=False)"),
    ("--mode=mle, mrt", 'mode="mle", mrt'), ("--mode=il: x", 'mode="il": x'), ("--il-beta=0.5.", "il_beta=0.5."),
    ("--no-feat-format", "no_feat_format=True"), ("--no-baseline", "no_baseline=True"), ("--seeds=1-5", 'seeds="1-5"'),
    ("--align-cls", 'aligner="cls"'), ("--columns=input,output;", 'columns="input,output";'),
    ('--feature-separator=";"', 'feature_separator=";"'), ("predict --nbest=3", "predict --nbest=3"),
    ("a--b -- RESULTS-PATH", "a--b -- results"), ("cannot read /a/--force/FILE", "cannot read /a/--force/FILE"),
])
def test_flags_in_messages_become_arguments(message, python):
    assert in_python(message) == python


@pytest.mark.parametrize("flags, words", [
    ({"force": False, "il_bias_inserts": False}, []), ({"force": True}, ["--force"]), ({"epochs": None}, []),
    ({"pos_emb": False}, ["--no-pos-emb"]), ({"pos_emb": True}, ["--pos-emb"]),
    ({"baseline": False}, ["--no-baseline"]), ({"no_baseline": False}, []),
    ({"beam_widths": (4, 10)}, ["--beam-widths=4,10"]), ({"model": "ca-d"}, ["--model=ca-d"]),
    ({"align_cls": True}, ["--align-cls"]), ({"aligner": "dumb"}, ["--align-dumb"]), ({"epochs": "2"}, ["--epochs=2"]),
    ({"no_pos_emb": True}, ["--no-pos-emb"]), ({"feat_format": False}, ["--no-feat-format"]),
    ({"il_k": 6}, ["--il-k=6"]), ({"columns": ("input", "output")}, ["--columns=input,output"]),
    ({"verbose": True}, ["--verbose=1"]),
    ({"sigm2017format": True, "beam_widths": []}, ["--sigm2017format", "--beam-widths=0"])])
def test_a_false_flag_is_its_opposite_or_left_out(monkeypatch, tmp_path, flags, words):
    given = []
    monkeypatch.setattr("il_morph.runs.seeds.run", lambda spec, command: given.extend(spec.argv()))
    with pytest.raises(il_morph.InputError, match="cannot read"):  # nothing was trained
        il_morph.train("train", "dev", tmp_path, **flags)
    assert given == ["train", *words, "train", "dev", str(tmp_path)]


@pytest.mark.parametrize("seeds, found", [("1-3,7", [1, 2, 3, 7]), ([1, 2], [1, 2]), (range(4, 6), [4, 5]), (3, [3])])
def test_seeds_are_a_text_a_list_or_a_range(monkeypatch, tmp_path, seeds, found):
    given = []
    monkeypatch.setattr("il_morph.runs.seeds.train_seeds", lambda spec, seeds, jobs: given.extend(seeds) or 1)
    with pytest.raises(il_morph.InputError, match="not all trainings in .* have ended well"):
        il_morph.train("train", "dev", tmp_path, seeds=seeds)
    assert given == found


def test_help_and_type_checkers_know_every_argument():
    parameters = dict(inspect.signature(il_morph.train).parameters)
    others = parameters.pop("others")
    assert (others.kind, others.annotation) == (others.VAR_KEYWORD, "NoReturn"), "a misspelt argument is a type error"
    assert set(parameters) == {"train", "dev", "results", *DECLARED, "seeds", "folds", "jobs",
                               "align_smart", "align_cls", "align_dumb"}
    assert {each.default for name, each in parameters.items() if name not in ("train", "dev", "results")} == {None}
    kinds = {bool: "Optional[bool]", int: "Optional[int]", float: "Optional[float]", str: "Optional[str]",
             tuple: "Numbers"}
    for name, declared in SETTINGS.items():
        assert parameters[name].annotation == kinds[type(declared.default)], name


def test_evaluate_takes_a_file_or_a_list_of_outputs(data):
    right = [form for _, _, form in DEV]
    assert il_morph.evaluate(data("dev"), right).accuracy == 100
    assert il_morph.evaluate(data("dev"), [right[0], *[""] * 3]).accuracy == 25
    assert il_morph.evaluate(data("dev"), data("dev")).accuracy == 100
    assert il_morph.evaluate(data("dev"), right, columns="input,output,features").by_pos["V"] == (100, 2)
    with pytest.raises(il_morph.InputError, match="3 outputs for the 4 lines"):
        il_morph.evaluate(data("dev"), right[:3])
    with pytest.raises(il_morph.InputError, match='^columns="input,features": output is missing'):
        il_morph.evaluate(data("dev"), right, columns="input,features")


def test_evaluate_compares_in_a_unicode_form(tmp_path, caplog):
    gold, predictions = tmp_path / "gold", tmp_path / "predictions"
    gold.write_text("e\u0301t\te\u0301 t\n", encoding="utf-8")
    predictions.write_text("e\u0301t\t\u00e9 t\n", encoding="utf-8")
    listed = [("e\u0301t", "", "e\u0301 t")], ["\u00e9 t"]
    for sides in ((gold, predictions), listed, (gold, listed[1])):
        assert il_morph.evaluate(*sides).accuracy == 0 and "unicode" in caplog.text
        assert il_morph.evaluate(*sides, unicode="nfd-nfc").accuracy == 100
        caplog.clear()
    predictions.write_text("\u00e9t\t\u00e9 t\n", encoding="utf-8")
    with pytest.raises(il_morph.InputError, match='compare them with unicode="nfc"'):
        il_morph.evaluate(gold, predictions)
    with pytest.raises(il_morph.InputError, match="unicode takes one of as-is, nfc, nfd, nfd-nfc"):
        il_morph.evaluate(gold, predictions, unicode="utf-8")


# What goes in, and what comes out

@pytest.fixture
def predictor() -> Predictor:
    return Predictor(ending_model())


def test_a_bare_pair_is_refused(predictor):
    for pair in (("walk", "V;PST"), ["walk", "V;PST"], ("alma", "N;ACC;PL")):
        with pytest.raises(il_morph.InputError, match=r"predict takes a list of pairs: write \[\('(walk|alma)'"):
            predictor.predict(pair)
    assert len(predictor.predict(["walk", "sing"])) == 2
    plain = Predictor(ending_model(format="no-features", pos_emb=False))
    assert plain.predict(("walk", "sing")) == plain.predict(["walk", "sing"])


def test_a_reserved_symbol_is_refused(predictor):
    with pytest.raises(il_morph.InputError, match="⟪ is reserved"):
        predictor.predict([("⟪walk", "V;PST")])


@pytest.mark.parametrize("text", ["wa\tlk", "walk\n", "walk\r", "wa\ud800lk😀"])
def test_what_no_line_of_data_can_have_is_refused(predictor, text):
    for ask in (lambda: predictor.predict([(text, "V;PST")]), lambda: predictor.predict([("walk", text)]),
                lambda: predictor.nbest([(text, "V;PST")]), lambda: predictor.paradigm(text),
                lambda: predictor.score([("walk", "V;PST", text)])):
        with pytest.raises(il_morph.InputError, match="contains a tab, a line end or a lone surrogate: remove it"):
            ask()


def test_nbest_has_outputs_probabilities_and_actions(predictor):
    items = [(sample.input, sample.tag) for sample in TAGGED]
    expected = predictor.hypotheses([Sample(*item, None) for item in items], 6)
    found = predictor.nbest(items, n=6)
    assert [[each.output for each in of] for of in found] == [[each.output for each in of] for of in expected]
    assert [each.probability for each in found[0]] == pytest.approx([math.exp(h.log_probability) for h in expected[0]])
    assert found[0][0].actions == predictor.describe(Sample(*items[0], None), expected[0][0])
    assert [len(of) for of in predictor.nbest(items)] == [4] * len(items)
    for n, mass in ((0, None), (None, 0), (None, 1.5)):
        with pytest.raises(il_morph.InputError, match="takes"):
            predictor.nbest(items, n, mass=mass)


@pytest.mark.parametrize("ask", [
    lambda m: m.predict(ITEMS, beam_width=-3), lambda m: m.predict(ITEMS, beam_width=1001),
    lambda m: m.predict(ITEMS, beam_width=2.5), lambda m: m.nbest(ITEMS, n=10**6), lambda m: m.nbest(ITEMS, n=2.5),
    lambda m: m.nbest(ITEMS, beam_width=-1), lambda m: m.nbest(ITEMS, mass=0.5, beam_width=10**6),
    lambda m: m.paradigm("walk", beam_width=-1), lambda m: m.score([("a", "V;PST", "b")], beam_width=0)])
def test_the_bounds_are_those_of_the_command(predictor, ask):
    with pytest.raises(il_morph.InputError, match=r"(n|beam_width) takes a whole number from [01] to 1000, not "):
        ask(predictor)


def test_a_beam_of_0_is_greedy_search(predictor):
    greedy = [found[0].output for found in predictor.ranked([Sample(*item, None) for item in ITEMS], 1, 0)]
    assert predictor.predict(ITEMS, beam_width=0) == greedy
    assert [[each.output for each in found] for found in predictor.nbest(ITEMS, beam_width=0)] == [[o] for o in greedy]


@pytest.mark.parametrize("mass", [0.05, 0.3, 0.6])
def test_mass_is_reached_by_as_few_different_outputs_as_possible(mass):
    model = random_model(scale=2)
    model.weights["output.b"][[2, 3, 4]] += 4
    predictor = Predictor(model)
    for found in predictor.nbest([(sample.input, sample.tag) for sample in TAGGED], mass=mass):
        assert len({each.output for each in found}) == len(found)
        probabilities = [each.probability for each in found]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities[:-1]) < mass <= sum(probabilities) + 1e-9 <= 1 + 1e-6


def test_the_beam_widens_until_the_mass_is_reached():
    model = random_model(scale=2)
    model.weights["output.b"][[2, 3, 4]] += 4
    predictor = Predictor(model)
    narrow, = predictor.nbest([("walk", "V;PST")], n=1000, beam_width=4)
    wide, = predictor.nbest([("walk", "V;PST")], mass=0.6, beam_width=4)
    assert sum(each.probability for each in narrow) < 0.6 < sum(each.probability for each in wide)


def test_a_mass_that_no_beam_reaches_is_warned_about(monkeypatch, caplog, predictor):
    monkeypatch.setattr("il_morph.model.predictor.WIDEST", 8)
    found = predictor.nbest(ITEMS, mass=1.0)
    assert all(1 <= len(each) <= 8 for each in found)
    assert [record.getMessage() for record in caplog.records] == [
        f"the outputs of {len(ITEMS)} inputs reach less than 1 of the probability with a beam of 8"]


def test_outputs_of_several_action_sequences_are_merged():
    ways = [Prediction("a", -1.0, "a"), Prediction("b", -1.2, "b"), Prediction("b", -1.3, "-a +b"),
            Prediction("c", -900.0, "c")]
    together = merged(ways)
    assert [(each.output, each.actions) for each in together] == [("b", "b"), ("a", "a"), ("c", "c")]
    assert together[0].probability == pytest.approx(ways[1].probability + ways[2].probability)
    assert [each.output for each in up_to_mass(together, 0.5)] == ["b"]
    assert merged([Prediction("c", -900.0, "c")] * 2)[0].log_probability == pytest.approx(-900 + 0.6931, abs=1e-3)


# Several models

def saved(folder, seeds, **settings):
    for seed in seeds:
        (folder / str(seed)).mkdir(parents=True)
        save_model(folder / str(seed) / "f.model", ending_model(seed, **settings))
        (folder / str(seed) / "f.stats").write_text("{}")
    return folder


def test_load_takes_files_results_folders_and_folders_of_seeds(tmp_path):
    folder = saved(tmp_path / "results", (1, 2, 10))
    (folder / "notes").mkdir()
    names = [str(folder / seed / "f.model") for seed in ("1", "2", "10")]
    for paths in ([folder], [folder / "1", folder / "2", folder / "10"], names, [[*names]], [folder / "1", names[1:]]):
        loaded = il_morph.load(*paths)
        assert isinstance(loaded, VotingPredictor)
        assert [member.name for member in loaded.members] == names
        assert all(name in repr(loaded) for name in names)
    assert isinstance(il_morph.load(folder / "2"), Predictor)
    for nothing in ([], [tmp_path]):
        with pytest.raises(il_morph.InputError, match="there is no model|cannot read"):
            il_morph.load(*nothing)
    with pytest.raises(il_morph.InputError, match="one of vote, average, not 'mean'"):
        il_morph.load(folder, combine="mean")


def test_unfinished_seeds_are_warned_about(tmp_path, caplog):
    folder = saved(tmp_path / "results", (1, 2))
    (folder / "2" / "f.stats").unlink()
    (folder / "3").mkdir()
    assert len(il_morph.load(folder).members) == 2
    assert [record.getMessage() for record in caplog.records] == [
        f"{folder / '2'} is not finished: its best model so far is taken",
        f"{folder / '3'} is not finished: there is no model yet, and it is left out"]


ITEMS = [(word, tag) for word in ("walk", "sing", "mouse", "so", "gone", "tall") for tag in ("V;PST", "N;PL")]


def test_the_vote_is_that_of_the_paper():
    members = [Predictor(ending_model(seed)) for seed in range(5)]
    outputs = [member.predict(ITEMS) for member in members]
    expected = [vote(of_item) for of_item in zip(*outputs)]
    assert VotingPredictor(members).predict(ITEMS) == expected
    for found, of_item in zip(VotingPredictor(members).nbest(ITEMS, n=9, beam_width=4), zip(*outputs)):
        assert {each.output: round(5 * each.probability) for each in found} == {
            output: of_item.count(output) for output in of_item}
    assert [form.output for form in VotingPredictor(members).paradigm("walk")] == [
        vote(of) for of in zip(*([form.output for form in member.paradigm("walk")] for member in members))]


def test_outputs_are_scored_by_an_average_and_not_by_a_vote():
    members = [Predictor(ending_model(seed)) for seed in range(2)]
    items = [("walk", "V;PST", "walk")]
    assert AveragingPredictor(members).score(items)[0].best <= 0
    with pytest.raises(il_morph.InputError, match='models that vote .* combine="average"'):
        VotingPredictor(members).score(items)


def test_the_average_of_a_model_with_itself_is_the_model():
    predictor = Predictor(ending_model(3))
    twice = AveragingPredictor([predictor, Predictor(ending_model(3))])
    samples = [Sample(*item, None) for item in ITEMS]
    for found, expected in zip(twice.hypotheses(samples), predictor.hypotheses(samples)):
        assert [h.actions for h in found] == [h.actions for h in expected]
        assert [h.log_probability for h in found] == pytest.approx([h.log_probability for h in expected], abs=1e-4)


@pytest.mark.parametrize("settings", [{}, {"transducer": "hard"}, {"param_tying": False}])
def test_the_average_is_the_mean_probability_of_each_action(settings):
    """Other vocabularies may have the same actions in another order: actions are aligned by their symbols."""
    members = [Predictor(ending_model(1, **settings)), Predictor(ending_model(2, samples=TAGGED[::-1], **settings))]
    first, second = (member.vocabulary for member in members)
    assert first.actions.symbols != second.actions.symbols
    samples = [Sample(*item, None) for item in ITEMS]
    for sample, hypotheses in zip(samples, AveragingPredictor(members).hypotheses(samples)):
        for found in hypotheses:
            symbols = [first.actions.symbols[action] for action in found.actions]
            ways = []
            for member in members:
                actions = [member.vocabulary.actions.positions[symbol] for symbol in symbols]
                rows = step_log_probabilities(OneByOne(member.inference), member.vocabulary.instance(sample), actions)
                ways.append([math.exp(row[action]) for row, action in zip(rows, actions)])
            expected = sum(math.log((one + other) / 2) for one, other in zip(*ways))
            assert found.log_probability == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("settings, message", [
    ({"transducer": "hard"}, "transducer haem, .* with hard"), ({"tag_wraps": "close"}, "tag-wraps both"),
    ({"samples": [*TAGGED, Sample("xyz", "N", "q")]}, "can insert q, x, y, …"),
])
def test_models_with_different_actions_can_vote_but_have_no_average(settings, message):
    members = [Predictor(ending_model(1)), Predictor(ending_model(2, **settings))]
    with pytest.raises(il_morph.InputError, match=message):
        AveragingPredictor(members)
    assert len(VotingPredictor(members).predict(ITEMS)) == len(ITEMS)


def test_models_of_different_data_are_not_combined(tmp_path):
    members = [Predictor(ending_model(1), "one"), Predictor(ending_model(2, format="sigmorphon2016"), "two")]
    for combine in (VotingPredictor, AveragingPredictor):
        with pytest.raises(il_morph.InputError, match="one was trained with format sigmorphon2017, two with sigm"):
            combine(members)


@pytest.mark.parametrize("combine", [VotingPredictor, AveragingPredictor])
def test_combinations_can_be_pickled_and_copied(combine):
    predictor = combine([Predictor(ending_model(seed)) for seed in (1, 2)])
    expected = predictor.predict(ITEMS)
    for other in (pickle.loads(pickle.dumps(predictor)), copy.deepcopy(predictor)):
        assert type(other) is combine and other.predict(ITEMS) == expected


# Threads of NumPy

def threads_now() -> set:
    from threadpoolctl import threadpool_info

    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_products_have_one_thread_while_a_predictor_works():
    pytest.importorskip("threadpoolctl")
    from threadpoolctl import threadpool_limits

    threads.libraries.cache_clear()  # another test may have loaded one more
    with threadpool_limits(2, user_api="blas"):
        before = threads_now()
        with threads.one_thread():
            assert threads_now() <= {1}
            with threads.one_thread():
                assert threads_now() <= {1}
            assert threads_now() <= {1}
        assert threads_now() == before


def test_only_the_call_that_sets_the_limit_takes_it_away():
    pytest.importorskip("threadpoolctl")
    from threadpoolctl import threadpool_limits

    threads.libraries.cache_clear()  # another test may have loaded one more
    def work():
        with threads.one_thread():
            inside.set()
            leave.wait(60)

    with threadpool_limits(2, user_api="blas"):
        before, inside, leave = threads_now(), threading.Event(), threading.Event()
        thread = threading.Thread(target=work)
        with threads.one_thread():
            thread.start()
            inside.wait(60)
            assert threads_now() <= {1}
        assert threads_now() == before
        leave.set()
        thread.join()
        assert threads_now() == before


def test_predictors_work_without_threadpoolctl(monkeypatch, predictor):
    expected = predictor.predict(ITEMS)
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    threads.libraries.cache_clear()
    assert predictor.predict(ITEMS) == expected
    assert not any(isinstance(library, threads.Controlled) for library in threads.libraries())
    threads.libraries.cache_clear()


# What is no text, no path and no list is refused

class Frame:
    """Like a table of pandas, it gives the names of its columns."""

    columns = ["input"]

    def __iter__(self):
        return iter(self.columns)

    def __repr__(self):
        return "Frame"


NO_LISTS = [{"walk": "V;PST"}, {"walk"}, b"walk", None, 7, Frame()]


@pytest.mark.parametrize("values", [*NO_LISTS, [b"walk"], [None], [7], [("walk", b"V")], [("walk", None)],
                                    [{"walk": 1}]], ids=repr)
def test_inputs_are_a_list_of_texts(predictor, values):
    for ask in (predictor.predict, predictor.nbest, predictor.score):
        with pytest.raises(il_morph.InputError, match="^(predict|score) takes "):
            ask(values)


@pytest.mark.parametrize("values", [*NO_LISTS, [b"x"] * 4, [None] * 4, [1.5] * 4, [("x",)] * 4], ids=repr)
def test_outputs_to_evaluate_are_a_list_of_texts(data, values):
    with pytest.raises(il_morph.InputError, match="^(predictions|an item of predictions) takes a "):
        il_morph.evaluate(data("dev"), values)


def test_outputs_to_evaluate_may_come_from_a_generator(data):
    assert il_morph.evaluate(data("dev"), (form for _, _, form in DEV)).accuracy == 100


@pytest.mark.parametrize("path", [b"x", None, 7, "", {"x": 1}, [None], [b"x"]], ids=repr)
def test_paths_are_paths(data, path):
    for ask in (lambda: il_morph.load(path), lambda: il_morph.evaluate(path, ["x"]),
                lambda: il_morph.train(path, data("dev"), "r"),
                lambda: il_morph.train(data("train"), data("dev"), path)):
        with pytest.raises(il_morph.InputError, match=" takes a | is empty: give a path"):
            ask()


@pytest.mark.parametrize("arguments", [
    {"seeds": b"12"}, {"seeds": {1: 2}}, {"beam_widths": {4}}, {"beam_widths": b"4"}, {"columns": b"input,output"},
    {"columns": 7}, {"columns": [b"input"]}, {"columns": {"input": 0, "output": 1}}, {"input_separator": 5},
    {"feature_separator": b";"}, {"epochs": True}, {"epochs": "three"}, {"epochs": 2.5}, {"model": b"ca-r"},
    {"force": 1}, {"pos_emb": "no"}, {"test_path": b"x"}, {"dropout": None, "l2": "much"}, {"help": True},
    {"version": True}], ids=repr)
def test_arguments_of_other_types_are_refused(data, tmp_path, arguments):
    with pytest.raises(il_morph.InputError):
        il_morph.train(data("train"), data("dev"), tmp_path / "r", **arguments)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("ask", [lambda m: m.predict(["walk"], beam_width=True), lambda m: m.nbest(["walk"], n=True),
                                 lambda m: m.nbest(["walk"], mass="much"), lambda m: m.nbest(["walk"], mass=True),
                                 lambda m: m.paradigm(b"walk"), lambda m: m.paradigm(None)])
def test_numbers_are_numbers_and_lemmas_texts(predictor, ask):
    with pytest.raises(il_morph.InputError):
        ask(predictor)


def test_a_path_that_looks_like_a_flag_is_a_path(data, tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "f.stats").write_text("{}")
    for flag in ("--force", "--help", "--epochs=1"):
        with pytest.raises(il_morph.InputError, match=f"^cannot read ./{flag}: No such file"):
            il_morph.train(flag, data("train"), tmp_path / "r")
    assert {path.name for path in (tmp_path / "r").iterdir()} == {"f.stats"}
    with pytest.raises(il_morph.InputError, match="^help: there is no such argument"):
        il_morph.train(data("train"), None, tmp_path / "r", help=True)
