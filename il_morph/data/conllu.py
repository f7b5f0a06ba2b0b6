"""CoNLL-U, the format of Universal Dependencies: ten columns, comments, a blank line after each sentence.

A word is a sample: FORM, its features and LEMMA. Ranges (`1-2`), empty nodes (`1.1`), comments and blank lines are
kept for writing and otherwise ignored.
"""
from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from il_morph.data.dataformat import INFLECT, Treebank, columns_in_words
from il_morph.data.encodings import BYTE_ORDER_MARK, decode
from il_morph.data.rows import FileRows
from il_morph.data.samples import Sample
from il_morph.errors import InputError

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, MISC = (COLUMNS.index(name) for name in (
    "ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "MISC"))
NOTHING = "_"
CANDIDATES = "LemmaCandidates="
ENCODED = re.compile(r"[%,:|\s]")
FIRST_ID = re.compile(r"1|1-[0-9]+|0\.1")
WORD_ID, OTHER_ID = re.compile(r"[1-9][0-9]*"), re.compile(r"[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*")
SENTENCE = re.compile(r"#\s*sent_id\s*=\s*(.*\S)")


def is_conllu(lines: Iterable[str]) -> bool:
    """Does the first line that is not a comment have ten columns and the ID of a first word? After a comment, four
    columns are enough: a later error says that some are missing."""
    commented = False
    for line in lines:
        if line.startswith("#"):
            commented = True
        elif line.strip():
            fields = line.rstrip("\r").split("\t")
            return FIRST_ID.fullmatch(fields[ID]) is not None and (
                len(fields) == len(COLUMNS) or commented and len(fields) > 3)
    return False


@dataclass(frozen=True)
class Word:
    """The line of a word: its index in the block, and its columns."""

    index: int
    fields: list[str]


@dataclass(frozen=True)
class ConlluBlock:
    """A block of whole lines of a CoNLL-U file, which can be written again."""

    name: str
    lines: list[str]  # without line feeds
    words: list[Word]
    start: int  # the number of the first line
    sentences: list[tuple[int, str]]  # the index and the sent_id of comments with one; first the sentence before
    mark: str  # a byte order mark, or empty

    @property
    def initial(self) -> list[bool]:
        """For each word, whether it is the first of a sentence."""
        return [word.fields[ID] == "1" for word in self.words]

    def where(self, index: int) -> str:
        """The file, line and sentence of a line."""
        _, sentence = self.sentences[bisect_left(self.sentences, (index + 1, "")) - 1]
        return f"{self.name}, line {self.start + index}" + (f" (sentence {sentence})" if sentence else "")

    def filled(self, columns: Sequence[Mapping[int, str]]) -> str:
        """The same text with other values in some columns of each word."""
        lines = list(self.lines)
        for word, values in zip(self.words, columns):
            fields = word.fields.copy()
            for column, value in values.items():
                fields[column] = value
            lines[word.index] = "\t".join(fields) + "\r" * lines[word.index].endswith("\r")
        return self.mark + "\n".join(lines)


def conllu_block(content: bytes, name: str, start: int = 1, sentence: str = "") -> ConlluBlock:
    """Parse content whose first line has the number `start`, perhaps inside the sentence with this sent_id."""
    lines = decode(content, name, start).split("\n")
    found = [(index, SENTENCE.fullmatch(line.rstrip())) for index, line in enumerate(lines) if line.startswith("#")]
    mark = BYTE_ORDER_MARK.decode() if start == 1 and content.startswith(BYTE_ORDER_MARK) else ""
    block = ConlluBlock(name, lines, [], start, [(0, sentence), *((index, each[1]) for index, each in found if each)],
                        mark)
    for index, line in enumerate(lines):
        text = line.rstrip("\r")
        if not text.strip(" ") or text.startswith("#"):
            continue
        fields = text.split("\t")
        complaint = complaint_about(fields)
        if complaint:
            raise InputError(f"{block.where(index)}: {complaint}")
        if WORD_ID.fullmatch(fields[ID]):
            block.words.append(Word(index, fields))
    return block


def complaint_about(fields: Sequence[str]) -> Optional[str]:
    """What is wrong with a line that is neither blank nor a comment."""
    if len(fields) != len(COLUMNS):
        return (f"{columns_in_words(len(fields))}, but a line of CoNLL-U has {len(COLUMNS)}, separated by tabs "
                f"({', '.join(COLUMNS)})")
    if not WORD_ID.fullmatch(fields[ID]) and not OTHER_ID.fullmatch(fields[ID]):
        return f"the ID {fields[ID]!r} is neither a number, nor a range as in 1-2, nor an empty node as in 1.1"
    if "" in fields:
        return f"{COLUMNS[fields.index('')]} is empty: write {NOTHING} where there is nothing"
    return None


def sample_of_word(fields: Sequence[str], fmt: Treebank) -> Sample:
    """The sample that the task makes of a word. A LEMMA of `_` counts as missing, unless FORM is `_`, too."""
    lemma = None if fields[LEMMA] == NOTHING != fields[FORM] else fields[LEMMA]
    tag = tag_of(fields, fmt)
    if fmt.task == INFLECT:
        return Sample(lemma or "", tag, fields[FORM])
    return Sample(fields[FORM], tag, lemma)


def output_column(fmt: Treebank) -> int:
    """The column that a model fills in."""
    return FORM if fmt.task == INFLECT else LEMMA


def tag_of(fields: Sequence[str], fmt: Treebank) -> str:
    if fmt.source == "none":
        return ""
    if fmt.source == "xpos":
        return fields[XPOS]
    feats = [] if fmt.source == "upos" or fields[FEATS] == NOTHING else [fields[FEATS]]
    return "|".join([fields[UPOS], *feats])


def sentences_of(content: bytes) -> list[bytes]:
    """The sentences of a file, byte for byte: comments, words and the blank lines after them."""
    sentences: list[list[bytes]] = [[]]
    ended = filled = False
    for line in re.findall(b"[^\n]*\n|[^\n]+", content):
        blank = not line.strip()
        if ended and not blank:
            sentences.append([])
            filled = False
        filled = filled or not blank
        ended = blank and filled
        sentences[-1].append(line)
    return [b"".join(lines) for lines in sentences]


def with_candidates(misc: str, candidates: Sequence[tuple[str, float]]) -> str:
    """MISC with `LemmaCandidates=gitmek:0.9731,git:0.0202`, which replaces earlier candidates."""
    listed = ",".join(f"{ENCODED.sub(encoded, text)}:{probability:.4f}" for text, probability in candidates)
    others = [each for each in misc.split("|") if each != NOTHING and not each.startswith(CANDIDATES)]
    return "|".join([*others, CANDIDATES + listed])


def encoded(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8"))


@dataclass(frozen=True)
class WordRows(FileRows):
    """The words of a treebank as rows."""

    block: Optional[ConlluBlock] = None
    indices: tuple[int, ...] = ()  # the index of each row's line in the block
    words: int = 0

    def where(self, index: int) -> str:
        assert self.block is not None
        return self.block.where(self.indices[index])

    def counted(self, number: int) -> str:
        """`57,859 words, 14,094 different`; for a file that is read in blocks only the number of words."""
        return f"{self.words:,} words, {number:,} different" if number < self.words else f"{number:,} words"
