"""Learnt costs of edits: conformance values, brute force, the expert that uses them."""
from __future__ import annotations

from itertools import product
from math import exp, isclose, log

import numpy as np
import pytest

from il_morph.transitions.actions import ActionTable
from il_morph.transitions.expert import Expert, PrefixTracker, edit_costs, optimal_actions
from il_morph.transitions.stochastic_edits import LearntMoves, StochasticEdits
from il_morph.transitions.systems import EditSystem, SubstitutionSystem
from tests.shared import SHARED

PAIRS = [("ab", "xa"), ("a", ""), ("", "ax"), ("ba", "b"), ("aab", "aax"), ("b", "x"), ("", "")]


def table_of(system, letters):
    return ActionTable(system.action, [*system.special_actions, *(s for c in letters for s in system.symbols_of(c))])


def paths(edits, x, y):
    """log P of every way to edit x into y, with the edits it takes, by brute force."""
    if not x and not y:
        yield edits.stop, []
    inputs, outputs = edits.inputs, edits.outputs
    steps = [(x[1:], y, edits.deletions[inputs.index(x[0])], "-" + x[0])] if x else []
    steps += [(x, y[1:], edits.insertions[outputs.index(y[0])], "+" + y[0])] if y else []
    if x and y:
        steps.append((x[1:], y[1:], edits.substitutions[inputs.index(x[0]), outputs.index(y[0])], x[0] + y[0]))
    for rest, target, value, name in steps:
        for total, names in paths(edits, rest, target):
            yield value + total, [name, *names]


