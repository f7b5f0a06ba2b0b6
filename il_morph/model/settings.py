"""Settings: what a model is (stored in its file) and how it is trained (stored in f.stats).

Each setting is declared once, with the name of its flag, its default and its possible values. The command line, the
model file and the Python interface check values against these declarations.
"""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from math import inf
from typing import Any, Optional, Union

from il_morph.data.formats import SIGMORPHON2016, DataFormat, format_named
from il_morph.data.spelling import AS_IS, FORMS, NFD_IN_NFC_OUT
from il_morph.data.symbols import Separators, complaint_about_separator
from il_morph.model.registry import ARCHITECTURES, CITED, ArchitectureKind, kind_named
from il_morph.transitions.aligners import ALIGNERS
from il_morph.transitions.systems import SYSTEMS, EditSystem, HardAttentionSystem, SubstitutionSystem, TransitionSystem

MAX_BEAM_WIDTH = 1000
MOST_EPOCHS = 100_000
WIDEST = 10_000  # the largest size of vectors
SEPARATORS = ("input_separator", "output_separator", "boundary")  # in the order of `Separators`
BY_LOSS = "loss"  # a value of --pick-ties
CONSTANT, WARMUP_DECAY, PLATEAU = LR_SCHEDULES = ("constant", "warmup-decay", "plateau")
FIRST, ALL = "first", "all"  # --il-prefixes: the prefixes of the target that the expert goes on from
UNIT, LEARNT = "unit", "learnt"  # --il-costs: the costs of the expert's actions
Number = Union[int, float]


def between(default: Number, low: Number, high: Number) -> Any:
    """A number between two bounds, both included."""
    return field(default=default, metadata={"low": low, "high": high})


def one_of(choices: Collection[str], default: Optional[str] = None) -> Any:
    """One of several words; the first is the default unless another is given."""
    return field(default=default or next(iter(choices)), metadata={"choices": choices})


