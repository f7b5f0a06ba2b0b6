"""Settings that have no effect in the requested training.

The authors' program takes all settings in every mode, and scripts written for it give them: that is no error, but
deserves a warning.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Callable

from il_morph.engines import DYNET, default_engine
from il_morph.model.settings import PLATEAU, WARMUP_DECAY, ModelSettings, TrainingSettings
from il_morph.runs.spec import RunSpec, flag
from il_morph.training.phases import phases_of

Holds = Callable[[TrainingSettings, ModelSettings], bool]


def in_modes(*modes: str) -> Holds:
    return lambda training, model: any(phase.mode in modes for phase in phases_of(training))


IMITATION = tuple(name for name in TrainingSettings.__dataclass_fields__ if name.startswith("il_"))
GOLD = ("aligner", "iterations", "try_reverse")
RULES: tuple[tuple[tuple[str, ...], str, Holds], ...] = (  # settings, what they belong to, and whether the run has that
    (IMITATION, "--mode=il", in_modes("il")),
    (("il_rollout_loss",), "roll-outs of the model, --il-beta below 1", lambda training, model: training.il_beta < 1),
    (GOLD, "gold sequences, of --mode=mle, mrt and rl, and of pre-training", in_modes("mle", "mrt", "rl")),
    (GOLD, "gold sequences, which this --architecture does not have",
     lambda training, model: model.kind.objective() is None),
    (("iterations",), "--align-smart", lambda training, model: training.aligner == "smart"),
    (("mle_loss",), "--mode=mle and pre-training", in_modes("mle")),
    (("pretrain_dropout",), "--pretrain-epochs and --pretrain-until",
     lambda training, model: bool(training.pretrain_epochs or training.pretrain_until)),
    (("sample_size", "beta"), "--mode=mrt and rl", in_modes("mrt", "rl")),
    (("alpha", "mrt_action_cost"), "--mode=mrt", in_modes("mrt")),
    (("no_baseline", "scale_negative"), "--mode=rl", in_modes("rl")),
    (("lr_warmup",), f"--lr-schedule={WARMUP_DECAY}", lambda training, model: training.lr_schedule == WARMUP_DECAY),
    (("lr_decay", "lr_patience"), f"--lr-schedule={PLATEAU}", lambda training, model: training.lr_schedule == PLATEAU),
    (("nonlin",), "--mlp", lambda training, model: model.mlp > 0),
    (("lucky_w",), "--feat-input=0", lambda training, model: model.feat_input == 0),
)
OF_DECODING = {"mode", "beam_widths", "decbatch_size"}  # settings that --mode=eval uses, too


def unused(spec: RunSpec) -> Iterator[str]:
    """A sentence for each explicit setting without effect. A model to start from fixes the network settings: they are
    not checked."""
    training, model = spec.training, ModelSettings(**spec.network)
    settings = [TrainingSettings] if spec.reload_path else [TrainingSettings, ModelSettings]
    for name, value in [item for each in settings for item in spec.explicit(each).items()]:
        other = _belongs_to(name, training, model)
        if other:
            yield f"{flag(name, value).split('=')[0]} has no effect here: it belongs to {other}"
    if spec.dynet_mem is not None and (spec.engine or default_engine()) != DYNET:
        yield "--dynet-mem has no effect here: it belongs to --engine=dynet"


def _belongs_to(name: str, training: TrainingSettings, model: ModelSettings) -> str:
    """What a setting belongs to, if this training does not have it."""
    if training.mode == "eval" and name in TrainingSettings.__dataclass_fields__:
        return "" if name in OF_DECODING else "training, and --mode=eval trains nothing"
    return next((other for names, other, holds in RULES if name in names and not holds(training, model)), "")
