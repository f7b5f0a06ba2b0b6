"""`il-morph evaluate --train`, `--errors` and `--compare`."""
import json
import math
import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.evaluation.comparison import bootstrap, compare, mcnemar
from il_morph.evaluation.edits import edits
from tests.cli import error_of
from tests.shared import SHARED, needs_shared

TRAIN = "walk\twalked\tV;PST\ngo\twent\tV;PST\ndog\tdogs\tN;PL\n"
GOLD = ("walk\twalked\tV;PST\n"    # lemma seen, features seen
        "walk\twalks\tV;PRS\n"     # lemma seen, features unseen
        "talk\ttalked\tV;PST\n"    # lemma unseen, features seen; t is seen as an output
        "mix\tmixes\tV;PRS\n"      # lemma unseen, features unseen; m, i and x are unseen
        "dog\tdogs\tPL;N\n")       # the same features in another order
PREDICTED = GOLD.replace("walks", "walkes").replace("mixes", "mxis")
BETTER = GOLD.replace("mixes", "mixs")


@pytest.fixture
def files(tmp_path):
    paths = {}
    for name, text in (("train", TRAIN), ("gold", GOLD), ("first", PREDICTED), ("second", BETTER)):
        paths[name] = str(tmp_path / name)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return paths


def evaluated(capsys, *arguments):
    capsys.readouterr()
    assert main(["evaluate", *arguments]) == 0
    return capsys.readouterr().out


def groups(result, section):
    return {group["name"]: (group["lines"], group["accuracy"])
            for group in result["files"][0]["groups"] if group["section"] == section}


def test_accuracy_by_what_training_showed(files, capsys):
    result = json.loads(evaluated(capsys, "--format=json", f"--train={files['train']}", files["gold"], files["first"]))
    assert groups(result, "seen in training") == {
        "lemma seen, features seen": (2, 100), "lemma seen, features unseen": (1, 0),
        "lemma unseen, features seen": (1, 100), "lemma unseen, features unseen": (1, 0)}
    assert groups(result, "feature") == {
        "V": (4, 50), "PRS (unseen)": (2, 0), "PST": (2, 100), "N": (1, 100), "PL": (1, 100)}
    assert groups(result, "characters") == {"all seen": (4, 75), "unseen in input and output": (1, 0)}


def test_the_same_as_text_and_tsv(files, capsys):
    arguments = [f"--train={files['train']}", files["gold"], files["first"], files["second"]]
    lines = evaluated(capsys, *arguments).splitlines()
    assert "seen in training               lines  accuracy 1  accuracy 2" in lines
    assert "lemma seen, features unseen        1      0.0000    100.0000" in lines
    header, *rows = [line.split("\t") for line in evaluated(capsys, "--format=tsv", *arguments).splitlines()]
    assert header == ["section", "group", "lines", files["first"], files["second"]]
    assert ["feature", "PRS (unseen)", "2", "0.0000", "50.0000"] in rows


def test_without_features_only_lemmas_and_characters_count(tmp_path, capsys):
    train, gold = tmp_path / "train", tmp_path / "gold"
    train.write_text("walk\twalked\n")
    gold.write_text("walk\twalked\nlaw\tlawed\nzoo\tzooed\n")
    result = json.loads(evaluated(capsys, "--format=json", f"--train={train}", str(gold), str(gold)))
    assert groups(result, "seen in training") == {"lemma seen": (1, 100), "lemma unseen": (2, 100)}
    assert groups(result, "characters") == {"all seen": (2, 100), "unseen in input and output": (1, 100)}
    assert groups(result, "feature") == {}


def test_training_data_must_be_like_the_gold_data(files, tmp_path, capsys):
    other = tmp_path / "other"
    other.write_text("walk\tpos=V\twalked\n")
    message = error_of(capsys, "evaluate", f"--train={other}", files["gold"], files["first"])
    assert f"give data in the format that {files['gold']} has" in message


# Errors

def test_wrong_lines_are_listed_with_edits(files, capsys):
    text = evaluated(capsys, "--errors", files["gold"], files["first"])
    rows = [line.split() for line in text.splitlines()]
    assert "2 wrong lines" in text
    assert ["2", "walk", "V;PRS", "walks", "walkes", "5", *["w", "a", "l", "k", "-e", "s"]] in rows
    assert ["4", "mix", "V;PRS", "mixes", "mxis", "2", *["m", "-x", "i", "+x", "+e", "s"]] in rows
    result = json.loads(evaluated(capsys, "--errors", "--format=json", files["gold"], files["first"], files["gold"]))
    assert [len(file["errors"]) for file in result["files"]] == [2, 0]
    assert result["files"][0]["errors"][0] == {"line": 2, "input": "walk", "features": "V;PRS", "gold": "walks",
                                               "prediction": "walkes", "wrong_from": 5, "edits": "w a l k -e s"}
    table = evaluated(capsys, "--errors", "--format=tsv", files["gold"], files["first"])
    rows = [line.split("\t") for line in table.splitlines()]
    assert rows[0] == ["file", "line", "input", "features", "gold", "prediction", "wrong_from", "edits"]
    assert rows[1][:2] == [files["first"], "2"]


words = st.text("ab ", max_size=6)


@given(words, words)
def test_edits_turn_the_prediction_into_the_gold_output(prediction, gold):
    script = edits(prediction, gold).split(" ") if prediction + gold else []
    plain = [part.replace("␣", " ") for part in script]
    assert "".join(part[-1] for part in plain if not part.startswith("-")) == gold
    assert "".join(part[-1] for part in plain if not part.startswith("+")) == prediction
    fewest = len(prediction) + len(gold) - 2 * longest_common_subsequence(prediction, gold)
    assert sum(len(part) == 2 for part in plain) == fewest