@dataclass(frozen=True)
class ModelSettings:
    """The shape of the network and the data it reads."""

    format: str = SIGMORPHON2016.name
    architecture: str = one_of(ARCHITECTURES)
    transducer: str = one_of(SYSTEMS)
    input: int = between(100, 1, WIDEST)
    feat_input: int = between(20, 0, WIDEST)
    action_input: int = between(100, 1, WIDEST)
    pos_emb: bool = True
    avm_feat_format: bool = False
    enc_hidden: int = between(200, 1, WIDEST)
    dec_hidden: int = between(200, 1, WIDEST)
    enc_layers: int = between(1, 1, 100)
    dec_layers: int = between(1, 1, 100)
    vanilla_lstm: bool = False
    mlp: int = between(0, 0, WIDEST)
    nonlin: str = one_of(("ReLU", "tanh"))
    lucky_w: float = between(55.0, -1e6, 1e6)
    tag_wraps: str = one_of(("both", "close"))
    param_tying: bool = True
    unicode: str = one_of(FORMS)
    input_separator: str = ""
    output_separator: str = ""
    boundary: str = ""

    @property
    def data_format(self) -> DataFormat:
        return format_named(self.format)

    @property
    def separators(self) -> Separators:
        return Separators(*(getattr(self, name) for name in SEPARATORS))

    @property
    def kind(self) -> ArchitectureKind:
        return kind_named(self.architecture)

    @property
    def system(self) -> TransitionSystem:
        """The architecture's own transition system, if it has one, or else the one that `transducer` names."""
        return self.kind.system or SYSTEMS[self.transducer]

    @property
    def embeds_pos(self) -> bool:
        """Whether the POS has embeddings of its own. In a bag of features, it is one of the features."""
        return self.pos_emb and self.feat_input > 0

    @classmethod
    def from_dict(cls, values: dict) -> ModelSettings:
        """The settings of a model file; older files lack some. Raise a ValueError for a value that no training sets."""
        known = {field.name: field for field in fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ValueError(f"unknown settings: {', '.join(unknown)}")
        for name, value in values.items():
            check_value(known[name], value)
        settings = cls(**values)
        check_together(settings)
        return settings

    @property
    def misfits(self) -> list[str]:
        """The settings that differ from the only value that the architecture allows."""
        return [name for name, value in self.kind.fixed.items() if getattr(self, name) != value]

    def as_dict(self) -> dict:
        """The values stored in a model file. Empty separators are left out, so that il-morph 2.0 can read the file."""
        return {name: value for name, value in asdict(self).items() if value or name not in SEPARATORS}


@dataclass(frozen=True)
class TrainingSettings:
    """How to train."""

    mode: str = one_of(("il", "mle", "mrt", "rl", "eval"))
    epochs: int = between(50, 1, MOST_EPOCHS)
    patience: int = between(10, 1, MOST_EPOCHS)
    pick_loss: bool = False
    pick_ties: str = one_of(("earlier", "later", BY_LOSS))
    mle_loss: str = one_of(("mean", "sum"))
    sample_order: str = one_of(("shuffled", "length"))
    trials: int = between(1, 1, 1000)
    optimization: str = one_of(("ADADELTA", "ADAM", "SGD", "MOMENTUM", "ADAGRAD"))
    learning_rate: float = between(0.0, 0.0, 1e6)  # 0: the optimiser's own
    lr_schedule: str = one_of(LR_SCHEDULES)
    lr_warmup: float = between(1.0, 1e-3, MOST_EPOCHS)
    lr_decay: float = between(0.5, 1e-6, 1.0)
    lr_patience: int = between(5, 1, MOST_EPOCHS)
    batch_size: int = between(1, 1, 10_000)
    decbatch_size: int = between(512, 1, 100_000)
    dropout: float = between(0.0, 0.0, 0.99)
    l2: float = between(0.0, 0.0, 1e6)
    augment: str = ""  # hallucinated samples of each epoch
    average_weights: float = between(0.0, 0.0, 0.99999)  # 0: not at all
    beam_width: int = between(0, 0, MAX_BEAM_WIDTH)
    beam_widths: tuple[int, ...] = (4,)
    il_rules: str = one_of(("paper", "program"))
    il_loss: str = one_of(("nll", "softmax-margin", "mse"))
    il_decay: str = one_of(("inverse-sigmoid", "exponential"))
    il_k: float = between(12.0, 1e-6, 1e6)
    il_tforcing_epochs: int = between(0, 0, MOST_EPOCHS)
    il_beta: float = between(0.5, 0.0, 1.0)
    il_global_rollout: bool = True
    il_optimal_oracle: bool = True
    il_bias_inserts: bool = False
    il_prefixes: str = one_of((FIRST, ALL))
    il_costs: str = one_of((UNIT, LEARNT))
    il_rollin: str = one_of(("best", "uniform"))
    il_rollout_loss: str = one_of(("edits", "distance"))
    aligner: str = one_of(tuple(ALIGNERS), "smart")
    iterations: int = between(150, 1, 1_000_000)
    try_reverse: bool = False
    pretrain_epochs: int = between(0, 0, MOST_EPOCHS)
    pretrain_until: float = between(0.0, 0.0, 1.0)
    pretrain_dropout: float = between(0.0, 0.0, 0.99)
    sample_size: int = between(20, 1, 10_000)
    alpha: float = between(1.0, 0.0, 1e6)
    beta: float = between(1.0, 0.0, 1e6)
    mrt_action_cost: float = between(0.0, 0.0, 1.0)
    no_baseline: bool = False
    scale_negative: float = between(1.0, 0.0, 1e6)

    def as_dict(self) -> dict:
        return asdict(self)


def check_value(declared: Field, value: Any) -> None:
    """Raise a ValueError if the setting cannot have this value."""
    bounds, kind = declared.metadata, type(declared.default)
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise ValueError(f"the setting {declared.name} is {reprlib.repr(value)}, which is not of type {kind.__name__}")
    if (value not in bounds.get("choices", (value,))
            or not bounds.get("low", value) <= value <= bounds.get("high", value)):
        raise ValueError(f"the setting {declared.name} cannot be {reprlib.repr(value)}")


def check_together(settings: ModelSettings) -> None:
    """Raise a ValueError if the architecture does not allow these settings, or if they do not fit each other."""
    format_named(settings.format)
    for name in SEPARATORS:
        if complaint_about_separator(getattr(settings, name)):
            raise ValueError(f"the setting {name} cannot be {reprlib.repr(getattr(settings, name))}")
    if settings.output_separator and settings.boundary:
        raise ValueError("the settings output_separator and boundary do not fit each other")
    tied = settings.kind.tied if settings.param_tying else ()
    if len({getattr(settings, name) for name in tied}) > 1:
        raise ValueError(f"the settings {', '.join(tied)} are not equal")
    if settings.avm_feat_format and not settings.feat_input:
        raise ValueError("the settings feat_input and avm_feat_format do not fit each other")
    if settings.misfits:
        raise ValueError(f"the architecture {settings.architecture} does not have its {', '.join(settings.misfits)}")


def declarations() -> dict[str, Field]:
    """All settings by name."""
    return {each.name: each for settings in (ModelSettings, TrainingSettings) for each in fields(settings)}


# The systems of the paper, and the settings that define them.
EDITS, HARD = {"transducer": EditSystem.name}, {"transducer": HardAttentionSystem.name}
GREEDY: dict[str, Any] = {"mode": "mle", "beam_widths": ()}  # the cited systems search greedily
SIZES_2017 = {"input": 300, "action_input": 300, "enc_hidden": 100, "dec_hidden": 100, "enc_layers": 2, "dec_layers": 2,
              "epochs": 100, "patience": 100, **GREEDY}  # Aharoni & Goldberg (2017)
G2P: dict[str, Any] = {  # the baseline of SIGMORPHON 2021, grapheme-to-phoneme
    "transducer": SubstitutionSystem.name, "param_tying": False, "unicode": NFD_IN_NFC_OUT, "epochs": 60,
    "patience": 12, "batch_size": 5, "il_k": 1.0, "il_beta": 1.0, "il_prefixes": ALL, "il_costs": LEARNT}
BEST = "best"  # CA-R, plus the settings in RECIPES for the size of the training data
TRANSDUCERS: dict[str, dict[str, Any]] = {
    "ca-d": {**EDITS, "il_beta": 1.0},
    "ca-r": EDITS,
    "ca-rm": {**EDITS, "il_loss": "softmax-margin"},
    "ca": {**EDITS, "mode": "mle"},
    "ha": {**HARD, "mode": "mle"},
    "ca-mrt": {**EDITS, "mode": "mrt"},
    "ha-mrt": {**HARD, "mode": "mrt"},
    "ca-mrt-a": {**EDITS, "mode": "mrt", "mrt_action_cost": 0.2},
    BEST: EDITS,
    "g2p": G2P,
    "segmentation": {**G2P, "unicode": AS_IS, "boundary": " @@", "il_tforcing_epochs": MOST_EPOCHS},  # the expert leads
    "ha-2017": {**HARD, **SIZES_2017, "pos_emb": False, "avm_feat_format": True},
}


# The settings that --model=best adds, by the maximum number of lines of training data (measurements: docs/recipes.md).
AVERAGING: dict[str, Any] = {"il_rollin": "uniform", "average_weights": 0.995}
RECIPES: dict[float, dict[str, Any]] = {
    300: {"epochs": 44, "patience": 16, "il_k": 9.0, "augment": "200,100@10,30@20", **AVERAGING},
    3000: {"augment": "500,250@10,0@25", **AVERAGING, "average_weights": 0.999},
    inf: {**AVERAGING, "average_weights": 0.999},
}


def recipe_for(lines: int) -> dict[str, Any]:
    """The settings that --model=best adds for training data of this size."""
    return next(settings for most, settings in RECIPES.items() if lines <= most)


class Presets(Mapping[str, dict[str, Any]]):
    """The settings of each --model. A cited system is only imported when its preset is requested."""

    def __getitem__(self, name: str) -> dict[str, Any]:
        return {"architecture": name, **kind_named(name).preset} if name in CITED else TRANSDUCERS[name]

    def __iter__(self) -> Iterator[str]:
        yield from (*TRANSDUCERS, *CITED)

    def __len__(self) -> int:
        return len(TRANSDUCERS) + len(CITED)


PRESETS = Presets()
