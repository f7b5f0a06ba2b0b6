"""Splitting one file into training, development and test data."""
from __future__ import annotations

import logging
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional

from il_morph.data.conllu import sentences_of
from il_morph.data.dataformat import Treebank
from il_morph.data.encodings import BYTE_ORDER_MARK, as_utf8, name_of
from il_morph.data.office import kind_of_sheet, sheet_as_text
from il_morph.data.reading import RECOGNISED, Data, ReadOptions, parse_data, read_data
from il_morph.data.samples import Sample
from il_morph.errors import InputError
from il_morph.files import (
    LARGEST_FILE,
    STREAM,
    PathLike,
    read_bytes,
    read_regular,
    refuse_to_overwrite,
    write_atomically,
)

NAMES = ("train", "dev", "test")
SHARES = (80.0, 10.0, 10.0)
LEMMA, LINE, SENTENCE = "lemma", "line", "sentence"
UNITS = (LEMMA, LINE, SENTENCE)
FEWEST = 10  # lines worth splitting

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Split:
    """The numbers of the samples (or sentences) of each part, in the order of the file."""

    by: str
    parts: dict[str, list[int]]


def split_samples(samples: Sequence[Sample], shares: Sequence[float] = SHARES, seed: int = 1,
                  by: Optional[str] = None, name: str = "the data") -> Split:
    """Draw the parts. Split by lemma (the default if inputs repeat), samples with the same input stay together."""
    lemmas = list(dict.fromkeys(sample.input for sample in samples))
    if by == SENTENCE:
        raise InputError(f"{name} has no sentences: --split-by=sentence is about CoNLL-U; take lemma or line")
    by = by or (LEMMA if len(lemmas) < len(samples) else LINE)
    if len(samples) < FEWEST:
        raise InputError(f"{name} has {len(samples)} line{'s' * (len(samples) > 1)}, too few to split: give at least "
                         f"{FEWEST}")
    if by == LEMMA and len(lemmas) < len(shares):
        raise InputError(f"{name} has only {len(lemmas)} different inputs, too few for {len(shares)} parts; "
                         "give more data, or split it with --split-by=line")
    groups = groups_by_lemma(samples) if by == LEMMA else [[index] for index in range(len(samples))]
    random.Random(seed).shuffle(groups)
    return Split(by, dict(zip(NAMES, filled(groups, shares))))


def split_sentences(content: bytes, splitting: Splitting, name: str) -> Split:
    """Draw the parts of a treebank sentence by sentence; the shares are measured in lines, not in sentences."""
    if splitting.by not in (None, SENTENCE):
        raise InputError(f"--split-by={splitting.by}: {name} is CoNLL-U, split by sentence; leave the flag out")
    sentences = sentences_of(content)
    if len(sentences) < FEWEST:
        raise InputError(f"{name} has {len(sentences)} sentences, too few to split: give at least {FEWEST}")
    groups = [[number] * max(1, sentence.count(b"\n")) for number, sentence in enumerate(sentences)]
    random.Random(splitting.seed).shuffle(groups)
    return Split(SENTENCE, {part: sorted({*numbers}) for part, numbers in zip(NAMES, filled(groups, splitting.shares))})


