"""Imitation learning: schedules of the roll-ins, step losses, roll-outs, and what each of their settings does."""
from math import exp, log
from random import Random

import editdistance
import numpy as np
import pytest

dy = pytest.importorskip("dynet")

from il_morph.data.formats import Sample
from il_morph.engines.dynet.decoder import DynetDecoder, DynetState, negative_log_likelihood
from il_morph.engines.dynet.network import DynetNetwork, SampleGraph
from il_morph.model.inference import Inference
from il_morph.model.search import decode, execute
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.training.dev_loss import step_losses
from il_morph.training.engine import Step
from il_morph.training.imitation import ImitationLearning, model_rollin_probability
from il_morph.training.loop import TrainingLoop
from il_morph.training.rollouts import Configuration, RollOuts, edits_of_actions
from il_morph.transitions.actions import AT_END, BEFORE_END, COPY, DELETE, END, MAX_ACTIONS
from il_morph.transitions.expert import BETA
from tests.dynet_models import fresh_network, learner_of, loss_of, run
from tests.random_models import TAGGED, small_settings

TIED = Sample("aab", "N;PL", "ab")  # COPY and DELETE are equally good at its beginning
EXPERT_ONLY = {"il_beta": 1.0, "il_tforcing_epochs": 99}  # no chance: roll-ins and roll-outs are the expert's


def network_of(samples=TAGGED, seed: int = 1, **settings) -> DynetNetwork:
    return fresh_network(Vocabulary.build([*samples, TIED], small_settings(**settings)), seed=seed)


def objective_of(network: DynetNetwork = None, epoch: int = 0, seed: int = 1, **settings) -> ImitationLearning:
    network = network or network_of()
    objective = ImitationLearning(network.vocabulary, TrainingSettings(**settings), Random(seed))
    objective.begin_epoch(epoch)
    objective.network = network
    return objective


def instance_of(objective: ImitationLearning, sample: Sample = TIED):
    return objective.network.vocabulary.instance(sample)


def value_of(objective: ImitationLearning, sample: Sample = TIED) -> float:
    dy.renew_cg()
    return loss_of(learner_of(objective, objective.network), instance_of(objective, sample)).value()


@pytest.fixture
def roll_in(monkeypatch):
    """A function from an objective and a sample to the actions of one roll-in, without the last one."""
    taken = []
    step = SampleGraph.step

    def recording(graph, states, action, position):
        taken.append(action)
        return step(graph, states, action, position)

    monkeypatch.setattr(SampleGraph, "step", recording)

    def run(objective, sample=TIED):
        taken.clear()
        value_of(objective, sample)
        return taken[1:]

    return run


# Schedules: e, the probability that the model chooses the next action

@pytest.mark.parametrize("epoch", [0, 1, 7, 30])
@pytest.mark.parametrize("k", [3.0, 12.0])
def test_inverse_sigmoid_decay(epoch, k):
    settings = TrainingSettings(il_decay="inverse-sigmoid", il_k=k)
    assert model_rollin_probability(settings, epoch) == pytest.approx(1 - k / (k + exp(epoch / k)))


def test_inverse_sigmoid_decay_in_figures():
    at = [model_rollin_probability(TrainingSettings(), epoch) for epoch in (0, 12, 59)]
    assert at == pytest.approx([0.076923, 0.184687, 0.919217], abs=1e-6)


@pytest.mark.parametrize("k", [0.5, 0.9])
def test_exponential_decay(k):
    settings = TrainingSettings(il_decay="exponential", il_k=k)
    assert [model_rollin_probability(settings, epoch) for epoch in (0, 1, 5)] == pytest.approx([0, 1 - k, 1 - k ** 5])


@pytest.mark.parametrize("decay, k", [("inverse-sigmoid", 12.0), ("exponential", 0.9)])
def test_teacher_forcing_comes_before_the_schedule(decay, k):
    settings = TrainingSettings(il_decay=decay, il_k=k, il_tforcing_epochs=3)
    plain = TrainingSettings(il_decay=decay, il_k=k)
    assert [model_rollin_probability(settings, epoch) for epoch in range(3)] == [0, 0, 0]
    assert [model_rollin_probability(settings, 3 + epoch) for epoch in range(9)] == [
        model_rollin_probability(plain, epoch) for epoch in range(9)]


