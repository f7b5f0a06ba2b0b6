"""From lines to rows: tabs or CSV, a header row, empty columns at the end."""
from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Optional

from il_morph.data.dataformat import FEATURES, IGNORED, INPUT, OUTPUT, DataFormat, split_outside_brackets
from il_morph.data.header import LEMMA_NAMES, column_named, columns_with, header_of, name_in, names_columns
from il_morph.data.recognition import (
    EMPTY,
    PERHAPS,
    TAGS,
    WORDS,
    AmbiguousFormat,
    ambiguous,
    come_again,
    in_capitals,
    kinds_of,
    separators_of,
    too_many_columns,
    usual_width,
)
from il_morph.errors import InputError

TAB = "\t"
ENOUGH_FOR_DOUBT = 10  # with fewer lines, phrases with a comma do not suggest CSV, nor odd features a header

@dataclass(frozen=True)
class FileRows:
    """The rows of a file that hold data."""

    name: str
    rows: list[list[str]]
    delimiter: str = TAB
    header: Optional[list[str]] = None  # the columns that a header row names
    trimmed: int = 0  # rows that had empty columns at the end
    start: int = 1  # the number of the first line
    skipped: tuple[int, ...] = ()  # the numbers of blank lines

    @property
    def first_line(self) -> int:
        return self.line_of(0)

    def line_of(self, index: int) -> int:
        """The number of the line that a row comes from."""
        number = self.start + (self.header is not None) + index
        for blank in self.skipped:
            number += blank <= number
        return number

    def where(self, index: int) -> str:
        return f"{self.name}, line {self.line_of(index)}"

    def counted(self, number: int) -> str:
        return f"{number:,} line{'s' if number > 1 else ''}"

    @property
    def remarks(self) -> list[str]:
        """What was unusual about the file."""
        remarks = [] if self.delimiter == TAB else [f'CSV with "{self.delimiter}"']
        remarks += [] if self.header is None else ["header row skipped"]
        if self.skipped:
            remarks.append("1 blank line skipped" if len(self.skipped) == 1 else
                           f"{len(self.skipped):,} blank lines skipped")
        return remarks + (["empty columns at the end left out"] if self.trimmed else [])


def rows_of(lines: Sequence[str], name: str, fmt: Optional[DataFormat], words_alone: bool,
            skip_blank: bool = False) -> FileRows:
    """The rows of these lines, in this format if one is given. `words_alone`: there may be only one column."""
    filled = [line for line in lines if line] if skip_blank else lines
    delimiter = delimiter_of(filled, name, words_alone)
    fields = [fields_of(line, delimiter, f"{name}, line {number}") for number, line in enumerate(lines, start=1)]
    blank = tuple(number for number, row in enumerate(fields, start=1) if not any(row)) if skip_blank else ()
    if len(blank) == len(lines):
        raise InputError(f"{name} has blank lines only: it needs at least one line of data")
    rows = FileRows(name, [row for row in fields if any(row)] if blank else fields, delimiter, skipped=blank)
    rows = without_header(rows, fmt)
    if not rows.rows:
        raise InputError(f"{name} has only a header row: it needs at least one line of data")
    return without_empty_columns(rows, fmt)


# Tabs or CSV

def fields_of(line: str, delimiter: str, where: str) -> list[str]:
    if delimiter == TAB:
        return line.split(TAB)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True)) or [""]
    except csv.Error:
        raise InputError(f"{where}: the quotation marks do not match; quote the whole field or nothing") from None


def delimiter_of(lines: Sequence[str], name: str, words_alone: bool) -> str:
    """The delimiter: a tab, unless there is no tab and nearly all lines have the same number of fields as CSV."""
    if any(TAB in line for line in lines):
        return TAB
    candidates = {delimiter: rows for delimiter, rows in ((each, csv_rows(lines, each)) for each in ",;") if rows}
    clear = [delimiter for delimiter, rows in candidates.items() if is_clearly_csv(rows)]
    if len(clear) > 1:  # an empty last column shows which one it is
        clear = [each for each in clear if all(line.endswith(each) for line in lines)] or clear
    if not clear:
        refuse_commas_in_brackets(lines, name)
    ways = clear or [*candidates]
    if not clear and words_alone and not name.lower().endswith(".csv"):
        ways = [TAB, *(ways if len(lines) >= ENOUGH_FOR_DOUBT else [])]
    ways = ways or [TAB]
    if not clear and TAB not in ways and are_separated_by_blanks(lines):
        raise InputError(f"{name}, line 1: the columns seem to be separated by blanks; separate them by tabs")
    if len(ways) > 1:
        raise doubtful_delimiter(lines, name, ways)
    return ways[0]


