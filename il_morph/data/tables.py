"""Rows as Python has them: data frames, lists of mappings, arrays, lists of texts and of tuples."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from il_morph.data.dataformat import FEATURES, INPUT, OUTPUT
from il_morph.data.header import EITHER_NAMES, column_named, header_of
from il_morph.errors import InputError
from il_morph.values import items_of


def items_in(name: str, values: Any, columns: Sequence[str], features: bool = True) -> list:
    """The items of a list, an array, a generator or a table. Rows of a table become tuples of these columns; as in
    files, the names of its columns say what they are. Without `features` their column may be missing."""
    needed = [column for column in columns if features or column != FEATURES]
    if hasattr(values, "columns") and hasattr(values, "itertuples"):
        return picked(name, list(values.columns), [list(row) for row in values.itertuples(index=False)], columns,
                      needed)
    listed = [item.tolist() if hasattr(item, "tolist") and not isinstance(item, str) else item
              for item in items_of(name, values)]
    mappings = [item for item in listed if isinstance(item, Mapping)]
    if not mappings:
        return listed
    names = list(mappings[0])
    for number, item in enumerate(listed):
        if not isinstance(item, Mapping) or {*item} != {*names}:
            raise InputError(f"{name} takes items that are alike: number {number} is {item!r}, the first has {names}")
    return picked(name, names, [[item[key] for key in names] for item in mappings], columns, needed)


def picked(name: str, names: Sequence[Any], rows: Sequence[Sequence[Any]], columns: Sequence[str],
           needed: Sequence[str]) -> list[tuple]:
    """These columns of a table whose columns have names."""
    places = places_of(names, rows)
    if any(column not in places for column in needed):
        raise InputError(f"{name} takes a list, or a table with the columns {', '.join(needed)} (lemma, tag will do), "
                         f"not {', '.join(map(repr, names))}: rename them, and drop what is none of them")
    found = []
    for number, row in enumerate(rows):
        values = tuple(row[places[column]] if column in places else "" for column in columns)
        wrong = next((column for column, value in zip(columns, values) if not isinstance(value, str)), None)
        if wrong:
            raise InputError(f"{name} takes texts: the {wrong} of row {number} is {row[places[wrong]]!r}; give a text, "
                             "an empty one for no features")
        found.append(values)
    return found


def places_of(names: Sequence[Any], rows: Sequence[Sequence[Any]]) -> dict[str, int]:
    """Where the columns are, by their names; nowhere if these do not say it."""
    if not all(isinstance(each, str) for each in names):
        return {}
    if len(names) == 1:
        return {INPUT if names[0].strip().lower() in EITHER_NAMES else column_named(names[0]): 0}
    texts = [[value if isinstance(value, str) else "" for value in row] for row in rows]
    header = header_of([list(names), *texts, [""] * len(names)]) or []
    return {column: header.index(column) for column in (INPUT, FEATURES, OUTPUT) if column in header}
