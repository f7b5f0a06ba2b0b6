"""The network (section 3 of the paper) in DyNet: one computation graph per sample.

Each weight matrix that reads several vectors, such as the decoder's [enc_fwd; enc_bwd; features;
action], is kept in column blocks: the features, constant in a sample, are projected once, and the
encoder's positions in one product; only the action and the recurrent part remain for each step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Optional, Union

import dynet as dy
import dynet_config
import numpy as np

from il_morph.engines.dynet.cells import CellState, CoupledLSTM, Matrix, Table, VanillaLSTM, Vector, affine, run_layers
from il_morph.model.architecture import AnyArchitecture, Architecture, Layer, Weight
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import AT_END, BEFORE_END, BEFORE_END_OR_END, UNK

NONLINEARITIES = {"ReLU": dy.rectify, "tanh": dy.tanh}
MASKED = -1e9  # added to the score of an invalid action; finite, because -inf poisons DyNet's memory
BLOCK_LIMIT = 80_000  # floats of a parameter that ADADELTA updates inside the cache


def feature_blocks(slots: int, width: int, hidden: int) -> list[tuple[int, int]]:
    """Ranges of feature slots whose columns make a block of at most BLOCK_LIMIT floats."""
    size = max(1, BLOCK_LIMIT // (hidden * width))
    return [(first, min(first + size, slots)) for first in range(0, slots, size)]


def features_in_parts(inputs: dict[str, int], slot_ranges: Sequence[tuple[int, int]], width: int) -> dict[str, int]:
    """The blocks of an input, with the block of the features split into parts."""
    parts = {f"features {first}": (last - first) * width for first, last in slot_ranges}
    widths: dict[str, int] = {}
    for block, size in inputs.items():
        widths.update(parts if block == "features" else {block: size})
    return widths


class AnyNetwork(ABC):
    """All parameters of an architecture, zero until they are set, and the graph of a sample.

    A subclass declares `actions`, `layers` (the LSTM layers of all stacks) and `others` (the matrices and biases
    outside them), and makes the graph.
    """

    actions: Table
    layers: list[CoupledLSTM]
    others: list[Union[Matrix, Vector]]

    def __init__(self, vocabulary: Vocabulary, architecture: AnyArchitecture):
        self.vocabulary, self.settings = vocabulary, vocabulary.settings
        self.collection = dy.ParameterCollection()
        self.tables = {weight.name: Table(self.collection, weight) for weight in architecture.tables}
        self._declare(architecture)
        blocks = [block for matrix in self.matrices() for block in matrix.blocks.values()]
        self.dense = blocks + [vector.parameter for vector in self.vectors()]
        self.masks = np.where(vocabulary.table.valid, 0.0, MASKED).tolist()

    @abstractmethod
    def _declare(self, architecture: Any) -> None:
        """Add all parameters except the tables to DyNet's collection."""

    @abstractmethod
    def graph(self, instance: Instance, dropout: float = 0.0) -> Any:
        """The graph of a sample up to the first step."""

    def _stack(self, layers: Sequence[Layer]) -> list[CoupledLSTM]:
        return [(VanillaLSTM if layer.vanilla else CoupledLSTM)(self.collection, layer, self._parts(layer.inputs))
                for layer in layers]

    def _parts(self, inputs: dict[str, int]) -> dict[str, int]:
        """The blocks of an input matrix, or parts of them."""
        return inputs

    def _matrix(self, weight: Weight) -> Matrix:
        return Matrix(self.collection, weight, self._parts(weight.blocks))

    def _affine(self, matrix: Weight, bias: Weight) -> tuple[Matrix, Vector]:
        return self._matrix(matrix), Vector(self.collection, bias)

    def parts(self) -> list:
        """All tables, matrices and biases; each has a name."""
        of_layers = [part for cell in self.layers for part in cell.parameters()]
        return [*self.tables.values(), *of_layers, *self.others]

    def matrices(self) -> list[Matrix]:
        """The weight matrices, which the l2 penalty applies to."""
        others = [part for part in self.others if isinstance(part, Matrix)]
        return [matrix for cell in self.layers for matrix in cell.matrices()] + others

    def vectors(self) -> list[Vector]:
        others = [part for part in self.others if isinstance(part, Vector)]
        return [bias for cell in self.layers for bias in cell.b.values()] + others

    def weights(self) -> dict[str, np.ndarray]:
        """The parameters as the model file keeps them."""
        return {part.name: part.value() for part in self.parts()}

    def set_weights(self, weights: dict[str, np.ndarray]) -> None:
        for part in self.parts():
            part.set_value(weights[part.name])

    def enter_graph(self) -> None:
        """Put all parameters in the graph: one that first enters it between cg_checkpoint and cg_revert dangles."""
        for parameter in self.dense:
            parameter.expr(True)