def test_the_schedule_after_two_epochs_of_teacher_forcing_in_figures():
    settings = TrainingSettings(il_tforcing_epochs=2)
    at = [model_rollin_probability(settings, epoch) for epoch in (1, 2, 14)]
    assert at == pytest.approx([0, 1 - 12 / 13, 1 - 12 / (12 + exp(1))], abs=1e-9)


def test_a_schedule_may_be_steep():
    assert model_rollin_probability(TrainingSettings(il_k=0.001), 1) == 1


# Step losses

SCORES = [0.3, -1.2, 0.8, 2.0, -0.5, 0.1, 1.1, -2.0]


def vector(values=SCORES) -> dy.Expression:
    return dy.inputVector(values)


@pytest.mark.parametrize("actions", [[3], [3, 6], [0, 4, 7]])
def test_negative_log_likelihood(actions):
    dy.renew_cg()
    total = sum(map(exp, SCORES))
    expected = -log(sum(exp(SCORES[action]) for action in actions) / total)
    assert negative_log_likelihood(vector(), actions).value() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("at_end, costs", [(False, {COPY: 2, DELETE: 2, 7: 4}), (False, {COPY: 1}), (True, {END: 0}),
                                           (False, {DELETE: 3, 9: 1})])
def test_step_losses_of_the_three_kinds(at_end, costs):
    network = network_of()
    number = len(network.vocabulary.actions)
    valid = network.vocabulary.table.valid_actions(at_end)
    scores = {action: score for action, score in enumerate(np.random.RandomState(3).normal(size=number))
              if action in valid}
    logits = [scores.get(action, -1e9) for action in range(number)]
    lowest = min(costs.values())
    regret = {action: costs[action] - lowest if action in costs else 5.0 for action in valid}
    optimal = [action for action, cost in costs.items() if cost == lowest]

    def loss(name):
        dy.renew_cg()
        decoder = DynetDecoder(network, network.vocabulary.instance(TIED))
        support = AT_END if at_end else BEFORE_END
        state = DynetState([], support, dy.inputVector(logits))
        objective_of(network, il_loss=name).leave_loss(decoder, state, costs, support)
        (left,) = decoder.losses
        return left.value()

    def softmax_loss(score):
        return -log(sum(exp(score(action)) for action in optimal) / sum(exp(score(action)) for action in valid))

    assert loss("nll") == pytest.approx(softmax_loss(lambda action: scores[action]), abs=1e-4)
    margin = softmax_loss(lambda action: scores[action] + regret[action])
    assert loss("softmax-margin") == pytest.approx(margin, abs=1e-4)
    highest = max(regret.values())
    squares = [(scores[action] + regret[action] / highest) ** 2 for action in valid]
    assert loss("mse") == pytest.approx(sum(squares) / len(squares), abs=1e-4)


def test_regression_without_regret():
    network = network_of()
    dy.renew_cg()
    decoder, number = DynetDecoder(network, network.vocabulary.instance(TIED)), len(network.vocabulary.actions)
    decoder.regression_loss(DynetState([], AT_END, vector([2.0] * number)), AT_END, np.zeros(number))
    assert decoder.losses[0].value() == pytest.approx(4.0)


def test_the_loss_of_a_sample_is_the_mean_of_its_steps():
    objective = objective_of(**EXPERT_ONLY)
    inference = Inference(objective.network.weights(), objective.network.vocabulary)
    for sample in TAGGED + [TIED]:
        instance = instance_of(objective, sample)
        (steps,) = step_losses(inference, [instance], objective.teachers([instance]))
        assert value_of(objective, sample) == pytest.approx(np.mean(steps), abs=1e-5)


