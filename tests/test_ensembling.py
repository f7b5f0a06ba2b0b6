from collections import Counter

import pytest

from il_morph.commands import main
from il_morph.data.formats import SIGMORPHON2016
from il_morph.evaluation.voting import ensemble, vote
from il_morph.errors import InputError
from il_morph.evaluation.scores import Entry
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
