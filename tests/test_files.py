import os
import signal
import subprocess
import sys

import pytest

from il_morph.errors import InputError
from il_morph.files import (
    open_own,
    read_bytes,
    read_regular,
    refuse_to_overwrite,
    write_atomically,
    write_output,
    written_output,
)


def test_text_and_bytes_are_written_as_they_are(tmp_path):
    write_atomically(tmp_path / "text", "é\r\n")
    write_atomically(str(tmp_path / "bytes"), b"\x00\xff")
    assert read_bytes(tmp_path / "text") == "é\r\n".encode()
    assert read_bytes(tmp_path / "bytes") == b"\x00\xff"
    assert sorted(os.listdir(tmp_path)) == ["bytes", "text"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="cannot write .*file: No space left on device"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot write .*: No such file or directory"):
        write_atomically(tmp_path / "missing" / "file", "")
    with pytest.raises(InputError, match="cannot write .*: Is a directory"):
        write_atomically(tmp_path, "")


def test_links_and_pipes_that_the_user_names_stay_what_they_are(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    write_output(link, "content")
    assert link.is_symlink() and (tmp_path / "file").read_text() == "content"

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_output(pipe, "content")
    assert os.read(reader, 100) == b"content"
    os.close(reader)
    assert pipe.is_fifo()


def test_overwriting_needs_force(tmp_path):
    path = tmp_path / "file"
    refuse_to_overwrite(path)
    path.write_text("")
    refuse_to_overwrite(path, force=True)
    with pytest.raises(InputError, match="exists already.*--force"):
        refuse_to_overwrite(path)


@pytest.mark.parametrize("there", ["link", "dangling link", "pipe"])
def test_files_that_we_name_replace_links_and_pipes(tmp_path, there):
    name, victim = tmp_path / "folder" / "f.log", tmp_path / "victim"
    name.parent.mkdir()
    if there == "pipe":
        os.mkfifo(name)
    else:
        name.symlink_to(victim)
    if there == "link":
        victim.write_text("precious")
        victim.chmod(0o600)
    write_atomically(name, "ours")
    assert not name.is_symlink() and name.is_file() and name.read_text() == "ours"
    assert victim.read_text() == "precious" if there == "link" else not victim.exists()
    assert os.listdir(name.parent) == ["f.log"]


def test_files_that_we_write_to_bit_by_bit_are_no_links_or_pipes(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "symbolic").symlink_to(victim)
    os.link(victim, tmp_path / "hard")
    os.mkfifo(tmp_path / "pipe")
    for name in ("symbolic", "hard", "pipe"):
        with pytest.raises(OSError, match=f"{name} is a link, a pipe or a device; delete it"):
            open_own(tmp_path / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    assert victim.read_text() == "precious"


def test_only_regular_files_up_to_a_size_are_read_from_folders(tmp_path):
    file, link, pipe, endless = (tmp_path / name for name in ("file", "link", "pipe", "endless"))
    file.write_bytes(b"content")
    link.symlink_to(file)
    assert read_regular(file) == read_regular(link) == b"content"
    with pytest.raises(InputError, match="file: it has 7 bytes, more than 6"):
        read_regular(file, 6)
    os.mkfifo(pipe)
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless, tmp_path):
        with pytest.raises(InputError, match=f"cannot read {path}: it is not a regular file|Is a directory"):
            read_regular(path)


KILLED = """
import os, signal, sys
from il_morph.files import written_output
with written_output(sys.argv[1]) as stream:
    stream.write(b"half of it")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_goes_with_the_next_one(tmp_path):
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path / "out"]).returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".out.") and left.endswith(".tmp")
    others = [".out.tmp", ".other.0123456789abcdef.tmp", ".out.0123456789abcdeg.tmp"]
    for name in others:
        (tmp_path / name).write_text("not ours")
    (tmp_path / ".out.0123456789abcdef.tmp").symlink_to(tmp_path / ".out.tmp")
    write_output(tmp_path / "out", "whole")
    assert {*os.listdir(tmp_path)} == {"out", ".out.0123456789abcdef.tmp", *others}


def test_two_processes_that_write_the_same_file_do_not_disturb_each_other(tmp_path):
    with written_output(tmp_path / "out") as stream:
        stream.write(b"one")
        write_output(tmp_path / "out", b"other")
        assert (tmp_path / "out").read_text() == "other"
    assert (tmp_path / "out").read_text() == "one"
    assert os.listdir(tmp_path) == ["out"]
