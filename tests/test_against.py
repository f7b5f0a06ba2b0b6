"""experiments/analysis/against.py: our own runs beside the same ones made otherwise."""
import json

import pytest

from il_morph.commands import main
from tests.analysis import run_script
from tests.table_output import tsv_rows
from tests.test_tables import add_ensemble, add_run
from tests.tiny import PROJECT

MEASURED = PROJECT / "experiments" / "sigmorphon2017" / "measured.tsv"


@pytest.fixture
def sides(tmp_path):
    """CA-D on three languages; Russian has two seeds on both sides and a vote, Turkish a third one on one side only."""
    here, there = tmp_path / "here", tmp_path / "there"
    for root, russian, german, turkish in ((here, (91.0, 95.0), 90.0, 80.0), (there, (90.0, 92.0), 93.0, 79.0)):
        ca_d = root / "task1" / "ca-d"
        for seed, accuracy in enumerate(russian, start=1):
            add_run(ca_d / "russian" / str(seed), accuracy)
        add_ensemble(ca_d / "russian" / "1+2", 96.0)
        add_run(ca_d / "german" / "1", german)
        add_run(ca_d / "turkish" / "1", turkish)
    add_run(here / "task1" / "ca-d" / "turkish" / "2", 10.0)
    add_run(here / "task1" / "ca-r" / "turkish" / "1", 70.0)
    return here, there


def rows(capsys, *argv):
    done = run_script(capsys, "against", "sigmorphon2016", *argv, "--format=tsv")
    assert done.returncode == 0, done.stderr
    return tsv_rows(done.stdout)


def test_the_same_seeds_on_the_same_languages_are_compared(sides, capsys):
    """Differences +2 (the mean of +1 and +3), −3 and +1: their mean is 0, their standard error √(7 / 3)."""
    here, there = sides
    single, vote = rows(capsys, here, there)
    assert (single["system"], single["figure"], single["languages (and folds)"], single["runs"]) == (
        "CA-D", "single models", "3", "4")
    assert (single["there"], single["here"], single["difference"]) == ("87.7", "87.7", "+0.00")
    assert (single["standard error"], single["above"], single["below"]) == ("1.53", "2", "1")
    assert (single["sd over languages"], single["p"]) == ("2.65", "1.000")
    assert (vote["figure"], vote["there"], vote["here"], vote["runs"]) == ("vote", "96.0", "96.0", "1")


def test_swapped_sides_have_the_opposite_sign(sides, capsys):
    here, there = sides
    single, _ = rows(capsys, there, here, "--models=ca-d")
    assert (single["above"], single["below"]) == ("1", "2")


def test_the_languages_one_by_one_come_with_the_largest_loss_first(sides, capsys):
    done = run_script(capsys, "against", "sigmorphon2016", *sides, "--by-language", "--format=markdown")
    lines = [line for line in done.stdout.splitlines() if line.startswith("| task1 | CA-D | single models |")]
    assert lines[1:] == ["| task1 | CA-D | single models | german | 1 | 93.0 | 90.0 | -3.0 |",
                         "| task1 | CA-D | single models | turkish | 1 | 79.0 | 80.0 | +1.0 |",
                         "| task1 | CA-D | single models | russian | 2 | 91.0 | 93.0 | +2.0 |"]


@pytest.mark.parametrize("languages, number", [
    ("german", 1), ("german,russian", 2), ("!german", 2), ("!german,russian", 1)])
def test_languages_can_be_chosen_or_left_out(sides, capsys, languages, number):
    assert rows(capsys, *sides, f"--languages={languages}")[0]["languages (and folds)"] == str(number)


def test_a_language_that_the_table_does_not_have_is_refused(sides, capsys):
    done = run_script(capsys, "against", "sigmorphon2016", *sides, "--languages=german,klingon")
    assert done.returncode and "'klingon' is no language of sigmorphon2016" in done.stderr


