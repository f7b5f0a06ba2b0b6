"""Settings that have no effect in the training that is asked for.

The authors' program takes them all in every mode, and scripts that were written for it give them: they are no error,
but worth a word.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable

from il_morph.engines import DYNET, default_engine
from il_morph.model.settings import PLATEAU, WARMUP_DECAY, ModelSettings, TrainingSettings
from il_morph.runs.spec import RunSpec, flag
from il_morph.training.phases import phases_of


@dataclass(frozen=True)
class FlagContext:
    """What decides whether a flag has an effect."""

    settings: TrainingSettings
    model: ModelSettings

    @property
    def modes(self) -> set[str]:
        return {phase.mode for phase in phases_of(self.settings)}

    @property
    def is_pretrained(self) -> bool:
        return bool(self.settings.pretrain_epochs or self.settings.pretrain_until)


@dataclass(frozen=True)
class FlagRule:
    """Settings, what they are of in words, and whether a training has it."""

    names: tuple[str, ...]
    of: str
    holds: Callable[[FlagContext], bool]


def of_modes(*modes: str) -> Callable[[FlagContext], bool]:
    return lambda training: bool(training.modes & {*modes})


IMITATION = tuple(name for name in TrainingSettings.__dataclass_fields__ if name.startswith("il_"))
RULES = (
    FlagRule(IMITATION, "--mode=il", of_modes("il")),
    FlagRule(("il_rollout_loss",), "roll-outs of the model, --il-beta below 1",
             lambda training: training.settings.il_beta < 1),
    FlagRule(("aligner", "iterations", "try_reverse"), "gold sequences, of --mode=mle, mrt and rl, and of pre-training",
             of_modes("mle", "mrt", "rl")),
    FlagRule(("aligner", "iterations", "try_reverse"), "gold sequences, which this --architecture does not have",
             lambda training: training.model.kind.objective() is None),
    FlagRule(("iterations",), "--align-smart", lambda training: training.settings.aligner == "smart"),
    FlagRule(("mle_loss",), "--mode=mle and pre-training", of_modes("mle")),
    FlagRule(("pretrain_dropout",), "--pretrain-epochs and --pretrain-until", lambda training: training.is_pretrained),
    FlagRule(("sample_size", "beta"), "--mode=mrt and rl", of_modes("mrt", "rl")),
    FlagRule(("alpha", "mrt_action_cost"), "--mode=mrt", of_modes("mrt")),
    FlagRule(("no_baseline", "scale_negative"), "--mode=rl", of_modes("rl")),
    FlagRule(("lr_warmup",), f"--lr-schedule={WARMUP_DECAY}",
             lambda training: training.settings.lr_schedule == WARMUP_DECAY),
    FlagRule(("lr_decay", "lr_patience"), f"--lr-schedule={PLATEAU}",
             lambda training: training.settings.lr_schedule == PLATEAU),
    FlagRule(("nonlin",), "--mlp", lambda training: training.model.mlp > 0),
    FlagRule(("lucky_w",), "--feat-input=0", lambda training: training.model.feat_input == 0),
)
OF_DECODING = {"mode", "beam_widths", "decbatch_size"}  # what --mode=eval has, too


def unused(spec: RunSpec) -> Iterator[str]:
    """A sentence for each setting that is asked for and has no effect. With a model to start from, its settings have
    none of their own."""
    training = FlagContext(spec.training, ModelSettings(**spec.network))
    settings = [TrainingSettings] if spec.reload_path else [TrainingSettings, ModelSettings]
    for name, value in [item for each in settings for item in spec.explicit(each).items()]:
        of = _belongs_to(name, training)
        if of:
            yield f"{flag(name, value).split('=')[0]} has no effect here: it is of {of}"
    if spec.dynet_mem is not None and (spec.engine or default_engine()) != DYNET:
        yield "--dynet-mem has no effect here: it is of --engine=dynet"


def _belongs_to(name: str, training: FlagContext) -> str:
    """What a setting is of, in words, if this training does not have it."""
    if training.settings.mode == "eval" and name in TrainingSettings.__dataclass_fields__:
        return "" if name in OF_DECODING else "training, and --mode=eval trains nothing"
    return next((rule.of for rule in RULES if name in rule.names and not rule.holds(training)), "")
