"""Symbols and their indices, built from the training file in order of first occurrence, then frozen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Optional

from il_morph.data.formats import RESERVED, DataFormat, Sample
from il_morph.data.symbols import PLAIN, PRIVATE_USE, Symbols
from il_morph.model.settings import ModelSettings
from il_morph.transitions.actions import BEGIN, END, UNK, UNK_SYMBOL, ActionTable
from il_morph.transitions.expert import Expert, Moves, PrefixTracker, TargetTracker
from il_morph.transitions.stochastic_edits import LearntMoves, StochasticEdits


class Index:
    """A list of symbols with their positions; an unknown symbol has the position of UNK."""

    def __init__(self, symbols: Iterable[str]):
        self.symbols: list[str] = []
        self.positions: dict[str, int] = {}
        for symbol in symbols:
            self.add(symbol)

    def add(self, symbol: str) -> None:
        if symbol not in self.positions:
            self.positions[symbol] = len(self.symbols)
            self.symbols.append(symbol)

    def __getitem__(self, symbol: str) -> int:
        return self.positions.get(symbol, UNK)

    def __contains__(self, symbol: str) -> bool:
        return symbol in self.positions

    def __len__(self) -> int:
        return len(self.symbols)


@dataclass(frozen=True)
class Instance:
    """A sample in indices, as the network reads it."""

    sample: Sample
    buffer: tuple[int, ...]  # the wrapped input
    text: str  # one character for each element of the buffer
    pos: Optional[int]  # row of the POS table, None without one
    slots: tuple[int, ...]  # rows of the feature table, 0 for an absent feature (in a sequence: an unseen one)
    start: int  # the first position of the buffer to be read
    symbols: Symbols = field(default=PLAIN, compare=False, repr=False)  # what the characters stand for

    @property
    def end(self) -> int:
        """The position of END."""
        return len(self.buffer) - 1


@dataclass
class Vocabulary:
    """All indices of a model. With parameter tying `characters` and `actions` are one object."""

    settings: ModelSettings
    characters: Index
    actions: Index
    features: Index
    pos: Optional[Index]
    attributes: Optional[Index] = None
    bundles: dict[str, int] = field(default_factory=dict)  # the tags of the training data with their counts
    symbols: Symbols = PLAIN  # the symbols of several characters
    all_prefixes: bool = False  # does the expert go on from all nearest prefixes of the target?
    learnt_costs: Optional[StochasticEdits] = None  # of the expert's actions
    format: DataFormat = field(init=False)

    def __post_init__(self) -> None:
        self.format = self.settings.data_format
        self.system = self.settings.system

    def __reduce__(self) -> tuple:
        """Make a copy in the same way as a vocabulary from a model file."""
        return Vocabulary.from_dict, (self.as_dict(), self.settings)

    @classmethod
    def build(cls, samples: Sequence[Sample], settings: ModelSettings) -> Vocabulary:
        specials = tuple(settings.system.special_actions)
        actions = Index(specials)
        characters = actions if settings.param_tying else Index(specials[: END + 1])
        vocabulary = cls(
            settings, characters, actions, Index([UNK_SYMBOL]),
            Index([UNK_SYMBOL]) if settings.embeds_pos else None,
            Index([]) if settings.avm_feat_format else None, symbols=Symbols(settings.separators).covering(samples),
        )
        for sample in map(vocabulary.symbols.encoded, samples):
            for character in sample.input:
                characters.add(character)
            for character in sample.output or "":
                for symbol in settings.system.symbols_of(character):
                    actions.add(symbol)
                if settings.kind.reads_outputs:
                    characters.add(character)
            vocabulary._add_features(sample.tag)
        return vocabulary

    def _add_features(self, tag: str) -> None:
        pos, features = self.split(tag)
        if self.format.separator is not None:
            self.bundles[tag] = self.bundles.get(tag, 0) + 1
        if self.pos is not None:
            self.pos.add(pos)
        for feature in features:
            self.features.add(feature)
            if self.attributes is not None:
                self.attributes.add(attribute(feature))

    def split(self, tag: str) -> tuple[str, tuple[str, ...]]:
        """The POS (item 0, if it has a table of its own) and the other features."""
        items = self.format.features(tag)
        return (items[0], items[1:]) if self.pos is not None else ("", items)

    def knows_some(self, tag: str) -> bool:
        """Whether the POS or one of the features occurred in training."""
        pos, features = self.split(tag)
        return (self.pos is not None and pos in self.pos) or any(feature in self.features for feature in features)

    @cached_property
    def table(self) -> ActionTable:
        """The action table. It is built at the first access, when the vocabulary must be complete."""
        return ActionTable(self.system.action, self.actions.symbols)

    def expert(self, sample: Sample) -> Expert:
        """The expert for an encoded pair, with learnt costs if there are any."""
        return Expert(sample.input, sample.target, self._moves)

    def tracker(self, target: str) -> TargetTracker:
        """Tracks where in a target the expert is."""
        return (PrefixTracker if self.all_prefixes else TargetTracker)(target)

    @cached_property
    def _moves(self) -> Moves:
        return self.table if self.learnt_costs is None else LearntMoves(self.table, self.learnt_costs)

    def with_expert(self, all_prefixes: bool, learns: bool, samples: Sequence[Sample]) -> Vocabulary:
        """The same vocabulary with another expert, whose costs are learnt from samples or those of the action table."""
        pairs = [(sample.input, sample.target) for sample in map(self.symbols.encoded, samples)] if learns else []
        costs = StochasticEdits.learn(pairs) if learns else None
        return replace(self, all_prefixes=all_prefixes, learnt_costs=costs)

    @property
    def has_own_expert(self) -> bool:
        return self.all_prefixes or self.learnt_costs is not None

    @property
    def letters(self) -> list[str]:
        """The symbols of inputs, and with parameter tying of outputs, as they are written in files."""
        return [self.symbols.symbol(symbol) for symbol in self.characters.symbols
                if len(symbol) == 1 and symbol not in self.system.special_actions]

    @property
    def number_of_slots(self) -> int:
        return len(self.attributes) if self.attributes is not None else len(self.features) - 1

    def instance(self, sample: Sample) -> Instance:
        """The instance of a sample that is given as in files. An unseen symbol gets a character of its own."""
        symbols = self.symbols.covering([sample])
        return self.encoded_instance(symbols.encoded(sample), symbols)

    def encoded_instance(self, sample: Sample, symbols: Symbols) -> Instance:
        """Unseen characters and an unseen POS become UNK; unseen features are left out (in a sequence, UNK)."""
        pos, features = self.split(sample.tag)
        both = self.settings.tag_wraps == "both"
        names = self.characters.symbols
        buffer = [BEGIN] * both + [self.characters[c] for c in sample.input] + [END]
        return Instance(
            sample, tuple(buffer), names[BEGIN] * both + sample.input + names[END],
            None if self.pos is None else self.pos[pos],
            tuple(self._present(features) if self.settings.kind.reads_features else self._slots(features)),
            self.system.start(self.settings.tag_wraps), symbols,
        )

    def _present(self, features: Sequence[str]) -> list[int]:
        """The row of each present feature, sorted by attribute. Only the first feature of an attribute counts."""
        rows: dict[str, int] = {}
        for feature in features:
            rows.setdefault(attribute(feature), self.features[feature])
        return [rows[name] for name in sorted(rows)]

    def _slots(self, features: Sequence[str]) -> list[int]:
        slots = [UNK] * self.number_of_slots
        for feature in features:
            row = self.features[feature]
            if row != UNK:
                slot = row - 1 if self.attributes is None else self.attributes.positions[attribute(feature)]
                slots[slot] = slots[slot] or row  # only the first value of an attribute counts
        return slots

    def actions_of(self, symbols: Iterable[str]) -> list[int]:
        """The action for each symbol (INSERT for a character); UNK for a symbol that training did not show."""
        return [self.actions[symbol] for symbol in symbols]

    def gold_actions(self, aligned: tuple[str, str]) -> list[int]:
        """The gold action sequence of an aligned pair."""
        return self.actions_of(self.system.gold(*aligned, self.settings.tag_wraps))

    def unseen(self, samples: Sequence[Sample]) -> dict[str, int]:
        """The number of samples with symbols that training did not show, by kind of symbol."""
        counts = {"input characters": 0, "output characters": 0, "features": 0}
        symbols = self.symbols.covering(samples)
        for sample in map(symbols.encoded, samples):
            pos, features = self.split(sample.tag)
            counts["input characters"] += any(c not in self.characters for c in sample.input)
            counts["output characters"] += any(c not in self.actions for c in sample.output or "")
            counts["features"] += any(f not in self.features for f in features) or (
                self.pos is not None and pos not in self.pos)
        return counts

    def as_dict(self) -> dict:
        """The values stored in the model file: only the symbols that the model knows, numbered without gaps."""
        own = self.recoded(replace(self.symbols, listed=self._own_symbols()))
        indices = {"characters": own.characters, "actions": own.actions, "features": own.features,
                   "pos": own.pos, "attributes": own.attributes}
        lists = {name: index.symbols for name, index in indices.items() if index is not None}
        symbols = {"symbols": [*own.symbols.listed]} if own.settings.separators else {}
        bundles = [[tag, number] for tag, number in own.bundles.items()]
        return {**lists, "bundles": bundles, **symbols, **({"expert": own._expert()} if own.has_own_expert else {})}

    def _expert(self) -> dict:
        costs = self.learnt_costs
        return {"all_prefixes": self.all_prefixes, "costs": None if costs is None else costs.as_dict()}

    def _own_symbols(self) -> tuple[str, ...]:
        """The symbols of several characters that the network or the learnt costs know. Symbols added later may have
        characters, too."""
        used = private_characters(self.characters, self.actions, self.learnt_costs)
        return tuple(symbol for symbol, character in self.symbols.characters.items() if character in used)

    def recoded(self, symbols: Symbols) -> Vocabulary:
        """The same vocabulary, recoded with the characters that stand for these symbols."""
        own = self.symbols.symbols

        def renamed(character: str) -> str:
            return symbols.characters[own[character]] if character in own else character

        def moved(index: Index) -> Index:
            return Index(each[:-1] + renamed(each[-1:]) for each in index.symbols)

        actions = moved(self.actions)
        characters = actions if self.characters is self.actions else moved(self.characters)
        costs = None if self.learnt_costs is None else self.learnt_costs.renamed(renamed)
        return replace(self, characters=characters, actions=actions, symbols=symbols, learnt_costs=costs)

    @classmethod
    def from_dict(cls, lists: dict, settings: ModelSettings) -> Vocabulary:
        """Read the vocabulary of a model file. Raise a ValueError if no training could have produced it."""
        check_names(lists, settings)
        specials = tuple(settings.system.special_actions)
        actions = checked_index(lists, "actions", specials, settings.system.symbols_of)
        characters = (actions if settings.param_tying else
                      checked_index(lists, "characters", specials[:END + 1], tuple))
        pos = checked_index(lists, "pos", [UNK_SYMBOL]) if settings.embeds_pos else None
        features = checked_index(lists, "features", [UNK_SYMBOL])
        attributes = checked_index(lists, "attributes", []) if settings.avm_feat_format else None
        if attributes is not None and {*attributes.symbols} != {*map(attribute, features.symbols[1:])}:
            raise ValueError("its attributes are not those of its features")
        all_prefixes, costs = checked_expert(lists.get("expert", {"all_prefixes": False, "costs": None}))
        symbols = checked_symbols(lists.get("symbols", []), settings, private_characters(characters, actions, costs))
        return cls(settings, characters, actions, features, pos, attributes, counted_bundles(lists.get("bundles", [])),
                   symbols, all_prefixes, costs)


def check_names(lists: dict, settings: ModelSettings) -> None:
    """Raise a ValueError unless there is a list for each index that the settings need. Older files have no bundles."""
    needed = {"characters", "actions", "features", *["pos"] * settings.embeds_pos,
              *["attributes"] * settings.avm_feat_format, *["symbols"] * bool(settings.separators)}
    if not isinstance(lists, dict) or {*lists} - {"bundles", "expert"} != needed:
        raise ValueError(f"its vocabulary is not that of its settings: {', '.join(sorted(needed))}")
    if settings.param_tying and lists["characters"] != lists["actions"]:
        raise ValueError("its characters and actions differ, although they are tied")


def checked_index(lists: dict, name: str, specials: Sequence[str],
                  symbols_of: Optional[Callable[[str], Sequence[str]]] = None) -> Index:
    """An index of distinct symbols, special ones first. With `symbols_of`, all others must be symbols of characters."""
    symbols = lists[name]
    if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
        raise ValueError(f"its {name} are no list of symbols")
    if symbols[:len(specials)] != [*specials]:
        raise ValueError(f"its {name} do not begin with {', '.join(specials)}")
    if len({*symbols}) < len(symbols):
        raise ValueError(f"its {name} are not all different")
    others = symbols[len(specials):]
    if symbols_of and not all(symbol in symbols_of(symbol[-1:]) for symbol in others):
        raise ValueError(f"its {name} are not all single characters")
    refuse_unwritable(others, name)
    return Index(symbols)


def refuse_unwritable(symbols: Iterable[str], name: str) -> None:
    """Refuse symbols that would break output files: a line feed or a tab breaks a line, a lone surrogate all lines."""
    if any(re.search("[\n\t\ud800-\udfff]", symbol) for symbol in symbols):
        raise ValueError(f"its {name} have a line feed, a tab or a lone surrogate among them")


def counted_bundles(pairs: Sequence) -> dict[str, int]:
    """The bundles of a model file, as pairs of a tag and its count. Older files have no bundles."""
    bundles = dict(pairs)
    if not all(isinstance(tag, str) and type(number) is int and number > 0 for tag, number in bundles.items()):
        raise ValueError("its bundles are no pairs of features and a number")
    refuse_unwritable(bundles, "bundles")
    return bundles


def private_characters(characters: Index, actions: Index, costs: Optional[StochasticEdits]) -> set[str]:
    """The private-use characters that a model uses."""
    learnt = [] if costs is None else costs.inputs + costs.outputs
    return {symbol[-1] for symbol in (*characters.symbols, *actions.symbols, *learnt)
            if PRIVATE_USE.fullmatch(symbol[-1:])}


def checked_symbols(listed: Sequence, settings: ModelSettings, used: set[str]) -> Symbols:
    """The symbols of several characters in a model file, for which the private-use characters stand that it uses."""
    if not settings.separators:
        return PLAIN
    if not isinstance(listed, list) or not all(isinstance(symbol, str) and len(symbol) > 1 for symbol in listed):
        raise ValueError("its symbols are no list of symbols of several characters")
    if len({*listed}) < len(listed):
        raise ValueError("its symbols are not all different")
    refuse_unwritable(listed, "symbols")
    if any(PRIVATE_USE.search(symbol) or any(each in symbol for each in RESERVED) for symbol in listed):
        raise ValueError("its symbols have characters among them that no data may have")
    symbols = Symbols(settings.separators, tuple(listed))
    if used != {*symbols.symbols}:
        raise ValueError("its symbols are not those of its characters, actions and learnt costs")
    return symbols


def checked_expert(values: dict) -> tuple[bool, Optional[StochasticEdits]]:
    """The expert of a model file."""
    if (not isinstance(values, dict) or {*values} != {"all_prefixes", "costs"}
            or not isinstance(values["all_prefixes"], bool)):
        raise ValueError("its expert is not all_prefixes and costs")
    costs = values["costs"]
    return values["all_prefixes"], None if costs is None else StochasticEdits.from_dict(costs)


def attribute(feature: str) -> str:
    """`case` of `case=ACC`; a feature without `=` is its own attribute."""
    return feature.split("=", 1)[0]
