"""experiments/analysis/cost.py: how long all runs of the paper take, estimated from ours."""
import pytest

from il_morph.reproduction.paper_tables import load_table
from il_morph.reproduction.plan import Plan, Selection
from il_morph.reproduction.run_list import measured
from il_morph.reproduction.runs import Run
from il_morph.run_folder import ResultsTree
from tests.analysis import run_script, script
from tests.table_output import tsv_rows

TASKS = list(load_table("celex").languages)


def timed(model, language, minutes, cpu=None, fold="0", seed="1", engine="native", setting="0500"):
    return Run(setting, model, language, fold, seed, 1, minutes, cpu, None, None, None, 50.0, engine, "abc")


def hours(capsys, tmp_path, runs, *flags, table="celex"):
    (tmp_path / "measured.tsv").write_text(measured(runs))
    done = run_script(capsys, "cost", table, tmp_path / "measured.tsv", "--format=tsv", *flags)
    assert done.returncode == 0, done.stderr
    return tsv_rows(done.stdout)


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
    text = run_script(capsys, "cost", "celex", tmp_path / "measured.tsv", "--format=markdown").stdout
    assert "celex: HA\\*, CA, HA\\*-MRT, CA-MRT, CA-R, CA-RM not measured, counted with the mean" in text
    assert "celex: NWFST not measured, not counted." in text


def test_votes_and_runs_without_minutes_take_nothing(capsys, tmp_path):
    vote = timed("ca-d", TASKS[0], None, seed="1+2+3+4+5")
    (tmp_path / "measured.tsv").write_text(measured([vote]))
    done = run_script(capsys, "cost", "celex", tmp_path / "measured.tsv")
    assert (done.returncode, done.stdout) == (0, "There are no runs of our own yet.\n")


@pytest.mark.parametrize("name", ["sigmorphon2016", "sigmorphon2017", "celex", "lemmatization"])
def test_the_runs_are_those_that_the_runner_plans(name, tmp_path):
    """Every training of the whole table, those that others start from included, once."""
    table = load_table(name)
    selection = Selection(tmp_path, ResultsTree(tmp_path), table.settings, [], list(table.languages), table.folds,
                          table.seeds, None, {})
    planned = {task.spec.results for job in Plan(table, selection).jobs() for task in job}
    assert sum(cost.runs for cost in script("cost").costs(table, [])) == len(planned)


def test_all_tables_in_one(capsys, tmp_path):
    for name, run in (("celex", timed("ca-d", TASKS[0], 1.0)),
                      ("sigmorphon2017", timed("ca-d", "welsh", 1.0, setting="medium", fold="-"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "measured.tsv").write_text(measured([run]))
    rows = tsv_rows(run_script(capsys, "cost", "all", tmp_path, "--format=tsv").stdout)
    assert [(row["table"], row["runs"]) for row in rows] == [("sigmorphon2017 medium", "2340"), ("celex", "700")]
