"""Splitting one file into training, development and test data."""
from __future__ import annotations

import logging
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from il_morph.data.encodings import name_of
from il_morph.data.reading import RECOGNISED, Data, ReadOptions, read_data
from il_morph.data.samples import Sample
from il_morph.errors import InputError
from il_morph.files import STREAM, PathLike, read_bytes, refuse_to_overwrite, write_atomically

NAMES = ("train", "dev", "test")
SHARES = (80.0, 10.0, 10.0)
LEMMA, LINE = "lemma", "line"
FEWEST = 10  # lines worth splitting
BYTE_ORDER_MARK = "\ufeff".encode("utf-8")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Split:
    """The numbers of the samples of each part, in the order of the file."""

    by: str
    parts: dict[str, list[int]]


def split_samples(samples: Sequence[Sample], shares: Sequence[float] = SHARES, seed: int = 1,
                  by: Optional[str] = None, name: str = "the data") -> Split:
    """Draw the parts. By lemma, samples with the same input stay together (the default if inputs repeat)."""
    lemmas = list(dict.fromkeys(sample.input for sample in samples))
    by = by or (LEMMA if len(lemmas) < len(samples) else LINE)
    if len(samples) < FEWEST:
        raise InputError(f"{name} has {len(samples)} lines, too few to split: give at least {FEWEST}")
    if by == LEMMA and len(lemmas) < len(shares):
        raise InputError(f"{name} has only {len(lemmas)} different inputs, too few for {len(shares)} parts; "
                         "give more data, or split it with --split-by=line")
    groups = groups_by_lemma(samples) if by == LEMMA else [[index] for index in range(len(samples))]
    random.Random(seed).shuffle(groups)
    return Split(by, dict(zip(NAMES, filled(groups, shares))))


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
    targets: dict[str, Path]  # of each part
    others: list[Path]  # where parts would be that it does not have
    seed: int

    def samples(self, part: str) -> list[Sample]:
        return [self.data.samples[number] for number in self.split.parts[part]]

    def part(self, name: str) -> bytes:
        """The lines of a part, byte for byte."""
        return part_of(self.content, self.data, self.split.parts[name])

    def refuse_others(self, force: bool) -> None:
        """Refuse to overwrite other files that have the names of the parts."""
        self._refuse_itself()
        self._refuse_other_split()
        for name, target in self.targets.items():
            if not (target.is_file() and read_bytes(target) == self.part(name)):
                refuse_to_overwrite(target, force)

    def refuse_all(self, force: bool) -> None:
        """Refuse to overwrite any file that has the name of a part."""
        self._refuse_itself()
        self._refuse_other_split()
        for target in self.targets.values():
            refuse_to_overwrite(target, force)

    def _refuse_itself(self) -> None:
        """No part overwrites the file itself."""
        for target in self.targets.values():
            if str(self.path) != STREAM and target.exists() and target.samefile(self.path):
                raise InputError(f"{self.path} is the file to split, and one of its parts would overwrite it; "
                                 "choose another folder")

    def _refuse_other_split(self) -> None:
        """Refuse a part of an earlier split whose lines are now in other parts."""
        lines = {line for line in lines_of(self.content)[self.data.first_line - 1:] if line.strip()}
        for path in filter(os.path.isfile, self.others):
            if not lines.isdisjoint(lines_of(read_bytes(path))):
                raise InputError(f"{path} is not a part of this split but has lines of {self.data.name} that are now "
                                 "in other parts; delete or move it, or choose another folder")

    def write(self) -> None:
        """Write the parts and log them."""
        for name, target in self.targets.items():
            write_atomically(target, self.part(name))
        report(self.data, self.split, self.targets, self.seed)
        for path in filter(os.path.isfile, self.others):
            log.warning("%s is not a part of this split and stays as it is", path)


def split_in_memory(path: PathLike, folder: PathLike, options: ReadOptions, splitting: Splitting) -> SplitFile:
    """Split a file into parts for a folder; each gets the header row."""
    content = read_bytes(path)
    data = read_data(path, options, need_output=True, content=content)
    split = split_samples(data.samples, splitting.shares, splitting.seed, splitting.by, data.name)
    places = {name: Path(folder) / f"{name}{suffix_of(path)}" for name in NAMES}
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
    return "" if str(path) == STREAM else Path(path).suffix


def part_of(content: bytes, data: Data, numbers: Sequence[int]) -> bytes:
    """The lines of these samples, after the header row if there is one."""
    lines = [line + b"\n" for line in lines_of(content)]
    header = lines[:data.first_line - 1]
    return b"".join([*header, *(lines[data.first_line - 1 + number] for number in numbers)])


def lines_of(content: bytes) -> list[bytes]:
    """The lines of a file, without line feeds and byte order mark."""
    if content.startswith(BYTE_ORDER_MARK):
        content = content[len(BYTE_ORDER_MARK):]
    return content.split(b"\n")


def report(data: Data, split: Split, targets: dict[str, Path], seed: int) -> None:
    log.info("%s: split by %s (%s), seed %d", data.name, split.by,
             "an input is in one part only" if split.by == LEMMA else "lines are drawn one by one", seed)
    for name, numbers in split.parts.items():
        inputs = len({data.samples[number].input for number in numbers})
        log.info("%s: %s lines, %s different inputs", targets[name], f"{len(numbers):,}", f"{inputs:,}")


def folder_for(path: PathLike) -> Path:
    """`swedish-split` beside `swedish.tsv`."""
    if str(path) == STREAM:
        raise InputError(f"{name_of(path)} has no name: give the folder for the parts as well")
    if not Path(path).name:
        raise InputError(f"{path} is not a file: give the file to split")
    return Path(path).with_name(f"{Path(path).stem}-split")