def csv_rows(lines: Sequence[str], delimiter: str) -> Optional[list[list[str]]]:
    """The rows, if nearly all lines have the same number of fields, at least two. Errors are reported later."""
    rows = []
    for line in lines if delimiter in lines[0] else []:
        try:
            rows.append(fields_of(line, delimiter, ""))
        except InputError:
            continue
    usual = usual_width(rows) if rows else 0
    regular = [row for row in rows if len(row) == usual]
    if any(map(splits_brackets, regular)):
        return None
    return regular if usual > 1 and 10 * len(regular) >= 9 * sum(map(bool, lines)) else None


def splits_brackets(row: Sequence[str]) -> bool:
    """Do brackets open in one field and close in a later one, as when the delimiter is the comma in NOM(2,PL)?"""
    depths = [field.count("(") - field.count(")") for field in row]
    opened = next((index for index, depth in enumerate(depths) if depth > 0), len(row))
    return any(depth < 0 for depth in depths[opened:])


def refuse_commas_in_brackets(lines: Sequence[str], name: str) -> None:
    """Refuse commas both between columns and inside brackets, where they would split features that are not quoted."""
    widths = {len(split_outside_brackets(line, ",")) for line in lines}
    number = next((index for index, line in enumerate(lines, start=1) if re.search(r"\([^()]*,[^()]*\)", line)), None)
    if len(widths) == 1 and min(widths) > 1 and number and '"' not in lines[number - 1]:
        raise InputError(f"{name}, line {number}: a comma stands inside brackets, and commas seem to separate the "
                         "columns; put quotation marks around the features, or separate the columns by tabs")


def is_clearly_csv(rows: Sequence[Sequence[str]]) -> bool:
    """Is there a header row, or a column of tags beside words? Columns at the end may be empty."""
    kinds = [kind.name for kind in kinds_of(rows)]
    while kinds and kinds[-1] == EMPTY:
        kinds.pop()
    return header_of(rows) is not None or (TAGS in kinds and kinds[0] == WORDS and kinds.count(WORDS) >= len(kinds) - 1)


def are_separated_by_blanks(lines: Sequence[str]) -> bool:
    """Are there words and a column of tags in capitals, with the same number of blank-separated fields in each line?"""
    rows = [line.split() for line in lines]
    if len(set(map(len, rows))) > 1 or len(rows[0]) < 2 or not is_clearly_csv(rows):
        return False
    return any(in_capitals(fields) and separators_of(fields) for fields in zip(*rows))


def doubtful_delimiter(lines: Sequence[str], name: str, delimiters: Sequence[str]) -> AmbiguousFormat:
    names = {TAB: "one column", ",": 'CSV with ","', ";": 'CSV with ";"'}
    ways = "\n".join(f"  {' | '.join(fields_of(lines[0], delimiter, name))}  ({names[delimiter]})"
                     for delimiter in delimiters)
    return AmbiguousFormat(f"{name}: it is not clear what separates the columns; the first line is either\n{ways}\n"
                           "separate the columns by tabs, or name the file .csv if it is CSV")


# The header row

def without_header(rows: FileRows, fmt: Optional[DataFormat]) -> FileRows:
    columns = list(fmt.columns) if fmt else []
    if len(columns) == len(rows.rows[0]) + 1:
        columns.remove(OUTPUT)
    ignored = [index for index, column in enumerate(columns) if column == IGNORED and len(columns) == len(rows.rows[0])]
    plain = [[field for index, field in enumerate(row) if index not in ignored] for row in rows.rows]
    again = next((index for index, row in enumerate(plain) if index and row == plain[0]), None)
    distinct = [plain[0], *(row for row in plain[1:] if row != plain[0])]
    header = header_of(distinct) or header_in(fmt, distinct)
    if header is None:
        if fmt is None:
            refuse_half_named(plain, rows.name)
        return rows
    if again is not None:
        raise InputError(f"{rows.where(again)}: the header row of line {rows.line_of(0)} comes again: remove it")
    if OUTPUT in header and header.index(OUTPUT) < header.index(INPUT):
        by_place = columns_with([INPUT, OUTPUT], [header.index(FEATURES)] if FEATURES in header else [])
        raise ambiguous(plain[1:], rows.name, [by_place, header], "the header row names the form before the lemma")
    return replace(rows, rows=rows.rows[1:], header=header)


