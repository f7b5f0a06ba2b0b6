"""Symbols of several characters. In files they stand between separators: `t͡ʃ aː` with the separator " ".

Inside il-morph, one symbol is one character: a symbol of several characters is encoded as one private-use character
when data is read, and decoded when it is written. These characters are assigned in the order in which the symbols
come. With only an output separator, inputs are sequences of characters; with only an input separator, outputs are. A
symbol, of one character or several, is the same in inputs and outputs. A boundary between the segments of outputs
(" @@" in `hund @@en`) is one symbol among characters. Without separators and boundary nothing is encoded.
"""
from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Optional

from il_morph.data.samples import RESERVED, Sample
from il_morph.errors import InputError

PRIVATE_RANGES = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))
PRIVATE_USE = re.compile("[{}]".format("".join(f"{chr(each[0])}-{chr(each[-1])}" for each in PRIVATE_RANGES)))
FEATURE_SIGNS = {*";,|="}
MOST = sum(map(len, PRIVATE_RANGES))  # symbols of several characters


@dataclass(frozen=True)
class Separators:
    """The separators of the symbols of inputs and of outputs; empty if each character is a symbol. A boundary stands
    between segments of outputs, and is a symbol itself."""

    input: str = ""
    output: str = ""
    boundary: str = ""

    def __bool__(self) -> bool:
        return bool(self.input or self.output or self.boundary)

    def inputs(self, text: str) -> Sequence[str]:
        """The symbols of an input."""
        return symbols_of(text, self.input)

    def outputs(self, text: str) -> Sequence[str]:
        """The symbols of an output."""
        if not self.boundary:
            return symbols_of(text, self.output)
        first, *others = text.split(self.boundary)
        return [*first, *(symbol for segment in others for symbol in (self.boundary, *segment))]

    def taken_out(self, text: str) -> str:
        """The text without separators that look like separators of features or columns, so as to recognise columns."""
        for separator in (self.input, self.output, self.boundary):
            if not FEATURE_SIGNS.isdisjoint(separator):
                text = text.replace(separator, "")
        return text

    def as_output(self, text: str) -> str:
        """The output that copies an input symbol by symbol."""
        return self.output.join(writable(self.inputs(text), self.output))

    def check(self, sample: Sample, where: str) -> None:
        """Refuse empty symbols, and the private-use characters that encode symbols."""
        if not self:
            return
        for name, text, separator in (("input", sample.input, self.input), ("output", sample.output, self.output)):
            refuse_private(text or "", f"{where}: the {name}")
            if not all(symbols_of(text or "", separator)):
                raise InputError(f'{where}: the {name} {reprlib.repr(text)} has an empty symbol: the separator '
                                 f'"{separator}" comes first, last or twice in a row; take out the extra one')

    @property
    def remarks(self) -> list[str]:
        """`outputs are symbols separated by " "`."""
        return [*(f'{name} are symbols separated by "{separator}"'
                  for name, separator in (("inputs", self.input), ("outputs", self.output)) if separator),
                *[f'"{self.boundary}" in outputs is a boundary'] * bool(self.boundary)]

    def warnings(self, samples: Iterable[Sample]) -> list[str]:
        """Warn of a separator or a boundary that no text has: it is probably the wrong one. Warn of empty segments."""
        samples = list(samples) if self else []
        inputs, outputs = [sample.input for sample in samples], [sample.output or "" for sample in samples]
        found = [f'no {name} has the {flag.replace("-", " ")} "{mark}": {reading}; --{flag}="" reads them without it'
                 for name, texts, flag, mark, reading in (
                     ("input", inputs, "input-separator", self.input, "each is one symbol"),
                     ("output", outputs, "output-separator", self.output, "each is one symbol"),
                     ("output", outputs, "boundary", self.boundary, "each is one segment"))
                 if mark and not any(mark in text for text in texts) and any(len(text) > 1 for text in texts)]
        empty = [text for text in outputs if text and not all(text.split(self.boundary))] if self.boundary else []
        if empty:
            have = "1 output has" if len(empty) == 1 else f"{len(empty):,} outputs have"
            found.append(f"{have} an empty segment, which counts as one ({empty[0]!r}): the boundary comes first, last "
                         "or twice in a row")
        return found


