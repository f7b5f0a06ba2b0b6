"""NWFST: a lattice of edits with neural weights (Rastogi, Cotterell & Eisner 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from il_morph.cited.nwfst.inference import LETTERS, NwfstArchitecture, NwfstInference
from il_morph.data.formats import Parts, Sample
from il_morph.model.registry import ArchitectureKind
from il_morph.model.settings import GREEDY, ModelSettings
from il_morph.transitions.systems import EditSystem

UNUSED = ("feat_input", "action_input", "avm_feat_format", "dec_hidden", "dec_layers", "vanilla_lstm", "mlp", "nonlin",
          "lucky_w", "tag_wraps", "param_tying")  # settings that keep their defaults


class Nwfst(ArchitectureKind):
    """NWFST. It has an engine of its own, which sums over all paths and so needs no gold sequences."""

    architecture, inference = NwfstArchitecture, NwfstInference
    preset = {**GREEDY, "mle_loss": "sum", "input": 10, "enc_hidden": 15, "enc_layers": 4, "optimization": "SGD",
              "sample_order": "length", "pick_ties": "later", "epochs": 1000, "patience": 100, "trials": 3}
    fixed = {"transducer": EditSystem.name, "pos_emb": False,
             **{name: getattr(ModelSettings, name) for name in UNUSED}}
    tied = ()
    learns_unseen_inputs = False

    def vocabulary_samples(self, parts: Parts) -> Sequence[Sample]:
        """All samples of train, dev and test, and a–z: the model knows their characters."""
        letters = Sample(parts.separators.input.join(LETTERS), "", None)
        return [*parts.train, *parts.dev, *(parts.test or []), letters]

    def objective(self) -> Any:
        from il_morph.cited.nwfst.learner import AllPaths

        return AllPaths()

    def engine(self) -> Any:
        from il_morph.cited.nwfst.learner import NwfstEngine

        return NwfstEngine()


KIND = Nwfst()
