"""The encoder: LSTMs over the characters in both directions, and what the decoder reads at each position."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from il_morph.engines.native.aligned_memory import Scratch
from il_morph.engines.native.lookups import LookUps
from il_morph.engines.native.packing import packing_of
from il_morph.engines.native.recurrence import Factors, Recurrence
from il_morph.engines.native.weight_layout import Arrays, Layout
from il_morph.model.vocabulary import Instance
from il_morph.transitions.actions import UNK


class Encoder:
    """Encodes a batch. Its arrays have a row for each element of each buffer, one sample after the
    other, or for each position that the decoder can read."""

    def __init__(self, kernels: ModuleType, scratch: Scratch, layout: Layout, arrays: Arrays):
        self.kernels, self.scratch, self.arrays, self.settings = kernels, scratch, arrays, layout.settings
        self.forward, self.backward = ([Recurrence(kernels, scratch, name, arrays, self.settings.vanilla_lstm)
                                        for name in layout.stack(direction)] for direction in ("forward", "backward"))
        self.dtype = arrays["characters"].dtype

    def encode(self, instances: Sequence[Instance]) -> None:
        """Set `projected` to [enc_fwd; enc_bwd; features; 1] times the decoder's columns, a row for each position."""
        self.instances = instances
        self.packing = packing_of(tuple(len(instance.buffer) for instance in instances), instances[0].start)
        self.characters = np.concatenate([instance.buffer for instance in instances])
        unseen = self.characters == UNK
        self.unseen = unseen if unseen.any() else None
        self.x = self._embeddings()
        places, mirrored = self.packing.places, self.packing.mirrored
        self.read = {**self._run(self.forward, places), **self._run(self.backward, mirrored)}
        self.positions = np.concatenate([self.forward[-1].nodes.h[self.packing.readable_places],
                                         self.backward[-1].nodes.h[self.packing.readable_mirrored]], axis=1)
        self.features = self._features()
        self.projected = self.scratch.take(self._product(self.features, "decoder.features"), self.packing.sequences)
        self.kernels.add_product(self.projected, self.positions, self.arrays["decoder.positions"])

    def place(self, sample: int, position: int) -> int:
        """The row of `projected` for a position of the buffer."""
        return self.packing.first[sample] + position

    def _product(self, x: np.ndarray, name: str) -> np.ndarray:
        product = self.scratch.zeros(len(x), self.arrays[name].shape[1])
        self.kernels.add_product(product, x, self.arrays[name])
        return product

    def _embeddings(self) -> np.ndarray:
        """The embeddings with a 1 for the bias; an unseen character is the average of all rows but UNK's."""
        table = self.arrays["characters"]
        x = self.scratch.with_ones(table[self.characters])
        if self.unseen is not None:
            x[self.unseen, :-1] = table[1:].mean(axis=0)
        return x

    def _run(self, stack: Sequence[Recurrence], places: np.ndarray) -> dict[str, np.ndarray]:
        """Run the layers of one direction; return the inputs of all layers above the first, by name."""
        read: dict[str, np.ndarray] = {}
        for number, layer in enumerate(stack):
            nodes = layer.nodes
            nodes.clear()
            new = nodes.add(self.packing.size)
            nodes.parents[new] = self.packing.parents
            if number:
                read[layer.name] = self.scratch.with_ones(stack[number - 1].nodes.h[new])
                nodes.z[new] = self._product(read[layer.name], f"{layer.name}.x")
            else:
                nodes.z[places] = self._product(self.x, f"{layer.name}.x")
            layer.run(self.packing.bounds)
        return read

    def _features(self) -> np.ndarray:
        """The feature vectors, with a 1 for the bias."""
        slots = np.array([instance.slots for instance in self.instances], dtype=np.int64)
        if not self.settings.feat_input:
            return self.scratch.with_ones(np.where(slots != UNK, self.settings.lucky_w, 0.0).astype(self.dtype))
        vectors = self.arrays["features"][slots].reshape(len(slots), -1)
        if "pos" not in self.arrays:
            return self.scratch.with_ones(vectors)
        pos = np.array([self.arrays["pos"][i.pos] if i.pos != UNK else self.arrays["features"][UNK]
                        for i in self.instances])
        return self.scratch.with_ones(np.concatenate([pos, vectors], axis=1))

    def run_backward(self, dprojected: np.ndarray, lookups: LookUps) -> Factors:
        """The gradients of the encoder's weights and of the decoder's columns, from the gradient of `projected`."""
        kernels, arrays = self.kernels, self.arrays
        dfeatures = self.scratch.zeros(len(self.instances), dprojected.shape[1])
        kernels.add_rows(dfeatures, self.packing.sequences, dprojected)
        self._backward_features(dfeatures, lookups)
        dpositions = self.scratch.zeros(*self.positions.shape)
        kernels.add_product_transposed(dpositions, dprojected, arrays["decoder.positions"])
        hidden = self.settings.enc_hidden
        packing = self.packing
        dforward, factors = self._backward(self.forward, packing.places, packing.readable_places,
                                           dpositions[:, :hidden])
        dbackward, others = self._backward(self.backward, packing.mirrored, packing.readable_mirrored,
                                           dpositions[:, hidden:])
        dx = self.scratch.zeros(len(self.x), self.settings.input)
        kernels.add_product_transposed(dx, dforward, arrays["forward.x"][:-1])
        kernels.add_product_transposed(dx, dbackward, arrays["backward.x"][:-1])
        self._backward_characters(dx, lookups)
        return {"decoder.positions": (self.positions, dprojected), "decoder.features": (self.features, dfeatures),
                "forward.x": (self.x, dforward), "backward.x": (self.x, dbackward),
                **factors, **others}

    def _backward(self, stack: Sequence[Recurrence], places: np.ndarray, readable: np.ndarray,
                  dpositions: np.ndarray) -> tuple[np.ndarray, Factors]:
        """The gradients of projected inputs and of weights, from the gradient of the outputs at readable positions."""
        dh, found = stack[-1].no_gradient(), {}
        dh[readable] = dpositions
        for number in range(len(stack) - 1, -1, -1):
            layer = stack[number]
            dz, factors = layer.run_backward(self.packing.bounds, dh)
            found.update(factors)
            if number:
                name = f"{layer.name}.x"
                found[name] = self.read[layer.name], dz
                dh = stack[number - 1].no_gradient()
                self.kernels.add_product_transposed(dh[:-1], dz, self.arrays[name][:-1])
        return self.scratch.take(dz, places), found

    def _backward_features(self, dfeatures: np.ndarray, lookups: LookUps) -> None:
        width = self.settings.feat_input
        if not width:
            return
        dvectors = self.scratch.zeros(len(dfeatures), self.features.shape[1] - 1)
        self.kernels.add_product_transposed(dvectors, dfeatures, self.arrays["decoder.features"][:-1])
        vectors = dvectors.reshape(len(dfeatures), -1, width)
        for instance, dslots in zip(self.instances, vectors):
            if instance.pos is not None:
                table = "pos" if instance.pos != UNK else "features"
                lookups.add(table, [instance.pos], dslots[:1])
                dslots = dslots[1:]
            lookups.add("features", instance.slots, dslots)

    def _backward_characters(self, dx: np.ndarray, lookups: LookUps) -> None:
        if self.unseen is None:
            lookups.add("characters", self.characters, dx)
            return
        others = range(1, len(self.arrays["characters"]))
        share = dx[self.unseen].sum(axis=0) / len(others)
        lookups.add("characters", self.characters[~self.unseen], dx[~self.unseen])
        lookups.add("characters", others, np.tile(share, (len(others), 1)))
