"""Spreadsheets, columns that are kept, and several columns of features."""
import io
import sys
import zipfile
from datetime import datetime

import pytest

from il_morph.commands import main
from il_morph.data.formats import ReadOptions, Sample, format_named, parse_data
from il_morph.data.office import MOST_BYTES, XLSX, kind_of_sheet, sheet_rows
from il_morph.model.modelfile import save_model
from il_morph.model.predictor import Predictor
from il_morph.report.answers import Answers
from tests.cli import TRAIN, error_of
from tests.random_models import random_model

openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl: pip install openpyxl")
HEADER = ["ID", "Lemma", "Features", "Form", "Speaker"]
ROWS = [HEADER, *([number, lemma, tag, form, "Ann"] for number, (lemma, tag, form) in enumerate(TRAIN, start=1))]
SAMPLES = [Sample(*sample) for sample in TRAIN]


def xlsx(rows, sheets=1) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    for _ in range(sheets - 1):
        book.create_sheet()
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def ods(rows) -> bytes:
    pytest.importorskip("odf", reason="needs odfpy: pip install odfpy")
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    document, table = OpenDocumentSpreadsheet(), Table(name="words")
    for row in rows:
        line = TableRow()
        for cell in row:
            line.addElement(TableCell())
            line.lastChild.addElement(P(text=str(cell)))
        table.addElement(line)
    document.spreadsheet.addElement(table)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


@pytest.fixture
def book(tmp_path):
    (tmp_path / "words.xlsx").write_bytes(xlsx(ROWS))
    return tmp_path / "words.xlsx"


@pytest.fixture
def model(tmp_path):
    save_model(tmp_path / "f.model", random_model())
    return str(tmp_path / "f.model")


@pytest.mark.parametrize("make", [xlsx, ods])
def test_the_first_sheet_is_read_like_a_file_with_tabs(make):
    content = make(ROWS)
    data = parse_data(content, "words", need_output=True)
    assert kind_of_sheet(content) == make.__name__
    assert data.samples == SAMPLES and "header row skipped" in data.description
    assert data.samples[0].row == ("1", "walk", "V;PST", "walked", "Ann")


def test_blank_rows_are_skipped_and_rows_keep_their_numbers():
    data = parse_data(xlsx([[None], *ROWS[:3], [None] * 5, *ROWS[3:]]), "words")
    assert data.samples == SAMPLES and [data.rows.line_of(index) for index in range(3)] == [3, 4, 6]


@pytest.mark.parametrize("make", [xlsx, ods])
def test_blank_rows_at_the_end_are_none(make):
    assert "blank" not in parse_data(make([*ROWS, [None] * 5, [None] * 5]), "words").description


def test_several_sheets_are_said(caplog):
    caplog.set_level("INFO")
    sheet_rows(xlsx(ROWS, sheets=3), "words")
    assert "words: 3 sheets, of which the first is read (Sheet)" in caplog.text


@pytest.mark.parametrize("content, message", [
    (lambda: xlsx([["a\nb", "c"]]), "line 1: column 1 contains a tab or a line end"),
    (lambda: xlsx([]), "the first sheet is empty"),
    (lambda: damaged(xlsx(ROWS)), "is not a spreadsheet that can be read"),
    (lambda: bomb(), "when unpacked"), (lambda: b"PK\x03\x04 and more", "is not a text file but a zip archive")])
def test_sheets_that_cannot_be_read_are_refused(content, message, tmp_path, capsys):
    (tmp_path / "odd.xlsx").write_bytes(content())
    assert message in error_of(capsys, "check", str(tmp_path / "odd.xlsx"))


def damaged(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"<" if name == "xl/workbook.xml" else old.read(name))
    return stream.getvalue()


def bomb() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(MOST_BYTES[XLSX] + 1))
    return stream.getvalue()


def test_without_the_library_the_message_says_what_to_install(monkeypatch, book, capsys):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "reading it needs openpyxl: pip install openpyxl; or save it as CSV" in error_of(capsys, "check", str(book))


def test_a_date_has_no_hours():
    noon = datetime(2024, 5, 1, 12)
    assert sheet_rows(xlsx([[datetime(2024, 5, 1), noon]]), "words") == [["2024-05-01", "2024-05-01 12:00:00"]]


# The commands

