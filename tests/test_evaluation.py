import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.data.formats import NO_FEATURES, SIGMORPHON2016, SIGMORPHON2017
from il_morph.errors import InputError
from il_morph.evaluation.scores import evaluate, read_gold, read_predictions, score
from tests.shared import SHARED, needs_shared, reference_rows

PUBLISHED = SHARED / "data" / "published_predictions"

GOLD = "walk\tpos=V\twalked\ndog\tpos=N\tdogs\nrun\tpos=V\tran\n"


@pytest.fixture
def write(tmp_path):
    def write_file(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path
    return write_file


def distance(a, b):
    """Levenshtein distance by the book."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        previous, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
    return row[-1]


def test_scores():
    scores = score(["walked", "dogs", "ran"], [["walked"], ["dog"], ["runned", "ran"]], ["V", "N", "V"])
    assert scores.samples == 3
    assert scores.accuracy == pytest.approx(100 / 3)
    assert scores.levenshtein == pytest.approx((0 + 1 + 4) / 3)
    assert scores.normalised_levenshtein == pytest.approx((0 + 1 / 4 + 4 / 6) / 3)
    assert scores.mean_reciprocal_rank == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert scores.by_pos == {"N": (0.0, 1), "V": (50.0, 2)}


def test_two_empty_strings_are_equal():
    scores = score([""], [[""]], [""])
    assert (scores.accuracy, scores.normalised_levenshtein) == (100, 0)


@given(st.lists(st.tuples(st.text(max_size=6), st.text(max_size=6)), min_size=1, max_size=4))
def test_levenshtein_by_the_book(pairs):
    golds, outputs = zip(*pairs)
    scores = score(golds, [[output] for output in outputs], ["V"] * len(pairs))
    distances = [distance(*pair) for pair in pairs]
    assert scores.levenshtein == pytest.approx(sum(distances) / len(pairs))
    assert 0 <= scores.normalised_levenshtein <= 1
    assert scores.mean_reciprocal_rank == pytest.approx(scores.accuracy / 100)


def test_text_and_dictionary():
    scores = score(["a", "b", "c"], [["a"], ["b"], ["d"]], ["V", "V", "N"])
    lines = scores.as_text().splitlines()
    assert lines[0].split() == ["accuracy", "66.6667"]
    assert lines[1].split() == ["levenshtein", "0.33333"]
    assert lines[-1].split() == ["accuracy", "of", "V", "100.0000", "(2", "lines)"]
    assert json.loads(json.dumps(scores.as_dict()))["by_pos"]["N"] == {"accuracy": 0, "samples": 1}


def test_no_line_per_pos_without_features():
    assert "accuracy of" not in score(["a"], [["a"]], [""]).as_text()


@pytest.mark.parametrize("outputs", [["", "dogs", "ran"], ["", "", ""]])
def test_empty_predictions_are_predictions(write, outputs):
    keys = [line.rsplit("\t", 1)[0] for line in GOLD.splitlines()]
    predictions = write("predictions", "".join(f"{key}\t{y}\n" for key, y in zip(keys, outputs)))
    entries = read_predictions(predictions, SIGMORPHON2016)
    assert [entry.outputs for entry in entries] == [(output,) for output in outputs]
    scores = evaluate(read_gold(write("gold", GOLD), SIGMORPHON2016), entries, SIGMORPHON2016)
    assert scores.accuracy == pytest.approx(100 * sum(map(bool, outputs)) / 3)


def test_empty_predictions_of_the_other_formats(write):
    of_2017 = read_predictions(write("a", "walk\t\tV;PST\n"), SIGMORPHON2017)
    assert (of_2017[0].tag, of_2017[0].outputs) == ("V;PST", ("",))
    assert read_predictions(write("b", "walk\t\t\n"), NO_FEATURES)[0].outputs == ("",)
    assert read_predictions(write("c", "walk\t\n"), NO_FEATURES)[0].outputs == ("",)


def test_n_best_predictions(write):
    path = write("nbest", "walk\tpos=V\twalkd\t1\t-0.5\nwalk\tpos=V\twalked\t2\t-1e-3\n"
                          "dog\tpos=N\tdogs\t1\t-0.1\n"
                          "run\tpos=V\trun\t1\t-1\nrun\tpos=V\t\t2\t-2\nrun\tpos=V\tran\t3\t-inf\n")
    entries = read_predictions(path, SIGMORPHON2016)
    assert [entry.outputs for entry in entries] == [("walkd", "walked"), ("dogs",), ("run", "", "ran")]
    assert [entry.line for entry in entries] == [1, 3, 4]
    scores = evaluate(read_gold(write("gold", GOLD), SIGMORPHON2016), entries, SIGMORPHON2016)
    assert scores.accuracy == pytest.approx(100 / 3)
    assert scores.mean_reciprocal_rank == pytest.approx((1 / 2 + 1 + 1 / 3) / 3)


@pytest.mark.parametrize("fmt, line", [
    (SIGMORPHON2017, "walk\twalked\tV;PST\t1\t-0.5\n"),
    (NO_FEATURES, "walk\t\twalked\t1\t-0.5\n"),
    (NO_FEATURES, "walk\twalked\t1\t-0.5\n"),
])
def test_n_best_predictions_of_the_other_formats(write, fmt, line):
    assert read_predictions(write("nbest", line), fmt)[0].outputs == ("walked",)


@pytest.mark.parametrize("text, message", [
    ("a\tpos=V\tb\t2\t-1\n", "line 1: rank 2, but expected 1"),
    ("a\tpos=V\tb\t1\t-1\na\tpos=V\tc\t3\t-1\n", "line 2: rank 3, but expected 1 or 2"),
    ("a\tpos=V\tb\t1\t-1\nx\tpos=V\tc\t2\t-1\n", "line 2 has 'x' with 'pos=V', but .*line 1 has 'a'"),
    ("a\tpos=V\tb\tone\t-1\n", "line 1: the last two columns .*'one'"),
    ("a\tpos=V\tb\t1\t-1\na\tpos=V\tc\n", "line 2: 3 columns, but line 1 has 5"),
    ("input\tfeatures\toutput\trank\tlog\na\tpos=V\tb\t1\t-1\na\tpos=V\tc\n", "line 3: 3 columns, but line 2 has 5"),
    ("a\tpos=V\t1\t-1\n", "line 1: 4 columns, but predictions"),
    ("a\tpos=V\n", "line 1: 2 columns, but predictions"),
    ("a\tb\tV;PST\n", "does not look like the sigmorphon2016 format"),
])
def test_bad_predictions(write, text, message):
    with pytest.raises(InputError, match=message):
        read_predictions(write("predictions", text), SIGMORPHON2016)


@pytest.mark.parametrize("text, message", [
    ("walk\tpos=V\twalked\ndog\tpos=V\tdogs\n",
     "predictions, line 2 has 'dog' with 'pos=V', but .*gold, line 2 has 'dog' with 'pos=N'"),
    ("walk\tpos=V\twalked\ncat\tpos=N\tdogs\n", "predictions, line 2 has 'cat'.* but .*gold, line 2"),
    ("walk\tpos=V\twalked\n", "gold, line 2 has no counterpart in .*predictions, which ends at line 1"),
    (GOLD + "go\tpos=V\twent\n", "predictions, line 4 has no counterpart in .*gold"),
])
def test_predictions_for_other_lines(write, text, message):
    gold = read_gold(write("gold", GOLD), SIGMORPHON2016)
    with pytest.raises(InputError, match=message):
        evaluate(gold, read_predictions(write("predictions", text), SIGMORPHON2016), SIGMORPHON2016)


def test_gold_data_needs_outputs(write):
    with pytest.raises(InputError, match="has no outputs"):
        read_gold(write("gold", "walk\tpos=V\n"), SIGMORPHON2016)


# The authors' published predictions and the figures computed from all of them. The published
# files are those of a few languages, so not every figure can be computed anew.

ENSEMBLES = [("sigmorphon2016", "task1", model, language)
             for model in ("CA-D", "CA-R") for language in ("hungarian", "navajo", "turkish")]
ENSEMBLES += [("sigmorphon2017", "low", model, language)
              for model in ("CA-D", "CA-R") for language in ("albanian", "russian", "scottish-gaelic")]

SEEDS_2016 = [PUBLISHED / "sigmorphon2016" / "CA-D-AVG" / f"navajo_{n}_test.tsv" for n in range(1, 6)]
SEEDS_CELEX = [PUBLISHED / "celex" / "CA-D" / f"2PKE_0_{n}_test.tsv" for n in range(1, 6)]
TAGALOG = PUBLISHED / "lemmatization" / "CA-RM-AVG" / "tagalog_0_5_test.tsv"


def ensemble_file(dataset, setting, model, language):
    folder = dataset if dataset == "sigmorphon2016" else f"{dataset}-{setting}"
    return PUBLISHED / folder / f"{model}-E" / f"{language}_0_test.tsv"


def published(dataset, setting, model, kind, language):
    key = (dataset, setting, model, kind, language)
    rows = [row for row in reference_rows("published_results_summary.tsv")
            if key == tuple(row[column] for column in ("dataset", "setting", "model", "kind", "language"))]
    assert len(rows) == 1
    return rows[0]


def evaluated(capsys, gold, *predictions, flags=()):
    """The rows `il-morph evaluate --format=tsv` prints, by their first column."""
    assert main(["evaluate", "--format=tsv", *flags, str(gold), *map(str, predictions)]) == 0
    header, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    return {row[0]: dict(zip(header, row)) for row in rows}


@needs_shared
def test_all_published_predictions_are_looked_at():
    looked_at = {ensemble_file(*row) for row in ENSEMBLES} | {*SEEDS_2016, *SEEDS_CELEX, TAGALOG}
    assert looked_at == {path for path in PUBLISHED.rglob("*_test.*") if path.parent.name != "GOLD"}


@needs_shared
@pytest.mark.parametrize("dataset, setting, model, language", ENSEMBLES)
def test_published_ensembles(capsys, dataset, setting, model, language):
    """One file is the whole row: accuracy and Levenshtein distance to the last digit."""
    path = ensemble_file(dataset, setting, model, language)
    gold = path.parents[1] / "GOLD" / f"{language}_test.txt"
    flags = ["--sigm2017format"] if dataset == "sigmorphon2017" else []
    scores = evaluated(capsys, gold, path, flags=flags)[str(path)]
    row = published(dataset, setting, model, "ensemble", language)
    assert scores["accuracy"] == row["mean_accuracy"]
    assert scores["levenshtein"] == row["mean_levenshtein"]


@needs_shared
def test_published_single_models(capsys):
    """Five files are the whole row. Its Levenshtein distance is the mean of five rounded ones
    (270 edits in 5 x 458 lines are 0.117904), which is what the rows of our table are, too."""
    gold = PUBLISHED / "sigmorphon2016" / "GOLD" / "navajo_test.txt"
    rows = evaluated(capsys, gold, *SEEDS_2016)
    row = published("sigmorphon2016", "task1", "CA-D", "single", "navajo")
    assert rows["mean"]["accuracy"] == row["mean_accuracy"]
    assert rows["sd"]["accuracy"] == row["std_accuracy_sample"]
    assert rows["min"]["accuracy"] == row["min"]
    assert rows["max"]["accuracy"] == row["max"]
    assert rows["mean"]["levenshtein"] == row["mean_levenshtein"]


def by_hand(gold, predictions):
    """Accuracy and mean distance of three-column files whose last column is the output."""
    pairs = [(x.split("\t")[2], y.split("\t")[2])
             for x, y in zip(*(path.read_text(encoding="utf-8").split("\n")[:-1]
                               for path in (gold, predictions)))]
    return (f"{100 * sum(x == y for x, y in pairs) / len(pairs):.4f}",
            f"{sum(distance(x, y) for x, y in pairs) / len(pairs):.5f}")


@needs_shared
def test_published_celex_models(capsys):
    """The row is over 5 folds x 5 seeds, the files are the seeds of one fold: their accuracies
    lie within the row's. The two-column file of the task is the same gold data."""
    gold = PUBLISHED / "celex" / "GOLD" / "2PKE_0_test.tsv"
    rows = evaluated(capsys, gold, *SEEDS_CELEX, flags=["--no-feat-format"])
    row = published("celex", "bytask-500", "CA-D", "single", "2PKE")
    assert float(row["min"]) <= float(rows["min"]["accuracy"])
    assert float(rows["max"]["accuracy"]) <= float(row["max"])
    assert (rows[str(SEEDS_CELEX[0])]["accuracy"],
            rows[str(SEEDS_CELEX[0])]["levenshtein"]) == by_hand(gold, SEEDS_CELEX[0])
    raw = SHARED / "data" / "celex" / "2PKE-z" / "0500" / "0" / "test"
    assert evaluated(capsys, raw, *SEEDS_CELEX, flags=["--no-feat-format"]) == rows


@needs_shared
def test_published_lemmatization_model(capsys):
    """The row is over 10 folds, the file is one of them: its accuracy lies within the row's.
    One of its predictions is empty, and some inputs occur twice with two outputs."""
    gold = PUBLISHED / "lemmatization" / "GOLD" / "tagalog_0_test.txt"
    scores = evaluated(capsys, gold, TAGALOG, flags=["--no-feat-format"])[str(TAGALOG)]
    row = published("lemmatization", "wicentowski", "CA-RM", "single", "tagalog")
    assert float(row["min"]) <= float(scores["accuracy"]) <= float(row["max"])
    assert (scores["accuracy"], scores["levenshtein"]) == by_hand(gold, TAGALOG)
    assert ("",) in [entry.outputs for entry in read_predictions(TAGALOG, NO_FEATURES)]
