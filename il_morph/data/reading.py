"""Reading data files: from bytes to lines, rows and samples, and a log line that says how."""
from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Optional

from il_morph.data.conllu import ConlluBlock, WordRows, conllu_block, is_conllu, sample_of_word
from il_morph.data.dataformat import (
    FEATURES,
    IGNORED,
    INPUT,
    OUTPUT,
    DataFormat,
    Treebank,
    columns_in_words,
    format_of,
    treebank,
)
from il_morph.data.encodings import name_of, split_lines
from il_morph.data.header import NAMED, name_in
from il_morph.data.office import kind_of_sheet, sheet_as_text
from il_morph.data.recognition import (
    EMPTY,
    TAGS,
    AmbiguousFormat,
    WrongFormat,
    ambiguous,
    check_format,
    kind_of,
    kinds_of,
    outputs_look_like_symbols,
    recognise,
    separator_of,
    shown,
    usual_rows,
    usual_width,
)
from il_morph.data.rows import TAB, FileRows, refuse_likely_header, refuse_other_header, rows_of
from il_morph.data.samples import Sample, refuse_unusable
from il_morph.data.spelling import (
    AS_IS,
    Letters,
    normalised,
    such_lines,
    warning_about_blanks,
    warning_about_letters,
    warning_about_quotes,
    warning_across,
    warnings_about_features,
)
from il_morph.data.symbols import NO_SEPARATORS, Separators
from il_morph.errors import InputError
from il_morph.files import STREAM, PathLike, read_bytes

OTHER_SEPARATORS = ("+", ":", "/", "-", "_", ".", " ", "><")  # may separate features, but only on request
WHICH_COLUMNS = "name the columns with --columns"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadOptions:
    """How to read files. Whatever is not set is recognised."""

    format: Optional[DataFormat] = None
    columns: Optional[tuple[str, ...]] = None
    separator: Optional[str] = None
    expected: Optional[DataFormat] = None  # the format of the data that this file belongs to …
    because: str = ""  # … and what that data is: "the model was trained on"
    unicode: str = AS_IS
    separators: Separators = NO_SEPARATORS  # between the symbols of inputs and of outputs
    treebank: Optional[Treebank] = None  # how CoNLL-U is read, if that is given
    skip_blank: bool = False  # blank lines are skipped, not refused
    some_outputs: bool = False  # the output of some lines may be empty

    @property
    def known(self) -> Optional[DataFormat]:
        """The format as far as it is known before the file is read."""
        return format_of(self.columns, self.separator or ";") if self.columns else self.format or self.expected


RECOGNISED = ReadOptions()  # no option is set


@dataclass(frozen=True)
class Data:
    """The samples of a file and how they were read."""

    name: str
    format: DataFormat
    samples: list[Sample]
    rows: FileRows
    unicode: str = AS_IS
    separators: Separators = NO_SEPARATORS
    counts: Optional[list[int]] = None  # how often each sample occurs, if the samples are distinct
    block: Optional[ConlluBlock] = None  # the block whose words are the samples, one by one

    @property
    def first_line(self) -> int:
        return self.rows.first_line

    @cached_property
    def letters(self) -> Letters:
        return Letters.of("\n".join(text for sample in self.samples for text in (sample.input, sample.output or "")))

    @property
    def description(self) -> str:
        """`input, output, features separated by ";" (1,000 lines)`."""
        return self.described(len(self.samples))

    def described(self, number: Optional[int]) -> str:
        """The description of a file that has this many lines (None: not known yet) and begins with these samples."""
        counted = [] if number is None else [self.rows.counted(number)]
        form = [] if self.unicode == AS_IS else [f"normalised to {self.unicode.upper()}"]
        tags = [sample.tag for sample in self.samples] if number == len(self.samples) else []
        remarks = "; ".join([*counted, *self.format.remarks(tags), *self.separators.remarks, *self.rows.remarks, *form])
        return self.format.described(usual_width(self.rows.rows or [[]]), tags) + (f" ({remarks})" if remarks else "")

    @property
    def warning_about_empty_inputs(self) -> Optional[str]:
        empty = [index for index, sample in enumerate(self.samples) if not sample.input]
        return f"{self.rows.where(empty[0])}: the input is empty ({such_lines(empty)})" if empty else None

    @property
    def warning_about_a_name(self) -> Optional[str]:
        """A warning if a column of words begins with the name of a column."""
        rows = self.rows.rows
        if self.first_line > 1 or len(rows) < 2 or len(rows[0]) > 1 or name_in(rows[0][0]) not in NAMED:
            return None
        return f"{self.rows.where(0)}: {rows[0][0]!r} is read as a word; if it is the name of the column, remove it"

    def warnings(self) -> list[str]:
        """Warnings about what looks wrong but may be right."""
        if isinstance(self.format, Treebank):
            return [warning for warning in [warning_about_letters(self.name, self.letters)] if warning]
        found = [self.warning_about_a_name, self.warning_about_empty_inputs,
                 warning_about_blanks(self.name, self.samples), warning_about_letters(self.name, self.letters)]
        if self.rows.delimiter == TAB:
            found.append(warning_about_quotes(self.name, self.samples))
        if self.format.separator is not None:
            bundles = [self.format.features(sample.tag) for sample in self.samples]
            found += warnings_about_features(self.rows.where, bundles)
        found += [f"{self.name}: {warning}" for warning in self.separators.warnings(self.samples)]
        return [warning for warning in found if warning]


