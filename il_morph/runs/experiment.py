"""One run of `il-morph train`, from the data to the scores."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any, Optional

from il_morph import __version__
from il_morph.bars import bar
from il_morph.data.formats import Parts, ReadOptions, Sample, format_named, read_data, read_parts
from il_morph.data.splitting import SplitFile, Splitting, split_in_memory
from il_morph.engines import choose_engine, engine_named
from il_morph.errors import InputError
from il_morph.model.architectures import architecture_of, inference_of, vocabulary_of
from il_morph.model.modelfile import Model, load_model
from il_morph.model.registry import TRANSDUCER
from il_morph.model.search import as_written, decode
from il_morph.model.settings import SEPARATORS, ModelSettings, TrainingSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.run_folder import RunFolder, search_name
from il_morph.runs.results_folder import ResultsFolder
from il_morph.training.checkpoint import LOG_COLUMNS, Checkpoint, load_checkpoint, save_checkpoint
from il_morph.training.clock import Clock
from il_morph.training.engine import Engine
from il_morph.training.history import Epoch, History
from il_morph.training.loop import TrainingLoop
from il_morph.training.phases import phases_of, train_phases
from il_morph.transitions.actions import UNK
from il_morph.transitions.systems import EditSystem

log = logging.getLogger(__name__)


MAX_SEED = 2**32 - 1  # DyNet's are 32 bits wide


def chosen_seed(seed: Optional[int]) -> int:
    """The given seed, or one that is drawn."""
    return random.SystemRandom().randrange(1, 2**31) if seed is None else seed


@dataclass
class Experiment:
    """What the command line asks for."""

    train_path: str
    dev_path: str
    results_path: str
    training: TrainingSettings
    model_flags: dict[str, Any]
    engine_name: Optional[str] = None  # None: the default
    dynet_mem: int = 512
    dynet_autobatch: bool = False
    test_path: Optional[str] = None
    reload_path: Optional[str] = None
    force: bool = False
    verbose: bool = False
    seed: Optional[int] = None
    command: list[str] = field(default_factory=list)
    options: ReadOptions = ReadOptions()
    splitting: Optional[Splitting] = None  # of the training file, where it is the only one
    split: Optional[SplitFile] = field(default=None, init=False)
    engine: Engine = field(init=False)  # chosen when the model's settings are known

    def run(self) -> None:
        """Read, train, decode, score. Nothing is written before all input has been read."""
        if self.training.mode == "eval":
            self._check_trials()
            self._evaluate()
        else:
            self._train(self._seed())

    def _seed(self) -> int:
        """The given seed, that of an interrupted run that is to go on, or one that is drawn."""
        interrupted = RunFolder(self.results_path).checkpoint
        if self.seed is None and not self.force and interrupted.exists():
            return load_checkpoint(interrupted).identity["seed"]
        return chosen_seed(self.seed)

    def _evaluate(self) -> None:
        """Decode and score with a trained model."""
        model, clock = self._reloaded(), Clock()
        if model is None:
            raise InputError("--mode=eval needs a model: give its path with --reload-path")
        self.engine = engine_named(*self._engine_flags)
        parts = self._read(model)
        report_unseen(model.vocabulary, parts)
        with closing(ResultsFolder(self.results_path)) as results:
            if not self.force:
                results.refuse_to_evaluate()
            results.begin()
            self._finish(model, parts, results, {}, clock, chosen_seed(self.seed))

    def check(self) -> tuple[Optional[Model], Parts, Vocabulary]:
        """Read everything that a training needs, and write nothing."""
        self._check_mode()
        self._check_trials()
        reloaded = self._reloaded()
        parts = self._read(reloaded)
        vocabulary = reloaded.vocabulary if reloaded else vocabulary_of(ModelSettings(**self.model_flags), parts)
        vocabulary.symbols = vocabulary.symbols.covering(parts.train)
        report_unseen(vocabulary, parts)
        report_attributes(vocabulary)
        self._check_objective(vocabulary)
        self.engine = choose_engine(vocabulary.settings, *self._engine_flags)
        self.engine.refuse(vocabulary.settings, self.training)
        if self.split:
            self.split.refuse_others(self.force)
        return reloaded, parts, vocabulary

    def _train(self, seed: int) -> None:
        reloaded, parts, vocabulary = self.check()
        samples = learnable(parts.train, vocabulary) if reloaded else parts.train
        train, dev = ([vocabulary.instance(sample) for sample in some] for some in (samples, parts.dev))
        self.engine.start(vocabulary, self.training, train, seed)
        with closing(ResultsFolder(self.results_path)) as results:
            identity = self._identity(vocabulary, reloaded, [*samples, *parts.dev], seed)
            checkpoint = None if self.force else results.unfinished(identity)
            if checkpoint:
                checkpoint.check(architecture_of(vocabulary).shapes, len(phases_of(self.training)), len(train))
            results.begin()
            if checkpoint is None:
                results.start_over()
            if self.split:
                self.split.write()
            report = RunReport(results, vocabulary, {"seed": seed, **self.training.as_dict()}, identity, checkpoint)
            try:
                history = train_phases(self.engine, vocabulary, reloaded.weights if reloaded else None, train, dev,
                                       self.training, seed, report, self.verbose, checkpoint)
            except KeyboardInterrupt:
                log.warning(report.interrupted(self.engine.resumable))
                raise
            self._finish(report.model(history.weights), parts, results, report.summary(history), report.clock, seed)

    def _identity(self, vocabulary: Vocabulary, reloaded: Optional[Model], samples: Sequence[Sample],
                  seed: int) -> dict[str, Any]:
        """Which run this is: with the same settings, data and start it goes on where it was interrupted."""
        start = sha256()
        for name, weights in sorted(reloaded.weights.items() if reloaded else ()):
            start.update(name.encode() + weights.tobytes())
        settings = {**vocabulary.settings.as_dict(), **self.training.as_dict(),
                    "seed": seed, "engine": self.engine.name}
        data = repr([samples, vocabulary.as_dict()])  # the symbols may be those of the test data too
        return json.loads(json.dumps({**settings, "data": sha256(data.encode()).hexdigest(),
                                      "start": start.hexdigest() if reloaded else None}))

    def _finish(self, model: Model, parts: Parts, results: ResultsFolder, history: dict[str, Any], clock: Clock,
                seed: int) -> None:
        try:
            scores = self._decode(model, {"dev": parts.dev, "test": parts.test}, results)
        except KeyboardInterrupt:
            trained = self.reload_path if self.training.mode == "eval" else results.model
            log.warning("interrupted while decoding: the model is %s", trained)
            raise
        results.finish({
            "il_morph": __version__, "command": self.command, "seed": seed, "engine": self.engine.name,
            "settings": {**model.vocabulary.settings.as_dict(), **self.training.as_dict(),
                         "reload_path": self.reload_path},
            "training": {**history, **clock.as_dict()}, "scores": scores,
        })

    def _check_mode(self) -> None:
        mode, training = self.training.mode, self.training
        pretrained = self.reload_path or training.pretrain_epochs or training.pretrain_until
        if mode in ("mrt", "rl") and not pretrained:
            raise InputError(f"--mode={mode} starts from a trained model: give one with --reload-path, or train it "
                             "in the same run with --pretrain-epochs or --pretrain-until")

    def _check_trials(self) -> None:
        if self.training.trials > 1 and len(phases_of(self.training)) != self.training.trials:
            raise InputError("--trials starts each training anew, --pretrain-epochs and --pretrain-until have one "
                             "before it: leave out one of them, or give the trials a trained model with "
                             "--reload-path")

    def _reloaded(self) -> Optional[Model]:
        """The model of --reload-path, whose settings the flags must not contradict."""
        if self.reload_path is None:
            return None
        model = load_model(self.reload_path)
        settings = asdict(model.vocabulary.settings)
        for name, value in self.model_flags.items():
            if settings[name] != value and name == "format":
                raise InputError(f"the model {self.reload_path} reads the {settings[name]} format "
                                 f"({format_named(settings[name]).flag}), but the command line says {value} "
                                 f"({format_named(value).flag}): choose the format of the model")
            if settings[name] != value:
                quoted = '"' if name in SEPARATORS else ""
                raise InputError(f"--{name.replace('_', '-')}: the model {self.reload_path} was trained with "
                                 f"{quoted}{settings[name]}{quoted}, the command line says {quoted}{value}{quoted}; "
                                 "leave the flag out, or the --model that sets it")
        return model

    @property
    def _engine_flags(self) -> tuple[Optional[str], int, bool]:
        return self.engine_name, self.dynet_mem, self.dynet_autobatch

    def _check_objective(self, vocabulary: Vocabulary) -> None:
        """Not every mode trains every architecture and transition system."""
        architecture, modes = vocabulary.settings.architecture, {phase.mode for phase in phases_of(self.training)}
        if architecture != TRANSDUCER and modes != {"mle"}:
            raise InputError(f"--mode={self.training.mode}: a model with --architecture={architecture} is trained with "
                             "--mode=mle alone")
        if self.training.mode == "il" and not vocabulary.system.has_expert:
            raise InputError(f"--mode=il needs --transducer={EditSystem.name}: the expert knows COPY, DELETE, "
                             "INSERT and END; train the hard-attention system with --mode=mle")

    def _read(self, reloaded: Optional[Model]) -> Parts:
        """Read the data, as the model of --reload-path does; its format becomes a setting of a new model."""
        options = self.options
        if reloaded:
            options = replace(options, expected=reloaded.vocabulary.format,
                              unicode=reloaded.vocabulary.settings.unicode,
                              separators=reloaded.vocabulary.settings.separators,
                              because=f"the model {self.reload_path} was trained on")
        train_path = None if self.training.mode == "eval" else self.train_path
        parts = self._split(options) if self.splitting else read_parts(train_path, self.dev_path, self.test_path,
                                                                       options)
        if not reloaded:
            self.model_flags = {"pos_emb": parts.format.separator is not None, **self.model_flags,
                                "format": parts.format.name}
        return parts

    def _split(self, options: ReadOptions) -> Parts:
        """The parts of the training file; a test file of its own takes the place of the third."""
        assert self.splitting is not None
        self.split = split_in_memory(self.train_path, self.results_path, options, self.splitting)
        fmt = self.split.data.format
        own = self.test_path and read_data(self.test_path, replace(options, expected=fmt,
                                                                   because=f"{self.train_path} has"))
        return Parts(fmt, self.split.samples("train"), self.split.samples("dev"),
                     own.samples if own else self.split.samples("test"), options.separators)

    def _decode(self, model: Model, parts: dict[str, Optional[Sequence[Sample]]], results: ResultsFolder) -> dict:
        inference = inference_of(model.weights, model.vocabulary)
        scores = {}
        for width in (1, *self.training.beam_widths):
            for part, samples in parts.items():
                if samples is None:
                    continue
                name = f"{search_name(width)}.{part}"
                instances = [model.vocabulary.instance(sample) for sample in samples]
                found = as_written(decode(inference, instances, width, self.training.decbatch_size,
                                          partial(bar, what=name, unit="batch")), instances)
                scored = results.write_predictions(name, model.vocabulary.format, samples, found,
                                                   model.vocabulary.settings.separators)
                if scored:
                    scores[name] = scored.as_dict()
                    log.info("%s accuracy: %.2f", name, scored.accuracy)
        return scores


class RunReport:
    """Keeps log, best model and checkpoint on disk while training goes on."""

    def __init__(self, results: ResultsFolder, vocabulary: Vocabulary, training: dict[str, Any],
                 identity: dict[str, Any], checkpoint: Optional[Checkpoint] = None):
        self.results, self.vocabulary, self.training, self.identity = results, vocabulary, training, identity
        self.clock, self.epochs = Clock(), 0
        self.best: Optional[Epoch] = None
        if checkpoint:
            self._go_on(checkpoint)

    def _go_on(self, checkpoint: Checkpoint) -> None:
        """The same epochs, best model and seconds as if the training had not been interrupted."""
        self.clock = Clock(checkpoint.seconds, checkpoint.cpu_seconds)
        self.best = checkpoint.history.best
        first = LOG_COLUMNS.index("epoch")
        self.epochs = sum(line.split("\t")[first] != str(Epoch.START) for line in self.results.log_lines[1:])
        log.info("going on after epoch %d of an interrupted training", checkpoint.history.epochs[-1].epoch)

    def model(self, weights: dict) -> Model:
        return Model(self.vocabulary, weights, self.training)

    def summary(self, history: History) -> dict[str, Any]:
        assert history.best is not None, "a training has at least one epoch"
        return {"epochs": self.epochs, "best_epoch": history.best.epoch, "dev_accuracy": history.best.dev_accuracy}

    def on_best(self, epoch: Epoch, weights: dict) -> None:
        self.results.save_model(self.model(weights))
        self.best = epoch

    def on_epoch(self, phase: str, epoch: Epoch) -> None:
        """`phase` is the mode of training: il, mle, mrt or rl; with several trials `mle.1` and so on."""
        if not self.results.log_lines:
            self.results.write_log(LOG_COLUMNS)
        self.results.write_log([phase, *epoch.cells()])
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

    def interrupted(self, resumable: bool) -> str:
        if self.best is None:
            return "interrupted before the end of the first epoch: no model was written"
        which = "the model it started from" if self.best.epoch == self.best.START else f"epoch {self.best.epoch}"
        return (f"interrupted: the best model so far ({which}, dev accuracy "
                f"{self.best.dev_accuracy:.2f}) is {self.results.model}"
                + ("; the same command goes on" if resumable else ""))


def learnable(train: Sequence[Sample], vocabulary: Vocabulary) -> list[Sample]:
    """The samples that a reloaded model can learn: it has no action for a character it does not know, and some
    architectures do not learn to read one."""
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


def report_attributes(vocabulary: Vocabulary) -> None:
    """Where no feature names an attribute, slots are those of the features."""
    settings, features = vocabulary.settings, vocabulary.features.symbols[1:]
    if settings.architecture == TRANSDUCER and settings.avm_feat_format and not any("=" in each for each in features):
        log.warning("--avm-feat-format has no effect here: no feature of the training data is an attribute=value")


def report_unseen(vocabulary: Vocabulary, parts: Parts) -> None:
    """Symbols that training did not show are no error, but worth knowing."""
    for part, samples in {"dev": parts.dev, "test": parts.test or []}.items():
        for kind, number in vocabulary.unseen(samples).items():
            if number:
                log.info("%s: %d of %d samples have %s unseen in training", part, number, len(samples), kind)