def refuse_half_named(rows: Sequence[Sequence[str]], name: str) -> None:
    """Refuse more than three columns if the first row names input and output, but not all others."""
    columns = list(map(column_named, rows[0]))
    if len(columns) > 3 and columns.count(INPUT) == columns.count(OUTPUT) == 1:
        tags = {index for index, kind in enumerate(kinds_of(rows[1:])) if kind.name in (TAGS, PERHAPS) or kind.few}
        known = (INPUT, OUTPUT, FEATURES, IGNORED)
        raise too_many_columns(rows, name, [column if column in known else FEATURES if index in tags else IGNORED
                                            for index, column in enumerate(columns)])


def header_in(fmt: Optional[DataFormat], rows: Sequence[Sequence[str]]) -> Optional[list[str]]:
    """The columns of this format, if the first row names at least two of them, whatever its other names are."""
    columns = [column for column in fmt.columns if column != IGNORED] if fmt else []
    if len(columns) == len(rows[0]) + 1:
        columns.remove(OUTPUT)
    named = len(columns) == len(rows[0]) and names_columns(rows[0], columns, 2) and rows[0] not in rows[1:]
    return columns if named else None


def refuse_likely_header(rows: FileRows, fmt: DataFormat) -> None:
    """Refuse a first row that may be a header: it names a column, or its features never recur while others do."""
    usual = [row for row in rows.rows if len(row) == len(rows.rows[0])]
    if rows.header is not None or len(usual[0]) < 2 or len(usual) < 2:
        return
    columns = fmt.columns_of(usual[0], rows.where(0))
    has_name = names_columns(usual[0], columns, 1) or not LEMMA_NAMES.isdisjoint(map(name_in, usual[0]))
    reason = "It has the name of a column" if has_name else ""
    numbers = usual[0] if usual[0][0] else usual[0][1:]  # a table of pandas may begin with its index
    if numbers == [*map(str, range(len(numbers)))]:
        reason = "It has the numbers of columns"
    elif FEATURES in columns and fmt.separator is not None:
        first, *others = [re.findall(r"\w+", row[columns.index(FEATURES)]) for row in usual]
        parts = [part for bundle in others for part in bundle]
        if {*first}.intersection(parts):
            return
        if len(usual) >= ENOUGH_FOR_DOUBT and come_again(parts):
            reason = "Its features occur nowhere else"
    if reason:
        listed = ",".join(columns)
        raise AmbiguousFormat(f"{rows.where(0)}: {' | '.join(usual[0])}: is this a header row? {reason}. Remove it, or "
                              f"call its columns {listed}; if it is data, say so with --columns={listed}")


# Empty columns at the end

def without_empty_columns(rows: FileRows, fmt: Optional[DataFormat]) -> FileRows:
    """Drop empty fields beyond the columns of the format; without a format beyond three, or two if those are words."""
    width = len(fmt.columns) if fmt else max(3, len(rows.header or ()))
    shorter = [trimmed(row, width) for row in rows.rows]
    if fmt is None and usual_width(shorter) == 3 and not any(row[2] for row in shorter if len(row) == 3):
        kinds = kinds_of(shorter)
        if kinds[1].name == WORDS and (rows.header is None or FEATURES not in rows.header):
            shorter = [trimmed(row, 2) for row in shorter]
    number = sum(len(one) < len(other) for one, other in zip(shorter, rows.rows))
    return replace(rows, rows=shorter, trimmed=number) if number else rows


def trimmed(row: list[str], width: int) -> list[str]:
    return row[:width] if len(row) > width and not any(row[width:]) else row


def refuse_other_header(rows: FileRows, fmt: DataFormat) -> None:
    """Refuse a header row that contradicts the format."""
    if rows.header is None or FEATURES not in rows.header or fmt.separator is None:
        return
    columns = [column for column in fmt.columns if column in rows.header]
    if len(rows.header) == len(columns) and rows.header != columns:
        raise InputError(f"{rows.name}, line 1: the header row says {', '.join(rows.header)}, "
                         f"but the {fmt.name} format ({fmt.flag}) has {', '.join(fmt.columns)}: "
                         "give the format of the file")
