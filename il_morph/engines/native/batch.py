"""The samples of one update: serves the objective's requests and turns the losses it leaves into a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from il_morph.engines.native.decoder import DecoderRows
from il_morph.engines.native.losses import log_softmax, squared_distance
from il_morph.engines.native.network import NativeNetwork
from il_morph.engines.native.sample import NativeDecoder, SequenceLoss
from il_morph.engines.native.sequence_tree import Tree
from il_morph.model.vocabulary import Instance
from il_morph.training.engine import Request, RolledOut, RollOut, Step, StepLoss, StepRows, Visit, reply_to


class Batch:
    """Samples that are computed together."""

    def __init__(self, network: NativeNetwork, instances: Sequence[Instance]):
        self.network = network
        network.begin(instances)
        self.decoders = [NativeDecoder(network, k, instance) for k, instance in enumerate(instances)]

    def serve(self, visits: Sequence[Visit]) -> list[int]:
        """Run the visits side by side until all have returned; return what they returned.

        In each round, every visit that still runs makes one request; requests of one kind are served together.
        """
        if len(visits) == 1:
            return [reply_to(visits[0], self._serve_one)]
        counts, replies = [0] * len(visits), dict.fromkeys(range(len(visits)))
        while replies:
            requests: dict[int, Request] = {}
            for sample, reply in replies.items():
                try:
                    requests[sample] = visits[sample].send(reply)
                except StopIteration as end:
                    counts[sample] = end.value
            replies = self._serve(requests)
        return counts

    def _serve_one(self, request: Request) -> Any:
        """Serve a request of the only sample of a batch, with less overhead."""
        place, decoder = self.network.encoder.packing.first[0], self.network.decoder
        if isinstance(request, Step):
            return decoder.step_one(request.state, place + request.position, request.action)
        if isinstance(request, RollOut):
            return decoder.roll_out([request], [0])[0]
        return decoder.step_rows([request.rows], [[place + p for p in request.positions]], [request.actions])[0]

    def _serve(self, requests: dict[int, Request]) -> dict[int, Any]:
        steps = {k: request for k, request in requests.items() if isinstance(request, Step)}
        rows = {k: request for k, request in requests.items() if isinstance(request, StepRows)}
        unfinished = {k: request for k, request in requests.items() if isinstance(request, RollOut)}
        return {**(self._step(steps) if steps else {}), **(self._step_rows(rows) if rows else {}),
                **(self._finish(unfinished) if unfinished else {})}

    def _step(self, requests: dict[int, Step]) -> dict[int, int]:
        places = [self.decoders[k].place(request.position) for k, request in requests.items()]
        new = self.network.decoder.step([r.state for r in requests.values()], places,
                                        [int(r.action) for r in requests.values()])
        return dict(zip(requests, range(new.start, new.stop)))

    def _step_rows(self, requests: dict[int, StepRows]) -> dict[int, DecoderRows]:
        places = [[self.decoders[k].place(p) for p in request.positions] for k, request in requests.items()]
        rows, actions = zip(*((request.rows, request.actions) for request in requests.values()))
        return dict(zip(requests, self.network.decoder.step_rows(rows, places, actions)))

    def _finish(self, requests: dict[int, RollOut]) -> dict[int, list[RolledOut]]:
        return dict(zip(requests, self.network.decoder.roll_out(list(requests.values()), list(requests))))

    def loss(self, counts: Sequence[int]) -> tuple[float, np.ndarray]:
        """Σ losses / Σ counts over the samples that have losses, and its gradient with respect to all scores."""
        learning = [decoder for decoder, count in zip(self.decoders, counts) if count]
        sequences = [(decoder, loss) for decoder in learning for loss in decoder.sequence_losses]
        tree = self._tree(sequences)
        first, nodes = self.network.decoder.run_tree(tree) if sequences else 0, self.network.decoder.nodes
        self.total, self.dscores = 0.0, self.network.scratch.zeros(nodes.number, nodes.scores.shape[1])
        self._step_losses([left for d in learning for left in d.step_losses])
        self._regressions([left for d in learning for left in d.regressions])
        if sequences:
            self._sequence_losses([loss for _, loss in sequences], tree, first)
        self.dscores /= sum(counts)
        return self.total / sum(counts), self.dscores

    def _step_losses(self, left: list[tuple[int, StepLoss]]) -> None:
        if not left:
            return
        nodes, losses = zip(*left)
        scores = self._scores(nodes, [loss.support for loss in losses])
        for row, loss in zip(scores, losses):
            if loss.margins is not None:
                row += loss.margins
        optimal = np.array([action for loss in losses for action in loss.optimal])
        sizes = np.array([len(loss.optimal) for loss in losses])
        value = self.network.kernels.negative_log_likelihoods(scores, optimal, sizes)
        self._add(nodes, value, scores)

    def _regressions(self, left: list[tuple[int, int, np.ndarray]]) -> None:
        for node, support, targets in left:
            scores = self.network.decoder.nodes.scores[node]
            value, gradient = squared_distance(scores, self.network.valid_masks[support], targets)
            self._add([node], value, gradient[None])

    def _scores(self, nodes: Sequence[int], kinds: Sequence[int]) -> np.ndarray:
        """The scores of nodes, −∞ outside the support."""
        return self.network.decoder.nodes.scores[np.asarray(nodes)] + self.network.outside[np.asarray(kinds)]

    def _add(self, nodes: Sequence[int], value: float, gradients: np.ndarray) -> None:
        self.total += float(value)
        self.network.kernels.add_rows(self.dscores, np.array(nodes), gradients)

    def _tree(self, losses: list[tuple[NativeDecoder, SequenceLoss]]) -> Tree:
        """A tree of the sequences of all losses."""
        tree = Tree(self.network.vocabulary, self.network.encoder)
        for decoder, loss in losses:
            for actions in loss.sequences:
                tree.add(decoder.sample, decoder.instance, actions)
        if losses:
            tree.number_nodes()
        return tree

    def _sequence_losses(self, losses: list[SequenceLoss], tree: Tree, first: int) -> None:
        """If w_k is the weight of −log P_k, the gradient of a node's scores is Σ w_k (P − 1 at the action taken),
        summed over the sequences that go through the node."""
        log_p = log_softmax(self.network.decoder.nodes.scores[first:first + len(tree.parents)]
                            + self.network.outside[np.array(tree.supports)])
        lengths = np.array(tree.lengths, dtype=np.int64)
        nlls = np.add.reduceat(-log_p[tree.nodes, tree.taken].astype(np.float64), np.cumsum(lengths) - lengths)
        step_weights = np.repeat(self._weights(losses, nlls), lengths)
        gradients = np.exp(log_p) * np.bincount(tree.nodes, step_weights)[:, None].astype(log_p.dtype)
        np.subtract.at(gradients, (tree.nodes, tree.taken), step_weights.astype(log_p.dtype))
        self.dscores[first:] += gradients

    def _weights(self, losses: list[SequenceLoss], nlls: np.ndarray) -> np.ndarray:
        """The weight of each sequence's −log P in the loss; adds the values of the losses to the total."""
        found, weights = iter(nlls.tolist()), []
        for loss in losses:
            value, own = loss.value(np.array([next(found) for _ in loss.sequences]))
            self.total += value
            weights += own.tolist()
        return np.array(weights)
