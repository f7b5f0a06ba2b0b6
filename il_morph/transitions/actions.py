"""Actions are integers: the special symbols of a transition system first, then one INSERT per character."""

from __future__ import annotations

from il_morph.data.formats import BEGIN as BEGIN_SYMBOL
from il_morph.data.formats import END as END_SYMBOL
from il_morph.data.formats import UNK as UNK_SYMBOL

UNK, BEGIN, END = range(3)  # in every system
DELETE, COPY = 3, 4  # in the edit system
STEP = 3  # in the hard-attention system

DELETE_SYMBOL, COPY_SYMBOL, STEP_SYMBOL = "<DEL>", "<COPY>", "<STEP>"
COMMON_SYMBOLS = (UNK_SYMBOL, BEGIN_SYMBOL, END_SYMBOL)

MAX_ACTIONS = 150  # of a sequence; then it is cut
