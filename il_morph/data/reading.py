"""Reading data files: bytes, lines, rows, samples, and a line that says how."""
from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Optional, Sequence

from il_morph.data.dataformat import SIGMORPHON2016, DataFormat
from il_morph.data.encodings import name_of, split_lines
from il_morph.data.recognition import Doubtful, WrongFormat, check_format, recognise, usual_width
from il_morph.data.rows import TAB, Rows, refuse_other_header, rows_of
from il_morph.data.samples import Sample
from il_morph.data.spelling import (AS_IS, Letters, normalised, warning_about_blanks, warning_about_letters,
                                    warning_about_quotes, warning_across)
from il_morph.errors import InputError
from il_morph.files import STREAM, PathLike, read_bytes

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Way:
    """How files are to be read: what the command line says about them, and what a model was trained on."""

    format: Optional[DataFormat] = None  # None: it is recognised
    model_format: Optional[DataFormat] = None
    unicode: str = AS_IS


@dataclass(frozen=True)
class Data:
    """The samples of a file and how they were read."""

    name: str
    format: DataFormat
    samples: list[Sample]
    rows: Rows
    unicode: str = AS_IS

    @property
    def first_line(self) -> int:
        return self.rows.first_line

    @property
    def letters(self) -> Letters:
        return Letters.of("\n".join(text for sample in self.samples for text in (sample.input, sample.output or "")))

    @property
    def description(self) -> str:
        """`input, output, features separated by ";" (1,000 lines)`."""
        remarks = [*self.rows.remarks, *([] if self.unicode == AS_IS else [f"normalised to {self.unicode.upper()}"])]
        number = f"{len(self.samples):,} line{'s' if len(self.samples) > 1 else ''}"
        return f"{self.format.described(usual_width(self.rows.rows))} ({'; '.join([number, *remarks])})"

    def warnings(self) -> list[str]:
        """What looks wrong but may be right."""
        found = [warning_about_blanks(self.name, self.samples), warning_about_letters(self.name, self.letters)]
        if self.rows.delimiter == TAB:
            found.append(warning_about_quotes(self.name, self.samples))
        return [warning for warning in found if warning]


def read_samples(path: PathLike, fmt: DataFormat, *, need_output: bool = False) -> list[Sample]:
    """Read a data file in this format; `-` is standard input."""
    return parse_samples(read_bytes(path), fmt, name_of(path), need_output)


def parse_samples(data: bytes, fmt: DataFormat, name: str, need_output: bool = False) -> list[Sample]:
    """Parse the content of a data file called `name`; covered as a whole or not at all."""
    return parse_data(data, name, Way(fmt), need_output).samples


def read_data(path: PathLike, way: Way = Way(), *, need_output: bool = False) -> Data:
    """Read a data file, say how, and warn about what looks wrong but may be right."""
    data = parse_data(read_bytes(path), name_of(path), way, need_output)
    if str(path) != STREAM or data.rows.remarks:
        log.info("%s: %s", data.name, data.description)
    for warning in data.warnings():
        log.warning("%s", warning)
    return data


def warn_across(files: Sequence[Data]) -> None:
    """Warn of letters that the first of these files writes in another way than one of the others."""
    first = files[0].letters
    for other in files[1:]:
        warning = warning_across(files[0].name, first, other.name, other.letters)
        if warning:
            log.warning("%s", warning)


def parse_data(data: bytes, name: str, way: Way = Way(), need_output: bool = False) -> Data:
    """Parse the content of a data file called `name`; covered as a whole or not at all."""
    known = way.format or way.model_format
    rows = rows_of(split_lines(data, name), name, known,
                   words_alone=not need_output and (known is None or known.separator is None))
    fmt = format_for(rows, way, need_output)
    refuse_other_header(rows, fmt)
    samples = samples_of(rows, fmt)
    try:
        check_format(samples, fmt, name)
    except WrongFormat as error:
        if way.model_format is None or way.format is not None:
            raise
        raise InputError(f"{error.finding}: give data in the format that the model was trained on") from error
    check_outputs(samples, rows, need_output)
    return Data(name, fmt, [normalised(sample, way.unicode) for sample in samples], rows, way.unicode)


def format_for(rows: Rows, way: Way, need_output: bool) -> DataFormat:
    """The format that was chosen, the one that is recognised, or the model's unless the columns have another order."""
    if way.format is not None:
        return way.format
    if way.model_format is None:
        if need_output and usual_width(rows.rows) == 1:
            return SIGMORPHON2016  # whose error says how many columns there should be
        return recognise(rows.rows, rows.name, rows.header)
    try:
        seen = recognise(rows.rows, rows.name, rows.header)
    except Doubtful:
        return way.model_format
    other_order = usual_width(rows.rows) == len(seen.columns) and seen.separator is not None
    return seen if other_order and seen.separator == way.model_format.separator else way.model_format


def samples_of(rows: Rows, fmt: DataFormat) -> list[Sample]:
    """The samples of all rows; blank lines and comments between them are refused."""
    usual = usual_width(rows.rows)
    samples = []
    for index, row in enumerate(rows.rows):
        oddity = _oddity(row, usual)
        try:
            samples.append(fmt.sample(row, rows.where(index)))
        except InputError as error:
            raise InputError(f"{error}; {oddity}") if oddity else error
        if oddity:
            raise InputError(f"{rows.where(index)}: {oddity}")
    return samples


def _oddity(row: Sequence[str], usual: int) -> Optional[str]:
    if not any(row):
        return "the line is blank: take it out"
    if len(row) < usual and row[0].startswith("#"):
        return "the line looks like a comment: take it out"
    return None


def check_outputs(samples: Sequence[Sample], rows: Rows, need_output: bool) -> None:
    covered = [index for index, sample in enumerate(samples) if sample.output is None]
    if covered and len(covered) < len(samples):
        raise InputError(f"{rows.where(covered[0])}: no output, but other lines have one; "
                         "give an output on every line or on none")
    if covered and need_output:
        raise InputError(f"{rows.name} has no outputs, and they are needed here; give a file with outputs, "
                         "or check the format flags --sigm2017format and --no-feat-format")