def longest_common_subsequence(one, other):
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest_common_subsequence(one[1:], other[1:])
    return max(longest_common_subsequence(one[1:], other), longest_common_subsequence(one, other[1:]))


# Comparing

@given(st.integers(0, 6), st.integers(0, 6))
def test_mcnemar_counts_all_divisions(first, second):
    """All ways in which the lines can fall, each as likely as the others."""
    total = first + second
    uneven = sum(abs(2 * sum(options) - total) >= abs(first - second) for options in product((0, 1), repeat=total))
    assert mcnemar(first, second) == pytest.approx(uneven / 2**total)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_exact(first, second):
    total, fewer = first + second, min(first, second)
    assert mcnemar(first, second) == min(1.0, 2 * sum(math.comb(total, k) for k in range(fewer + 1)) / 2**total)


def test_mcnemar_by_hand():
    assert mcnemar(0, 0) == 1
    assert mcnemar(0, 5) == pytest.approx(2 / 32)
    assert mcnemar(1000, 1300) < 1e-9 < mcnemar(1150, 1150) == 1


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 8), st.integers(0, 8), st.integers(1, 20))
def test_the_bootstrap_draws_what_resampled_lines_give(first, second, same):
    """Mean and standard deviation of the differences are those of sums over lines drawn with replacement."""
    lines = first + second + same
    drawn = bootstrap(lines, first, second, 4000, seed=3)
    mean = second - first
    variance = (first + second) - mean**2 / lines
    assert sum(drawn) / len(drawn) == pytest.approx(mean, abs=5 * math.sqrt(variance / 4000) + 1e-9)
    assert sum((each - mean)**2 for each in drawn) / len(drawn) == pytest.approx(variance, rel=0.15, abs=1e-9)
    assert drawn == bootstrap(lines, first, second, 4000, seed=3)


def test_the_bootstrap_agrees_with_one_that_draws_lines():
    chance = random.Random(5)
    differences = [1] * 14 + [-1] * 6 + [0] * 30
    slow = [sum(chance.choices(differences, k=50)) for _ in range(4000)]
    fast = bootstrap(50, 6, 14, 4000, seed=5)
    for limit in range(-2, 20, 3):
        below = [sum(each <= limit for each in drawn) / 4000 for drawn in (slow, fast)]
        assert below[0] == pytest.approx(below[1], abs=0.04)


def test_a_clear_difference_and_none():
    right, wrong = [True] * 200, [False] * 20 + [True] * 180
    clear = compare(wrong, right)
    assert (clear.difference, clear.only_first, clear.only_second) == (10, 0, 20)
    assert clear.low > 0 and clear.bootstrap_p < 0.001 and clear.mcnemar_p < 1e-5
    none = compare(right, right)
    assert (none.difference, none.low, none.high, none.bootstrap_p, none.mcnemar_p) == (0, 0, 0, 1, 1)


def test_two_files_are_compared(files, capsys):
    arguments = ["--compare", files["gold"], files["first"], files["second"]]
    result = json.loads(evaluated(capsys, "--format=json", *arguments))
    assert result["comparison"]["difference"] == pytest.approx(20)
    assert (result["comparison"]["only_first"], result["comparison"]["only_second"]) == (0, 1)
    assert result["summary"]["mean"]["accuracy"] == pytest.approx(70)
    text = evaluated(capsys, *arguments)
    assert "difference (second - first)  +20.0000" in text and "p (McNemar, exact)           1.0000" in text
    other = json.loads(evaluated(capsys, "--format=json", "--seed=2", "--resamples=500", *arguments))["comparison"]
    assert (other["seed"], other["resamples"]) == (2, 500)
    header, row = [line.split("\t") for line in evaluated(capsys, "--format=tsv", *arguments).splitlines()]
    assert dict(zip(header, row))["only_second"] == "1"


@pytest.mark.parametrize("flags, number, message", [
    (["--compare"], 1, "--compare takes two files of predictions, not 1"),
    (["--compare"], 3, "--compare takes two files of predictions, not 3"),
    (["--compare", "--errors", "--format=tsv"], 2, "--format=tsv prints one table: give --errors or --compare"),
    (["--seed=5"], 2, "--seed needs --compare: add it, or leave out --seed"),
    (["--resamples=200"], 1, "--resamples needs --compare: add it, or leave out --resamples"),
    (["--compare", "--resamples=0"], 2, "--resamples takes a whole number from 100 up"),
    (["--compare", "--seed=-1"], 2, "--seed takes a whole number from 0 up, not '-1'"),
])
def test_bad_flags(files, capsys, flags, number, message):
    assert error_of(capsys, "evaluate", *flags, files["gold"], *[files["first"]] * number).startswith(message)


@needs_shared
def test_published_predictions_are_compared(capsys):
    folder = SHARED / "data" / "published_predictions" / "sigmorphon2017-low"
    predictions = [str(folder / f"{model}-E/albanian_0_test.tsv") for model in ("CA-R", "CA-D")]
    result = json.loads(evaluated(
        capsys, "--compare", "--format=json", f"--train={SHARED / 'data/sigmorphon2017/task1/albanian-train-low'}",
        str(folder / "GOLD/albanian_test.txt"), *predictions))
    assert result["comparison"]["difference"] == pytest.approx(30.9 - 32.4)
    partition = groups(result, "seen in training")
    assert sum(lines for lines, _ in partition.values()) == 1000
    assert sum(lines * accuracy for lines, accuracy in partition.values()) == pytest.approx(32400)
