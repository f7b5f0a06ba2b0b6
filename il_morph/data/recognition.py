"""Recognise the format of a file. A column is empty, or has words or tags; doubtful files are refused."""
from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Callable, Optional

from il_morph.data.dataformat import (
    FEATURES,
    IGNORED,
    INPUT,
    NO_FEATURES,
    OUTPUT,
    SIGMORPHON2016,
    SIGMORPHON2017,
    SIGMORPHON2022,
    DataFormat,
    format_of,
)
from il_morph.data.samples import Sample
from il_morph.data.symbols import NO_SEPARATORS, Separators
from il_morph.errors import InputError

SEPARATORS = (";", ",", "|")
ENOUGH = 2000  # rows to look at
IN_CAPITALS = re.compile(r"(?=.*[A-Z])[A-Z0-9+/._{}<>:*' -]+")
FEWEST_FOR_SYMBOLS = 10  # lines
LONGEST_SYMBOL = 8  # characters of a phoneme with all its marks
EMPTY, WORDS, PERHAPS, TAGS = "empty", "words", "perhaps tags", "tags"

log = logging.getLogger(__name__)


class WrongFormat(InputError):
    """The data is not in the format it is read in."""

    def __init__(self, name: str, fmt: DataFormat, right: DataFormat):
        self.finding = f"{name} does not look like the {fmt.name} format ({fmt.flag}) but like {right.name}"
        advice = "leave out the format flag" if right is SIGMORPHON2016 else f"use {right.flag}"
        super().__init__(f"{self.finding}: {advice}")


class AmbiguousFormat(InputError):
    """The data can be read in more than one way."""


@dataclass(frozen=True)
class ColumnKind:
    """What the fields of a column look like. With several separators there are several ways to split the tags."""

    name: str
    separators: tuple[str, ...] = ()
    attributes: bool = False  # tags of the form attribute=value
    few: bool = False  # few different words, often repeated


def kind_of(fields: Iterable[str]) -> ColumnKind:
    """The kind of a column. Tags have separators or attributes; single words in capitals, or a few words that are often
    repeated, may be tags."""
    filled = [without_brackets(field) for field in some_of([field for field in fields if field])]
    if not filled:
        return ColumnKind(EMPTY)
    separators, attributes = separators_of(filled), attributes_of(filled)
    if attributes:
        return ColumnKind(TAGS, attributes, True)
    if separators and are_features(filled, separators[0]):
        return ColumnKind(TAGS, tuple(separators))
    separators = [separator for separator in SEPARATORS if any(separator in field for field in filled)]
    if in_capitals(filled):
        return ColumnKind(PERHAPS, tuple(separators))
    return ColumnKind(WORDS, tuple(separators), few=very_few(filled))