def groups_by_lemma(samples: Sequence[Sample]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for index, sample in enumerate(samples):
        groups.setdefault(sample.input, []).append(index)
    return list(groups.values())


def filled(groups: Sequence[list[int]], shares: Sequence[float]) -> list[list[int]]:
    """Fill the parts as close to their shares as the groups allow; none stays empty."""
    total = sum(map(len, groups))
    targets = [share * total / sum(shares) for share in shares]
    parts: list[list[int]] = [[] for _ in shares]
    for left, group in zip(range(len(groups), 0, -1), groups):
        empty = [part for part in range(len(parts)) if not parts[part]]
        among = empty if len(empty) == left else range(len(parts))
        neediest = max(among, key=lambda part: (targets[part] - len(parts[part])) / targets[part])
        parts[neediest].extend(group)
    return [sorted(part) for part in parts]


@dataclass(frozen=True)
class Splitting:
    """How to split a file."""

    shares: Sequence[float] = SHARES
    seed: int = 1
    by: Optional[str] = None


@dataclass(frozen=True)
class SplitFile:
    """A file that has been split; its parts are not written yet."""

    path: PathLike
    content: bytes
    data: Data
    split: Split
    targets: dict[str, Path]  # where each part is written
    others: list[Path]  # where parts would be that this split does not have
    seed: int

    def read(self, part: str) -> Data:
        """The data of a part."""
        if self.split.by == SENTENCE:
            options = ReadOptions(expected=self.data.format, unicode=self.data.unicode, separators=self.data.separators)
            return parse_data(self.part(part), self.data.name, options, need_output=True)
        return replace(self.data, samples=[self.data.samples[number] for number in self.split.parts[part]])

    def part(self, name: str) -> bytes:
        """The lines or sentences of a part, byte for byte."""
        if self.split.by == SENTENCE:
            sentences = sentences_of(self.content)
            return b"".join(sentences[number] for number in self.split.parts[name])
        return part_of(self.content, self.data, self.split.parts[name])

    def refuse_others(self, force: bool) -> None:
        """Refuse to overwrite files that have the name of a part but other content."""
        self._refuse_itself()
        self._refuse_other_split()
        for name, target in self.targets.items():
            if not (target.is_file() and read_regular(target, LARGEST_FILE) == self.part(name)):
                refuse_to_overwrite(target, force)

    def refuse_all(self, force: bool) -> None:
        """Refuse to overwrite any file that has the name of a part."""
        self._refuse_itself()
        self._refuse_other_split()
        for target in self.targets.values():
            refuse_to_overwrite(target, force)

    def _refuse_itself(self) -> None:
        """Refuse to let a part overwrite the file itself."""
        for target in self.targets.values():
            if str(self.path) != STREAM and target.exists() and target.samefile(self.path):
                raise InputError(f"{self.path} is the file to split, and one of its parts would overwrite it; "
                                 "choose another folder")

    def _refuse_other_split(self) -> None:
        """Refuse a part of an earlier split whose lines, or sentences, are now in other parts."""
        units = sentences_of if self.split.by == SENTENCE else lines_of
        lines = {line for line in units(self.content)[self.data.first_line - 1:] if line.strip()}
        for path in filter(os.path.isfile, self.others):
            if not lines.isdisjoint(units(read_regular(path, LARGEST_FILE))):
                raise InputError(f"{path} is not a part of this split but has lines of {self.data.name} that are now "
                                 "in other parts; delete or move it, or choose another folder")

    def write(self) -> None:
        """Write the parts and log them."""
        for name, target in self.targets.items():
            write_atomically(target, self.part(name))
        report(self, self.seed)
        for path in filter(os.path.isfile, self.others):
            log.warning("%s is not a part of this split and stays as it is", path)


def split_in_memory(path: PathLike, folder: PathLike, options: ReadOptions, splitting: Splitting) -> SplitFile:
    """Split a file into parts for a folder, without writing them; each part gets the header row."""
    content = b"".join(as_utf8([read_bytes(path)], name_of(path)))
    if kind_of_sheet(content):
        content = sheet_as_text(content, name_of(path))
    data = read_data(path, options, need_output=True, content=content)
    if isinstance(data.format, Treebank) and data.counts is not None:
        split = split_sentences(content, splitting, data.name)
    else:
        split = split_samples(data.samples, splitting.shares, splitting.seed, splitting.by, data.name)
    places = {name: Path(folder) / f"{name}{suffix_of(path)}" for name in NAMES}  # parts of a spreadsheet are .tsv
    targets = {name: places[name] for name in split.parts}
    others = [place for name, place in places.items() if name not in split.parts]
    return SplitFile(path, content, data, split, targets, others, splitting.seed)


def split_file(path: PathLike, folder: PathLike, options: ReadOptions = RECOGNISED, shares: Sequence[float] = SHARES,
               seed: int = 1,
               by: Optional[str] = None, force: bool = False) -> dict[str, Path]:
    """Split a file and write its parts into a folder."""
    file = split_in_memory(path, folder, options, Splitting(shares, seed, by))
    file.refuse_all(force)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}; choose another one") from error
    file.write()
    return file.targets


def suffix_of(path: PathLike) -> str:
    suffix = "" if str(path) == STREAM else Path(path).suffix
    return ".tsv" if suffix.lower() in (".xlsx", ".ods") else suffix


def part_of(content: bytes, data: Data, numbers: Sequence[int]) -> bytes:
    """The lines of these samples, after the header row if there is one."""
    lines = [line + b"\n" for line in lines_of(content)]
    header = [line for line in lines[:data.first_line - 1] if line.strip()]
    return b"".join([*header, *(lines[data.rows.line_of(number) - 1] for number in numbers)])


def lines_of(content: bytes) -> list[bytes]:
    """The lines of a file, without line feeds and byte order mark."""
    if content.startswith(BYTE_ORDER_MARK):
        content = content[len(BYTE_ORDER_MARK):]
    return content.split(b"\n")


HOW = {LEMMA: "an input is in one part only", LINE: "lines are drawn one by one",
       SENTENCE: "sentences are drawn one by one"}


def report(file: SplitFile, seed: int) -> None:
    split = file.split
    log.info("%s: split by %s (%s), seed %d", file.data.name, split.by, HOW[split.by], seed)
    for name, numbers in split.parts.items():
        inputs = len({sample.input for sample in file.read(name).samples})
        unit = ("sentence" if split.by == SENTENCE else "line") + "s" * (len(numbers) > 1)
        log.info("%s: %s %s, %s different input%s", file.targets[name], f"{len(numbers):,}", unit, f"{inputs:,}",
                 "s" * (inputs > 1))


def folder_for(path: PathLike) -> Path:
    """`swedish-split` beside `swedish.tsv`."""
    if str(path) == STREAM:
        raise InputError(f"{name_of(path)} has no name: give the folder for the parts as well")
    if not Path(path).name:
        raise InputError(f"{path} is not a file: give the file to split")
    return Path(path).with_name(f"{Path(path).stem}-split")
