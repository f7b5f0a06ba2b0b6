"""Several models that answer as one: their outputs vote, or the search takes the mean of their probabilities."""
from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from il_morph.data.formats import Sample
from il_morph.data.spelling import examples
from il_morph.errors import InputError
from il_morph.evaluation.voting import votes_for
from il_morph.files import PathLike
from il_morph.model.lexicon import Lexicon
from il_morph.model.modelfile import load_model
from il_morph.model.predictor import AnyPredictor, Prediction, Predictor, Score, up_to_mass
from il_morph.model.scoring import SCORING_WIDTH
from il_morph.model.search import BEAM_WIDTH, SearchModel
from il_morph.model.settings import SEPARATORS
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.run_folder import RunFolder

VOTE, AVERAGE = "vote", "average"
COMBINATIONS = (VOTE, AVERAGE)

log = logging.getLogger(__name__)


def load_predictor(paths: Sequence[PathLike], combine: str = VOTE) -> AnyPredictor:
    """A predictor for these paths: model files, results folders, or folders with a results folder for each seed."""
    if combine not in COMBINATIONS:
        raise InputError(f"models are combined by one of {', '.join(COMBINATIONS)}, not {combine!r}")
    found = [model for path in paths for model in model_paths(path)]
    if not found:
        raise InputError("there is no model: give the path of at least one")
    members = [Predictor(load_model(path), str(path)) for path in found]
    if len(members) == 1:
        return members[0]
    return VotingPredictor(members) if combine == VOTE else AveragingPredictor(members)


def model_paths(path: PathLike) -> list[Path]:
    """The model files at a path: the file itself, the f.model of a results folder, or that of each seed in it."""
    folder = RunFolder(path)
    if not os.path.isdir(path) or folder.model.exists():
        return [folder.model if os.path.isdir(path) else folder.path]
    seeds = folder.seeds()
    for seed in seeds:
        if not seed.finished:
            log.warning("%s is not finished: %s", seed.path, "its best model so far is taken"
                        if seed.model.exists() else "there is no model yet, and it is left out")
    return [seed.model for seed in seeds if seed.model.exists()] or [folder.model]


def refuse_model_as_output(target: PathLike, models: Sequence[PathLike]) -> None:
    """Raise an InputError if the output would overwrite a model in use; not even --force allows that."""
    real = Path(os.path.realpath(target))
    for path in map(os.path.realpath, models):
        if real == Path(path) or real == RunFolder(real.parent).model and Path(path) in real.parents:
            raise InputError(f"{target} is the model itself: choose another name for the output")


def refuse_different(members: Sequence[Predictor], names: Sequence[str], error: Callable[[str], InputError]) -> None:
    """Raise an error unless these settings are the same in all models."""
    first = members[0]
    for other in members[1:]:
        for name in names:
            one, another = (getattr(each.vocabulary.settings, name) for each in (first, other))
            if one != another:
                flag, quoted = name.replace("_", "-"), '"' if name in SEPARATORS else ""
                raise error(f"{first.name} was trained with {flag} {quoted}{one}{quoted}, "
                            f"{other.name} with {quoted}{another}{quoted}")


def refuse_different_data(members: Sequence[Predictor]) -> None:
    """Raise an InputError unless all models read the same kind of data, as models that answer together must."""
    refuse_different(members, ["format", "unicode", *SEPARATORS], lambda reason: InputError(
        f"the models cannot be combined: {reason}; combine models of the same data"))


def shared_lexicon(members: Sequence[Predictor]) -> Optional[Lexicon]:
    """The lexicon that all models share, or an InputError if their lexicons differ."""
    first = members[0].lexicon
    for other in members[1:]:
        if other.lexicon != first:
            raise InputError(f"{members[0].name} and {other.name} have different lexicons, since they were trained on "
                             "different data: leave them out with --lexicon=off")
    return first


class VotingPredictor(AnyPredictor):
    """Several models that vote: the most frequent output wins, and a tie goes to the first of the tied models.

    The probability of an output is its share of the votes; its actions come from the first model that wrote it.
    """

    def __init__(self, members: Sequence[Predictor]):
        refuse_different_data(members)
        self.members = list(members)

    @property
    def vocabularies(self) -> list[Vocabulary]:
        return [member.vocabulary for member in self.members]

    @property
    def lexicon(self) -> Optional[Lexicon]:
        return shared_lexicon(self.members)

    def ranked(self, samples: Sequence[Sample], number: Optional[int] = 1, beam_width: int = BEAM_WIDTH,
               mass: Optional[float] = None, batch_size: int = 128) -> list[list[Prediction]]:
        answers = [member.ranked(samples, 1, beam_width, batch_size=batch_size) for member in self.members]
        voted = [voted_for([found[0] for found in of_sample]) for of_sample in zip(*answers)]
        return [up_to_mass(found, mass or 1)[:number] for found in voted]

    def score(self, items: Iterable[tuple[str, str, str]], beam_width: int = SCORING_WIDTH) -> list[Score]:
        raise InputError('models that vote have no probability for an output that none of them has written: load them '
                         'with combine="average" to score outputs, or load one of them')

    def __repr__(self) -> str:
        return f"<vote of {len(self.members)} models: {', '.join(map(repr, self.members))}>"


