"""One run, from the data to the scores: read, check, train, decode, record."""

from __future__ import annotations

import json
import logging
import random
import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Optional

from il_morph import __version__
from il_morph.bars import bar
from il_morph.data.checking import check_all, summary
from il_morph.data.formats import Parts, Sample, Treebank, read_data, read_parts
from il_morph.data.splitting import SplitFile, split_in_memory
from il_morph.errors import InputError
from il_morph.model.architectures import architecture_of, inference_of, vocabulary_of
from il_morph.model.lexicon import Lexicon
from il_morph.model.modelfile import Model, load_model
from il_morph.model.registry import TRANSDUCER
from il_morph.model.search import as_written, decode
from il_morph.model.settings import ALL, LEARNT, ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.run_folder import search_name
from il_morph.runs.advice import advice, kept
from il_morph.runs.results_folder import KERNELS, ResultsFolder
from il_morph.runs.rules import check_reloaded, check_spec, check_symbols, checked_engine
from il_morph.runs.small_data import warn_of_small_data, with_rule_for_ties
from il_morph.runs.spec import RunSpec, flag
from il_morph.training.augmentation import Augmentation
from il_morph.training.checkpoint import LOG_COLUMNS, Checkpoint, load_checkpoint, save_checkpoint
from il_morph.training.clock import Clock
from il_morph.training.engine import Engine
from il_morph.training.history import Epoch, History
from il_morph.training.loop import TrainingLoop
from il_morph.training.phases import phases_of, train_phases
from il_morph.transitions.actions import UNK

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prepared:
    """A run whose input has been read and checked. Nothing is written yet."""

    spec: RunSpec
    engine: Engine
    reloaded: Optional[Model]
    parts: Parts
    vocabulary: Vocabulary
    split: Optional[SplitFile] = None  # of the training file, if there is no development file


def run(spec: RunSpec, command: Sequence[str] = ()) -> None:
    """Train, or evaluate, and write the results. `command` is recorded for people; by default it is rebuilt."""
    prepared, command = prepare(spec), command or ["il-morph", *spec.argv()]
    if prepared.spec.training.mode == "eval":
        _evaluate(prepared, command)
    else:
        _train(prepared, command)


def prepare(spec: RunSpec, dev_is_used: bool = True) -> Prepared:
    """Read the model to start from and the data, check the spec against them, then build the vocabulary. Folds have
    development data of their own, so without `dev_is_used` nothing is logged about that of this split."""
    reloaded = load_model(spec.reload_path) if spec.reload_path is not None else None
    if reloaded:
        check_reloaded(spec, reloaded.vocabulary.settings)
    parts, split = _read(spec, reloaded)
    spec = with_rule_for_ties(_for_data(spec, parts), parts)
    check_symbols(spec, parts)
    if dev_is_used:
        warn_of_small_data(spec, parts)
    say_what_looks_wrong(parts)
    settings = reloaded.vocabulary.settings if reloaded else _settings(spec, parts)
    engine = checked_engine(spec, settings)
    vocabulary = reloaded.vocabulary if reloaded else vocabulary_of(settings, parts)
    vocabulary.symbols = vocabulary.symbols.covering(parts.train)
    training = spec.training
    if training.mode == "il":
        vocabulary = vocabulary.with_expert(training.il_prefixes == ALL, training.il_costs == LEARNT, parts.train)
    if dev_is_used:
        report_unseen(vocabulary, parts)
    if spec.training.mode != "eval":
        report_attributes(vocabulary)
    if split:
        split.refuse_others(spec.force)
    return Prepared(spec, engine, reloaded, parts, vocabulary, split)


def _for_data(spec: RunSpec, parts: Parts) -> RunSpec:
    """The run with the settings that its preset adds for data of this size."""
    found = spec if spec.training.mode == "eval" else spec.for_data(len(parts.train))
    added = [flag(name, value) for name, value in found.settings.items() if name not in spec.settings]
    if added:
        log.info("--model=%s sets for %d training samples: %s", spec.model, len(parts.train), " ".join(added))
        check_spec(found)
    return found


