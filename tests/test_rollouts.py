"""Model roll-outs in batches against roll-outs one by one, in NumPy, from the first action on."""
from functools import lru_cache
from math import inf
from random import Random

import editdistance
import numpy as np
import pytest

dy = pytest.importorskip("dynet")

from experiments.benchmark.simple_search import OneByOne, Path, finish_greedily
from il_morph.data.formats import Sample
from il_morph.engines.dynet.decoder import DynetDecoder
from il_morph.model.inference import Inference
from il_morph.model.settings import TrainingSettings
from il_morph.training.engine import Step, supports
from il_morph.training.imitation import ImitationLearning
from il_morph.training.rollouts import Configuration, RollOuts
from il_morph.transitions.actions import END, MAX_ACTIONS
from il_morph.transitions.expert import BETA, COPY, DELETE, Expert, matched, optimal_actions
from tests.dynet_models import fresh_network, learner_of, loss_of, run
from tests.random_models import random_model

PAIRS = [Sample("sing", "V;PST;3", "sang"), Sample("mouse", "N;PL", "mice"), Sample("walk", "V;PST", "walked"),
         Sample("go on", "V;PRS;3", "goes on"), Sample("a", "N;PL", "aa"), Sample("tall", "ADJ;CMPR", "a")]
NETWORKS = {"coupled": {}, "vanilla": {"vanilla_lstm": True}, "two layers": {"enc_layers": 2, "dec_layers": 2},
            "mlp": {"mlp": 5}, "close": {"tag_wraps": "close"}}


def reading_model(seed, **settings):
    """Random weights that like to read on and to end, so that roll-outs end sooner or later."""
    model = random_model(seed, scale=1.2, samples=PAIRS, **settings)
    model.weights["output.b"][[END, *model.vocabulary.system.advancing]] += 3
    return model


class SlowRollOut:
    """Executes a history and a candidate and lets the model finish, everything anew for each candidate."""

    def __init__(self, model, instance):
        self.model, self.instance = OneByOne(Inference(model.weights, model.vocabulary)), instance
        self.path = lru_cache(maxsize=None)(self.path)

    def path(self, *actions):
        path = Path(self.model, self.instance)
        for action in actions:
            state, scores = self.model.step(path.state, path.last, path.position)
            path = path.taking(action, scores[action], state)
        return finish_greedily(self.model, path)

    def edits(self, history, candidate, of=(DELETE, "insertions")):
        kinds = ["insertions" if action >= 5 else action for action in self.path(*history, candidate).actions]
        return sum(kind in of for kind in kinds[len(history):])


class Walk:
    """Takes actions through a sample in DyNet and asks for roll-outs wherever the expert has a choice."""

    def __init__(self, model, sample, exact, **options):
        vocabulary = model.vocabulary
        self.system, self.symbols = vocabulary.system, vocabulary.actions.symbols
        self.instance = vocabulary.instance(sample)
        network = fresh_network(vocabulary, model.weights)
        dy.renew_cg()
        self.decoder = DynetDecoder(network, self.instance)
        self.expert = Expert(sample.input, sample.output, vocabulary.actions_of(sample.output))
        self.rollouts = RollOuts(self.decoder, sample.output, self.system, self.symbols, supports(vocabulary),
                                 TrainingSettings(il_loss="softmax-margin" if exact else "nll", **options))
        self.at = Configuration(self.decoder.initial_state(), self.instance.start)
        self.history, self.j = [], 0

    def steps(self, choose):
        """(history, costs of the candidates or None) at each step; `choose` takes the next action."""
        while END not in self.history and len(self.history) < MAX_ACTIONS:
            last = self.history[-1] if self.history else self.system.initial_action
            self.at.state = self.decoder.serve(Step(self.at.state, last, self.at.position))
            candidates = list(self.expert.candidates(self.at.position - self.instance.start, self.j))
            costs = run(self.rollouts.costs(self.at, candidates), self.decoder) if len(candidates) > 1 else None
            yield list(self.history), costs
            self.take(choose(optimal_actions(costs) if costs else candidates))

    def take(self, action):
        self.rollouts.advance(action)
        written = self.system.written(action, self.instance.text[self.at.position], self.symbols)
        self.j = matched(self.expert.target, written, self.j)
        self.at = self.at.after(action, written, self.system)
        self.history.append(action)


