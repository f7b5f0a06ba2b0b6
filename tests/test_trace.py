"""A prediction as steps, judged by the expert; `il-morph explain` shows it."""
import json
import math
import os
import pty
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.data.formats import Sample
from il_morph.model.modelfile import save_model
from il_morph.model.predictor import Predictor
from il_morph.model.search import Hypothesis, execute
from il_morph.report.characters import columns, direction, shown, shown_form
from il_morph.report.explanation import explanation_page
from il_morph.report.terminal import trace_text
from il_morph.report.trace import DETOUR, OPTIMAL, WRONG, Edit, trace, trace_best, verdict
from il_morph.transitions.actions import END
from il_morph.transitions.expert import Expert, optimal_sequences
from tests.cli import ROOT, error_of
from tests.random_models import SETTINGS, random_actions, random_model
from tests.test_cited_architectures import VARIANTS, cited_model
from tests.test_nwfst import model as nwfst_model

WORDS = st.text(alphabet="walksinge ń", min_size=0, max_size=8)
EDITS = Predictor(random_model(3))
HARD = Predictor(random_model(3, transducer="hard"))
SUBSTITUTING = Predictor(random_model(3, transducer="substitute"))
SUBSTITUTING.vocabulary.all_prefixes = True


def made(predictor, sample, actions) -> Hypothesis:
    """The hypothesis of given actions."""
    vocabulary = predictor.vocabulary
    return Hypothesis(execute(actions, vocabulary.instance(sample), vocabulary), tuple(actions), 0.0)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_steps_of_a_trace_multiply_to_the_probability_of_its_output(name):
    predictor = Predictor(random_model(1, **SETTINGS[name]))
    words = [("walk", "V;PST"), ("a", "N;PL"), ("go on", ""), ("ż", "")]
    samples = [Sample(word, tag, None) for word, tag in words]
    found = [hypotheses[0] for hypotheses in predictor.hypotheses(samples, 3)]
    for each, hypothesis in zip(trace(predictor, samples, found, [None] * len(samples)), found):
        assert math.isclose(sum(math.log(step.probability) for step in each.steps), hypothesis.log_probability,
                            abs_tol=1e-4)
        assert each.output == hypothesis.output == each.steps[-1].output
        assert len(each.steps) == len(hypothesis.actions)
        assert all(len(step.others) == 2 for step in each.steps)
        assert (each.right, each.first_wrong, each.departs) == (None, None, None)


@pytest.mark.parametrize("name", VARIANTS)
def test_models_of_the_cited_systems_have_traces_too(name):
    predictor = Predictor(cited_model(1, **VARIANTS[name]))
    separator = predictor.vocabulary.format.separator or ""
    samples = [Sample("walk", separator.join(["f00=V", "f11=PST"]), None), Sample("mouße", "", None)]
    found = [hypotheses[0] for hypotheses in predictor.hypotheses(samples, 3)]
    for each, hypothesis in zip(trace(predictor, samples, found, ["walked", None]), found):
        assert math.isclose(sum(math.log(step.probability) for step in each.steps), hypothesis.log_probability,
                            abs_tol=1e-3)
        assert each.output == hypothesis.output == each.steps[-1].output
        written = [step.edit.character for step in each.steps if step.edit.kind in ("copy", "insert")]
        assert "".join(written) == each.output, "what the pages put together is the output"
        assert trace_text(each)
        assert all(each.tape[step.at] == step.character for step in each.steps)
        places = [step.at for step in each.steps]
        assert places == sorted(places) or name.startswith(("soft", "med", "lem")), "only soft attention jumps"


