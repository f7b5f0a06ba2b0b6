"""The edits between a prediction and the gold output. Both are sequences of symbols, such as strings of characters."""
from __future__ import annotations

import os
from collections.abc import Sequence

STAYS, GOES, COMES = "", "-", "+"


def edits(prediction: Sequence[str], gold: Sequence[str]) -> str:
    """The edits that turn a prediction into the gold output: x stays, -x goes, +x comes, ␣ is a blank."""
    return " ".join(sign + character.replace(" ", "␣") for sign, character in edit_steps(prediction, gold))


def edit_steps(prediction: Sequence[str], gold: Sequence[str]) -> list[tuple[str, str]]:
    """The fewest edits that turn a prediction into the gold output."""
    distances = suffix_distances(prediction, gold)
    i = j = 0
    script = []
    while i < len(prediction) or j < len(gold):
        if i < len(prediction) and j < len(gold) and prediction[i] == gold[j]:
            script.append((STAYS, prediction[i]))
            i, j = i + 1, j + 1
        elif j == len(gold) or (i < len(prediction) and distances[i + 1][j] <= distances[i][j + 1]):
            script.append((GOES, prediction[i]))
            i += 1
        else:
            script.append((COMES, gold[j]))
            j += 1
    return script


def first_difference(prediction: Sequence[str], gold: Sequence[str]) -> int:
    """The position, from 1, of the first wrong symbol."""
    return len(os.path.commonprefix([list(prediction), list(gold)])) + 1


def suffix_distances(one: Sequence[str], other: Sequence[str]) -> list[list[int]]:
    """The fewest deletions and insertions from each suffix of one sequence to each suffix of the other."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one), -1, -1):
        for j in range(len(other), -1, -1):
            if i == len(one) or j == len(other):
                table[i][j] = len(one) - i + len(other) - j
            elif one[i] == other[j]:
                table[i][j] = table[i + 1][j + 1]
            else:
                table[i][j] = 1 + min(table[i + 1][j], table[i][j + 1])
    return table