def erring(seed, rate=0.3):
    """Takes an optimal action, or now and then another one that is always valid: an insertion."""
    chance = Random(seed)
    return lambda optimal: chance.choice([5, 6, 7]) if chance.random() < rate else chance.choice(optimal)


def walks(exact, **options):
    """Walks with and without errors through all pairs, with several models."""
    for seed, (name, settings) in enumerate(NETWORKS.items()):
        model = reading_model(seed, **settings)
        for number, sample in enumerate(PAIRS):
            walk = Walk(model, sample, exact=exact, **options)
            yield walk, SlowRollOut(model, walk.instance), erring(number, rate=0.3 * (number % 2))


def test_costs_are_the_edits_of_each_roll_out():
    compared = 0
    for walk, slow, choose in walks(exact=True):
        for history, costs in walk.steps(choose):
            if costs:
                assert costs == {action: slow.edits(history, action) for action in costs}
                compared += len(set(costs.values())) > 1
    assert compared > 50


def test_dropping_candidates_leaves_the_optimal_actions_and_their_costs():
    dropped = 0
    for walk, slow, choose in walks(exact=False):
        for history, costs in walk.steps(choose):
            if costs:
                expected = {action: slow.edits(history, action) for action in costs}
                assert sorted(optimal_actions(costs)) == sorted(optimal_actions(expected))
                assert all(costs[action] in (expected[action], inf) for action in costs)
                dropped += inf in costs.values()
    assert dropped > 10


@pytest.mark.parametrize("exact", [True, False])
def test_the_costs_of_the_paper_have_the_distance_to_the_target(exact):
    for walk, slow, choose in walks(exact, il_rollout_loss="distance"):
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
    for walk, slow, choose in walks(exact=True, il_rules="program"):
        for history, costs in walk.steps(choose):
            for action, cost in (costs or {}).items():
                ends = slow.path(*history, action).actions[-1] == END
                assert cost == slow.edits(history, action) + ends
                ended, cut = ended + ends, cut + (not ends)
    assert ended > 10 and cut > 10


def test_in_the_authors_program_what_roll_outs_read_takes_part_in_the_update():
    """All actions of the roll-outs but the last ones, which are not read; nothing with the rules of the paper."""
    for rules in "program", "paper":
        walk = Walk(reading_model(1), PAIRS[2], exact=True, il_rules=rules)
        slow, looked_up, expected = SlowRollOut(reading_model(1), walk.instance), set(), set()
        walk.decoder.look_up = looked_up.update
        for history, costs in walk.steps(erring(1)):
            for action in costs or ():
                expected |= set(slow.path(*history, action).actions[len(history):-1])
        assert looked_up == (expected if rules == "program" else set())
        assert len(expected) > 3


def test_a_model_that_never_ends_is_cut_off():
    model = reading_model(1)
    model.weights["output.b"][END] = -1000
    walk = Walk(model, PAIRS[0], exact=True)
    slow = SlowRollOut(model, walk.instance)
    for history, costs in walk.steps(erring(1)):
        if costs:
            assert {len(slow.path(*history, action).actions) for action in costs} == {MAX_ACTIONS}
            assert costs == {action: slow.edits(history, action) for action in costs}


def test_a_known_roll_out_is_not_run_again(monkeypatch):
    """The first action of a finished roll-out was taken: what follows it is known."""
    model = reading_model(1)
    steps, extend = [], RollOuts._extend

    def counting(self, batch, scores):
        steps.append(len(batch))
        return extend(self, batch, scores)

    monkeypatch.setattr(RollOuts, "_extend", counting)
    sizes = {}
    for reuse in (True, False):
        walk = Walk(model, PAIRS[2], exact=True)
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
