"""The transition system of HACM."""

from __future__ import annotations

from il_morph.transitions.actions import BEGIN, STEP, UNK
from il_morph.transitions.systems import HardAttentionSystem


class UnmaskedHardAttentionSystem(HardAttentionSystem):
    """Hard attention without a rule of what is valid: a STEP at END does nothing, BEGIN writes nothing.

    UNK, which stands for no character here, writes an input character that training did not show.
    """

    name = "hacm"
    copy = UNK
    reading_mark = {STEP: ">", UNK: "+{}"}
    max_actions = 50

    def valid_actions(self, at_end: bool, number_of_actions: int) -> list[int]:
        return list(range(BEGIN, number_of_actions))
