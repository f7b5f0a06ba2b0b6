"""The planned losses in plain DyNet."""
from __future__ import annotations

import dynet as dy
import numpy as np

from experiments.benchmark.stock_model import StockModel
from il_morph.training.engine import StepLoss
from il_morph.transitions.actions import END
from tests.native_plans import ALPHA, Plan, positions_of

MASKED = -1e9


class PlannedInDynet:
    """A stock model and the loss of a planned sample as an expression."""

    def __init__(self, model):
        self.stock, self.vocabulary = StockModel(model.vocabulary), model.vocabulary
        self.stock.set_weights(model.weights)
        number = len(self.vocabulary.actions)
        self.masks = np.full((3, number), MASKED)
        for mask, at_end in enumerate((False, True, False)):
            self.masks[mask, self.vocabulary.table.valid_actions(at_end)] = 0
        self.masks[2, END] = 0

    def batch_loss(self, plans) -> dy.Expression:
        """Σ losses / Σ counts of (instance, plan)."""
        losses = [self.loss(instance, plan) for instance, plan in plans]
        return dy.esum(losses) / sum(plan.count for _, plan in plans)

    def loss(self, instance, plan: Plan) -> dy.Expression:
        encoded = self.stock.encode(instance)
        if plan.losses:
            scores = self.scores(encoded, plan.actions, plan.positions)
            return dy.esum([self.step_loss(s, loss) for s, loss in zip(scores, plan.losses)])
        nlls = [self.sequence_nll(instance, encoded, actions) for actions in plan.sequences]
        if plan.kind != "mrt":
            return dy.esum([nll * weight for nll, weight in zip(nlls, plan.weights)])
        q = dy.softmax(dy.concatenate(nlls) * -ALPHA)
        return dy.dot_product(q, dy.inputVector(plan.weights))

    def scores(self, encoded, actions, positions) -> list:
        decoder, previous, scores = self.stock.builders["decoder"].initial_state(), None, []
        for action, position in zip(actions, positions):
            previous = self.vocabulary.system.initial_action if previous is None else previous
            decoder = decoder.add_input(self.stock.decoder_input(encoded, previous, position))
            dense = self.stock.dense
            scores.append(dy.affine_transform([dense["output.b"], dense["output.W"], decoder.output()]))
            previous = action
        return scores

    def step_loss(self, scores, loss) -> dy.Expression:
        if not isinstance(loss, StepLoss):
            actions = np.flatnonzero(self.masks[loss[0]] == 0).tolist()
            targets = dy.inputVector(loss[1][actions].tolist())
            return dy.squared_distance(dy.select_rows(scores, actions), targets) / len(actions)
        added = self.masks[loss.support] + (0 if loss.margins is None else loss.margins)
        log_p = dy.log_softmax(scores + dy.inputVector(added))
        return -dy.logsumexp([dy.pick(log_p, action) for action in loss.optimal])

    def sequence_nll(self, instance, encoded, actions) -> dy.Expression:
        positions = positions_of(self.vocabulary, instance, actions)
        steps = zip(self.scores(encoded, actions, positions), actions, positions)
        return dy.esum([dy.pickneglogsoftmax(s + dy.inputVector(self.masks[int(p == instance.end)]), a)
                        for s, a, p in steps])

    def gradients(self) -> dict[str, np.ndarray]:
        return self.stock.weights(lambda parameter: np.array(parameter.grad_as_array(), dtype=np.float32))
