"""Turn the values of the flags that say how data is read into `ReadOptions`, for all commands and for Python."""
from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Optional, Union

from il_morph.data.dataformat import FEATURES, LEMMATIZE, OUTPUT, complaint_about_columns, format_from_flags, treebank
from il_morph.data.header import column_named
from il_morph.data.reading import ReadOptions
from il_morph.data.spelling import AS_IS
from il_morph.data.symbols import NO_SEPARATORS, Separators, complaint_about_separator
from il_morph.errors import InputError
from il_morph.values import bad_value, items_of, text

Columns = Union[str, Sequence[str]]


def read_options(sigm2017format: bool = False, no_feat_format: bool = False, columns: Optional[Columns] = None,
                 feature_separator: Optional[str] = None, unicode: str = AS_IS,
                 separators: Separators = NO_SEPARATORS, task: Optional[str] = None,
                 conllu_features: Optional[str] = None) -> ReadOptions:
    """The options that the flags choose. Without flags for the format, the format is recognised."""
    old = ["--sigm2017format"] * sigm2017format + ["--no-feat-format"] * no_feat_format
    new = ["--columns"] * (columns is not None) + ["--feature-separator"] * (feature_separator is not None)
    if old and new:
        raise InputError(f"{old[0]} and {new[0]} exclude each other: give one of them")
    fmt = format_from_flags(sigm2017format, no_feat_format) if old else None
    named = named_columns(columns)
    check_separator(feature_separator, named)
    return ReadOptions(format=fmt, columns=named, separator=feature_separator, unicode=unicode,
                       separators=separators,
                       treebank=treebank(task or LEMMATIZE, conllu_features or "upos+feats")
                       if task or conllu_features else None)


def named_columns(columns: Optional[Columns], need_output: bool = True) -> Optional[tuple[str, ...]]:
    """The columns that --columns names: a list, or text with commas. Names from header rows (lemma, tag) work, too."""
    if columns is None:
        return None
    given = columns.split(",") if isinstance(columns, str) else items_of("--columns", columns)
    listed = tuple(column_named(text("--columns", column)) for column in given)
    if OUTPUT not in listed and not need_output:
        listed += (OUTPUT,)
    complaint = complaint_about_columns(listed)
    if complaint:
        raise InputError(f"--columns={','.join(map(str, given))}: {complaint}; name the columns as in "
                         "--columns=input,features,output")
    return listed


def symbol_separators(input: Optional[str] = None, output: Optional[str] = None,
                      boundary: Optional[str] = None) -> Separators:
    """The separators of symbols (--input-separator, --output-separator) and of segments (--boundary)."""
    if output and boundary:
        raise InputError("--output-separator and --boundary exclude each other: the first separates all symbols, the "
                         "second segments of characters; give one of them, and the other as \"\" if a preset has it")
    return Separators(checked_separator("--input-separator", input or ""),
                      checked_separator("--output-separator", output or ""),
                      checked_separator("--boundary", boundary or ""))


def checked_separator(flag: str, separator: str) -> str:
    """The separator, if it is allowed; an empty one means no separator."""
    complaint = complaint_about_separator(separator)
    if complaint:
        raise InputError(f"{flag}={json.dumps(separator, ensure_ascii=False)}: {complaint}")
    return separator


def check_separator(separator: Optional[str], columns: Optional[Sequence[str]]) -> None:
    if separator is not None and (not separator or re.search(r"[\s\w()]", separator) and separator != " "):
        raise bad_value("--feature-separator", separator,
                        "what stands between features, as in --feature-separator=\";\"")
    if separator is not None and columns is not None and FEATURES not in columns:
        raise InputError("--feature-separator needs a column of features: name it in --columns, or leave the flag out")
