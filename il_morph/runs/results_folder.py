"""The results folder of a training run: f.model, f.log, f.stats, predictions and their scores."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Optional

from il_morph.data.formats import NO_SEPARATORS, DataFormat, Sample, Separators
from il_morph.errors import InputError
from il_morph.evaluation.scores import Scores, score
from il_morph.files import PathLike, write_atomically
from il_morph.model.modelfile import Model, save_model
from il_morph.model.search import Hypothesis
from il_morph.model.settings import declarations
from il_morph.run_folder import RunFolder
from il_morph.runs.locks import has_locks, lock_of
from il_morph.runs.records import read_log
from il_morph.training.checkpoint import Checkpoint, load_checkpoint

KERNELS = "kernels"  # in the identity of a run: the kernels that the engine computes with


class ResultsFolder(RunFolder):
    """The folder of the run in progress. The folder is locked, and files are written whole."""

    def __init__(self, path: PathLike):
        super().__init__(path)
        self.log_lines: list[str] = []
        self._make()
        self._held = lock_of(self) if has_locks() else None

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the results folder {self.path}: {error.strerror}; "
                             "choose another one") from error
        if self.seeds_identity.exists():
            raise InputError(f"{self.path} holds the runs of several seeds and their vote; choose another folder")
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise InputError(f"cannot write into the results folder {self.path}: choose another one")

    def close(self) -> None:
        """Release the folder at the end of the run."""
        if self._held:
            self._held.close()

    def unfinished(self, identity: dict[str, Any]) -> Optional[Checkpoint]:
        """The checkpoint of this run, if interrupted. Refuses to overwrite another run, or one that cannot go on."""
        self._refuse_finished()
        if self.checkpoint.exists():
            checkpoint = load_checkpoint(self.checkpoint)
            self._refuse_other(checkpoint.identity, identity)
            self.log_lines = checkpoint.log
            return checkpoint
        if self.model.exists():
            raise InputError(f"{self.path} holds an unfinished run ({self._progress()}), and there is nothing "
                             "to go on from; choose another folder, or start over with --force")
        return None

    def refuse_to_evaluate(self) -> None:
        """Refuse to let the scores of an evaluation replace a run that is finished or can go on."""
        self._refuse_finished()
        if self.checkpoint.exists():
            raise InputError(f"{self.path} holds an interrupted training that can go on; choose another folder for the "
                             "evaluation, or give up the training with --force")

    def _refuse_finished(self) -> None:
        if self.finished:
            raise InputError(f"{self.path} holds a finished run; choose another folder, or overwrite it with --force")

    def _refuse_other(self, there: dict[str, Any], here: dict[str, Any]) -> None:
        """Refuse another run. Records of older versions lack kernels, and settings that had their defaults then."""
        defaults = {name: each.default for name, each in declarations().items() if name in here}
        there = {KERNELS: here[KERNELS], **defaults, **there}
        different = [name for name in {**there, **here} if there.get(name) != here.get(name)]
        if different == [KERNELS]:
            raise InputError(f"{self.path} holds an unfinished run that was computed with {there[KERNELS]}; here it "
                             f"would go on with {here[KERNELS]}, which rounds differently: go on where there is "
                             f"{there[KERNELS]}, choose another folder, or start over with --force")
        if different:
            first = different[0]
            raise InputError(f"{self.path} holds an unfinished run of another kind ({first}: "
                             f"{there.get(first)!r} there, {here.get(first)!r} now); choose another folder, "
                             "or start over with --force")

    def _progress(self) -> str:
        """The number of epochs and the best dev accuracy in the log."""
        with suppress(InputError, ValueError):
            accuracies = [float(row["dev_accuracy"]) for row in read_log(self.log)]
            return f"{len(accuracies)} epochs, best dev accuracy {max(accuracies):.2f}"
        return "nothing is known of it"

    def begin(self) -> None:
        """Delete the outcome of an earlier run, so that this one is not finished; the earlier model stays for now."""
        for path in [*self.outcome(), *self.leftovers()]:
            path.unlink()

    def start_over(self) -> None:
        """Delete the checkpoint, so that nothing is left to go on from."""
        with suppress(FileNotFoundError):
            self.checkpoint.unlink()

    def add_to_log(self, cells: Sequence[str]) -> None:
        self.log_lines.append("\t".join(cells) + "\n")

    def write_log(self) -> None:
        write_atomically(self.log, "".join(self.log_lines))

    def save_model(self, model: Model) -> None:
        save_model(self.model, model)

    def write_predictions(self, name: str, fmt: DataFormat, samples: Sequence[Sample],
                          hypotheses: Sequence[Sequence[Hypothesis]],
                          separators: Separators = NO_SEPARATORS) -> Optional[Scores]:
        """Write `f.NAME.predictions`, and their scores unless the samples are covered."""
        ranked = [[hypothesis.output for hypothesis in found] for found in hypotheses]
        lines = [fmt.line(sample, outputs[0]) + "\n" for sample, outputs in zip(samples, ranked)]
        write_atomically(self.predictions(name), "".join(lines))
        if samples[0].output is None:
            return None
        scores = score([sample.target for sample in samples], ranked,
                       [fmt.features(sample.tag)[0] for sample in samples], separators)
        write_atomically(self.evaluation(name), scores.as_text())
        return scores

    def finish(self, stats: dict) -> None:
        write_atomically(self.stats, json.dumps(stats, ensure_ascii=False, indent=1) + "\n")
        self.start_over()