class DynetNetwork(AnyNetwork):
    """The transducer."""

    def __init__(self, vocabulary: Vocabulary, architecture: Optional[Architecture] = None):
        self.architecture = architecture or Architecture(vocabulary)
        self.slot_ranges = feature_blocks(vocabulary.number_of_slots, self.architecture.slot_width,
                                          vocabulary.settings.dec_hidden)
        super().__init__(vocabulary, self.architecture)

    def _declare(self, architecture: Architecture) -> None:
        self.characters, self.actions = self.tables["characters"], self.tables[architecture.action_table]
        self.forward, self.backward, self.decoder = (
            self._stack(layers) for layers in (architecture.forward, architecture.backward, architecture.decoder))
        self.layers = self.forward + self.backward + self.decoder
        *hidden, matrix, bias = architecture.classifier
        self.hidden = self._affine(*hidden) if hidden else None
        self.output = self._affine(matrix, bias)
        self.others = [*(self.hidden or ()), *self.output]

    def _parts(self, inputs: dict[str, int]) -> dict[str, int]:
        return features_in_parts(inputs, self.slot_ranges, self.architecture.slot_width)

    def graph(self, instance: Instance, dropout: float = 0.0) -> SampleGraph:
        """The graph of a sample up to the decoder's first step."""
        return SampleGraph(self, instance, dropout)


def network_of(vocabulary: Vocabulary) -> AnyNetwork:
    """The network of the model's architecture."""
    return vocabulary.settings.kind.dynet_network(vocabulary) or DynetNetwork(vocabulary)


def character_rows(table: Table, characters: Sequence[int]) -> dy.Expression:
    """The embeddings as a batch; an unseen character is the average of all rows but UNK's."""
    if UNK not in characters:
        return table.rows(characters)
    unseen = dy.mean_batches(table.rows(range(1, table.size)))
    return dy.concatenate_to_batch([table.row(index) if index != UNK else unseen for index in characters])


class SequenceGraph(ABC):
    """A graph of one sample in which sequences of actions are scored, one after the other."""

    @abstractmethod
    def sequence(self, actions: Sequence[int]) -> dy.Expression:
        """−log P of each action, as a batch."""

    def losses(self, sequences: Sequence[Sequence[int]]) -> dy.Expression:
        """−log P of each action of some sequences: a matrix [sequence, step], 0 after the end."""
        longest = max(map(len, sequences))
        rows = []
        for actions in sequences:
            row = dy.reshape(self.sequence(actions), (1, len(actions)), batch_size=1)
            rest = longest - len(actions)
            rows.append(dy.concatenate_cols([row, dy.zeros((1, rest))]) if rest else row)
        return dy.concatenate(rows)


def autobatching() -> bool:
    """Is DyNet's automatic batching on?"""
    config = dynet_config.get()
    return bool(config and config["autobatch"])


@contextmanager
def passing() -> Iterator[None]:
    """Remove what is added to the graph in this context.

    Automatic batching does not survive that, so with it everything stays.
    """
    if autobatching():
        yield
        return
    dy.cg_checkpoint()
    yield
    dy.cg_revert()


