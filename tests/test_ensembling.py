from collections import Counter

import pytest

from il_morph.commands import main
from il_morph.data.formats import SIGMORPHON2016
from il_morph.errors import InputError
from il_morph.evaluation.scores import Entry
from il_morph.evaluation.voting import ensemble, ranked_ensemble, repaired, vote
from tests.shared import SHARED, needs_shared

PUBLISHED = SHARED / "data" / "published_predictions" / "sigmorphon2016"


@pytest.mark.parametrize("outputs, winner", [
    (["a"], "a"),
    (["a", "b", "b"], "b"),
    (["a", "b", "c"], "a"),
    (["c", "b", "a", "b", "a"], "b"),
    (["c", "a", "b", "b", "a"], "a"),
    (["", "a", ""], ""),
])
def test_vote(outputs, winner):
    assert vote(outputs) == winner


def model(*outputs, key="walk"):
    return [Entry("file", n, key, "pos=V", (output,)) for n, output in enumerate(outputs, start=1)]


@pytest.mark.parametrize("output, expected", [
    ("walkkkk", "walk"), ("kkkkwalk", "walk"), ("walkkk", "walkkk"), ("wakakakak", "wakakakak"), ("", ""),
    ("go    on", "walk"), ("aaaaa", "walk"), ("waalllkkk", "waalllkkk"),
])
def test_an_output_with_a_character_four_times_in_a_row_becomes_the_input(output, expected):
    entry = Entry("file", 1, "walk", "pos=V", (output, "walked"))
    assert repaired(entry) == Entry("file", 1, "walk", "pos=V", (expected, "walked"))


def test_three_quarters_of_the_models_vote_those_with_the_best_dev_accuracy():
    """Of 20 models the 15 best vote: eight of them say a, seven b. The other five say b, too, and do not count."""
    models = [model("b")] * 5 + [model("b")] * 7 + [model("a")] * 8
    accuracies = [10.0] * 5 + [20.0] * 7 + [30.0] * 8
    assert ranked_ensemble(models, accuracies, SIGMORPHON2016) == ["a"]
    assert ranked_ensemble(models, [50.0] * 5 + [40.0] * 7 + [30.0] * 8, SIGMORPHON2016) == ["b"]


def test_the_best_on_dev_decides_where_all_counts_are_equal():
    models = [model("a"), model("b"), model("c"), model("d")]
    assert ranked_ensemble(models, [1.0, 3.0, 2.0, 0.0], SIGMORPHON2016) == ["b"]
    assert ranked_ensemble(models, [2.0, 2.0, 2.0, 2.0], SIGMORPHON2016) == ["a"], "then the first named"


def test_outputs_are_repaired_before_they_are_counted():
    models = [model("waaaalk"), model("wkkkk"), model("b"), model("b"), model("x"), model("y")]
    assert ranked_ensemble(models, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], SIGMORPHON2016) == ["walk"]


def test_one_model_is_a_vote_of_its_own():
    assert ranked_ensemble([model("a", "b")], [0.0], SIGMORPHON2016) == ["a", "b"]


@pytest.fixture
def three_files(tmp_path):
    paths = [tmp_path / name for name in "123"]
    for path, output in zip(paths, ("walkkkk", "b", "b")):
        path.write_text(f"walk\tpos=V\t{output}\n")
    return list(map(str, paths))


@pytest.mark.parametrize("flags, winner", [([], "b"), (["--best=1"], "walkkkk"), (["--best=1", "--repair"], "walk"),
                                           (["--best=3", "--repair"], "b")])
def test_the_first_files_alone_may_vote_and_outputs_be_repaired(three_files, capsys, flags, winner):
    assert main(["ensemble", *flags, "-", *three_files]) == 0
    assert capsys.readouterr().out == f"walk\tpos=V\t{winner}\n"


@pytest.mark.parametrize("best", ["0", "4", "x"])
def test_more_files_than_there_are_cannot_vote(three_files, capsys, best):
    assert main(["ensemble", f"--best={best}", "-", *three_files]) == 2
    assert "--best takes a" in capsys.readouterr().err


def test_each_line_is_voted_on():
    models = [model("a", "x"), model("b", "y"), model("b", "z")]
    assert ensemble(models, SIGMORPHON2016) == ["b", "x"]


@pytest.mark.parametrize("other", [model("a"), model("a", "x", "y"), model("a", "x", key="run")])
def test_models_of_other_lines_cannot_vote(other):
    with pytest.raises(InputError, match="the files must have"):
        ensemble([model("a", "x"), model("a", "x"), other], SIGMORPHON2016)


def outputs_of(path):
    return [line.split("\t")[2] for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


@needs_shared
def test_vote_of_the_published_navajo_models(tmp_path, capsys):
    """The vote has the accuracy counted here by hand; the authors' own ensemble, which breaks
    ties in another way, has the same output wherever one output has the most votes."""
    files = [PUBLISHED / "CA-D-AVG" / f"navajo_{n}_test.tsv" for n in range(1, 6)]
    voted = tmp_path / "voted"
    assert main(["ensemble", str(voted), *map(str, files)]) == 0

    gold = outputs_of(PUBLISHED / "GOLD" / "navajo_test.txt")
    authors = outputs_of(PUBLISHED / "CA-D-E" / "navajo_0_test.tsv")
    expected, ties = [], 0
    for line, outputs in enumerate(zip(*map(outputs_of, files))):
        most = max(outputs.count(output) for output in outputs)
        tied = [output for output in outputs if outputs.count(output) == most]
        expected.append(tied[0])
        if len(Counter(tied)) == 1:
            assert authors[line] == tied[0]
        else:
            ties += 1
            assert authors[line] in tied
    assert ties > 0
    assert outputs_of(voted) == expected

    assert main(["evaluate", str(PUBLISHED / "GOLD" / "navajo_test.txt"), str(voted)]) == 0
    accuracy = 100 * sum(x == y for x, y in zip(gold, expected)) / len(gold)
    assert capsys.readouterr().out.split()[:2] == ["accuracy", f"{accuracy:.4f}"]
    singles = [sum(x == y for x, y in zip(gold, outputs_of(path))) for path in files]
    assert accuracy > 100 * sum(singles) / len(singles) / len(gold)