def read_samples(path: PathLike, fmt: DataFormat, *, need_output: bool = False) -> list[Sample]:
    """Read a data file in this format; `-` is standard input."""
    return parse_samples(read_bytes(path), fmt, name_of(path), need_output)


def parse_samples(data: bytes, fmt: DataFormat, name: str, need_output: bool = False) -> list[Sample]:
    """Parse the content of a data file called `name`. All lines have an output, or none has."""
    return parse_data(data, name, ReadOptions(fmt), need_output).samples


def read_data(path: PathLike, options: ReadOptions = RECOGNISED, *, need_output: bool = False,
              content: Optional[bytes] = None) -> Data:
    """Read a data file (or its content, if given), log how, and warn about what looks wrong but may be right. Blank
    lines are skipped and counted."""
    data = parse_data(read_bytes(path) if content is None else content, name_of(path),
                      replace(options, skip_blank=True), need_output)
    if str(path) != STREAM or data.rows.remarks or data.format != options.expected:  # not a stream as expected
        log.info("%s: %s", data.name, data.description)
    found = data.warnings()
    if options.format is options.expected is options.separator is None:
        found += warnings_about_separators(data)
    for warning in found:
        log.warning("%s", warning)
    plain = options.expected is None and not options.separators and data.counts is None
    if plain and outputs_look_like_symbols(data.samples):
        log.info('%s: the outputs look like symbols separated by blanks, and are read as characters; '
                 '--output-separator=" " of train, evaluate and align reads symbols', data.name)
    return data


def warnings_about_separators(data: Data) -> list[str]:
    """Warn of a character that may separate the features if the usual separators do not occur."""
    tags = [sample.tag for sample in data.samples]
    signs = [sign for sign in OTHER_SEPARATORS if 2 * sum(sign in tag.strip(sign) for tag in tags) > len(tags)]
    if not signs or not data.format.remarks(tags):
        return []
    index = next(index for index, tag in enumerate(tags) if signs[0] in tag)
    sign, separator = signs[0], data.format.separator
    return [f'{data.rows.where(index)}: {tags[index]!r} is read as one feature; if "{sign}" separates features, write '
            f'"{separator}" instead, or use --feature-separator="{sign}" where the command has it']


@dataclass(frozen=True)
class Parts:
    """The data of a training run, all in one format."""

    format: DataFormat
    train: list[Sample]
    dev: list[Sample]
    test: Optional[list[Sample]]
    separators: Separators = NO_SEPARATORS
    counts: Optional[list[int]] = None  # how often each training sample occurs, if the samples are distinct
    files: tuple[Data, ...] = ()  # the files that the parts come from, the training data first


