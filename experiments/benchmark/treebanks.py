"""Lemmas of running text: il-morph beside Stanza's lemmatizer and UDPipe 1, trained on the same treebank, in one run.

Usage:
  treebanks.py [options] --train=FILE --dev=FILE --test=FILE RESULTS...

RESULTS are folders of `il-morph train`. The test file is lemmatized once and many times over, with one thread.

Options:
  --peers=PYTHON      a Python with `pip install stanza ufal.udpipe`; without it il-morph is measured alone
  --only=LIST         some of the systems [default: il-morph,stanza,udpipe]
  --work=FOLDER       keeps the models of the peers, which are trained if they are not there, and all outputs
                      [default: treebanks-benchmark]
  --stanza-epochs=N   epochs of Stanza's training, by default 60 in Stanza [default: 60]
  --copies=N          how many times over [default: 100]
  -h --help           show this
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import math
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from commands import Usage, run_command, run_process
from datasets import PROJECT
from docopt import docopt
from tables import Row, print_table

from il_morph.data.conllu import conllu_block
from il_morph.data.formats import ReadOptions, Sample
from il_morph.data.reading import words_of
from il_morph.errors import InputError, errors_for_people
from il_morph.model.answers import MOST_REMEMBERED
from il_morph.model.combination import load_predictor
from il_morph.run_folder import RunFolder

PEERS = Path(__file__).resolve().parent / "treebank_peers.py"
SYSTEMS = ("il-morph", "stanza", "udpipe")
TRAINING, ACCURACY, ONCE, MANY, MEMORY = "training s", "accuracy", "tokens/s", "tokens/s, long", "MB, long"


@dataclass(frozen=True)
class Files:
    train: Path
    dev: Path
    test: Path
    work: Path
    copies: int

    @property
    def long(self) -> Path:
        return self.work / f"{self.copies}-times.conllu"


class Lemmatizer(ABC):
    """A trained system: what its training took, and how it writes the lemmas of a file."""

    name: str

    @abstractmethod
    def trained(self) -> dict[str, float]: ...

    @abstractmethod
    def lemmatize(self, source: Path, target: Path) -> Usage: ...


@dataclass
class IlMorph(Lemmatizer):
    results: str
    beam: int

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"il-morph {self.results[-22:]}, beam {self.beam}"

    def trained(self) -> dict[str, float]:
        stats = json.loads(RunFolder(self.results).stats.read_text(encoding="utf-8"))
        return {TRAINING: stats["training"]["cpu_seconds"]}

    def lemmatize(self, source: Path, target: Path) -> Usage:
        return run_command("predict", "--force", f"--beam-width={self.beam}", self.results, source, target)


@dataclass
class Peer(Lemmatizer):
    """A system in another Python. It is trained once, and what that took is kept beside the model."""

    name: str
    python: str
    files: Files
    epochs: int = 0

    @property
    def model(self) -> Path:
        return self.files.work / self.name.split()[0]

    def trained(self) -> dict[str, float]:
        kept = self.model.with_suffix(".json")
        if not kept.exists():
            usage = run_process([self.python, *self.training()])
            kept.write_text(json.dumps(asdict(usage)), encoding="utf-8")
        return {TRAINING: json.loads(kept.read_text(encoding="utf-8"))["cpu_seconds"]}

    @abstractmethod
    def training(self) -> list[str]: ...


class Stanza(Peer):
    def module(self, mode: str) -> list[str]:
        return ["-m", "stanza.models.lemmatizer", "--cpu", f"--mode={mode}", "--shorthand=tr_imst",
                f"--save_dir={self.model}"]

    def training(self) -> list[str]:
        return [*self.module("train"), f"--num_epoch={self.epochs}", f"--train_file={self.files.train}",
                f"--eval_file={self.files.dev}"]

    def lemmatize(self, source: Path, target: Path) -> Usage:
        return run_process([self.python, *self.module("predict"), f"--eval_file={source}", f"--output_file={target}"])


class UDPipe(Peer):
    def training(self) -> list[str]:
        return [str(PEERS), "train", str(self.files.train), str(self.model)]

    def lemmatize(self, source: Path, target: Path) -> Usage:
        return run_process([self.python, str(PEERS), "predict", str(self.model), str(source), str(target)])


def main(arguments: dict) -> None:
    files = Files(*(Path(arguments[flag]).resolve() for flag in ("--train", "--dev", "--test", "--work")),
                  number(arguments, "--copies"))
    files.work.mkdir(parents=True, exist_ok=True)
    systems = list(chosen_systems(arguments, files))
    with open(files.long, "wb") as stream:
        for _ in range(files.copies):
            stream.write(files.test.read_bytes())
    words, _ = evaluated(files.test, files.test)
    print(f"{files.test.name}: {words:,} words; {files.copies} times over: {files.copies * words:,}. "
          "CPU time of one thread, from start to end of each command.\n")
    figures = [measured(system, files, words) for system in systems]
    print_table("", [TRAINING, ACCURACY, ONCE, MANY, "MB", MEMORY], [], [row for row, _ in figures])
    for system, (_, usages) in zip(systems, figures):
        if isinstance(system, IlMorph):
            print_costs(system, files, words, *usages)


def number(arguments: dict, flag: str) -> int:
    if not arguments[flag].isdecimal() or not int(arguments[flag]):
        raise InputError(f"{flag} takes a whole number from 1, not {arguments[flag]!r}")
    return int(arguments[flag])


def chosen_systems(arguments: dict, files: Files) -> Iterator[Lemmatizer]:
    chosen, python, epochs = arguments["--only"].split(","), arguments["--peers"], number(arguments, "--stanza-epochs")
    for name in chosen:
        if name not in SYSTEMS:
            raise InputError(f"--only takes some of {','.join(SYSTEMS)}, not {name!r}")
    if "il-morph" in chosen:
        yield from (IlMorph(results, beam) for results in arguments["RESULTS"] for beam in (4, 1))
    if "stanza" in chosen and python:
        yield Stanza(f"stanza {epochs} epochs", python, files, epochs)
    if "udpipe" in chosen and python:
        yield UDPipe("udpipe 1", python, files)


def evaluated(gold: Path, predicted: Path) -> tuple[int, float]:
    """Words and lemma accuracy, counted in another process: processes inherit the peak memory of this one."""
    command = [sys.executable, "-m", "il_morph", "evaluate", "--format=tsv", str(gold), str(predicted)]
    printed = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=True, encoding="utf-8",
                             stdout=subprocess.PIPE).stdout
    _, _, words, _, accuracy = printed.splitlines()[1].split("\t")
    return int(words), float(accuracy)


def measured(system: Lemmatizer, files: Files, words: int) -> tuple[Row, tuple[Usage, Usage]]:
    trained, out = system.trained(), files.work / "lemmas.conllu"
    once = system.lemmatize(files.test, out)
    _, accuracy = evaluated(files.test, out)
    many = system.lemmatize(files.long, out)
    return Row(system.name, {
        **trained, ACCURACY: accuracy, ONCE: words / once.cpu_seconds, MANY: files.copies * words / many.cpu_seconds,
        "MB": once.megabytes, MEMORY: many.megabytes}), (once, many)


def print_costs(system: IlMorph, files: Files, words: int, once: Usage, many: Usage) -> None:
    """What a token costs that was seen before, what a new word costs, and what a billion tokens would cost."""
    predictor = load_predictor([system.results])
    options = ReadOptions(expected=predictor.format, because="the model was trained on", unicode=predictor.unicode)
    texts = [words_of(conllu_block(path.read_bytes(), path.name), options).samples
             for path in (files.train, files.dev, files.test)]
    new = [sample for sample in {covered(each) for each in texts[-1]}
           if predictor.lexicon is None or predictor.lexicon.found(sample, "unanimous") is None]
    start = run_command("predict", "--force", system.results, one_word(files), files.work / "word.out").cpu_seconds
    token = (many.cpu_seconds - once.cpu_seconds) / ((files.copies - 1) * words)
    word = (once.cpu_seconds - start - token * words) / len(new)
    factor, exponent = growth([covered(each) for text in texts for each in text])
    window = (MOST_REMEMBERED / factor) ** (1 / exponent)  # tokens until the memory is emptied
    billion = 1e9 * (token + word * MOST_REMEMBERED / window) / 3600
    print(f"\n{system.name}: start {start:.2f} s, a token {1e6 * token:.1f} µs, a word that is decoded "
          f"{1e3 * word:.2f} ms ({len(new):,} in the test file)\n  different words among n tokens: {factor:.2f} n^"
          f"{exponent:.3f}; {MOST_REMEMBERED:,} in {window:,.0f} tokens; a billion tokens: {billion:,.0f} CPU hours")


def covered(sample: Sample) -> Sample:
    return Sample(sample.input, sample.tag, None)


def one_word(files: Files) -> Path:
    path = files.work / "word.conllu"
    path.write_text("1\ta\t_\tX" + "\t_" * 6 + "\n\n", encoding="utf-8")
    return path


def growth(tokens: Sequence[Sample]) -> tuple[float, float]:
    """Heaps' law, fitted to the second half of a text: K and β of K n^β different words among n tokens."""
    seen: set[Sample] = set()
    sizes = []
    for token in tokens:
        seen.add(token)
        sizes.append(len(seen))
    half = len(sizes) // 2
    exponent = math.log(sizes[-1] / sizes[half - 1]) / math.log(len(sizes) / half)
    return sizes[-1] / len(sizes) ** exponent, exponent


if __name__ == "__main__":
    with errors_for_people("treebanks.py"):
        main(docopt(__doc__))
