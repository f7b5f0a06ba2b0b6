"""LEM: Lematus, the lemmatizer of Bergmanis & Goldwater (2018), without context."""

from __future__ import annotations

import numpy as np

from il_morph.cited.gru.inference import is_matrix, is_table
from il_morph.cited.gru.kind import SIZES, GruKind

DEVIATION = 0.01


class Lem(GruKind):
    preset = {**SIZES, "enc_layers": 2, "dec_layers": 2, "batch_size": 60, "dropout": 0.2, "epochs": 100,
              "patience": 10}
    from_mean, normalised, by_length = True, True, True

    def draw_weight(self, name: str, shape: tuple[int, ...], random: np.random.RandomState) -> np.ndarray:
        """Matrix columns have length 1; biases are 0, all other weights Gaussian."""
        if is_matrix(name):
            directions = random.normal(size=shape)
            return directions / np.sqrt((directions * directions).sum(axis=-2, keepdims=True))
        return random.normal(0, DEVIATION, shape) if is_table(name) or name == "attention.v" else np.zeros(shape)


KIND = Lem("lem")
