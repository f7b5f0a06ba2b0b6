"""Data in blocks, in constant memory: files in bulk, pipes and terminals as lines come in."""
from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO, Optional, cast

from il_morph.data.conllu import conllu_block
from il_morph.data.encodings import as_utf8, decode, name_of, split_lines
from il_morph.data.header import header_of
from il_morph.data.office import ZIP, kind_of_sheet
from il_morph.data.reading import (
    Data,
    ReadOptions,
    data_of,
    parse_data,
    reads_treebank,
    refuse_line_without_features,
    samples_of,
    words_of,
)
from il_morph.data.rows import FileRows, fields_of, trimmed
from il_morph.errors import InputError
from il_morph.files import STREAM, PathLike, read_bytes

BLOCK = 1 << 17  # bytes
LONGEST_LINE = 1 << 20  # bytes


@dataclass(frozen=True)
class DataStream:
    """The data of a file or stream, block by block. The first block decides how it is read."""

    path: PathLike
    options: ReadOptions
    need_output: bool = False

    @property
    def name(self) -> str:
        return name_of(self.path)

    @property
    def is_file(self) -> bool:
        """Can it be read more than once?"""
        try:
            return str(self.path) != STREAM and stat.S_ISREG(os.stat(self.path).st_mode)
        except OSError:
            return True  # opening it reports the error

    def has_more(self) -> bool:
        """Can more be read from a pipe or terminal right now? False if the system does not tell."""
        try:
            descriptor = os.dup(sys.stdin.fileno()) if str(self.path) == STREAM else os.open(
                self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except (OSError, ValueError):
            return False
        try:
            return bool(select.select([descriptor], [], [], 0)[0])
        finally:
            os.close(descriptor)

    @property
    def is_sheet(self) -> bool:
        """Is it a spreadsheet? If so, it is read as a whole."""
        if not self.is_file or not os.path.isfile(self.path):
            return False
        with open(self.path, "rb") as stream:
            return stream.read(len(ZIP)) == ZIP and kind_of_sheet(read_bytes(self.path)) is not None

    def __iter__(self) -> Iterator[Data]:
        if self.is_sheet:
            yield parse_data(read_bytes(self.path), self.name, self.options, self.need_output)
            return
        first: Optional[Data] = None
        start = 1
        sentence = ""
        for content in blocks_of_lines(self.path):
            if first is None:
                data = self._first(content)
            elif first.block:
                data = words_of(conllu_block(content, self.name, start, sentence), self.options)
            elif not content.strip(b"\r\n"):
                return  # blank lines at the end
            else:
                data = self._more(content, first, start)
            first = first or data
            start += content.count(b"\n")
            sentence = data.block.sentences[-1][1] if data.block else ""
            yield data

    def _first(self, content: bytes) -> Data:
        if reads_treebank(split_lines(content, self.name), self.name, self.options):
            return words_of(conllu_block(content, self.name), self.options)
        return parse_data(content, self.name, self.options, self.need_output)

    def _more(self, content: bytes, first: Data, start: int) -> Data:
        """Read another block in the same way as the first one."""
        delimiter, width = first.rows.delimiter, len(first.format.columns)
        lines = split_lines(content, self.name, start)
        rows = FileRows(self.name, [trimmed(fields_of(line, delimiter, f"{self.name}, line {number}"), width)
                                    for number, line in enumerate(lines, start)], delimiter, start=start)
        samples = samples_of(rows, first.format)
        covered = first.samples[0].output is None
        for index, sample in enumerate(samples):
            may_be_empty = self.options.some_outputs and (
                len(rows.rows[index]) == len(first.rows.rows[0]) == len(first.format.columns))
            if (sample.output is None) != covered and not may_be_empty:
                if not covered:
                    refuse_line_without_features(rows, index, first.format, first.samples)
                raise InputError(f"{rows.where(index)}: {'an' if covered else 'no'} output, unlike the lines before; "
                                 "give an output on every line or on none")
        return data_of(rows, first.format, samples, self.options)


def blocks_of_lines(path: PathLike) -> Iterator[bytes]:
    """Blocks of whole lines. Blank lines at the end of a block move to the next block, which may have nothing else."""
    rest, blocks = b"", 0
    for chunk in as_utf8(chunks_of(path), name_of(path)):
        rest += chunk
        end = end_of_lines(rest)
        if end and (blocks or not (may_be_header(rest[:end], path) or are_comments(rest[:end]))):
            yield rest[:end]
            rest, blocks = rest[end:], blocks + 1
        if len(rest) - rest.rfind(b"\n") > LONGEST_LINE:
            raise InputError(f"{name_of(path)}: a line has more than {LONGEST_LINE:,} bytes; "
                             "give one word per line")
    if rest or not blocks:
        yield rest


def chunks_of(path: PathLike) -> Iterator[bytes]:
    """Chunks of at most a block; from a pipe or terminal, whatever has come in."""
    with ExitStack() as stack:
        try:
            stream = cast(BinaryIO, sys.stdin.buffer if str(path) == STREAM else stack.enter_context(open(path, "rb")))
            while True:
                chunk = stream.read1(BLOCK)  # type: ignore[attr-defined]
                if not chunk:
                    return
                yield chunk
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def end_of_lines(content: bytes) -> int:
    """The end of the last whole line that is not blank; 0 if there is none."""
    filled = content[:content.rfind(b"\n") + 1].rstrip(b"\r\n")
    return content.index(b"\n", len(filled)) + 1 if filled else 0


def are_comments(content: bytes) -> bool:
    """Do all lines look like comments, as in CoNLL-U before the first sentence? Only the next line tells."""
    return all(line.startswith(b"# ") and b"\t" not in line for line in content.splitlines())


def may_be_header(content: bytes, path: PathLike) -> bool:
    """May a single line be a header row? Only the next line shows whether it is."""
    if content.count(b"\n") > 1:
        return False
    line = decode(content, name_of(path)).rstrip("\r\n")
    return any(header_of([fields, [""]]) is not None for fields in (line.split(delimiter) for delimiter in "\t,;"))
