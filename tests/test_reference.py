"""The models that the authors' program trained: same outputs, log probabilities and step losses."""
from random import Random

import numpy as np
import pytest

from experiments.benchmark.simple_search import beam, greedy
from il_morph.data.formats import Sample
from il_morph.model.modelfile import load_model, save_model
from il_morph.model.predictor import Predictor
from il_morph.model.search import decode
from il_morph.model.settings import TrainingSettings
from il_morph.training.dev_loss import ExpertTeacher, GoldTeacher, step_losses
from il_morph.training.engine import Step
from il_morph.transitions.actions import AT_END, BEFORE_END
from il_morph.transitions.expert import Expert, matched, optimal_actions, regrets
from tests.reference_models import converted, read_reference, reference_models
from tests.shared import SHARED, needs_shared
from tests.steps import OneByOne, step_log_probabilities

pytestmark = needs_shared

MODELS = reference_models() if SHARED.is_dir() else {}
OF_EDITS, HARD = ([name for name, system in MODELS.items() if system == kind] for kind in ("haem", "hard"))
TOLERANCE = 1e-4


class Reference:
    """A model of the authors through our model file, and what their program did with it."""

    def __init__(self, name, folder):
        content = read_reference(name)
        save_model(folder / "f.model", converted(content))
        self.model = load_model(folder / "f.model")
        self.predictor = Predictor.load(folder / "f.model")
        self.vocabulary = self.model.vocabulary
        self.cases, self.teacher_forced = content["cases"], content["teacher_forced"]
        self.instances = [self.instance(case) for case in self.cases]

    def instance(self, case):
        return self.vocabulary.instance(Sample(case["input"], case["features"], case.get("target")))

    def actions(self, case):
        """The recorded actions without the one their history starts with."""
        return [self.vocabulary.actions.positions[symbol] for symbol in case["actions"][1:]]

    def expert(self, case):
        return Expert(case["input"], case["target"], self.vocabulary.table)

    def check(self, expected, found):
        assert found.output == expected["output"]
        assert list(found.actions) == self.actions(expected)
        assert found.log_probability == pytest.approx(expected["logp"], abs=TOLERANCE)


