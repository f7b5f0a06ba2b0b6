"""A model in the style of scikit-learn, which need not be installed: `Transducer(epochs=20).fit(X, y).predict(X)`."""
from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np

from il_morph.data.dataformat import FEATURES, INPUT, OUTPUT
from il_morph.data.samples import Sample
from il_morph.data.splitting import split_samples
from il_morph.data.tables import items_in
from il_morph.errors import InputError
from il_morph.model.combination import load_predictor
from il_morph.model.predictor import AnyPredictor, sample_of, usable
from il_morph.runs.python import NAMES, messages_in_python, shown, train_as_asked
from il_morph.values import items_of, number, text

HELD_OUT = 0.1  # share of the data that chooses the best epoch


class Transducer:
    """A model that is trained as by `il_morph.train`, with its keyword arguments, on inputs X and outputs y.

    X is what a model's `predict` takes: pairs (input, features), plain inputs, or a table. A share of the data
    (`held_out`) is held out to choose the best epoch. `score` is the share of right outputs, from 0 to 1.
    """

    def __init__(self, model: str = "ca-r", held_out: float = HELD_OUT, **settings: Any):
        self.model, self.held_out, self.settings = model, held_out, settings
        self.predictor_: Optional[AnyPredictor] = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"model": self.model, "held_out": self.held_out, **self.settings}

    def set_params(self, **params: Any) -> Transducer:
        for name, value in params.items():
            if name in ("model", "held_out"):
                setattr(self, name, value)
            else:
                self.settings[name] = value
        return self

    def fit(self, X: Any, y: Any) -> Transducer:
        """Train in a temporary folder; the model stays in memory."""
        samples = paired(X, y, self.settings.get("feature_separator") or ";")
        share = number("held_out", self.held_out, 0.01, 0.9)
        parts = split_samples(samples, (1 - share, share), self.settings.get("split_seed") or 1,
                              self.settings.get("split_by"), "the data").parts
        asked = {name: self.settings.get(name) for name in NAMES if name not in ("split_by", "split_seed")}
        asked |= {**{name: value for name, value in self.settings.items() if name not in NAMES}, "model": self.model}
        tagged = any(sample.tag for sample in samples)
        with tempfile.TemporaryDirectory() as folder, messages_in_python(), shown(asked["verbose"]):
            paths = [Path(folder) / f"{part}.tsv" for part in ("train", "dev")]
            for path, numbers in zip(paths, parts.values()):
                path.write_text(as_lines([samples[each] for each in numbers], tagged), "utf-8")
            train_as_asked(paths[0], paths[1], Path(folder) / "results", asked)
            self.predictor_ = load_predictor([Path(folder) / "results"])
        return self

    def predict(self, X: Any) -> np.ndarray:
        if self.predictor_ is None:
            raise InputError("this Transducer is not trained: call fit first")
        return np.array(self.predictor_.predict(X), dtype=object)

    def score(self, X: Any, y: Any) -> float:
        outputs = [text("an item of y", each) for each in items_of("y", y)]
        predicted = self.predict(X)
        if len(outputs) != len(predicted):
            raise InputError(f"{len(outputs)} outputs for {len(predicted)} inputs: give one for each")
        return float(np.mean([one == other for one, other in zip(predicted, outputs)]))

    def __repr__(self) -> str:
        return f"Transducer({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def __sklearn_is_fitted__(self) -> bool:
        return self.predictor_ is not None

    def __sklearn_tags__(self) -> Any:
        """Neither classifier nor regressor: folds are drawn without regard to the outputs."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=InputTags(string=True))


def paired(X: Any, y: Any, separator: str = ";") -> list[Sample]:
    """The samples with these inputs and outputs."""
    inputs = [sample_of(item) for item in items_in("fit", X, (INPUT, FEATURES), False, separator)]
    outputs = [text("an item of y", each) for each in items_of("y", y)]
    if len(inputs) != len(outputs):
        raise InputError(f"{len(outputs)} outputs for {len(inputs)} inputs: give one for each")
    return [usable(Sample(one.input, one.tag, output), repr(one.input)) for one, output in zip(inputs, outputs)]


def as_lines(samples: Sequence[Sample], tagged: bool) -> str:
    """The content of a data file; its header row leaves no doubt about the columns."""
    header = [INPUT, OUTPUT, FEATURES][:2 + tagged]
    rows = [[sample.input, sample.target, sample.tag][:2 + tagged] for sample in samples]
    return "".join("\t".join(row) + "\n" for row in [header, *rows])
