"""Tables: figures computed by hand from a handful of runs, layouts, measured.tsv, and broken results."""
import json
import os
import shutil
import statistics

import pytest

from il_morph.commands import main
from il_morph.errors import InputError
from il_morph.reproduction.figures import language_figures, table_line
from il_morph.reproduction.paper_tables import NAMES, OF_THE_PAPER, load_table
from il_morph.reproduction.published import SINGLE, load_published
from il_morph.reproduction.run_list import measured, read_runs
from tests.cli import ROOT, error_of
from tests.shared import needs_shared, reference_rows
from tests.table_output import figures_by_column, tsv_rows


def add_run(folder, test, dev=50.0, epochs=7, **seconds):
    folder.mkdir(parents=True)
    scores = {"greedy.dev": {"accuracy": dev}, "greedy.test": {"accuracy": test - 1},
              "beam4.dev": {"accuracy": dev + 1}, "beam4.test": {"accuracy": test}}
    (folder / "f.stats").write_text(json.dumps({
        "training": {"epochs": epochs, "seconds": 90, **seconds}, "scores": scores}))
    (folder / "commit").write_text("abc1234\n")


def add_ensemble(folder, accuracy):
    folder.mkdir(parents=True)
    (folder / "f.beam4.test.eval").write_text(f"accuracy                {accuracy:.4f}\nlevenshtein  0.1\n")


def tsv(capsys, *argv):
    assert main(["table", *map(str, argv), "--format=tsv"]) == 0
    return figures_by_column(capsys.readouterr().out)


def text(capsys, *argv):
    capsys.readouterr()
    assert main(["table", *map(str, argv)]) == 0
    return capsys.readouterr().out


@pytest.fixture
def results2016(tmp_path):
    """CA-D: two seeds of Russian and German with their ensembles, one seed of Turkish."""
    root = tmp_path / "results" / "task1" / "ca-d"
    add_run(root / "russian" / "1", 90.0, cpu_seconds=75)
    add_run(root / "russian" / "2", 92.0)
    add_ensemble(root / "russian" / "1+2", 93.0)
    add_run(root / "german" / "1", 95.0)
    add_run(root / "german" / "2", 96.0)
    add_ensemble(root / "german" / "1+2", 97.0)
    add_run(root / "turkish" / "1", 80.0)
    return tmp_path / "results"


@pytest.fixture
def full_celex(tmp_path):
    """CA-R: all 100 runs; the accuracy is 80 + number of the task + fold / 10 + seed / 100."""
    for number, task in enumerate(load_table("celex").languages):
        for fold in range(5):
            for seed in range(1, 6):
                add_run(tmp_path / "0500" / "ca-r" / task / str(fold) / str(seed), 80 + number + fold / 10 + seed / 100)
    return tmp_path


def test_facts_of_the_four_tables():
    tables = [load_table(name) for name in OF_THE_PAPER]
    assert [len(table.languages) for table in tables] == [10, 52, 4, 4]
    assert [table.runs_per_group for table in tables] == [5, 5, 25, 10]
    assert [table.report for table in tables] == ["ensemble", "ensemble", "mean", "mean"]
    assert {(table.measure.name, table.source) for table in tables} == {("accuracy", "the paper")}
    for table in map(load_table, NAMES):
        systems = {system.row for system in table.systems} - {"-"}
        assert systems <= set(table.paper)
        assert {system.setting for system in table.systems} == set(table.settings)
        assert all(table.groups(column) for column in table.columns)


@needs_shared
def test_paper_figures():
    names = {"1": "sigmorphon2016", "2": "celex", "3": "lemmatization", "4": "sigmorphon2017"}
    columns = {"L": "low", "M": "medium"}
    for row in reference_rows("paper_tables.tsv"):
        paper = load_table(names[row["table"]]).paper
        assert paper[row["model"]][columns.get(row["column"], row["column"])] == row["paper_value"]


def test_partial_ensembles(capsys, results2016):
    rows = tsv(capsys, "sigmorphon2016", results2016)
    ensemble, difference = rows["ours", "CA-D", "ensemble"], rows["ours", "CA-D", "difference"]
    assert (ensemble["RU"], ensemble["DE"], ensemble["TR"], ensemble["FI"]) == ("93.0", "97.0", "-", "-")
    assert ensemble["Avg"] == "95.0"
    # Published are 92.3614 for Russian and 96.5888 for German; the average is that of these two, not the paper's.
    assert (difference["RU"], difference["DE"], difference["TR"], difference["Avg"]) == ("+0.6", "+0.4", "-", "+0.5")
    assert rows["ours", "CA-D", "published"]["Avg"] == f"{(92.3614 + 96.5888) / 2:.1f}"
    single = rows["ours", "CA-D", "single mean"]
    assert (single["RU"], single["DE"], single["TR"]) == ("91.0", "95.5", "80.0")
    assert single["Avg"] == f"{(91.0 + 95.5 + 80.0) / 3:.1f}"
    assert rows["ours", "CA-D", "single sd"]["RU"] == f"{statistics.stdev([90, 92]):.2f}"
    runs = rows["ours", "CA-D", "runs"]
    assert (runs["RU"], runs["TR"], runs["FI"], runs["Avg"]) == ("2/5", "1/5", "0/5", "5/50")


