"""DyNet: the engine of the paper, and the reference."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from il_morph.engines.dynet.memory_estimate import check_memory, megabytes_needed
from il_morph.errors import InputError
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.training.augmentation import most_fakes
from il_morph.training.engine import Learner, Objective

log = logging.getLogger(__name__)


@dataclass
class DynetEngine:
    """Trains with DyNet, which reads its settings only once, when `start` imports it."""

    mem: int = 512
    autobatch: bool = False
    name = "dynet"
    resumable = False
    kernels_name = None

    def refuse(self, model: ModelSettings, training: TrainingSettings) -> None:
        """DyNet refuses nothing."""

    def start(self, vocabulary: Vocabulary, training: TrainingSettings, train: Sequence[Instance], seed: int) -> None:
        start_dynet(seed, self._memory(vocabulary, training, train), self.autobatch)

    def _memory(self, vocabulary: Vocabulary, training: TrainingSettings, train: Sequence[Instance]) -> int:
        longest = max(len(instance.sample.input) for instance in train)
        samples = len(train) + most_fakes(training.augment)
        needed = megabytes_needed(vocabulary, training, longest, samples, self.autobatch)
        check_memory(needed, "the network and the samples in one update need")
        if needed > self.mem:
            log.info("--dynet-mem: %d MB instead of %d, as long sequences may need them", needed, self.mem)
        return max(needed, self.mem)

    def learner(self, vocabulary: Vocabulary, objective: Objective, training: TrainingSettings) -> Learner:
        from il_morph.engines.dynet.learner import DynetLearner
        from il_morph.engines.dynet.network import network_of

        return DynetLearner(network_of(vocabulary), objective, training)


def start_dynet(seed: int, mem: int = 512, autobatch: bool = False) -> None:
    """Configure and import DyNet, which would otherwise read its settings from sys.argv."""
    check_memory(mem, "--dynet-mem asks for")
    try:
        import dynet_config

        dynet_config.set(random_seed=seed, mem=mem, autobatch=int(autobatch))
        with arguments_hidden():
            import dynet
    except ImportError as error:
        raise InputError("training needs DyNet, which is not installed here: pip install dyNET38") from error
    dynet.reset_random_seed(seed)


@contextmanager
def arguments_hidden() -> Iterator[None]:
    arguments, sys.argv = sys.argv, sys.argv[:1]
    try:
        yield
    finally:
        sys.argv = arguments
