"""`il-morph split`, and the draw behind it."""
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.data.formats import Sample, read_data
from il_morph.data.splitting import LEMMA, LINE, split_samples
from il_morph.errors import InputError
from tests.cli import error_of

FORMS = [f"word{number}\tword{number}{ending}\tV;{tag}\n" for number in range(20)
         for ending, tag in (("ed", "PST"), ("s", "PRS"), ("ing", "PTCP"))]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "swedish.tsv"
    path.write_text("".join(FORMS), encoding="utf-8")
    return path


def split(capsys, *arguments) -> dict:
    """The content of each part, by the name of its file."""
    capsys.readouterr()
    assert main(["split", *map(str, arguments)]) == 0
    return {Path(line).name: Path(line).read_bytes() for line in capsys.readouterr().out.splitlines()}


letters = st.lists(st.sampled_from("abcdefghijklmno"), min_size=10, max_size=60)
samples = letters.map(lambda drawn: [Sample(letter, "", letter) for letter in drawn])
several_shares = st.sampled_from([(80, 10, 10), (90, 10), (34, 33, 33)])


@given(samples, st.integers(0, 5), st.sampled_from([LEMMA, LINE]), several_shares)
def test_every_sample_is_in_one_part_and_lemmas_stay_together(data, seed, by, shares):
    lemmas = {sample.input for sample in data}
    if by == LEMMA and len(lemmas) < len(shares):
        with pytest.raises(InputError, match="--split-by=line"):
            split_samples(data, shares, seed, by)
        return
    parts = split_samples(data, shares, seed, by).parts
    assert sorted(number for part in parts.values() for number in part) == list(range(len(data)))
    assert all(parts.values()) and all(part == sorted(part) for part in parts.values())
    if by == LEMMA:
        inputs = [{data[number].input for number in part} for part in parts.values()]
        assert sum(map(len, inputs)) == len(lemmas)
    else:
        assert all(abs(len(part) - share * len(data) / 100) < 2 for part, share in zip(parts.values(), shares))


def test_lines_are_split_80_10_10_and_stay_as_they_are(file, capsys, tmp_path):
    parts = split(capsys, "--split-by=line", file, tmp_path / "parts")
    assert {name: part.count(b"\n") for name, part in parts.items()} == {"train.tsv": 48, "dev.tsv": 6, "test.tsv": 6}
    lines = [line for part in parts.values() for line in part.decode("utf-8").splitlines(keepends=True)]
    assert sorted(lines) == sorted(FORMS)
    train = parts["train.tsv"].decode("utf-8").splitlines(keepends=True)
    assert train == [line for line in FORMS if line in set(train)]


def test_lemmas_that_repeat_are_split_by_lemma(file, capsys, caplog):
    caplog.set_level("INFO")
    parts = split(capsys, file)
    assert (file.parent / "swedish-split" / "train.tsv").exists()
    lemmas = [{line.split(b"\t")[0] for line in part.splitlines()} for part in parts.values()]
    assert list(map(len, lemmas)) == [16, 2, 2]
    assert len(set.union(*lemmas)) == 20
    assert "split by lemma" in caplog.text and "train.tsv: 48 lines, 16 different inputs" in caplog.text


def test_lines_without_repeated_lemmas_are_split_by_line(tmp_path, capsys, caplog):
    caplog.set_level("INFO")
    path = tmp_path / "pairs"
    path.write_text("".join(f"a{number}\tb{number}\n" for number in range(20)))
    assert set(split(capsys, "--parts=50,50", path)) == {"train", "dev"}
    assert "split by line" in caplog.text


def test_the_seed_decides(file, capsys, tmp_path):
    first, again, other = (split(capsys, f"--seed={seed}", file, tmp_path / name)
                           for seed, name in ((1, "a"), (1, "b"), (2, "c")))
    assert first == again == split(capsys, file, tmp_path / "d")
    assert first != other


def test_header_mark_and_line_ends_survive(tmp_path, capsys):
    path = tmp_path / "data.csv"
    lines = [f"word{number},words{number},N;PL" for number in range(20)]
    path.write_bytes(("\ufefflemma,form,msd\r\n" + "\r\n".join(lines)).encode("utf-8"))
    parts = split(capsys, path)
    assert all(part.startswith(b"lemma,form,msd\r\n") for part in parts.values())
    assert sum(part.count(b"word") for part in parts.values()) == 40
    for name in parts:
        data = read_data(tmp_path / "data-split" / name)
        assert all(sample.tag == "N;PL" for sample in data.samples)
    assert sum(len(part.splitlines()) - 1 for part in parts.values()) == 20


