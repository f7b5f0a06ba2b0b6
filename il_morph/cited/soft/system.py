"""The transition system of SOFT."""

from __future__ import annotations

from il_morph.data.formats import END as END_SYMBOL
from il_morph.data.formats import GAP
from il_morph.transitions.actions import BEGIN, COMMON_SYMBOLS, END
from il_morph.transitions.systems import TransitionSystem


class WritingSystem(TransitionSystem):
    """write(c), END: nothing is read, all is valid everywhere."""

    name = "soft"
    specials = COMMON_SYMBOLS
    advancing = frozenset()
    initial_action = BEGIN
    pops_begin = False
    reading_mark = {}
    max_actions = 50

    def valid_actions(self, at_end: bool, number_of_actions: int) -> list[int]:
        return [END, *range(self.first_insert, number_of_actions)]

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """The characters of the output."""
        return [y for y in aligned_output if y != GAP] + [END_SYMBOL]
