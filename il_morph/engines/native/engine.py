"""The native engine: needs NumPy only, and is compiled where Numba is installed."""

from __future__ import annotations

import atexit
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from tempfile import mkdtemp
from types import ModuleType
from typing import Optional

import numpy as np

from il_morph.engines.native.learner import NativeLearner
from il_morph.errors import InputError
from il_morph.limits import require_compiler
from il_morph.model.registry import TRANSDUCER
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.threads import use_one_thread
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.engine import Objective

HINT = "; those of Numba are several times as fast: pip install numba"

log = logging.getLogger(__name__)


def fastest_kernels(modules: str = "il_morph.engines.native.kernels") -> ModuleType:
    """The module `{modules}_numba` if Numba is installed, else `{modules}_numpy`."""
    try:
        require_compiler()
        return import_module(f"{modules}_numba")
    except ImportError:
        return import_module(f"{modules}_numpy")
    except (OSError, MemoryError):
        log.warning("there is too little memory for Numba: going on without it")
        return import_module(f"{modules}_numpy")
    except RuntimeError:  # Numba finds no folder for its cache, neither the package's nor the user's
        numba_config = import_module("numba").config
        numba_config.CACHE_DIR = mkdtemp(prefix="il-morph-numba-")
        atexit.register(shutil.rmtree, numba_config.CACHE_DIR, ignore_errors=True)
        return import_module(f"{modules}_numba")


@dataclass
class NativeEngine:
    """Trains without DyNet, with the fastest kernels available unless `kernels` are given."""

    kernels: Optional[ModuleType] = None
    random: Optional[np.random.RandomState] = field(default=None, compare=False)
    name = "native"
    resumable = True

    @property
    def kernels_name(self) -> str:
        return (self.kernels or fastest_kernels()).NAME

    def refuse(self, model: ModelSettings, training: TrainingSettings) -> None:
        if model.architecture != TRANSDUCER:
            raise InputError("the native engine trains the paper's transducer, not "
                             f"--architecture={model.architecture}: train with --engine=dynet")
        asked = {"--dec-layers": model.dec_layers > 1, "--mlp": model.mlp > 0}
        flags = [flag for flag, is_asked in asked.items() if is_asked]
        if flags:
            raise InputError("the native engine has one decoder layer and no hidden layer: leave out "
                             f"{', '.join(flags)}, or train with --engine=dynet (a --model may set such flags, too)")

    def start(self, vocabulary: Vocabulary, training: TrainingSettings, train: Sequence[Instance], seed: int) -> None:
        """Reserves no memory; the seed drives dropout only."""
        self.refuse(vocabulary.settings, training)
        self.random = np.random.RandomState(seed)
        self.kernels = self.kernels or fastest_kernels()
        log.info("native engine: kernels of %s%s", self.kernels.NAME, HINT if self.kernels.NAME == "NumPy" else "")
        if self.kernels.USES_BLAS:
            use_one_thread()

    def learner(self, vocabulary: Vocabulary, objective: Objective, training: TrainingSettings) -> NativeLearner:
        return NativeLearner(vocabulary, objective, training, self.kernels or fastest_kernels(), self.random)