def _settings(spec: RunSpec, parts: Parts) -> ModelSettings:
    """The settings of a new model: its format is the format of the data; without features the default is no POS."""
    return ModelSettings(**{"pos_emb": parts.format.separator is not None, **spec.network, "format": parts.format.name})


def _read(spec: RunSpec, reloaded: Optional[Model]) -> tuple[Parts, Optional[SplitFile]]:
    """Read the data as a model of --reload-path reads it, and split the training file if no dev file is given."""
    options = spec.reading
    if reloaded:
        settings = reloaded.vocabulary.settings
        options = replace(options, expected=reloaded.vocabulary.format, unicode=settings.unicode,
                          separators=settings.separators, because=f"the model {spec.reload_path} was trained on")
    if not spec.splitting:
        train = None if spec.training.mode == "eval" else spec.train
        return read_parts(train, str(spec.dev), spec.test_path, options), None
    split = split_in_memory(spec.train, spec.results, options, spec.splitting)
    fmt = split.data.format
    own = spec.test_path and read_data(spec.test_path, replace(options, expected=fmt, because=f"{spec.train} has"))
    first, test = split.read("train"), own or split.read("test")
    return Parts(fmt, first.samples, split.read("dev").samples, test.samples, options.separators, first.counts,
                 (split.data, *([own] if own else []))), split


def _evaluate(run: Prepared, command: Sequence[str]) -> None:
    """Decode and score with a trained model."""
    clock, model = Clock(), run.reloaded
    assert model is not None, "an evaluation has a model"
    with closing(ResultsFolder(run.spec.results)) as results:
        if not run.spec.force:
            results.refuse_to_evaluate()
        results.begin()
        _finish(run, model, results, {}, clock, drawn_seed() if run.spec.dynet_seed is None else run.spec.dynet_seed,
                command)


def _train(run: Prepared, command: Sequence[str]) -> None:
    spec, vocabulary, reloaded, seed = run.spec, run.vocabulary, run.reloaded, seed_of(run.spec)
    training = spec.training
    samples = learnable(run.parts.train, vocabulary) if reloaded else run.parts.train
    train, dev = ([vocabulary.instance(sample) for sample in some] for some in (samples, run.parts.dev))
    Augmentation(training.augment, vocabulary, train).check()
    run.engine.start(vocabulary, training, train, seed)
    with closing(ResultsFolder(spec.results)) as results:
        identity = identity_of(run, [*samples, *run.parts.dev], seed)
        checkpoint = None if spec.force else results.unfinished(identity)
        if checkpoint:
            checkpoint.check(architecture_of(vocabulary).shapes, len(phases_of(training)), len(train))
        results.begin()
        if checkpoint is None:
            results.start_over()
        if run.split:
            run.split.write()
        report = RunReport(results, vocabulary, {"seed": seed, **training.as_dict()}, identity, checkpoint,
                           _lexicon(run))
        try:
            history = train_phases(run.engine, vocabulary, reloaded.weights if reloaded else None, train, dev,
                                   training, seed, report, bool(spec.verbose), checkpoint)
        except KeyboardInterrupt:
            log.warning(report.interrupted(run.engine.resumable))
            raise
        log.info("%s", kept(spec, history))
        _finish(run, report.model(history.weights), results, report.summary(history), report.clock, seed, command)
    for sentence in advice(spec, vocabulary.settings, history, len(dev), run.engine.name):
        log.info("advice: %s", sentence)


def _lexicon(run: Prepared) -> Optional[Lexicon]:
    """The lexicon of the model to start from, if it has one, with the words of the training data. Without one, only the
    words of a treebank are kept, unless --keep-lexicon is given."""
    before = run.reloaded.lexicon if run.reloaded else None
    if before is None and not run.spec.keep_lexicon and not isinstance(run.vocabulary.format, Treebank):
        return None
    known = Lexicon.from_text(before.as_text()) if before else Lexicon()
    return known.add(run.parts.train, run.parts.counts)


def seed_of(spec: RunSpec) -> int:
    """The given seed, the seed of an interrupted run that is to go on, or one that is drawn."""
    if spec.dynet_seed is not None:
        return spec.dynet_seed
    interrupted = spec.folder.checkpoint
    return load_checkpoint(interrupted).identity["seed"] if not spec.force and interrupted.exists() else drawn_seed()


