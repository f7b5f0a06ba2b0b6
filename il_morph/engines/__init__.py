"""What turns an objective into an update of the weights."""

from __future__ import annotations

from il_morph.engines.dynet.engine import DynetEngine
from il_morph.training.engine import Engine


def make_engine(mem: int = 512, autobatch: bool = False) -> Engine:
    return DynetEngine(mem, autobatch)
