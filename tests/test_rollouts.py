"""Model roll-outs in batches against roll-outs one by one, in NumPy, from the first action on."""
from math import inf
from random import Random

import editdistance
import numpy as np
import pytest

dy = pytest.importorskip("dynet")

from il_morph.engines.dynet.decoder import DynetDecoder
from il_morph.engines.dynet.rollouts import GreedyRollOuts
from il_morph.model.settings import TrainingSettings
from il_morph.training.imitation import ImitationLearning
from il_morph.training.rollouts import RollOuts
from il_morph.transitions.actions import COPY, END, MAX_ACTIONS
from il_morph.transitions.expert import BETA, optimal_actions
from tests.dynet_models import fresh_network, learner_of, loss_of
from tests.rollout_walks import (
    NETWORKS,
    PAIRS,
    SlowRollOut,
    Walk,
    compare_costs,
    compare_dropping,
    erring,
    reading_model,
    walks,
)

LAYERED = {**NETWORKS, "two layers": {"enc_layers": 2, "dec_layers": 2}, "mlp": {"mlp": 5}}


def served(model, instance):
    """A decoder in DyNet, and what serves its requests."""
    network = fresh_network(model.vocabulary, model.weights)
    dy.renew_cg()
    decoder = DynetDecoder(network, instance)
    return decoder, decoder.serve


def test_costs_are_the_edits_of_each_roll_out():
    assert compare_costs(walks(served, LAYERED, exact=True)) > 50


def test_dropping_candidates_leaves_the_optimal_actions_and_their_costs():
    assert compare_dropping(walks(served, LAYERED, exact=False)) > 10


@pytest.mark.parametrize("exact", [True, False])
def test_the_costs_of_the_paper_have_the_distance_to_the_target(exact):
    for walk, slow, choose in walks(served, LAYERED, exact, il_rollout_loss="distance"):
        for history, costs in walk.steps(choose):
            if costs:
                expected = {}
                for action in costs:
                    output = slow.path(*history, action).output
                    distance = editdistance.eval(output, walk.expert.target)
                    expected[action] = BETA * distance + slow.edits(history, action)
                assert sorted(optimal_actions(costs)) == sorted(optimal_actions(expected))
                assert all(costs[action] == expected[action] or not exact and costs[action] == inf for action in costs)


def test_in_the_authors_program_end_costs_as_much_as_an_edit():
    """Unless the roll-out is cut off."""
    ended = cut = 0
    for walk, slow, choose in walks(served, LAYERED, exact=True, il_rules="program"):
        for history, costs in walk.steps(choose):
            for action, cost in (costs or {}).items():
                ends = slow.path(*history, action).actions[-1] == END
                assert cost == slow.edits(history, action) + ends
                ended, cut = ended + ends, cut + (not ends)
    assert ended > 10 and cut > 10


def test_in_the_authors_program_what_roll_outs_read_takes_part_in_the_update():
    """All actions of the roll-outs but the last ones, which are not read; nothing with the rules of the paper."""
    for rules in "program", "paper":
        walk = Walk(served, reading_model(1), PAIRS[2], exact=True, il_rules=rules)
        slow, looked_up, expected = SlowRollOut(reading_model(1), walk.instance), set(), set()
        walk.decoder.touch_rows = looked_up.update
        for history, costs in walk.steps(erring(1)):
            for action in costs or ():
                expected |= set(slow.path(*history, action).actions[len(history):-1])
        assert looked_up == (expected if rules == "program" else set())
        assert len(expected) > 3


def test_a_model_that_never_ends_is_cut_off():
    model = reading_model(1)
    model.weights["output.b"][END] = -1000
    walk = Walk(served, model, PAIRS[0], exact=True)
    slow = SlowRollOut(model, walk.instance)
    for history, costs in walk.steps(erring(1)):
        if costs:
            assert {len(slow.path(*history, action).actions) for action in costs} == {MAX_ACTIONS}
            assert costs == {action: slow.edits(history, action) for action in costs}


def test_a_known_roll_out_is_not_run_again(monkeypatch):
    """The first action of a finished roll-out was taken: what follows it is known."""
    model = reading_model(1)
    steps, take = [], GreedyRollOuts.take

    def counting(self, scores):
        steps.append(len(scores))
        return take(self, scores)

    monkeypatch.setattr(GreedyRollOuts, "take", counting)
    sizes = {}
    for reuse in (True, False):
        walk = Walk(served, model, PAIRS[2], exact=True)
        if not reuse:
            walk.rollouts.advance = lambda action: walk.rollouts.known.clear()
        costs = [costs for _, costs in walk.steps(lambda optimal: COPY if COPY in optimal else optimal[0])]
        sizes[reuse] = (costs, sum(steps))
        steps.clear()
    assert sizes[True][0] == sizes[False][0]
    assert sizes[True][1] < sizes[False][1]


class Recorder:
    """Stands for RollOuts.costs: first writes down what it gives, then gives it without any roll-out."""

    def __init__(self):
        self.costs, self.compute = [], RollOuts.costs

    def record(self, rollouts, at, candidates):
        self.costs.append((yield from self.compute(rollouts, at, candidates)))
        return self.costs[-1]

    def replay(self, rollouts, at, candidates):
        return self.costs.pop(0)
        yield  # a generator too


@pytest.mark.parametrize("loss", ["nll", "softmax-margin", "mse"])
def test_roll_outs_leave_loss_and_gradients_alone(loss, monkeypatch):
    recorder, settings = Recorder(), TrainingSettings(il_beta=0.0, il_loss=loss)
    model = reading_model(1)
    results, recorded = [], 0
    for stand_in in (recorder.record, recorder.replay):
        monkeypatch.setattr(RollOuts, "costs", lambda *arguments: stand_in(*arguments))
        objective = ImitationLearning(model.vocabulary, settings, Random(1))
        learner = learner_of(objective, fresh_network(model.vocabulary, model.weights))
        network, trainer = learner.network, dy.SimpleSGDTrainer(learner.network.collection)
        objective.begin_epoch(20)
        losses = []
        for sample in PAIRS:
            dy.renew_cg()
            expression = loss_of(learner, model.vocabulary.instance(sample))
            losses.append(expression.value())
            expression.backward()
            trainer.update()
        recorded = max(recorded, len(recorder.costs))
        results.append((losses, network.weights()))
    assert recorded > 10 and not recorder.costs
    (losses, weights), (losses_without, weights_without) = results
    assert losses == losses_without
    assert all(np.array_equal(weights[name], weights_without[name]) for name in weights)
    assert any(not np.array_equal(weights[name], model.weights[name]) for name in weights)
