"""Samples, the formats they are stored in, and reading them."""
from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Callable, List, Optional, Sequence, Tuple

from il_morph.errors import InputError
from il_morph.files import PathLike, STREAM, read_bytes

BEGIN, END, GAP = "⟪", "⟫", "〰"
RESERVED = (BEGIN, END, GAP)
UNK = "<UNK>"  # a symbol of every vocabulary; no character looks like it, but a feature could

log = logging.getLogger(__name__)


class WrongFormat(InputError):
    """Data in another format than the one it is read in."""

    def __init__(self, finding: str, advice: str):
        super().__init__(f"{finding}: {advice}")
        self.finding = finding


@dataclass(frozen=True)
class Sample:
    """One line of data; `tag` is the features field as it stands, `output` None when covered."""

    input: str
    tag: str
    output: Optional[str]


@dataclass(frozen=True)
class DataFormat:
    """The order of the columns and the separator of the features."""

    name: str
    flag: str
    columns: Tuple[str, ...]
    separator: Optional[str]

    def features(self, tag: str) -> Tuple[str, ...]:
        """The features of a tag; without features one constant feature, the empty string."""
        return ("",) if self.separator is None else tuple(tag.split(self.separator))

    def parse(self, line: str, where: str) -> Sample:
        """Parse a line without its line end; `where` is its place for error messages."""
        return self.sample(line.split("\t"), where)

    def sample(self, fields: Sequence[str], where: str) -> Sample:
        """The sample with these columns; an empty output counts as covered."""
        columns = self._columns_of(fields, where)
        values = dict(zip(columns, fields))
        sample = Sample(values["input"], values.get("features", ""), values.get("output") or None)
        _refuse_reserved(sample, where)
        if UNK in self.features(sample.tag):
            raise InputError(f"{where}: the feature {UNK} is reserved by il-morph; call it by another name")
        return sample

    def line(self, sample: Sample, output: str) -> str:
        """The columns of a sample with this output, tab-separated, without line end."""
        values = {"input": sample.input, "features": sample.tag, "output": output}
        return "\t".join(values[column] for column in self.columns)

    def _columns_of(self, fields: Sequence[str], where: str) -> Tuple[str, ...]:
        shorter = ("input", "output") if self.separator is None else ("input", "features")
        if len(fields) == len(self.columns):
            return self.columns
        if len(fields) == 2:
            return shorter
        if len(fields) == 1 and self.separator is None:
            return ("input",)
        count = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
        raise InputError(f"{where}: {count}, but the {self.name} format ({self.flag}) has "
                         f"{', '.join(self.columns)}, separated by tabs")


SIGMORPHON2016 = DataFormat("sigmorphon2016", "the default", ("input", "features", "output"), ",")
SIGMORPHON2017 = DataFormat("sigmorphon2017", "--sigm2017format", ("input", "output", "features"), ";")
NO_FEATURES = DataFormat("no-features", "--no-feat-format", ("input", "features", "output"), None)
FORMATS = {fmt.name: fmt for fmt in (SIGMORPHON2016, SIGMORPHON2017, NO_FEATURES)}


def format_from_flags(sigm2017: bool, no_feat: bool) -> DataFormat:
    """The format that --sigm2017format and --no-feat-format choose."""
    if sigm2017 and no_feat:
        raise InputError("--sigm2017format and --no-feat-format exclude each other: give one of them")
    if sigm2017:
        return SIGMORPHON2017
    return NO_FEATURES if no_feat else SIGMORPHON2016


def read_samples(path: PathLike, fmt: DataFormat, *, need_output: bool = False) -> List[Sample]:
    """Read a data file; `-` is standard input."""
    return parse_samples(read_bytes(path), fmt, name_of(path), need_output)


def parse_samples(data: bytes, fmt: DataFormat, name: str, need_output: bool = False) -> List[Sample]:
    """Parse the content of a data file called `name`; covered as a whole or not at all."""
    samples = [fmt.parse(line, f"{name}, line {number}")
               for number, line in enumerate(split_lines(data, name), start=1)]
    check_format(samples, fmt, name)
    _check_outputs(samples, name, need_output)
    return samples


def name_of(path: PathLike) -> str:
    """How error messages call a file."""
    return "standard input" if str(path) == STREAM else str(path)


def split_lines(data: bytes, name: str) -> List[str]:
    """Decode and split at line feeds only; blank lines at the end do not count."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}, line {number}: not UTF-8; convert the file to UTF-8") from None
    lines = [line[:-1] if line.endswith("\r") else line for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InputError(f"{name} is empty: it needs at least one line of data")
    return lines


def check_format(samples: Sequence[Sample], fmt: DataFormat, name: str) -> None:
    """Recognise data that is stored in another format than the one it is read in."""
    right = _format_seen(samples, fmt)
    if right is not None:
        advice = "leave out the format flag" if right is SIGMORPHON2016 else f"use {right.flag}"
        raise WrongFormat(f"{name} does not look like the {fmt.name} format ({fmt.flag}) but like {right.name}", advice)
    if fmt is NO_FEATURES and _most(_is_2016_tag, [sample.tag for sample in samples]):
        log.warning("%s: the second column looks like features; %s ignores it", name, fmt.flag)


def _format_seen(samples: Sequence[Sample], fmt: DataFormat) -> Optional[DataFormat]:
    """The format that most lines speak for, when it is another one than `fmt`."""
    tags = [sample.tag for sample in samples]
    outputs = [sample.output for sample in samples if sample.output]
    suspects = outputs if outputs or fmt is NO_FEATURES else tags
    looks_like_tag = {SIGMORPHON2016: _is_2016_tag, SIGMORPHON2017: _is_2017_tag}
    for other, test in looks_like_tag.items():
        if other is fmt:
            continue
        in_place = fmt is not NO_FEATURES and _most(looks_like_tag[fmt], tags)
        if not in_place and _most(test, suspects):
            return other
    if fmt is SIGMORPHON2016 and _most(lambda tag: not tag, tags):
        return NO_FEATURES
    if fmt is not NO_FEATURES and not outputs and _are_words(tags):
        return NO_FEATURES
    return None


def _is_2016_tag(field: str) -> bool:
    return all("=" in feature for feature in field.split(","))


def _is_2017_tag(field: str) -> bool:
    return ";" in field


def _are_words(tags: Sequence[str]) -> bool:
    """More different fields in lower case, without separators, than a tag set has."""
    return len(set(tags)) > 20 and _most(lambda tag: re.search("[=,;]", tag) is None
                                         and tag != tag.upper(), tags)


def _most(test: Callable[[str], bool], fields: Sequence[str]) -> bool:
    return 2 * sum(map(test, fields)) > len(fields)


def _check_outputs(samples: Sequence[Sample], name: str, need_output: bool) -> None:
    covered = [number for number, sample in enumerate(samples, start=1) if sample.output is None]
    if covered and len(covered) < len(samples):
        raise InputError(f"{name}, line {covered[0]}: no output, but other lines have one; "
                         "give an output on every line or on none")
    if covered and need_output:
        raise InputError(f"{name} has no outputs, and they are needed here; give a file with outputs, "
                         "or check the format flags --sigm2017format and --no-feat-format")


def _refuse_reserved(sample: Sample, where: str) -> None:
    for symbol in RESERVED:
        if symbol in sample.input or symbol in (sample.output or ""):
            raise InputError(f"{where}: the symbol {symbol} is reserved by il-morph; "
                             "replace it by another one")
