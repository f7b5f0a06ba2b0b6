"""`il-morph align`: what a model is taught, for people and for programs."""
import pytest

from il_morph.commands import main
from tests.cli import error_of

DATA = "walk\twalked\tV;PST\nsing\tsang\tV;PST\nkitap\tkitabı\tN;ACC\nyiyor\tye\tV\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text(DATA, encoding="utf-8")
    return str(path)


def align(capsys, *arguments):
    assert main(["align", "--sigm2017format", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_text(file, capsys):
    lines = align(capsys, "--align-cls", file)
    assert lines[:4] == ["walk + V;PST → walked", "  walk〰〰", "  walked", "  w a l k +e +d"]
    assert "  k i t a -p +b +ı" in lines


def test_tsv_has_a_row_for_each_pair(file, capsys):
    rows = [line.split("\t") for line in align(capsys, "--align-dumb", "--format=tsv", file)]
    assert rows[1] == ["sing", "sang", "V;PST", "sing", "sang", "s -i +a n g"]
    assert len(rows) == 4


def test_hard_attention(file, capsys):
    rows = [line.split("\t") for line in align(capsys, "--align-cls", "--transducer=hard", "--format=tsv", file)]
    assert rows[1][-1] == "> +s > +a > +n > +g >"


def test_the_expert_shows_all_its_optimal_sequences(file, capsys):
    lines = align(capsys, "--align-expert", file)
    assert lines[:2] == ["walk + V;PST → walked (1 optimal sequence)", "  w a l k +e +d"]
    assert lines[2:5] == ["sing + V;PST → sang (2 optimal sequences)", "  s -i +a n g", "  s +a -i n g"]


def test_most_limits_them(file, capsys):
    rows = [line.split("\t") for line in align(capsys, "--align-expert", "--most=1", "--format=tsv", file)]
    assert [row[0] for row in rows] == ["walk", "sing", "kitap", "yiyor"]
    assert rows[1][3:] == ["2", "s -i +a n g"]


def test_the_same_seed_gives_the_same_alignments(file, capsys):
    first = align(capsys, "--iterations=10", "--dynet-seed=4", file)
    assert first == align(capsys, "--iterations=10", "--dynet-seed=4", "--align-smart", file)
    assert any("〰" in line for line in first)


def test_try_reverse_aligns_at_the_end(tmp_path, capsys):
    path = tmp_path / "prefixes.tsv"
    path.write_text("mila\tunmila\tV\nkora\tunkora\tV\n", encoding="utf-8")
    assert align(capsys, "--align-dumb", str(path))[1] == "  mila〰〰"
    assert align(capsys, "--align-dumb", "--try-reverse", str(path))[1] == "  〰〰mila"


@pytest.mark.parametrize("flags, message", [
    (["--align-cls", "--align-dumb"], "--align-cls and --align-dumb exclude each other"),
    (["--align-expert", "--align-cls"], "exclude each other"),
    (["--align-expert", "--transducer=hard"], "leave out --transducer=hard"),
    (["--format=xml"], "--format takes one of text, tsv"),
    (["--iterations=0"], "--iterations takes a whole number from 1 up"),
    (["--iterations=99999999999999999999"], "--iterations takes a whole number from 1 up to 1000000"),
    (["--align-expert", "--most=99999999999999999999"], "--most takes a whole number from 1 up to 1000000"),
    (["--most=3"], "--most needs --align-expert"),
    (["--align-cls", "--iterations=3"], "--iterations only affects --align-smart"),
    (["--align-cls", "--dynet-seed=5"], "--dynet-seed only affects --align-smart"),
    (["--align-expert", "--dynet-seed=5"], "--dynet-seed only affects --align-smart"),
    (["--align-expert", "--try-reverse"], "--align-expert aligns nothing, so --try-reverse has no effect"),
])
def test_errors(file, capsys, flags, message):
    assert message in error_of(capsys, "align", "--sigm2017format", *flags, file)


def test_the_expert_of_a_long_pair(tmp_path, capsys):
    path = tmp_path / "long.tsv"
    path.write_text("a" * 510 + "\t" + "b" * 510 + "\tV\n", encoding="utf-8")
    lines = align(capsys, "--align-expert", "--most=1", str(path))
    assert lines[1].count("-a") == lines[1].count("+b") == 510


def test_equal_pairs_have_a_title_each(tmp_path, capsys):
    path = tmp_path / "twice"
    path.write_text("walk\twalked\tV;PST\n" * 2, encoding="utf-8")
    assert main(["align", "--align-cls", "--sigm2017format", str(path)]) == 0
    assert capsys.readouterr().out.count("walk + V;PST → walked\n") == 2
