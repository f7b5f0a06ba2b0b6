"""The votes of the seeds of a table."""
import json
import os
from dataclasses import replace

import pytest

from il_morph.commands import main
from il_morph.data.formats import SIGMORPHON2016
from il_morph.errors import InputError
from il_morph.reproduction.ensembles import finished_seeds, make_ensembles, vote
from il_morph.reproduction.paper_tables import load_table
from il_morph.reproduction.run_list import add_runs, already_listed, read_runs
from il_morph.run_folder import ResultsTree, RunFolder
from tests.table_output import tsv_rows

GOLD = [("walk", "walked"), ("talk", "talked"), ("bake", "baked")]


MEMBERS = ["hacm-crp", "hacm-dumb", "haem-crp", "haem-dumb"]


def lines(outputs):
    return "".join(f"{word}\tpos=V\t{output}\n" for (word, _), output in zip(GOLD, outputs))


@pytest.fixture
def gold(tmp_path):
    (tmp_path / "gold").write_text(lines([form for _, form in GOLD]))
    return tmp_path / "gold"


def make_run(group, seed, outputs, finished=True, search="beam4"):
    run = RunFolder(group / seed)
    run.path.mkdir(parents=True)
    run.predictions(f"{search}.test").write_text(lines(outputs))
    if finished:
        run.stats.write_text("{}")
    return run


def test_seeds_are_ordered_as_numbers_and_only_finished_ones_count(tmp_path):
    for seed, finished in (("10", True), ("2", True), ("3", False), ("1+2", True), ("old", True)):
        make_run(tmp_path, seed, ["a", "b", "c"], finished)
    RunFolder(tmp_path / "10").predictions("beam4.test").unlink()
    make_run(tmp_path, "7", ["a", "b", "c"])
    assert finished_seeds(tmp_path) == ["2", "7"]


def test_a_vote_is_written_with_its_scores(tmp_path, gold):
    make_run(tmp_path / "g", "1", ["walked", "x", "y"])
    make_run(tmp_path / "g", "2", ["walked", "talked", "z"])
    make_run(tmp_path / "g", "3", ["w", "talked", "baked"])
    vote(tmp_path / "g", ["1", "2", "3"], gold, SIGMORPHON2016)
    together = RunFolder(tmp_path / "g" / "1+2+3")
    assert together.predictions("beam4.test").read_text() == lines(["walked", "talked", "y"])
    assert together.evaluation("beam4.test").read_text().split()[:2] == ["accuracy", "66.6667"]
    assert not together.finished, "a vote is no run"


def test_a_vote_is_made_again_only_when_a_member_is_newer(tmp_path, gold):
    runs = [make_run(tmp_path / "g", seed, ["walked", "talked", "baked"]) for seed in "12"]
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    evaluation = RunFolder(tmp_path / "g" / "1+2").evaluation("beam4.test")
    written = evaluation.stat().st_mtime_ns
    os.utime(runs[0].predictions("beam4.test"), ns=(written - 10**9, written - 10**9))
    os.utime(runs[1].predictions("beam4.test"), ns=(written - 10**9, written - 10**9))
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    assert evaluation.stat().st_mtime_ns == written
    runs[1].predictions("beam4.test").write_text(lines(["x", "y", "z"]))
    os.utime(runs[1].predictions("beam4.test"), ns=(written + 10**9, written + 10**9))
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    assert evaluation.stat().st_mtime_ns > written


def test_a_member_that_is_trained_again_meanwhile_stops_nobody(tmp_path, gold):
    make_run(tmp_path / "g", "1", ["walked", "talked", "baked"])
    (tmp_path / "g" / "2").mkdir()
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    assert not (tmp_path / "g" / "1+2").exists()


def test_a_damaged_member_is_named(tmp_path, gold):
    make_run(tmp_path / "g", "1", ["walked", "talked", "baked"])
    make_run(tmp_path / "g", "2", ["walked"])
    with pytest.raises(InputError, match="has no counterpart in .*/g/2/f.beam4.test.predictions"):
        vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    assert not (tmp_path / "g" / "1+2").exists()


def test_seeds_without_a_beam_vote_with_what_greedy_search_has_found(tmp_path, gold):
    for seed in "12":
        make_run(tmp_path / "g", seed, ["walked", "talked", "x"], search="greedy")
    assert finished_seeds(tmp_path / "g") == ["1", "2"]
    vote(tmp_path / "g", ["1", "2"], gold, SIGMORPHON2016)
    together = RunFolder(tmp_path / "g" / "1+2")
    assert together.evaluation("greedy.test").exists() and not together.predictions("beam4.test").exists()
    make_run(tmp_path / "g", "3", ["walked", "talked", "x"])
    assert finished_seeds(tmp_path / "g") == ["3"], "searches are not mixed"


