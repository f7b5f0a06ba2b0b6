"""Build a `RunSpec` from names and values, as the command line and Python give them.

A setting may also have the name of its flag with `_` for `-`: `no_pos_emb=True` is `pos_emb=False`, `align_cls=True`
is `aligner="cls"`. None counts as not given, and so does False for a setting that is off by default.
"""
from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import Field
from functools import partial
from numbers import Number
from typing import Any, Callable, Optional, Union

from il_morph.data.read_options import checked_separator, named_columns
from il_morph.errors import InputError
from il_morph.files import PathLike
from il_morph.model.settings import MAX_BEAM_WIDTH, SEPARATORS
from il_morph.runs.spec import MAX_SEED, OTHERS, SETTINGS, RunSpec, flag, flag_of
from il_morph.training.augmentation import checked_schedule
from il_morph.transitions.aligners import ALIGNERS
from il_morph.values import bad_value, choice, integer, items_of, number, path_of, switch, text

DECLARED = {**SETTINGS, **OTHERS}
SWITCHES = {name for name, declared in SETTINGS.items() if isinstance(declared.default, bool)} | {"no_feat_format"}
LEVELS = ("verbose", "dynet_autobatch")  # numbers for which callers in Python may give True
MOST_SEEDS = 1000


def make_spec(train: PathLike, dev: Optional[PathLike], results: PathLike, asked: Mapping[str, Any]) -> RunSpec:
    paths = {"TRAIN-PATH": train, "DEV-PATH": dev, "RESULTS-PATH": results}
    wanted = under_one_name(asked)
    given = {name: value_of(DECLARED[name], wanted[name]) for name in DECLARED if name in wanted}
    return RunSpec(*(None if path is None and name == "DEV-PATH" else path_of(name, path)
                     for name, path in paths.items()),  # type: ignore
                   settings={name: value for name, value in given.items() if name in SETTINGS},
                   **{name: value for name, value in given.items() if name in OTHERS})


def under_one_name(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are given, each under the name of its setting or flag."""
    found: dict[str, Any] = {}
    said: dict[str, str] = {}  # name -> the flag that gave it
    for given, value in asked.items():
        name, value = renamed(given, value)
        if value is None or (value is False and not DECLARED[name].default):
            continue
        asked_for = flag(name, value) if name == "aligner" else flag_of(given)
        if name in found and found[name] != value:
            both = sorted([said[name], asked_for], key=lambda word: (word.startswith("--no-"), word))
            raise InputError(f"{both[0]} and {both[1]} exclude each other: give one of them")
        found[name], said[name] = value, asked_for
    return found


def renamed(name: str, value: Any) -> tuple[str, Any]:
    """The name and value of the setting or flag that has this name, or whose opposite has it."""
    aligner, opposite = name[len("align_"):], name[len("no_"):] if name.startswith("no_") else f"no_{name}"
    if name in DECLARED:
        return name, value
    if name.startswith("align_") and aligner in ALIGNERS:
        return "aligner", aligner if value is not None and switch(name, value) else None
    if opposite in SWITCHES:
        return opposite, None if value is None else not switch(name, value)
    similar = difflib.get_close_matches(name, [*DECLARED, "seeds", "folds", "jobs"], n=1)
    raise InputError(f"{name}: {f'did you mean {similar[0]}?' if similar else 'there is no such argument'}")


def value_of(declared: Field, value: Any) -> Any:
    """The value of a setting or flag, from text or from Python."""
    spelt, bounds, kind = flag_of(declared.name), declared.metadata, type(declared.default)
    if declared.name == "tag_wraps" and value == "none":
        raise InputError("--tag-wraps=none is refused: END needs a symbol; take both or close")
    if "choices" in bounds:
        return choice(spelt, value, bounds["choices"])
    if "low" in bounds:
        level = 1 if value is True and declared.name in LEVELS else value
        return (number if kind is float else integer)(spelt, level, bounds["low"], bounds["high"])
    if kind is bool:
        return switch(declared.name, value)
    if declared.name in SEPARATORS:
        return checked_separator(spelt, text(spelt, value))
    lists: dict[str, Callable] = {"augment": checked_schedule, "beam_widths": beam_widths, "columns": named_columns,
                                  "feature_separator": partial(text, spelt)}
    return lists[declared.name](value) if declared.name in lists else path_of(spelt, value)


def beam_widths(given: Union[str, int, Iterable[int]]) -> tuple[int, ...]:
    """Beam widths from a list, or from text with commas. Greedy search is always done, so it is left out."""
    said = listed("--beam-widths", given)
    widths = (said if isinstance(given, str) else said or "0").split(",")
    if not all(width.isdecimal() for width in widths):
        raise bad_value("--beam-widths", said, "whole numbers separated by commas")
    if max(map(len, widths)) > 9 or max(map(int, widths)) > MAX_BEAM_WIDTH:
        raise bad_value("--beam-widths", said, f"numbers up to {MAX_BEAM_WIDTH}")
    return tuple(sorted({int(width) for width in widths} - {0, 1}))


def seeds_of(given: Union[str, int, Iterable[int]]) -> list[int]:
    """`1-3,7` are the seeds 1, 2, 3 and 7; from Python also a list of them."""
    seeds: dict[int, None] = {}
    for part in listed("--seeds", given).split(","):
        found = re.fullmatch(r"([0-9]{1,10})(?:-([0-9]{1,10}))?", part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last <= MAX_SEED or last - first >= MOST_SEEDS:
            raise bad_value("--seeds", given, f"seeds up to {MAX_SEED}, as in 1-5 or 1,2,7, at most {MOST_SEEDS}")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    return list(seeds)


def listed(name: str, given: Union[str, int, Iterable[int]]) -> str:
    if isinstance(given, (str, Number)):
        return str(given)
    return ",".join(map(str, items_of(name, given)))
