"""How fast is il-morph? The engines beside the same network on DyNet's own LSTM builders, in one run.

Usage:
  benchmark.py [options]

Options:
  --only=LIST          some sections: commands,training,batches,phases,decoding,substitute,cited,growth
                       (default: all)
  --data=DIR           the data, laid out as by bin/fetch_data.sh (default: data of the project, or ../shared/data)
  --lines=N            samples of each data set to train on, at most [default: 200]
  --epochs=N           timed epochs of training after the first one, for all learners [default: 2]
  --last-epoch=N       where the long training of CA-D and CA-R ends [default: 29]
  --inputs=N           inputs to decode [default: 1000]
  --samples=N          generated samples to train on where growth is measured [default: 20]
  --command-epochs=N   epochs of the whole training with `il-morph train` [default: 60]
  -h --help            show this
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import tempfile
from importlib.util import find_spec
from typing import Optional

import commands
from datasets import data_folder
from docopt import docopt
from tables import Requirement, Row, at_least, at_most, print_table

from il_morph.engines.dynet.engine import arguments_hidden
from il_morph.errors import InputError, errors_for_people

SECTIONS = ("commands", "training", "batches", "phases", "decoding", "substitute", "cited", "growth")
NUMBERS = ("--lines", "--epochs", "--last-epoch", "--inputs", "--samples", "--command-epochs")
NEEDED = {"dynet_config": "pip install dyNET38", "numba": "pip install numba"}
DYNET_MEMORY = "512,512,1536,256"  # MB: forward, backward, parameters of many models, scratch; none of them may grow


def main(arguments: dict) -> None:
    numbers = {flag: positive(arguments, flag) for flag in NUMBERS}
    chosen, folder = chosen_sections(arguments["--only"]), data_folder(arguments["--data"])
    for module, remedy in NEEDED.items():
        if find_spec(module) is None:
            raise InputError(f"the benchmark compares DyNet and Numba, and one is not installed here: {remedy}")
    checks: list[Requirement] = []
    if "commands" in chosen:  # first, as a process inherits the peak memory of the one that starts it
        checks += report_commands(folder, numbers["--command-epochs"])
    if chosen != ["commands"]:
        start_dynet()
        from sections import report_sections

        checks += report_sections(chosen, folder, numbers)
    if checks:
        print("\nrequired:", *checks, sep="\n")


def chosen_sections(given: Optional[str]) -> list[str]:
    names = given.split(",") if given else list(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise InputError(f"--only takes some of {','.join(SECTIONS)}, not {','.join(unknown)!r}")
    return names


def positive(arguments: dict, flag: str) -> int:
    if not arguments[flag].isdecimal() or int(arguments[flag]) < 1:
        raise InputError(f"{flag} takes a whole number from 1, not {arguments[flag]!r}")
    return int(arguments[flag])


def start_dynet() -> None:
    """DyNet takes its settings when it is imported."""
    import dynet_config

    dynet_config.set(random_seed=1, mem=DYNET_MEMORY)
    with arguments_hidden():
        import dynet  # noqa: F401


def report_commands(data: Path, epochs: int) -> list[Requirement]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print(f"il-morph predict, one line, from start to end: {commands.start_up(data, folder):.2f} s", flush=True)
        commands.compile_kernels(data, folder)
        memory = commands.training_usage(data, folder)
        whole = commands.whole_training(data, folder, epochs)
    rows = {name: Row(name, {engine: getattr(usage, quantity) for engine, usage in usages.items()})
            for name, usages, quantity in (
                (f"Russian, {epochs} epochs, s by the clock", whole, "seconds"),
                (f"Russian, {epochs} epochs, s of CPU", whole, "cpu_seconds"),
                ("Finnish, 1 epoch, peak MB", memory, "megabytes"))}
    clock, _, peak = rows.values()
    print_table("il-morph train, CA-R", ("dynet", "native"), [("dynet", "native")], list(rows.values()))
    return [
        at_least(f"whole training, {epochs} epochs, by the clock, dynet / native", clock.ratio("dynet", "native"), 2.5),
        at_most("training 2016 Finnish with DyNet, peak memory in GB", peak.values["dynet"] / 1000, 1.0),
        at_most("training 2016 Finnish, peak memory, native / dynet", peak.ratio("native", "dynet"), 1.0),
    ]


if __name__ == "__main__":
    with errors_for_people("benchmark.py"):
        main(docopt(__doc__))
