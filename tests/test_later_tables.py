"""The tables of later systems: grapheme-to-phoneme, segmentation and inflection of 2022, with error rates, F1, symbols,
thinned data and languages of some settings only."""
from __future__ import annotations

import json
import subprocess

import pytest

from il_morph.commands import main
from il_morph.reproduction.ensembles import make_ensembles
from il_morph.reproduction.finish import has_all_languages
from il_morph.reproduction.paper_tables import load_table
from il_morph.reproduction.run_list import read_runs
from il_morph.run_folder import ResultsTree
from tests.tiny import PROJECT


def add_run(results: ResultsTree, setting: str, model: str, language: str, seed: str, outputs: list[str],
            scores: dict[str, float], **settings: str) -> None:
    """A finished run with predictions for an input of its own on each line."""
    folder = results.run(setting, model, language, "", seed)
    folder.path.mkdir(parents=True)
    folder.predictions("beam4.test").write_text(
        "".join(f"e\u0301{n}\t\t{output}\n" for n, output in enumerate(outputs)), encoding="utf-8")
    folder.stats.write_text(json.dumps({
        "scores": dict.fromkeys(("greedy.dev", "greedy.test", "beam4.dev", "beam4.test"), scores),
        "training": {"epochs": 3, "seconds": 60.0, "cpu_seconds": 60.0}, "engine": "native", "settings": settings}))


@pytest.fixture
def g2p(tmp_path):
    """Three seeds of G2P: their inputs are NFD, as the preset has them, those of the data are not."""
    data = tmp_path / "data" / "low"
    data.mkdir(parents=True)
    (data / "ita_test.tsv").write_text("é0\ta b\né1\tt͡ʃ a\n", encoding="utf-8")
    results = ResultsTree(tmp_path / "results")
    for seed, outputs in {"1": ["a b", "t͡ʃ"], "2": ["a b", "t͡ʃ a"], "3": ["a", "t͡ʃ a"]}.items():
        right = sum(map(str.__eq__, outputs, ["a b", "t͡ʃ a"]))
        add_run(results, "low", "g2p", "ita", seed, outputs, {"accuracy": 50.0 * right}, unicode="nfd-nfc",
                output_separator=" ")
    return tmp_path


def test_seeds_of_g2p_vote_in_their_unicode_form_and_are_shown_by_their_word_error_rate(g2p, capsys):
    table, results = load_table("g2p2021"), ResultsTree(g2p / "results")
    make_ensembles(table, g2p / "data", results)
    runs = {run.seed: run for run in read_runs(table, results.root)}
    assert {seed: run.test for seed, run in runs.items()} == {"1": 50, "2": 0, "3": 50, "1+2+3": 0}
    evaluation = results.run("low", "g2p", "ita", "", "1+2+3").evaluation("beam4.test").read_text()
    assert "word error rate         0.0000\n" in evaluation and "symbol error rate       0.0000\n" in evaluation
    assert main(["table", "--by-language", "g2p2021", str(results.root)]) == 0
    shown = capsys.readouterr().out
    assert "Test word error rate in percent, beam 4." in shown and "fewer than the shared task's 10 voted" in shown
    assert main(["table", "g2p2021", str(results.root)]) == 0
    shown = capsys.readouterr().out
    assert "The shared task\n" in shown and "runs: ours out of the shared task's." in shown and "paper" not in shown


def test_a_list_of_runs_keeps_word_error_rates(g2p, capsys):
    measured = g2p / "measured.tsv"
    root = str(g2p / "results")
    assert main(["table", "g2p2021", root, f"--measured={measured}"]) == 0
    shown = capsys.readouterr().out
    assert main(["table", "g2p2021", str(measured)]) == 0
    assert capsys.readouterr().out == shown and "33.3" in shown  # the mean of 50, 0 and 50


