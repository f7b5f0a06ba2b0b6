"""The expert against the authors' program and against the laws of the paper."""
import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from il_morph.transitions.actions import COPY, DELETE, END, ActionTable
from il_morph.transitions.expert import (
    BETA,
    Expert,
    LengthTargetTracker,
    ProgramTargetTracker,
    TargetTracker,
    edit_costs,
    matched,
    optimal_actions,
    regrets,
)
from il_morph.transitions.systems import EditSystem
from tests.shared import SHARED, needs_shared, shared_files

SYSTEM = EditSystem()
words = st.text("abc", max_size=7)


class Letters:
    """The letters of a pair as INSERT actions."""

    def __init__(self, *strings):
        self.symbols = [*SYSTEM.special_actions, *sorted(set("".join(strings)))]
        self.table = ActionTable(SYSTEM.action, self.symbols)

    def actions_of(self, text):
        return [self.symbols.index(character) for character in text]

    def name(self, action):
        names = {COPY: "COPY", DELETE: "DELETE", END: "END"}
        return names.get(action) or f"INSERT({self.symbols[action]})"

    def valid(self, at_end):
        return self.table.valid_actions(at_end)

    def regrets(self, costs, at_end=False):
        """Of the valid actions."""
        support = np.isin(np.arange(len(self.symbols)), self.valid(at_end))
        found = regrets(costs, support)
        assert not found[~support].any()
        return {action: found[action] for action in self.valid(at_end)}

    def execute(self, x, i, action):
        """The new position and what was written."""
        return self.table.advance(i, action), self.table.rows[action].written(x[i:i + 1])


def brute_force_cost(x, t):
    @cache
    def cost(i, j):
        if i == len(x) and j == len(t):
            return 0
        choices = []
        if i < len(x):
            choices.append(1 + cost(i + 1, j))
        if j < len(t):
            choices.append(1 + cost(i, j + 1))
        if i < len(x) and j < len(t) and x[i] == t[j]:
            choices.append(cost(i + 1, j + 1))
        return min(choices)

    return [[cost(i, j) for j in range(len(t) + 1)] for i in range(len(x) + 1)]


CASES = shared_files("reference/expert_cases*.jsonl")


def state_of(case):
    letters = Letters(case["input"], case["target"], case["output"])
    expert = Expert(case["input"], case["target"], letters.table)
    return letters, expert.candidates(case["position"], matched(case["target"], case["output"]))


@needs_shared
def test_there_are_states_of_the_authors_program():
    assert SHARED / "reference" / "expert_cases.jsonl" in CASES


@needs_shared
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_optimal_actions_and_regrets_of_the_authors_program(path):
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(cases) == 3398 or path.name != "expert_cases.jsonl"
    for case in cases:
        letters, costs = state_of(case)
        assert sorted(map(letters.name, optimal_actions(costs))) == sorted(case["optimal"]), case
        if "regret" not in case:  # the target is complete
            assert matched(case["target"], case["output"]) == len(case["target"])
            continue
        found = letters.regrets(costs, case["position"] == len(case["input"]))
        expected = dict.fromkeys(map(letters.name, found), case["regret_of_every_other_valid_action"])
        expected.update(case["regret"])
        assert {letters.name(action): regret for action, regret in found.items()} == expected, case


def test_the_example_of_the_paper():
    letters, costs = state_of({"input": "walk", "target": "walked", "output": "wad", "position": 2})
    assert list(map(letters.name, optimal_actions(costs))) == ["COPY"]


@given(words, words)
def test_edit_costs_are_those_of_a_brute_force_search(x, t):
    assert edit_costs(x, t, Letters(x, t).table) == brute_force_cost(x, t)


@pytest.mark.parametrize("output, contained", [("", 0), ("wal", 3), ("wad", 2), ("dwa", 2), ("walkedd", 6)])
def test_progress_counts_greedily(output, contained):
    assert matched("walked", output) == contained


@given(words, words, words)
def test_progress_goes_on_from_where_it_was(target, first, second):
    assert matched(target, first + second) == matched(target, second, matched(target, first))


def follow(expert, letters, choose, i=0, output=""):
    """Execute actions that `choose` takes from the optimal ones until END; the actions and the output."""
    taken = []
    while END not in taken:
        action = choose(optimal_actions(expert.candidates(i, matched(expert.target, output))))
        assert action in letters.valid(i == len(expert.x))
        taken.append(action)
        i, written = letters.execute(expert.x, i, action)
        output += written
    return taken, output


