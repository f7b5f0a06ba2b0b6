"""A new action is a row of the action table: this file alone adds one, and both engines train and decode with it."""
import re

import pytest

from il_morph.commands import main
from il_morph.model.modelfile import load_model
from il_morph.model.predictor import Predictor
from il_morph.transitions.actions import COPY, DELETE, END, HEAD, Action, ActionTable
from il_morph.transitions.expert import Expert, optimal_actions, optimal_sequences
from il_morph.transitions.systems import SYSTEMS, EditSystem

DOUBLE = len(EditSystem.special_actions)


class DoublingSystem(EditSystem):
    """Beside the edits of the paper an action that writes the next character of the input and leaves it there."""

    name = "doubling"
    special_actions = {**EditSystem.special_actions,
                       "<DOUBLE>": Action("double", writes=HEAD, before_end=True, mark="{}·")}


WORDS = ["ba", "ab", "cab", "bac", "abc", "cb", "bca", "acb"]


@pytest.fixture
def doubling(monkeypatch):
    monkeypatch.setitem(SYSTEMS, DoublingSystem.name, DoublingSystem())
    return DoublingSystem.name


def table_of(*strings):
    return ActionTable(DoublingSystem().action, [*DoublingSystem.special_actions, *sorted(set("".join(strings)))])


def test_the_expert_uses_it_where_it_is_cheaper():
    expert = Expert("ab", "aab", table_of("ab"))
    assert optimal_actions(expert.candidates(0, 0)) == [DOUBLE]
    assert expert.costs[0][0] == 0
    assert (DOUBLE, COPY, COPY, END) in [*optimal_sequences(expert)]
    assert DELETE not in expert.optimal_at(0, 0)


@pytest.mark.parametrize("engine", ["dynet", "native"])
def test_both_engines_train_and_decode_with_it(doubling, engine, tmp_path):
    """Outputs double the first character: with the new action that costs nothing."""
    if engine == "dynet":
        pytest.importorskip("dynet")
    lines = "".join(f"{word}\t{word[0]}{word}\n" for word in WORDS * 3)
    (tmp_path / "train").write_text(lines, encoding="utf-8")
    sizes = ["--input=12", "--enc-hidden=12", "--dec-hidden=12", "--dynet-mem=16", "--epochs=12"]
    assert main(["train", f"--engine={engine}", f"--transducer={doubling}", "--no-feat-format", "--model=ca-d", *sizes,
                 "--dynet-seed=1", str(tmp_path / "train"), str(tmp_path / "train"), str(tmp_path / "results")]) == 0
    predictor = Predictor(load_model(tmp_path / "results"))
    predictions = [found[0] for found in predictor.nbest(WORDS, n=1)]
    assert [prediction.output for prediction in predictions] == [word[0] + word for word in WORDS]
    shown = [prediction.actions for prediction in predictions]
    assert any(re.search("[abc]·", actions) for actions in shown), shown
