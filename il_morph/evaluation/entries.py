"""The lines of gold data and predictions, which correspond one to one."""
from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional, Union

from il_morph.data.dataformat import FEATURES, INPUT, OUTPUT
from il_morph.data.formats import (
    NO_FEATURES,
    Data,
    DataFormat,
    ReadOptions,
    Sample,
    check_format,
    format_of,
    name_of,
    parse_data,
    split_lines,
)
from il_morph.data.reading import format_for
from il_morph.data.recognition import EMPTY, TAGS, kind_of, separator_of, usual_width
from il_morph.data.rows import FileRows, rows_of
from il_morph.data.spelling import AS_IS, Letters, normalise, normalised, warning_across
from il_morph.data.symbols import NO_SEPARATORS, Separators
from il_morph.data.tables import items_in
from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes
from il_morph.values import items_of, text

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """A line of gold data with its output, or a line with the predictions for it, best first."""

    file: str
    line: int
    input: str
    tag: str
    outputs: tuple[str, ...]

    @property
    def where(self) -> str:
        return f"{self.file}, line {self.line}"


def check_same_lines(first: Sequence[Entry], second: Sequence[Entry], fmt: DataFormat,
                     mending: str = "compare them with --unicode=nfc") -> None:
    """Refuse two files that do not have the same inputs and features in the same order. `mending` is the advice if they
    differ only in their Unicode forms."""
    for one, other in zip(first, second):
        if (one.input, fmt.features(one.tag)) != (other.input, fmt.features(other.tag)):
            advice = "the files must have the same inputs and features in the same order"
            if normalise(one.input + one.tag, "nfc") == normalise(other.input + other.tag, "nfc"):
                advice = f"they differ in their Unicode forms: {mending}"
            raise InputError(f"{other.where} has {_key(other)}, but {one.where} has {_key(one)}; {advice}")
    if len(first) != len(second):
        longer, shorter = (first, second) if len(first) > len(second) else (second, first)
        raise InputError(f"{longer[len(shorter)].where} has no counterpart in {shorter[0].file}, "
                         f"which ends at line {shorter[-1].line}; "
                         "the files must have the same number of lines")


def read_gold(path: PathLike, reading: Union[DataFormat, ReadOptions]) -> list[Entry]:
    """Read data with outputs on every line."""
    options = ReadOptions(reading) if isinstance(reading, DataFormat) else reading
    return gold_entries(parse_data(read_bytes(path), name_of(path), options, need_output=True))


def gold_entries(data: Data) -> list[Entry]:
    return [Entry(data.name, data.rows.line_of(index), sample.input, sample.tag, (sample.output or "",))
            for index, sample in enumerate(data.samples)]


def listed_gold(values: Any, separators: Separators, unicode: str = AS_IS) -> tuple[list[Entry], DataFormat]:
    """Gold data from a list or a table in Python: outputs alone, or with inputs and features."""
    items = [("", "", item) if isinstance(item, str) else item
             for item in items_in("gold", values, (INPUT, FEATURES, OUTPUT), features=False)]
    if not items:
        raise InputError("gold is empty: give at least one output")
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 3 or not all(isinstance(part, str) for part in item):
            raise InputError(f"gold takes a path, or a list of outputs or of triples (input, features, output), not "
                             f"{item!r}")
    samples = [normalised(Sample(*item), unicode) for item in items]
    entries = [Entry("gold", number, sample.input, sample.tag, (sample.target,))
               for number, sample in enumerate(samples, start=1)]
    if entries[0].input and kind_of(entry.outputs[0] for entry in entries).name == TAGS:
        raise InputError(f"gold: the outputs look like features ({entries[0].outputs[0]!r}): give triples (input, "
                         "features, output)")
    for entry in entries:
        separators.check(Sample(entry.input, entry.tag, entry.outputs[0]), entry.where)
    kind = kind_of(entry.tag for entry in entries)
    if kind.name == EMPTY:
        return entries, NO_FEATURES
    return entries, format_of((INPUT, OUTPUT, FEATURES), separator_of(kind, ";", (INPUT, OUTPUT, FEATURES),
                                                                      entries[0].tag, "gold"))


def with_outputs(golds: Sequence[Entry], predictions: Any, unicode: str = AS_IS) -> list[Entry]:
    """Predictions for gold data, from a list of outputs in Python."""
    outputs = [text("an item of predictions", output) for output in items_of("predictions", predictions)]
    if len(outputs) != len(golds):
        raise InputError(f"{len(outputs)} outputs for the {len(golds)} line{'s' * (len(golds) > 1)} of "
                         f"{golds[0].file}: give one for each")
    found = [normalised(Sample(entry.input, entry.tag, output), unicode).target
             for entry, output in zip(golds, outputs)]
    return [replace(entry, file="predictions", outputs=(output,)) for entry, output in zip(golds, found)]