def test_a_model_that_weighs_whole_sequences_has_edits_without_probabilities(capsys, tmp_path):
    model = nwfst_model()
    save_model(tmp_path / "f.model", model)
    found = trace_best(Predictor(model), Sample("walk", "", None), "walked", 4)
    assert {(step.probability, step.others) for step in found.steps} == {(None, ())}
    assert found.output == found.steps[-1].output and found.first_wrong is not None
    assert all(step.optimal for step in found.steps)
    json.dumps(found.as_dict(), allow_nan=False)
    assert explain(capsys, str(tmp_path), "walk", "--gold=walked").splitlines()[3].split()[4] == "–"
    assert ">–</td>" in explain(capsys, str(tmp_path), "walk", "--gold=walked", "--html")


@given(word=WORDS, gold=WORDS)
@settings(max_examples=60, deadline=None)
def test_the_expert_finds_nothing_wrong_with_its_own_sequences(word, gold):
    sample = Sample(word, "V;PST", None)
    known = "".join(character for character in gold if character in EDITS.vocabulary.actions)
    expert = Expert(word, known, EDITS.vocabulary.table)
    hypothesis = made(EDITS, sample, next(optimal_sequences(expert)))
    found, = trace(EDITS, [sample], [hypothesis], [known])
    assert found.right and found.first_wrong is None
    assert {step.verdict for step in found.steps} == {OPTIMAL}
    assert all(step.edit in step.optimal for step in found.steps)


@pytest.mark.parametrize("predictor", [EDITS, HARD, SUBSTITUTING], ids=["edits", "hard attention", "substitute"])
@given(word=WORDS, gold=WORDS)
@settings(max_examples=60, deadline=None)
def test_an_output_is_right_if_and_only_if_no_step_departs_from_it(predictor, word, gold):
    sample = Sample(word, "V;PST", None)
    instance = predictor.vocabulary.instance(sample)
    actions = random_actions(predictor.vocabulary, instance, longest=60)
    for target in (gold, execute(actions, instance, predictor.vocabulary)):
        found, = trace(predictor, [sample], [made(predictor, sample, actions)], [target])
        if found.steps[-1].edit.kind == "end":
            assert found.right == (found.departs is None)
        if found.departs:
            before = found.steps[found.departs - 2].output if found.departs > 1 else ""
            assert target.startswith(before)
            assert found.first_wrong is not None and found.first_wrong <= found.departs


def test_a_detour_is_told_from_a_mistake():
    """walk → walked: to delete and insert k is a detour, to insert a second d a mistake."""
    sample, actions = Sample("walk", "V;PST", None), EDITS.vocabulary.actions_of
    copy, delete, end = actions(["<COPY>", "<DEL>", "⟫"])
    k, e, d = actions("ked")
    around, = trace(EDITS, [sample], [made(EDITS, sample, [copy] * 3 + [delete, k, e, d, end])], ["walked"])
    assert (around.right, around.first_wrong, around.departs) == (True, 4, None)
    assert [step.verdict for step in around.steps] == [OPTIMAL] * 3 + [DETOUR] + [OPTIMAL] * 4
    assert around.steps[3].optimal == (Edit("copy", "k"),)
    assert "step 4 takes a detour" in verdict(around)
    astray, = trace(EDITS, [sample], [made(EDITS, sample, [copy] * 4 + [e, d, d, end])], ["walked"])
    assert (astray.right, astray.first_wrong, astray.departs) == (False, 7, 7)
    assert (astray.steps[6].verdict, astray.steps[6].optimal) == (WRONG, (Edit("end"),))
    assert verdict(astray) == "The right output is walked. The first wrong step is 7: insert d instead of end."


def test_a_character_that_the_model_cannot_write_is_what_the_expert_would_insert():
    found = trace_best(EDITS, Sample("walk", "V;PST", None), "ż", 1)
    assert Edit("insert", "ż") in found.steps[0].optimal


def test_a_character_that_cannot_be_written_is_named_although_other_prefixes_are_as_near():
    """After "s" the empty prefix of "wż" is as near as "w"."""
    sample, substitute = Sample("walk", "V;PST", None), SUBSTITUTING.vocabulary.actions["<SUB>s"]
    found, = trace(SUBSTITUTING, [sample], [made(SUBSTITUTING, sample, [substitute, END])], ["wż"])
    assert Edit("insert", "ż") in found.steps[1].optimal


