"""The two transition systems (section 3 of the paper). A system owns its actions: what they read, write and cost, when
they are valid, how they are shown, which gold sequence an alignment stands for, and who is the expert.

The buffer is the wrapped input; a configuration is a position in it and the output so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from il_morph.data.formats import END as END_SYMBOL
from il_morph.data.formats import GAP
from il_morph.transitions.actions import (
    BEGIN,
    COMMON_SYMBOLS,
    COPY,
    COPY_SYMBOL,
    DELETE,
    DELETE_SYMBOL,
    END,
    MAX_ACTIONS,
    STEP,
    STEP_SYMBOL,
)
from il_morph.transitions.expert import Expert


class TransitionSystem:
    """Facts shared by the systems; the subclasses say what differs."""

    name: str
    specials: tuple[str, ...]
    advancing: frozenset[int]  # the actions that read one element of the buffer
    copy: Optional[int] = None  # the action that writes the element it reads
    initial_action: int  # what the history holds before the first step
    pops_begin: bool  # is BEGIN read before the first step?
    reading_mark: dict[int, str]  # how the actions that read are shown, {} being the character
    has_expert: bool = False  # does it know what is right after an error?
    max_actions: int = MAX_ACTIONS  # of a sequence in search; then it is cut

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

    def advance(self, position: int, action: int) -> int:
        """The position in the buffer after an action."""
        return position + (action in self.advancing)

    def walk(self, actions: Iterable[int], start: int, end: Optional[int] = None) -> Iterator[tuple[int, int]]:
        """Each action with the position at which it is taken; nobody goes beyond the end, if it is given."""
        position = start
        for action in actions:
            yield action, position
            position = self.advance(position, action)
            if end is not None:
                position = min(position, end)

    def written(self, action: int, character: str, symbols: Sequence[str]) -> str:
        """What an action adds to the output when `character` is the next of the input."""
        if action == self.copy:
            return character
        return symbols[action] if action >= self.first_insert else ""

    def output(self, actions: Iterable[int], text: str, start: int, symbols: Sequence[str]) -> str:
        """What a sequence of actions writes, starting at a position of the text in the buffer."""
        position, last, written = start, len(text) - 1, []
        for action in actions:
            written.append(self.written(action, text[position], symbols))
            position = min(self.advance(position, action), last)
        return "".join(written)

    def cost(self, action: int) -> int:
        """1 for an insertion or deletion, 0 for COPY and END."""
        return int(action not in (self.copy, END))

    def show(self, action: int, character: str, symbols: Sequence[str]) -> str:
        """An action, readable; nothing for END. A blank is shown as ␣."""
        if action >= self.first_insert:
            return "+" + symbols[action].replace(" ", "␣")
        return self.reading_mark.get(action, "").format(character.replace(" ", "␣"))

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """The gold actions of an aligned pair as symbols, END included."""
        raise TypeError(f"the system {self.name} has no gold sequences")

    def expert(self, x: str, target: str, insertions: Sequence[int]) -> Expert:
        """The expert of a pair; `insertions` are the actions that insert the target's characters."""
        raise TypeError(f"the system {self.name} has no expert")


class EditSystem(TransitionSystem):
    """COPY, DELETE, INSERT(c), END: the system of the paper (`--transducer=haem`)."""

    name = "haem"
    specials = (*COMMON_SYMBOLS, DELETE_SYMBOL, COPY_SYMBOL)
    advancing = frozenset({DELETE, COPY})
    copy = COPY
    initial_action = COPY
    pops_begin = True
    reading_mark = {COPY: "{}", DELETE: "-{}"}
    has_expert = True

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """Between two copies deletions go before insertions. An insertion is its character.

        The COPY that stands for the history before the first action is not in the list.
        """
        actions: list[str] = []
        deletions: list[str] = []
        insertions: list[str] = []
        for x, y in zip(aligned_input + END_SYMBOL, aligned_output + END_SYMBOL):
            if x == y:
                actions += deletions + insertions + [END_SYMBOL if x == END_SYMBOL else COPY_SYMBOL]
                deletions, insertions = [], []
            else:
                deletions += [DELETE_SYMBOL] if x != GAP else []
                insertions += [y] if y != GAP else []
        return actions

    def expert(self, x: str, target: str, insertions: Sequence[int]) -> Expert:
        return Expert(x, target, insertions)


class HardAttentionSystem(TransitionSystem):
    """STEP, write(c), END: hard monotonic attention (`--transducer=hard`, the rows HA*)."""

    name = "hard"
    specials = (*COMMON_SYMBOLS, STEP_SYMBOL)
    advancing = frozenset({STEP})
    initial_action = BEGIN
    pops_begin = False
    reading_mark = {STEP: ">"}

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """The buffer starts at BEGIN, if there is one: each input character, and END, is reached by a STEP.

        A write is its character. The BEGIN that stands for the history is not in the list.
        """
        actions: list[str] = []
        for x, y in zip(aligned_input + END_SYMBOL, aligned_output + END_SYMBOL):
            actions += [STEP_SYMBOL] if x != GAP else []
            actions += [y] if y != GAP else []
        if wraps == "close":
            actions.remove(STEP_SYMBOL)  # there is no BEGIN to step away from
        return actions


SYSTEMS: dict[str, TransitionSystem] = {system.name: system for system in (EditSystem(), HardAttentionSystem())}
