"""The two transition systems of the paper (section 3), and the one with SUBSTITUTE that its authors used later.

A system declares its special actions, rows of the action table; beside them every character is an INSERT. It also
knows which gold sequence an alignment stands for.

The buffer is the wrapped input; a configuration is a position in it and the output so far.
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
    """Facts shared by the systems; the subclasses say what differs."""

    name: str
    special_actions: dict[str, Action]  # by their symbols, in order; they come first in the action table
    initial_action: int  # what the history holds before the first step
    pops_begin: bool = False  # is BEGIN read before the first step?
    has_expert: bool = False  # does it know what is right after an error?
    max_actions: int = MAX_ACTIONS  # of a sequence in search; then it is cut

    def symbols_of(self, character: str) -> tuple[str, ...]:
        """The symbols of the actions that write an output character: itself stands for its INSERT."""
        return (character,)

    def action(self, symbol: str) -> Action:
        """The row of the action table for a symbol of the vocabulary."""
        return self.special_actions.get(symbol) or insert(symbol)

    def start(self, wraps: str) -> int:
        """The first position: with `--tag-wraps=close` there is no BEGIN to pop."""
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


class SubstitutionSystem(EditSystem):
    """Beside the edits of the paper SUBSTITUTE(c), which reads a symbol and writes c (`--transducer=substitute`)."""

    name = "substitute"

    def symbols_of(self, character: str) -> tuple[str, ...]:
        return character, SUBSTITUTE_MARK + character

    def action(self, symbol: str) -> Action:
        if symbol.startswith(SUBSTITUTE_MARK):
            return Action("substitute", reads=1, writes=symbol[len(SUBSTITUTE_MARK):], cost=1, before_end=True,
                          mark="~{}")
        return super().action(symbol)

    def gold(self, aligned_input: str, aligned_output: str, wraps: str = "both") -> list[str]:
        """Two different characters that are aligned are a SUBSTITUTE. Deletions and insertions stay where they are."""
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


SYSTEMS: dict[str, TransitionSystem] = {
    system.name: system for system in (EditSystem(), HardAttentionSystem(), SubstitutionSystem())}
