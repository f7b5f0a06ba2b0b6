"""How long the runs of a table will still take, and how that is shown."""
import json
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from il_morph.run_folder import RunFolder
from il_morph.runs.display import Screen, Standing, duration
from il_morph.runs.eta import (
    AtWork,
    Experience,
    Pace,
    epochs_expected,
    last_end,
    read_pace,
    seconds_left,
    share_done,
    time_left,
)
from il_morph.runs.spec import RunSpec, Task


def planned(folder="/nowhere", model="ca-d", epochs=60, patience=15):
    spec = RunSpec("train", "dev", str(folder), settings={"epochs": epochs, "patience": patience})
    return Task(spec, f"low welsh {model} seed 1", f"low {model}")


def pace(epochs, per_epoch=2.0, best=0, since=0.0):
    return Pace(epochs, epochs * per_epoch, best, 50.0, since)


def write_log(folder, accuracies, phase="il", seconds=2.0):
    folder.mkdir(exist_ok=True)
    rows = [f"{phase}\t{number}\t{seconds}\t0.1\t90\t{accuracy}\tNA" for number, accuracy in enumerate(accuracies)]
    header = "phase\tepoch\tseconds\tloss\ttrain_accuracy\tdev_accuracy\tdev_loss"
    RunFolder(folder).log.write_text("\n".join([header, *rows]) + "\n")


def write_stats(folder, epochs, seconds):
    folder.mkdir()
    RunFolder(folder).stats.write_text(json.dumps({"training": {"epochs": epochs, "seconds": seconds}}))


def test_the_pace_of_a_training_is_read_from_its_log(tmp_path):
    assert read_pace(RunFolder(tmp_path / "run")) is None
    write_log(tmp_path / "run", [10.0, 30.0, 30.0, 20.0])
    os.utime(tmp_path / "run/f.log", (time.time() - 100, time.time() - 100))
    found = read_pace(RunFolder(tmp_path / "run"))
    assert (found.epochs, found.seconds, found.best, found.dev_accuracy) == (4, 8.0, 1, 20.0)
    assert 99 < found.since < 110


@pytest.mark.parametrize("content", ["", "phase\tepoch\n", "nonsense\nmore\tnonsense\n", "\0\xff",
                                     "phase\tepoch\tseconds\tdev_accuracy\nmrt\t-1\t2.0\t50\n"])
def test_a_log_without_epochs_gives_no_pace(tmp_path, content):
    (tmp_path / "f.log").write_bytes(content.encode("latin-1"))
    assert read_pace(RunFolder(tmp_path)) is None


def test_a_run_is_expected_to_stop_as_finished_ones_have_but_within_its_limits():
    assert epochs_expected(planned(), pace(5), share=0.5) == 30
    assert epochs_expected(planned(), pace(25, best=24), share=0.5) == 40, "its patience is not over before"
    assert epochs_expected(planned(), pace(55, best=54), share=0.5) == 60, "its most epochs"
    assert epochs_expected(planned(), pace(35, best=10), share=0.5) == 35, "it is due"


@settings(deadline=None)
@given(st.integers(1, 60), st.floats(0.1, 100, allow_subnormal=False), st.floats(0, 1, allow_subnormal=False),
       st.data())
def test_the_estimate_falls_with_every_epoch_and_every_second(epochs, per_epoch, share, data):
    """While the best epoch stays the same."""
    best = data.draw(st.integers(0, epochs - 1))
    now = seconds_left(planned(), pace(epochs, per_epoch, best), share)
    later = seconds_left(planned(), pace(epochs, per_epoch, best, since=per_epoch / 2), share)
    next_epoch = seconds_left(planned(), pace(epochs + 1, per_epoch, best), share)
    assert 0 <= next_epoch <= later + 1e-6 and later <= now
    if now > 0:
        assert later < now


def test_the_estimate_of_a_table_falls_from_the_first_epoch_to_the_end():
    """Two at a time, four in all; each takes 60 epochs of 2 seconds."""
    waiting, estimates = [[planned()], [planned()]], []
    for epochs in range(1, 60):
        at_work = [AtWork(planned(), pace(epochs), 2.0 * epochs)] * 2
        estimates.append(time_left(at_work, waiting, 2, Experience()))
    assert estimates[0] == pytest.approx(59 * 2 + 60 * 2)
    assert estimates == sorted(estimates, reverse=True) and len(set(estimates)) == len(estimates)
    assert estimates[-1] == pytest.approx(2 + 120)


def test_nothing_is_said_before_anything_is_known():
    assert time_left([AtWork(planned(), None, 5.0)], [[planned()]], 2, Experience()) is None


def test_finished_runs_say_how_long_others_take(tmp_path):
    experience = Experience()
    for name, model, epochs, seconds in (("a", "ca-d", 30, 100.0), ("b", "ca-d", 15, 60.0), ("c", "ca-r", 60, 500.0)):
        write_stats(tmp_path / name, epochs, seconds)
        experience.add(planned(tmp_path / name, model))
    assert experience.share("low ca-d") == pytest.approx((0.5 + 0.25) / 2)
    assert experience.share("low ca-rm") == pytest.approx((0.5 + 0.25 + 1) / 3), "of all, where none is alike"
    starting = AtWork(planned(), None, 30.0)
    assert time_left([starting], [], 1, experience) == pytest.approx(80 - 30)
    assert time_left([starting], [[planned(model="ca-r")]], 1, experience) == pytest.approx(80 - 30 + 500)
    assert time_left([starting], [[planned(model="ca-r")]], 2, experience) == pytest.approx(500)
    assert time_left([starting], [[planned()], [planned(), planned()]], 2, experience) == pytest.approx(80 - 30 + 160)


def test_jobs_start_as_soon_as_a_slot_is_free():
    assert last_end([], [5.0], 1) == 5
    assert last_end([3.0, 9.0], [], 2) == 9
    assert last_end([3.0, 9.0], [4.0, 4.0], 2) == 11
    assert last_end([3.0], [4.0], 2) == 4


@pytest.mark.parametrize("seconds, words", [
    (None, "?"), (0.2, "0 s"), (99.4, "99 s"), (100, "1 min 40 s"), (599.9, "9 min 59 s"), (3000, "50 min"),
    (9000, "2.5 h")])
def test_durations_for_people(seconds, words):
    assert duration(seconds) == words


def test_a_screen_is_drawn_over_the_last_one(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "4")
    screen = Screen()
    screen.show(Standing(4, 1, 0, ["one", "two", "three"], done=2.5, left=70.0))
    screen.close(Standing(4, 3, 1, [], done=4, left=0.0))
    first, second = capsys.readouterr().err.split("\r")[1:]
    assert first.startswith("\033[J█") and first.endswith(
        "| 1 of 4 done, 3 running, 0 failed, 70 s left\n  one\n  and 2 more"), "a terminal of four lines"
    assert second.startswith("\033[2A\033[J█") and second.endswith("| 3 of 4 done, 0 running, 1 failed, 0 s left\n")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"training": null}', '{"training": {"epochs": "x"}}'])
def test_damaged_stats_teach_nothing(tmp_path, content):
    (tmp_path / "f.stats").write_text(content)
    experience = Experience()
    experience.add(planned(tmp_path))
    assert experience == Experience()


def test_the_share_of_a_run_that_is_done():
    assert share_done(AtWork(planned(), None, 3.0), Experience()) == 0
    assert share_done(AtWork(planned(), pace(15), 30.0), Experience()) == 0.25
