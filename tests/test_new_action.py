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


class SubstitutingSystem(EditSystem):
    """Beside the edits of the paper SUBSTITUTE(c), which writes c and reads whatever comes next."""

    name = "substituting"
    MARK = "<SUB>"

    def symbols_of(self, character):
        return character, self.MARK + character

    def action(self, symbol):
        if symbol.startswith(self.MARK):
            return Action("substitute", reads=1, writes=symbol[-1], cost=1, before_end=True, mark="~{}")
        return super().action(symbol)


WORDS = ["ba", "ab", "cab", "bac", "abc", "cb", "bca", "acb"]


@pytest.fixture(autouse=True)
def known_systems(monkeypatch):
    for system in (DoublingSystem(), SubstitutingSystem()):
        monkeypatch.setitem(SYSTEMS, system.name, system)


def table_of(system, letters):
    return ActionTable(system.action, [*system.special_actions, *(s for c in letters for s in system.symbols_of(c))])


def test_the_expert_uses_it_where_it_is_cheaper():
    expert = Expert("ab", "aab", table_of(DoublingSystem(), "ab"))
    assert optimal_actions(expert.candidates(0, 0)) == [DOUBLE]
    assert expert.costs[0][0] == 0
    assert (DOUBLE, COPY, COPY, END) in [*optimal_sequences(expert)]
    assert DELETE not in expert.optimal_at(0, 0)


def test_the_expert_substitutes_where_that_is_cheaper():
    table = table_of(SubstitutingSystem(), "abc")
    expert = Expert("ab", "cb", table)
    assert expert.costs[0][0] == 1
    assert [table.rows[action].show("a") for action in expert.optimal_at(0, 0)] == ["~c"]


@pytest.mark.parametrize("engine", ["dynet", "native"])
@pytest.mark.parametrize("system, transduce, mark", [
    (DoublingSystem, lambda word: word[0] + word, "[abc]·"),
    (SubstitutingSystem, lambda word: {"a": "b", "b": "c", "c": "a"}[word[0]] + word[1:], "~[abc]")])
def test_both_engines_train_and_decode_with_it(system, transduce, mark, engine, tmp_path):
    """The first character is doubled, or replaced: what the new action does at a lower cost."""
    if engine == "dynet":
        pytest.importorskip("dynet")
    lines = "".join(f"{word}\t{transduce(word)}\n" for word in WORDS * 3)
    (tmp_path / "train").write_text(lines, encoding="utf-8")
    sizes = ["--input=12", "--enc-hidden=12", "--dec-hidden=12", "--dynet-mem=16", "--epochs=15"]
    assert main(["train", f"--engine={engine}", f"--transducer={system.name}", "--no-feat-format", "--model=ca-d",
                 *sizes, "--dynet-seed=1", str(tmp_path / "train"), str(tmp_path / "train"),
                 str(tmp_path / "results")]) == 0
    predictions = [found[0] for found in Predictor(load_model(tmp_path / "results")).nbest(WORDS, n=1)]
    assert [prediction.output for prediction in predictions] == [transduce(word) for word in WORDS]
    assert any(re.search(mark, prediction.actions) for prediction in predictions)
