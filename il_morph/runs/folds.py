"""Cross-validation: one file cut into parts, each of which is the development data of one model."""
from __future__ import annotations

import random
from dataclasses import replace

from il_morph.data.splitting import LEMMA, LINE, SENTENCE, Split, SplitFile, filled, groups_by_lemma
from il_morph.errors import InputError
from il_morph.run_folder import RunFolder
from il_morph.runs.experiment import Prepared
from il_morph.runs.spec import Task

MOST_FOLDS = 100


def split_into_folds(file: SplitFile, root: RunFolder, folds: int) -> list[SplitFile]:
    """For each fold, the file in two parts, which go into the folder of the fold. If the split is by lemma, lines with
    the same input stay together."""
    if file.split.by == SENTENCE:
        raise InputError(f"--folds: {file.data.name} is CoNLL-U, split by sentence; give lines with columns")
    samples = file.data.samples
    groups = groups_by_lemma(samples) if file.split.by == LEMMA else [[index] for index in range(len(samples))]
    if len(groups) < folds:
        what = "different inputs" if file.split.by == LEMMA else "lines"
        raise InputError(f"--folds={folds}: {file.data.name} has only {len(groups)} {what}"
                         + (f"; give fewer folds, or --split-by={LINE}" if file.split.by == LEMMA else ""))
    random.Random(file.seed).shuffle(groups)
    parts = filled(groups, [1.0] * folds)
    suffix = file.targets["dev"].suffix
    return [replace(file, split=Split(file.split.by, {"train": sorted({*range(len(samples))} - {*part}), "dev": part}),
                    targets={name: root.path / str(number) / f"{name}{suffix}" for name in ("train", "dev")},
                    others=[])
            for number, part in enumerate(parts, start=1)]


def fold_task(prepared: Prepared, file: SplitFile, root: RunFolder, number: int) -> Task:
    """The training of one fold. All folds have the same seed, so only the data differs."""
    spec = prepared.spec
    return Task(replace(spec, train=str(file.targets["train"]), dev=str(file.targets["dev"]),
                        results=str(root.path / str(number)), split_by=None, split_seed=None, force=False,
                        dynet_seed=1 if spec.dynet_seed is None else spec.dynet_seed), f"fold {number}", "fold")
