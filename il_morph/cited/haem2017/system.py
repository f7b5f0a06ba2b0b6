"""The transition system of HAEM in 2017."""

from __future__ import annotations

from il_morph.transitions.actions import BEGIN
from il_morph.transitions.systems import EditSystem


class EditSystem2017(EditSystem):
    """The edit system with an empty history before the first step, which BEGIN stands for."""

    name = "haem-2017"
    initial_action = BEGIN
    has_expert = False
    max_actions = 50
