"""Display of characters and forms: nothing stays invisible, nothing merges with its neighbour."""
from __future__ import annotations

import re
import unicodedata

from il_morph.data.formats import BEGIN, END
from il_morph.errors import CONTROLS

BLANK = "␣"
WORDS = {" ": BLANK, BEGIN: "START", END: "END", "": "∅"}
EDGES = re.compile("^ +| +$| {2,}")
ISOLATE, POP = "\u2068", "\u2069"  # text between them does not reorder the text around it


def shown(symbol: str) -> str:
    """A single symbol: a blank as ␣, a combining character on ◌, an invisible one by its code point."""
    if symbol in WORDS:
        return WORDS[symbol]
    base = "◌" if unicodedata.category(symbol[0]).startswith("M") else ""
    return base + "".join(map(visible, symbol))


def visible(character: str) -> str:
    if character == " ":
        return BLANK
    return f"U+{ord(character):04X}" if unicodedata.category(character)[0] in "CZ" else character


def shown_form(form: str) -> str:
    """A form: an empty one as ∅, leading, trailing and repeated blanks as ␣, control characters by code point."""
    form = EDGES.sub(lambda blanks: BLANK * len(blanks[0]), form)
    return CONTROLS.sub(lambda control: visible(control[0]), form) or WORDS[""]


def direction(text: str) -> str:
    """`rtl` or `ltr`, by the first character that has a direction."""
    kinds = map(unicodedata.bidirectional, text)
    return "rtl" if next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L" else "ltr"


def columns(text: str) -> int:
    """The width of a text on a terminal, in columns."""
    return sum(0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 1 + (unicodedata.east_asian_width(c) in "WF")
               for c in text)


def padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def isolated(text: str) -> str:
    """Isolate a right-to-left text, so that it does not reorder its line."""
    return f"{ISOLATE}{text}{POP}" if direction(text) == "rtl" else text