def voted_for(bests: Sequence[Prediction]) -> list[Prediction]:
    """Each output once, the one with the most votes first."""
    first = {best.output: best for best in reversed(bests)}
    return [Prediction(output, math.log(number / len(bests)), first[output].actions)
            for output, number in votes_for([best.output for best in bests])]


class AveragingPredictor(Predictor):
    """Several models in one search, in which the probability of an action is its mean probability in the models."""

    def __init__(self, members: Sequence[Predictor]):
        refuse_different_data(members)
        members = sharing_symbols(members)
        refuse_different_actions(members)
        super().__init__(members[0].model, "one of " + ", ".join(member.name for member in members))
        self.members = list(members)
        self.inference = AverageInference([member.inference for member in members])

    def __reduce__(self) -> tuple:
        return AveragingPredictor, (self.members,)

    @property
    def vocabularies(self) -> list[Vocabulary]:
        return [member.vocabulary for member in self.members]

    @property
    def lexicon(self) -> Optional[Lexicon]:
        return shared_lexicon(self.members)

    def __repr__(self) -> str:
        return f"<average of {len(self.members)} models: {', '.join(map(repr, self.members))}>"


def sharing_symbols(members: Sequence[Predictor]) -> list[Predictor]:
    """The models, recoded so that all encode a symbol of several characters as the same character."""
    shared = members[0].vocabulary.symbols
    for other in members[1:]:
        shared = shared.with_more(other.vocabulary.symbols.listed)
    if all(member.vocabulary.symbols == shared for member in members):
        return list(members)
    return [Predictor(replace(member.model, vocabulary=member.vocabulary.recoded(shared)), member.name)
            for member in members]


def refuse_different_actions(members: Sequence[Predictor]) -> None:
    """Raise an InputError unless the models have the same actions at the same places of the input, as a mean needs."""
    refuse_different(members, ["architecture", "transducer", "tag_wraps"], unaveraged)
    first = members[0]
    if first.inference.weighs_paths:
        architecture = first.vocabulary.settings.architecture
        raise unaveraged(f"--architecture={architecture} weighs whole paths through a lattice")
    for other in members[1:]:
        different = {*first.vocabulary.actions.symbols} ^ {*other.vocabulary.actions.symbols}
        if different:
            written = {first.vocabulary.symbols.symbol(action[-1:]) for action in different}
            raise unaveraged(f"only one of {first.name} and {other.name} can insert {examples(sorted(written))}")


def unaveraged(reason: str) -> InputError:
    return InputError(f"the probabilities of these models have no mean, since they have different actions ({reason}); "
                      "let them vote")


@dataclass
class AverageEncoded:
    """The samples as encoded by each model."""

    members: list[Any]

    @property
    def ends(self) -> np.ndarray:
        return self.members[0].ends


@dataclass
class AverageStates:
    """The states of each model, all with the same rows."""

    members: list[Any]

    def take(self, rows: np.ndarray) -> AverageStates:
        return AverageStates([states.take(rows) for states in self.members])


class AverageInference(SearchModel):
    """Several networks that answer as one. Actions have the indices of the first network's vocabulary."""

    def __init__(self, members: Sequence[SearchModel]):
        self.members, self.vocabulary = members, members[0].vocabulary
        symbols = self.vocabulary.actions.symbols
        self.indices = [np.array([member.vocabulary.actions.positions[symbol] for symbol in symbols])
                        for member in members]  # for each model: its index of each action

    def encode(self, instances: Sequence[Instance]) -> AverageEncoded:
        return AverageEncoded([
            member.encode([member.vocabulary.encoded_instance(each.sample, each.symbols) for each in instances])
            for member in self.members])

    def initial_states(self) -> AverageStates:
        return AverageStates([member.initial_states() for member in self.members])

    def step(self, encoded: AverageEncoded, rows: np.ndarray, positions: np.ndarray, actions: np.ndarray,
             states: AverageStates) -> AverageStates:
        return AverageStates([
            member.step(each, rows, positions, indices[actions], state) for member, each, indices, state
            in zip(self.members, encoded.members, self.indices, states.members)])

    def advance(self, positions: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return self.members[0].advance(positions, actions)

    def heads(self, positions: np.ndarray, states: AverageStates) -> np.ndarray:
        return self.members[0].heads(positions, states.members[0])

    def log_probabilities(self, states: AverageStates, at_end: np.ndarray) -> np.ndarray:
        """The log of the mean P."""
        each = [member.log_probabilities(state, at_end)[:, indices]
                for member, state, indices in zip(self.members, states.members, self.indices)]
        return np.logaddexp.reduce(each) - math.log(len(each))