def test_to_substitute_a_character_by_itself_is_a_detour():
    sample, actions = Sample("walk", "V;PST", None), SUBSTITUTING.vocabulary.actions_of
    copy, same, end = actions(["<COPY>", "<SUB>a", "⟫"])
    found, = trace(SUBSTITUTING, [sample], [made(SUBSTITUTING, sample, [copy, same, copy, copy, end])], ["walk"])
    assert [step.verdict for step in found.steps] == [OPTIMAL, DETOUR, OPTIMAL, OPTIMAL, OPTIMAL]


@pytest.mark.parametrize("command", ["predict", "score", "align"])
def test_commands_that_show_edits_say_how_a_substitution_is_written(capsys, command):
    assert main([command, "--help"]) == 0
    assert "~x substitutes" in capsys.readouterr().out


def test_pages_and_notebooks_tell_a_substitution_from_a_copy():
    pytest.importorskip("jinja2")
    sample, copy = Sample("walk", "V;PST", None), SUBSTITUTING.vocabulary.actions["<COPY>"]
    substitute = SUBSTITUTING.vocabulary.actions["<SUB>s"]
    found, = trace(SUBSTITUTING, [sample], [made(SUBSTITUTING, sample, [substitute, copy, copy, copy, END])], [None])
    page = explanation_page(found)
    assert '<span class="sign">~</span><bdi>s</bdi>' in page and "x</span> substitute</span>" in page
    assert "x</span> substitute</span>" not in explanation_page(trace_best(EDITS, sample, None, 1))
    assert ">~s</span>" in found._repr_html_()


def test_without_an_expert_the_step_that_departs_is_named():
    sample = Sample("walk", "V;PST", None)
    step, w, a, end = HARD.vocabulary.actions_of(["<STEP>", "w", "a", "⟫"])
    found, = trace(HARD, [sample], [made(HARD, sample, [step, w, step, a, *[step] * 3, end])], ["wal"])
    assert (found.right, found.first_wrong) == (False, 8)
    assert verdict(found) == "The right output is wal. The first wrong step is 8: end."
    assert all(each.optimal == () for each in found.steps)


@pytest.mark.parametrize("character, expected", [
    ("a", "a"), (" ", "␣"), ("\u0301", "◌\u0301"), ("\u05b8", "◌\u05b8"), ("\u200e", "U+200E"), ("\u00a0", "U+00A0"),
    ("한", "한"), ("⟫", "END"), ("", "∅"),
])
def test_a_character_on_its_own_can_be_seen(character, expected):
    assert shown(character) == expected


def test_forms_are_shown_as_they_are_but_for_blanks_one_would_not_see():
    assert [shown_form(form) for form in ("go on", " a", "a ", "a  b", "")] == ["go on", "␣a", "a␣", "a␣␣b", "∅"]
    assert [direction(form) for form in ("walk", "כָּתַב", "1 كتب", "", "12")] == ["ltr", "rtl", "rtl", "ltr", "ltr"]
    assert [columns(text) for text in ("walk", "한국", "a\u0301")] == [4, 4, 1]


# The command