def test_the_ensemble_of_most_seeds_counts(capsys, results2016):
    group = results2016 / "task1" / "ca-d" / "russian"
    for seed in "345":
        add_run(group / seed, 91.0)
    add_ensemble(group / "1+2+3+4+5", 94.2)
    rows = tsv(capsys, "sigmorphon2016", results2016)
    assert rows["ours", "CA-D", "ensemble"]["RU"] == "94.2"
    assert rows["ours", "CA-D", "runs"]["RU"] == "5/5"
    difference = rows["ours", "CA-D", "difference"]
    assert (difference["RU"], difference["DE"]) == ("+1.8", "+0.4")
    lines = [line.split() for line in text(capsys, "sigmorphon2016", results2016, "--by-language").splitlines()]
    assert ["russian", "94.2", "92.4"] in lines and ["german", "97.0*", "96.6"] in lines, "complete, and partial"
    overview = text(capsys, "sigmorphon2016", results2016)
    assert "CA-D    95.6*" in overview and "fewer than the paper's 5 voted in german (2)." in overview


def test_the_vote_of_the_papers_seeds_counts_also_where_more_have_voted(capsys, results2016, tmp_path):
    """The paper's figures are votes of five, so a vote of six is not to be set beside them."""
    group = results2016 / "task1" / "ca-d" / "russian"
    add_ensemble(group / "1+2+3+4+5", 94.2)
    add_ensemble(group / "1+2+3+4+5+6", 95.0)
    for seed in "6789":
        add_run(group / seed, 91.0)
    rows = tsv(capsys, "sigmorphon2016", results2016, f"--measured={tmp_path / 'measured.tsv'}")
    assert rows["ours", "CA-D", "ensemble"]["RU"] == "94.2"
    assert rows["ours", "CA-D", "runs"]["RU"] == "5/5"
    assert rows["ours", "CA-D", "runs"]["Avg"] == "8/50", "more of one language do not make up for others"
    runs = read_runs(load_table("sigmorphon2016"), tmp_path / "measured.tsv")
    assert [run.seed for run in runs if run.language == "russian" and run.voters > 1] == ["1+2+3+4+5", "1+2+3+4+5+6"]


def test_full_means(capsys, full_celex):
    rows = tsv(capsys, "celex", full_celex)
    mean = 0.2 + 0.03  # of fold / 10 and of seed / 100
    columns = ["13SIA", "2PIE", "2PKE", "rP"]
    expected = [f"{80 + number + mean:.1f}" for number in range(4)] + [f"{81.5 + mean:.1f}"]
    assert list(rows["ours", "CA-R", "mean"].values()) == expected
    single = [fold / 10 + seed / 100 for fold in range(5) for seed in range(1, 6)]
    assert set(rows["ours", "CA-R", "single sd"].values()) == {f"{statistics.stdev(single):.2f}"}
    assert rows["ours", "CA-R", "difference"]["Avg"] == f"{81.73 - 88.4:+.1f}"
    assert [rows["ours", "CA-R", "runs"][name] for name in columns] == ["25/25"] * 4
    assert ("ours", "CA-R", "ensemble") not in rows
    ours = text(capsys, "celex", full_celex).split("\nOurs\n")[1]
    line = next(line for line in ours.splitlines() if line.startswith("CA-R  "))
    differences = [80.23 - 85.612, 81.23 - 94.448, 82.23 - 88.284, 83.23 - 85.344]
    assert f"{statistics.stdev(differences) / 2:.1f}" == "2.3", "the standard error over four tasks"
    assert line.split() == ["CA-R", "81.7", "88.4", "-6.7", "±", "2.3", "0", "4", "4/4", "0.15", "100/100"]
    assert "*" not in ours, "a full table carries no mark"


def test_languages_weigh_the_same_whatever_their_number_of_runs(tmp_path):
    table = load_table("lemmatization")
    header = ("setting\tmodel\tlanguage\tfold\tseed\tepochs\tminutes\tdev_greedy\ttest_greedy\tdev_beam4\t"
              "test_beam4\tcommit\n")
    rows = [("basque", 0, 60.0), ("basque", 1, 70.0), ("irish", 0, 95.0)]
    text = header + "".join(f"wicentowski\tca\t{language}\t{fold}\t1\t3\t1.00\t-\t-\t-\t{accuracy}\tc\n"
                            for language, fold, accuracy in rows)
    (tmp_path / "measured.tsv").write_text(text)
    runs = read_runs(table, tmp_path / "measured.tsv")
    assert {run.engine for run in runs} == {"dynet"}, "a list from when there was one engine"
    line = table_line(table, language_figures(table, load_published(table), runs), "ca", "Avg")
    assert line.reported.ours == pytest.approx((65.0 + 95.0) / 2)
    assert line.single_sd is None, "only fold 0 has both languages"
    assert len(line.reported.figures) == 2 < line.groups and not line.complete


def test_models_outside_the_paper_come_under_their_own_name(capsys, tmp_path):
    add_run(tmp_path / "low" / "ca-r-uniform" / "russian" / "1", 40.0)
    rows = tsv(capsys, "sigmorphon2017", tmp_path)
    assert rows["ours", "ca-r-uniform", "single mean"] == {"low": "40.0", "medium": "-"}
    assert rows["ours", "ca-r-uniform", "runs"] == {"low": "1/260", "medium": "0/260"}
    assert rows["ours", "ca-r-uniform", "difference"] == {"low": "-", "medium": "-"}


