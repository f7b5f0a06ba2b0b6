"""The vote of several runs for a part of their data, written like the predictions of one run."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Callable, Optional

from il_morph.data.formats import DataFormat, Sample
from il_morph.data.symbols import NO_SEPARATORS, Separators
from il_morph.evaluation.entries import Entry, read_predictions
from il_morph.evaluation.scores import evaluate
from il_morph.evaluation.voting import ensemble
from il_morph.files import LARGEST_FILE, read_regular, write_atomically
from il_morph.run_folder import RunFolder

Count = Callable[[Sequence[Sequence[Entry]], DataFormat], list[str]]


def write_vote(members: Sequence[RunFolder], together: RunFolder, part: str, fmt: DataFormat,
               gold: Optional[Sequence[Entry]], count: Count = ensemble,
               separators: Separators = NO_SEPARATORS) -> Optional[float]:
    """Write the vote of runs into the folder `together`, and its scores if the right outputs are known.

    `part` names predictions, `beam4.test` for example. Returns the accuracy, or None without right outputs.
    """
    predictions = [read_own(member, part, fmt, separators) for member in members]
    outputs = count(predictions, fmt)
    together.path.mkdir(parents=True, exist_ok=True)
    for path in together.leftovers():
        path.unlink(missing_ok=True)
    write_atomically(together.predictions(part), "".join(
        fmt.line(Sample(entry.input, entry.tag, None), output) + "\n"
        for entry, output in zip(predictions[0], outputs)))
    if gold is None:
        return None
    voted = read_own(together, part, fmt, separators)
    scores = evaluate(gold, voted, fmt, separators)
    write_atomically(together.evaluation(part), scores.as_text())
    return scores.accuracy


def read_own(folder: RunFolder, part: str, fmt: DataFormat, separators: Separators) -> list[Entry]:
    """The predictions of a run."""
    path = folder.predictions(part)
    return read_predictions(path, fmt, separators=separators, content=read_regular(path, LARGEST_FILE))
