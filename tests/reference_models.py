"""The models that the authors' program trained, converted into our model file."""

from __future__ import annotations

import json

import numpy as np

from il_morph.model.modelfile import Model
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary
from tests.shared import SHARED


def read_reference(name: str) -> dict:
    return json.loads((SHARED / "reference" / f"{name}.json").read_text(encoding="utf-8"))


def reference_models() -> dict:
    """Name -> transition system of every model of the authors that is there."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (SHARED / "reference").glob("*.json")}
    return {name: content["transducer"] for name, content in sorted(found.items())
            if isinstance(content, dict) and "parameters" in content and "cases" in content}


def converted(reference: dict) -> Model:
    dims = reference["dims"]
    settings = ModelSettings(
        format="sigmorphon" + reference["format"], transducer=reference["transducer"], input=dims["char"],
        action_input=dims["char"], feat_input=dims["feature"], enc_hidden=dims["encoder_hidden"],
        dec_hidden=dims["decoder_hidden"],
    )
    symbols = {name: reference[name] for name in ("characters", "actions", "features", "pos")}
    weights = {our_name(name): np.array(values, dtype=np.float32) for name, values in reference["parameters"].items()}
    return Model(Vocabulary.from_dict(symbols, settings), weights)


def our_name(name: str) -> str:
    tables = {"char_lookup": "characters", "feat_lookup": "features", "pos_lookup": "pos"}
    if name in tables or name.startswith("output"):
        return tables.get(name, name)
    stack, parameter = name.split(".")
    return f"{stack}.0.{parameter}"