@given(words, words, st.randoms(use_true_random=False))
def test_any_optimal_actions_lead_to_the_target_with_the_fewest_edits(x, target, random):
    letters = Letters(x, target)
    expert = Expert(x, target, letters.table)
    actions, output = follow(expert, letters, random.choice)
    assert output == target
    assert sum(letters.table.costs[actions]) == expert.costs[0][0]


@given(words, words, st.randoms(use_true_random=False), st.integers(0, 10))
def test_after_any_errors_the_expert_completes_the_target(x, target, random, errors):
    letters = Letters(x, target, "abc")
    expert = Expert(x, target, letters.table)
    i, output = 0, ""
    for _ in range(errors):
        action = random.choice([a for a in letters.valid(i == len(x)) if a != END])
        i, written = letters.execute(x, i, action)
        output += written
    j = matched(target, output)
    actions, whole = follow(expert, letters, random.choice, i, output)
    assert matched(target, whole) == len(target)
    assert whole == output + target[j:]
    assert sum(letters.table.costs[actions]) == expert.costs[i][j]


def test_the_expert_does_not_copy_where_deleting_is_cheaper():
    letters = Letters("cabc")
    costs = Expert("cab", "abc", letters.table).candidates(0, 0)
    assert optimal_actions(costs) == [DELETE]
    costs = Expert("abxab", "ab", letters.table).candidates(0, 0)
    assert sorted(costs) == sorted([COPY, DELETE, *letters.actions_of("a")])


# Counting: the place in the target, asked before each action

def places(tracker, target, outputs):
    counter = tracker(target)
    return [counter.place(output) for output in outputs]


@pytest.mark.parametrize("tracker, expected", [
    (TargetTracker, [0, 1, 1, 1, 2]), (ProgramTargetTracker, [0, 1, 1, 0, 2]), (LengthTargetTracker, [0, 1, 2, 2, 3])])
def test_an_error_followed_by_delete_counts_twice_in_the_authors_program(tracker, expected):
    """abc: a is written, then x, which is wrong; DELETE writes nothing; then b."""
    assert places(tracker, "abc", ["", "a", "ax", "ax", "axb"]) == expected


@pytest.mark.parametrize("tracker", [TargetTracker, ProgramTargetTracker, LengthTargetTracker])
@given(target=words)
def test_without_errors_all_count_alike(tracker, target):
    outputs = [target[:n] for n in range(len(target) + 1)]
    assert places(tracker, target, outputs) == list(range(len(target) + 1))


@given(words, st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=12))
def test_a_place_is_in_the_target(target, written):
    outputs = ["".join(written[:n]) for n in range(len(written) + 1)]
    for tracker in (TargetTracker, ProgramTargetTracker, LengthTargetTracker):
        assert all(0 <= place <= len(target) for place in places(tracker, target, outputs))
    assert places(TargetTracker, target, outputs)[-1] == matched(target, "".join(written))
    assert places(LengthTargetTracker, target, outputs)[-1] == min(len("".join(written)), len(target))


@given(words, words, st.data())
def test_the_cost_of_a_candidate_is_what_following_it_costs(x, target, data):
    letters = Letters(x, target)
    expert = Expert(x, target, letters.table)
    i, j = data.draw(st.integers(0, len(x))), data.draw(st.integers(0, len(target)))
    costs = expert.candidates(i, j)
    assert min(costs.values()) == brute_force_cost(x[i:], target[j:])[0][0]
    if j == len(target):
        assert list(costs) == ([DELETE] if i < len(x) else [END])


def test_actions_away_from_the_target_have_regret_beta():
    letters = Letters("ab", "abc")
    expert = Expert("ab", "abc", letters.table)
    a, b, c = letters.actions_of("abc")
    assert letters.regrets(expert.candidates(0, 0)) == {COPY: 0, DELETE: 2, a: 2, b: BETA, c: BETA}


def test_when_the_target_is_complete_and_input_is_left_only_delete_is_free():
    letters = Letters("ab", "a")
    a, b = letters.actions_of("ab")
    expert = Expert("ab", "a", letters.table)
    assert letters.regrets(expert.candidates(1, 1)) == {DELETE: 0, COPY: BETA, a: BETA, b: BETA}
    assert letters.regrets(expert.candidates(2, 1), at_end=True) == {END: 0, a: BETA, b: BETA}
