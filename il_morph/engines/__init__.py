"""The engines, which turn an objective into updates of the weights, and the choice between them."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import Optional

from il_morph.engines.dynet.engine import DynetEngine
from il_morph.errors import InputError
from il_morph.model.settings import ModelSettings
from il_morph.training.engine import Engine

log = logging.getLogger(__name__)

DYNET, NATIVE = ENGINES = ("dynet", "native")


def default_engine() -> str:
    """DyNet, as in the paper, where it is installed."""
    return NATIVE if find_spec("dynet_config") is None else DYNET


def choose_engine(model: ModelSettings, asked: Optional[str] = None, mem: int = 512, autobatch: bool = False) -> Engine:
    """The engine that trains a model; an InputError if the model needs its own and another one is asked for.

    `mem` and `autobatch` are settings of DyNet.
    """
    own = model.kind.engine()
    if own is None:
        return engine_named(asked, mem, autobatch)
    if asked not in (None, own.name):
        raise InputError(f"--engine={asked} does not train --architecture={model.architecture}: leave out --engine")
    return own


def engine_named(name: Optional[str] = None, mem: int = 512, autobatch: bool = False) -> Engine:
    """The engine of this name, or the default one."""
    if name is None and default_engine() == NATIVE:
        log.info("DyNet is not installed here: training with --engine=%s", NATIVE)
    if (name or default_engine()) == DYNET:
        return DynetEngine(mem, autobatch)
    if autobatch:
        raise InputError("--dynet-autobatch is DyNet's: leave it out, or train with --engine=dynet")
    from il_morph.engines.native.engine import NativeEngine

    return NativeEngine()