@pytest.mark.parametrize("loss", ["nll", "softmax-margin", "mse"])
def test_each_loss_teaches_the_best_actions(loss):
    """With mse too the highest score comes to be that of the best action."""
    samples = [Sample("dog", "N;PL", "dogs"), Sample("cat", "V;PST", "at")]
    network = network_of(samples, input=16, action_input=16, enc_hidden=16, dec_hidden=24)
    instances = [network.vocabulary.instance(sample) for sample in samples]
    settings = TrainingSettings(epochs=150, patience=150, il_loss=loss, il_beta=1.0, il_tforcing_epochs=150)
    objective = ImitationLearning(network.vocabulary, settings, Random(1))
    history = TrainingLoop(learner_of(objective, network), objective.teachers, network.vocabulary, instances, instances,
                           settings, Random(1), until=1.0).run()
    assert history.epochs[-1].loss < history.epochs[0].loss / 2
    found = decode(Inference(history.weights, network.vocabulary), instances)
    assert [hypotheses[0].output for hypotheses in found] == [sample.output for sample in samples]


# Roll-ins

def test_expert_roll_ins_lead_to_the_target(roll_in):
    objective = objective_of(**EXPERT_ONLY)
    for sample in TAGGED + [TIED]:
        instance = instance_of(objective, sample)
        assert execute(roll_in(objective, sample), instance, objective.vocabulary) == sample.output


def test_best_takes_the_most_probable_of_the_optimal_actions(roll_in):
    """The same one each time, and the other one when the scores are the other way round."""
    network = network_of()
    objective = objective_of(network, **EXPERT_ONLY, il_rollin="best")
    for favourite in COPY, DELETE:
        bias = np.zeros(len(network.vocabulary.actions), dtype=np.float32)
        bias[favourite] = 20
        network.set_weights({**network.weights(), "output.b": bias})
        assert {roll_in(objective)[0] for _ in range(10)} == {favourite}


def test_uniform_takes_any_of_the_optimal_actions(roll_in):
    network = network_of()
    bias = np.zeros(len(network.vocabulary.actions), dtype=np.float32)
    bias[COPY] = 20
    network.set_weights({**network.weights(), "output.b": bias})
    objective = objective_of(network, **EXPERT_ONLY, il_rollin="uniform")
    taken = [roll_in(objective)[0] for _ in range(60)]
    assert set(taken) == {COPY, DELETE}
    assert 15 <= taken.count(COPY) <= 45


def test_model_roll_ins_are_sampled_from_the_valid_actions(roll_in):
    objective = objective_of(epoch=50, il_beta=1.0, il_decay="exponential", il_k=0.5)
    assert objective.model_rollin == pytest.approx(1)
    table, seen = objective.table, set()
    for _ in range(20):
        instance, position = instance_of(objective), 1
        for action in roll_in(objective):
            assert action in table.valid_actions(position == instance.end)
            position = table.advance(position, action)
            seen.add(action)
    assert len(seen) > 10


def test_sampling_follows_the_probabilities(roll_in):
    """Two insertions far above all other actions, e times as probable as one another."""
    network = network_of()
    bias = np.zeros(len(network.vocabulary.actions), dtype=np.float32)
    bias[6], bias[7] = 21, 20
    weights = {**network.weights(), "output.b": bias, "output.W": np.zeros_like(network.weights()["output.W"])}
    network.set_weights(weights)
    objective = objective_of(network, epoch=50, il_beta=1.0, il_decay="exponential", il_k=0.5)
    taken = [action for _ in range(10) for action in roll_in(objective)]
    assert set(taken) == {6, 7}
    assert taken.count(6) / len(taken) == pytest.approx(exp(1) / (1 + exp(1)), abs=0.05)


def test_roll_ins_are_cut_after_150_actions(roll_in):
    """The model only ever inserts, so that END never comes."""
    network = network_of()
    bias = np.zeros(len(network.vocabulary.actions), dtype=np.float32)
    bias[6] = 50
    network.set_weights({**network.weights(), "output.b": bias})
    objective = objective_of(network, epoch=50, il_beta=1.0, il_decay="exponential", il_k=0.5)
    assert len(roll_in(objective)) == MAX_ACTIONS - 1
    assert np.isfinite(value_of(objective))


