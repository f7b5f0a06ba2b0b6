"""The results folder of a training run: f.model, f.log, f.stats, predictions and their scores."""

from __future__ import annotations

import json
import os
from typing import Optional, Sequence

from il_morph.data.formats import DataFormat, Sample
from il_morph.model.search import Hypothesis
from il_morph.errors import InputError
from il_morph.evaluation.scores import Scores, score
from il_morph.files import PathLike, write_atomically
from il_morph.model.modelfile import Model, save_model
from il_morph.results import RunFolder


class ResultsFolder(RunFolder):
    """The folder of the run that is going on. Files are written whole."""

    def __init__(self, path: PathLike, force: bool = False):
        super().__init__(path)
        self.log_lines: list[str] = []
        self._prepare(force)

    def _prepare(self, force: bool) -> None:
        try:
            if self.finished and not force:
                raise InputError(f"{self.path} holds a finished run; choose another folder, "
                                 "or overwrite it with --force")
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the results folder {self.path}: {error.strerror}; "
                             "choose another one") from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise InputError(f"cannot write into the results folder {self.path}: choose another one")

    def begin(self) -> None:
        """From here on the run is not finished: what an earlier one predicted goes, its model stays for now."""
        for path in self.outcome():
            path.unlink()

    def write_log(self, cells: Sequence[str]) -> None:
        self.log_lines.append("\t".join(cells) + "\n")
        write_atomically(self.log, "".join(self.log_lines))

    def save_model(self, model: Model) -> None:
        save_model(self.model, model)

    def write_predictions(self, name: str, fmt: DataFormat, samples: Sequence[Sample],
                          hypotheses: Sequence[Sequence[Hypothesis]]) -> Optional[Scores]:
        """Predictions under `f.NAME.predictions`, and their scores unless the samples are covered."""
        ranked = [[hypothesis.output for hypothesis in found] for found in hypotheses]
        lines = [fmt.line(sample, outputs[0]) + "\n" for sample, outputs in zip(samples, ranked)]
        write_atomically(self.predictions(name), "".join(lines))
        if samples[0].output is None:
            return None
        scores = score([sample.output for sample in samples], ranked,
                       [fmt.features(sample.tag)[0] for sample in samples])
        write_atomically(self.evaluation(name), scores.as_text())
        return scores

    def finish(self, stats: dict) -> None:
        write_atomically(self.stats, json.dumps(stats, ensure_ascii=False, indent=1) + "\n")
