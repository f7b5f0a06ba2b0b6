"""Checkpoints: all that a training needs to go on, after each epoch in one file.

The file is an archive of arrays like the model file. `weights/…` are those of the learner, `best/…` those of
the best epoch, `optimizer/…` what the optimiser remembers; the header holds the rest.
"""

from __future__ import annotations

import zipfile
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, Optional

from il_morph.errors import InputError
from il_morph.files import PathLike, read_bytes, written_atomically
from il_morph.model.archive import DAMAGED, Arrays, describe, opened_archive, read_array, read_header, write_archive
from il_morph.training.course import Course, Epoch

FORMAT, VERSION = "il-morph checkpoint", 2
GROUPS = ("weights", "best", "optimizer")


@dataclass
class Checkpoint:
    """The state of a training at the end of an epoch."""

    identity: dict[str, Any]  # which run this is: another one cannot go on from here
    phase: int  # the number of the phase
    course: Course
    probe: list[int]  # the training samples whose accuracy is taken
    random: Random
    log: list[str]  # the lines of f.log
    seconds: float  # that the training has taken so far
    cpu_seconds: float
    weights: Arrays = field(default_factory=dict)
    optimizer: Arrays = field(default_factory=dict)


def save_checkpoint(path: PathLike, checkpoint: Checkpoint) -> None:
    """It need not survive a power failure: a damaged one is found out, and the training can start over."""
    course = checkpoint.course
    version, state, gauss = checkpoint.random.getstate()
    header = {
        "format": FORMAT, "version": VERSION, "identity": checkpoint.identity, "phase": checkpoint.phase,
        "epochs": [asdict(epoch) for epoch in course.epochs], "best": as_header(course.best),
        "best_trained": as_header(course.best_trained), "probe": checkpoint.probe,
        "random": [version, list(state), gauss], "log": checkpoint.log, "seconds": checkpoint.seconds,
        "cpu_seconds": checkpoint.cpu_seconds,
    }
    groups = dict(zip(GROUPS, (checkpoint.weights, course.weights, checkpoint.optimizer)))
    arrays = {f"{group}/{name}": array for group, members in groups.items() for name, array in members.items()}
    with written_atomically(path, durable=False) as stream:
        write_archive(stream, header, arrays)


def as_header(epoch: Optional[Epoch]) -> Optional[dict[str, Any]]:
    return None if epoch is None else asdict(epoch)


def load_checkpoint(path: PathLike) -> Checkpoint:
    content = read_bytes(path)
    try:
        with opened_archive(content) as archive:
            return read_checkpoint(archive)
    except DAMAGED as error:
        raise InputError(f"{path} is not a whole checkpoint ({describe(error)}): the training cannot go on from it; "
                         "start over with --force") from error


def read_checkpoint(archive: zipfile.ZipFile) -> Checkpoint:
    header = read_header(archive)
    if (header["format"], header["version"]) != (FORMAT, VERSION):
        raise ValueError(f"it is {header['format']!r}, version {header['version']!r}")
    groups: dict[str, Arrays] = {group: {} for group in GROUPS}
    for member in archive.namelist():
        group, _, name = member.partition("/")
        if group in groups:
            groups[group][name[:-len(".npy")]] = read_array(archive, member[:-len(".npy")])
    epochs = [Epoch(**epoch) for epoch in header["epochs"]]
    best, best_trained = (None if header[name] is None else Epoch(**header[name]) for name in ("best", "best_trained"))
    random = Random()
    version, state, gauss = header["random"]
    random.setstate((version, tuple(state), gauss))
    return Checkpoint(header["identity"], header["phase"], Course(epochs, best, best_trained, groups["best"]),
                      header["probe"], random, header["log"], header["seconds"], header["cpu_seconds"],
                      groups["weights"], groups["optimizer"])
