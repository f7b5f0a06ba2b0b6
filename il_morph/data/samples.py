"""A sample, and the symbols that no data may use."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from il_morph.errors import InputError

BEGIN, END, GAP = "⟪", "⟫", "〰"
RESERVED = (BEGIN, END, GAP)
LONGEST = 10_000  # characters of an input, an output or features
UNK = "<UNK>"  # a symbol of every vocabulary; no character looks like it, but a feature could


@dataclass(frozen=True)
class Sample:
    """One line of data. `tag` is the unsplit features field; `output` is None if the line is covered."""

    input: str
    tag: str
    output: Optional[str]
    row: Optional[tuple[str, ...]] = field(default=None, compare=False, repr=False)  # the fields, if they are kept

    @property
    def target(self) -> str:
        """The output of a sample that is not covered."""
        if self.output is None:
            raise ValueError(f"{self.input!r} has no output")
        return self.output


def refuse_unusable(sample: Sample, where: str) -> None:
    """Refuse reserved symbols, and fields that are too long to be anything but a mistake."""
    for symbol in RESERVED:
        if symbol in sample.input or symbol in (sample.output or ""):
            raise InputError(f"{where}: the symbol {symbol} is reserved by il-morph; "
                             "replace it by another one")
    for name, text in (("input", sample.input), ("features", sample.tag), ("output", sample.output or "")):
        if len(text) > LONGEST:
            raise InputError(f"{where[:200]}: the {name} has {len(text):,} characters, and il-morph takes "
                             f"at most {LONGEST:,}; give one word per line")


def refuse_beyond_a_line(name: str, text: str) -> None:
    """Refuse tabs, line ends and lone surrogates, which no column can contain."""
    if any(character in "\t\r\n" or "\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"the {name} {text!r} contains a tab, a line end or a lone surrogate: remove it")
