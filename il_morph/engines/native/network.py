"""The network (section 3 of the paper) with hand-written backpropagation, for a batch of samples.

A batch is encoded at once; then decoder steps of its samples are added, in any order; then gradients
of scores flow back through everything. The gradient of a weight matrix is x′d, where x and d have a
row for each use of the matrix. It is not multiplied out here: `backward` returns both factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Optional

import numpy as np

from il_morph.engines.native.aligned_memory import Scratch
from il_morph.engines.native.decoder import Decoder
from il_morph.engines.native.dropout import Dropout
from il_morph.engines.native.encoder import Encoder
from il_morph.engines.native.lookups import LookUps, TableGradients
from il_morph.engines.native.recurrence import Factors
from il_morph.engines.native.weight_layout import Arrays, Layout
from il_morph.model.vocabulary import Instance, Vocabulary


@dataclass
class Gradients:
    """Factors of the matrices' gradients; rows of the tables that were looked up, with their gradients."""

    factors: Factors
    tables: TableGradients


class NativeNetwork:
    """The weights, and everything that one update computes with them."""

    def __init__(self, vocabulary: Vocabulary, kernels: ModuleType, dtype=np.float32, dropout: float = 0.0,
                 random: Optional[np.random.RandomState] = None):
        self.vocabulary, self.kernels, self.layout = vocabulary, kernels, Layout(vocabulary)
        self.arrays, self.scratch = self.layout.zeros(dtype), Scratch(dtype)
        self.dropout = None
        if dropout:
            assert random is not None, "dropout draws from the random numbers of the engine"
            self.dropout = Dropout(self.arrays, dropout, random)
        read = {**self.arrays, **self.dropout.masked} if self.dropout else self.arrays
        self.encoder = Encoder(kernels, self.scratch, self.layout, read)
        self.decoder = Decoder(kernels, self.scratch, self.layout, read, self.encoder)
        self.lookups = LookUps(kernels, {t.name: self.arrays[t.name] for t in self.layout.architecture.tables})
        self.valid_masks = vocabulary.table.valid
        self.outside = np.where(self.valid_masks, 0, -np.inf).astype(dtype)  # to be added to scores

    def weights(self) -> Arrays:
        """The weights as the model file keeps them."""
        return self.layout.unpack(self.arrays)

    def set_weights(self, weights: Arrays) -> None:
        self.layout.pack(weights, self.arrays)

    def begin(self, instances: Sequence[Instance]) -> None:
        """Begin an update: encode a batch, and get ready to decode it."""
        self.scratch.clear()
        self.lookups.clear()
        if self.dropout:
            self.dropout.draw()
        self.encoder.encode(instances)
        self.decoder.begin()

    def backward(self, dscores: np.ndarray) -> Gradients:
        """The gradients of all weights, from the gradient of the scores of all decoder nodes."""
        dprojected, factors = self.decoder.run_backward(dscores, self.lookups)
        factors.update(self.encoder.run_backward(dprojected, self.lookups))
        return Gradients(self.dropout.of_whole(factors) if self.dropout else factors, self.lookups.found())
