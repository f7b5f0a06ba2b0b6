"""Paired tests of experiments/analysis against counting by hand, and the pairs that they are made of."""
import itertools
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from il_morph.reproduction.paper_tables import load_table
from il_morph.reproduction.published import SINGLE, VOTE, load_published
from tests.analysis import script
from tests.test_published import a_run

sign_test, signed_rank_test = script("significance").sign_test, script("significance").signed_rank_test


def chance(differences, statistic):
    """The share of all choices of signs whose statistic is as far from its mean, counted one by one."""
    differing = [each for each in differences if each]
    mean = statistic([abs(each) for each in differing]) / 2
    far = abs(statistic(differing) - mean)
    signs = list(itertools.product((1, -1), repeat=len(differing)))
    return sum(abs(statistic([sign * each for sign, each in zip(chosen, differing)]) - mean) >= far - 1e-9
               for chosen in signs) / len(signs)


def positives(differences):
    return sum(each > 0 for each in differences)


def positive_ranks(differences):
    sizes = sorted(map(abs, differences))
    ranks = {size: statistics.fmean(i for i, other in enumerate(sizes, start=1) if other == size) for size in sizes}
    return sum(ranks[abs(each)] for each in differences if each > 0)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9).filter(any))
def test_paired_tests_count_all_choices_of_signs(differences):
    assert sign_test(differences) == pytest.approx(chance(differences, positives))
    assert signed_rank_test(differences) == pytest.approx(chance(differences, positive_ranks))


@given(st.lists(st.integers(-30, 30), min_size=2, max_size=60).filter(any))
def test_paired_tests_do_not_care_which_system_is_the_first(differences):
    for test in (sign_test, signed_rank_test):
        assert 0 < test(differences) <= 1
        assert test(differences) == pytest.approx(test([-each for each in differences]))


def test_paired_tests_of_known_cases():
    assert sign_test([1] * 6) == signed_rank_test([1, 2, 3, 4, 5, 6]) == pytest.approx(2 / 64)
    # ten pairs of W. Gosset's sleeping drugs: no tie is larger, one is none
    assert signed_rank_test([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]) == pytest.approx(2 / 2 ** 9)
    assert sign_test([0.0, 0.0]) is None and signed_rank_test([]) is None


@given(st.sets(st.integers(1, 99), min_size=1, max_size=30), st.randoms())
def test_without_ties_the_signed_rank_test_is_that_of_scipy(sizes, random):
    differences = [random.choice((1, -1)) * size for size in sizes]
    from_scipy = script("significance").stats.wilcoxon(differences, method="exact").pvalue
    assert signed_rank_test(differences) == pytest.approx(from_scipy)


def test_rounding_makes_no_difference():
    assert sign_test([0.1 + 0.2 - 0.3, 1, 1]) == sign_test([1, 1])
    assert signed_rank_test([0.3, -(0.1 + 0.2), 5]) == signed_rank_test([0.3, -0.3, 5])


def paired_tests(table, runs):
    pairs = script("compare").paired(table, load_published(table), script("frames").runs_frame(table, runs))
    return [(setting, kind, whose, first, second, tuple(by)) for setting, kind, whose, first, second, by in pairs]


def test_two_systems_are_compared_on_the_languages_that_both_have():
    table = load_table("sigmorphon2017")
    languages = list(table.languages)[:8]
    runs = [a_run("low", "ca-d", language, 50.0) for language in languages[:7]]
    runs += [a_run("low", "ca-r", language, 51.0 + i) for i, language in enumerate(languages[1:])]
    runs += [a_run("low", "ca-r-uniform", language, 90.0) for language in languages]
    runs += [a_run("low", "ca-d", language, 50.0, "1+2+3+4+5") for language in languages]
    runs += [a_run("low", "ca-r", language, 49.0, "1+2+3+4+5") for language in languages[:6]]
    votes, published, singles, beside_singles = paired_tests(table, runs)
    assert singles == ("low", SINGLE, "ours", "ca-r", "ca-d", (1, 2, 3, 4, 5, 6))
    assert sign_test(singles[-1]) == signed_rank_test(singles[-1]) == 2 / 64
    assert votes == ("low", VOTE, "ours", "ca-r", "ca-d", (-1,) * 6)
    figures = load_published(table)
    for test, own in ((published, languages[:6]), (beside_singles, languages[1:7])):
        assert test[1:3] == (VOTE, "published"), "no single models of these were published"
        assert test[-1] == tuple(
            figures.find("low", "CA-R", VOTE, language, "-").accuracy
            - figures.find("low", "CA-D", VOTE, language, "-").accuracy for language in own)


def test_few_languages_are_not_tested():
    table = load_table("sigmorphon2017")
    runs = [a_run("low", model, language, 50.0) for model in ("ca-d", "ca-r") for language in list(table.languages)[:5]]
    assert paired_tests(table, runs) == []


def test_folds_are_pairs_of_their_own():
    table = load_table("celex")
    runs = [a_run("0500", model, language, accuracy, fold=fold) for model, accuracy in (("ca-d", 50.0), ("ca-r", 51.0))
            for language in table.languages for fold in "01"]
    (*_, differences), = paired_tests(table, runs)
    assert len(differences) == 8 and sign_test(differences) == 2 / 256
