"""What is allowed: every rule about a run that involves more than one value, checked before anything is built."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from il_morph.data.formats import Parts, format_named
from il_morph.engines import choose_engine, engine_named
from il_morph.errors import InputError
from il_morph.files import STREAM
from il_morph.model.registry import TRANSDUCER
from il_morph.model.settings import ALL, SEPARATORS, ModelSettings, TrainingSettings
from il_morph.runs.spec import RunSpec, flag, flag_of
from il_morph.training.augmentation import most_fakes
from il_morph.training.engine import Engine
from il_morph.training.phases import phases_of
from il_morph.transitions.systems import EditSystem

DYNET_MEMORY = 512  # MB
TIED_WHY = {"action_input": "characters and actions share their embeddings: make them equal or use --no-param-tying",
            "feat_input": "the encoder reads characters and features alike: make them equal"}


def check_spec(spec: RunSpec) -> None:
    """Check all that can be checked before the data, and the model to start from, are read."""
    _check_split(spec)
    _check_network(spec)
    _check_schedule(spec)


def check_seeds(spec: RunSpec) -> None:
    """Refuse what trainings for several seeds cannot have."""
    if spec.dynet_seed is not None:
        raise InputError("--seeds and --dynet-seed exclude each other: give one of them")
    if spec.training.mode == "eval":
        raise InputError("--seeds trains models, --mode=eval does not: leave out one of them")
    if STREAM in (spec.dev, spec.test_path) or (spec.train == STREAM and spec.dev is not None):
        raise InputError("--seeds: several trainings cannot read the standard input: give the path of a file instead "
                         f"of {STREAM}")


def check_folds(spec: RunSpec, seeds: Optional[Sequence[int]]) -> None:
    """Refuse what does not fit cross-validation, which cuts one file itself."""
    if seeds is not None:
        raise InputError("--folds and --seeds exclude each other: give one of them")
    if spec.dev is not None:
        raise InputError("--folds cuts one file into training and development data: give FILE and RESULTS-PATH alone")
    if STREAM in (spec.train, spec.test_path):
        raise InputError("--folds: several trainings cannot read the standard input: give the path of a file instead "
                         f"of {STREAM}")


def check_reloaded(spec: RunSpec, model: ModelSettings) -> None:
    """Refuse settings that contradict the model of --reload-path."""
    for name, value in spec.network.items():
        trained = getattr(model, name)
        if trained != value and name == "format":
            raise InputError(f"the model {spec.reload_path} reads the {trained} format ({format_named(trained).flag}), "
                             f"not {value} ({format_named(value).flag}): choose the format of the model")
        if trained != value:
            asked, quote = flag(name, value).split("=")[0], '"' if name in SEPARATORS else ""
            raise InputError(f"{asked}: the model {spec.reload_path} was trained with {quote}{trained}{quote}, not "
                             f"{quote}{value}{quote}; leave it out, or the --model that sets it")


def check_symbols(spec: RunSpec, parts: Parts) -> None:
    """Refuse a separator or boundary that only the preset names and no output has: the data is of another kind."""
    named = any(name in spec.settings for name in SEPARATORS)
    for complaint in [] if named or spec.reload_path is not None else parts.separators.warnings(parts.train):
        raise InputError(f"{spec.train}: --model={spec.model} expects other data: {complaint}")


def checked_engine(spec: RunSpec, model: ModelSettings) -> Engine:
    """The engine that trains this model, not started yet. All settings of the model are known once the data is read."""
    asked = spec.engine, spec.dynet_mem or DYNET_MEMORY, bool(spec.dynet_autobatch)
    if spec.training.mode == "eval":
        return engine_named(*asked)
    _check_objective(spec, model)
    engine = choose_engine(model, *asked)
    engine.refuse(model, spec.training)
    return engine


def _check_split(spec: RunSpec) -> None:
    asked = [flag_of(name) for name in ("split_by", "split_seed") if getattr(spec, name) is not None]
    if asked and spec.dev is not None:
        raise InputError(f"{asked[0]} is about one file that is split: give FILE and RESULTS-PATH alone, or leave the "
                         "flag out")
    if spec.dev is None and spec.training.mode == "eval":
        raise InputError("--mode=eval decodes DEV-PATH and splits nothing: give TRAIN-PATH, DEV-PATH and RESULTS-PATH")


def _check_network(spec: RunSpec) -> None:
    settings, sizes = ModelSettings(**spec.network), spec.tied_sizes
    if spec.reload_path is None:
        _check_architecture(settings)
    if settings.avm_feat_format and not settings.feat_input:
        raise InputError("--feat-input=0 takes the features as a bag, --avm-feat-format as slots with embeddings: "
                         "leave out one of them")
    first = next(iter(sizes), "")
    for name in sizes:
        if sizes[name] != sizes[first]:
            raise InputError(f"{flag(first, sizes[first])} and {flag(name, sizes[name])} differ, but {TIED_WHY[name]}")


def _check_architecture(settings: ModelSettings) -> None:
    for name in settings.misfits:
        raise InputError(f"--architecture={settings.architecture} leaves no choice in {flag_of(name)}: leave the flag "
                         "out")
    settings.kind.check(settings)


def _check_schedule(spec: RunSpec) -> None:
    """Check the mode, and the settings of pre-training, augmentation and trials."""
    training = spec.training
    if training.il_decay == "exponential" and training.il_k >= 1:
        raise InputError(f"--il-k takes a number between 0 and 1 with --il-decay=exponential, not {training.il_k:g}")
    if training.il_prefixes == ALL:
        _check_prefixes(training)
    if training.mode == "eval" and spec.reload_path is None:
        raise InputError("--mode=eval needs a model: give its path with --reload-path")
    if training.mode in ("mrt", "rl") and not (spec.reload_path or training.pretrain_epochs or training.pretrain_until):
        raise InputError(f"--mode={training.mode} starts from a trained model: give one with --reload-path, or train "
                         "it in the same run with --pretrain-epochs or --pretrain-until")
    if most_fakes(training.augment) and not {phase.mode for phase in phases_of(training)} <= {"il", "eval"}:
        raise InputError("--augment makes samples for --mode=il alone, without --pretrain-epochs and --pretrain-until: "
                         "gold sequences are those of the training data; leave it out, or with --model=best switch it "
                         "off with --augment=0")
    if training.trials > 1 and len(phases_of(training)) != training.trials:
        raise InputError("--trials starts each training anew, --pretrain-epochs and --pretrain-until have one before "
                         "it: leave out one of them, or give the trials a trained model with --reload-path")


def _check_prefixes(training: TrainingSettings) -> None:
    """With --il-prefixes=all, refuse options that assume that the expert counts one place in the target."""
    others = {"--il-rules=program": training.il_rules == "program",
              "--no-il-optimal-oracle": not training.il_optimal_oracle, "--il-bias-inserts": training.il_bias_inserts}
    for other, given in others.items():
        if given:
            raise InputError(f"--il-prefixes=all and {other} exclude each other: leave out one of them")


def _check_objective(spec: RunSpec, model: ModelSettings) -> None:
    """Refuse a mode that does not train the architecture or the transition system."""
    if model.architecture != TRANSDUCER and {phase.mode for phase in phases_of(spec.training)} != {"mle"}:
        raise InputError(f"--mode={spec.training.mode}: a model with --architecture={model.architecture} is trained "
                         "with --mode=mle alone")
    if spec.training.mode == "il" and not model.system.has_expert:
        raise InputError(f"--mode=il needs --transducer={EditSystem.name} or substitute: the expert knows COPY, "
                         "DELETE, INSERT, SUBSTITUTE and END; train the hard-attention system with --mode=mle")