def test_a_system_is_compared_with_another_one(sides, capsys):
    """CA-R on Turkish, 70, beside CA-D with the same seed, 79; CA-D is not compared with itself."""
    here, there = sides
    only, = rows(capsys, here, there, "--beside=ca-d")
    assert (only["system"], only["runs"], only["there"], only["here"]) == ("CA-R", "1", "79.0", "70.0")
    only, = rows(capsys, here, here, "--beside=ca-d", "--models=ca-r")
    assert (only["there"], only["here"], only["difference"]) == ("80.0", "70.0", "-10.00")
    title = run_script(capsys, "against", "sigmorphon2016", here, there, "--beside=ca-d").stdout
    assert "against CA-D, dynet (there)" in " ".join(title.split())


@pytest.mark.parametrize("flag, message", [
    ("--setting=low", "--setting=low: sigmorphon2016 has task1"),
    ("--beside=ha", "there are no runs of 'ha'"), ("--beside=ca-d,ca-r", "--beside=ca-d,ca-r: name one model"),
    ("--seeds=1,7", "--seeds=1,7: there are no runs with seed 7")])
def test_another_setting_system_or_seed_that_has_no_runs_is_refused(sides, capsys, flag, message):
    done = run_script(capsys, "against", "sigmorphon2016", *sides, flag)
    assert done.returncode == 2 and message in done.stderr


def test_a_setting_can_be_chosen(capsys):
    chosen = ["sigmorphon2017", MEASURED, MEASURED, "--beside=ca-r", "--models=ca-rm", "--format=tsv"]
    both, low = (tsv_rows(run_script(capsys, "against", *chosen, *more).stdout) for more in ([], ["--setting=low"]))
    assert {row["setting"] for row in both} == {"low", "medium"}
    assert low == [row for row in both if row["setting"] == "low"]


def test_seeds_can_be_chosen(sides, capsys):
    only, = rows(capsys, *sides, "--seeds=2")
    assert (only["figure"], only["runs"], only["there"], only["here"]) == ("single models", "1", "92.0", "95.0")
    assert [each["figure"] for each in rows(capsys, *sides, "--seeds=2,1+2")] == ["single models", "vote"]


def test_lists_of_runs_are_compared_too(sides, capsys, tmp_path):
    here, there = sides
    assert main(["table", "sigmorphon2016", str(there), f"--measured={tmp_path / 'there.tsv'}"]) == 0
    capsys.readouterr()
    assert rows(capsys, here, tmp_path / 'there.tsv') == rows(capsys, here, there)


def test_the_title_names_the_engines_of_what_is_compared(tmp_path, capsys):
    here, there = tmp_path / "here" / "task1" / "ca-d", tmp_path / "there" / "task1" / "ca-d"
    for folder, engine in ((here / "russian" / "1", "native"), (here / "german" / "1", "dynet"),
                           (there / "russian" / "1", "dynet")):
        add_run(folder, 90.0)
        stats = json.loads((folder / "f.stats").read_text())
        (folder / "f.stats").write_text(json.dumps({**stats, "engine": engine}))
    shown = run_script(capsys, "against", "sigmorphon2016", tmp_path / "here", tmp_path / "there").stdout
    assert "native (here) against dynet (there)" in " ".join(shown.split())


def test_nothing_in_common_is_said(sides, capsys):
    here, there = sides
    done = run_script(capsys, "against", "sigmorphon2016", there, here, "--models=ca-r")
    assert done.returncode == 2 and "there are no runs of 'ca-r'" in done.stderr
    other = there.parent / "other" / "task1" / "ca-r" / "german" / "1"
    add_run(other, 50.0)
    done = run_script(capsys, "against", "sigmorphon2016", there, there.parent / "other")
    assert done.returncode == 2 and "have no run in common" in done.stderr


def test_only_one_table_at_a_time_is_compared(sides, capsys):
    done = run_script(capsys, "against", "all", *sides)
    assert done.returncode == 2 and "there is no table 'all'" in done.stderr
