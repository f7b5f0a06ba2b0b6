"""Variational dropout in the decoder: what its matrices read is masked, in the same way at all steps of an update.

A mask of what a matrix reads is a mask of the matrix's rows. So an update computes with copies of the matrices: their
rows are zero, or larger by 1 / (1 − rate), and nothing else needs to know. Unlike in DyNet, the samples of a batch
share their masks.
"""

from __future__ import annotations

import numpy as np

from il_morph.engines.native.aligned_memory import side_by_side
from il_morph.engines.native.recurrence import Factors
from il_morph.engines.native.weight_layout import Arrays

BIAS = "decoder.features"  # the array whose last row is the bias, which is kept


class Dropout:
    """The decoder's matrices as an update sees them."""

    def __init__(self, arrays: Arrays, rate: float, random: np.random.RandomState):
        self.rate, self.random = rate, random
        self.whole = {name: array for name, array in arrays.items() if name.startswith("decoder.")}
        self.masked = side_by_side({name: array.shape for name, array in self.whole.items()}, arrays["output"].dtype)
        self.masks: Arrays = {}

    def draw(self) -> None:
        """New masks, and what they leave of the matrices."""
        for name, whole in self.whole.items():
            kept = (self.random.random_sample(len(whole)) >= self.rate) / (1 - self.rate)
            if name == BIAS:
                kept[-1] = 1
            self.masks[name] = kept.astype(whole.dtype)
            np.multiply(whole, self.masks[name][:, None], out=self.masked[name])

    def of_whole(self, factors: Factors) -> Factors:
        """From the gradients of the masked matrices to those of the whole ones."""
        return {name: (x * self.masks[name] if name in self.masks else x, d) for name, (x, d) in factors.items()}
