"""Data formats: an order of columns and a separator between features. Some have a name."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Optional

from il_morph.data.samples import UNK, Sample, refuse_unusable
from il_morph.errors import InputError

INPUT, FEATURES, OUTPUT, IGNORED = "input", "features", "output", "-"


@dataclass(frozen=True)
class DataFormat:
    """The order of the columns and the separator between features (None: no features)."""

    name: str
    flag: str
    columns: tuple[str, ...]
    separator: Optional[str]

    def features(self, tag: str) -> tuple[str, ...]:
        """The features of a tag; brackets stay whole, as in `V;IMP;ACC(2,SG)`. A format without features has one
        constant feature, the empty string."""
        if self.separator is None:
            return ("",)
        return tuple(split_outside_brackets(tag, self.separator) if "(" in tag else tag.split(self.separator))

    def sample(self, fields: Sequence[str], where: str) -> Sample:
        """The sample with these columns; an empty output counts as covered."""
        columns = self.columns_of(fields, where)
        values = dict(zip(columns, fields))
        if self.keeps_columns:
            tag = (self.separator or "").join(filter(None, _of(FEATURES, columns, fields)))
            sample = Sample(values[INPUT], tag, values.get(OUTPUT) or None, tuple(fields))
        else:
            sample = Sample(values[INPUT], values.get(FEATURES, ""), values.get(OUTPUT) or None)
        refuse_unusable(sample, where)
        if UNK in sample.tag and UNK in self.features(sample.tag):
            raise InputError(f"{where}: the feature {UNK} is reserved by il-morph; rename it")
        return sample

    def line(self, sample: Sample, output: str) -> str:
        """The columns of a sample with this output, tab-separated, without line end. Ignored columns, and several
        columns of features, are kept as they were read."""
        values = {INPUT: [sample.input], OUTPUT: [output], FEATURES: [sample.tag], IGNORED: []}
        if sample.row is not None:
            columns = self.columns_of(sample.row, "the line")
            values[IGNORED] = _of(IGNORED, columns, sample.row)
            if columns.count(FEATURES) > 1:
                values[FEATURES] = _of(FEATURES, columns, sample.row)
        return "\t".join(values[column].pop(0) if values[column] else "" for column in self.columns)

    @property
    def keeps_columns(self) -> bool:
        return IGNORED in self.columns or self.columns.count(FEATURES) > 1

    def columns_of(self, fields: Sequence[str], where: str) -> tuple[str, ...]:
        """The column of each field. The output may be missing; without features, so may the ignored column."""
        if len(fields) == len(self.columns):
            return self.columns
        if self.separator is None and FEATURES in self.columns:  # a column that may be left out
            shorter = (INPUT, OUTPUT)[:len(fields)]
        else:
            shorter = tuple(column for column in self.columns if column != OUTPUT)
        if len(fields) == len(shorter):
            return shorter
        raise InputError(f"{where}: {columns_in_words(len(fields))}, but the {self.name} format ({self.flag}) has "
                         f"{', '.join(self.columns)}, separated by tabs")

    def described(self, number: int, tags: Sequence[str] = ()) -> str:
        """`input, output, features separated by ";"`, for lines with this number of columns and these tags."""
        features = "features" + ("" if self.remarks(tags) else f' separated by "{self.separator}"')
        columns = [IGNORED if column == FEATURES and not self.separator else column
                   for column in self.columns_of([""] * number, "described")]
        several = {FEATURES: f"{{}} columns of {features}", IGNORED: "{} columns that are ignored"}
        alone = {FEATURES: features, IGNORED: "a column that is ignored"}
        groups = [(column, len(list(same))) for column, same in groupby(columns)]
        return ", ".join(several[column].format(times) if times > 1 else alone.get(column, column)
                         for column, times in groups)

    def remarks(self, tags: Sequence[str]) -> list[str]:
        """A remark if no tag contains the separator."""
        if self.separator is None or not any(tags) or any(len(self.features(tag)) > 1 for tag in tags):
            return []
        return [f'no "{self.separator}" in the features: each bundle is one']


LEMMATIZE, INFLECT = "lemmatize", "inflect"
TASKS = (LEMMATIZE, INFLECT)
FEATURE_SOURCES = {"none": (), "upos": ("UPOS",), "upos+feats": ("UPOS", "FEATS"), "xpos": ("XPOS",)}


@dataclass(frozen=True)
class Treebank(DataFormat):
    """The words of CoNLL-U as samples. Other files, such as the predictions of a training, have plain columns."""

    task: str = LEMMATIZE
    source: str = "upos+feats"  # one of FEATURE_SOURCES

    def described(self, number: int, tags: Sequence[str] = ()) -> str:
        """`CoNLL-U: FORM + UPOS + FEATS → LEMMA`."""
        words = ("FORM", "LEMMA") if self.task == LEMMATIZE else ("LEMMA", "FORM")
        return f"CoNLL-U: {' + '.join([words[0], *FEATURE_SOURCES[self.source]])} → {words[1]}"

    def remarks(self, tags: Sequence[str]) -> list[str]:
        return []


def treebank(task: str = LEMMATIZE, source: str = "upos+feats") -> Treebank:
    """The format that reads words of CoNLL-U for this task."""
    separator = "|" if FEATURE_SOURCES[source] else None
    columns = (INPUT, OUTPUT, FEATURES) if separator else (INPUT, OUTPUT)
    return Treebank(f"conllu:{task}:{source}", f"--task={task} --conllu-features={source}", columns, separator,
                    task=task, source=source)


TREEBANKS = {fmt.name: fmt for fmt in (treebank(task, source) for task in TASKS for source in FEATURE_SOURCES)}
SIGMORPHON2016 = DataFormat("sigmorphon2016", "the default", (INPUT, FEATURES, OUTPUT), ",")
SIGMORPHON2017 = DataFormat("sigmorphon2017", "--sigm2017format", (INPUT, OUTPUT, FEATURES), ";")
SIGMORPHON2022 = DataFormat("sigmorphon2022", '--columns=input,features,output --feature-separator=";"',
                            (INPUT, FEATURES, OUTPUT), ";")
NO_FEATURES = DataFormat("no-features", "--no-feat-format", (INPUT, FEATURES, OUTPUT), None)
FORMATS = {fmt.name: fmt for fmt in (SIGMORPHON2016, SIGMORPHON2017, SIGMORPHON2022, NO_FEATURES)}


def format_of(columns: Sequence[str], separator: Optional[str]) -> DataFormat:
    """The format with these columns and this feature separator: a named one if there is one."""
    columns = tuple(columns)
    if FEATURES not in columns and columns in ((INPUT, OUTPUT), (INPUT, IGNORED, OUTPUT)):
        return NO_FEATURES
    for known in (SIGMORPHON2016, SIGMORPHON2017, SIGMORPHON2022):
        if (columns, separator) == (known.columns, known.separator):
            return known
    listed, flag = ",".join(columns), f"--columns={','.join(columns)}"
    if FEATURES not in columns:
        return DataFormat(listed, flag, columns, None)
    return DataFormat(f"{listed}:{separator}", f'{flag} --feature-separator="{separator}"', columns, separator)


def format_named(name: str) -> DataFormat:
    """The format with this name: `sigmorphon2017`, or in general `input,features,output:;`."""
    if name in FORMATS:
        return FORMATS[name]
    if name in TREEBANKS:
        return TREEBANKS[name]
    listed, colon, separator = str(name).partition(":")
    columns = listed.split(",")
    if complaint_about_columns(columns) or bool(colon) != (FEATURES in columns) or bool(colon) != bool(separator):
        raise ValueError(f"there is no data format {name!r}")
    return format_of(columns, separator or None)


def complaint_about_columns(columns: Sequence[str]) -> Optional[str]:
    """What is wrong with a list of columns, or None."""
    unknown = [column for column in columns if column not in (INPUT, FEATURES, OUTPUT, IGNORED)]
    if unknown:
        return f"{unknown[0]!r} is not one of input, features, output and - (ignored)"
    repeated = [column for column in (INPUT, OUTPUT) if columns.count(column) > 1]
    if repeated:
        return f"{repeated[0]} appears twice"
    missing = [column for column in (INPUT, OUTPUT) if column not in columns]
    return f"{missing[0]} is missing" if missing else None


def format_from_flags(sigm2017: bool, no_feat: bool) -> DataFormat:
    """The format chosen by --sigm2017format and --no-feat-format."""
    if sigm2017 and no_feat:
        raise InputError("--sigm2017format and --no-feat-format exclude each other: give one of them")
    if sigm2017:
        return SIGMORPHON2017
    return NO_FEATURES if no_feat else SIGMORPHON2016


def _of(wanted: str, columns: Sequence[str], fields: Sequence[str]) -> list[str]:
    return [field for column, field in zip(columns, fields) if column == wanted]


def columns_in_words(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def split_outside_brackets(tag: str, separator: str) -> list[str]:
    """Split at separators outside brackets; if the brackets do not match, at all separators."""
    if tag.count("(") != tag.count(")"):
        return tag.split(separator)
    features: list[str] = []
    depth = 0
    for part in tag.split(separator):
        if depth > 0:
            features[-1] += separator + part
        else:
            features.append(part)
        depth += part.count("(") - part.count(")")
    return features
