"""HAEM of Makarov et al. (2017): an edit model that reads what it has written, deleted and done so far."""

from __future__ import annotations

from typing import Any

from il_morph.cited.haem2017.inference import HaemArchitecture, HaemInference
from il_morph.cited.haem2017.system import EditSystem2017
from il_morph.errors import InputError
from il_morph.model.registry import ArchitectureKind
from il_morph.model.settings import GREEDY, ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.systems import EditSystem


class Haem2017(ArchitectureKind):
    architecture, inference, system = HaemArchitecture, HaemInference, EditSystem2017()
    preset = {**GREEDY, "mlp": 200, "epochs": 60, "patience": 30}
    fixed = {"transducer": EditSystem.name, "pos_emb": False, "avm_feat_format": False, "feat_input": 0,
             "tag_wraps": "close", "param_tying": False}
    tied = ()
    reads_outputs = True

    def check(self, settings: ModelSettings) -> None:
        if not settings.mlp:
            raise InputError(f"--architecture={settings.architecture} has a hidden layer: give its size with --mlp")

    def dynet_network(self, vocabulary: Vocabulary) -> Any:
        from il_morph.cited.haem2017.network import HaemNetwork

        return HaemNetwork(vocabulary)

    def dynet_step_floats(self, settings: ModelSettings, places: int) -> int:
        """Two more stacks of layers, one of the size of the action embeddings, and the encoder's states."""
        from il_morph.engines.dynet.memory_estimate import NODES_PER_STEP

        width = settings.dec_hidden + settings.action_input
        return settings.dec_layers * NODES_PER_STEP * width + 4 * settings.enc_hidden


KIND = Haem2017()