class SampleGraph:
    """Encoder and decoder of one sample."""

    def __init__(self, network: DynetNetwork, instance: Instance, dropout: float):
        self.network, self.instance = network, instance
        network.enter_graph()
        self.masks = [cell.masks(dropout) for cell in network.decoder]
        self.positions = self._project_positions()
        bias = network.output[1].parameter
        self.biases = [bias + dy.inputVector(network.masks[kind]) for kind in (BEFORE_END, AT_END)]
        if autobatching():  # it fails if it joins batched products of several samples: compute them now
            for batch in self.positions.values():
                batch.forward()

    def _project_positions(self) -> dict[str, dy.Expression]:
        """[enc_fwd; enc_bwd; features] times the decoder's columns, as a batch over positions."""
        start, masks, cell = self.instance.start, self.masks[0], self.network.decoder[0]
        forward, backward = self._encode()
        features = self._features()
        positions = {"enc_fwd": dy.concatenate_to_batch(forward[start:]),
                     "enc_bwd": dy.concatenate_to_batch(backward[start:])}
        if masks:
            features, positions = masks.x(features), masks.x(positions)
        self.read = features, positions
        return cell.project(positions, onto=cell.project(features) if features else None)

    def _encode(self) -> tuple[list, list]:
        network = self.network
        embedded = character_rows(network.characters, self.instance.buffer)
        order = range(len(self.instance.buffer))
        return (run_layers(network.forward, embedded, order),
                run_layers(network.backward, embedded, order[::-1]))

    def _features(self) -> dict[str, dy.Expression]:
        network, slots = self.network, self.instance.slots
        vectors = {}
        if network.vocabulary.pos is not None:
            vectors["pos"] = self._pos(self.instance.pos or UNK)
        for first, last in network.slot_ranges:
            vectors[f"features {first}"] = self._slots(slots[first:last])
        return vectors

    def _pos(self, pos: int) -> dy.Expression:
        """The embedding of a POS; an unseen POS gets the UNK embedding of the features."""
        return self.network.tables["pos"].row(pos) if pos != UNK else self.network.tables["features"].row(UNK)

    def _slots(self, slots: Sequence[int]) -> dy.Expression:
        settings = self.network.settings
        if not settings.feat_input:
            return dy.inputVector([settings.lucky_w if slot != UNK else 0.0 for slot in slots])
        return dy.reshape(self.network.tables["features"].rows(slots), (len(slots) * settings.feat_input,))

    def initial_states(self) -> list[CellState]:
        return [CellState() for _ in self.network.decoder]

    def step(self, states: list[CellState], action: int, position: int) -> list[CellState]:
        """The decoder reads the previous action at this position of the buffer."""
        gates = {gate: dy.pick_batch_elem(batch, position - self.instance.start)
                 for gate, batch in self.positions.items()}
        return self._decode(gates, {"action": self.network.actions.row(action)}, states)

    def step_batch(self, states: list[CellState], actions: Sequence[int], positions: Sequence[int]) -> list[CellState]:
        """`step` for a batch of states."""
        return self._decode(self._pick(positions), {"action": self.network.actions.rows(actions)}, states)

    def _decode(self, gates: dict, inputs: dict, states: list[CellState]) -> list[CellState]:
        """One step of all layers; `gates` holds what is already projected, `inputs` the other blocks."""
        stepped = []
        for cell, state, masks in zip(self.network.decoder, states, self.masks):
            if masks:
                inputs = masks.x(inputs)
            stepped.append(cell.step(gates or cell.project({}), state, masks, inputs))
            gates, inputs = {}, {"x": stepped[-1].h}
        return stepped

    def losses(self, sequences: Sequence[Sequence[int]]) -> dy.Expression:
        """−log P of each action of some sequences: a matrix [sequence, step], 0 after the end.

        The actions are known, so all but the recurrent part of the decoder is one product.
        """
        paths = [self._path(sequence) for sequence in sequences]
        steps, rows = max(map(len, paths)), len(paths)
        cells = [path[min(step, len(path) - 1)] for step in range(steps) for path in paths]
        previous, positions, targets = zip(*cells)
        action = {"action": self.network.actions.rows(previous)}
        masks, cell = self.masks[0], self.network.decoder[0]
        gates = cell.project(masks.x(action) if masks else action, onto=self._pick(positions))
        states, outputs = self.initial_states(), []
        for step in range(steps):
            elements = list(range(step * rows, (step + 1) * rows))
            states = self._decode({g: dy.pick_batch_elems(batch, elements) for g, batch in gates.items()}, {}, states)
            outputs.append(states[-1].h)
        losses = self._losses(dy.concatenate_to_batch(outputs), previous, positions, targets)
        alive = np.array([[step < len(path) for step in range(steps)] for path in paths], dtype=float)
        return dy.cmult(dy.reshape(losses, (rows, steps)), dy.inputTensor(alive))

    def _losses(self, s: dy.Expression, previous: Sequence[int], positions: Sequence[int],
                targets: Sequence[int]) -> dy.Expression:
        """−log P of the targets, for a batch of decoder states."""
        at_end = [int(position == self.instance.end) for position in positions]
        biases = dy.pick_batch_elems(dy.concatenate_to_batch(self.biases), at_end)
        return dy.pickneglogsoftmax_batch(self._output(biases, s), list(targets))

    def _path(self, actions: Sequence[int]) -> list[tuple[int, int, int]]:
        """(previous action, position, action) of each step."""
        vocabulary = self.network.vocabulary
        previous = (vocabulary.system.initial_action, *actions)
        walked = vocabulary.table.walk(actions, self.instance.start, self.instance.end)
        return [(before, position, action)
                for before, (action, position) in zip(previous, walked)]

    def _pick(self, positions: Sequence[int]) -> dict[str, dy.Expression]:
        """The projected positions as a batch."""
        elements = [position - self.instance.start for position in positions]
        return {gate: dy.pick_batch_elems(batch, elements) for gate, batch in self.positions.items()}

    def logits(self, states: list[CellState], support: int) -> dy.Expression:
        """The scores of the actions; actions outside the support are MASKED."""
        if support == BEFORE_END_OR_END:
            return self._output(self.network.output[1].parameter + dy.inputVector(self.network.masks[support]),
                                states[-1].h)
        return self._output(self.biases[support], states[-1].h)

    def unmasked_logits(self, states: list[CellState]) -> dy.Expression:
        return self._output(self.network.output[1].parameter, states[-1].h)

    def _output(self, bias, s: dy.Expression) -> dy.Expression:
        network = self.network
        if network.hidden:
            matrix, hidden_bias = network.hidden
            s = NONLINEARITIES[network.settings.nonlin](affine(hidden_bias.parameter, [(matrix["s"], s)]))
        return affine(bias, [(network.output[0]["s"], s)])