def drawn_seed() -> int:
    return random.SystemRandom().randrange(1, 2**31)


def identity_of(run: Prepared, samples: Sequence[Sample], seed: int) -> dict[str, Any]:
    """Identifies a run: an interrupted run goes on only with the same settings, data and initial weights."""
    start = sha256()
    for name, weights in sorted(run.reloaded.weights.items() if run.reloaded else ()):
        start.update(name.encode() + weights.tobytes())
    settings = {**run.vocabulary.settings.as_dict(), **run.spec.training.as_dict(), "seed": seed,
                "engine": run.engine.name, KERNELS: run.engine.kernels_name}
    data = repr([samples, run.vocabulary.as_dict()])  # the vocabulary may have symbols of the test data, too
    return json.loads(json.dumps({**settings, "data": sha256(data.encode()).hexdigest(),
                                  "start": start.hexdigest() if run.reloaded else None}))


def _finish(run: Prepared, model: Model, results: ResultsFolder, history: dict[str, Any], clock: Clock, seed: int,
            command: Sequence[str]) -> None:
    """Decode, score and record: f.stats comes last."""
    spec = run.spec
    try:
        scores = _decode(spec, model, {"dev": run.parts.dev, "test": run.parts.test}, results)
    except KeyboardInterrupt:
        log.warning("interrupted while decoding: the model is %s",
                    spec.reload_path if spec.training.mode == "eval" else results.model)
        raise
    results.finish({
        "il_morph": __version__, "command": list(command), "run": spec.as_dict(), "seed": seed,
        "engine": run.engine.name,
        "settings": {**model.vocabulary.settings.as_dict(), **spec.training.as_dict(), "reload_path": spec.reload_path},
        "training": {**history, **clock.as_dict()}, "scores": scores,
    })


def _decode(spec: RunSpec, model: Model, parts: dict[str, Optional[Sequence[Sample]]], results: ResultsFolder) -> dict:
    inference = inference_of(model.weights, model.vocabulary)
    scores = {}
    for width in (1, *spec.training.beam_widths):
        for part, samples in parts.items():
            if samples is None:
                continue
            name = f"{search_name(width)}.{part}"
            instances = [model.vocabulary.instance(sample) for sample in samples]
            found = as_written(decode(inference, instances, width, spec.training.decbatch_size,
                                      partial(bar, what=name, unit="batch")), instances)
            scored = results.write_predictions(name, model.vocabulary.format, samples, found,
                                               model.vocabulary.settings.separators)
            if scored:
                scores[name] = scored.as_dict()
                log.info("%s accuracy: %.2f", name, scored.accuracy)
    return scores


