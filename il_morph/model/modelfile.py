"""The model file: one zip file that contains everything. Nothing in it is ever executed.

    header.json     {"format": "il-morph model", "version": 1, 2 or 3, "settings": {…}, "vocabulary": {…},
                     "training": {…}}
    lexicon.tsv     words of the training data, if the model keeps them: input, features, output, count
    NAME.npy        one float32 array per weight, in NumPy's .npy format, without pickle

`settings` are the fields of ModelSettings, `vocabulary` the symbols of each index in order
(characters, actions, features; pos and attributes where the model has them) and `bundles`, the feature
bundles of the training data with their counts: [["V;PST", 12], …] (files of version 1.0 have none).
A model with separators, for symbols of several characters, has version 2, so that il-morph 2.0 refuses it:
its `settings` have `input_separator` or `output_separator` (those of other models have neither), and `vocabulary` has
`symbols`, the list of its symbols of several characters: ["t͡ʃ", "aː"]. In characters, actions and learnt costs, the
n-th of these symbols is the n-th private-use character, counted from U+E000 to U+F8FF, U+F0000 to U+FFFFD and U+100000
to U+10FFFD.
A model of a treebank, or with a lexicon, has version 3: its format is `conllu:TASK:FEATURES`.
A model of `--transducer=substitute`, `--unicode=nfd-nfc`, `--boundary`, `--il-prefixes=all` or `--il-costs=learnt` has
version 3. A boundary is part of `settings`, and also one of the `symbols` if it has several characters.
With either of the last two flags, `vocabulary` has `expert`: {"all_prefixes": true or false, "costs": null or
{"inputs": […], "outputs": […]}}. The log probabilities of the edits are a float64 array, log_probabilities.npy: the
substitutions (row by row, one row for each input), the deletions, the insertions and the stop. The first files with
learnt costs have them in the header, as a list beside "inputs" and "outputs".
`training` records how the model was trained and is not needed to use it. The names and shapes of the weights, and what
the columns of their matrices read, are defined by the architecture that `settings` names: see
il_morph/model/architectures.py.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from il_morph.data.formats import Treebank
from il_morph.data.spelling import NFD_IN_NFC_OUT
from il_morph.errors import InputError
from il_morph.files import LARGEST_FILE, PathLike, read_regular, write_atomically
from il_morph.model.architectures import architecture_of
from il_morph.model.archive import (
    DAMAGED,
    HEADER,
    archive_bytes,
    describe,
    opened_archive,
    read_array,
    read_header,
    shortened,
)
from il_morph.model.lexicon import Lexicon
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.run_folder import RunFolder
from il_morph.transitions.systems import SubstitutionSystem

FORMAT, VERSION = "il-morph model", 3
LEXICON = "lexicon.tsv"
LOG_PROBABILITIES = "log_probabilities"  # of the learnt costs


@dataclass
class Model:
    """A vocabulary (with its settings), the weights, a record of the training, and the lexicon of its data."""

    vocabulary: Vocabulary
    weights: dict[str, np.ndarray]
    training: dict = field(default_factory=dict)
    lexicon: Optional[Lexicon] = None


def save_model(path: PathLike, model: Model) -> None:
    """Write a model file; the same model gives the same bytes."""
    vocabulary = model.vocabulary.as_dict()
    header = {"format": FORMAT, "version": version_of(model), "settings": model.vocabulary.settings.as_dict(),
              "vocabulary": vocabulary, "training": model.training}
    arrays = {name: np.asarray(weight, dtype=np.float32) for name, weight in model.weights.items()}
    if model.vocabulary.learnt_costs is not None:
        arrays[LOG_PROBABILITIES] = np.array(vocabulary["expert"]["costs"].pop(LOG_PROBABILITIES))
    texts = {} if model.lexicon is None else {LEXICON: model.lexicon.as_text()}
    write_atomically(path, archive_bytes(header, arrays, texts))


def version_of(model: Model) -> int:
    """The first version of the format that can hold this model."""
    vocabulary, settings = model.vocabulary, model.vocabulary.settings
    if (model.lexicon is not None or isinstance(vocabulary.format, Treebank) or vocabulary.has_own_expert
            or settings.transducer == SubstitutionSystem.name or settings.unicode == NFD_IN_NFC_OUT
            or settings.boundary):
        return 3
    return 2 if settings.separators else 1


def load_model(path: PathLike) -> Model:
    """Read and check a model file, or the f.model of a results folder."""
    if os.path.isdir(path):
        folder = RunFolder(path)
        if not folder.model.exists():
            refuse_seeds(folder)
        path = folder.model
    content = read_regular(path, LARGEST_FILE)
    try:
        with opened_archive(content) as archive:
            return read_archive(archive, path)
    except DAMAGED as error:
        raise InputError(f"{path} is not a whole il-morph model ({describe(error)}): "
                         "give the f.model of a training run, or train it again") from error


def refuse_seeds(folder: RunFolder, more: str = "") -> None:
    """Raise an InputError if the folder holds a run for each seed where one run is needed.

    `more` ends the message with what else the user could give.
    """
    runs = [seed for seed in folder.seeds() if seed.remains()]
    if runs:
        first = next((run for run in runs if run.finished), runs[0])
        raise InputError(f"{folder.path} holds the runs of several seeds, each in a folder of its own: give one of "
                         f"them, for example {first.path}{more}")


def read_archive(archive: zipfile.ZipFile, path: PathLike) -> Model:
    header = read_header(archive)
    if header["format"] != FORMAT:
        raise ValueError(f"its format is {shortened(str(header['format']))}")
    if type(header["version"]) is not int or header["version"] < 1:
        raise ValueError("its version is no number from 1 up")
    if header["version"] > VERSION:
        raise InputError(f"{path} was written by a newer il-morph (model version {header['version']}, "
                         f"this program reads up to {VERSION}): upgrade il-morph")
    settings = ModelSettings.from_dict(header["settings"])
    if f"{LOG_PROBABILITIES}.npy" in archive.namelist():
        header["vocabulary"]["expert"]["costs"][LOG_PROBABILITIES] = read_array(archive, LOG_PROBABILITIES)
    vocabulary = Vocabulary.from_dict(header["vocabulary"], settings)
    training = header.get("training", {})
    if not isinstance(training, dict):
        raise ValueError("its record of the training is no object")
    lexicon = Lexicon.from_text(archive.read(LEXICON).decode("utf-8")) if LEXICON in archive.namelist() else None
    return Model(vocabulary, read_weights(archive, architecture_of(vocabulary).shapes), training, lexicon)


def read_weights(archive: zipfile.ZipFile, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """The weights of an architecture; raise an error if weights are missing or the archive has any other members."""
    unknown = sorted({*archive.namelist()} - {HEADER, LEXICON, f"{LOG_PROBABILITIES}.npy"}
                     - {f"{name}.npy" for name in shapes})
    if unknown:
        raise ValueError(f"{shortened(unknown[0])} does not belong in it")
    missing = sorted({f"{name}.npy" for name in shapes} - {*archive.namelist()})
    if missing:
        raise KeyError(missing[0])
    return {name: read_weight(archive, name, shape) for name, shape in shapes.items()}


def read_weight(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> np.ndarray:
    return checked(name, read_array(archive, name), shape)


def checked(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The array, if it has this shape and finite float32 values; else a ValueError."""
    if array.shape != shape:
        raise ValueError(f"{name} has shape {list(array.shape)}, not {list(shape)}")
    if array.dtype != np.float32:
        raise ValueError(f"{name} is of type {array.dtype}, not float32")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has weights that are infinite or no numbers, as of a training that diverged")
    return array