@pytest.fixture(scope="module", params=MODELS)
def reference(request, tmp_path_factory):
    return Reference(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module", params=OF_EDITS)
def of_edits(request, tmp_path_factory):
    return Reference(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module", params=HARD)
def hard(request, tmp_path_factory):
    return Reference(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def dynet_model(reference):
    """The model through DyNet; where that is not installed the test is skipped."""
    pytest.importorskip("dynet")
    from tests.dynet_models import DynetModel

    return DynetModel.of(reference.model)


def test_there_are_models_of_both_systems():
    assert {"ca-d-2017-russian", "ha-mle-2016-turkish"} <= set(MODELS)


def test_there_are_120_cases(reference):
    assert (len(reference.cases), len(reference.teacher_forced)) == (120, 20)


def test_greedy_outputs_through_numpy(reference):
    for case, (found, *others) in zip(reference.cases, decode(reference.predictor.inference, reference.instances)):
        assert not others
        reference.check(case["greedy"], found)


def test_beam_outputs_through_numpy(reference):
    samples = [instance.sample for instance in reference.instances]
    for case, hypotheses in zip(reference.cases, reference.predictor.hypotheses(samples, beam_width=4)):
        assert len(hypotheses) == len(case["beam4"])
        for expected, found in zip(case["beam4"], hypotheses):
            reference.check(expected, found)


def test_the_predictor_gives_the_best_of_the_beam(reference):
    items = [(case["input"], case["features"]) for case in reference.cases]
    assert reference.predictor.predict(items) == [case["beam4"][0]["output"] for case in reference.cases]


def test_greedy_outputs_through_dynet(reference, dynet_model):
    for case, instance in zip(reference.cases, reference.instances):
        reference.check(case["greedy"], greedy(dynet_model, instance))


def test_beam_outputs_through_dynet(reference, dynet_model):
    for case, instance in zip(reference.cases, reference.instances):
        hypotheses = beam(dynet_model, instance, 4)
        assert len(hypotheses) == len(case["beam4"])
        for expected, found in zip(case["beam4"], hypotheses):
            reference.check(expected, found)


class Recording(ExpertTeacher):
    """The expert, whose actions are kept."""

    def __init__(self, expert):
        super().__init__(expert)
        self.actions = []

    def take(self, action):
        super().take(action)
        self.actions.append(action)


def test_nll_of_each_teacher_forced_step_through_numpy(reference):
    """The edit system is led by the expert, which takes the recorded actions."""
    cases = reference.teacher_forced
    if reference.vocabulary.system.name == "haem":
        teachers = [Recording(reference.expert(case)) for case in cases]
    else:
        teachers = [GoldTeacher(reference.actions(case)) for case in cases]
    losses = step_losses(reference.predictor.inference, [reference.instance(case) for case in cases], teachers)
    for case, found, teacher in zip(cases, losses, teachers):
        assert found == pytest.approx(case["step_loss_nll"], abs=TOLERANCE)
        assert teacher.actions == reference.actions(case)


def test_nll_of_hard_attention_through_dynet(hard):
    pytest.importorskip("dynet")
    from tests.dynet_models import DynetModel

    model = DynetModel.of(hard.model)
    for case in hard.teacher_forced:
        actions = hard.actions(case)
        scores = step_log_probabilities(model, hard.instance(case), actions)
        losses = [-row[action] for row, action in zip(scores, actions)]
        assert losses == pytest.approx(case["step_loss_nll"], abs=TOLERANCE)


def teacher_forced_states(reference, case):
    """(position in the input, how much of the target is written, recorded action) of each step."""
    table = reference.vocabulary.table
    i = j = 0
    for action in reference.actions(case):
        yield i, j, action
        j = matched(case["target"], table.rows[action].written(case["input"][i:i + 1]), j)
        i = table.advance(i, action)


def departs(case, i, j):
    """Where we follow the paper, not the program: the target is complete and input is left."""
    return j == len(case["target"]) and i < len(case["input"])


def check_softmax_margin(reference, losses_of):
    """Every step is compared but those where we depart from the program."""
    compared = left_out = 0
    for case in reference.teacher_forced:
        losses, expected = losses_of(case), case["step_loss_softmax_margin"]
        assert len(losses) == len(expected)
        for (i, j, _), loss, wanted in zip(teacher_forced_states(reference, case), losses, expected):
            if departs(case, i, j):
                left_out += 1
            else:
                assert loss == pytest.approx(wanted, abs=TOLERANCE)
                compared += 1
    assert compared > 200
    assert compared + left_out == sum(len(case["actions"]) - 1 for case in reference.teacher_forced)


def test_softmax_margin_of_each_step_through_numpy(of_edits):
    def losses_of(case):
        expert, scores = of_edits.expert(case), step_log_probabilities(
            OneByOne(of_edits.predictor.inference), of_edits.instance(case), of_edits.actions(case))
        losses = []
        for (i, j, _), row in zip(teacher_forced_states(of_edits, case), scores):
            costs = expert.candidates(i, j)
            support = of_edits.vocabulary.table.valid[AT_END if i == len(case["input"]) else BEFORE_END]
            margin = np.logaddexp.reduce((row + regrets(costs, support))[support])
            losses.append(margin - np.logaddexp.reduce(row[optimal_actions(costs)]))
        return losses

    check_softmax_margin(of_edits, losses_of)


def dynet_step_losses(reference, loss):
    """The step losses of the training objective along the recorded actions, as a function of the case."""
    dynet = pytest.importorskip("dynet")
    from il_morph.engines.dynet.decoder import DynetDecoder
    from il_morph.training.imitation import ImitationLearning
    from tests.dynet_models import DynetModel

    model = DynetModel.of(reference.model)
    objective = ImitationLearning(model.vocabulary, TrainingSettings(il_loss=loss), Random(1))

    def losses_of(case):
        expert, instance = reference.expert(case), reference.instance(case)
        dynet.renew_cg()
        decoder = DynetDecoder(model.network, instance)
        last, state = reference.vocabulary.system.initial_action, decoder.initial_state()
        for i, j, action in teacher_forced_states(reference, case):
            position = instance.start + i
            state = decoder.serve(Step(state, last, position))
            objective.leave_loss(decoder, state, expert.candidates(i, j),
                                 AT_END if position == instance.end else BEFORE_END)
            last = action
        return [loss.value() for loss in decoder.losses]

    return losses_of


def test_nll_of_each_teacher_forced_step_through_dynet(of_edits):
    losses_of = dynet_step_losses(of_edits, "nll")
    for case in of_edits.teacher_forced:
        assert losses_of(case) == pytest.approx(case["step_loss_nll"], abs=TOLERANCE)


def test_softmax_margin_of_each_step_through_dynet(of_edits):
    check_softmax_margin(of_edits, dynet_step_losses(of_edits, "softmax-margin"))