def test_models_outside_the_paper_have_a_section_of_their_own(capsys, tmp_path):
    add_run(tmp_path / "low" / "ca-r-uniform" / "russian" / "1", 40.0)
    add_run(tmp_path / "low" / "ca-r" / "russian" / "1", 42.0)
    add_run(tmp_path / "low" / "ca-r" / "turkish" / "1", 90.0)
    _, inside, outside = text(capsys, "sigmorphon2017", tmp_path).split("\nOurs")
    assert inside.startswith(", low\n") and "CA-R " in inside and "uniform" not in inside
    assert outside.startswith(", not in the paper, low\n")
    line = next(line for line in outside.splitlines() if line.startswith("ca-r-uniform"))
    assert line.split() == ["ca-r-uniform", "–", "0/52", "40.0", "1/52", "1/260",
                            "CA-R", "1", "42.0", "40.0", "-2.0", "–"]


def test_a_difference_is_to_what_was_published_for_the_same_languages(capsys, tmp_path):
    for language in load_table("sigmorphon2017").languages:
        for seed in "12":
            add_run(tmp_path / "low" / "ca-r" / language / seed, 50.0)
        add_ensemble(tmp_path / "low" / "ca-r" / language / "1+2", 53.6)
    assert tsv(capsys, "sigmorphon2017", tmp_path)["ours", "CA-R", "difference"] == {"low": "+2.0", "medium": "-"}
    (tmp_path / "low" / "ca-r" / "welsh" / "1+2" / "f.beam4.test.eval").unlink()
    published = load_published(load_table("sigmorphon2017"))
    others = [published.find("low", "CA-R", "ensemble", language, ["-"]).accuracy
              for language in load_table("sigmorphon2017").languages if language != "welsh"]
    rows = tsv(capsys, "sigmorphon2017", tmp_path)
    assert rows["ours", "CA-R", "difference"] == {"low": f"{53.6 - statistics.fmean(others):+.1f}", "medium": "-"}
    assert rows["ours", "CA-R", "published"]["low"] == f"{statistics.fmean(others):.1f}" == "51.5"
    assert "51 of 52" in text(capsys, "sigmorphon2017", tmp_path)


def test_measured_round_trip(capsys, results2016, tmp_path):
    listed = tmp_path / "measured.tsv"
    from_folder = tsv(capsys, "sigmorphon2016", results2016, f"--measured={listed}")
    rows = listed.read_text().splitlines()
    assert rows[0].split("\t") == ["setting", "model", "language", "fold", "seed", "epochs", "minutes",
                                   "cpu_minutes", "dev_greedy", "test_greedy", "dev_beam4", "test_beam4", "engine",
                                   "commit"]
    assert rows[1].split("\t") == ["task1", "ca-d", "russian", "-", "1", "7", "1.50", "1.25", "50.0000", "89.0000",
                                   "51.0000", "90.0000", "dynet", "abc1234"]
    assert rows[2].split("\t")[4:8] == ["2", "7", "1.50", "-"], "a run that was made before CPU time was taken"
    assert rows[3].split("\t") == ["task1", "ca-d", "russian", "-", "1+2", "-", "-", "-", "-", "-", "-", "93.0000",
                                   "dynet", "-"]
    assert len(rows) == 8
    assert tsv(capsys, "sigmorphon2016", listed) == from_folder
    table = load_table("sigmorphon2016")
    assert measured(read_runs(table, listed)) == listed.read_text()


