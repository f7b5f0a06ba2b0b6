"""Alignments against those of the authors' program, and the laws every alignment keeps."""
import json
import math
from collections import Counter
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from il_morph.data.formats import RESERVED, SIGMORPHON2017, read_samples
from il_morph.transitions.aligners import ALIGNERS, GAP, _Block, align_crp, align_dumb, align_lcs, try_reverse
from il_morph.transitions.systems import SYSTEMS
from tests.shared import SHARED, needs_shared, shared_files

EDITS, HARD = SYSTEMS["haem"], SYSTEMS["hard"]
LANGUAGES = ["english", "arabic", "turkish", "navajo", "irish", "german", "hungarian"]
ALL_ALIGNERS = [align_lcs, align_dumb, partial(align_crp, iterations=3)]
ALL_ALIGNERS += [partial(try_reverse, aligner) for aligner in ALL_ALIGNERS]
TURKISH = [("havra", "havraların"), ("deve", "develeri"), ("zorluk", "zorluğun"),
           ("ayılmak", "ayıldık"), ("batmak", "batmadılar mı?"), ("deve", "develer")]

characters = st.characters(blacklist_categories=["Cs"], blacklist_characters="".join(RESERVED))
words = st.text("ab ", max_size=8) | st.text(characters, max_size=8)
pair_lists = st.lists(st.tuples(words, words), max_size=6)


def low_pairs(language):
    path = SHARED / "data" / "sigmorphon2017" / "task1" / f"{language}-train-low"
    return [(sample.input, sample.output) for sample in read_samples(path, SIGMORPHON2017)]


def reference_statistics(language, aligner):
    path = SHARED / "reference" / "aligner_statistics.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    row, = [row for row in rows if (row["language"], row["aligner"]) == (language, aligner)]
    return row


def statistics(aligned):
    """The figures of the reference file, which counts the COPY before the first action too."""
    actions = Counter()
    for pair in aligned:
        actions.update(["<COPY>"] + EDITS.gold(*pair))
    total = sum(actions.values())
    return {"copy_frequency": round(actions["<COPY>"] / total, 4),
            "delete_frequency": round(actions["<DEL>"] / total, 4),
            "mean_actions": round(total / len(aligned), 2)}


def run_edit_actions(source, actions):
    position, output = 0, ""
    for action in actions[:-1]:
        if action == "<COPY>":
            output += source[position]
        elif action != "<DEL>":
            output += action
        position += action in ("<COPY>", "<DEL>")
    assert position == len(source) and actions[-1] == "⟫"
    return output


def run_hard_actions(source, actions):
    """Here the buffer is the wrapped input and BEGIN has not been read yet."""
    position = actions.count("<STEP>")
    assert position == len(source) + 1 and actions[-2:] == ["<STEP>", "⟫"]
    return "".join(action for action in actions[:-1] if action != "<STEP>")


ALIGNED = shared_files("reference/lcs_alignments*.jsonl")


@needs_shared
def test_there_are_alignments_of_the_authors():
    assert SHARED / "reference" / "lcs_alignments.jsonl" in ALIGNED


@needs_shared
@pytest.mark.parametrize("path", ALIGNED, ids=lambda path: path.stem)
def test_lcs_alignments_and_actions_are_those_of_the_authors(path):
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    assert len(rows) == 350 or path.name != "lcs_alignments.jsonl"
    aligned = align_lcs([(row["input"], row["output"]) for row in rows])
    for row, (left, right) in zip(rows, aligned):
        assert f"⟪{left}⟫" == row["aligned_input"]
        assert f"⟪{right}⟫" == row["aligned_output"]
        assert ["<COPY>"] + EDITS.gold(left, right) == row["edit_actions"]
        assert ["⟪"] + HARD.gold(left, right) == row["hard_actions"]


@needs_shared
@pytest.mark.parametrize("language", LANGUAGES)
def test_lcs_statistics_are_those_of_the_authors(language):
    expected = reference_statistics(language, "lcs")
    found = statistics(align_lcs(low_pairs(language)))
    assert found == {name: expected[name] for name in found}


@needs_shared
@pytest.mark.parametrize("language", LANGUAGES)
def test_crp_statistics_are_near_those_of_the_authors(language):
    expected = reference_statistics(language, "crp")
    pairs = low_pairs(language)
    for seed in (1, 2):
        found = statistics(align_crp(pairs, iterations=40, seed=seed))
        assert found["copy_frequency"] >= expected["copy_frequency"] - 0.02
        assert found["delete_frequency"] <= expected["delete_frequency"] + 0.02


@needs_shared
@pytest.mark.parametrize("language", ["arabic", "navajo"])
def test_crp_finds_at_least_as_many_copies_as_lcs(language):
    pairs = low_pairs(language)
    copies = [sum(EDITS.gold(*pair).count("<COPY>") for pair in aligned)
              for aligned in (align_lcs(pairs), align_crp(pairs, iterations=20))]
    assert copies[1] >= copies[0]


@pytest.mark.parametrize("source, target, left, right", [
    ("walk", "walked", "walk〰〰", "walked"),
    ("aufgeben", "gebest auf", "aufgeben〰〰〰〰〰", "〰〰〰gebest auf"),
    ("neiyé", "naahhé", "neiyé〰", "naahhé"),
    ("a b", "xa yb", "〰a 〰b", "xa yb"),
    ("a b", "xa y b", "〰a b〰〰", "xa y b"),
    ("ab", "xyz", "ab〰", "xyz"),
    ("", "ab", "〰〰", "ab"),
    ("ab", "", "ab", "〰〰"),
])
def test_lcs_examples(source, target, left, right):
    assert align_lcs([(source, target)]) == [(left, right)]


