"""`il-morph table --hours`: what all runs of the paper take, by those that were made."""
import pytest

from il_morph.commands import main
from il_morph.reproduction.cost import efforts
from il_morph.reproduction.paper_tables import load_table
from il_morph.reproduction.plan import Plan, Selection
from il_morph.reproduction.run_list import measured
from il_morph.reproduction.runs import Run
from il_morph.run_folder import ResultsTree
from tests.cli import error_of
from tests.table_output import tsv_rows

TASKS = list(load_table("celex").languages)


def timed(model, language, minutes, cpu=None, fold="0", seed="1", engine="native", setting="0500"):
    return Run(setting, model, language, fold, seed, 1, minutes, cpu, None, None, None, 50.0, engine, "abc")


def hours(capsys, tmp_path, runs, *flags, table="celex"):
    (tmp_path / "measured.tsv").write_text(measured(runs))
    assert main(["table", table, str(tmp_path / "measured.tsv"), "--hours", "--format=tsv", *flags]) == 0
    return tsv_rows(capsys.readouterr().out)


def test_languages_weigh_the_same_and_so_do_systems(capsys, tmp_path):
    """CA-D takes 2 and 4 minutes on two tasks, CA-R 9: (3 + 9) / 2 minutes, and seven systems have 700 runs."""
    row, = hours(capsys, tmp_path, [
        timed("ca-d", TASKS[0], 1.0), timed("ca-d", TASKS[0], 3.0, seed="2"), timed("ca-d", TASKS[1], 4.0),
        timed("ca-r", TASKS[0], 9.0)])
    assert row == {"table": "celex", "engine": "native", "measured": "CA-D, CA-R", "their runs": "4", "minutes": "6.0*",
                   "runs": "700", "1 core": "70.0", "16 cores": "4.4", "200 cores": "0.3"}


def test_cpu_minutes_count_where_they_are_known(capsys, tmp_path):
    row, = hours(capsys, tmp_path, [timed("ca-d", TASKS[0], 8.0, cpu=2.0), timed("ca-d", TASKS[1], 8.0)])
    assert (row["their runs"], row["minutes"]) == ("1", "2.0*")


def test_no_number_of_cores_is_faster_than_the_longest_run(capsys, tmp_path):
    row, = hours(capsys, tmp_path, [timed("ca-d", TASKS[0], 0.6), timed("ca-d", TASKS[1], 120.0)])
    assert row["minutes"] == "60.3*" and row["200 cores"] == "3.5"
    row, = hours(capsys, tmp_path, [timed("ca-d", task, 0.6, seed=str(seed)) for task in TASKS for seed in range(300)]
                 + [timed("ca-d", TASKS[0], 120.0, seed="300")])
    assert row["200 cores"] == "2.0"


def test_systems_that_one_engine_alone_trains_have_a_line_of_their_own(capsys, tmp_path):
    ours, cited = hours(capsys, tmp_path, [timed("ca-d", TASKS[0], 1.0), timed("nwfst", TASKS[0], 20.0)])
    assert (ours["measured"], ours["runs"]) == ("CA-D", "700")
    assert (cited["measured"], cited["engine"], cited["runs"]) == ("NWFST", "native", "100")


def test_the_engine_of_most_runs_counts(capsys, tmp_path):
    row, = hours(capsys, tmp_path, [timed("ca-d", TASKS[0], 1.0), timed("ca-d", TASKS[1], 1.0),
                                    timed("ca-r", TASKS[0], 5.0, engine="dynet")])
    assert (row["engine"], row["measured"], row["minutes"]) == ("native", "CA-D", "1.0*")


def test_all_systems_on_all_languages_and_folds_are_the_whole_table(capsys, tmp_path):
    models = [system.model for system in load_table("celex").systems if system.model != "nwfst"]
    runs = [timed(model, task, 3.0, fold=str(fold)) for model in models for task in TASKS for fold in range(5)]
    row, = hours(capsys, tmp_path, runs)
    assert (row["minutes"], row["their runs"], row["1 core"]) == ("3.0", "140", "35.0")
    row, = hours(capsys, tmp_path, runs[1:])
    assert row["minutes"] == "3.0*"


def test_what_was_not_measured_is_named(capsys, tmp_path):
    (tmp_path / "measured.tsv").write_text(measured([timed("ca-d", TASKS[0], 1.0)]))
    assert main(["table", "celex", str(tmp_path / "measured.tsv"), "--hours", "--format=markdown"]) == 0
    text = capsys.readouterr().out
    assert "celex: not measured are HA\\*, CA, HA\\*-MRT, CA-MRT, CA-R, CA-RM; they are counted with" in text
    assert "celex: not measured are NWFST; they are not counted." in text


def test_votes_and_runs_without_minutes_take_nothing(capsys, tmp_path):
    vote = timed("ca-d", TASKS[0], None, seed="1+2+3+4+5")
    (tmp_path / "measured.tsv").write_text(measured([vote]))
    assert main(["table", "celex", str(tmp_path / "measured.tsv"), "--hours"]) == 0
    assert capsys.readouterr().out == "There are no runs of our own yet.\n"


@pytest.mark.parametrize("name", ["sigmorphon2016", "sigmorphon2017", "celex", "lemmatization"])
def test_the_runs_are_those_that_the_runner_plans(name, tmp_path):
    """Every training of the whole table, those that others start from included, once."""
    table = load_table(name)
    selection = Selection(tmp_path, ResultsTree(tmp_path), table.settings, [], list(table.languages), table.folds,
                          table.seeds, None, {})
    planned = {task.spec.results for job in Plan(table, selection).jobs() for task in job}
    assert sum(effort.runs for effort in efforts(table, [])) == len(planned)


def test_all_tables_in_one(capsys, tmp_path):
    for name, run in (("celex", timed("ca-d", TASKS[0], 1.0)),
                      ("sigmorphon2017", timed("ca-d", "welsh", 1.0, setting="medium", fold="-"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "measured.tsv").write_text(measured([run]))
    assert main(["table", "all", str(tmp_path), "--hours", "--format=tsv"]) == 0
    rows = tsv_rows(capsys.readouterr().out)
    assert [(row["table"], row["runs"]) for row in rows] == [("sigmorphon2017 medium", "2340"), ("celex", "700")]


@pytest.mark.parametrize("flag", ["--by-language", "--compare", "--plot=x.svg"])
def test_what_is_about_accuracy_is_refused(capsys, tmp_path, monkeypatch, flag):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "measured.tsv").write_text(measured([timed("ca-d", TASKS[0], 1.0)]))
    text = error_of(capsys, "table", "celex", "measured.tsv", "--hours", flag)
    assert f"leave {flag.split('=')[0]} out" in text and not (tmp_path / "x.svg").exists()