@pytest.mark.parametrize("flags", [[], ["--force"]])
def test_a_part_never_takes_the_place_of_the_file(file, capsys, tmp_path, flags):
    (tmp_path / "parts").mkdir()
    whole, content = tmp_path / "parts" / f"dev{Path(file).suffix}", Path(file).read_bytes()
    whole.write_bytes(content)
    message = error_of(capsys, "split", *flags, str(whole), str(tmp_path / "parts"))
    assert message.startswith(f"{whole} is the file to split") and "choose another folder" in message
    assert [path.name for path in (tmp_path / "parts").iterdir()] == [whole.name] and whole.read_bytes() == content


def test_parts_are_only_overwritten_with_force(file, capsys, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "test.tsv").write_text("precious")
    message = error_of(capsys, "split", str(file), str(tmp_path / "parts"))
    assert "test.tsv exists already" in message
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["test.tsv"]
    assert len(split(capsys, "--force", file, tmp_path / "parts")) == 3


@pytest.mark.parametrize("flags", [[], ["--force"]])
def test_no_part_of_another_split_stays_beside_the_parts(file, capsys, tmp_path, flags):
    """Its lemmas would be in the training data too."""
    old = split(capsys, file, tmp_path / "parts")
    for part in ([] if flags else ["train.tsv", "dev.tsv"]):
        (tmp_path / "parts" / part).unlink()
    there = sorted((tmp_path / "parts").iterdir())
    message = error_of(capsys, "split", "--parts=50,50", *flags, str(file), str(tmp_path / "parts"))
    assert message.startswith(f"{tmp_path / 'parts' / 'test.tsv'} is not a part of this split but has lines of ")
    assert "delete or move it, or choose another folder" in message
    assert sorted((tmp_path / "parts").iterdir()) == there, "nothing is written"
    assert all(path.read_bytes() == old[path.name] for path in there)


def test_data_of_another_origin_may_lie_beside_the_parts(file, capsys, caplog, tmp_path):
    other = tmp_path / "parts" / "test.tsv"
    other.parent.mkdir()
    other.write_text("another\tothers\tN;PL\n")
    assert set(split(capsys, "--parts=50,50", file, tmp_path / "parts")) == {"train.tsv", "dev.tsv"}
    assert f"{other} is not a part of this split and stays as it is" in caplog.text
    assert other.read_text() == "another\tothers\tN;PL\n"


@pytest.mark.parametrize("arguments, message", [
    (["FILE", ""], "FOLDER is empty: give a folder, or leave it out"),
    (["", "parts"], "FILE is empty: give a file, or - for standard input"),
    ([""], "FILE is empty: give a file, or - for standard input"),
    (["."], ". is not a file"),
])
def test_paths_that_are_none(file, capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert error_of(capsys, "split", *(str(file) if each == "FILE" else each for each in arguments)).startswith(message)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("arguments, message", [
    (["--parts=80,10"], "--parts takes two or three percentages that sum to 100, as in 80,10,10, not '80,10'"),
    (["--parts=100"], "--parts takes two or three percentages"),
    (["--parts=90,10,0"], "--parts takes two or three percentages"),
    (["--parts=a,b,c"], "--parts takes two or three percentages"),
    (["--split-by=word"], "--split-by takes one of lemma, line, sentence, not 'word'"),
    (["--seed=x"], "--seed takes a whole number from 0 up, not 'x'"),
])
def test_bad_flags(file, capsys, arguments, message):
    assert error_of(capsys, "split", *arguments, str(file)).startswith(message)


@pytest.mark.parametrize("text, message", [
    ("a\tb\n" * 9, "has 9 lines, too few to split: give at least 10"),
    ("a\tb\n" * 12, "has only 1 different inputs, too few for 3 parts; give more data, or split it with "
                     "--split-by=line"),
    ("a\tpos=N\n" * 12, "has no outputs"),
])
def test_files_that_cannot_be_split(tmp_path, capsys, text, message):
    path = tmp_path / "small"
    path.write_text(text)
    assert message in error_of(capsys, "split", str(path))
    assert [each.name for each in tmp_path.iterdir()] == ["small"]


def test_standard_input_needs_a_folder(capsys):
    assert "give the folder for the parts as well" in error_of(capsys, "split", "-")