@pytest.mark.parametrize("name", ["new.ods", "new.xls"])
def test_no_lines_with_tabs_are_written_to_a_file_that_is_called_a_spreadsheet(book, model, tmp_path, capsys, name):
    assert "choose a name that ends with .xlsx or .tsv" in error_of(capsys, "predict", model, str(book),
                                                                    str(tmp_path / name))
    assert not (tmp_path / name).exists()


def test_predict_writes_a_copy_with_a_new_column(book, model, tmp_path, capsys):
    target = tmp_path / "new.xlsx"
    before = book.read_bytes()
    assert main(["predict", model, str(book), str(target)]) == 0
    rows = sheet_rows(target.read_bytes(), "new")
    expected = Predictor.load(model).predict([(lemma, tag) for lemma, tag, _ in TRAIN])
    assert [row[:5] for row in rows] == [[str(cell) for cell in row] for row in ROWS]
    assert [row[5] for row in rows] == ["prediction", *expected] and book.read_bytes() == before
    assert "exists already" in error_of(capsys, "predict", model, str(book), str(target))
    assert "leave out --nbest" in error_of(capsys, "predict", "--nbest=2", model, str(book), str(tmp_path / "n.xlsx"))
    (tmp_path / "words.tsv").write_text("walk\tV;PST\n", encoding="utf-8")
    assert "is none: choose a name" in error_of(capsys, "predict", model, str(tmp_path / "words.tsv"),
                                                str(tmp_path / "n.xlsx"))
    assert not (tmp_path / "n.xlsx").exists()


@pytest.mark.parametrize("make", [xlsx, ods])
def test_predictions_with_tabs_keep_the_other_columns(make, model, tmp_path, capsys):
    (tmp_path / "words").write_bytes(make(ROWS))
    assert main(["predict", model, str(tmp_path / "words")]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    expected = Predictor.load(model).predict([(lemma, tag) for lemma, tag, _ in TRAIN])
    assert rows == [[str(number), lemma, tag, output, "Ann"]
                    for number, ((lemma, tag, _), output) in enumerate(zip(TRAIN, expected), start=1)]


def test_a_spreadsheet_is_split_checked_and_trained_on(book, tmp_path, capsys, numpy_kernels):
    assert main(["split", str(book), str(tmp_path / "parts")]) == 0
    parts = [(tmp_path / "parts" / f"{part}.tsv").read_text("utf-8").splitlines() for part in ("train", "dev", "test")]
    assert all(part[0].split("\t") == HEADER for part in parts) and sum(map(len, parts)) == len(ROWS) + 2
    assert main(["check", str(book)]) == 0 and "(10 lines; header row skipped)" in capsys.readouterr().out
    sizes = ["--epochs=1", "--input=8", "--enc-hidden=8", "--dec-hidden=8", "--engine=native"]
    assert main(["train", *sizes, str(book), str(book), str(tmp_path / "r")]) == 0
    first = (tmp_path / "r" / "f.beam4.dev.predictions").read_text("utf-8").splitlines()[0].split("\t")
    assert first[:3] == ["1", "walk", "V;PST"] and first[4] == "Ann"


def test_the_page_takes_a_spreadsheet():
    answer = Answers({"words": Predictor(random_model())}).file({"name": "words.xlsx"}, xlsx(ROWS))
    assert answer["lines"] == 10 and answer["preview"][0][:2] == ["walk", "V;PST"]
    assert answer["predictions"].splitlines()[0].split("\t")[-1] == "Ann"


# Several columns of features

def test_several_columns_of_features_are_joined_and_kept():
    text = "walk\twalked\tV\tPST\ncat\tcats\tN\t\n"
    options = ReadOptions(columns=("input", "output", "features", "features"))
    data = parse_data(text.encode(), "file", options)
    assert data.samples == [Sample("walk", "V;PST", "walked"), Sample("cat", "N", "cats")]
    assert [data.format.line(sample, "x") for sample in data.samples] == ["walk\tx\tV\tPST", "cat\tx\tN\t"]
    assert format_named(data.format.name) == data.format
    again = data.format.line(Sample("walk", "V;PST", None), "x")
    assert data.format.sample(again.split("\t"), "line") == Sample("walk", "V;PST", "x")
    named = parse_data(b"lemma\tform\tpos\ttag\n" + text.encode(), "file")
    assert named.samples == data.samples and named.format == data.format
