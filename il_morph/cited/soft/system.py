"""The transition system of SOFT."""

from __future__ import annotations

from il_morph.data.formats import END as END_SYMBOL
from il_morph.data.formats import GAP
from il_morph.transitions.actions import BEGIN, COMMON_ACTIONS, Action
from il_morph.transitions.systems import TransitionSystem


class WritingSystem(TransitionSystem):
    """write(c), END: no action reads the input, and both are valid everywhere."""

    name = "soft"
    special_actions = {**COMMON_ACTIONS, END_SYMBOL: Action("end", before_end=True, at_end=True)}
    initial_action = BEGIN
    max_actions = 50

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """The characters of the output, then END."""
        return [y for y in aligned_output if y != GAP] + [END_SYMBOL]