@pytest.fixture(scope="module")
def model_path(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("explain") / "f.model"
    save_model(path, random_model(3))
    return str(path)


def explain(capsys, *arguments) -> str:
    capsys.readouterr()
    assert main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def test_explain_has_a_line_for_each_step(capsys, model_path):
    expected = trace_best(EDITS, Sample("go on", "V;PST", None), None, 4)
    title, _, header, *lines = explain(capsys, model_path, "go on", "V;PST").splitlines()
    assert title.startswith(f"go on + V;PST → {shown_form(expected.output)} ")
    assert header.split() == ["step", "reads", "action", "P", "next", "best", "output"]
    assert len(lines) == len(expected.steps)
    for number, (line, step) in enumerate(zip(lines, expected.steps), start=1):
        assert line.split()[:2] == [str(number), shown(step.character)]
        assert f" {step.edit.label} " in line and f"{step.probability:.4f}" in line
        assert all(f"{edit.label} {probability:.4f}" in line for edit, probability in step.others)
        assert line.endswith(shown_form(step.output))


def test_explain_with_gold_names_the_first_wrong_step(capsys, model_path):
    expected = trace_best(EDITS, Sample("walk", "V;PST", None), "walked", 4)
    text = explain(capsys, model_path, "walk", "V;PST", "--gold=walked")
    assert verdict(expected) in text and expected.first_wrong is not None
    assert text.splitlines()[2 + expected.first_wrong][-1] in "✗~"


def test_explain_says_what_training_did_not_show(capsys, model_path):
    text = explain(capsys, model_path, "waß", "V;FUT")
    assert "Training did not show ß:" in text and "Training did not show the feature FUT." in text
    assert "You gave no features" in explain(capsys, model_path, "walk")


def test_explain_is_colourful_on_a_terminal_unless_that_is_not_wanted(model_path):
    def on_terminal(**variables) -> str:
        master, slave = pty.openpty()
        command = [sys.executable, "-m", "il_morph", "explain", model_path, "walk", "V;PST", "--gold=x"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=slave, env={**os.environ, "TERM": "xterm", **variables})
        os.close(slave)
        text = b"".join(iter(lambda: read(master), b""))
        os.close(master)
        assert process.wait() == 0
        return text.decode("utf-8")

    def read(terminal) -> bytes:
        try:
            return os.read(terminal, 65536)
        except OSError:  # the other side is closed
            return b""

    assert "\033[1;31m" in on_terminal(NO_COLOR="")
    assert "\033[" not in on_terminal(NO_COLOR="1")
    assert "\033[" not in on_terminal(NO_COLOR="", TERM="dumb")


def test_explain_writes_a_page_without_markup_from_the_data(capsys, model_path, tmp_path):
    pytest.importorskip("jinja2")
    evil, path = "<img src=x onerror=alert(1)>", tmp_path / "page.html"
    assert explain(capsys, model_path, evil, f"V;{evil}", f"--gold={evil}", "--html", f"--output={path}") == ""
    page = path.read_text(encoding="utf-8")
    assert "<img" not in page and "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "http://" not in page and "https://" not in page
    message = error_of(capsys, "explain", model_path, "walk", "V", "--html", f"--output={path}")
    assert f"{path} exists already" in message


@pytest.mark.parametrize("flags", [[], ["--html"]])
def test_explain_takes_a_hyphen_for_standard_output(capsys, model_path, tmp_path, monkeypatch, flags):
    monkeypatch.chdir(tmp_path)
    arguments = [model_path, "walk", "V;PST", *flags]
    assert explain(capsys, *arguments, "--output=-") == explain(capsys, *arguments) != ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments, message", [
    (["walk\t", "V"], "contains a tab, a line end or a lone surrogate"), (["⟪", "V"], "reserved"),
    (["w" * 2000, "V"], "2,000 characters"), (["walk", "V", "--beam-width=x"], "--beam-width takes a whole number"),
])
def test_explain_refuses_what_it_cannot_read(capsys, model_path, arguments, message):
    assert message in error_of(capsys, "explain", model_path, *arguments)


def test_features_for_a_model_without_features_are_an_error(capsys, tmp_path):
    save_model(tmp_path / "f.model", random_model(1, format="no-features", pos_emb=False))
    assert "reads no features" in error_of(capsys, "explain", str(tmp_path), "walk", "V;PST")


def test_a_page_without_its_packages_is_a_clear_message(model_path, tmp_path):
    (tmp_path / "jinja2.py").write_text("raise ModuleNotFoundError('No module named jinja2')\n")
    command = [sys.executable, "-m", "il_morph", "explain", model_path, "walk", "V;PST", "--html"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True,
                          text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "il-morph: error: pages need Jinja2: pip install jinja2\n"
