"""`il-morph table --against`: our own runs beside the same ones made otherwise."""
import json

import pytest

from il_morph.commands import main
from tests.cli import error_of
from tests.table_output import tsv_rows
from tests.test_tables import add_ensemble, add_run


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
    assert main(["table", "sigmorphon2016", *map(str, argv), "--format=tsv"]) == 0
    return tsv_rows(capsys.readouterr().out)


def test_the_same_seeds_on_the_same_languages_are_compared(sides, capsys):
    """Differences +2 (the mean of +1 and +3), −3 and +1: their mean is 0, their standard error √(7 / 3)."""
    here, there = sides
    single, vote = rows(capsys, here, f"--against={there}")
    assert (single["system"], single["figure"], single["languages (and folds)"], single["runs"]) == (
        "CA-D", "single models", "3", "4")
    assert (single["there"], single["here"], single["difference"]) == ("87.7", "87.7", "+0.00")
    assert (single["standard error"], single["above"], single["below"]) == ("1.53", "2", "1")
    assert (single["sd over languages"], single["p"]) == ("2.65", "1.000")
    assert (vote["figure"], vote["there"], vote["here"], vote["runs"]) == ("vote", "96.0", "96.0", "1")


def test_swapped_sides_have_the_opposite_sign(sides, capsys):
    here, there = sides
    single, _ = rows(capsys, there, f"--against={here}", "--models=ca-d")
    assert (single["above"], single["below"]) == ("1", "2")


def test_lists_of_runs_are_compared_too(sides, capsys, tmp_path):
    here, there = sides
    assert main(["table", "sigmorphon2016", str(there), f"--measured={tmp_path / 'there.tsv'}"]) == 0
    capsys.readouterr()
    assert rows(capsys, here, f"--against={tmp_path / 'there.tsv'}") == rows(capsys, here, f"--against={there}")


def test_the_title_names_the_engines_of_what_is_compared(tmp_path, capsys):
    here, there = tmp_path / "here" / "task1" / "ca-d", tmp_path / "there" / "task1" / "ca-d"
    for folder, engine in ((here / "russian" / "1", "native"), (here / "german" / "1", "dynet"),
                           (there / "russian" / "1", "dynet")):
        add_run(folder, 90.0)
        stats = json.loads((folder / "f.stats").read_text())
        (folder / "f.stats").write_text(json.dumps({**stats, "engine": engine}))
    capsys.readouterr()
    assert main(["table", "sigmorphon2016", str(tmp_path / "here"), f"--against={tmp_path / 'there'}"]) == 0
    assert "native (here) against dynet (there)" in " ".join(capsys.readouterr().out.split())


def test_nothing_in_common_is_said(sides, capsys):
    here, there = sides
    text = error_of(capsys, "table", "sigmorphon2016", str(there), f"--against={here}", "--seed=1", "--models=ca-r")
    assert "there are no runs of 'ca-r'" in text
    other = there.parent / "other" / "task1" / "ca-r" / "german" / "1"
    add_run(other, 50.0)
    text = error_of(capsys, "table", "sigmorphon2016", str(there), f"--against={there.parent / 'other'}")
    assert "have no run in common" in text


@pytest.mark.parametrize("flag", ["--by-language", "--compare", "--published=x", "--plot=x.svg"])
def test_what_belongs_to_published_figures_is_refused(sides, capsys, flag, tmp_path):
    here, there = sides
    (tmp_path / "x").write_text("setting\tsystem\tkind\tlanguage\tfold\taccuracy\tsd\n")
    flag = flag.replace("=x", f"={tmp_path / 'x'}")
    text = error_of(capsys, "table", "sigmorphon2016", str(here), f"--against={there}", flag)
    assert f"leave {flag.split('=')[0]} out" in text
    assert not (tmp_path / "x.svg").exists()


def test_all_tables_have_no_other_side(sides, capsys):
    assert "--against belongs to one table" in error_of(capsys, "table", "all", str(sides[0].parent), "--against=x")
