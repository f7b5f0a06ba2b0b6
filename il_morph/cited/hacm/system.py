"""The transition system of HACM."""

from __future__ import annotations

from dataclasses import replace

from il_morph.data.formats import BEGIN as BEGIN_SYMBOL
from il_morph.data.formats import END as END_SYMBOL
from il_morph.data.formats import UNK as UNK_SYMBOL
from il_morph.transitions.actions import HEAD, STEP_SYMBOL, Action
from il_morph.transitions.systems import HardAttentionSystem


class UnmaskedHardAttentionSystem(HardAttentionSystem):
    """Hard attention without rules of validity: a STEP at END does nothing, BEGIN writes nothing.

    UNK is not a placeholder here: it writes a character of the input that did not occur in training.
    """

    name = "hacm"
    special_actions = {
        UNK_SYMBOL: Action("insert", writes=HEAD, mark="+{}"),
        **{symbol: replace(HardAttentionSystem.special_actions[symbol], before_end=True, at_end=True)
           for symbol in (BEGIN_SYMBOL, END_SYMBOL, STEP_SYMBOL)},
    }
    max_actions = 50