def test_the_expert_knows_what_follows_an_error(roll_in):
    """Sampled roll-ins leave the way to the target; every loss is that of actions which exist."""
    for loss in "nll", "softmax-margin", "mse":
        objective = objective_of(epoch=5, il_decay="exponential", il_k=0.5, il_loss=loss)
        values = [value_of(objective, sample) for sample in TAGGED]
        assert min(values) > 0 and max(values) < 100


# Roll-outs

@pytest.fixture
def rolled_out(monkeypatch):
    """The steps at which the model rolled out, of the samples seen so far."""
    steps = []
    costs = RollOuts.costs

    def recording(rollouts, configuration, candidates):
        steps.append(configuration.steps)
        return (yield from costs(rollouts, configuration, candidates))

    monkeypatch.setattr(RollOuts, "costs", recording)
    return steps


def steps_of_samples(objective, rolled_out, times: int) -> list:
    """For each time the steps of the same sample at which the model rolled out."""
    result = []
    for _ in range(times):
        rolled_out.clear()
        value_of(objective, Sample("mouse", "N;PL", "mice"))
        result.append(tuple(rolled_out))
    return result


def test_beta_is_the_probability_of_expert_roll_outs(rolled_out):
    never = objective_of(il_beta=1.0, il_tforcing_epochs=9)
    assert set(steps_of_samples(never, rolled_out, 20)) == {()}
    always = objective_of(il_beta=0.0, il_tforcing_epochs=9)
    assert () not in steps_of_samples(always, rolled_out, 20)
    rarely = steps_of_samples(objective_of(il_beta=0.9, il_tforcing_epochs=9), rolled_out, 60)
    assert 40 <= rarely.count(()) < 60


def test_roll_outs_are_drawn_for_a_sequence_or_for_each_step(rolled_out):
    """Roll-ins are the same each time: those of a model whose scores do not move."""
    network = network_of()
    whole = objective_of(network, il_beta=0.5, il_tforcing_epochs=9, il_global_rollout=True)
    always = objective_of(network, il_beta=0.0, il_tforcing_epochs=9)
    (every,) = set(steps_of_samples(always, rolled_out, 3))
    assert len(every) > 2
    drawn = steps_of_samples(whole, rolled_out, 40)
    assert 8 <= drawn.count(()) <= 32
    assert all(steps == () or len(steps) > 1 for steps in drawn)
    local = objective_of(network, il_beta=0.5, il_tforcing_epochs=9, il_global_rollout=False)
    patterns = set(steps_of_samples(local, rolled_out, 40))
    assert len(patterns) > 5
    assert any(steps and 0 not in steps for steps in patterns)


def finish_greedily(graph, states, instance, actions, position) -> list:
    """Let the model finish a sequence of actions one step at a time."""
    table = graph.network.vocabulary.table
    actions = list(actions)
    while actions[-1] != END and len(actions) < MAX_ACTIONS:
        states = graph.step(states, actions[-1], position)
        scores = graph.logits(states, position == instance.end).vec_value()
        actions.append(int(np.argmax(scores)))
        position = table.advance(position, actions[-1])
    return actions


def roll_outs(network: DynetNetwork, sample: Sample, **options) -> tuple:
    """The costs of COPY, DELETE and an insertion at the first step, and the sequences behind them."""
    instance, table = network.vocabulary.instance(sample), network.vocabulary.table
    insertion = network.vocabulary.actions_of(sample.output)[0]
    dy.renew_cg()
    decoder = DynetDecoder(network, instance)
    state = decoder.serve(Step(decoder.initial_state(), COPY, instance.start))
    settings = TrainingSettings(il_loss="softmax-margin", **options)
    edits = edits_of_actions(table, settings.il_rules == "program")
    rollouts = RollOuts(decoder, sample.output, table, settings, edits)
    costs = run(rollouts.costs(Configuration(state, instance.start), [COPY, DELETE, insertion]), decoder)
    sequences = {action: finish_greedily(decoder.graph, state.cells, instance, [action],
                                         table.advance(instance.start, action)) for action in costs}
    return costs, sequences