def read_parts(train: Optional[PathLike], dev: PathLike, test: Optional[PathLike], options: ReadOptions) -> Parts:
    """Read the files of a training run; all must have the format of the first."""
    files: dict[str, Data] = {}
    expected = options.format or options.expected
    for part, path in (("train", train), ("dev", dev), ("test", test)):
        if path is not None:
            files[part] = read_data(path, options, need_output=part != "test")
            if expected is None:
                expected = files[part].format
                options = replace(options, expected=expected, because=f"{files[part].name} has")
    warn_across(list(files.values()))
    samples = {part: data.samples for part, data in files.items()}
    return Parts(expected or files["dev"].format, samples.get("train", []), samples["dev"], samples.get("test"),
                 options.separators, files["train"].counts if "train" in files else None, tuple(files.values()))


def warn_across(files: Sequence[Data]) -> None:
    """Warn of letters that the first file spells differently from another file."""
    first = files[0].letters
    for other in files[1:]:
        warning = warning_across(files[0].name, first, other.name, other.letters)
        if warning:
            log.warning("%s", warning)


def parse_data(data: bytes, name: str, options: ReadOptions = RECOGNISED, need_output: bool = False) -> Data:
    """Parse the content of a data file called `name`. All lines have an output, or none has."""
    known = options.known
    if kind_of_sheet(data):
        data, options = sheet_as_text(data, name), replace(options, skip_blank=True)
    lines = split_lines(data, name)
    if reads_treebank(lines, name, options):
        return distinct(words_of(conllu_block(data, name), options), need_output)
    words_alone = not need_output and (known is None or known.separator is None)
    rows = rows_of(lines, name, known, words_alone, options.skip_blank)
    fmt = format_for(rows, options, need_output)
    refuse_other_header(rows, fmt)
    samples = samples_of(rows, fmt)
    try:
        check_format(samples, fmt, name, options.separators)
    except WrongFormat as error:
        advice = advice_for(rows, fmt, options)
        if advice is None:
            raise
        raise InputError(f"{error.finding}: {advice}") from error
    check_outputs(samples, rows, fmt, need_output, options)
    return data_of(rows, fmt, samples, options)


# Treebanks

def reads_treebank(lines: Sequence[str], name: str, options: ReadOptions) -> bool:
    """Are these lines to be read as CoNLL-U, not by columns? Refuse CoNLL-U where other data is expected."""
    chosen = options.columns or options.separator or options.format and not isinstance(options.format, Treebank)
    found = not chosen and is_conllu(lines)
    if options.treebank and not found:
        raise InputError(f"{name} is not read as CoNLL-U, and {options.treebank.flag} is about CoNLL-U: leave it out")
    if found and options.expected and not isinstance(options.expected, Treebank):
        raise InputError(f"{name} is CoNLL-U: give data in the format that {options.because}")
    return found


def words_of(block: ConlluBlock, options: ReadOptions) -> Data:
    """The words of a treebank as samples. Words without a LEMMA are skipped where LEMMA is the input."""
    known = options.format or options.expected
    fmt = known if isinstance(known, Treebank) else options.treebank or treebank()
    pairs = [(word, sample) for word, sample in ((each, sample_of_word(each.fields, fmt)) for each in block.words)
             if sample.input]
    rows = WordRows(block.name, [word.fields for word, _ in pairs], block=block,
                    indices=tuple(word.index for word, _ in pairs), words=len(pairs))
    for sample, index in first_places([sample for _, sample in pairs]).items():
        refuse_unusable(sample, rows.where(index))
    data = data_of(rows, fmt, [sample for _, sample in pairs], options)
    return replace(data, block=replace(block, words=[word for word, _ in pairs]))


def first_places(samples: Sequence[Sample]) -> dict[Sample, int]:
    """Each distinct sample, and the index where it comes first."""
    first: dict[Sample, int] = {}
    for index, sample in enumerate(samples):
        first.setdefault(sample, index)
    return first


def distinct(data: Data, need_output: bool) -> Data:
    """Each sample once, with its count. If some words have an output, words without one are left out."""
    assert isinstance(data.rows, WordRows)
    if not data.samples:
        raise InputError(f"{data.name} has no words: give CoNLL-U with at least one")
    first, counts = first_places(data.samples), Counter(data.samples)
    covered = [sample for sample in first if sample.output is None]
    if len(covered) == len(first) and need_output:
        raise InputError(f"{data.name} has no lemmas (LEMMA is _), but they are needed here; give a file with lemmas")
    kept = [sample for sample in first if sample.output is not None or len(covered) == len(first)]
    if len(kept) < len(first):
        left_out = sum(counts[sample] for sample in covered)
        counted = "1 word has no LEMMA (_) and is" if left_out == 1 else f"{left_out:,} words have no LEMMA (_) and are"
        log.warning("%s: %s left out", data.name, counted)
    rows = replace(data.rows, rows=[data.rows.rows[first[sample]] for sample in kept],
                   indices=tuple(data.rows.indices[first[sample]] for sample in kept))
    return replace(data, samples=kept, rows=rows, counts=[counts[sample] for sample in kept], block=None)


