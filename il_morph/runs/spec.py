"""A run as a value: one training as requested by the command line, by Python, or by a table of the paper."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any, Optional

from il_morph.data.dataformat import FEATURE_SOURCES, TASKS
from il_morph.data.formats import ReadOptions
from il_morph.data.read_options import read_options, symbol_separators
from il_morph.data.spelling import AS_IS
from il_morph.data.splitting import SHARES, UNITS, Splitting
from il_morph.engines import ENGINES
from il_morph.model.registry import TRANSDUCER, kind_named
from il_morph.model.settings import BEST, PRESETS, SEPARATORS, ModelSettings, TrainingSettings, declarations, recipe_for
from il_morph.run_folder import RunFolder

MAX_SEED = 2**32 - 1  # DyNet's seeds have 32 bits
MOST_MEMORY = 1_000_000_000  # MB
DEFAULT_MODEL = "ca-r"
EXPONENTIAL_K = 0.9  # the default of --il-k with --il-decay=exponential
WITH_TEST = (90.0, 10.0)  # the shares of training and development data if there is a test file
PATHS = ("train", "dev", "results")


def within(low: int, high: Optional[int] = None) -> Any:
    """A field for an optional whole number in this range."""
    return field(default=None, metadata={"low": low, "high": high})


def word(choices: Iterable[str]) -> Any:
    """A field for an optional word, one of these."""
    return field(default=None, metadata={"choices": tuple(choices)})


@dataclass(frozen=True)
class RunSpec:
    """A requested run. Every field but the paths and `settings` is a flag of `il-morph train`, and so is every setting.

    A value that is not requested is None or False, or missing from `settings`: the model, the data or the defaults
    decide.
    """

    train: str
    dev: Optional[str]  # None: the training file is split
    results: str
    model: Optional[str] = word(PRESETS)
    sigm2017format: bool = False
    no_feat_format: bool = False
    columns: Optional[tuple[str, ...]] = None
    feature_separator: Optional[str] = None
    task: Optional[str] = word(TASKS)
    conllu_features: Optional[str] = word(FEATURE_SOURCES)
    keep_lexicon: bool = False
    settings: dict[str, Any] = field(default_factory=dict, hash=False)  # explicit settings of network and training
    dynet_seed: Optional[int] = within(0, MAX_SEED)
    engine: Optional[str] = word(ENGINES)
    dynet_mem: Optional[int] = within(1, MOST_MEMORY)
    dynet_autobatch: Optional[int] = within(0, 1)
    reload_path: Optional[str] = None
    test_path: Optional[str] = None
    split_by: Optional[str] = word(UNITS)
    split_seed: Optional[int] = within(0)
    verbose: Optional[int] = within(0, 9)
    force: bool = False

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.results)

    @property
    def reading(self) -> ReadOptions:
        given = {**self._preset(ModelSettings), **self.settings}
        return read_options(self.sigm2017format, self.no_feat_format, self.columns, self.feature_separator,
                            given.get("unicode", AS_IS), symbol_separators(*map(given.get, SEPARATORS)), self.task,
                            self.conllu_features)

    @property
    def splitting(self) -> Optional[Splitting]:
        """How the training file is split; None if there is a development file."""
        if self.dev is not None:
            return None
        return Splitting(SHARES if self.test_path is None else WITH_TEST,
                         1 if self.split_seed is None else self.split_seed, self.split_by)

    @property
    def training(self) -> TrainingSettings:
        given = {**self._preset(TrainingSettings), **self.explicit(TrainingSettings)}
        if given.get("il_decay") == "exponential":
            given.setdefault("il_k", EXPONENTIAL_K)
        return TrainingSettings(**given)

    @property
    def network(self) -> dict[str, Any]:
        """The requested settings of the network: from a preset, from an architecture, or given one by one."""
        given, sizes = self._given(), self.tied_sizes
        return {**given, **dict.fromkeys(_tied(given), next(iter(sizes.values())))} if sizes else given

    @property
    def tied_sizes(self) -> dict[str, int]:
        """The requested sizes of embeddings that must be equally large; the first is the size of all.

        The sizes of a preset count only if none is given explicitly.
        """
        given = self._given()
        names = [name for name in _tied(given) if name in self.settings] or _tied(given)
        return {name: given[name] for name in names if name in given}

    def explicit(self, settings: type) -> dict[str, Any]:
        """The settings of this class that are given one by one."""
        return {name: value for name, value in self.settings.items() if name in _names(settings)}

    def _preset(self, settings: type) -> dict[str, Any]:
        preset = PRESETS[self.model or DEFAULT_MODEL]
        return {name: value for name, value in preset.items() if name in _names(settings)}

    def _given(self) -> dict[str, Any]:
        """The requested settings before tying. With a model to start from, a preset requests only its kind."""
        explicit, preset = self.explicit(ModelSettings), self._preset(ModelSettings)
        if self.reload_path is not None:
            preset = {name: preset[name] for name in preset if self.model and name in ("architecture", "transducer")}
        fmt = self.reading.format
        kind = kind_named({**preset, **explicit}.get("architecture", TRANSDUCER))
        return {**preset, **kind.fixed, **explicit, **({"format": fmt.name} if fmt else {})}

    def with_settings(self, **settings: Any) -> RunSpec:
        return replace(self, settings={**self.settings, **settings})

    def for_data(self, lines: int) -> RunSpec:
        """The same run with the settings of --model=best for this many training lines; explicit settings win."""
        return replace(self, settings={**recipe_for(lines), **self.settings}) if self.model == BEST else self

    def flags(self) -> list[str]:
        """The flags of `il-morph train` that request the same."""
        words: list[str] = []
        for name in (each.name for each in fields(self) if each.name not in PATHS):
            value = getattr(self, name)
            if name == "settings":
                words += [flag(setting, given) for setting, given in value.items()]
            elif value is not None and value is not False:
                words.append(flag(name, value))
        return words

    def argv(self) -> list[str]:
        """The arguments of `il-morph` that train this."""
        paths = [path for path in (self.train, self.dev, self.results) if path is not None]
        end = ["--"] if any(path.startswith("-") and path != "-" for path in paths) else []
        return ["train", *self.flags(), *end, *paths]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunSpec:
        """The run that gave this `as_dict`, even after a round trip through JSON."""
        settings = {name: _frozen(value) for name, value in values["settings"].items()}
        return cls(**{**{name: _frozen(value) for name, value in values.items()}, "settings": settings})


SETTINGS: dict[str, Field] = {name: each for name, each in declarations().items() if name != "format"}
OTHERS: dict[str, Field] = {each.name: each for each in fields(RunSpec) if each.name not in (*PATHS, "settings")}


@dataclass(frozen=True)
class Task:
    """A run among several. Runs of one kind are expected to take equally long."""

    spec: RunSpec
    title: str  # for people
    kind: str

    @property
    def folder(self) -> RunFolder:
        return self.spec.folder

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Task:
        return cls(RunSpec.from_dict(values["spec"]), values["title"], values["kind"])


Job = list[Task]  # runs to train one after the other: the second starts from the model of the first


def flag(name: str, value: Any = True) -> str:
    """A flag of the command line: `--force`, `--no-pos-emb`, `--il-k=6`, `--align-cls`."""
    if name == "aligner":
        return f"--align-{value}"
    if isinstance(value, bool):
        return flag_of(name) if value else f"--no-{flag_of(name)[2:]}"
    listed = (value or (0,)) if isinstance(value, tuple) else (value,)  # an empty list of beam widths is written as 0
    return f"{flag_of(name)}={','.join(map(_shown, listed))}"


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def _tied(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The sizes of embeddings that must be equal in a network with these settings."""
    settings = ModelSettings(**given)
    return settings.kind.tied if settings.param_tying else ()


def _names(settings: type) -> set[str]:
    return {each.name for each in fields(settings)}


def _shown(value: Any) -> str:
    text = str(value)
    return text[:-len(".0")] if isinstance(value, float) and text.endswith(".0") else text


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
