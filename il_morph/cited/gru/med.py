"""MED: the encoder–decoder of Kann & Schütze (2016)."""

from __future__ import annotations

import numpy as np

from il_morph.cited.gru.inference import is_matrix, is_table
from il_morph.cited.gru.kind import SIZES, GruKind

DEVIATION = 0.1


class Med(GruKind):
    preset = {**SIZES, "enc_layers": 1, "dec_layers": 1, "batch_size": 20, "epochs": 20, "patience": 20}
    from_mean, normalised, by_length = False, False, False

    def draw_weight(self, name: str, shape: tuple[int, ...], random: np.random.RandomState) -> np.ndarray:
        """Square matrices are identities, one per gate side by side; biases are 0, all other weights Gaussian."""
        if is_matrix(name) and shape[-1] % shape[-2] == 0 and (name.endswith(".h") or shape[-1] == shape[-2]):
            return np.broadcast_to(np.tile(np.eye(shape[-2]), shape[-1] // shape[-2]), shape)
        if is_matrix(name) or is_table(name) or name == "attention.v":
            return random.normal(0, DEVIATION, shape)
        return np.zeros(shape)


KIND = Med("med")