def ending_network(**settings) -> DynetNetwork:
    """A network whose greedy sequences come to an end: DELETE and END are likely."""
    network = network_of(**settings)
    bias = np.zeros(len(network.vocabulary.actions), dtype=np.float32)
    bias[[DELETE, COPY, END]] = 0.3, 0.5, 1.0
    network.set_weights({**network.weights(), "output.b": bias})
    return network


@pytest.mark.parametrize("sample", TAGGED, ids=lambda sample: sample.input)
def test_the_cost_of_a_model_roll_out(sample):
    network = ending_network()
    instance = network.vocabulary.instance(sample)
    edits, sequences = roll_outs(network, sample)
    distance, _ = roll_outs(network, sample, il_rollout_loss="distance")
    program, _ = roll_outs(network, sample, il_rules="program")
    for action, sequence in sequences.items():
        insertions = sum(network.vocabulary.table.inserts[each] for each in sequence)
        assert edits[action] == insertions + sequence.count(DELETE)
        assert program[action] == edits[action] + (sequence[-1] == END)
        output = execute(sequence, instance, network.vocabulary)
        assert distance[action] == 5 * editdistance.eval(output, sample.output) + edits[action]


def test_roll_outs_are_those_of_the_settings(monkeypatch):
    made = []
    monkeypatch.setattr("il_morph.training.imitation.RollOuts", lambda *arguments, **options: made.append(
        RollOuts(*arguments, **options)) or made[-1])
    for loss in "edits", "distance":
        for rules in "paper", "program":
            value_of(objective_of(il_rollout_loss=loss, il_rules=rules))
            assert (made[-1].settings.il_rollout_loss, made[-1].program) == (loss, rules == "program")


class Kept:
    """A decoder that keeps the losses which are left; its model rolls everything out at these costs."""

    def __init__(self, instance, scores=()):
        self.instance, self.left, self._scores = instance, [], scores

    def initial_state(self):
        return None

    def scores(self, state):
        return self._scores

    def step_loss(self, state, loss):
        self.left.append(loss)

    def regression_loss(self, state, support, targets):
        self.left.append(targets)


def drawn(*numbers):
    """A source of these random numbers."""
    class Numbers:
        def __init__(self):
            self.rest = list(numbers)

        def random(self):
            return self.rest.pop(0)

    return Numbers()


def first_step(objective, sample, *numbers):
    """The loss that is left at the first step, by an objective that draws these numbers."""
    objective.random = drawn(*numbers)
    decoder = Kept(instance_of(objective, sample), np.zeros(len(objective.vocabulary.actions)))
    visit = objective.visit(decoder)
    next(visit)
    visit.send("state")
    return decoder.left[0]


@pytest.mark.parametrize("number, biased", [(0.49, True), (0.5, False)])
def test_biased_insertions_cost_as_much_as_the_copy_they_could_be_in_half_of_the_steps(number, biased):
    """mouse → mice: at m COPY costs D(1, 1) = 4, DELETE 6, INSERT(m) 6; the insertion is given 4."""
    objective = objective_of(il_beta=1.0, il_tforcing_epochs=9, il_loss="softmax-margin", il_bias_inserts=True)
    insertion = objective.vocabulary.actions.positions["m"]
    loss = first_step(objective, Sample("mouse", "N;PL", "mice"), 0.9, number)
    assert sorted(loss.optimal) == sorted([COPY, insertion] if biased else [COPY])
    assert (loss.margins[COPY], loss.margins[DELETE], loss.margins[insertion]) == (0, 2, 0 if biased else 2)


def test_biased_insertions_take_the_roll_out_of_the_copy(monkeypatch):
    asked = []

    def costs(rollouts, at, candidates):
        asked.append(candidates)
        return dict.fromkeys(candidates, 7.0)
        yield  # a generator

    monkeypatch.setattr(RollOuts, "costs", costs)
    objective = objective_of(il_beta=0.0, il_tforcing_epochs=9, il_loss="softmax-margin", il_bias_inserts=True)
    insertion = objective.vocabulary.actions.positions["m"]
    loss = first_step(objective, Sample("mouse", "N;PL", "mice"), 0.9, 0.1)
    assert asked == [[COPY, DELETE]]
    assert sorted(loss.optimal) == sorted([COPY, DELETE, insertion])


