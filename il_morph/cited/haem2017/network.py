"""HAEM of 2017 in DyNet.

Gold sequences determine all lists in advance, so each LSTM runs over its lists, and all steps form one batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import dynet as dy

from il_morph.cited.haem2017.inference import MEMORIES, HaemArchitecture, written_characters
from il_morph.engines.dynet.cells import Vector, affine, run_layers
from il_morph.engines.dynet.network import (
    NONLINEARITIES,
    AnyNetwork,
    SequenceGraph,
    character_rows,
    feature_blocks,
    features_in_parts,
)
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.actions import AT_END, BEFORE_END, COPY, DELETE, UNK


class HaemNetwork(AnyNetwork):
    def __init__(self, vocabulary: Vocabulary):
        self.slot_ranges = feature_blocks(vocabulary.number_of_slots, 1, vocabulary.settings.mlp)
        self.written_characters = written_characters(vocabulary)
        super().__init__(vocabulary, HaemArchitecture(vocabulary))

    def _declare(self, architecture: HaemArchitecture) -> None:
        self.characters, self.actions = self.tables["characters"], self.tables["actions"]
        self.forward, self.backward = self._stack(architecture.forward), self._stack(architecture.backward)
        self.memories = {name: self._stack(layers) for name, layers in architecture.memories.items()}
        self.layers = self.forward + self.backward + [cell for stack in self.memories.values() for cell in stack]
        self.empty = {weight.name.split(".")[1]: Vector(self.collection, weight) for weight in architecture.empty}
        self.hidden, self.output = self._affine(*architecture.hidden), self._affine(*architecture.classifier)
        self.others = [*self.empty.values(), *self.hidden, *self.output]

    def _parts(self, inputs: dict[str, int]) -> dict[str, int]:
        return features_in_parts(inputs, self.slot_ranges, 1)

    def graph(self, instance: Instance, dropout: float = 0.0) -> HaemGraph:
        return HaemGraph(self, instance, dropout)


class HaemGraph(SequenceGraph):
    """The graph of one sample."""

    def __init__(self, network: HaemNetwork, instance: Instance, dropout: float):
        self.network, self.instance = network, instance
        network.enter_graph()
        self.empty = {name: vector.parameter.expr(True) for name, vector in network.empty.items()}
        self.masks = {name: [cell.masks(dropout) for cell in network.memories[name]] for name in ("written", "deleted")}
        self.forward, self.backward = self._encode(instance.buffer[:-1])
        self.constant = self._constant()

    def _encode(self, characters: Sequence[int]) -> tuple[list, list]:
        """The encoder states of each character, then the vectors that stand for an empty buffer."""
        network, order = self.network, range(len(characters))
        forward, backward = [], []
        if characters:
            embedded = character_rows(network.characters, characters)
            forward = run_layers(network.forward, embedded, order)
            backward = run_layers(network.backward, embedded, order[::-1])
        return [*forward, self.empty["enc_fwd"]], [*backward, self.empty["enc_bwd"]]

    def _constant(self) -> dy.Expression:
        """The part of the hidden layer that is constant in a sample: the features and the bias."""
        network, weight = self.network, self.network.settings.lucky_w
        present = [weight if slot != UNK else 0.0 for slot in self.instance.slots]
        matrix, bias = network.hidden
        return affine(bias.parameter, [(matrix[f"features {first}"], dy.inputVector(present[first:last]))
                                       for first, last in network.slot_ranges])

    def sequence(self, actions: Sequence[int]) -> dy.Expression:
        network, table = self.network, self.network.vocabulary.table
        positions = [position for _, position in table.walk(actions, self.instance.start, self.instance.end)]
        inputs = {"enc_fwd": [self.forward[position] for position in positions],
                  "enc_bwd": [self.backward[position] for position in positions], **self._memories(actions, positions)}
        matrix = network.hidden[0]
        hidden = NONLINEARITIES[network.settings.nonlin](affine(
            self.constant, [(matrix[name], dy.concatenate_to_batch(vectors)) for name, vectors in inputs.items()]))
        matrix, bias = network.output
        kinds = [AT_END if position == self.instance.end else BEFORE_END for position in positions]
        masks = dy.concatenate_to_batch([dy.inputVector(network.masks[kind]) for kind in (BEFORE_END, AT_END)])
        logits = affine(bias.parameter + dy.pick_batch_elems(masks, kinds), [(matrix["h"], hidden)])
        return dy.pickneglogsoftmax_batch(logits, list(actions))

    def _memories(self, actions: Sequence[int], positions: Sequence[int]) -> dict[str, list[dy.Expression]]:
        """The output of each LSTM before each action."""
        lists: dict[str, list[list[int]]] = {name: [[]] for name in MEMORIES}
        places: dict[str, list[tuple[int, int]]] = {name: [(0, 0)] for name in MEMORIES}
        for action, position in zip(actions[:-1], positions):
            self._remember(lists, action, position)
            for name, runs in lists.items():
                places[name].append((len(runs) - 1, len(runs[-1])))
        known = {name: [self._run(name, run) for run in runs] for name, runs in lists.items()}
        return {name: [known[name][run][place] for run, place in places[name]] for name in MEMORIES}

    def _remember(self, lists: dict[str, list[list[int]]], action: int, position: int) -> None:
        """Append what an action writes or deletes, and the action; an insertion starts a new list of deletions."""
        if self.network.vocabulary.table.inserts[action]:
            lists["written"][-1].append(self.network.written_characters[action])
            lists["deleted"].append([])
        elif action in (COPY, DELETE):
            lists["written" if action == COPY else "deleted"][-1].append(self.instance.buffer[position])
        lists["history"][-1].append(action)

    def _run(self, name: str, items: Sequence[int]) -> list[dy.Expression]:
        """The output of an LSTM after none, one, … of these items."""
        network, empty = self.network, self.empty[name]
        if not items:
            return [empty]
        embedded = network.actions.rows(items) if name == "history" else character_rows(network.characters, items)
        return [empty, *run_layers(network.memories[name], embedded, range(len(items)), self.masks.get(name, ()))]