NO_SEPARATORS = Separators()


def refuse_private(text: str, what: str) -> None:
    found = PRIVATE_USE.search(text)
    if found:
        raise InputError(f"{what} has the private-use character U+{ord(found[0]):04X}, which il-morph needs for "
                         "symbols of several characters; replace it by another one, or work without separators")


def symbols_of(text: str, separator: str) -> Sequence[str]:
    """The symbols of a text: its characters where there is no separator."""
    return text.split(separator) if separator and text else text


def writable(symbols: Iterable[str], separator: str) -> Iterable[str]:
    """The symbols that can stand between separators: a blank copied into an output separated by blanks cannot."""
    return (symbol for symbol in symbols if not separator or separator not in symbol)


def complaint_about_separator(separator: str) -> Optional[str]:
    """What is wrong with a separator, if anything is; an empty one means no separator and is fine."""
    if re.search("[\t\n\r\ud800-\udfff]", separator):
        return "a tab separates columns and a line end lines: give another separator"
    if PRIVATE_USE.search(separator) or any(symbol in separator for symbol in RESERVED):
        return "il-morph needs this character itself: give another separator"
    return None


@dataclass(frozen=True)
class Symbols:
    """The symbols of several characters, each encoded as the private-use character of its number."""

    separators: Separators = NO_SEPARATORS
    listed: tuple[str, ...] = ()

    @cached_property
    def characters(self) -> dict[str, str]:
        """Symbol -> the private-use character that encodes it."""
        return {symbol: private_character(number) for number, symbol in enumerate(self.listed)}

    @cached_property
    def symbols(self) -> dict[str, str]:
        """Private-use character -> the symbol that it encodes."""
        return {character: symbol for symbol, character in self.characters.items()}

    def symbol(self, character: str) -> str:
        return self.symbols.get(character, character)

    def covering(self, samples: Iterable[Sample]) -> Symbols:
        """These symbols, followed by the new ones of the samples."""
        if not self.separators:
            return self
        found = (symbol for sample in samples for text in (self.separators.inputs(sample.input),
                                                           self.separators.outputs(sample.output or ""))
                 for symbol in text if len(symbol) > 1)
        return self.with_more(found)

    def with_more(self, symbols: Iterable[str]) -> Symbols:
        new = dict.fromkeys(symbol for symbol in symbols if symbol not in self.characters)
        return replace(self, listed=(*self.listed, *new)) if new else self

    def encoded(self, sample: Sample) -> Sample:
        """The sample with one character for each symbol; all its symbols must be known."""
        if not self.separators:
            return sample
        output = None if sample.output is None else self._inside(self.separators.outputs(sample.output))
        return Sample(self._inside(self.separators.inputs(sample.input)), sample.tag, output)

    def _inside(self, symbols: Iterable[str]) -> str:
        return "".join(self.characters[symbol] if len(symbol) > 1 else symbol for symbol in symbols)

    def input(self, text: str) -> str:
        """An encoded input as it stands in files."""
        return self.separators.input.join(map(self.symbol, text)) if self.separators else text

    def output(self, text: str) -> str:
        """An encoded output as it stands in files."""
        if not self.separators:
            return text
        return self.separators.output.join(writable(map(self.symbol, text), self.separators.output))

    def edits(self, text: str) -> str:
        """Edits as `search.describe` writes them, with characters decoded to symbols; ␣ shows a blank in a symbol."""
        if not self.listed:
            return text
        return "".join(self.symbols[each].replace(" ", "␣") if each in self.symbols else each for each in text)


PLAIN = Symbols()


def private_character(number: int) -> str:
    for each in PRIVATE_RANGES:
        if number < len(each):
            return chr(each[number])
        number -= len(each)
    raise InputError(f"there are more than {MOST:,} different symbols of several characters: check the separators")
