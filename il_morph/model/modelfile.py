"""The model file: one zip that carries everything, and nothing in it is ever run.

    header.json     {"format": "il-morph model", "version": 1, "settings": {…}, "vocabulary": {…},
                     "training": {…}}
    NAME.npy        one float32 array per weight, in NumPy's .npy format, without pickle

`settings` are the fields of ModelSettings, `vocabulary` the symbols of each index in order
(characters, actions, features; pos and attributes where the model has them), `training` says how
the model came about and is not needed to use it. The weights, for A actions, C characters, hidden
size H and input size I of a layer:

    characters [C, input]           actions [A, action-input] (only without parameter tying)
    features [F, feat-input]        pos [P, feat-input]
    encoder_forward.L.*, encoder_backward.L.*, decoder.L.* for each layer L from 0:
        x2G [H, I], h2G [H, H], bG [H] for the gates G = i, o, c; peepholes c2i, c2o [H, H]
        (`vanilla_lstm`: gates i, f, o, g and no peepholes)
    hidden.W [mlp, H], hidden.b [mlp] (only with `mlp`)
    output.W [A, H or mlp], output.b [A]

The columns of decoder.0.x2G read [enc_fwd; enc_bwd; POS; feature slots; action]. Row 0 of every
table is UNK, and row 0 of `features` stands for an absent feature.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import dataclass, field

import numpy as np

from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes, write_atomically
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.results import RunFolder

FORMAT, VERSION = "il-morph model", 1
HEADER = "header.json"


@dataclass
class Model:
    """A vocabulary (with its settings), the weights, and how they were trained."""

    vocabulary: Vocabulary
    weights: dict[str, np.ndarray]
    training: dict = field(default_factory=dict)


def save_model(path: PathLike, model: Model) -> None:
    """The same model gives the same bytes."""
    header = {"format": FORMAT, "version": VERSION, "settings": model.vocabulary.settings.as_dict(),
              "vocabulary": model.vocabulary.as_dict(), "training": model.training}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        add_member(archive, HEADER, json.dumps(header, ensure_ascii=False, indent=1).encode("utf-8"))
        for name in sorted(model.weights):
            array = io.BytesIO()
            np.save(array, np.ascontiguousarray(model.weights[name], dtype=np.float32), allow_pickle=False)
            add_member(archive, f"{name}.npy", array.getvalue())
    write_atomically(path, content.getvalue())


def add_member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), data)  # a ZipInfo made by hand has a fixed date


def load_model(path: PathLike) -> Model:
    """Read and check a model file, or the f.model of a results folder."""
    if os.path.isdir(path):
        path = RunFolder(path).model
    content = read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return read_archive(archive, path)
    except (zipfile.BadZipFile, EOFError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a whole il-morph model ({describe(error)}): "
                         "give the f.model of a training run, or train it again") from error


def describe(error: Exception) -> str:
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)


def read_archive(archive: zipfile.ZipFile, path: PathLike) -> Model:
    header = json.loads(archive.read(HEADER).decode("utf-8"))
    if header["format"] != FORMAT:
        raise ValueError(f"its format is {header['format']!r}")
    if header["version"] > VERSION:
        raise InputError(f"{path} was written by a newer il-morph (model version {header['version']}, "
                         f"this program reads up to {VERSION}): upgrade il-morph")
    settings = ModelSettings.from_dict(header["settings"])
    vocabulary = Vocabulary.from_dict(header["vocabulary"], settings)
    shapes = weight_shapes(vocabulary)
    weights = {name: read_weight(archive, name, shape) for name, shape in shapes.items()}
    return Model(vocabulary, weights, header.get("training", {}))


def read_weight(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> np.ndarray:
    array = np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {list(array.shape)}, not {list(shape)}")
    return array.astype(np.float32)


def weight_shapes(vocabulary: Vocabulary) -> dict[str, tuple[int, ...]]:
    """The name and shape of every weight of a model."""
    settings, number = vocabulary.settings, len(vocabulary.actions)
    shapes = {"characters": (len(vocabulary.characters), settings.input)}
    if not settings.param_tying:
        shapes["actions"] = (number, settings.action_input)
    if settings.feat_input:
        shapes["features"] = (len(vocabulary.features), settings.feat_input)
    if vocabulary.pos is not None:
        shapes["pos"] = (len(vocabulary.pos), settings.feat_input)
    slots = vocabulary.number_of_slots + (vocabulary.pos is not None)
    decoder_input = 2 * settings.enc_hidden + slots * (settings.feat_input or 1) + settings.action_input
    for encoder in ("encoder_forward", "encoder_backward"):
        shapes.update(stack_shapes(encoder, settings.enc_layers, settings.input, settings.enc_hidden, settings))
    shapes.update(stack_shapes("decoder", settings.dec_layers, decoder_input, settings.dec_hidden, settings))
    top = settings.dec_hidden
    if settings.mlp:
        shapes.update({"hidden.W": (settings.mlp, top), "hidden.b": (settings.mlp,)})
        top = settings.mlp
    shapes.update({"output.W": (number, top), "output.b": (number,)})
    return shapes


def stack_shapes(name: str, layers: int, width: int, hidden: int, settings: ModelSettings) -> dict:
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(layers):
        for gate in "ifog" if settings.vanilla_lstm else "ioc":
            shapes[f"{name}.{layer}.x2{gate}"] = (hidden, width if layer == 0 else hidden)
            shapes[f"{name}.{layer}.h2{gate}"] = (hidden, hidden)
            shapes[f"{name}.{layer}.b{gate}"] = (hidden,)
        for gate in "" if settings.vanilla_lstm else "io":
            shapes[f"{name}.{layer}.c2{gate}"] = (hidden, hidden)
    return shapes
