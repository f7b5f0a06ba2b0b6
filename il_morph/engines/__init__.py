"""What turns an objective into an update of the weights."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import Optional

from il_morph.engines.dynet.engine import DynetEngine
from il_morph.errors import InputError
from il_morph.training.engine import Engine

log = logging.getLogger(__name__)

DYNET, NATIVE = ENGINES = ("dynet", "native")


def default_engine() -> str:
    """DyNet, as in the paper, where it is installed."""
    if find_spec("dynet_config") is not None:
        return DYNET
    log.info("DyNet is not installed here: training with --engine=%s", NATIVE)
    return NATIVE


def make_engine(name: Optional[str] = None, mem: int = 512, autobatch: bool = False) -> Engine:
    """The engine of this name; `mem` and `autobatch` are DyNet's."""
    name = name or default_engine()
    if name == DYNET:
        return DynetEngine(mem, autobatch)
    if autobatch:
        raise InputError("--dynet-autobatch is DyNet's: leave it out, or train with --engine=dynet")
    from il_morph.engines.native.engine import NativeEngine

    return NativeEngine()
