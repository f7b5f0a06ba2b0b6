import os

import pytest

from il_morph.errors import InputError
from il_morph.files import read_bytes, refuse_to_overwrite, write_atomically


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


def test_links_and_pipes_stay_what_they_are(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    write_atomically(link, "content")
    assert link.is_symlink() and (tmp_path / "file").read_text() == "content"

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, "content")
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
