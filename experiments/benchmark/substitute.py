"""CA-D beside its twins with SUBSTITUTE, and how long EM takes to learn the costs of edits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from speed import CA_D, ENGINES, LONG, Cells, Timed, cpu_seconds, of_all, take_turns

from il_morph.data.formats import NO_FEATURES, Sample, read_samples
from il_morph.model.architectures import architecture_of
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.training.phases import make_objective
from il_morph.transitions.stochastic_edits import StochasticEdits

PAIRS = 3600
TWINS = {  # transition system, all prefixes, learnt costs
    "CA-D": ("haem", False, False),
    "CA-D, SUBSTITUTE": ("substitute", False, False),
    "CA-D, SUBSTITUTE, learnt costs": ("substitute", True, True),
}


def twins(train: Sequence[Sample], data_format: str, batch_size: int, epochs: int) -> dict[str, Cells]:
    """The learners of each twin after an epoch and so many more. They take turns, a multiple of the batch at a time."""
    rows = {}
    for name, (transducer, all_prefixes, learns) in TWINS.items():
        built = Vocabulary.build(train, ModelSettings(format=data_format, transducer=transducer))
        vocabulary = built.with_expert(all_prefixes, learns, train)
        rows[name] = {column: Timed(Twin(vocabulary, column, train), batch_size) for column in LONG}
    take_turns(of_all(rows), range(len(train)), range(1 + epochs), chunk=10 * batch_size)
    return rows


class Twin:
    """A learner whose samples are numbers: each system has instances of its own."""

    def __init__(self, vocabulary: Vocabulary, column: str, train: Sequence[Sample]):
        self.instances = [vocabulary.instance(sample) for sample in train]
        self.learner = ENGINES[column].learner(vocabulary, make_objective(vocabulary, CA_D, Random(1), None), CA_D)
        self.learner.set_weights(architecture_of(vocabulary).draw(seed=1))
        self.begin_epoch = self.learner.begin_epoch

    def update(self, batch: Sequence[int]) -> None:
        self.learner.update([self.instances[number] for number in batch])


def learning_of_costs(train: Sequence[Sample], folder: Path) -> tuple[str, float]:
    """What EM learns from, and the CPU seconds of ten rounds: French words and phonemes of 2020 where they are, or else
    pairs of the data, repeated until there are enough."""
    french = folder / "g2p2020" / "train" / "fre_train.tsv"
    name = "French phonemes" if french.is_file() else "repeated pairs"
    samples = read_samples(french, NO_FEATURES) if french.is_file() else train
    pairs = [(sample.input, sample.target) for sample in samples]
    repeated = (pairs * (PAIRS // len(pairs) + 1))[:PAIRS]
    return name, cpu_seconds(lambda: StochasticEdits.learn(repeated))[0]