def some_of(items: Sequence) -> Sequence:
    """A selection spread over all items, large enough to tell what most are like."""
    return items[::max(1, len(items) // ENOUGH)]


def separators_of(filled: Sequence[str]) -> list[str]:
    return [separator for separator in SEPARATORS if 2 * sum(separator in field for field in filled) > len(filled)]


def attributes_of(filled: Sequence[str]) -> tuple[str, ...]:
    """The separators between attribute=value features: `,` if most fields have only one feature."""
    if not most(lambda field: "=" in field, filled):
        return ()
    return tuple(separator for separator in separators_of(filled) or [","] if are_attributes(filled, separator))


def are_attributes(filled: Sequence[str], separator: str) -> bool:
    """Are these attribute=value features? Attributes are repeated, or their values begin with capitals or digits;
    `casa=la` is a word with a clitic."""
    parts = [part for field in filled for part in field.split(separator)]
    if not most(lambda field: all("=" in part for part in field.split(separator)), filled):
        return False
    return come_again([part.split("=")[0] for part in parts]) or most(
        lambda part: re.search(r"=\W*[A-Z0-9]", part) is not None, parts)


def are_features(filled: Sequence[str], separator: str) -> bool:
    """Are these features? Features are repeated or in capitals; with few fields a semicolon is enough."""
    parts = [part for field in filled for part in field.split(separator)]
    if separator == ";" and len(parts) < 20 and all(parts):
        return True
    return any(parts) and come_again(parts) or in_capitals(filled)


def come_again(items: Sequence[str]) -> bool:
    return 2 * len(set(items)) <= len(items)


def without_brackets(field: str) -> str:
    return re.sub(r"\([^()]*\)", "", field) if "(" in field else field


def in_capitals(filled: Sequence[str]) -> bool:
    return most(lambda field: IN_CAPITALS.fullmatch(re.sub("[;,|]", "", field)) is not None, filled)


def very_few(filled: Sequence[str]) -> bool:
    return len(filled) >= 40 and 20 * len(set(filled)) <= len(filled)


def most(test: Callable[[str], bool], fields: Sequence[str]) -> bool:
    return 2 * sum(map(test, fields)) > len(fields)


# Recognising

def recognise(rows: Sequence[Sequence[str]], name: str, header: Optional[Sequence[str]] = None,
              separator: Optional[str] = None, default: Optional[str] = None) -> DataFormat:
    """The format of these rows. `header` lists the columns that a header row names; `separator` is the feature
    separator, `default` the one to use if the features show none, or several."""
    kinds, rows = kinds_of(rows), usual_rows(rows)
    if header is not None:
        kinds = named_kinds(kinds, header, rows, name)
    if header is not None and (IGNORED in header or list(header).count(FEATURES) > 1):
        return with_ignored_columns(kinds, header, rows, name, separator, default)
    place, kinds = place_of_tags(kinds)
    if len(kinds) > 3:
        raise too_many_columns(rows, name, proposed_columns(rows, place))
    if any(kind.name == TAGS for index, kind in enumerate(kinds) if index != place) or kinds[0].name == EMPTY:
        raise ambiguous(rows, name, [(INPUT, FEATURES, OUTPUT), (INPUT, OUTPUT, FEATURES)])
    if place is None:
        return without_features(kinds, rows, name, separator)
    if default is not None and len(kinds[place].separators) > 1:
        separator = default if default in kinds[place].separators else kinds[place].separators[0]
    if separator is not None:
        kinds[place] = replace(kinds[place], separators=(separator,))
    if len(kinds) < 3:
        return covered(kinds, place, rows, name, default or ",")
    columns = [INPUT, OUTPUT]
    columns.insert(place, FEATURES)
    default = default or ("," if place == 1 else ";")
    return format_of(columns, separator_of(kinds[place], default, columns, rows[0][place], name))


def kinds_of(rows: Sequence[Sequence[str]]) -> list[ColumnKind]:
    """The kind of each column, judged by the usual rows."""
    return [kind_of(column) for column in zip(*some_of(usual_rows(rows)))] if rows else []


def usual_rows(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The rows with the most frequent number of columns."""
    width = usual_width(rows)
    return [row for row in rows if len(row) == width]


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0]


def named_kinds(kinds: Sequence[ColumnKind], header: Sequence[str], rows, name: str) -> list[ColumnKind]:
    """The kinds of the columns; the header decides on possible tags. An error if a column of another name has tags."""
    if len(kinds) != len(header):
        return list(kinds)
    for kind, column in zip(kinds, header):
        if kind.name == TAGS and column not in (FEATURES, IGNORED):
            raise ambiguous(rows, name, [header, with_features_at(kinds.index(kind), len(kinds))],
                            "the header row says one thing, the lines below it another")
    return [ColumnKind(TAGS, kind.separators) if column == FEATURES else ColumnKind(WORDS)
            if kind.name == PERHAPS else kind
            for kind, column in zip(kinds, header)]


def with_ignored_columns(kinds: Sequence[ColumnKind], header: Sequence[str], rows, name: str,
                         separator: Optional[str], default: Optional[str]) -> DataFormat:
    """The format that a header row names; the output may be missing."""
    columns = with_output(header)
    if len(kinds) != len(header) or FEATURES not in header:
        return format_of(columns, None)
    place = header.index(FEATURES)
    if default in kinds[place].separators:
        separator = separator or default
    return format_of(columns, separator or separator_of(kinds[place], default or ";", columns, rows[0][place], name))


def with_features_at(place: int, width: int) -> list[str]:
    """Columns with features in this place, input and output in the first two other places, the rest ignored."""
    columns = ([INPUT, OUTPUT] + [IGNORED] * width)[:width - 1]
    columns.insert(place, FEATURES)
    return columns


def place_of_tags(kinds: Sequence[ColumnKind]) -> tuple[Optional[int], list[ColumnKind]]:
    """The column of the tags, if it is clear. Attributes outrank other tags, and tags outrank possible tags."""
    tags = [index for index, kind in enumerate(kinds) if kind.name == TAGS]
    attributes = [index for index in tags if kinds[index].attributes]
    perhaps = [index for index, kind in enumerate(kinds) if index and kind.name == PERHAPS]
    if not perhaps and all(kind.name == WORDS for kind in kinds):
        perhaps = [index for index, kind in enumerate(kinds) if index and kind.few]
    if len(attributes) == 1:
        place: Optional[int] = attributes[0]
    elif tags or len(kinds) < 3:
        place = tags[0] if len(tags) == 1 else None
    else:
        place = perhaps[0] if len(perhaps) == 1 else None
    if len(attributes) == 1:  # words beside them may look like tags
        kinds = [kind if index == place or kind.name == EMPTY else ColumnKind(WORDS) for index,
                 kind in enumerate(kinds)]
    return place, list(kinds)


def without_features(kinds: Sequence[ColumnKind], rows, name: str, separator: Optional[str]) -> DataFormat:
    """The format without features: one column, two, or three of which one is empty."""
    if separator is not None:
        raise InputError(f"{name}: no column looks like features, so --feature-separator={separator} has nothing to "
                         "separate; say with --columns which column they are")
    if len(kinds) == 3 and all(kind.name != EMPTY for kind in kinds):
        raise ambiguous(rows, name, [(INPUT, FEATURES, OUTPUT), (INPUT, OUTPUT, FEATURES), (INPUT, IGNORED, OUTPUT)])
    if len(kinds) == 2 and kinds[0].name == WORDS and are_tags_in_capitals([row[1] for row in rows if len(row) == 2]):
        raise ambiguous(rows, name, [(INPUT, FEATURES), (INPUT, OUTPUT)])
    return NO_FEATURES


def are_tags_in_capitals(fields: Sequence[str]) -> bool:
    """Pronunciations may be in capitals, too, but hardly ever repeat."""
    return in_capitals(fields) and come_again(fields)


def covered(kinds: Sequence[ColumnKind], place: int, rows, name: str, default: str) -> DataFormat:
    """The format of data with input and features but without outputs."""
    if place == 0:
        raise InputError(f"{name}: the first column looks like features ({rows[0][0]!r}), where the inputs should be; "
                         + ("put the inputs first, or say --columns=features,input,output" if len(kinds) == 2 else
                            "give a file with a column of inputs"))
    separator = separator_of(kinds[place], default, (INPUT, FEATURES, OUTPUT), rows[0][place], name)
    return SIGMORPHON2017 if separator == ";" else format_of((INPUT, FEATURES, OUTPUT), separator)


def separator_of(kind: ColumnKind, default: str, columns: Sequence[str], tag: str, name: str) -> str:
    """The feature separator of a column of this kind; `tag` is one of its fields."""
    if len(kind.separators) < 2:
        return kind.separators[0] if kind.separators else default
    ways = "\n".join(f'  {" + ".join(repr(part) for part in tag.split(separator))}  (--feature-separator="{separator}")'
                     for separator in kind.separators)
    raise AmbiguousFormat(f"{name}: it is not clear what separates the features; those of the first line are either\n"
                          f"{ways}\nsay which with --columns={','.join(columns)} and --feature-separator")


def ambiguous(rows: Sequence[Sequence[str]], name: str, readings: Sequence[Sequence[str]],
              reason: str = "it is not clear what the columns are") -> AmbiguousFormat:
    ways = "\n".join(f"  {shown(rows[0], columns)}  (--columns={','.join(with_output(columns))})"
                     for columns in readings)
    return AmbiguousFormat(f"{name}: {reason}; the first line is either\n{ways}\nsay which with --columns")


def with_output(columns: Sequence[str]) -> Sequence[str]:
    """--columns names the output even if it is missing."""
    return columns if OUTPUT in columns else [*columns, OUTPUT]


def shown(row: Sequence[str], columns: Sequence[str]) -> str:
    return ", ".join(f"{'ignored' if column == IGNORED else column} {field!r}" for column, field in zip(columns, row))


def proposed_columns(rows: Sequence[Sequence[str]], place: Optional[int]) -> list[str]:
    """Input and output in the first columns of words, and features in this place or after them."""
    words = [index for index, fields in enumerate(zip(*rows)) if index != place and not all(map(str.isdecimal, fields))]
    named = dict(zip(words, (INPUT, OUTPUT, FEATURES) if place is None else (INPUT, OUTPUT)))
    return [FEATURES if index == place else named.get(index, IGNORED) for index in range(len(rows[0]))]


def too_many_columns(rows: Sequence[Sequence[str]], name: str, columns: Sequence[str]) -> AmbiguousFormat:
    row = rows[0]
    return AmbiguousFormat(f"{name}: {len(row)} columns, and it is not clear what they are; say it with --columns, "
                           f"where - is a column to be ignored, perhaps\n  {shown(row, columns)}  "
                           f"(--columns={','.join(columns)})")


# Symbols

def outputs_look_like_symbols(samples: Sequence[Sample]) -> bool:
    """Do nearly all outputs consist of short parts separated by blanks, as phonemes are, while inputs have none?"""
    some = [sample for sample in some_of(samples) if sample.output]
    outputs = [sample.target.split(" ") for sample in some]
    divided = sum(len(parts) > 1 for parts in outputs)
    if len(some) < FEWEST_FOR_SYMBOLS or 10 * divided < 9 * len(some) or any(" " in sample.input for sample in some):
        return False
    lengths = [len(part) for parts in outputs for part in parts]
    return min(lengths) > 0 and max(lengths) <= LONGEST_SYMBOL and sum(lengths) <= 2 * len(lengths)


# Checking

def check_format(samples: Sequence[Sample], fmt: DataFormat, name: str,
                 separators: Separators = NO_SEPARATORS) -> None:
    """Refuse data that is clearly not in the format it is read in."""
    right = _format_seen(samples, fmt, separators)
    if right is not None:
        raise WrongFormat(name, fmt, right)
    if fmt.separator is None and kind_of(sample.tag for sample in samples).name == TAGS:
        log.warning("%s: the second column looks like features; %s ignores it", name, fmt.flag)


def _format_seen(samples: Sequence[Sample], fmt: DataFormat, separators: Separators) -> Optional[DataFormat]:
    """The format that most lines suggest, if it is not `fmt`."""
    tags = [sample.tag for sample in samples]
    outputs = [separators.taken_out(sample.output) for sample in samples if sample.output]
    if fmt.separator is not None and _in_place(fmt, tags):
        return None
    if fmt.separator is None and separators_of([sample.input for sample in samples]):
        return None  # words with such characters have them in their outputs, too
    suspects = outputs if outputs or fmt.separator is None else tags
    if fmt.separator != "," and _are_2016_tags(suspects):
        return SIGMORPHON2016
    if _are_2017_tags(suspects) and (outputs or fmt.separator != ";"):
        return SIGMORPHON2022 if fmt.columns.index(OUTPUT) == 1 else SIGMORPHON2017
    if outputs and fmt is SIGMORPHON2016 and _are_2017_tags(tags):
        return SIGMORPHON2022
    if outputs and fmt is SIGMORPHON2022 and _are_2016_tags(tags):
        return SIGMORPHON2016
    return _no_features_seen(fmt, tags, outputs)


def _are_2016_tags(fields: Sequence[str]) -> bool:
    kind = kind_of(fields)
    return kind.attributes and "," in kind.separators


def _are_2017_tags(fields: Sequence[str]) -> bool:
    kind = kind_of(fields)
    return kind.name == TAGS and ";" in kind.separators


def _in_place(fmt: DataFormat, tags: Sequence[str]) -> bool:
    looks_right = _is_2016_tag if fmt.separator == "," else lambda tag: fmt.separator in tag
    return most(looks_right, tags)


def _no_features_seen(fmt: DataFormat, tags: Sequence[str], outputs: Sequence[str]) -> Optional[DataFormat]:
    if fmt.separator is None:
        return None
    if fmt.columns == (INPUT, FEATURES, OUTPUT) and most(lambda tag: not tag, tags):
        return NO_FEATURES
    return NO_FEATURES if not outputs and _are_words(tags) else None


def _is_2016_tag(field: str) -> bool:
    return all("=" in feature for feature in field.split(","))


def _are_words(tags: Sequence[str]) -> bool:
    """Are most fields without separators and not in capitals, and are there more different ones than in a tag set?"""
    return len(set(tags)) > 20 and most(lambda tag: re.search("[=,;]", tag) is None and tag != tag.upper(), tags)