def test_dumb_pads_the_shorter_on_the_right():
    assert align_dumb([("ab", "xabc"), ("xabc", "ab")]) == [("ab〰〰", "xabc"), ("xabc", "ab〰〰")]


def test_crp_learns_prefixes_suffixes_and_substitutions():
    aligned = align_crp([("spielen", "gespielt"), ("sagen", "gesagt"), ("fragen", "gefragt"),
                         ("baum", "bäume"), ("raum", "räume"), ("saum", "säume")], iterations=50)
    assert aligned[3:] == [("baum〰", "bäume"), ("raum〰", "räume"), ("saum〰", "säume")]
    assert all(left.startswith("〰〰") for left, _ in aligned[:3])


def test_edit_actions_delete_before_they_insert():
    assert EDITS.gold("ab〰c", "xbyc") == ["<DEL>", "x", "<COPY>", "y", "<COPY>", "⟫"]
    assert EDITS.gold("〰ab", "xyb") == ["<DEL>", "x", "y", "<COPY>", "⟫"]
    assert EDITS.gold("", "") == ["⟫"]


def test_hard_actions_step_when_the_next_input_character_is_due():
    assert HARD.gold("ab〰c", "x〰yc") == ["<STEP>", "x", "<STEP>", "y", "<STEP>", "c", "<STEP>", "⟫"]
    assert HARD.gold("〰a", "xa") == ["x", "<STEP>", "a", "<STEP>", "⟫"]
    assert HARD.gold("", "") == ["<STEP>", "⟫"]


@pytest.mark.parametrize("aligner", ALL_ALIGNERS)
@settings(deadline=None, max_examples=60)
@given(pairs=pair_lists)
def test_laws_of_alignments(aligner, pairs):
    aligned = aligner(pairs)
    assert [(left.replace(GAP, ""), right.replace(GAP, "")) for left, right in aligned] == pairs
    for (left, right), (source, target) in zip(aligned, pairs):
        assert len(left) == len(right)
        assert (GAP, GAP) not in zip(left, right)
        assert run_edit_actions(source, EDITS.gold(left, right)) == target
        assert run_hard_actions(source, HARD.gold(left, right)) == target


def test_crp_same_seed_same_alignments():
    first, again = (align_crp(TURKISH, iterations=20, seed=7) for _ in range(2))
    assert first == again
    rng = np.random.default_rng(7)
    assert align_crp(TURKISH, iterations=20, seed=rng) == first


@settings(deadline=None, max_examples=20)
@given(order=st.permutations(range(len(TURKISH))))
def test_crp_does_not_depend_on_the_order_of_the_pairs(order):
    aligned = align_crp(TURKISH, iterations=5)
    assert align_crp([TURKISH[n] for n in order], iterations=5) == [aligned[n] for n in order]


def test_crp_reports_progress_on_every_sweep():
    seen = []

    def progress(sweeps):
        for sweep in sweeps:
            seen.append(sweep)
            yield sweep

    align_crp(TURKISH, iterations=4, progress=progress)
    assert seen == [0, 1, 2, 3]


def test_crp_takes_fewer_iterations_than_the_burn_in_but_not_none():
    assert len(align_crp(TURKISH, iterations=1, burn_in=5)) == len(TURKISH)
    with pytest.raises(ValueError, match="at least one iteration"):
        align_crp(TURKISH, iterations=0)


def test_crp_aligns_strings_of_very_different_lengths():
    pairs = [("a" * 400, "b"), ("c", "d" * 400), ("ab" * 200, "ab" * 200)]
    aligned = align_crp(pairs, iterations=2)
    assert [(left.replace(GAP, ""), right.replace(GAP, "")) for left, right in aligned] == pairs


def test_crp_draws_alignments_as_often_as_they_are_probable():
    source, target, draws = "abc", "de", 20000
    index = {symbol: number for number, symbol in enumerate(source + target, start=1)}
    block = _Block([(source, target)] * draws, list(range(draws)), index)
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(len(index) + 1) ** 2)
    weights = {}
    for size in range(3):
        for links in (zip(xs, ys) for xs in combinations(source, size)
                      for ys in combinations(target, size)):
            keys = [index[x] * (len(index) + 1) + index[y] for x, y in links]
            weights[frozenset(keys)] = math.exp(sum(scores[keys]))
    links = [[] for _ in range(draws)]
    for pair, i, j in block._trace_back(*block._fill(scores, np.logaddexp), rng.random):
        for number in np.flatnonzero((i > 0) & (j > 0)):
            key = block.columns[i[number] + j[number], i[number], pair[number]]
            links[pair[number]].append(key)
    found = Counter(map(frozenset, links))
    assert set(found) <= set(weights)
    for drawn, weight in weights.items():
        assert found[drawn] / draws == pytest.approx(weight / sum(weights.values()), abs=0.015)


def test_try_reverse_keeps_the_direction_with_more_copies():
    pairs = [("abc", "xabc"), ("bc", "xxbc")]
    assert try_reverse(align_dumb, pairs) == [("〰abc", "xabc"), ("〰〰bc", "xxbc")]
    suffixes = [("abc", "abcx"), ("abc", "yabc"), ("abcd", "abcde")]
    assert try_reverse(align_dumb, suffixes) == align_dumb(suffixes)
    tie = [("ab", "xyz")]
    assert try_reverse(align_dumb, tie) == align_dumb(tie)


def test_aligners_by_the_name_of_their_flag():
    assert {"cls": align_lcs, "dumb": align_dumb, "smart": align_crp} == ALIGNERS
