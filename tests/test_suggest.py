"""`il-morph suggest` and `il_morph.suggest`: which words to ask next."""
import pytest

import il_morph
from il_morph.commands import main
from il_morph.data.formats import format_named, read_data, read_samples
from il_morph.errors import InputError
from il_morph.model.combination import VotingPredictor
from il_morph.model.modelfile import save_model
from il_morph.model.predictor import Predictor
from il_morph.model.suggestions import Suggestion, answered, combined, drawn, spread
from tests.cli import SHORT, SMALL, TRAIN, Data, as_2017, error_of
from tests.random_models import SAMPLES, TAGGED, random_model

POOL = "jump\t\tV;PST\njump\t\tV;PRS\nhop\t\tV;PST\nrat\t\tN;PL\nwalk\t\tV;PST\ntax\t\tN;PL\n"


def unsure(text: str, tag: str, probability: float) -> Suggestion:
    return Suggestion(text, tag, "?", probability)


def choice_of(found, number) -> list:
    return [(each.input, each.features) for each in spread(found, number)]


# The rule

def test_the_least_sure_comes_first():
    assert choice_of([unsure("a", "V", 0.9), unsure("b", "V", 0.2), unsure("c", "V", 0.5)], 2) == [
        ("b", "V"), ("c", "V")]


def test_bundles_get_questions_in_proportion_to_the_errors_that_are_expected():
    hard = [unsure(f"h{number}", "V", 0.25) for number in range(8)]
    easy = [unsure(f"e{number}", "N", 0.75) for number in range(8)]
    sure = [unsure(f"s{number}", "ADJ", 1.0) for number in range(8)]
    tags = [tag for _, tag in choice_of([*easy, *hard, *sure], 8)]
    assert (tags.count("V"), tags.count("N"), tags.count("ADJ")) == (6, 2, 0)


def test_an_input_is_asked_again_when_all_others_have_been_asked():
    found = [unsure("a", "V", 0.1), unsure("a", "N", 0.5), unsure("b", "N", 0.6)]
    assert choice_of(found, 3) == [("a", "V"), ("b", "N"), ("a", "N")]


def test_there_are_no_more_questions_than_pairs():
    assert len(choice_of([unsure("a", "V", 1.0), unsure("b", "N", 0.5)], 50)) == 2


def test_inputs_are_combined_with_the_bundles_of_their_part_of_speech():
    pairs = combined({"walk": {"V"}, "dog": {"N"}, "new": set()}, ["V;PST", "V;PRS", "N;PL"], lambda tag: tag[0],
                     {("walk", "V;PST")})
    assert list(pairs) == [("walk", "V;PRS"), ("dog", "N;PL"), ("new", "N;PL"), ("new", "V;PST"), ("new", "V;PRS")]


def test_too_many_pairs_are_drawn_by_the_seed():
    def pairs():
        return ((str(number), "V") for number in range(100))

    some, total = drawn(pairs, 10, seed=1)
    assert (len(some), total) == (10, 100)
    assert some == drawn(pairs, 10, seed=1)[0] != drawn(pairs, 10, seed=2)[0]
    assert drawn(pairs, 100, seed=1) == (list(pairs()), 100)


def test_models_that_disagree_are_less_sure():
    one, other = (Predictor(random_model(seed, scale=2.0)) for seed in (0, 1))
    both = VotingPredictor([one, other])
    for sample, alone, together in zip(TAGGED, answered(one, TAGGED, 4), answered(both, TAGGED, 4)):
        rest = {each.output: 0.0 for member in (one, other) for each in member.ranked([sample], None)[0]}
        for member in (one, other):
            for each in member.ranked([sample], None)[0]:
                rest[each.output] += each.probability / 2
        assert together.probability == pytest.approx(max(rest.values()))
        assert rest[together.output] == max(rest.values())
        assert alone.input == together.input == sample.input


# The command

@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suggest")
    data = Data(folder)
    (folder / "pool").write_text(POOL, encoding="utf-8")
    assert main(["train", "--engine=native", *SMALL, *SHORT, data("train"), data("dev"), str(folder / "results")]) == 0
    return folder


