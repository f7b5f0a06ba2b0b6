"""How single characters and forms are shown: nothing invisible, nothing that merges with its neighbour."""
from __future__ import annotations

import re
import unicodedata

from il_morph.data.formats import BEGIN, END

BLANK = "␣"
WORDS = {" ": BLANK, BEGIN: "START", END: "END", "": "∅"}
EDGES = re.compile("^ +| +$| {2,}")
ISOLATE, POP = "\u2068", "\u2069"  # what is between them does not reorder what is around


def shown(symbol: str) -> str:
    """A symbol on its own: a blank as ␣, a combining character on ◌, an invisible one by its number."""
    if symbol in WORDS:
        return WORDS[symbol]
    base = "◌" if unicodedata.category(symbol[0]).startswith("M") else ""
    return base + "".join(map(visible, symbol))


def visible(character: str) -> str:
    if character == " ":
        return BLANK
    return f"U+{ord(character):04X}" if unicodedata.category(character)[0] in "CZ" else character


def shown_form(form: str) -> str:
    """A form: an empty one as ∅, blanks that one would not see as ␣."""
    return EDGES.sub(lambda blanks: BLANK * len(blanks[0]), form) or WORDS[""]


def direction(text: str) -> str:
    """`rtl` or `ltr`, by the first character that has a direction."""
    kinds = map(unicodedata.bidirectional, text)
    return "rtl" if next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L" else "ltr"


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 1 + (unicodedata.east_asian_width(c) in "WF")
               for c in text)


def padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def isolated(text: str) -> str:
    """A text that does not reorder its line when it runs from right to left."""
    return f"{ISOLATE}{text}{POP}" if direction(text) == "rtl" else text
