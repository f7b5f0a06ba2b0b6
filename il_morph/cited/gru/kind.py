"""What the architectures MED and LEM share."""

from __future__ import annotations

from typing import Any

import numpy as np

from il_morph.cited.gru.inference import GruArchitecture, GruInference
from il_morph.cited.gru.system import CharacterSystem
from il_morph.model.inference import Weights
from il_morph.model.registry import ArchitectureKind
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.systems import EditSystem

UNUSED = ("feat_input", "avm_feat_format", "vanilla_lstm", "mlp", "nonlin", "lucky_w", "tag_wraps")  # keep the default
SIZES = {"input": 300, "action_input": 300, "enc_hidden": 100, "dec_hidden": 100,
         "mode": "mle", "mle_loss": "sum", "aligner": "dumb", "beam_widths": (4, 12)}


class GruKind(ArchitectureKind):
    """MED or LEM. They have an engine of their own, which computes the samples of a batch together."""

    fixed = {"transducer": EditSystem.name, "pos_emb": False, "param_tying": False,
             **{name: getattr(ModelSettings, name) for name in UNUSED}}
    tied = ()
    reads_features = True
    from_mean: bool  # does the decoder start from the mean of the encoded places? else: from the backward encoder's end
    normalised: bool  # are matrices trained as lengths and directions?
    by_length: bool  # are hypotheses ranked by their log probability per action?

    def __init__(self, name: str):
        self.name, self.system = name, CharacterSystem(name)

    def draw_weight(self, name: str, shape: tuple[int, ...], random: np.random.RandomState) -> np.ndarray:
        """The initial values of a weight."""
        raise TypeError("each system has its own")

    def architecture(self, vocabulary: Vocabulary) -> GruArchitecture:
        return GruArchitecture(vocabulary, self.from_mean, self.draw_weight)

    def inference(self, weights: Weights, vocabulary: Vocabulary) -> GruInference:
        return GruInference(weights, vocabulary, self.from_mean, self.by_length)

    def engine(self) -> Any:
        from il_morph.cited.gru.learner import GruEngine

        return GruEngine(self.name, self.from_mean, self.normalised)