def test_where_nothing_can_be_copied_no_insertion_is_biased():
    objective = objective_of(il_beta=1.0, il_tforcing_epochs=9, il_loss="softmax-margin", il_bias_inserts=True)
    loss = first_step(objective, Sample("ouse", "N;PL", "mice"), 0.9, 0.1)
    assert loss.margins[objective.vocabulary.actions.positions["m"]] == 0
    assert COPY not in loss.optimal


def test_regrets_where_the_target_is_complete_and_input_is_left():
    """The paper: DELETE 0, all else 5. The program: END, which is not valid, 0, DELETE and insertions 5."""
    for rules, free, size in ("paper", DELETE, 0), ("program", END, 1):
        objective = objective_of(il_loss="softmax-margin", il_rules=rules)
        decoder = Kept(instance_of(objective))
        objective.leave_loss(decoder, None, {DELETE: 0}, BEFORE_END)
        (loss,) = decoder.left
        support = objective.table.valid[loss.support]
        assert list(loss.optimal) == [DELETE]
        assert loss.margins[free] == 0 and support[free]
        assert set(loss.margins[support & (np.arange(len(support)) != free)]) == {5.0}
        assert support.sum() == objective.table.valid[BEFORE_END].sum() + size


@pytest.mark.parametrize("loss", ["softmax-margin", "mse"])
def test_with_learnt_costs_no_action_that_leads_to_the_target_is_worse_than_one_that_leads_away(loss):
    vocabulary = network_of().vocabulary.with_expert(all_prefixes=False, learns=True, samples=TAGGED)
    objective = ImitationLearning(vocabulary, TrainingSettings(il_loss=loss), Random(1))
    decoder = Kept(vocabulary.instance(TIED))
    objective.leave_loss(decoder, None, {COPY: 10.0, DELETE: 12.0, vocabulary.actions["a"]: 145.0}, BEFORE_END)
    (left,) = decoder.left
    regrets = left.margins if loss == "softmax-margin" else -BETA * left
    assert (regrets[COPY], regrets[DELETE]) == (0, 2)
    assert regrets[vocabulary.actions["a"]] == regrets[vocabulary.actions["w"]] == BETA


# The expert and dropout

@pytest.mark.parametrize("oracle, optimal", [(True, [[COPY], [COPY], [COPY]]), (False, [[COPY], [DELETE], [DELETE]])])
def test_without_the_optimal_oracle_the_length_of_the_output_is_the_place_in_the_target(oracle, optimal):
    """ab → ab, first an error: x is written. The place is 0 if it is remembered, 1 if only its length counts."""
    objective = objective_of(network_of([Sample("ab", "N", "ab"), Sample("x", "N", "x")]), epoch=50, il_beta=1.0,
                             il_k=0.5, il_decay="exponential", il_optimal_oracle=oracle)
    positions = objective.vocabulary.actions.positions
    scores = np.full(len(objective.vocabulary.actions), -99.0)
    objective.random = drawn(*[0.5] * 20)
    decoder = Kept(instance_of(objective, Sample("ab", "N", "ab")), scores)
    visit = objective.visit(decoder)
    next(visit)
    for favourite in (positions["x"], COPY, COPY):
        scores[:] = -99.0
        scores[favourite] = 99.0
        visit.send("state")
    assert [list(loss.optimal) for loss in decoder.left] == optimal


def test_experts_are_kept():
    objective = objective_of()
    assert objective.expert(instance_of(objective)) is objective.expert(instance_of(objective))


@pytest.mark.parametrize("settings", [{}, {"dec_layers": 2}, {"vanilla_lstm": True}], ids=str)
def test_dropout_draws_new_masks_for_each_sample(settings):
    network = network_of(**settings)
    without = [value_of(objective_of(network, **EXPERT_ONLY)) for _ in range(3)]
    dropped = [value_of(objective_of(network, **EXPERT_ONLY, dropout=0.5)) for _ in range(8)]
    assert len(set(without)) == 1
    assert len(set(dropped)) > 4
