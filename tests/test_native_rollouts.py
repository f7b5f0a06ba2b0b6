"""Roll-outs that the native engine finishes at once against roll-outs one by one, from the first action on."""
from random import Random

import pytest

from il_morph.engines.native.batch import Batch
from il_morph.training.engine import RollOut, Step
from il_morph.training.rollouts import edits_of_actions
from il_morph.transitions.actions import END, MAX_ACTIONS
from tests.rollout_walks import (
    NETWORKS,
    PAIRS,
    SlowRollOut,
    Walk,
    compare_costs,
    compare_dropping,
    reading_model,
    walks,
)
from tests.test_native_gradients import native
from tests.test_native_updates import KERNELS


@pytest.fixture(params=KERNELS)
def kernels(request):
    return KERNELS[request.param]()


@pytest.fixture
def served(kernels):
    """A decoder with these kernels, and what serves its requests."""
    def of(model, instance):
        batch = Batch(native(model, kernels), [instance])
        return batch.decoders[0], batch._serve_one
    return of


def test_costs_are_the_edits_of_each_roll_out(served):
    assert compare_costs(walks(served, NETWORKS, exact=True)) > 30


def test_in_the_authors_program_end_costs_as_much_as_an_edit(served):
    ended = 0
    for walk, slow, choose in walks(served, NETWORKS, exact=True, il_rules="program"):
        for history, costs in walk.steps(choose):
            for action, cost in (costs or {}).items():
                ends = slow.path(*history, action).actions[-1] == END
                assert cost == slow.edits(history, action) + ends
                ended += ends
    assert ended > 10


def test_dropping_candidates_leaves_the_optimal_actions_and_their_costs(served):
    assert compare_dropping(walks(served, NETWORKS, exact=False)) > 6


def test_a_model_that_never_ends_is_cut_off(served):
    model = reading_model(1)
    model.weights["output.b"][END] = -1000
    walk = Walk(served, model, PAIRS[0], exact=True)
    slow, asked = SlowRollOut(model, walk.instance), 0
    for history, costs in walk.steps(lambda optimal: optimal[0]):
        if costs:
            assert costs == {action: slow.edits(history, action) for action in costs}
            assert {len(slow.path(*history, action).actions) for action in costs} == {MAX_ACTIONS}
            asked += 1
        if len(history) == 10:
            break
    assert asked > 2


@pytest.mark.parametrize("settings", NETWORKS)
def test_the_candidates_of_a_batch_are_finished_as_those_of_each_sample_alone(kernels, settings):
    """Samples of different lengths, after one step or two, with bounds of their own."""
    model = reading_model(3, **NETWORKS[settings])
    system, table, number = model.vocabulary.system, model.vocabulary.table, len(model.vocabulary.actions)
    instances, costs = [model.vocabulary.instance(sample) for sample in PAIRS], edits_of_actions(table, False)

    def visit(decoder, tightens, replies):
        instance, chance = decoder.instance, Random(decoder.instance.text)
        state, action, position = decoder.initial_state(), system.initial_action, instance.start
        for _ in range(1 + len(instance.text) % 2):
            state = yield Step(state, action, position)
            action, position = 5, position
        candidates = chance.sample(range(5, number), 2) + [int(table.reads.nonzero()[0][-1])]
        positions = [table.advance(position, candidate) for candidate in candidates]
        bound = float(chance.choice([1, 3, 1000]))
        replies[instance] = yield RollOut(state, candidates, positions, costs, MAX_ACTIONS - 2, bound, tightens)
        return 0

    dropped = 0
    for tightens in True, False:
        together, alone = {}, {}
        batch = Batch(native(model, kernels), instances)
        batch.serve([visit(decoder, tightens, together) for decoder in batch.decoders])
        for instance in instances:
            batch = Batch(native(model, kernels), [instance])
            batch.serve([visit(batch.decoders[0], tightens, alone)])
        assert together == alone
        dropped += sum(finished.dropped for reply in alone.values() for finished in reply)
    assert 0 < dropped < 2 * 3 * len(instances)
