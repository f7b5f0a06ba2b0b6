"""HACM of Makarov et al. (2017): hard monotonic attention with a gate to copy."""

from __future__ import annotations

from typing import Any

from il_morph.cited.hacm.inference import HacmArchitecture, HacmInference
from il_morph.cited.hacm.system import UnmaskedHardAttentionSystem
from il_morph.model.registry import ArchitectureKind
from il_morph.model.settings import GREEDY
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.systems import HardAttentionSystem


class Hacm(ArchitectureKind):
    architecture, inference, system = HacmArchitecture, HacmInference, UnmaskedHardAttentionSystem()
    preset = {**GREEDY, "epochs": 50, "patience": 10}
    fixed = {"transducer": HardAttentionSystem.name, "mlp": 0, "nonlin": "ReLU", "tag_wraps": "both",
             "param_tying": True}

    def dynet_network(self, vocabulary: Vocabulary) -> Any:
        from il_morph.cited.hacm.network import HacmNetwork

        return HacmNetwork(vocabulary)


KIND = Hacm()