def test_segmentation_is_shown_by_its_f1(tmp_path, capsys):
    results = ResultsTree(tmp_path)
    add_run(results, "word", "segmentation", "mon", "1", ["a @@b"], {"accuracy": 10.0, "segment_f1": 98.5},
            boundary=" @@")
    assert main(["table", "segmentation2022", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "Test segment F1 in percent, beam 4." in shown and "98.5" in shown and "+0.4" in shown


def test_every_36th_line_is_the_training_data_of_100_lines(tmp_path, capsys):
    for part, number in (("train", 80), ("dev", 2), ("test", 2)):
        folder = tmp_path / "g2p2020" / part
        folder.mkdir(parents=True)
        (folder / f"fre_{part}.tsv").write_text("".join(f"mot{n}\tm o\n" for n in range(number)), encoding="utf-8")
    assert main(["run", "g2p2020", f"--data={tmp_path / 'g2p2020'}", f"--results={tmp_path / 'results'}",
                 "--setting=100", "--languages=fre", "--seeds=1", "--engine=native", "--jobs=1", "--", "--epochs=1",
                 "--input=4", "--action-input=4", "--enc-hidden=4", "--dec-hidden=4"]) == 0
    trained = (tmp_path / "results" / "data" / "100" / "fre_train.tsv").read_text(encoding="utf-8")
    assert trained == "mot0\tm o\nmot36\tm o\nmot72\tm o\n"
    stats = json.loads((tmp_path / "results" / "100" / "g2p" / "fre" / "1" / "f.stats").read_text())
    assert stats["run"]["train"].endswith("results/data/100/fre_train.tsv")
    assert "word error rate" in capsys.readouterr().out


def test_languages_may_have_formats_of_their_own(capsys):
    assert main(["run", "segmentation2022", "--dry-run"]) == 0
    czech, mongolian = capsys.readouterr().out.splitlines()
    assert "--no-feat-format" in czech and "--columns" not in czech
    assert "--columns=input,output,-" in mongolian and "--no-feat-format" not in mongolian


def test_a_language_may_have_data_in_some_settings_only(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "inflection2022sizes", "--dry-run", "--seeds=1", "--models=best,ca-r"]) == 0
    commands = capsys.readouterr().out.splitlines()
    assert len(commands) == 2 * (10 + 6 + 10)  # German has 100 to 600 lines
    assert {f"deu_{n}.train" in command for n in (700, 800, 900, 1000) for command in commands} == {False}
    assert load_table("inflection2022sizes").groups("deu") == [(str(n), "deu") for n in range(100, 700, 100)]
    assert main(["run", "inflection2022sizes", "--setting=700", "--languages=deu"]) == 2
    assert "inflection2022sizes has no deu in setting 700" in capsys.readouterr().err
    assert main(["run", "inflection2022sizes", "--help"]) == 0
    assert "deu (only 100 200 300 400 500 600)" in capsys.readouterr().out


def test_a_preset_may_choose_the_epochs_and_tables_may_share_data(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "inflection2022sizes", "--dry-run", "--seeds=1", "--setting=100", "--models=best,ca-r",
                 "--languages=ara"]) == 0
    best, ca_r = capsys.readouterr().out.splitlines()
    assert "--epochs" not in best and "--patience" not in best and "--epochs=60" in ca_r and "--patience=15" in ca_r
    assert f"{tmp_path}/data/sigmorphon2022/part2/ara_100.train" in best
    assert main(["run", "inflection2022small", "--dry-run", "--seeds=1", "--languages=tur"]) == 0
    assert f"{tmp_path}/data/sigmorphon2022/part1/tur_small.train" in capsys.readouterr().out


def test_missing_languages_of_a_setting_leave_its_mean_incomplete(tmp_path):
    results = ResultsTree(tmp_path)
    for language in ("ara", "eng"):
        add_run(results, "700", "best", language, "1", ["a"], {"accuracy": 50.0})
    table = load_table("inflection2022sizes")
    assert has_all_languages(table, read_runs(table, tmp_path))
    add_run(results, "600", "best", "eng", "1", ["a"], {"accuracy": 50.0})
    assert not has_all_languages(table, read_runs(table, tmp_path))


@pytest.mark.parametrize("script, table, arguments", [
    ("run_g2p.sh", "g2p2020", ["2020"]), ("run_g2p.sh", "g2p2021", ["2021"]),
    ("run_segmentation.sh", "segmentation2022", []), ("run_inflection2022.sh", "inflection2022small", ["small"]),
    ("run_inflection2022.sh", "inflection2022sizes", ["sizes"])])
def test_the_scripts_run_their_tables(script, table, arguments, tmp_path):
    (tmp_path / "il-morph").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "il-morph").chmod(0o755)
    done = subprocess.run([PROJECT / "bin" / script, *arguments, "--dry-run"], capture_output=True, text=True,
                          env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert done.stdout == f"run {table} --dry-run\n", done.stderr


@pytest.mark.parametrize("script, message", [
    ("run_g2p.sh", "bin/run_g2p.sh 2020 or bin/run_g2p.sh 2021"),
    ("run_inflection2022.sh", "bin/run_inflection2022.sh small or bin/run_inflection2022.sh sizes")])
def test_scripts_of_two_tables_ask_which(script, message):
    done = subprocess.run([PROJECT / "bin" / script, "--dry-run"], capture_output=True, text=True)
    assert done.returncode == 1 and message in done.stderr
