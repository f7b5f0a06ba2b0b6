"""Variational dropout in the decoder: the inputs of its matrices are masked, with one mask for all steps of an update.

To mask the input of a matrix is to mask the rows of the matrix. So an update computes with copies of the matrices whose
rows are zero or scaled by 1 / (1 − rate), and the rest of the engine does not change. Unlike in DyNet, the samples of a
batch share their masks.
"""

from __future__ import annotations

import numpy as np

from il_morph.engines.native.aligned_memory import side_by_side
from il_morph.engines.native.recurrence import Factors
from il_morph.engines.native.weight_layout import Arrays

BIAS = "decoder.features"  # the array whose last row is the bias, which is kept


class Dropout:
    """Masked copies of the decoder's matrices, which an update computes with."""

    def __init__(self, arrays: Arrays, rate: float, random: np.random.RandomState):
        self.rate, self.random = rate, random
        self.whole = {name: array for name, array in arrays.items() if name.startswith("decoder.")}
        self.masked = side_by_side({name: array.shape for name, array in self.whole.items()}, arrays["output"].dtype)
        self.masks: Arrays = {}

    def draw(self) -> None:
        """Draw new masks, and update the masked matrices."""
        for name, whole in self.whole.items():
            kept = (self.random.random_sample(len(whole)) >= self.rate) / (1 - self.rate)
            if name == BIAS:
                kept[-1] = 1
            self.masks[name] = kept.astype(whole.dtype)
            np.multiply(whole, self.masks[name][:, None], out=self.masked[name])

    def of_whole(self, factors: Factors) -> Factors:
        """The gradients of the whole matrices, from the gradients of the masked ones."""
        return {name: (x * self.masks[name] if name in self.masks else x, d) for name, (x, d) in factors.items()}
