"""Rows given as Python objects: data frames, lists of mappings, arrays, lists of strings and of tuples."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from il_morph.data.dataformat import FEATURES, INPUT, OUTPUT
from il_morph.data.header import EITHER_NAMES, column_named, header_of, name_in
from il_morph.errors import InputError
from il_morph.values import items_of


def items_in(name: str, values: Any, columns: Sequence[str], features: bool = True, separator: str = ";") -> list:
    """The items of a list, an array, a generator or a table. Rows of a table become tuples of these columns; as in
    files, its columns are recognised by their names, and several columns of features are joined. Without `features`
    the column of features may be missing."""
    needed = [column for column in columns if features or column != FEATURES]
    if hasattr(values, "to_frame") and (column_named(str(values.name)) == FEATURES or named_levels(values)):
        values = values.to_frame()
    if hasattr(values, "columns") and hasattr(values, "itertuples"):
        frame = with_named_index(values)
        return picked(name, list(frame.columns), [list(row) for row in frame.itertuples(index=False)], columns, needed,
                      separator)
    listed = [item.tolist() if hasattr(item, "tolist") and not isinstance(item, str) else item
              for item in items_of(name, values)]
    mappings = [item for item in listed if isinstance(item, Mapping)]
    if not mappings:
        return listed
    names = list(mappings[0])
    for number, item in enumerate(listed):
        if not isinstance(item, Mapping) or {*item} != {*names}:
            raise InputError(f"{name} takes items that are alike: number {number} is {item!r}, the first has {names}")
    return picked(name, names, [[item[key] for key in names] for item in mappings], columns, needed, separator)


def with_named_index(frame: Any) -> Any:
    """The data frame with its index as a column, if it is named like one: lemmas are often the index."""
    named = [each for each in named_levels(frame) if each not in frame.columns]
    return frame.reset_index(level=named) if named else frame


def named_levels(values: Any) -> list[str]:
    """The names in the index of a series or data frame that are names of columns."""
    return [each for each in values.index.names if isinstance(each, str)
            and column_named(each) in (INPUT, FEATURES, OUTPUT)]


def picked(name: str, names: Sequence[Any], rows: Sequence[Sequence[Any]], columns: Sequence[str],
           needed: Sequence[str], separator: str) -> list[tuple]:
    """The rows of a table with named columns, as tuples of these columns."""
    places = places_of(names, rows)
    if any(column not in places for column in needed):
        raise InputError(f"{name} takes a list, or a table with the columns {', '.join(needed)} (lemma, tag will do), "
                         f"not {', '.join(map(repr, names))}: rename them, and drop what is none of them")
    found = []
    for number, row in enumerate(rows):
        for column in filter(places.__contains__, columns):
            for value in (row[place] for place in places[column] if not isinstance(row[place], str)):
                raise InputError(f"{name} takes texts: the {column} of row {number} is {value!r}; give a text, an "
                                 "empty one for no features")
        found.append(tuple(separator.join(filter(None, (row[place] for place in places.get(column, ()))))
                           for column in columns))
    return found


def places_of(names: Sequence[Any], rows: Sequence[Sequence[Any]]) -> dict[str, list[int]]:
    """The places of the columns according to their names; empty if the names do not tell."""
    if not all(isinstance(each, str) for each in names):
        return {}
    if len(names) == 1:
        return {INPUT if name_in(names[0]) in EITHER_NAMES else column_named(names[0]): [0]}
    texts = [[value if isinstance(value, str) else "" for value in row] for row in rows]
    header = header_of([list(names), *texts, [""] * len(names)]) or []
    return {column: [index for index, each in enumerate(header) if each == column]
            for column in (INPUT, FEATURES, OUTPUT) if column in header}
