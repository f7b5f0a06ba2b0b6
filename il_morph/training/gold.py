"""Gold action sequences for MLE and MRT: from pairs through an aligner to actions."""

from __future__ import annotations

from functools import partial
from typing import Sequence

from il_morph.transitions.aligners import ALIGNERS, STEP, Aligner, align_crp, edit_actions, hard_actions, try_reverse
from il_morph.bars import bar
from il_morph.transitions.systems import EditSystem
from il_morph.model.vocabulary import Instance, Vocabulary


def make_aligner(name: str, iterations: int = 150, seed: int = 1, reverse: bool = False) -> Aligner:
    """The aligner called `cls`, `dumb` or `smart`; `reverse` tries the reversed strings as well."""
    aligner = ALIGNERS[name]
    if aligner is align_crp:
        aligner = partial(align_crp, iterations=iterations, seed=seed,
                          progress=lambda sweeps: bar(sweeps, "align", "sweep"))
    return partial(try_reverse, aligner) if reverse else aligner


def gold_symbols(aligned: tuple[str, str], vocabulary: Vocabulary) -> list[str]:
    """The gold actions of an aligned pair as symbols of this transition system."""
    if isinstance(vocabulary.system, EditSystem):
        return edit_actions(*aligned)
    actions = hard_actions(*aligned)
    if vocabulary.settings.tag_wraps == "close":
        actions.remove(STEP)  # there is no BEGIN to step away from
    return actions


def gold_actions(instances: Sequence[Instance], vocabulary: Vocabulary, aligner: Aligner) -> list[list[int]]:
    """The gold action sequence of each sample."""
    aligned = aligner([(instance.sample.input, instance.sample.output) for instance in instances])
    return [vocabulary.actions_of(gold_symbols(pair, vocabulary)) for pair in aligned]