class RunReport:
    """The observer of a training, which keeps log, best model and checkpoint on disk."""

    def __init__(self, results: ResultsFolder, vocabulary: Vocabulary, training: dict[str, Any],
                 identity: dict[str, Any], checkpoint: Optional[Checkpoint] = None,
                 lexicon: Optional[Lexicon] = None):
        self.results, self.vocabulary, self.training, self.identity = results, vocabulary, training, identity
        self.clock, self.epochs, self.lexicon = Clock(), 0, lexicon
        self.best: Optional[Epoch] = None
        self.best_weights: Optional[dict] = None  # of the best epoch, until f.model has them
        if checkpoint:
            self._go_on(checkpoint)

    def _go_on(self, checkpoint: Checkpoint) -> None:
        """Restore epochs, best model and seconds, as if the training had not been interrupted."""
        self.clock = Clock(checkpoint.seconds, checkpoint.cpu_seconds)
        self.best, self.best_weights = checkpoint.history.best, checkpoint.history.weights
        self.on_end()
        first = LOG_COLUMNS.index("epoch")
        self.epochs = sum(line.split("\t")[first] != str(Epoch.START) for line in self.results.log_lines[1:])
        log.info("going on after epoch %d of an interrupted training", checkpoint.history.epochs[-1].epoch)

    def model(self, weights: dict) -> Model:
        return Model(self.vocabulary, weights, self.training, self.lexicon)

    def summary(self, history: History) -> dict[str, Any]:
        assert history.best is not None, "a training has at least one epoch"
        return {"epochs": self.epochs, "best_epoch": history.best.epoch, "dev_accuracy": history.best.dev_accuracy}

    def on_best(self, epoch: Epoch, weights: dict) -> None:
        self.best, self.best_weights = epoch, weights

    def on_epoch(self, phase: str, epoch: Epoch) -> None:
        """`phase` is the mode of training: il, mle, mrt or rl; with several trials `mle.1` and so on."""
        if not self.results.log_lines:
            self.results.add_to_log(LOG_COLUMNS)
        self.results.add_to_log([phase, *epoch.cells()])
        self.epochs += epoch.epoch != epoch.START
        what = "before training" if epoch.epoch == epoch.START else f"epoch {epoch.epoch}"
        what += "" if epoch.loss is None else f": loss {epoch.loss:.4f}"
        log.info("%s %s, train accuracy %.2f, dev accuracy %.2f%s (%.1f s)", phase, what, epoch.train_accuracy,
                 epoch.dev_accuracy, " *" if epoch is self.best else "", epoch.seconds)

    def on_state(self, phase: int, training: TrainingLoop) -> None:
        save_checkpoint(Checkpoint(
            self.results.checkpoint, self.identity, phase, training.history, training.probe or [], training.random,
            self.results.log_lines, self.clock.seconds, self.clock.cpu_seconds, training.learner.weights(),
            training.learner.state()))

    def on_end(self) -> None:
        """Write model and log after the checkpoint: wherever a training is cut off, it can go on or start over."""
        if self.best_weights is not None:
            self.results.save_model(self.model(self.best_weights))
            self.best_weights = None
        self.results.write_log()

    def interrupted(self, resumable: bool) -> str:
        if self.best is None or (resumable and not self.results.checkpoint.exists()):
            return "interrupted before the end of the first epoch: no model was written"
        self.on_end()
        which = "the model it started from" if self.best.epoch == self.best.START else f"epoch {self.best.epoch}"
        return (f"interrupted: the best model so far ({which}, dev accuracy "
                f"{self.best.dev_accuracy:.2f}) is {self.results.model}"
                + ("; the same command goes on" if resumable else ""))


def learnable(train: Sequence[Sample], vocabulary: Vocabulary) -> list[Sample]:
    """The samples that a reloaded model can learn: it has no actions for unknown characters, and some architectures
    do not learn to read them."""
    reads = not vocabulary.settings.kind.learns_unseen_inputs
    encoded = [vocabulary.symbols.encoded(sample) for sample in train]
    kept = [sample for sample, inside in zip(train, encoded)
            if UNK not in vocabulary.actions_of(inside.target + (inside.input if reads else ""))]
    if not kept:
        raise InputError("no training output consists of characters that the model of --reload-path knows: "
                         "give other training data, or train a new model")
    if len(kept) < len(train):
        log.warning("train: %d of %d samples have %scharacters that the reloaded model does not know; "
                    "they are left out", len(train) - len(kept), len(train), "" if reads else "output ")
    return kept


def say_what_looks_wrong(parts: Parts) -> None:
    """Log the result of the data check in one line."""
    found = summary([finding for findings in check_all(parts.files) for finding in findings])
    if found:
        log.warning("the data has %s; `il-morph check %s` lists them", found,
                    shlex.join(file.name for file in parts.files))


def report_attributes(vocabulary: Vocabulary) -> None:
    """Warn if no feature names an attribute: then --avm-feat-format changes nothing, each feature is a slot anyway."""
    settings, features = vocabulary.settings, vocabulary.features.symbols[1:]
    if settings.architecture == TRANSDUCER and settings.avm_feat_format and not any("=" in each for each in features):
        log.warning("--avm-feat-format has no effect here: no feature of the training data is an attribute=value")


def report_unseen(vocabulary: Vocabulary, parts: Parts) -> None:
    """Log how many samples have symbols unseen in training: no error, but worth knowing."""
    for part, samples in {"dev": parts.dev, "test": parts.test or []}.items():
        for kind, number in vocabulary.unseen(samples).items():
            if number:
                log.info("%s: %d of %d samples have %s unseen in training", part, number, len(samples), kind)
