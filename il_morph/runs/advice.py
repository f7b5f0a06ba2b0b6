"""Advice at the end of a training: at most two sentences on what to try next, based on how it went."""
from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice

from il_morph.engines import DYNET, NATIVE, engine_named
from il_morph.errors import InputError
from il_morph.model.settings import BY_LOSS, ModelSettings
from il_morph.runs.small_data import SMALL_DEV
from il_morph.runs.spec import RunSpec
from il_morph.training.history import History

FAR = 25.0  # points between the accuracies of training and development data
MOST = 2  # sentences


def advice(spec: RunSpec, model: ModelSettings, history: History, dev: int, engine: str) -> list[str]:
    """At most two sentences; `dev` is the number of development lines."""
    return list(islice(_all_advice(spec, model, history, dev, engine), MOST))


def _all_advice(spec: RunSpec, model: ModelSettings, history: History, dev: int, engine: str) -> Iterator[str]:
    best, last = history.best, history.epochs[-1]
    assert best is not None, "a training has at least one epoch"
    if best is last and last.epoch + 1 >= spec.training.epochs:
        yield (f"the last epoch is the best one, so more may help: --epochs={2 * spec.training.epochs}")
    if dev < SMALL_DEV:
        yield (f"{dev} dev line{'s' * (dev > 1)} cannot tell good models from bad ones: take more, or one file and "
               "--folds=5")
    if best.train_accuracy - best.dev_accuracy >= FAR:
        yield (f"train accuracy {best.train_accuracy:.0f}, dev accuracy {best.dev_accuracy:.0f}: the model knows its "
               "data but not new words; more data helps most, then --seeds=1-5, whose models vote")
    if engine == DYNET and find_spec("numba") and _native_trains(spec, model):
        yield "--engine=native learns the same three to four times as fast"


def kept(spec: RunSpec, history: History) -> str:
    """Which epoch was kept, and by which rule."""
    best, rules = history.best, {"earlier": "the first", "later": "the last", BY_LOSS: "the one with the lowest loss"}
    assert best is not None, "a training has at least one epoch"
    which = "the model it started from" if best.epoch == best.START else f"epoch {best.epoch}"
    if spec.training.pick_loss:
        return f"kept {which}, which has the lowest dev loss"
    return f"kept {which}: of epochs with the best dev accuracy, {rules[spec.training.pick_ties]}"


def _native_trains(spec: RunSpec, model: ModelSettings) -> bool:
    try:
        engine_named(NATIVE).refuse(model, spec.training)
    except InputError:
        return False
    return True
