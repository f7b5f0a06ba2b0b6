"""The two transition systems of the paper (section 3), and the one with SUBSTITUTE that its authors used later.

A system declares its special actions as rows of the action table; besides these, every character is an INSERT. It also
turns an alignment into a gold sequence.

The buffer is the wrapped input; a configuration is a position in the buffer and the output so far.
"""

from __future__ import annotations

from il_morph.data.formats import END as END_SYMBOL
from il_morph.data.formats import GAP
from il_morph.transitions.actions import (
    BEGIN,
    COMMON_ACTIONS,
    COPY,
    COPY_SYMBOL,
    DELETE_SYMBOL,
    HEAD,
    MAX_ACTIONS,
    STEP_SYMBOL,
    SUBSTITUTE_MARK,
    Action,
    insert,
)


class TransitionSystem:
    """The properties that systems share; subclasses define the differences."""

    name: str
    special_actions: dict[str, Action]  # by symbol, in order; they come first in the action table
    initial_action: int  # the previous action at the first step
    pops_begin: bool = False  # is BEGIN read before the first step?
    has_expert: bool = False  # are the right actions after an error defined?
    max_actions: int = MAX_ACTIONS  # per sequence in search; longer ones are cut off

    def symbols_of(self, character: str) -> tuple[str, ...]:
        """The symbols of the actions that write an output character; the character itself stands for its INSERT."""
        return (character,)

    def action(self, symbol: str) -> Action:
        """The row of the action table for a symbol of the vocabulary."""
        return self.special_actions.get(symbol) or insert(symbol)

    def start(self, wraps: str) -> int:
        """The first position in the buffer. With `--tag-wraps=close` there is no BEGIN to pop."""
        return 1 if self.pops_begin and wraps == "both" else 0

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """The gold actions of an aligned pair as symbols, END included."""
        raise TypeError(f"the system {self.name} has no gold sequences")


class EditSystem(TransitionSystem):
    """COPY, DELETE, INSERT(c), END: the system of the paper (`--transducer=haem`)."""

    name = "haem"
    special_actions = {
        **COMMON_ACTIONS,
        DELETE_SYMBOL: Action("delete", reads=1, cost=1, before_end=True, mark="-{}"),
        COPY_SYMBOL: Action("copy", reads=1, writes=HEAD, before_end=True, mark="{}"),
    }
    initial_action = COPY
    pops_begin = True
    has_expert = True

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """Between two copies, deletions come before insertions. The symbol of an insertion is its character.

        The COPY that stands for the history before the first action is not included.
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


class SubstitutionSystem(EditSystem):
    """The paper's edits plus SUBSTITUTE(c), which reads a symbol and writes c (`--transducer=substitute`)."""

    name = "substitute"

    def symbols_of(self, character: str) -> tuple[str, ...]:
        return character, SUBSTITUTE_MARK + character

    def action(self, symbol: str) -> Action:
        if symbol.startswith(SUBSTITUTE_MARK):
            return Action("substitute", reads=1, writes=symbol[len(SUBSTITUTE_MARK):], cost=1, before_end=True,
                          mark="~{}")
        return super().action(symbol)

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """Two different aligned characters become a SUBSTITUTE. Deletions and insertions keep their order."""
        actions = []
        for x, y in zip(aligned_input, aligned_output):
            actions.append(DELETE_SYMBOL if y == GAP else y if x == GAP else
                           COPY_SYMBOL if x == y else SUBSTITUTE_MARK + y)
        return [*actions, END_SYMBOL]


class HardAttentionSystem(TransitionSystem):
    """STEP, write(c), END: hard monotonic attention (`--transducer=hard`, the rows HA*)."""

    name = "hard"
    special_actions = {**COMMON_ACTIONS, STEP_SYMBOL: Action("step", reads=1, cost=1, before_end=True, mark=">")}
    initial_action = BEGIN

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """The head starts at BEGIN, if there is one, and reaches each input character, and END, by a STEP.

        The symbol of a write is its character. The BEGIN that stands for the history is not included.
        """
        actions: list[str] = []
        for x, y in zip(aligned_input + END_SYMBOL, aligned_output + END_SYMBOL):
            actions += [STEP_SYMBOL] if x != GAP else []
            actions += [y] if y != GAP else []
        if wraps == "close":
            actions.remove(STEP_SYMBOL)  # there is no BEGIN to step away from
        return actions


SYSTEMS: dict[str, TransitionSystem] = {
    system.name: system for system in (EditSystem(), HardAttentionSystem(), SubstitutionSystem())}
