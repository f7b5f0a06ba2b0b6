"""Imitation learning for neural morphological string transduction.

    import il_morph

    m = il_morph.train("train.tsv", "dev.tsv", "results", model="ca-r", epochs=20)
    m = il_morph.load("results")                      # or il_morph.load("results/1", "results/2", combine="average")
    m.predict([("walk", "V;PST"), ("mouse", "N;PL")])           # ["walked", "mice"]
    m.nbest([("walk", "V;PST")], n=3)[0][0].probability         # 0.98
    m.paradigm("walk", pos="V")                       # the forms for all features of the training data
    il_morph.evaluate("test.tsv", outputs).accuracy   # 97.5

Bad input is an `il_morph.InputError` that says what, where and what to do.
"""
from __future__ import annotations

import os

TYPE_CHECKING = False  # to import this module imports next to nothing: the command is interrupted without a traceback
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Optional, Union

    from il_morph.errors import InputError
    from il_morph.evaluation.scores import Scores
    from il_morph.files import PathLike
    from il_morph.model.predictor import AnyPredictor

__version__ = "2.0.0"
__all__ = ["InputError", "evaluate", "load", "train"]


def __getattr__(name: str) -> Any:
    if name == "InputError":
        from il_morph.errors import InputError

        return InputError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(*paths: Union[PathLike, Sequence[PathLike]], combine: str = "vote") -> AnyPredictor:
    """Load a trained model: `il_morph.load("results").predict([("walk", "V;PST")])`.

    A path is a model file, the results folder of a training, or a folder with a results folder for each seed.
    Several models answer as one: `combine="vote"` takes the output that most of them have (a tie goes to the first),
    `"average"` searches with the mean of their probabilities at each step.
    """
    from il_morph.model.combination import load_predictor

    listed: list[PathLike] = []
    for each in paths:
        listed += [each] if isinstance(each, (str, os.PathLike)) else each
    return load_predictor(listed, combine)


def train(train: PathLike, dev: Optional[PathLike], results: PathLike, model: Optional[str] = None,
          **flags: Any) -> AnyPredictor:
    """Train a model as `il-morph train` does, and load it. Without `dev` (None) the training file is split.

    `model` is that of --model, CA-R if it is not given. `flags` are those of the command with `_` for `-`:
    `epochs=20`, `test_path="test.tsv"`, `sigm2017format=True`, `pos_emb=False` (that is --no-pos-emb),
    `beam_widths=(4, 10)`, `dynet_seed=1`; `seeds="1-5"` gives five models that vote.
    """
    from il_morph.commands import train as command
    from il_morph.errors import InputError

    known = {word.split("=")[0] for word in (command.__doc__ or "").split() if word.startswith("--")}
    words = [word for name, value in {"model": model, **flags}.items() for word in _flag(name, value, known)]
    if command.run(["train", *words, *(str(path) for path in (train, dev, results) if path is not None)]):
        raise InputError(f"not all trainings in {results} have ended well: see the train.log of each")
    return load(results)


def _flag(name: str, value: Any, known: set[str]) -> list[str]:
    """A flag of the command line; None leaves it to its default, and so does False where there is no --no- form."""
    flag, opposite = f"--{name.replace('_', '-')}", f"--no-{name.replace('_', '-')}"
    if value is None:
        return []
    if value is False and (opposite in known or flag in known):
        return [opposite] if opposite in known else []
    if isinstance(value, bool):
        return [flag]
    listed = value if isinstance(value, (list, tuple)) else [value]
    return [f"{flag}={','.join(map(str, listed))}"]


def evaluate(gold: PathLike, predictions: Union[PathLike, Sequence[str]], columns: Optional[str] = None,
             output_separator: str = "") -> Scores:
    """Score the predictions in a file, or a list of outputs, against gold data, line by line: accuracy in percent, mean
    Levenshtein distance and so on. `columns`, as in `"input,features,output"`, says what is not recognised.
    With `output_separator=" "` distances count the symbols that it separates.
    """
    from dataclasses import replace

    from il_morph.commands.arguments import named_columns, separators_of
    from il_morph.data.formats import ReadOptions, Sample, read_data
    from il_morph.errors import InputError
    from il_morph.evaluation.entries import gold_entries, read_predictions
    from il_morph.evaluation.scores import evaluate as score

    separators = separators_of({"--output-separator": output_separator})
    options = ReadOptions(columns=named_columns({"--columns": columns}), separators=separators)
    data = read_data(gold, options, need_output=True)
    golds = gold_entries(data)
    if isinstance(predictions, (str, os.PathLike)):
        return score(golds, read_predictions(predictions, data.format, separators=separators), data.format, separators)
    if len(predictions) != len(golds):
        raise InputError(f"{len(predictions)} outputs for the {len(golds)} lines of {data.name}: give one for each")
    for entry, output in zip(golds, predictions):
        separators.check(Sample(entry.input, entry.tag, output), f"the output for {entry.where}")
    entries = [replace(entry, outputs=(output,)) for entry, output in zip(golds, predictions)]
    return score(golds, entries, data.format, separators)
