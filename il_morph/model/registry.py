"""The registry of architectures: everything specific to an architecture, by name.

The paper's transducer is part of the core. The systems that the paper cites are packages in il_morph/cited, imported
on demand: to add one, write a package with a `KIND` and add a line to CITED.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, Callable, Optional

from il_morph.data.formats import Parts, Sample
from il_morph.errors import InputError
from il_morph.transitions.systems import TransitionSystem

TRANSDUCER = "transducer"
CITED = {
    "soft": "il_morph.cited.soft",
    "hacm": "il_morph.cited.hacm",
    "haem-2017": "il_morph.cited.haem2017",
    "nwfst": "il_morph.cited.nwfst",
    "med": "il_morph.cited.gru.med",
    "lem": "il_morph.cited.gru.lem",
}
ARCHITECTURES = (TRANSDUCER, *CITED)


class ArchitectureKind:
    """Everything that depends on the architecture; the defaults are those of the transducer.

    Settings, vocabularies, objectives and engines are typed `Any`, because their modules use this one.
    """

    architecture: Callable[[Any], Any]  # makes the architecture for a vocabulary
    inference: Callable[[Any, Any], Any]  # makes the inference for weights and a vocabulary
    system: Optional[TransitionSystem] = None  # None: the one that --transducer names
    preset: dict[str, Any] = {}  # the settings of --model=NAME
    fixed: dict[str, Any] = {}  # settings that allow no other value
    tied: tuple[str, ...] = ("input", "action_input")  # sizes that must be equal with parameter tying
    reads_features: bool = False  # does the encoder read the features of a sample, as a sequence?
    reads_outputs: bool = False  # does the network read the characters that it has written?
    learns_unseen_inputs: bool = True  # can a reloaded model be trained on input characters that it does not know?

    def check(self, settings: Any) -> None:
        """Raise an InputError for model settings that do not fit each other."""

    def vocabulary_samples(self, parts: Parts) -> Sequence[Sample]:
        """The samples whose symbols make up the vocabulary."""
        return parts.train

    def objective(self) -> Optional[Any]:
        """The architecture's own objective, which needs no gold sequences; None: the one that --mode names."""

    def engine(self) -> Optional[Any]:
        """An engine for this architecture alone; None: the one that --engine names."""

    def dynet_network(self, vocabulary: Any) -> Optional[Any]:
        """The network in DyNet; None: the transducer's."""

    def dynet_step_floats(self, settings: Any, places: int) -> int:
        """The floats that a decoder step adds to DyNet's graph beyond the transducer's, for this number of places."""
        return 0


@cache
def kind_named(name: str) -> ArchitectureKind:
    module = CITED.get(name, "il_morph.model.architectures")
    try:
        return import_module(module).KIND
    except ImportError as error:
        raise InputError(f"--architecture={name} needs the package {module}, which cannot be imported here ({error}): "
                         "install all of il-morph, or choose another architecture") from error
