"""The two transition systems: what an action does and when it is valid (section 3 of the paper).

Actions are integers: the special symbols of the system first, then one INSERT per character.
The buffer is the wrapped input; a configuration is a position in it and the output so far.
"""

from __future__ import annotations

from typing import Optional, Sequence

from il_morph.data.formats import BEGIN as BEGIN_SYMBOL, END as END_SYMBOL, UNK as UNK_SYMBOL

UNK, BEGIN, END = range(3)
MAX_ACTIONS = 150


class TransitionSystem:
    """Facts shared by both systems; the subclasses say what differs."""

    name: str
    specials: tuple[str, ...]
    advancing: frozenset[int]  # the actions that read one element of the buffer
    copy: Optional[int] = None  # the action that writes the element it reads
    initial_action: int  # what the history holds before the first step
    pops_begin: bool  # is BEGIN read before the first step?

    @property
    def first_insert(self) -> int:
        return len(self.specials)

    def start(self, wraps: str) -> int:
        """The first position: with `--tag-wraps=close` there is no BEGIN to pop."""
        return 1 if self.pops_begin and wraps == "both" else 0

    def valid_actions(self, at_end: bool, number_of_actions: int) -> list[int]:
        """END when only END is left in the buffer, reading actions before; insertions always."""
        reading = [END] if at_end else sorted(self.advancing)
        return reading + list(range(self.first_insert, number_of_actions))

    def written(self, action: int, character: str, symbols: Sequence[str]) -> str:
        """What an action adds to the output when `character` is the next of the input."""
        if action == self.copy:
            return character
        return symbols[action] if action >= self.first_insert else ""

    def is_edit(self, action: int) -> bool:
        """Does the action count as an insertion or a deletion?"""
        return action not in (self.copy, END)


class EditSystem(TransitionSystem):
    """COPY, DELETE, INSERT(c), END: the system of the paper (`--transducer=haem`)."""

    DELETE, COPY = 3, 4
    name = "haem"
    specials = (UNK_SYMBOL, BEGIN_SYMBOL, END_SYMBOL, "<DEL>", "<COPY>")
    advancing = frozenset({DELETE, COPY})
    copy = COPY
    initial_action = COPY
    pops_begin = True


class HardAttentionSystem(TransitionSystem):
    """STEP, write(c), END: hard monotonic attention (`--transducer=hard`, the rows HA*)."""

    STEP = 3
    name = "hard"
    specials = (UNK_SYMBOL, BEGIN_SYMBOL, END_SYMBOL, "<STEP>")
    advancing = frozenset({STEP})
    initial_action = BEGIN
    pops_begin = False


SYSTEMS = {system.name: system for system in (EditSystem(), HardAttentionSystem())}
