"""Checkpoints: after each epoch, one file with everything that an interrupted training needs to continue.

The file is an archive of arrays like the model file. `weights/…` are the weights of the learner, `best/…` the weights
of the best epoch, `optimizer/…` is the state of the optimiser; the header holds the rest.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, Optional

import numpy as np

from il_morph.errors import InputError
from il_morph.files import LARGEST_FILE, PathLike, read_regular, written_atomically
from il_morph.model.archive import DAMAGED, Arrays, describe, opened_archive, read_array, read_header, write_archive
from il_morph.model.modelfile import checked
from il_morph.model.settings import TrainingSettings
from il_morph.training.engine import Learner
from il_morph.training.history import Epoch, History

FORMAT, VERSION = "il-morph checkpoint", 2
GROUPS = ("weights", "best", "optimizer")
LOG_COLUMNS = ("phase", *Epoch.COLUMNS)
LOG_CELL = r"\t(-?\d+(\.\d+)?|-?inf|nan|NA)"
LOG_ROW = re.compile(r"(il|mle|mrt|rl)(\.\d+)?" + LOG_CELL * len(Epoch.COLUMNS) + r"\n", re.ASCII)


@dataclass
class Checkpoint:
    """The state of a training at the end of an epoch."""

    path: PathLike
    identity: dict[str, Any]  # identifies the run: no other run can continue from here
    phase: int  # the number of the phase
    history: History
    probe: list[int]  # the numbers of the training samples on which train accuracy is measured
    random: Random
    log: list[str]  # the lines of f.log
    seconds: float  # the duration of the training so far
    cpu_seconds: float
    weights: Arrays = field(default_factory=dict)
    optimizer: Arrays = field(default_factory=dict)

    def check(self, shapes: dict[str, tuple[int, ...]], phases: int, samples: int) -> None:
        """Raise an InputError unless the checkpoint fits these shapes and these numbers of phases and samples."""
        with damage_named(self.path):
            for group, weights in (("weights", self.weights), ("best", self.history.weights)):
                if weights.keys() != shapes.keys():
                    raise ValueError(f"its {group} are not those of the network")
                for name, shape in shapes.items():
                    checked(f"{group}/{name}", weights[name], shape)
            if not all(0 <= number < samples for number in self.probe) or not 0 <= self.phase < phases:
                raise ValueError("it is of a training with other phases or data")

    def restore(self, learner: Learner) -> None:
        """Set the weights and the optimiser of a learner to the state of this checkpoint."""
        with damage_named(self.path):
            check_alike(self.optimizer, learner.state())
            learner.set_weights(self.weights)
            learner.restore(self.optimizer)


def check_alike(there: Arrays, here: Arrays) -> None:
    """Raise a ValueError unless both have the same arrays and all numbers are finite. Vectors may differ in length."""
    if there.keys() != here.keys():
        raise ValueError("it is of another optimizer")
    for name, array in here.items():
        other = there[name]
        if (other.dtype, other.ndim) != (array.dtype, array.ndim) or (array.ndim != 1 and other.shape != array.shape):
            raise ValueError(f"optimizer/{name} has another type or shape")
        if not np.isfinite(other).all():
            raise ValueError(f"optimizer/{name} has numbers that are infinite or NaN")


def save_checkpoint(checkpoint: Checkpoint) -> None:
    """Write a checkpoint. It need not survive a power failure: damage is detected, and the training can start over."""
    history = checkpoint.history
    version, state, gauss = checkpoint.random.getstate()
    header = {
        "format": FORMAT, "version": VERSION, "identity": checkpoint.identity, "phase": checkpoint.phase,
        "epochs": [asdict(epoch) for epoch in history.epochs], "best": as_header(history.best),
        "best_trained": as_header(history.best_trained), "probe": checkpoint.probe,
        "random": [version, list(state), gauss], "log": checkpoint.log, "seconds": checkpoint.seconds,
        "cpu_seconds": checkpoint.cpu_seconds,
    }
    groups = dict(zip(GROUPS, (checkpoint.weights, history.weights, checkpoint.optimizer)))
    arrays = {f"{group}/{name}": array for group, members in groups.items() for name, array in members.items()}
    with written_atomically(checkpoint.path, durable=False) as stream:
        write_archive(stream, header, arrays)


def as_header(epoch: Optional[Epoch]) -> Optional[dict[str, Any]]:
    return None if epoch is None else asdict(epoch)


def load_checkpoint(path: PathLike) -> Checkpoint:
    """Read a checkpoint, and check everything that does not depend on the training."""
    content = read_regular(path, LARGEST_FILE)
    with damage_named(path), opened_archive(content) as archive:
        return read_checkpoint(archive, path)


@contextmanager
def damage_named(path: PathLike) -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        raise InputError(f"{path} is not a whole checkpoint ({describe(error)}): the training cannot go on from it; "
                         "start over with --force") from error


def read_checkpoint(archive: zipfile.ZipFile, path: PathLike) -> Checkpoint:
    header = read_header(archive)
    if (header["format"], header["version"]) != (FORMAT, VERSION):
        raise ValueError(f"it is {header['format']!r}, version {header['version']!r}")
    groups: dict[str, Arrays] = {group: {} for group in GROUPS}
    for member in archive.namelist():
        group, _, name = member.partition("/")
        if group in groups:
            groups[group][name[:-len(".npy")]] = read_array(archive, member[:-len(".npy")])
    check_header(header)
    epochs = [read_epoch(epoch) for epoch in header["epochs"]]
    best, best_trained = (header[name] and read_epoch(header[name]) for name in ("best", "best_trained"))
    if not epochs or best is None:
        raise ValueError("it has no epoch")
    random = Random()
    version, state, gauss = header["random"]
    random.setstate((version, tuple(state), gauss))
    history = History(epochs, best, best_trained, groups["best"])
    return Checkpoint(path, with_new_settings(header["identity"]), header["phase"], history, header["probe"], random,
                      header["log"], header["seconds"], header["cpu_seconds"],
                      groups["weights"], groups["optimizer"])


def with_new_settings(identity: dict[str, Any]) -> dict[str, Any]:
    """Add the default of every setting that did not exist yet when the run was interrupted."""
    return {**json.loads(json.dumps(TrainingSettings().as_dict())), **identity}


def check_header(header: dict[str, Any]) -> None:
    """Raise a ValueError if a part of the header has the wrong type."""
    identity, log, width = header["identity"], header["log"], len(LOG_COLUMNS)
    if not isinstance(identity, dict) or type(identity["seed"]) is not int:
        raise ValueError("it does not say which run it is of")
    if type(header["phase"]) is not int or not all(type(number) is int for number in header["probe"]):
        raise ValueError("its phase or probe is no number")
    if not all(isinstance(header[name], (int, float)) for name in ("seconds", "cpu_seconds")):
        raise ValueError("its seconds are no number")
    if not isinstance(log, list) or not all(isinstance(line, str) and line.endswith("\n") for line in log):
        raise ValueError("its log is no list of lines")
    if log[0] != "\t".join(LOG_COLUMNS) + "\n" or any(len(line.split("\t")) != width for line in log):
        raise ValueError("its log has other columns")
    if not all(LOG_ROW.fullmatch(line) for line in log[1:]):
        raise ValueError("its log has cells that are no numbers")


def read_epoch(fields: dict[str, Any]) -> Epoch:
    epoch = Epoch(**fields)
    numbers = [epoch.seconds, epoch.train_accuracy, epoch.dev_accuracy]
    numbers += [loss for loss in (epoch.loss, epoch.dev_loss, epoch.tie_loss) if loss is not None]
    if type(epoch.epoch) is not int or not all(isinstance(number, (int, float)) for number in numbers):
        raise ValueError("the values of one of its epochs are not numbers")
    return epoch
