"""The public names of this package: samples, their formats, and reading them."""
from __future__ import annotations

from il_morph.data.dataformat import (
    FORMATS,
    NO_FEATURES,
    SIGMORPHON2016,
    SIGMORPHON2017,
    SIGMORPHON2022,
    DataFormat,
    Treebank,
    complaint_about_columns,
    format_from_flags,
    format_named,
    format_of,
)
from il_morph.data.encodings import name_of, split_lines
from il_morph.data.reading import (
    Data,
    Parts,
    ReadOptions,
    parse_data,
    parse_samples,
    read_data,
    read_parts,
    read_samples,
)
from il_morph.data.recognition import AmbiguousFormat, WrongFormat, check_format, recognise
from il_morph.data.samples import BEGIN, END, GAP, RESERVED, UNK, Sample
from il_morph.data.symbols import NO_SEPARATORS, Separators

__all__ = [
    "BEGIN", "END", "GAP", "RESERVED", "UNK", "Sample", "DataFormat", "Treebank", "FORMATS", "NO_FEATURES",
    "SIGMORPHON2016", "SIGMORPHON2017", "SIGMORPHON2022", "complaint_about_columns", "format_from_flags",
    "format_named", "format_of", "AmbiguousFormat", "WrongFormat", "check_format", "recognise", "Data", "Parts",
    "ReadOptions", "parse_data",
    "parse_samples", "read_data", "read_parts", "read_samples", "name_of", "split_lines", "NO_SEPARATORS",
    "Separators",
]
