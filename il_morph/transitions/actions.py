"""The action table: what each action reads, writes and costs, when it is valid, and how it is displayed.

An action is an integer, the index of a row in the table. The transition system defines the row of each symbol: its
special symbols come first, then the characters, each of which is an INSERT. Inference, engines, the expert, scoring,
traces and pages all use this table; to add an action, add a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Optional

import numpy as np

from il_morph.data.formats import BEGIN as BEGIN_SYMBOL
from il_morph.data.formats import END as END_SYMBOL
from il_morph.data.formats import UNK as UNK_SYMBOL

UNK, BEGIN, END = range(3)  # in every system
DELETE, COPY = 3, 4  # in the edit system
STEP = 3  # in the hard-attention system

DELETE_SYMBOL, COPY_SYMBOL, STEP_SYMBOL = "<DEL>", "<COPY>", "<STEP>"
SUBSTITUTE_MARK = "<SUB>"  # before the character that is written

MAX_ACTIONS = 150  # per sequence; longer ones are cut off

BEFORE_END, AT_END, BEFORE_END_OR_END = range(3)  # the actions in a softmax: see `ActionTable.valid`
NOTHING, HEAD = "", None  # what an action may write besides a symbol of its own: nothing, or the symbol at the head


@dataclass(frozen=True)
class Action:
    """A row of the action table. `mark` is its display format, in which {} is the symbol that the action affects."""

    kind: str
    reads: int = 0
    writes: Optional[str] = NOTHING
    cost: int = 0
    before_end: bool = False
    at_end: bool = False
    mark: str = ""

    def written(self, head: str) -> str:
        """The text that the action adds to the output when `head` is the next symbol of the input."""
        return head if self.writes is HEAD else self.writes

    def subject(self, head: str) -> str:
        """The symbol that the action copies, deletes, inserts or substitutes, if any."""
        return (self.writes or head) if self.mark.count("{}") else ""

    def show(self, head: str) -> str:
        """The action in readable form, empty for END. A blank appears as ␣."""
        return self.mark.format(self.subject(head).replace(" ", "␣"))


def insert(symbol: str) -> Action:
    return Action("insert", writes=symbol, cost=1, before_end=True, at_end=True, mark="+{}")


COMMON_ACTIONS = {UNK_SYMBOL: Action("idle"), BEGIN_SYMBOL: Action("idle"), END_SYMBOL: Action("end", at_end=True)}


class Move(NamedTuple):
    """An action on the way to a target, the number of input and target symbols it consumes, and its cost."""

    action: int
    reads: int
    writes: int
    cost: float


class ActionTable:
    """The actions of a model, in the order of its vocabulary."""

    end_cost = 0.0

    def __init__(self, row_of: Callable[[str], Action], symbols: Sequence[str]):
        self.rows = [row_of(symbol) for symbol in symbols]
        self.reads = np.array([row.reads for row in self.rows])
        self.costs = np.array([float(row.cost) for row in self.rows])
        self._writing: dict[Optional[str], list[int]] = {}  # the actions that write a symbol, nothing, or the head
        for action, row in enumerate(self.rows):
            if row.before_end or row.at_end:
                self._writing.setdefault(row.writes, []).append(action)
        self._moves: dict[tuple[str, str], tuple[Move, ...]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def valid(self) -> np.ndarray:
        """[kind, action]: whether the action is in the softmax when the head is before END or at END.

        The third kind admits END although the head is before END. The authors' program uses it when the target is
        complete but input is left.
        """
        masks = np.array([[row.before_end for row in self.rows], [row.at_end for row in self.rows]])
        return np.array([*masks, masks[BEFORE_END] | masks[AT_END]])

    def valid_actions(self, at_end: bool) -> list[int]:
        return np.flatnonzero(self.valid[AT_END if at_end else BEFORE_END]).tolist()

    @cached_property
    def inserts(self) -> np.ndarray:
        """[action]: whether the action writes a symbol of its own and reads nothing."""
        return np.array([bool(row.writes) and not row.reads for row in self.rows])

    @property
    def copies(self) -> bool:
        """Whether some action can write a symbol unseen in training."""
        return HEAD in self._writing

    @property
    def ways_with_unseen(self) -> str:
        """The ways to treat an input symbol unseen in training, in words."""
        return "copy, delete or substitute" if any(row.kind == "substitute" for row in self.rows) else "copy or delete"

    @property
    def most_moves(self) -> int:
        """The maximum number of actions that lead towards a target: COPY, DELETE and one INSERT in the paper's system.
        """
        own = max((len(actions) for symbol, actions in self._writing.items() if symbol), default=0)
        others = [*self._writing.get(HEAD, []), *self._writing.get(NOTHING, [])]
        return own + sum(action != END for action in others)

    def advance(self, position: int, action: int) -> int:
        """The position in the buffer after an action."""
        return position + self.rows[action].reads

    def walk(self, actions: Iterable[int], start: int, end: Optional[int] = None) -> Iterator[tuple[int, int]]:
        """Each action with the position where it is taken. Positions never go beyond `end`, if it is given."""
        position = start
        for action in actions:
            yield action, position
            position = self.advance(position, action)
            if end is not None:
                position = min(position, end)

    def output(self, actions: Iterable[int], text: str, start: int) -> str:
        """The output of a sequence of actions that starts at this position of the text in the buffer."""
        walk = self.walk(actions, start, len(text) - 1)
        return "".join(self.rows[action].written(text[position]) for action, position in walk)

    def writers(self, head: str, symbol: str, at_end: bool) -> list[int]:
        """The valid actions that write this symbol; "" stands for the actions that write nothing."""
        copying = self._writing.get(HEAD, []) if symbol and symbol == head else []
        found = sorted([*copying, *self._writing.get(symbol, [])])
        return [action for action in found if self.valid[AT_END if at_end else BEFORE_END, action]]

    def moves(self, x: str, t: str) -> tuple[Move, ...]:
        """The actions on the way to a target, where x is the next input symbol and t the next target symbol.

        Either is empty if no symbol is left. Copies come first, then deletions, then insertions. A symbol that can be
        copied is not substituted by itself. UNK stands for the insertion of a symbol unseen in training.
        """
        found = self._moves.get((x, t))
        if found is None:
            silent, writing = self.writers(x, NOTHING, not x), self.writers(x, t, not x) if t else []
            if any(self.rows[action].writes is HEAD for action in writing):
                writing = [action for action in writing if self.rows[action].writes is HEAD or self.inserts[action]]
            moves = [self._move(action) for action in (*writing, *silent) if action != END]
            if t and all(self.rows[move.action].writes is HEAD for move in moves if move.writes):
                moves.append(Move(UNK, 0, 1, 1))
            found = self._moves[x, t] = tuple(sorted(moves, key=lambda move: (-move.reads, -move.writes)))
        return found

    def _move(self, action: int) -> Move:
        row = self.rows[action]
        return Move(action, row.reads, int(row.writes != NOTHING), row.cost)
