"""Trainings of the authors' program, followed update by update from its initial parameters with its random numbers."""
import json

import numpy as np
import pytest

from il_morph.data.formats import SIGMORPHON2017, read_samples
from il_morph.engines import engine_named
from il_morph.model.settings import ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.training.imitation import ImitationLearning
from tests.reference_models import our_name
from tests.shared import SHARED, needs_shared, shared_files

FILES = shared_files("reference/trajectory-*.json")
TOLERANCE = 1e-4
pytestmark = needs_shared


class Recorded:
    """The stream of uniform numbers that the recordings were made with."""

    def __init__(self):
        self.stream = np.random.RandomState(42)

    def random(self):
        return self.stream.random_sample()


class Recording(ImitationLearning):
    """The real objective; it keeps what the recordings have of an update."""

    def begin(self):
        self.actions, self.optimal, self.margins = [], [], []

    def leave_loss(self, decoder, state, costs, support):
        optimal = super().leave_loss(decoder, state, costs, support)
        self.optimal.append(sorted(optimal))
        return optimal

    def _margins(self, costs, support):
        support, margins = super()._margins(costs, support)
        self.margins.append({str(action): margins[action] for action in self.valid[support] if margins[action] != 5})
        return support, margins

    def _roll_in(self, *arguments):
        self.actions.append(super()._roll_in(*arguments))
        return self.actions[-1]


class Trajectory:
    """A recording, and a learner that starts where it starts."""

    def __init__(self, path, engine):
        self.content = content = json.loads(path.read_text(encoding="utf-8"))
        sizes = content["sizes"]
        settings = ModelSettings(
            format=SIGMORPHON2017.name, input=sizes["char"], action_input=sizes["char"], feat_input=sizes["feature"],
            enc_hidden=sizes["hidden"], dec_hidden=sizes["hidden"])
        symbols = {**content["symbols"], "characters": content["symbols"]["actions"]}
        self.vocabulary = Vocabulary.from_dict(symbols, settings)
        samples = read_samples(SHARED / content["train"], SIGMORPHON2017, need_output=True)
        self.instances = [self.vocabulary.instance(sample) for sample in samples]
        training = TrainingSettings(il_rules="program", il_loss=content["il_loss"], il_beta=content["il_beta"])
        self.objective = Recording(self.vocabulary, training, Recorded())
        engine.start(self.vocabulary, training, self.instances, seed=1)
        self.learner = engine.learner(self.vocabulary, self.objective, training)
        self.learner.set_weights(self.parameters("initial"))

    def parameters(self, when):
        return {our_name(name): np.array(values, dtype=np.float32).reshape(self.content["shapes"][name])
                for name, values in self.content[when].items()}

    def follow(self):
        """Each recorded update and what ours was."""
        for update in self.content["updates"]:
            self.learner.begin_epoch(update["epoch"])
            self.objective.begin()
            loss, _ = self.learner.update([self.instances[update["line"] - 1]])
            yield update, loss


@pytest.fixture(params=["dynet"])
def engine(request):
    pytest.importorskip("dynet")
    return engine_named()


def test_there_are_recordings():
    assert len(FILES) >= 4


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_update_is_that_of_the_authors_program(path, engine):
    trajectory = Trajectory(path, engine)
    objective = trajectory.objective
    for update, loss in trajectory.follow():
        assert objective.actions == update["actions"]
        assert objective.optimal == [sorted(optimal) for optimal in update["optimal"]]
        if "regrets_other_than_5" in update:
            assert objective.margins == update["regrets_other_than_5"]
        assert loss == pytest.approx(update["loss"], abs=TOLERANCE)
    final, weights = trajectory.parameters("final"), trajectory.learner.weights()
    assert set(final) == set(weights)
    for name, expected in final.items():
        np.testing.assert_allclose(weights[name], expected, atol=TOLERANCE, err_msg=name)