def test_markdown(capsys, results2016):
    assert main(["table", "sigmorphon2016", str(results2016), "--format=markdown"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    paper, ours = ([line for line in lines if line.count(" | ") == count] for count in (11, 10))
    assert len(paper) == 8 and len(ours) == 2 and len(lines) == 12, "two tables, each with a line below its header"
    assert any(line.startswith("| HA\\* |") for line in paper) and ours[1].startswith("| CA-D | 95.0\\* |")


def test_text_shows_cited_systems_and_their_note(capsys, tmp_path):
    assert main(["table", "sigmorphon2016", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert [name for name in ("MED [1]", "SOFT [1]", "HA [1]", "[1] MED, SOFT, HA") if name not in shown] == []
    assert "permuted" in shown and "no runs of our own" in shown
    med = next(line for line in shown.splitlines() if line.startswith("MED"))
    assert med.split()[:3] == ["MED", "[1]", "[2]"] and "[2] MED: ours are found with beam 4" in shown
    assert med.split()[3:] == ["91.5", "95.8", "98.8", "98.5", "95.5", "98.9", "96.8",
                               "91.5", "99.3", "89.0", "95.6"], "as it is printed"


def test_unfinished_and_foreign_folders_do_not_count(results2016):
    (results2016 / "task1" / "ca-d" / "finnish" / "1").mkdir(parents=True)
    add_run(results2016 / "elsewhere" / "ca-d" / "finnish" / "1", 1.0)
    add_run(results2016 / "task1" / "ca-d" / "finnish" / "old", 1.0)
    add_ensemble(results2016 / "task1" / "ca-d" / "finnish" / "1+old", 1.0)
    (results2016 / "slurm").mkdir()
    assert {run.language for run in read_runs(load_table("sigmorphon2016"), results2016)} == {
        "russian", "german", "turkish"}


def stats(**changes):
    """An f.stats with something changed."""
    known = {"training": {"epochs": 1, "seconds": 2}, "scores": {"beam4.test": {"accuracy": 50.0}}}
    return json.dumps({**known, **changes}).encode()


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b'{"scores": {}}', b'{"scores": {}, "training": {"epochs": 1}}', b"\xff\xfe\x00", b"[" * 100_000,
    stats(scores={"beam4.test": {"accuracy": float("nan")}}), stats(scores={"beam4.test": {"accuracy": "50"}}),
    stats(scores={"beam4.test": {"accuracy": 101}}), stats(scores={"beam4.test": {"accuracy": True}}),
    stats(scores={"beam4.test": [50.0]}), stats(scores=None), stats(training={"epochs": 1.5, "seconds": 2}),
    stats(training={"epochs": -1, "seconds": 2}), stats(training={"epochs": 1, "seconds": float("inf")}),
    stats(training={"epochs": 10 ** 400, "seconds": 2}), stats(engine="steam"), stats(engine=["dynet"]),
])
def test_broken_stats_are_named(results2016, content):
    broken = results2016 / "task1" / "ca-d" / "russian" / "1" / "f.stats"
    broken.write_bytes(content)
    with pytest.raises(InputError, match="russian/1/f.stats(, line 1)? is not what"):
        read_runs(load_table("sigmorphon2016"), results2016)


NOT_FILES = {"a folder": lambda path: path.mkdir(), "a link to itself": lambda path: path.symlink_to(path),
             "a link to nothing": lambda path: path.symlink_to("nothing")}


def write(content):
    return lambda path: path.write_bytes(content)


@pytest.mark.parametrize("name, damage", [
    *((name, damage) for name in ("russian/1/f.stats", "russian/1+2/f.beam4.test.eval", "russian/1/commit")
      for damage in NOT_FILES.values()),
    *(("russian/1+2/f.beam4.test.eval", write(content)) for content in (
        b"", b"accuracy\n", b"accuracy   nan\n", b"accuracy  ninety\n", b"accuracy  101\n", b"accuracy -1\n",
        b"\xff\xfe")),
    *(("russian/1/commit", write(content)) for content in (
        b"abc\tdef\n", b"abc\ndef\n", b"\x00\x01", b"\xff\xfe", b"two words\n", b"x" * 1000)),
])
def test_a_damaged_folder_is_named_and_nothing_is_written(results2016, tmp_path, capsys, name, damage):
    """Whatever cannot be read as what it should be: no run is passed over, none comes with a wrong figure."""
    path = results2016 / "task1" / "ca-d" / name
    path.unlink()
    damage(path)
    listed = tmp_path / "measured.tsv"
    message = error_of(capsys, "table", "sigmorphon2016", str(results2016), f"--measured={listed}")
    assert str(path) in message and not listed.exists()
    assert error_of(capsys, "table", "sigmorphon2016", str(results2016)) == message


def test_a_folder_that_cannot_be_read_is_named(results2016, capsys, monkeypatch):
    """Its runs would be missing from the table."""
    closed, listdir = str(results2016 / "task1" / "ca-d" / "russian"), os.listdir

    def refuse(folder):
        if str(folder) == closed:
            raise PermissionError(13, "Permission denied", closed)
        return listdir(folder)

    monkeypatch.setattr(os, "listdir", refuse)
    message = error_of(capsys, "table", "sigmorphon2016", str(results2016))
    assert f"cannot read the folder {closed}: Permission denied" in message


@pytest.mark.parametrize("table, place, what", [
    ("sigmorphon2016", "task1/ca-d/klingon/1", "klingon is not a language of sigmorphon2016"),
    ("celex", "0500/ca-d/rP-pA/7/1", "7 is not a fold of celex, which has 0, 1, 2, 3, 4"),
    ("sigmorphon2016", "task1/ca-d\tx\ny/russian/1", "'ca-d\\tx\\ny' is not a model name"),
])
def test_a_run_of_something_that_the_table_does_not_have(tmp_path, capsys, table, place, what):
    add_run(tmp_path / place, 50.0)
    message = error_of(capsys, "table", table, str(tmp_path))
    assert f"{tmp_path / place}: {what}" in message


@pytest.mark.parametrize("content", [b"", b"a\tb\n", b"PK\x03\x04\xff\xfe"])
def test_a_file_that_lists_no_runs(tmp_path, content):
    (tmp_path / "x.tsv").write_bytes(content)
    with pytest.raises(InputError, match="neither a results folder nor a list of runs"):
        read_runs(load_table("celex"), tmp_path / "x.tsv")


def test_a_run_without_commit(results2016):
    folder = results2016 / "task1" / "ca-d" / "russian"
    (folder / "1" / "commit").write_text("")
    (folder / "2" / "commit").unlink()
    runs = read_runs(load_table("sigmorphon2016"), results2016)
    assert [run.commit for run in runs if run.language == "russian"] == ["-", "-", "-"]


@pytest.mark.parametrize("right, wrong", [
    ("90.0000", "ninety"), ("90.0000", "nan"), ("task1\t", "task2\t"), ("\t1\t7", "\tone\t7"), ("90.0000", "101.0000"),
    ("90.0000", "-1.0000"), ("\t7\t", "\t-7\t"), ("1.50", "inf"), ("dynet", "steam"), ("dynet", "dynet+native"),
    ("dynet", "-"), ("abc1234", "abc 1234"), ("\tabc1234", ""), ("abc1234", "abc1234\tmore")])
def test_a_broken_row_is_named(results2016, tmp_path, right, wrong):
    table = load_table("sigmorphon2016")
    text = measured(read_runs(table, results2016)).replace(right, wrong)
    (tmp_path / "measured.tsv").write_text(text)
    with pytest.raises(InputError, match="measured.tsv, line 2: not a run"):
        read_runs(table, tmp_path / "measured.tsv")


def test_bad_arguments(capsys, tmp_path):
    assert main(["table", "sigmorphon2018", str(tmp_path)]) == 2
    assert "the tables are sigmorphon2016" in capsys.readouterr().err
    assert main(["table", "celex", str(tmp_path / "nowhere")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert main(["table", "celex", str(tmp_path), "--format=xml"]) == 2
    assert "--format takes" in capsys.readouterr().err


def test_a_list_of_runs_is_not_emptied(tmp_path, capsys):
    measured = tmp_path / "measured.tsv"
    measured.write_text("precious\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    message = error_of(capsys, "table", "celex", str(tmp_path / "empty"), f"--measured={measured}")
    assert "no finished runs" in message and "--measured" in message
    assert measured.read_text(encoding="utf-8") == "precious\n"


def test_runs_listed_earlier_are_kept_unless_made_again(tmp_path, capsys):
    """Results folders come and go; what was measured in one that is gone stays measured."""
    listed, folders = tmp_path / "measured.tsv", [tmp_path / "first", tmp_path / "second"]
    add_run(folders[0] / "task1" / "ca-d" / "german" / "1", 95.0)
    add_run(folders[0] / "task1" / "ca-d" / "russian" / "1", 90.0)
    add_ensemble(folders[0] / "task1" / "ca-d" / "russian" / "1+2", 93.0)
    add_run(folders[1] / "task1" / "ca-d" / "russian" / "1", 90.0, epochs=8)
    add_run(folders[1] / "task1" / "ca-d" / "russian" / "2", 92.0)
    for folder in folders:
        rows = tsv(capsys, "sigmorphon2016", folder, f"--measured={listed}")
    assert rows["ours", "CA-D", "runs"]["Avg"] == "2/50", "the table shows the folder that was named"
    runs = read_runs(load_table("sigmorphon2016"), listed)
    assert [(run.language, run.seed, run.test_beam4) for run in runs] == [
        ("russian", "1", 90.0), ("russian", "2", 92.0), ("russian", "1+2", 93.0), ("german", "1", 95.0)]
    assert runs[0].epochs == 8, "the run made again"


def test_listed_runs_that_are_replaced_or_dropped_are_named(tmp_path, capsys):
    listed = tmp_path / "measured.tsv"
    for folder, accuracy in (("first", 90.0), ("second", 91.0)):
        for seed, figure in (("1", accuracy), ("2", 92.0)):
            add_run(tmp_path / folder / "task1" / "ca-d" / "russian" / seed, figure)
        if folder == "first":
            add_ensemble(tmp_path / folder / "task1" / "ca-d" / "russian" / "1+2", 93.0)
        assert main(["table", "sigmorphon2016", str(tmp_path / folder), f"--measured={listed}"]) == 0
        said = capsys.readouterr().err.splitlines()
        assert said == ([] if folder == "first" else [
            f"il-morph table: {listed}: task1 ca-d russian - 1 was listed with other figures and is replaced",
            f"il-morph table: {listed}: task1 ca-d russian - 1+2 is dropped: one of its members came out differently, "
            "or more seeds have voted"])
    assert main(["table", "sigmorphon2016", str(listed), f"--measured={listed}"]) == 0
    assert capsys.readouterr().err == "", "the same runs again are no news"


def test_a_vote_whose_member_came_out_differently_is_listed_no_more(tmp_path, capsys):
    listed = tmp_path / "measured.tsv"
    for folder, accuracy in (("first", 90.0), ("second", 91.0)):
        add_run(tmp_path / folder / "task1" / "ca-d" / "russian" / "1", accuracy)
        if folder == "first":
            add_ensemble(tmp_path / folder / "task1" / "ca-d" / "russian" / "1+2", 93.0)
            add_ensemble(tmp_path / folder / "task1" / "ca-d" / "russian" / "2+3", 94.0)
        tsv(capsys, "sigmorphon2016", tmp_path / folder, f"--measured={listed}")
    runs = read_runs(load_table("sigmorphon2016"), listed)
    assert [(run.seed, run.test_beam4) for run in runs] == [("1", 91.0), ("2+3", 94.0)]


def test_a_vote_is_listed_until_more_seeds_have_voted(results2016, tmp_path, capsys):
    """The scripts let those vote that are finished, so a growing table leaves votes of fewer behind."""
    add_ensemble(results2016 / "task1" / "ca-d" / "russian" / "1+2+3", 94.0)
    add_ensemble(results2016 / "task1" / "ca-d" / "russian" / "2+4", 92.0)
    tsv(capsys, "sigmorphon2016", results2016, f"--measured={tmp_path / 'measured.tsv'}")
    runs = read_runs(load_table("sigmorphon2016"), tmp_path / "measured.tsv")
    assert [(run.language, run.seed) for run in runs if run.voters > 1] == [
        ("russian", "2+4"), ("russian", "1+2+3"), ("german", "1+2")]


def test_a_run_listed_twice_is_named(results2016, tmp_path):
    table = load_table("sigmorphon2016")
    text = measured(read_runs(table, results2016))
    (tmp_path / "measured.tsv").write_text(text + text.splitlines(keepends=True)[1])
    with pytest.raises(InputError, match="measured.tsv, line 9: repeats the run of a line above"):
        read_runs(table, tmp_path / "measured.tsv")


def test_a_new_list_may_be_an_empty_file_or_a_device(results2016, tmp_path, capsys):
    (tmp_path / "empty.tsv").touch()
    for path in (tmp_path / "empty.tsv", "/dev/null"):
        assert main(["table", "sigmorphon2016", str(results2016), f"--measured={path}"]) == 0
    assert len((tmp_path / "empty.tsv").read_text().splitlines()) == 8


def test_a_file_that_is_no_list_of_runs_is_not_overwritten(results2016, tmp_path, capsys):
    precious = tmp_path / "thesis.tex"
    precious.write_text("precious\n", encoding="utf-8")
    assert "neither a results folder nor a list" in error_of(
        capsys, "table", "sigmorphon2016", str(results2016), f"--measured={precious}")
    assert precious.read_text(encoding="utf-8") == "precious\n"


def test_a_damaged_list_is_not_written_to(results2016, tmp_path, capsys):
    listed = tmp_path / "measured.tsv"
    whole = measured(read_runs(load_table("sigmorphon2016"), results2016))
    for damaged in (whole.replace("90.0000", "nan").encode(), whole.encode()[:-10], whole.encode() + b"\xff"):
        listed.write_bytes(damaged)
        message = error_of(capsys, "table", "sigmorphon2016", str(results2016), f"--measured={listed}")
        assert str(listed) in message and listed.read_bytes() == damaged


# Engines


def use_engine(folder, engine):
    path = folder / "f.stats"
    path.write_text(json.dumps({**json.loads(path.read_text()), "engine": engine}))


def test_the_engine_of_a_run_is_listed_and_that_of_a_vote_is_its_members(results2016, tmp_path, capsys):
    group = results2016 / "task1" / "ca-d"
    for folder in (group / "russian" / "2", group / "german" / "1", group / "german" / "2"):
        use_engine(folder, "native")
    add_ensemble(group / "turkish" / "8+9", 81.0)
    listed = tmp_path / "measured.tsv"
    tsv(capsys, "sigmorphon2016", results2016, f"--measured={listed}")
    runs = read_runs(load_table("sigmorphon2016"), listed)
    assert [(run.language, run.seed, run.engine) for run in runs] == [
        ("russian", "1", "dynet"), ("russian", "2", "native"), ("russian", "1+2", "dynet+native"),
        ("german", "1", "native"), ("german", "2", "native"), ("german", "1+2", "native"),
        ("turkish", "1", "dynet"), ("turkish", "8+9", "-")]


def test_it_is_said_when_a_figure_mixes_engines(results2016, capsys):
    assert "engines" not in text(capsys, "sigmorphon2016", results2016)
    use_engine(results2016 / "task1" / "ca-d" / "turkish" / "1", "native")
    assert "CA-D: engines are mixed in the single models (dynet: 4, native: 1 runs)" in text(
        capsys, "sigmorphon2016", results2016)
    use_engine(results2016 / "task1" / "ca-d" / "russian" / "1", "native")
    assert "CA-D: engines are mixed in the vote (dynet: 1, dynet+native: 1 runs)" in text(
        capsys, "sigmorphon2016", results2016)
    capsys.readouterr()
    main(["table", "sigmorphon2016", str(results2016), "--format=tsv"])
    rows = {row["column"]: row["engines"] for row in tsv_rows(capsys.readouterr().out) if row["source"] == "ours"}
    assert (rows["RU"], rows["DE"], rows["TR"], rows["Avg"]) == ("dynet+native", "dynet", "native", "dynet+native")


@pytest.mark.parametrize("missing", [["cpu_minutes"], ["engine", "cpu_minutes"]])
def test_a_list_from_before_there_were_engines_or_cpu_minutes_is_added_to(results2016, tmp_path, capsys, missing):
    shutil.rmtree(results2016 / "task1" / "ca-d" / "russian" / "1")  # the one with CPU minutes
    table, listed = load_table("sigmorphon2016"), tmp_path / "measured.tsv"
    whole = measured(read_runs(table, results2016))
    rows = [line.split("\t") for line in whole.splitlines(keepends=True)]
    kept = [column for column, name in enumerate(rows[0]) if name not in missing]
    listed.write_text("".join("\t".join(row[column] for column in kept) for row in rows))
    assert not any(name in listed.read_text() for name in missing)
    tsv(capsys, "sigmorphon2016", listed, f"--measured={listed}")
    assert listed.read_text() == whole


# All tables in one


def test_all_tables_in_one(results2016, full_celex, tmp_path, capsys):
    root = tmp_path / "all"
    root.mkdir()
    results2016.rename(root / "sigmorphon2016")
    (root / "celex").mkdir()
    (root / "celex" / "measured.tsv").write_text(measured(read_runs(load_table("celex"), full_celex)))
    lines = [line.split() for line in text(capsys, "all", root).splitlines()]
    assert ["sigmorphon2016", "CA-D", "vote", "of", "2", "95.0", "94.5", "+0.5", "±", "0.1", "2", "of", "10",
            "5", "of", "50"] in lines
    assert ["celex", "CA-R", "mean", "81.7", "88.4", "-6.7", "±", "2.3", "4", "of", "4", "100", "of", "100"] in lines
    assert len(lines) == 3 + 3, "header, two rows, an empty line and the legend"
    assert len(text(capsys, "all", root, "--models=ca-r").splitlines()) == 5
    assert "there are no runs of 'ha'" in error_of(capsys, "table", "all", str(root), "--models=ha")
    for flag in ("--by-language", "--measured=x"):
        assert f"{flag.split('=')[0]} belongs to one table" in error_of(capsys, "table", "all", str(root), flag)
    assert "none of sigmorphon2016" in error_of(capsys, "table", "all", str(tmp_path / "nowhere"))


def test_all_tables_in_one_show_single_models_where_there_are_no_votes_and_single_ones_were_published(tmp_path, capsys):
    add_run(tmp_path / "sigmorphon2016" / "task1" / "ca-d" / "russian" / "1", 90.0)
    add_run(tmp_path / "sigmorphon2017" / "low" / "ca-r" / "latin" / "1", 20.0)
    theirs = load_published(load_table("sigmorphon2016")).find("task1", "CA-D", SINGLE, "russian", []).accuracy
    shown = text(capsys, "all", tmp_path)
    row = f"sigmorphon2016 CA-D single models 90.0 {theirs:.1f} {90 - theirs:+.1f} 1 of 10 1 of 50"
    assert row in [" ".join(line.split()) for line in shown.splitlines()]
    assert ("Not shown, because ours are single models and the published figures votes: "
            "sigmorphon2017 low CA-R.") in shown


def test_all_tables_in_one_say_how_many_voted_if_fewer_than_in_the_paper(tmp_path, capsys):
    ca_r = tmp_path / "sigmorphon2017" / "low" / "ca-r"
    for language, seeds in (("latin", "1+2"), ("welsh", "1+2+3")):
        for seed in seeds.split("+"):
            add_run(ca_r / language / seed, 20.0)
        add_ensemble(ca_r / language / seeds, 21.0)
    assert "CA-R vote of 2 to 3 21.0" in " ".join(text(capsys, "all", tmp_path).split())
    for seed in "345":
        add_run(ca_r / "latin" / seed, 20.0)
    add_ensemble(ca_r / "latin" / "1+2+3+4+5", 21.0)
    assert "CA-R vote of 3 to 5 21.0" in " ".join(text(capsys, "all", tmp_path).split())


def test_what_is_written_has_a_file_of_its_own(results2016, tmp_path, capsys):
    same = tmp_path / "x.tsv"
    message = error_of(capsys, "table", "sigmorphon2016", str(results2016), f"--output={same}", f"--measured={same}")
    assert "same file" in message and not same.exists()


def test_a_file_is_only_overwritten_with_force(results2016, tmp_path, capsys):
    precious = tmp_path / "table.md"
    precious.write_text("precious")
    command = ["table", "sigmorphon2016", str(results2016), f"--output={precious}"]
    assert f"{precious} exists already" in error_of(capsys, *command) and precious.read_text() == "precious"
    assert main([*command, "--force"]) == 0
    assert precious.read_text(encoding="utf-8") == text(capsys, "sigmorphon2016", results2016)


@pytest.mark.parametrize("name, flags", [
    ("celex", []), ("celex", ["--force"]), ("celex", ["--force", "--by-language"]), ("all", ["--force"])])
def test_no_table_is_written_over_what_it_is_made_from(full_celex, tmp_path, capsys, name, flags):
    listed = tmp_path / "celex" / "measured.tsv"
    listed.parent.mkdir()
    listed.write_text(measured(read_runs(load_table("celex"), full_celex)))
    content, root = listed.read_bytes(), listed if name == "celex" else tmp_path
    message = error_of(capsys, "table", name, str(root), f"--output={listed}", *flags)
    assert str(listed) in message and (not flags or "the table is made from it" in message)
    assert listed.read_bytes() == content


def test_no_table_is_written_over_its_input_under_another_name(full_celex, tmp_path, capsys):
    listed, link = tmp_path / "other.tsv", tmp_path / "link"
    listed.write_text(measured(read_runs(load_table("celex"), full_celex)))
    link.symlink_to(listed)
    content = listed.read_bytes()
    message = error_of(capsys, "table", "celex", str(listed), f"--output={link}", "--force")
    assert f"{link} is an input: the table is made from it" in message and listed.read_bytes() == content


@pytest.mark.parametrize("name", ["f.stats", "f.model", "commit"])
def test_no_table_is_written_over_the_file_of_a_run(results2016, capsys, name):
    path = results2016 / "task1" / "ca-d" / "russian" / "1" / name
    if not path.exists():
        path.write_text("abc")
    content = path.read_bytes()
    message = error_of(capsys, "table", "sigmorphon2016", str(results2016), f"--output={path}", "--force")
    assert "the table is made from it" in message and path.read_bytes() == content


@pytest.mark.parametrize("name", ["celex", "all"])
def test_a_dash_is_standard_output(full_celex, tmp_path, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "roots"
    (root / "celex").mkdir(parents=True)
    (root / "celex" / "measured.tsv").write_text(measured(read_runs(load_table("celex"), full_celex)))
    arguments = (name, full_celex if name == "celex" else root)
    printed = text(capsys, *arguments)
    assert printed and text(capsys, *arguments, "--output=-") == printed
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("flag", ["--output", "--measured"])
def test_an_empty_name_of_a_file_is_refused(results2016, capsys, flag):
    assert f"{flag} is empty: give a file" in error_of(capsys, "table", "sigmorphon2016", str(results2016), f"{flag}=")


def test_single_models_are_set_beside_published_single_models_only(tmp_path, capsys):
    """Of CA single models were published, of CA-R votes only."""
    for model in ("ca", "ca-r"):
        add_run(tmp_path / "low" / model / "russian" / "1", 45.0)
    main(["table", "sigmorphon2017", str(tmp_path), "--format=tsv"])
    rows = {row["model"]: row for row in tsv_rows(capsys.readouterr().out) if row["column"] == "low"}
    single = load_published(load_table("sigmorphon2017")).find("low", "CA", "single", "russian", "-").accuracy
    assert rows["ca"]["published_singles"] == f"{single:.4f}" and rows["ca-r"]["published_singles"] == "-"
    assert rows["ca"]["published"] == rows["ca"]["difference"] == "-", "there is no vote"


# By language


def test_a_row_for_each_language_beside_what_was_published(results2016, capsys):
    lines = text(capsys, "sigmorphon2016", results2016, "--by-language").splitlines()
    title = lines.index("Votes beside published votes: task1")
    rows = [line.split() for line in lines[title + 3:title + 5]]
    assert rows == [["russian", "93.0*", "92.4"], ["german", "97.0*", "96.6"]]
    title = lines.index("Single models beside published single models: task1")
    published = load_published(load_table("sigmorphon2016"))
    for line, language, ours in zip(lines[title + 3:], ("russian", "german", "turkish"), ("91.0", "95.5", "80.0")):
        theirs = published.find("task1", "CA-D", "single", language, "-")
        assert line.split() == [language, ours, f"{theirs.accuracy:.1f}", "±", f"{theirs.sd:.1f}"]
    assert "* fewer than the paper's 5 voted." in lines


def test_what_is_not_in_the_paper_is_apart_by_language_too(tmp_path, capsys):
    add_run(tmp_path / "low" / "ca-r-uniform" / "russian" / "1", 40.0)
    add_run(tmp_path / "low" / "ca-r" / "russian" / "1", 42.0)
    add_ensemble(tmp_path / "low" / "ca-r-uniform" / "russian" / "1+2+3+4+5", 43.0)
    shown = text(capsys, "sigmorphon2017", tmp_path, "--by-language")
    beside, votes, singles = shown.split("of which nothing was published")
    assert "42.0" in beside and "uniform" not in beside
    assert "43.0" in votes and "40.0" in singles


def test_languages_for_machines(results2016, capsys):
    use_engine(results2016 / "task1" / "ca-d" / "russian" / "2", "native")
    capsys.readouterr()
    main(["table", "sigmorphon2016", str(results2016), "--by-language", "--format=tsv"])
    single, vote, *others = tsv_rows(capsys.readouterr().out)
    assert len(others) == 3
    assert {key: single[key] for key in ("language", "kind", "ours", "models", "seeds", "full", "published_kind")} == {
        "language": "russian", "kind": "single", "ours": "91.0000", "models": "2", "seeds": "1,2", "full": "no",
        "published_kind": "single"}
    assert (vote["kind"], vote["ours"], vote["seeds"], vote["published"], vote["difference"], vote["engines"]) == (
        "vote", "93.0000", "1+2", "92.3614", "0.6386", "dynet+native")


@pytest.mark.parametrize("flag, script", [
    ("--compare", "compare.py"), ("--published=x.tsv", "compare.py"), ("--seed=1", "compare.py"),
    ("--against=x.tsv", "against.py"), ("--hours", "cost.py"), ("--plot=x.svg", "picture.py"),
    ("--setting=low", "picture.py")])
def test_flags_of_version_2_say_which_script_has_them_now(results2016, capsys, flag, script):
    name = flag.split("=")[0]
    for argv in (["table", "sigmorphon2016", str(results2016), flag], ["table", name, "all", "x"]):
        assert error_of(capsys, *argv) == f"{name} is now experiments/analysis/{script}\n"
    assert (ROOT / "experiments" / "analysis" / script).exists()


def test_a_flag_is_not_taken_for_the_value_of_the_one_before(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = error_of(capsys, "table", "--measured", "--format=line", "celex", "results")
    assert message.startswith("--measured lacks its value: --format=line is a flag")
    assert not any(tmp_path.iterdir())