def french():
    path = SHARED / "data/g2p2020/train/fre_train.tsv"
    if not path.exists():
        pytest.skip("needs the data of the task")
    return [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_likelihood_of_the_french_data_rises_as_in_the_published_model():
    pairs, found = french(), []
    for iterations in (0, 1, 2):
        edits = StochasticEdits.learn(pairs, iterations)
        found.append(np.mean(edits.log_likelihoods(pairs)))
    assert found == pytest.approx([-79.1608, -45.5158, -41.7697], abs=1e-4)


def test_the_expert_has_the_costs_that_the_paper_prints():
    pairs = french()
    edits = StochasticEdits.learn(pairs, 3)
    table = table_of(SubstitutionSystem(), edits.outputs)
    expert = Expert("abject", "a b ʒ ɛ k t", LearntMoves(table, edits))
    places = PrefixTracker(expert.target).places("a b ʒ e")
    costs = {table.rows[action].show("e"): cost for action, cost in expert.candidates(3, *places).items()}
    assert costs == pytest.approx({"~␣": 15.28, "-e": 17.31, "+␣": 17.31, "~ɛ": 17.65, "+ɛ": 21.09}, abs=0.006)
    assert optimal_actions(expert.candidates(3, *places)) == [
        action for action, row in enumerate(table.rows) if row.kind == "substitute" and row.writes == " "]


def mostly_copies(inputs, outputs):
    """Mass 0.9 on the copies, 0.1 on all other edits."""
    edits = StochasticEdits.uniform(inputs, outputs)
    copies = [(x, y) for x, y in product(inputs, outputs) if x == y]
    others = len(edits.log_probabilities) - len(copies)
    flat = np.full(len(edits.log_probabilities), log(0.1 / others))
    for x, y in copies:
        flat[inputs.index(x) * len(outputs) + outputs.index(y)] = log(0.9 / len(copies))
    return StochasticEdits.from_dict({**edits.as_dict(), "log_probabilities": flat.tolist()})


def test_sum_and_best_way_of_a_model_of_copies_are_those_published():
    edits = mostly_copies(list("abcdefg"), list("fghijk"))
    assert edits.log_likelihoods([("affa", "iffig")])[0] == pytest.approx(-26.05741, abs=1e-5)
    table = table_of(SubstitutionSystem(), edits.outputs)
    assert edit_costs("affa", "iffig", LearntMoves(table, edits))[0][0] == pytest.approx(26.7633, abs=1e-4)


@pytest.mark.parametrize("iterations", [0, 1, 4])
def test_sums_and_best_ways_are_those_of_brute_force(iterations):
    edits = StochasticEdits.learn(PAIRS, iterations)
    moves = LearntMoves(table_of(SubstitutionSystem(), edits.outputs), edits)
    for (x, y), found in zip(PAIRS, edits.log_likelihoods(PAIRS)):
        ways = [value for value, _ in paths(edits, x, y)]
        assert isclose(found, log(sum(map(exp, ways))), rel_tol=1e-12)
        assert edit_costs(x, y, moves)[0][0] == pytest.approx(-max(ways))


def test_a_round_of_em_counts_what_brute_force_counts():
    before, after = StochasticEdits.learn(PAIRS, 1), StochasticEdits.learn(PAIRS, 2)
    names = [x + y for x in before.inputs for y in before.outputs]
    names += ["-" + x for x in before.inputs] + ["+" + y for y in before.outputs] + ["#"]
    counts = dict(zip(names, np.exp(before.log_probabilities)))
    for x, y in PAIRS:
        ways = list(paths(before, x, y))
        whole = sum(exp(value) for value, _ in ways)
        for value, taken in ways:
            for name in [*taken, "#"]:
                counts[name] += exp(value) / whole
    total = sum(counts.values())
    assert np.exp(after.log_probabilities) == pytest.approx([counts[name] / total for name in names])


def test_the_probabilities_sum_to_one_and_the_likelihood_never_falls():
    found = [StochasticEdits.learn(PAIRS, n) for n in range(6)]
    assert all(np.exp(edits.log_probabilities).sum() == pytest.approx(1) for edits in found)
    likelihoods = [sum(edits.log_likelihoods(PAIRS)) for edits in found]
    assert likelihoods == sorted(likelihoods)


def test_a_symbol_that_can_be_copied_is_not_substituted():
    for letters in ("ab", "a"):
        table = table_of(SubstitutionSystem(), letters)
        assert [table.rows[move.action].show("a") for move in table.moves("a", "a")] == ["a", "-a", "+a"]


def test_the_paper_s_system_takes_learnt_costs_too():
    edits = StochasticEdits.learn(PAIRS)
    table = table_of(EditSystem(), edits.outputs)
    expert = Expert("ab", "xa", LearntMoves(table, edits))
    assert {table.rows[action].kind for action in expert.candidates(0, 0)} == {"insert", "delete"}
    assert expert.candidates(2, 2) == {2: pytest.approx(-2 * edits.stop)}


def test_a_symbol_that_the_pairs_do_not_have_is_expensive_but_no_error():
    edits = StochasticEdits.learn(PAIRS)
    expert = Expert("é", "ü", LearntMoves(table_of(SubstitutionSystem(), edits.outputs), edits))
    assert expert.costs[0][0] >= 1e6


@pytest.mark.parametrize("output", ["", "a", "x", "xb", "abab", "bca", "aabbcc"])
def test_all_nearest_prefixes_are_found_as_the_output_grows(output):
    def distance(one, other):
        if not one or not other:
            return len(one) + len(other)
        return min(distance(one[1:], other[1:]) + (one[0] != other[0]), distance(one[1:], other) + 1,
                   distance(one, other[1:]) + 1)

    tracker, target = PrefixTracker("abcab"), "abcab"
    for end in range(len(output) + 1):
        distances = [distance(output[:end], target[:j]) for j in range(len(target) + 1)]
        assert tracker.places(output[:end]) == [j for j, d in enumerate(distances) if d == min(distances)]


@pytest.mark.parametrize("change", [{"inputs": ["ab"]}, {"inputs": ["a", "a"]}, {"log_probabilities": [0.0]},
                                    {"log_probabilities": [float("nan")] * 11}, {"more": 1}])
def test_damaged_costs_are_refused(change):
    edits = StochasticEdits.learn(PAIRS, 1)
    with pytest.raises(ValueError, match="learnt costs"):
        StochasticEdits.from_dict({**edits.as_dict(), **change})