def read_predictions(path: PathLike, fmt: DataFormat, unicode: str = AS_IS,
                     separators: Separators = NO_SEPARATORS, content: Optional[bytes] = None) -> list[Entry]:
    """Read predictions. Outputs may be empty; n-best predictions have a rank and a log probability."""
    name = name_of(path)
    rows = rows_of(split_lines(read_bytes(path) if content is None else content, name), name, fmt, words_alone=False)
    return prediction_entries(rows, fmt, unicode, separators)


def warn_of_spelling(gold: Sequence[Entry], predictions: Sequence[Entry]) -> None:
    """Warn of outputs that look the same but differ: letters in different Unicode forms."""
    one, other = (Letters.of("\n".join(entry.outputs[0] for entry in entries)) for entries in (gold, predictions))
    warning = warning_across(gold[0].file, one, predictions[0].file, other)
    if warning:
        log.warning("%s", warning)


def read_first_predictions(path: PathLike, options: ReadOptions) -> tuple[DataFormat, list[Entry]]:
    """Read predictions in the chosen or recognised format, and log it."""
    name = name_of(path)
    rows = rows_of(split_lines(read_bytes(path), name), name, options.known, words_alone=False)
    plain = replace(rows, rows=[row[:-2] for row in rows.rows]) if all(map(_is_ranked, rows.rows)) else rows
    fmt = format_for(plain, options, need_output=True)
    entries = prediction_entries(rows, fmt, separators=options.separators)
    tags = [entry.tag for entry in entries]
    log.info("%s: %s (%s)", name, fmt.described(usual_width(plain.rows), tags),
             "; ".join([rows.counted(len(entries)), *fmt.remarks(tags)]))
    return fmt, entries


def prediction_entries(rows: FileRows, fmt: DataFormat, unicode: str = AS_IS,
                       separators: Separators = NO_SEPARATORS) -> list[Entry]:
    """The entries of a file of predictions. A model of characters may have written separators where none belong, so
    outputs may have empty symbols, which count as wrong."""
    first = rows.rows[0]
    n_best = len(first) > len(fmt.columns)
    samples, ranks = [], []
    for index, fields in enumerate(rows.rows):
        where = rows.where(index)
        _check_columns(fields, first, fmt, where, rows.first_line)
        samples.append(normalised(fmt.sample(fields[:-2] if n_best else fields, where), unicode))
        separators.check(replace(samples[-1], output=None), where)
        ranks.append(_rank(fields, where) if n_best else 1)
    check_format(samples, fmt, rows.name, separators)
    lines = [Entry(rows.name, number, sample.input, sample.tag, (sample.output or "",))
             for number, sample in enumerate(samples, start=rows.first_line)]
    return _group(lines, ranks, fmt)


def _is_ranked(row: Sequence[str]) -> bool:
    """Do the last two columns look like rank and log probability?"""
    return len(row) > 3 and row[-2].isdecimal() and re.fullmatch(r"-?(\d+(\.\d+)?(e-?\d+)?|inf)", row[-1]) is not None


def _check_columns(fields: Sequence[str], first: Sequence[str], fmt: DataFormat, where: str, first_line: int) -> None:
    full = len(fmt.columns)
    allowed = (full, full + 2) if fmt.separator else (full - 1, full, full + 1, full + 2)
    count = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
    if len(fields) not in allowed:
        raise InputError(f"{where}: {count}, but predictions in the {fmt.name} format ({fmt.flag}) have "
                         f"{', '.join(fmt.columns)}; n-best predictions also have rank and log probability")
    if len(fields) != len(first):
        raise InputError(f"{where}: {count}, but line {first_line} has {len(first)}")


def _rank(fields: Sequence[str], where: str) -> int:
    try:
        float(fields[-1])
        return int(fields[-2])
    except ValueError:
        raise InputError(f"{where}: the last two columns of n-best predictions are rank and log "
                         f"probability, not {fields[-2]!r} and {fields[-1]!r}") from None


def _group(lines: Sequence[Entry], ranks: Sequence[int], fmt: DataFormat) -> list[Entry]:
    """Join consecutive lines with the ranks 1, 2, … into one entry."""
    groups: list[list[Entry]] = []
    for line, rank in zip(lines, ranks):
        if rank == 1:
            groups.append([])
        elif not groups or rank != len(groups[-1]) + 1:
            expected = f"1 or {len(groups[-1]) + 1}" if groups else "1"
            raise InputError(f"{line.where}: rank {rank}, but expected {expected}")
        else:
            check_same_lines(groups[-1][:1], [line], fmt)
        groups[-1].append(line)
    return [Entry(group[0].file, group[0].line, group[0].input, group[0].tag,
                  tuple(line.outputs[0] for line in group)) for group in groups]


def _key(entry: Entry) -> str:
    return f"{entry.input!r} with {entry.tag!r}" if entry.tag else repr(entry.input)
