"""Augmentation: besides the real samples, each epoch has fresh hallucinated ones, with a schedule for their number.

`200,100@10,30@20` means 200 in each epoch, 100 from epoch 10 on, and 30 from epoch 20 on; epochs count from 0. The
samples are drawn with the random generator of the training, whose state a checkpoint keeps.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from random import Random
from typing import Any

from il_morph.data.hallucination import Hallucination
from il_morph.errors import InputError
from il_morph.model.settings import MOST_EPOCHS
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.values import bad_value

log = logging.getLogger(__name__)

MOST_FAKES = 1_000_000
FLAG = "--augment"
EXPECTED = (f"numbers of samples up to {MOST_FAKES:,}, all but the first with @ and the epoch from which they hold, "
            f"as in 200 or 200,100@10,0@20; epochs rise and are at most {MOST_EPOCHS:,}")


def checked_schedule(given: Any) -> str:
    """The value of `--augment` as text; an InputError if it is not a schedule."""
    text = str(given)
    if not re.fullmatch(r"[0-9]{1,7}(,[0-9]{1,7}@[0-9]{1,6})*", text, re.ASCII):
        raise bad_value(FLAG, given, EXPECTED)
    steps = steps_of(text)
    epochs = [epoch for epoch, _ in steps]
    if epochs != sorted(set(epochs)) or epochs[-1] > MOST_EPOCHS or most_fakes(text) > MOST_FAKES:
        raise bad_value(FLAG, given, EXPECTED)
    return text


def steps_of(schedule: str) -> list[tuple[int, int]]:
    """Pairs of an epoch and the number of fakes in each epoch from there on."""
    steps = (step.partition("@") for step in schedule.split(",") if step)
    return [(int(epoch or 0), int(number)) for number, _, epoch in steps]


def fakes_in_epoch(schedule: str, epoch: int) -> int:
    return next((number for first, number in reversed(steps_of(schedule)) if first <= epoch), 0)


def most_fakes(schedule: str) -> int:
    return max((number for _, number in steps_of(schedule)), default=0)


class Augmentation:
    """Draws the fakes (hallucinated samples) of a training."""

    def __init__(self, schedule: str, vocabulary: Vocabulary, train: Sequence[Instance]):
        self.schedule, self.vocabulary, self.said = schedule, vocabulary, False
        self.hallucination = Hallucination([instance.sample for instance in train], vocabulary.symbols)

    def check(self) -> None:
        """Raise an InputError if the schedule needs fakes but no training pair can be made into one."""
        if most_fakes(self.schedule) and not self.hallucination.sources:
            raise InputError(f"{FLAG}: no training pair shares enough characters between input and output to make "
                             "another one of it: leave the flag out, or with --model=best give --augment=0")

    def instances(self, epoch: int, random: Random) -> list[Instance]:
        """The fakes of an epoch."""
        number = fakes_in_epoch(self.schedule, epoch)
        if not number:
            return []
        fakes = self.hallucination.draw(number, random)
        if len(fakes) < number and not self.said:
            log.warning("%s: epoch %d has %d hallucinated samples instead of %d, and later ones may have fewer, too: "
                        "most of what is drawn equals a real sample", FLAG, epoch, len(fakes), number)
            self.said = True
        return [self.vocabulary.encoded_instance(fake.sample, self.vocabulary.symbols) for fake in fakes]
