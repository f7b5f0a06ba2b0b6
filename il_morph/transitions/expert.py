"""The expert (section 4 of the paper): which actions lead to the target at the least cost.

j is the number of target symbols that the output already contains, matched greedily; D(i, j) is the least cost of
turning x[i:] into t[j:]. An action that leads away from the target is not rolled out: its regret is BETA.
Two options come from the authors' later systems: to go on from every j for which t[:j] is nearest to the output
(`--il-prefixes=all`), and to learn the costs from the data (`--il-costs=learnt`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Protocol

import numpy as np

from il_morph.transitions.actions import END, Move

BETA = 5.0
TOLERANCE = 1e-9  # costs that differ by less are equal


class Moves(Protocol):
    """The actions on the way to a target and their costs: the action table itself, or the table with learnt costs."""

    @property
    def end_cost(self) -> float: ...

    def moves(self, x: str, t: str) -> tuple[Move, ...]: ...


def edit_costs(x: str, t: str, table: Moves) -> list[list[float]]:
    """The table D. In the paper's system a copy is free, an insertion or deletion costs 1."""
    costs: list[list[float]] = [[0] * (len(t) + 1) for _ in range(len(x) + 1)]
    end = table.end_cost
    for i in range(len(x), -1, -1):
        for j in range(len(t), -1, -1):
            moves = table.moves(x[i:i + 1], t[j:j + 1])
            costs[i][j] = min([cost + costs[i + reads][j + writes] for _, reads, writes, cost in moves], default=end)
    return costs


def matched(target: str, output: str, j: int = 0) -> int:
    """The number of target characters matched after `output`, if j were matched before it."""
    for character in output:
        j += j < len(target) and character == target[j]
    return j


class TargetTracker:
    """Tracks the place j in the target as the output grows. Call `place` or `places` once before each action."""

    def __init__(self, target: str):
        self.target, self.j, self.counted = target, 0, 0

    def place(self, output: str) -> int:
        self.j = matched(self.target, output[self.counted:], self.j)
        self.counted = len(output)
        return self.j

    def places(self, output: str) -> Sequence[int]:
        """The places in the target that the expert goes on from; most trackers have one."""
        return (self.place(output),)


class ProgramTargetTracker(TargetTracker):
    """Counts as the authors' program does: the length of the output, minus the number of errors found in it.

    If an action writes nothing after an error (DELETE), the same error is found again and counts twice.
    """

    def __init__(self, target: str):
        super().__init__(target)
        self.errors: set[int] = set()

    def place(self, output: str) -> int:
        n = len(output) - len(self.errors)
        if n > 0 and (n > len(self.target) or output[-1] != self.target[n - 1]):
            n -= 1
            self.errors.add(len(output) - 1)
        return min(n, len(self.target))


class LengthTargetTracker(TargetTracker):
    """Ignores errors (`--no-il-optimal-oracle`): the place is the length of the output, right or wrong."""

    def place(self, output: str) -> int:
        return min(len(output), len(self.target))


class PrefixTracker(TargetTracker):
    """Finds all target prefixes nearest to the output by Levenshtein distance (`--il-prefixes=all`)."""

    def __init__(self, target: str):
        super().__init__(target)
        self.distances = list(range(len(target) + 1))  # from the output to each prefix

    def places(self, output: str) -> Sequence[int]:
        for character in output[self.counted:]:
            above, self.distances = self.distances, [self.distances[0] + 1]
            for j, expected in enumerate(self.target):
                self.distances.append(min(above[j] + (character != expected), above[j + 1] + 1, self.distances[j] + 1))
        self.counted = len(output)
        least = min(self.distances)
        return [j for j, distance in enumerate(self.distances) if distance == least]


class Expert:
    """The expert for one pair."""

    def __init__(self, x: str, target: str, table: Moves):
        self.x, self.target, self.table = x, target, table
        self.costs = edit_costs(x, target, table)

    def moves(self, i: int, j: int) -> tuple[Move, ...]:
        return self.table.moves(self.x[i:i + 1], self.target[j:j + 1])

    def candidates(self, i: int, *places: int) -> dict[int, float]:
        """The actions on the way to the target from any of these places, with their least cost-to-go.

        The cost-to-go of every action is its own cost plus that of the rest of the way, which includes the end. For
        END, this is twice the end cost.
        """
        costs = self.costs
        found: dict[int, float] = {}
        for j in places:
            offered = {action: cost + costs[i + reads][j + writes]
                       for action, reads, writes, cost in self.moves(i, j)} or {END: 2 * self.table.end_cost}
            found.update({action: cost for action, cost in offered.items() if cost < found.get(action, inf)})
        return found

    def number_of_optimal_sequences(self) -> int:
        """How many sequences of actions lead to the target at the least cost."""
        costs, end = self.costs, (len(self.x), len(self.target))
        counts: dict[tuple[int, int], int] = {}
        for i in range(len(self.x), -1, -1):
            for j in range(len(self.target), -1, -1):
                counts[i, j] = int((i, j) == end) + sum(
                    counts[i + reads, j + writes] for _, reads, writes, cost in self.moves(i, j)
                    if cost + costs[i + reads][j + writes] <= costs[i][j] + TOLERANCE)
        return counts[0, 0]

    def optimal_at(self, i: int, j: int) -> list[int]:
        return optimal_actions(self.candidates(i, j))

    def after(self, action: int, i: int, j: int) -> tuple[int, int]:
        """The i and j that a candidate leads to."""
        move = next(move for move in self.moves(i, j) if move.action == action)
        return i + move.reads, j + move.writes


def optimal_sequences(expert: Expert) -> Iterator[tuple[int, ...]]:
    """All sequences of actions that lead to the target at the least cost."""
    open_paths: list[tuple[tuple[int, ...], int, int]] = [((), 0, 0)]
    while open_paths:
        taken, i, j = open_paths.pop()
        for action in reversed(expert.optimal_at(i, j)):
            if action == END:
                yield (*taken, END)
            else:
                open_paths.append(((*taken, action), *expert.after(action, i, j)))


def optimal_actions(costs: dict[int, float]) -> list[int]:
    """The candidates with the lowest cost."""
    if len(costs) == 1:
        return list(costs)
    lowest = min(costs.values())
    return [action for action, cost in costs.items() if cost <= lowest + TOLERANCE]


def regrets(costs: dict[int, float], support: np.ndarray) -> np.ndarray:
    """[action]: cost minus the lowest cost for candidates, BETA for all others in the support, 0 outside it."""
    regret = np.where(support, BETA, 0.0)
    lowest = min(costs.values())
    for action, cost in costs.items():
        regret[action] = cost - lowest
    return regret
