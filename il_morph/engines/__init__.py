"""What turns an objective into an update of the weights."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Optional

from il_morph.engines.dynet.engine import DynetEngine
from il_morph.errors import InputError
from il_morph.model.settings import NWFST, ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import Engine, Learner, Objective

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
    from il_morph.cited.nwfst.learner import NwfstEngine

    return EngineOfArchitecture({NWFST: NwfstEngine()}, step_engine(name or default_engine(), mem, autobatch), name)


def step_engine(name: str, mem: int, autobatch: bool) -> Engine:
    """The engine of architectures that take one action after the other."""
    if name == DYNET:
        return DynetEngine(mem, autobatch)
    if autobatch:
        raise InputError("--dynet-autobatch is DyNet's: leave it out, or train with --engine=dynet")
    from il_morph.engines.native.engine import NativeEngine

    return NativeEngine()


class EngineOfArchitecture:
    """Some architectures have an engine of their own. Which one a model has is known when it is there: see `refuse`."""

    def __init__(self, own: dict[str, Engine], otherwise: Engine, asked: Optional[str] = None):
        self.own, self.otherwise, self.asked = own, otherwise, asked
        self._take(otherwise)

    def _take(self, engine: Engine) -> None:
        self.engine, self.name, self.resumable = engine, engine.name, engine.resumable

    def refuse(self, model: ModelSettings, training: TrainingSettings) -> None:
        self._take(self.own.get(model.architecture, self.otherwise))
        if self.asked not in (None, self.name):
            raise InputError(f"--engine={self.asked} does not train --architecture={model.architecture}: "
                             "leave out --engine")
        self.engine.refuse(model, training)

    def start(self, vocabulary: Vocabulary, training: TrainingSettings, train: Sequence[Instance], seed: int) -> None:
        self.engine.start(vocabulary, training, train, seed)

    def learner(self, vocabulary: Vocabulary, objective: Objective, training: TrainingSettings) -> Learner:
        return self.engine.learner(vocabulary, objective, training)
