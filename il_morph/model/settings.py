"""Settings: what a model is (kept in its file) and how it is trained (kept in f.stats)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from il_morph.data.formats import FORMATS, DataFormat


@dataclass(frozen=True)
class ModelSettings:
    """The shape of the network and the data it reads. Names are those of the flags."""

    format: str = "sigmorphon2016"
    transducer: str = "haem"
    input: int = 100
    feat_input: int = 20
    action_input: int = 100
    pos_emb: bool = True
    avm_feat_format: bool = False
    enc_hidden: int = 200
    dec_hidden: int = 200
    enc_layers: int = 1
    dec_layers: int = 1
    vanilla_lstm: bool = False
    mlp: int = 0
    nonlin: str = "ReLU"
    lucky_w: float = 55.0
    tag_wraps: str = "both"
    param_tying: bool = True

    @property
    def data_format(self) -> DataFormat:
        return FORMATS[self.format]

    @property
    def embeds_pos(self) -> bool:
        """In a bag of features the POS is one of the features."""
        return self.pos_emb and self.feat_input > 0

    @classmethod
    def from_dict(cls, values: dict) -> "ModelSettings":
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(f"unknown settings: {', '.join(unknown)}")
        return cls(**values)

    def as_dict(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class TrainingSettings:
    """How to train. Names are those of the flags."""

    mode: str = "il"
    epochs: int = 50
    patience: int = 10
    pick_loss: bool = False
    optimization: str = "ADADELTA"
    batch_size: int = 1
    decbatch_size: int = 128
    dropout: float = 0.0
    l2: float = 0.0
    beam_width: int = 0
    beam_widths: tuple[int, ...] = (4,)
    il_loss: str = "nll"
    il_decay: str = "inverse-sigmoid"
    il_k: float = 12.0
    il_tforcing_epochs: int = 0
    il_beta: float = 0.5
    il_global_rollout: bool = True
    il_optimal_oracle: bool = True
    il_bias_inserts: bool = False
    il_rollin: str = "best"
    il_rollout_loss: str = "edits"
    aligner: str = "smart"
    iterations: int = 150
    try_reverse: bool = False
    pretrain_epochs: int = 0
    pretrain_until: float = 0.0
    pretrain_dropout: float = 0.0
    sample_size: int = 20
    alpha: float = 1.0
    beta: float = 1.0
    no_baseline: bool = False
    scale_negative: float = 1.0

    def as_dict(self) -> dict:
        return asdict(self)