def data_of(rows: FileRows, fmt: DataFormat, samples: Sequence[Sample], options: ReadOptions) -> Data:
    """Normalise the samples as the options say, and check their symbols."""
    in_form = [normalised(sample, options.unicode) for sample in samples]
    for index, sample in enumerate(in_form) if options.separators else ():
        options.separators.check(sample, rows.where(index))
    return Data(rows.name, fmt, in_form, rows, options.unicode, options.separators)


def advice_for(rows: FileRows, fmt: DataFormat, options: ReadOptions) -> Optional[str]:
    """What to do about data that is not in the format `fmt`, if no format flag was given."""
    if options.columns is not None:
        row = rows.rows[0]
        columns = options.columns if len(options.columns) == len(row) else fmt.columns_of(row, rows.where(0))
        separator = ", or the feature separator with --feature-separator" if options.separator else ""
        return f"line {rows.first_line} would be {shown(row, columns)}; {WHICH_COLUMNS}{separator}"
    return None if options.expected is None else f"give data in the format that {options.because}"


def format_for(rows: FileRows, options: ReadOptions, need_output: bool) -> DataFormat:
    """The chosen, recognised or expected format."""
    if options.separators:
        rows = replace(rows, rows=[[*map(options.separators.taken_out, row)] for row in rows.rows])
    if options.columns is not None:
        refuse_other_width(rows, options.columns, need_output)
        return format_with_columns(rows, options.columns, options)
    if options.format is not None:
        return options.format
    if options.expected is not None:
        return expected_format(rows, options, options.expected)
    if need_output and usual_width(rows.rows) == 1:
        raise InputError(f"{rows.where(0)}: 1 column, but an input and an output are needed; separate the columns by "
                         "tabs, or by commas or semicolons (CSV)")
    seen = recognise(rows.rows, rows.name, rows.header, options.separator)
    refuse_likely_header(rows, seen)
    return seen


def refuse_other_width(rows: FileRows, columns: tuple[str, ...], need_output: bool) -> None:
    """Refuse a file without the named columns; the output may be missing if it is not needed."""
    width = usual_width(rows.rows)
    fewest = len(columns) - (not need_output) - (columns == (INPUT, IGNORED, OUTPUT))
    if not fewest <= width <= len(columns):
        where = rows.where([len(row) for row in rows.rows].index(width))
        raise InputError(f"{where}: {columns_in_words(width)}, but --columns={','.join(columns)} names {len(columns)}; "
                         f"{WHICH_COLUMNS}")


def format_with_columns(rows: FileRows, columns: tuple[str, ...], options: ReadOptions) -> DataFormat:
    """The format with the named columns and the separator that the features have."""
    known = format_of(columns, options.separator or (options.expected and options.expected.separator) or ";")
    if options.separator or options.expected or FEATURES not in columns:
        return known
    usual = usual_rows(rows.rows)
    place = known.columns_of(usual[0], rows.where(rows.rows.index(list(usual[0])))).index(FEATURES)
    kind = kind_of(row[place] for row in usual)
    return format_of(columns, separator_of(kind, ";", columns, usual[0][place], rows.name))