@pytest.fixture
def folder(trained, monkeypatch):
    """Recorded data is read below the current folder."""
    monkeypatch.chdir(trained)
    return trained


def asked(capsys, *arguments) -> list:
    capsys.readouterr()
    assert main(["suggest", *map(str, arguments)]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_without_a_pool_it_asks_what_the_paradigms_of_the_training_data_lack(folder, capsys):
    rows = asked(capsys, "results")
    assert {(row[0], row[2]) for row in rows} == {("dog", "N;SG"), ("cat", "N;SG"), ("ox", "N;SG"), ("geese", "N;PL")}
    assert {row[1] for row in rows} == {""}


def test_a_pool_is_asked_but_for_training_and_dev_data(folder, capsys):
    rows = asked(capsys, "results", "pool")
    assert sorted((row[0], row[2]) for row in rows) == [
        ("hop", "V;PST"), ("jump", "V;PRS"), ("jump", "V;PST"), ("rat", "N;PL")]
    assert [row[0] for row in asked(capsys, "results", "pool", "--pos=N")] == ["rat"]
    assert len(asked(capsys, "results/f.model", "pool", "--n=2")) == 2
    assert len(asked(capsys, "results", "pool", "--look-at=1")) == 1


def test_lemmas_are_asked_with_the_bundles_of_a_part_of_speech(folder, capsys):
    (folder / "lemmas").write_text("hop\njump\ntalk\n", encoding="utf-8")
    rows = asked(capsys, "results", "lemmas", "--lemmas", "--pos=V")
    assert sorted((row[0], row[2]) for row in rows) == [(word, tag) for word in ("hop", "jump")
                                                        for tag in ("V;PRS", "V;PST")]


def test_it_is_the_choice_of_python(folder, capsys):
    pairs = [("jump", "V;PST"), ("jump", "V;PRS"), ("hop", "V;PST"), ("rat", "N;PL")]
    chosen = il_morph.suggest(il_morph.load("results"), pairs, n=3)
    assert [[each.input, "", each.features] for each in chosen] == asked(capsys, "results", "pool", "--n=3")
    assert all(0 <= each.probability <= 1 for each in chosen)
    with pytest.raises(InputError, match="n takes a whole number from 1 up"):
        il_morph.suggest(il_morph.load("results"), pairs, n=0)
    with pytest.raises(InputError, match="suggest takes a model"):
        il_morph.suggest("results", pairs)


@pytest.mark.parametrize("name", ["sheet.tsv", "sheet.xlsx"])
def test_a_filled_sheet_is_training_data(folder, capsys, tmp_path, name):
    sheet = tmp_path / name
    assert asked(capsys, "results", "pool", f"--output={sheet}") == []
    if name.endswith("xlsx"):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.load_workbook(sheet)
        rows = book.worksheets[0]
        assert [cell.value for cell in rows[1]] == ["input", "output", "features"]
        for number in range(2, rows.max_row + 1):
            rows.cell(number, 2).value = f"{rows.cell(number, 1).value}ed"
        book.save(sheet)
    else:
        sheet.write_text(as_2017(TRAIN) + sheet.read_text(encoding="utf-8").replace("\t\t", "\tforms\t"),
                         encoding="utf-8")
    assert main(["train", "--engine=native", *SMALL, *SHORT, str(sheet), "dev", str(tmp_path / "results")]) == 0


def test_a_half_filled_sheet_is_refused_with_what_to_do(folder, capsys, tmp_path):
    (folder / "half").write_text("hop\thopped\tV;PST\njump\t\tV;PST\nrat\t\tN;PL\n", encoding="utf-8")
    assert error_of(capsys, "train", "half", "dev", str(tmp_path / "results")) == (
        "half, line 2: no output, but other lines have one; fill in the 2 of 3 lines without one, or delete them\n")


def test_a_sheet_without_features_has_two_columns(tmp_path, capsys):
    save_model(tmp_path / "f.model", random_model(format="no-features", pos_emb=False))
    (tmp_path / "pool").write_text("walk\nsing\n", encoding="utf-8")
    assert asked(capsys, tmp_path, tmp_path / "pool") in ([["walk", ""], ["sing", ""]], [["sing", ""], ["walk", ""]])
    assert "give a POOL" in error_of(capsys, "suggest", str(tmp_path))


@pytest.mark.parametrize("columns", ["sigmorphon2016", "input,-,output,features:;", "input,features,features,output:;"])
def test_a_sheet_has_the_columns_of_the_training_data(tmp_path, capsys, columns):
    fmt, samples = format_named(columns), SAMPLES.get(columns, TAGGED)
    save_model(tmp_path / "f.model", random_model(format=columns, samples=samples))
    lines = [fmt.line(sample, sample.output) for sample in samples]
    (tmp_path / "train").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    rows = asked(capsys, tmp_path, f"--train={tmp_path / 'train'}", "--n=3")
    assert len(rows) == 3 and all(row[fmt.columns.index("output")] == "" for row in rows)
    (tmp_path / "sheet").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    assert {sample.tag for sample in read_samples(tmp_path / "sheet", fmt)} <= {sample.tag for sample in samples}


def test_the_header_row_of_a_spreadsheet_says_what_is_ignored(tmp_path, capsys):
    openpyxl, sheet = pytest.importorskip("openpyxl"), tmp_path / "sheet.xlsx"
    save_model(tmp_path / "f.model", random_model(format="input,-,output,features:;", samples=TAGGED))
    (tmp_path / "pool").write_text("bake\t7\t\tV;PST\nrat\t8\t\tN;PL\n", encoding="utf-8")
    asked(capsys, tmp_path, tmp_path / "pool", f"--output={sheet}")
    book = openpyxl.load_workbook(sheet)
    for number, form in ((2, "one"), (3, "other")):
        book.worksheets[0].cell(number, 3).value = form
    book.save(sheet)
    data = read_data(sheet, need_output=True)
    assert {(sample.input, sample.tag) for sample in data.samples} == {("bake", "V;PST"), ("rat", "N;PL")}


def test_seeds_are_asked_together(folder, capsys, tmp_path):
    for seed in (1, 2):
        (tmp_path / str(seed)).mkdir()
        save_model(tmp_path / str(seed) / "f.model", random_model(seed, samples=TAGGED))
    (tmp_path / "pool").write_text("sing\t\tV;PST\nmouse\t\tN;PL;ERG\n", encoding="utf-8")
    assert {row[0] for row in asked(capsys, tmp_path, tmp_path / "pool")} == {"sing", "mouse"}


@pytest.mark.parametrize("flags, message", [
    (["--n=0"], "--n takes a whole number from 1 up"),
    (["--lemmas"], "--lemmas is about POOL"),
    (["--output=train", "--force"], "train is data that is read"),
    (["--output=results/f.model", "--force"], "results/f.model is the model itself"),
    (["--output=dev"], "dev exists already"),
    (["--pos=X"], "the training data has no part of speech 'X'"),
    (["pool", "--pos=X"], "pool has no part of speech 'X'"),
    (["train"], "there is nothing left to ask"),
    (["pool", "--beam-width=0"], "--beam-width takes a whole number from 1"),
    (["--train=nowhere"], "cannot read nowhere"),
])
def test_bad_arguments_of_suggest(folder, capsys, flags, message):
    said = error_of_last(capsys, "suggest", "results", *flags)
    assert said.startswith(message)


def error_of_last(capsys, *arguments) -> str:
    """What is said last, after lines about files."""
    capsys.readouterr()
    assert main([*arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.split("il-morph: error: ")[-1]


def test_training_data_that_has_moved_is_named(folder, capsys, tmp_path, monkeypatch):
    results = folder / "results"
    monkeypatch.chdir(tmp_path)
    assert "give --train=FILE" in error_of_last(capsys, "suggest", str(results))
    assert len(asked(capsys, results, f"--train={folder / 'train'}")) == 4
    assert len(asked(capsys, results, folder / "pool")) == 6, "a pool is asked with a warning"


def test_a_treebank_is_not_asked(tmp_path, capsys):
    save_model(tmp_path / "f.model", random_model(format="conllu:lemmatize:upos+feats", samples=TAGGED))
    assert "annotate more sentences" in error_of(capsys, "suggest", str(tmp_path))
