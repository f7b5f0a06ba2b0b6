"""Locks that belong to open files: refused, waited for, inherited, and taken back by the kernel."""
import os
import subprocess
import sys
import time

import pytest

from il_morph.errors import InputError
from il_morph.runs import locks
from il_morph.runs.locks import FileLock
from il_morph.runs.results_folder import ResultsFolder

HOLDER = """
import sys, time
from il_morph.runs.locks import FileLock
lock = FileLock(sys.argv[1])
print(lock.acquire(wait=False), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has the lock, until its input ends or it is killed."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path / "lock"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "True\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_lock_that_another_process_has_is_refused_and_says_who(tmp_path, holder):
    lock = FileLock(tmp_path / "lock")
    assert not lock.acquire(wait=False)
    assert lock.owner().startswith(f"process {holder.pid} on ")


def test_a_lock_is_waited_for(tmp_path, holder):
    waiting = subprocess.Popen([sys.executable, "-c", HOLDER.replace("wait=False", "wait=True"), tmp_path / "lock"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    time.sleep(0.3)
    assert waiting.poll() is None
    holder.stdin.close()
    assert waiting.communicate()[0] == "True\n"


def test_kill_9_frees_a_lock(tmp_path, holder):
    holder.kill()
    holder.wait()
    assert FileLock(tmp_path / "lock").acquire(wait=False)


def test_a_process_that_inherits_a_lock_holds_it_after_its_parent_let_go(tmp_path):
    lock = FileLock(tmp_path / "lock")
    assert lock.acquire(wait=False)
    heir = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE,
                            pass_fds=[lock.descriptor])
    stranger = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    lock.release()
    assert not FileLock(tmp_path / "lock").acquire(wait=False)
    heir.communicate()
    assert FileLock(tmp_path / "lock").acquire(wait=False), "only those that it is handed to inherit it"
    stranger.communicate()


def test_a_lock_file_that_was_replaced_while_it_was_waited_for_does_not_count(tmp_path, monkeypatch):
    path, flock = tmp_path / "lock", locks.fcntl.flock

    def replaced(descriptor, operation):
        flock(descriptor, operation)
        if not (tmp_path / "old").exists():
            os.rename(path, tmp_path / "old")

    monkeypatch.setattr(locks.fcntl, "flock", replaced)
    lock = FileLock(path)
    assert lock.acquire(wait=False)
    assert os.path.samestat(os.stat(path), os.fstat(lock.descriptor))


def test_a_lock_file_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(InputError, match="cannot open the lock file .*/lock: "):
        FileLock(tmp_path / "lock").acquire()
    assert (tmp_path / "victim").read_text() == "precious"


def test_systems_without_locks_are_told_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    with pytest.raises(InputError, match="Windows Subsystem for Linux"):
        FileLock(tmp_path / "lock").acquire()


def test_file_systems_without_locks_are_named(tmp_path, monkeypatch):
    def unsupported(descriptor, operation):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    with pytest.raises(InputError, match="cannot lock .*/lock: Operation not supported; choose a results folder"):
        FileLock(tmp_path / "lock").acquire()


# The lock of a run

def test_a_run_has_one_lock_and_takes_it_along(tmp_path):
    folder = ResultsFolder(tmp_path / "run")
    assert {path.name for path in folder.path.iterdir()} == {"lock"}
    with pytest.raises(InputError, match=r"run is in use: process \d+ on .* trains there; wait for it"):
        ResultsFolder(tmp_path / "run")
    folder.close()
    assert list(folder.path.iterdir()) == []


def test_a_training_takes_over_the_lock_of_the_process_that_started_it(tmp_path, monkeypatch):
    lock = FileLock(tmp_path / "lock")
    assert lock.acquire(wait=False)
    monkeypatch.setenv(locks.HANDED_OVER, str(os.dup(lock.descriptor)))
    folder = ResultsFolder(tmp_path)
    lock.release()
    assert not FileLock(tmp_path / "lock").acquire(wait=False), "it is held until the training is over"
    folder.close()
    assert (tmp_path / "lock").read_text().startswith("process "), "whoever made it may look who trained"
    assert FileLock(tmp_path / "lock").acquire(wait=False)


@pytest.mark.parametrize("descriptor", ["", "x", "999", "0"])
def test_a_descriptor_of_something_else_is_no_lock(tmp_path, monkeypatch, descriptor):
    monkeypatch.setenv(locks.HANDED_OVER, descriptor)
    ResultsFolder(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_a_training_of_version_2_is_not_disturbed(tmp_path):
    older = FileLock(tmp_path / ".training")
    assert older.acquire(wait=False)
    with pytest.raises(InputError, match="is in use"):
        ResultsFolder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".training"]
    older.release()
    ResultsFolder(tmp_path).close()
    assert not (tmp_path / ".training").exists(), "what a training left that was killed"
