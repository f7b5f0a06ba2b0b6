"""Lemma accuracy over the words of a treebank, as the evaluation script of Universal Dependencies counts them."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Optional

from il_morph.data.conllu import FORM, LEMMA, NOTHING, UPOS, ConlluBlock, Word
from il_morph.errors import InputError


@dataclass
class WordGroup:
    """Some words, and how many of their lemmas are right."""

    section: str
    name: str
    words: int = 0
    correct: int = 0

    @property
    def accuracy(self) -> float:
        """In percent."""
        return 100 * self.correct / self.words


def lemma_accuracy(gold: ConlluBlock, predicted: ConlluBlock, train: Optional[ConlluBlock] = None) -> list[WordGroup]:
    """Accuracy over all words, for each UPOS, and with training data for seen and unseen forms.

    As in the script, any lemma is right if gold has none (`_`)."""
    refuse_other_words(gold, predicted)
    seen = {word.fields[FORM] for word in train.words} if train else None
    groups: dict[tuple[str, str], WordGroup] = {}
    for one, other in zip(gold.words, predicted.words):
        right = one.fields[LEMMA] in (NOTHING, other.fields[LEMMA])
        for key in groups_of_word(one, seen):
            group = groups.setdefault(key, WordGroup(*key))
            group.words += 1
            group.correct += right
    order = {"words": 0, "UPOS": 1, "form": 2}
    return sorted(groups.values(), key=lambda group: (order[group.section], group.name))


def groups_of_word(word: Word, seen: Optional[set[str]]) -> Iterator[tuple[str, str]]:
    yield "words", "all"
    yield "UPOS", word.fields[UPOS]
    if seen is not None:
        yield "form", "seen in training" if word.fields[FORM] in seen else "unseen in training"


def refuse_other_words(gold: ConlluBlock, predicted: ConlluBlock) -> None:
    """Refuse files that do not have the same words in the same order."""
    for one, other in zip(gold.words, predicted.words):
        if one.fields[:FORM + 1] != other.fields[:FORM + 1]:
            raise InputError(f"{predicted.where(other.index)} has the word {shown(other)}, but "
                             f"{gold.where(one.index)} has {shown(one)}; the files must have the same words")
    blocks: Sequence[ConlluBlock] = sorted([gold, predicted], key=lambda block: -len(block.words))
    longer, shorter = blocks
    if len(longer.words) > len(shorter.words):
        raise InputError(f"{longer.where(longer.words[len(shorter.words)].index)} has no counterpart in "
                         f"{shorter.name}, which has {len(shorter.words):,} words; the files must have the same words")
    if not gold.words:
        raise InputError(f"{gold.name} has no words: give CoNLL-U with at least one")


def shown(word: Word) -> str:
    return " ".join(word.fields[:FORM + 1])
