"""Walks through samples that ask for roll-outs wherever the expert has a choice, and slow roll-outs to compare with."""
from functools import lru_cache
from math import inf
from random import Random

from experiments.benchmark.simple_search import Path, finish_greedily
from il_morph.data.formats import Sample
from il_morph.model.inference import Inference
from il_morph.model.settings import TrainingSettings
from il_morph.training.engine import Step, reply_to
from il_morph.training.rollouts import Configuration, RollOuts, edits_of_actions
from il_morph.transitions.actions import DELETE, END, MAX_ACTIONS
from il_morph.transitions.expert import Expert, matched, optimal_actions
from tests.random_models import random_model
from tests.steps import OneByOne

PAIRS = [Sample("sing", "V;PST;3", "sang"), Sample("mouse", "N;PL", "mice"), Sample("walk", "V;PST", "walked"),
         Sample("go on", "V;PRS;3", "goes on"), Sample("a", "N;PL", "aa"), Sample("tall", "ADJ;CMPR", "a")]
NETWORKS = {"coupled": {}, "vanilla": {"vanilla_lstm": True}, "close": {"tag_wraps": "close"}}


def reading_model(seed, **settings):
    """Random weights that like to read on and to end, so that roll-outs end sooner or later."""
    model = random_model(seed, scale=1.2, samples=PAIRS, **settings)
    model.weights["output.b"][[END, *model.vocabulary.table.reads.nonzero()[0]]] += 3
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
    """Takes actions through a sample and asks for roll-outs wherever the expert has a choice.

    `served(model, instance)` gives the decoder of an engine and what serves its requests.
    """

    def __init__(self, served, model, sample, exact, **options):
        vocabulary = model.vocabulary
        self.system, self.table = vocabulary.system, vocabulary.table
        self.instance = vocabulary.instance(sample)
        self.decoder, self.serve = served(model, self.instance)
        self.expert = Expert(sample.input, sample.output, vocabulary.table)
        settings = TrainingSettings(il_loss="softmax-margin" if exact else "nll", **options)
        edits = edits_of_actions(vocabulary.table, settings.il_rules == "program")
        self.rollouts = RollOuts(self.decoder, sample.output, vocabulary.table, settings, edits)
        self.at = Configuration(self.decoder.initial_state(), self.instance.start)
        self.history, self.j = [], 0

    def steps(self, choose):
        """(history, costs of the candidates or None) at each step; `choose` takes the next action."""
        while END not in self.history and len(self.history) < MAX_ACTIONS:
            last = self.history[-1] if self.history else self.system.initial_action
            self.at.state = self.serve(Step(self.at.state, last, self.at.position))
            candidates = list(self.expert.candidates(self.at.position - self.instance.start, self.j))
            costs = reply_to(self.rollouts.costs(self.at, candidates), self.serve) if len(candidates) > 1 else None
            yield list(self.history), costs
            self.take(choose(optimal_actions(costs) if costs else candidates))

    def take(self, action):
        self.rollouts.advance(action)
        row, head = self.table.rows[action], self.instance.text[self.at.position]
        self.j = matched(self.expert.target, row.written(head), self.j)
        self.at = self.at.after(row, head)
        self.history.append(action)


def erring(seed, rate=0.3):
    """Takes an optimal action, or now and then another one that is always valid: an insertion."""
    chance = Random(seed)
    return lambda optimal: chance.choice([5, 6, 7]) if chance.random() < rate else chance.choice(optimal)


def walks(served, networks, exact, **options):
    """Walks with and without errors through all pairs, with several models."""
    for seed, settings in enumerate(networks.values()):
        model = reading_model(seed, **settings)
        for number, sample in enumerate(PAIRS):
            walk = Walk(served, model, sample, exact, **options)
            yield walk, SlowRollOut(model, walk.instance), erring(number, rate=0.3 * (number % 2))


def compare_costs(walking):
    """All costs are the edits of slow roll-outs; how often they differ between the candidates of a step."""
    compared = 0
    for walk, slow, choose in walking:
        for history, costs in walk.steps(choose):
            if costs:
                assert costs == {action: slow.edits(history, action) for action in costs}
                compared += len(set(costs.values())) > 1
    return compared


def compare_dropping(walking):
    """Optimal actions and their costs are those of slow roll-outs; how many steps have a candidate that was dropped."""
    dropped = 0
    for walk, slow, choose in walking:
        for history, costs in walk.steps(choose):
            if costs:
                expected = {action: slow.edits(history, action) for action in costs}
                assert sorted(optimal_actions(costs)) == sorted(optimal_actions(expected))
                assert all(costs[action] in (expected[action], inf) for action in costs)
                dropped += inf in costs.values()
    return dropped
