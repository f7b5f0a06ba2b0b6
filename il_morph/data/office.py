"""Spreadsheets, .xlsx and .ods: their first sheet as lines of text, a copy with one more column, and new ones."""
from __future__ import annotations

import io
import logging
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Any, Optional

from il_morph.errors import InputError

ZIP = b"PK\x03\x04"
XLSX, ODS = "xlsx", "ods"
OF_ODS = b"application/vnd.oasis.opendocument.spreadsheet"
MOST_BYTES = {XLSX: 50_000_000, ODS: 10_000_000}  # unpacked; fewer for .ods, because odfpy keeps everything in memory
MOST_ROWS, MOST_COLUMNS = 1_000_000, 100
NEEDED = {XLSX: "openpyxl", ODS: "odfpy"}

log = logging.getLogger(__name__)


def kind_of_sheet(content: bytes) -> Optional[str]:
    """`xlsx`, `ods`, or None for anything else."""
    if not content.startswith(ZIP):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            if "xl/workbook.xml" in names:
                return XLSX
            return ODS if "mimetype" in names and archive.read("mimetype").strip() == OF_ODS else None
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError):
        return None


def sheet_as_text(content: bytes, name: str) -> bytes:
    """The first sheet as text: a line for each row, with tabs between the cells."""
    rows = sheet_rows(content, name)
    for number, row in enumerate(rows, start=1):
        for column, cell in enumerate(row, start=1):
            if any(character in cell for character in "\t\r\n"):
                raise InputError(f"{name}, line {number}: column {column} contains a tab or a line end ({cell!r}): "
                                 "remove it")
    return "".join("\t".join(row) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def sheet_rows(content: bytes, name: str) -> list[list[str]]:
    """The cells of the first sheet as text, all rows equally long, without empty columns at the end."""
    kind = kind_of_sheet(content) or XLSX
    refuse_bomb(content, name, MOST_BYTES[kind])
    try:
        rows = rows_of_xlsx(content, name) if kind == XLSX else rows_of_ods(content, name)
    except ImportError:
        raise InputError(f"{name} is a spreadsheet (.{kind}), and reading it needs {NEEDED[kind]}: pip install "
                         f"{NEEDED[kind]}; or save it as CSV in UTF-8") from None
    except InputError:
        raise
    except Exception as error:  # whatever the libraries raise for a damaged file
        raise InputError(f"{name} is not a spreadsheet that can be read ({error}): save it again, or as CSV in UTF-8"
                         ) from error
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((index for row in rows for index, cell in enumerate(row, start=1) if cell), default=0)
    if not width:
        raise InputError(f"{name}: the first sheet is empty: it needs at least one row of data")
    return [[*row[:width], *[""] * (width - len(row))] for row in rows]


def refuse_bomb(content: bytes, name: str, most: int) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > most:
            raise InputError(f"{name} has more than {most:,} bytes when unpacked: save it as CSV in UTF-8")


def rows_of_xlsx(content: bytes, name: str) -> list[list[str]]:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    sheet = book.worksheets[0]
    say_which(name, sheet.title, len(book.worksheets))
    sheet.reset_dimensions()  # the size that the file gives may be wrong
    rows = []
    for row in sheet.iter_rows(max_col=MOST_COLUMNS, values_only=True):
        rows.append([as_cell(value) for value in row])
        if len(rows) > MOST_ROWS:
            raise InputError(f"{name} has more than {MOST_ROWS:,} rows: save it as CSV in UTF-8")
    return rows


def rows_of_ods(content: bytes, name: str) -> list[list[str]]:
    from odf.opendocument import load
    from odf.table import CoveredTableCell, Table, TableCell, TableRow
    from odf.teletype import extractText

    tables = load(io.BytesIO(content)).spreadsheet.getElementsByType(Table)
    say_which(name, tables[0].getAttribute("name"), len(tables))
    rows: list[list[str]] = []
    for row in tables[0].getElementsByType(TableRow):
        cells: list[str] = []
        for cell in row.childNodes:
            if cell.qname in (TableCell().qname, CoveredTableCell().qname):
                text = "\n".join(extractText(part) for part in cell.childNodes if part.tagName == "text:p")
                cells += [text] * min(int(cell.getAttribute("numbercolumnsrepeated") or 1), MOST_COLUMNS - len(cells))
        repeated = int(row.getAttribute("numberrowsrepeated") or 1)
        if any(cells) and len(rows) + repeated > MOST_ROWS:
            raise InputError(f"{name} has more than {MOST_ROWS:,} rows: save it as CSV in UTF-8")
        rows += [cells] * (repeated if any(cells) else min(repeated, MOST_ROWS - len(rows)))
    return rows


def say_which(name: str, sheet: str, number: int) -> None:
    if number > 1:
        log.info("%s: %d sheets, of which the first is read (%s)", name, number, sheet)


def as_cell(value: Any) -> str:
    """A cell as a person sees it: whole numbers without decimals, dates without times."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        return str(value.date())
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def with_column(content: bytes, name: str, title: Optional[str], cells: Mapping[int, str], above: int) -> bytes:
    """A copy of a spreadsheet as a workbook (.xlsx) with one more column: `cells` by row number, and `title` in the row
    `above`. An .ods file is copied without its styles."""
    import openpyxl

    rows = sheet_rows(content, name)
    if kind_of_sheet(content) == XLSX:
        book = openpyxl.load_workbook(io.BytesIO(content))
        sheet = book.worksheets[0]
    else:
        log.info("%s: the copy has the cells of its first sheet as text, without styles and formulas", name)
        book = openpyxl.Workbook()
        sheet = book.worksheets[0]
        write_rows(sheet, rows)
    place = len(rows[0]) + 1
    for number, cell in [*([(above, title)] if title else []), *cells.items()]:
        as_text(sheet.cell(number, place), cell)
    return content_of(book)


def new_sheet(rows: Sequence[Sequence[str]]) -> bytes:
    """A workbook (.xlsx) with these rows."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(f"writing a spreadsheet needs {NEEDED[XLSX]}: pip install {NEEDED[XLSX]}; or choose a name "
                         "that ends with .tsv") from None
    book = openpyxl.Workbook()
    write_rows(book.worksheets[0], rows)
    return content_of(book)


def content_of(book: Any) -> bytes:
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def write_rows(sheet: Any, rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows, start=1):
        for place, cell in enumerate(row, start=1):
            as_text(sheet.cell(number, place), cell)


def as_text(cell: Any, text: str) -> None:
    """Fill a cell with text, even if it begins with = like a formula."""
    cell.value = text
    cell.data_type = "s"
