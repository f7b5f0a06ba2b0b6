"""SOFT: the encoder–decoder with soft attention of Aharoni & Goldberg (2017)."""

from __future__ import annotations

from typing import Any

from il_morph.cited.soft.inference import SoftArchitecture, SoftInference
from il_morph.cited.soft.system import WritingSystem
from il_morph.model.registry import ArchitectureKind
from il_morph.model.settings import SIZES_2017, ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.systems import EditSystem


class Soft(ArchitectureKind):
    architecture, inference, system = SoftArchitecture, SoftInference, WritingSystem()
    preset = {**SIZES_2017, "feat_input": 300, "aligner": "dumb", "mle_loss": "sum", "pick_ties": "later"}
    fixed = {"transducer": EditSystem.name, "pos_emb": False, "avm_feat_format": True, "mlp": 0, "nonlin": "ReLU",
             "lucky_w": 55.0, "tag_wraps": "both", "param_tying": True}
    tied = ("input", "action_input", "feat_input")
    reads_features = True

    def dynet_network(self, vocabulary: Vocabulary) -> Any:
        from il_morph.cited.soft.network import SoftNetwork

        return SoftNetwork(vocabulary)

    def dynet_step_floats(self, settings: ModelSettings, places: int) -> int:
        """Attention to all places, and the input of the classifier."""
        return 4 * places * settings.dec_hidden + 4 * (settings.dec_hidden + 2 * settings.enc_hidden)


KIND = Soft()