def expected_format(rows: FileRows, options: ReadOptions, expected: DataFormat) -> DataFormat:
    """The expected format, unless the columns clearly have another order. Doubtful cases are refused."""
    try:
        seen = recognise(rows.rows, rows.name, rows.header, default=expected.separator)
    except AmbiguousFormat:
        if usual_width(rows.rows) > len(expected.columns):
            raise
        return expected
    if rows.header is not None and any(IGNORED in columns or columns.count(FEATURES) > 1
                                       for columns in (rows.header, expected.columns)):
        return _with_the_same_features(seen, rows, options, expected)
    whole = usual_width(rows.rows) == len(seen.columns) == len(expected.columns)
    if not whole or seen.columns == expected.columns or seen.separator is None:
        return expected
    kinds = kinds_of(rows.rows)
    clear = kinds[seen.columns.index(FEATURES)].name == TAGS or rows.header is not None
    if expected.separator is None and (not clear or any(kind.name == EMPTY for kind in kinds)):
        return expected  # without features a column may contain anything
    if not clear:
        raise ambiguous(usual_rows(rows.rows), rows.name, [expected.columns, seen.columns])
    return _with_the_same_features(seen, rows, options, expected)


def _with_the_same_features(seen: DataFormat, rows: FileRows, options: ReadOptions, expected: DataFormat) -> DataFormat:
    if seen.separator is None and expected.separator is not None:
        raise InputError(f"{rows.name}, line 1: the header row names no features; give data in the format that "
                         f"{options.because}")
    if seen.separator != expected.separator:
        raise other_features(rows, seen, options, expected)
    return seen


def other_features(rows: FileRows, seen: DataFormat, options: ReadOptions, expected: DataFormat) -> InputError:
    """The error for features in an unexpected column and with an unexpected separator."""
    row, place = usual_rows(rows.rows)[0], seen.columns.index(FEATURES)
    return InputError(f"{rows.where(rows.rows.index(list(row)))}: column {place + 1} looks like features separated by "
                      f'"{seen.separator}" ({row[place]!r}) instead of {expected.described(len(row))}; '
                      f"{WrongFormat(rows.name, expected, seen).finding}: give data in the format that "
                      f"{options.because}")


def samples_of(rows: FileRows, fmt: DataFormat) -> list[Sample]:
    """The samples of all rows. Refuse blank lines and comments."""
    usual = usual_width(rows.rows)
    samples = []
    for index, row in enumerate(rows.rows):
        oddity = _oddity(row, usual)
        try:
            samples.append(fmt.sample(row, rows.where(index)))
        except InputError as error:
            raise InputError(f"{error}; {oddity}" if oddity else str(error)) from error
        if oddity:
            raise InputError(f"{rows.where(index)}: {oddity}")
    return samples


def _oddity(row: Sequence[str], usual: int) -> Optional[str]:
    if not any(row):
        return "the line is blank: remove it"
    if len(row) < usual and row[0].startswith("#"):
        return "the line looks like a comment: remove it"
    return None


def check_outputs(samples: Sequence[Sample], rows: FileRows, fmt: DataFormat, need_output: bool,
                  options: ReadOptions) -> None:
    covered = [index for index, sample in enumerate(samples) if sample.output is None]
    if options.some_outputs and not need_output:
        covered = [index for index in covered if len(rows.rows[index]) < len(fmt.columns)]  # a column is missing
    if covered and len(covered) < len(samples):
        refuse_line_without_features(rows, covered[0], fmt, samples)
        raise InputError(f"{rows.where(covered[0])}: no output, but other lines have one; "
                         + (f"fill in the {len(covered):,} of {len(samples):,} lines without one, or delete them"
                            if need_output else "give an output on every line or on none"))
    if covered and need_output:
        flags = WHICH_COLUMNS if options.columns or options.expected or rows.header else (
            "check the format flags --sigm2017format and --no-feat-format")
        raise InputError(f"{rows.name} has no outputs, but they are needed here; give a file with outputs, or {flags}")


def refuse_line_without_features(rows: FileRows, index: int, fmt: DataFormat, others: Sequence[Sample]) -> None:
    """Refuse a line that is one column short if its second column does not look like the features of other lines."""
    row = rows.rows[index]
    full = [sample.tag for sample in others if sample.output is not None]
    if fmt.separator is None or len(row) == len(fmt.columns) or 2 * len(full) < len(others):
        return
    tag = fmt.sample(row, rows.where(index)).tag
    known = {feature for other in full for feature in fmt.features(other)}
    if fmt.separator not in tag and not known.intersection(fmt.features(tag)):
        raise InputError(f"{rows.where(index)}: no features, but other lines have some: {columns_in_words(len(row))} "
                         f"({', '.join(map(repr, row))}) instead of {', '.join(fmt.columns)}; give all of them")