# SGM17TOP


def words_2017(words, outputs):
    return "".join(f"{word}\t{output}\tV\n" for word, output in zip(words, outputs))


@pytest.fixture
def tree(tmp_path):
    """Data and results of Table 4 in which four models have two seeds each; a model is the better on dev the later."""
    words = [word for word, _ in GOLD]
    data, results = tmp_path / "data", ResultsTree(tmp_path / "results")
    (data / "task1").mkdir(parents=True)
    (data / "task1" / "welsh-uncovered-test").write_text(words_2017(words, [form for _, form in GOLD]))
    outputs = [["w1", "talked", "bakeeee"], ["w2", "talked", "bakeeee"], ["w3", "t", "bakeeee"], ["walked", "t", "b"]]
    for number, (model, output) in enumerate(zip(MEMBERS, outputs)):
        for seed in "12":
            run = results.run("low", model, "welsh", "", seed)
            run.path.mkdir(parents=True)
            run.predictions("greedy.test").write_text(words_2017(words, [output[0] + seed, *output[1:]]))
            run.evaluation("greedy.dev").write_text(f"accuracy {10 * number + int(seed)}.0\n")
            run.stats.write_text(json.dumps({
                "scores": {"greedy.dev": {"accuracy": 10.0 * number + int(seed)}, "greedy.test": {"accuracy": 0.0}},
                "training": {"epochs": 1, "seconds": 1.0}}))
    return data, results


def test_the_models_of_sgm17top_vote_ranked_by_their_dev_accuracy(tree):
    """Six of eight vote: w1 and its talked are out; all forms of walk differ, so the best on dev, seed 2 of the last
    model, decides; what it says of bake is outvoted by an output that is repaired."""
    data, results = tree
    make_ensembles(load_table("sigmorphon2017"), data, results)
    together = results.run("low", "sgm17top", "welsh", "", "1+2")
    assert together.predictions("greedy.test").read_text() == words_2017(["walk", "talk", "bake"],
                                                                         ["walked2", "t", "bake"])
    assert results.run("low", "hacm-crp", "welsh", "", "1+2").predictions("greedy.test").exists()


def test_sgm17top_waits_for_seeds_that_all_its_models_have(tree):
    data, results = tree
    results.run("low", "haem-dumb", "welsh", "", "2").stats.unlink()
    make_ensembles(load_table("sigmorphon2017"), data, results)
    assert not (results.root / "low" / "sgm17top").exists()


def test_the_vote_of_sgm17top_is_made_once_and_not_voted_on_again(tree):
    data, results = tree
    for _ in range(2):
        make_ensembles(load_table("sigmorphon2017"), data, results)
    assert [path.name for path in (results.root / "low" / "sgm17top" / "welsh").iterdir()] == ["1+2"]


def test_sgm17top_has_its_row_as_ours(tree, capsys):
    data, results = tree
    make_ensembles(load_table("sigmorphon2017"), data, results)
    assert main(["table", "sigmorphon2017", str(results.root)]) == 0
    text = capsys.readouterr().out
    ours = text[text.index("Ours, low"):]
    line = next(line.split() for line in ours.splitlines() if line.startswith("SGM17TOP"))
    assert line[1] == "0.0*" and line[-1] == "8/1040", "four models of 52 languages with five seeds vote"
    remarks = " ".join(text.split())
    assert "fewer than the paper's 5 voted in welsh (2)" in remarks and "greedy search, without a beam" in remarks


def test_the_vote_of_sgm17top_knows_its_members(tree, tmp_path, capsys):
    """Their engine, their number, and that it goes from a list when one of them has come out differently."""
    data, results = tree
    table, listed = load_table("sigmorphon2017"), tmp_path / "measured.tsv"
    make_ensembles(table, data, results)
    vote = next(run for run in read_runs(table, results.root) if run.model == "sgm17top")
    assert vote.engine == "dynet"
    main(["table", "sigmorphon2017", str(results.root), "--by-language", "--format=tsv"])
    row = next(row for row in tsv_rows(capsys.readouterr().out) if row["system"] == "SGM17TOP")
    assert (row["models"], row["seeds"]) == ("8", "1+2")
    main(["table", "sigmorphon2017", str(results.root), f"--measured={listed}"])
    changed = replace(next(run for run in read_runs(table, listed) if run.model == "haem-crp"), test_greedy=50.0)
    models = {run.model for run in add_runs(table, already_listed(table, listed), [changed]) if run.voters > 1}
    assert models == {"hacm", "hacm-crp", "hacm-dumb", "haem-dumb"}
