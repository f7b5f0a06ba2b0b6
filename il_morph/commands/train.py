"""Train a model, keep the one with the best dev accuracy, decode and score dev and test data.

Examples:
  il-morph train swedish.tsv results                             one file: it is split into 80, 10 and 10 percent
  il-morph train --test-path=test.tsv train.tsv dev.tsv results  files of one's own
  il-morph train --seeds=1-5 --jobs=2 train.tsv dev.tsv results  five models, two at a time, and their vote

Usage:
  il-morph train [options] TRAIN-PATH DEV-PATH RESULTS-PATH
  il-morph train [options] FILE RESULTS-PATH

The flags that matter most:
  --model=NAME              preset of flags: ca-d, ca-r, ca-rm, ca, ha, ca-mrt, ha-mrt, ca-mrt-a, and of cited systems
                            ha-2017, soft, hacm, haem-2017, nwfst; explicit flags win (default ca-r)
  --test-path=FILE          decode this file as well; its outputs may be missing
  --seeds=LIST              a model for each of these seeds, 1-5 for example, in RESULTS-PATH/1 and so on; their vote,
                            mean and standard deviation are in RESULTS-PATH. The same command goes on where it was
                            interrupted
  --engine=NAME             dynet, or native: without DyNet, several times as fast with Numba, goes on where it was
                            interrupted; one layer, no --mlp, no --dropout (default dynet where it is installed)
  --epochs=N                most epochs (default 50)

Without flags it trains the paper's CA-R with the paper's settings. What is on by default can be
switched off: --no-pos-emb. RESULTS-PATH gets f.model, f.log, f.stats, f.greedy.{dev,test}.predictions,
f.beam4.{dev,test}.predictions and an .eval beside each, and the parts of FILE.

Options:
  --jobs=N                  with --seeds: trainings at a time (default the number of cores)
  --reload-path=PATH        start from this f.model (or results folder); its network settings are taken over
  --force                   overwrite the results of a finished run
  --mode=MODE               il (imitation learning), mle (gold sequences of an aligner), mrt (minimum risk), rl
                            (REINFORCE), or eval (decode with the model of --reload-path) (default il)
  --verbose=LEVEL           1: show ten dev predictions after each epoch (default 0)

Engine:
  --dynet-seed=N            seed of everything random; drawn and recorded if not given
  --dynet-mem=MB            memory that DyNet allocates at the start (default 512)
  --dynet-autobatch=N       1: DyNet's automatic batching (default 0)

Data:
  --split-by=UNIT           of FILE: lemma (all lines with the same input go to the same part) or line; lemma if not
                            given and an input comes more than once, else line. With --test-path the parts are 90 and
                            10 percent
  --split-seed=N            of FILE: what the draw of its parts depends on (default 1)
  (default)                 the columns of TRAIN-PATH are recognised, and it is said how they are read; what is
                            doubtful is refused
  --sigm2017format          columns are input, output, features;separated;by;semicolons
  --no-feat-format          columns are input, anything, output, or input, output: no features
  --columns=LIST            the columns, for example input,features,output; - is one to be ignored
  --feature-separator=X     what separates features, for example ";" (recognised if not given)
  --unicode=FORM            as-is, or nfc or nfd to normalise all data so; kept with the model, whose inputs `il-morph
                            predict` then normalises, too (default as-is)
  --input-separator=X       the separator between the symbols of inputs, for example " " in "t͡ʃ aː"; kept with the
                            model (default: none, each character is a symbol)
  --output-separator=X      the separator between the symbols of outputs, for example phonemes

Network:
  --architecture=NAME       transducer, that of the paper; or one of a cited system, for --mode=mle: soft (soft
                            attention), hacm (hard attention that copies), haem-2017 (edits that read what was
                            written, deleted and done), nwfst (a lattice of edits with neural weights, which reads no
                            features and has a best path at any width of the beam) (default transducer)
  --transducer=NAME         transition system: haem (COPY, DELETE, INSERT, END) or hard (STEP, write, END; not
                            with --mode=il) (default haem)
  --input=N                 size of character embeddings (default 100)
  --feat-input=N            size of feature embeddings; 0 is a bag of features (default 20)
  --action-input=N          size of action embeddings; with --param-tying that of --input (default 100)
  --pos-emb                 the first feature has an embedding table of its own (default, but for --no-feat-format)
  --no-pos-emb              the first feature is a feature like the others
  --avm-feat-format         one slot for each attribute of attribute=value features
  --enc-hidden=N            size of each encoder LSTM (default 200)
  --dec-hidden=N            size of the decoder LSTM (default 200)
  --enc-layers=N            layers of each encoder LSTM (default 1)
  --dec-layers=N            layers of the decoder LSTM (default 1)
  --vanilla-lstm            DyNet's VanillaLSTM instead of the coupled LSTM with peepholes
  --mlp=N                   size of a hidden layer before the classifier; 0 is none (default 0)
  --nonlin=NAME             its non-linearity: ReLU or tanh (default ReLU)
  --lucky-w=X               with --feat-input=0: weight of a feature that is present (default 55)
  --tag-wraps=WRAPS         both (BEGIN and END around the input) or close (END alone) (default both)
  --param-tying             characters and insertions share their embeddings (default)
  --no-param-tying          they have tables of their own

Training:
  --optimization=NAME       ADADELTA, ADAM, SGD, MOMENTUM or ADAGRAD (default ADADELTA)
  --learning-rate=X         learning rate; with ADADELTA a factor of its updates. 0 is the optimiser's own: ADADELTA 1,
                            ADAM 0.0005, SGD 0.1, MOMENTUM 0.01, ADAGRAD 0.1 (default 0)
  --lr-schedule=NAME        constant; warmup-decay: the rate rises linearly, then falls with the square root of time; or
                            plateau: it falls when the dev accuracy stops improving (default constant)
  --lr-warmup=X             warmup-decay: epochs in which the rate rises (default 1)
  --lr-decay=X              plateau: factor of the rate (default 0.5)
  --lr-patience=N           plateau: epochs without improvement before the rate falls (default 5)
  --patience=N              stop after N epochs without improvement (default 10); with --reload-path the
                            model it starts from does not count
  --pick-loss               keep the model with the lowest dev loss instead of the highest dev accuracy
  --pick-ties=NAME          which of several best epochs is kept: earlier or later (default earlier)
  --trials=N                train so many times from different seeds and keep the best model on dev data (default 1)
  --sample-order=NAME       shuffled in each epoch, or length: by that of the inputs (default shuffled)
  --batch-size=N            samples in one update (default 1)
  --dropout=X               variational dropout in the decoder (default 0)
  --l2=X                    penalty on the norms of the weight matrices (default 0)

Decoding:
  --decbatch-size=N         inputs decoded at once (default 512)
  --beam-width=N            beam for the dev accuracy of each epoch; 0 is greedy (default 0)
  --beam-widths=N,N         beams of the final decoding; 0 is none (default 4)

Imitation learning:
  --il-loss=NAME            nll, softmax-margin or mse (default nll)
  --il-decay=NAME           roll-in schedule: inverse-sigmoid or exponential (default inverse-sigmoid)
  --il-k=X                  its k; between 0 and 1 for exponential (default 12, exponential 0.9)
  --il-tforcing-epochs=N    epochs with expert roll-ins alone at the start, before the schedule (default 0)
  --il-rules=NAME           paper, or program: the four small rules of the authors' program that the paper does not
                            have (default paper)
  --il-rollin=NAME          which of the expert's actions is taken: best or uniform (default best)
  --il-beta=X               probability of expert roll-outs (default 0.5)
  --il-global-rollout       one draw for the whole sequence (default)
  --no-il-global-rollout    one draw for each step
  --il-rollout-loss=NAME    cost of a model roll-out: edits, or distance (5 x distance + edits) (default edits)
  --il-optimal-oracle       the expert remembers which characters of the output are errors (default)
  --no-il-optimal-oracle    its place in the target is the length of the output, right or wrong
  --il-bias-inserts         in half of the steps an insertion costs no more than the COPY it could be

Gold sequences (mle, mrt, and mle before other modes):
  --align-smart             Chinese-restaurant-process aligner (default)
  --align-cls               longest common substring in register
  --align-dumb              the shorter string padded on the right
  --iterations=N            iterations of --align-smart (default 150)
  --try-reverse             align the reversed strings too and keep what copies more
  --mle-loss=NAME           loss of a sequence: mean or sum over its actions (default mean)
  --pretrain-epochs=N       train with mle for N epochs first
  --pretrain-until=X        train with mle first until this share (0 to 1) of training samples comes out right
  --pretrain-dropout=X      --dropout of that phase (default 0)

Minimum risk and REINFORCE:
  --sample-size=N           sequences sampled for each sample (default 20)
  --alpha=X                 mrt: sharpness of the distribution over sequences (default 1)
  --beta=X                  factor of the distance: in the risk (mrt), in the reward (rl) (default 1)
  --mrt-action-cost=X       mrt: share of the action cost in the risk, 0.2 in CA-MRT-A (default 0)
  --no-baseline             rl: centred and scaled rewards instead of the greedy baseline
  --scale-negative=X        rl: factor of negative advantages (default 1)
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import Field, fields
from typing import Any, Optional

from il_morph.commands.arguments import (
    Arguments,
    choice,
    chosen_aligner,
    integer,
    number,
    optional,
    parse_arguments,
    read_options_of,
    refuse_empty,
    separator,
    usage_error,
)
from il_morph.commands.unused_flags import idle_settings
from il_morph.data.splitting import LEMMA, LINE, SHARES, Splitting
from il_morph.engines import DYNET, ENGINES, default_engine
from il_morph.errors import InputError
from il_morph.model.registry import TRANSDUCER, kind_named
from il_morph.model.settings import (
    MAX_BEAM_WIDTH,
    PRESETS,
    ModelSettings,
    TrainingSettings,
    check_architecture,
    declarations,
)
from il_morph.runs.experiment import MAX_SEED, Experiment
from il_morph.runs.seeds import train_seeds

log = logging.getLogger(__name__)

# Flags that are no settings of a model or of its training.
OTHER_FLAGS = {"--model", "--engine", "--test-path", "--reload-path", "--force", "--verbose", "--seeds", "--jobs",
               "--split-by", "--split-seed", "--dynet-seed", "--dynet-mem", "--dynet-autobatch",
               "--sigm2017format", "--no-feat-format", "--columns", "--feature-separator",
               "--align-smart", "--align-cls", "--align-dumb"}
WITHOUT_FLAG = {"format", "aligner"}  # settings that several flags decide on
TIED_WHY = {"action_input": "characters and actions share their embeddings: make them equal or use --no-param-tying",
            "feat_input": "the encoder reads characters and features alike: make them equal"}
OF_ALL_SEEDS = {"--seeds", "--jobs", "--force", "--split-by", "--split-seed", "--test-path", "--epochs", "--patience"}
WITH_TEST = (90.0, 10.0)  # the shares of training and development data where there is a test file
MOST_SEEDS = 1000
MOST_MEMORY = 1_000_000_000  # MB


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, with_level(argv))
    check_declared(args)
    refuse_empty(args, "FILE", "TRAIN-PATH", "DEV-PATH", "RESULTS-PATH", "--test-path", "--reload-path",
                 advice="give a path")
    if args["FILE"] and os.path.isfile(args["RESULTS-PATH"]):
        raise usage_error(__doc__, f"{args['RESULTS-PATH']} is a file, but the last path is that of the results "
                                   "folder: give that, too")
    jobs = optional(integer, args, "--jobs", None, 1)
    experiment = experiment_of(args, argv)
    if args["--seeds"] is not None:
        return train_seeds(experiment, given_flags(args), seeds_of(args), jobs)
    if jobs:
        raise InputError("--jobs is about several trainings: say which with --seeds, or leave it out")
    experiment.run()
    return 0


def experiment_of(args: Arguments, argv: list[str]) -> Experiment:
    preset = PRESETS[optional(choice, args, "--model", "ca-r", list(PRESETS))]
    flags, training = model_flags(args, preset), training_settings(args, preset)
    engine = optional(choice, args, "--engine", None, ENGINES)
    say_what_is_idle(args, flags, training, engine or default_engine())
    return Experiment(
        train_path=args["FILE"] or args["TRAIN-PATH"], dev_path=args["DEV-PATH"] or "", test_path=args["--test-path"],
        results_path=args["RESULTS-PATH"], reload_path=args["--reload-path"], force=args["--force"],
        model_flags=flags, training=training, engine_name=engine,
        dynet_mem=optional(integer, args, "--dynet-mem", 512, 1, MOST_MEMORY),
        dynet_autobatch=bool(optional(integer, args, "--dynet-autobatch", 0, 0, 1)),
        verbose=bool(optional(integer, args, "--verbose", 0, 0, 9)), command=["il-morph", *argv],
        seed=optional(integer, args, "--dynet-seed", None, 0, MAX_SEED),
        options=read_options_of(args), splitting=splitting_of(args),
    )


def say_what_is_idle(args: Arguments, flags: dict[str, Any], training: TrainingSettings, engine: str) -> None:
    """A flag that is accepted and has no effect in this training is worth a word."""
    given = [*explicit(args, TrainingSettings), *["aligner"] * bool(chosen_aligner(args))]
    given += [] if args["--reload-path"] else explicit(args, ModelSettings)
    for name, of in idle_settings(given, training, ModelSettings(**flags)):
        flag = f"--align-{training.aligner}" if name == "aligner" else given_as(args, flag_of(name))
        log.warning("%s has no effect here: it is of %s", flag, of)
    if args["--dynet-mem"] is not None and engine != DYNET:
        log.warning("--dynet-mem has no effect here: it is of --engine=dynet")


def given_as(args: Arguments, flag: str) -> str:
    """`--no-FLAG` where that was given."""
    no = flag.replace("--", "--no-", 1)
    return no if args.get(no) else flag


def splitting_of(args: Arguments) -> Optional[Splitting]:
    """How FILE is split; nothing where training and development data are given."""
    by = optional(choice, args, "--split-by", None, (LEMMA, LINE))
    seed = optional(integer, args, "--split-seed", None, 0)
    if args["FILE"] is None:
        if by or seed is not None:
            raise InputError(f"{'--split-by' if by else '--split-seed'} is about one file that is split: give FILE and "
                             "RESULTS-PATH alone, or leave the flag out")
        return None
    if args["--mode"] == "eval":
        raise InputError("--mode=eval decodes DEV-PATH and splits nothing: give TRAIN-PATH, DEV-PATH and RESULTS-PATH")
    return Splitting(SHARES if args["--test-path"] is None else WITH_TEST, 1 if seed is None else seed, by)


def seeds_of(args: Arguments) -> list[int]:
    """`1-3,7` are the seeds 1, 2, 3 and 7."""
    seeds: dict[int, None] = {}
    for part in args["--seeds"].split(","):
        found = re.fullmatch(r"([0-9]{1,10})(?:-([0-9]{1,10}))?", part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last <= MAX_SEED or last - first >= MOST_SEEDS:
            raise InputError(f"--seeds takes seeds up to {MAX_SEED}, as in 1-5 or 1,2,7, at most {MOST_SEEDS}, "
                             f"not {args['--seeds']!r}")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    if args["--dynet-seed"] is not None:
        raise InputError("--seeds and --dynet-seed exclude each other: give one of them")
    return list(seeds)


def given_flags(args: Arguments) -> list[str]:
    """The flags of the command line that a training with one of several seeds has, too."""
    return [name if value is True else f"{name}={value}" for name, value in args.items()
            if name.startswith("--") and name not in OF_ALL_SEEDS and value is not None and value is not False]


def with_level(argv: list[str]) -> list[str]:
    """`--verbose` without a level is level 1."""
    levels = [following.isdecimal() for following in argv[1:]] + [False]
    return ["--verbose=1" if argument == "--verbose" and not level else argument
            for argument, level in zip(argv, levels)]


def model_flags(args: Arguments, preset: dict) -> dict[str, Any]:
    """The settings of the network that the command line gives, all others left to the defaults."""
    if args["--tag-wraps"] == "none":
        raise InputError("--tag-wraps=none is refused: END needs a symbol; take both or close")
    flags, given = explicit(args, ModelSettings), chosen(preset, ModelSettings)
    if args["--reload-path"] is not None:  # what is not asked for is that of the model
        given = {name: given[name] for name in given if args["--model"] and name in ("architecture", "transducer")}
    given = {**given, **kind_named({**given, **flags}.get("architecture", TRANSDUCER)).fixed, **flags}
    chosen_format = read_options_of(args).format
    if chosen_format is not None:
        given["format"] = chosen_format.name
    settings = ModelSettings(**given)
    if args["--reload-path"] is None:
        check_architecture(settings)
    if settings.avm_feat_format and not settings.feat_input:
        raise InputError("--feat-input=0 takes the features as a bag, --avm-feat-format as slots with embeddings: "
                         "leave out one of them")
    return {**given, **tied_sizes(settings, given, flags)}


def tied_sizes(settings: ModelSettings, given: dict[str, Any], flags: dict[str, Any]) -> dict[str, int]:
    """The sizes of embeddings that must be equal: one that a flag gives is that of all."""
    sizes = {name: getattr(settings, name) for name in settings.kind.tied if settings.param_tying}
    named = [name for name in sizes if name in flags] or [name for name in sizes if name in given]
    different = [name for name in named if sizes[name] != sizes[named[0]]]
    if different:
        one, other = named[0], different[0]
        raise InputError(f"{flag_of(one)}={sizes[one]} and {flag_of(other)}={sizes[other]} differ, "
                         f"but {TIED_WHY[other]}")
    return dict.fromkeys(sizes, sizes[named[0]]) if named else {}


def training_settings(args: Arguments, preset: dict) -> TrainingSettings:
    given = {**chosen(preset, TrainingSettings), **explicit(args, TrainingSettings)}
    if args["--beam-widths"] is not None:
        given["beam_widths"] = beam_widths(args["--beam-widths"])
    if chosen_aligner(args):
        given["aligner"] = chosen_aligner(args)
    if given.get("il_decay") == "exponential" and given.setdefault("il_k", 0.9) >= 1:
        raise InputError(f"--il-k takes a number between 0 and 1 with --il-decay=exponential, not {given['il_k']:g}")
    return TrainingSettings(**given)


def beam_widths(text: str) -> tuple[int, ...]:
    widths = text.split(",")
    if not all(width.isdecimal() for width in widths):
        raise InputError(f"--beam-widths takes whole numbers separated by commas, not {text!r}")
    if max(map(len, widths)) > 9 or max(map(int, widths)) > MAX_BEAM_WIDTH:
        raise InputError(f"--beam-widths takes numbers up to {MAX_BEAM_WIDTH}, not {text!r}")
    return tuple(sorted({int(width) for width in widths} - {0, 1}))  # greedy search is always done


def chosen(preset: dict, settings_class: type) -> dict[str, Any]:
    names = {field.name for field in fields(settings_class)}
    return {name: value for name, value in preset.items() if name in names}


def explicit(args: Arguments, settings_class: type) -> dict[str, Any]:
    """The values of the flags that were given, under the names of the settings."""
    values = {field.name: flag_value(args, field) for field in fields(settings_class)
              if field.name not in WITHOUT_FLAG and field.name != "beam_widths"}
    return {name: value for name, value in values.items() if value is not None}


def flag_value(args: Arguments, declared: Field) -> Optional[Any]:
    """The value that the command line gives to a setting, None if it does not."""
    flag, bounds = flag_of(declared.name), declared.metadata
    if isinstance(declared.default, bool):
        return switch(args, flag)
    if args[flag] is None:
        return None
    if "choices" in bounds:
        return choice(args, flag, bounds["choices"])
    if isinstance(declared.default, str):
        return separator(args, flag)
    return (integer if isinstance(declared.default, int) else number)(args, flag, bounds["low"], bounds["high"])


def switch(args: Arguments, flag: str) -> Optional[bool]:
    """A setting that is on or off; one that is on by default has a --no-… form."""
    opposite = f"--no-{flag[2:]}"
    if args[flag] and args.get(opposite):
        raise InputError(f"{flag} and {opposite} exclude each other: give one of them")
    return True if args[flag] else False if args.get(opposite) else None


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def check_declared(args: Arguments) -> None:
    """The usage text and the declarations of the settings know the same flags."""
    declared = {flag_of(name): setting for name, setting in declarations().items() if name not in WITHOUT_FLAG}
    opposites = {f"--no-{flag[2:]}" for flag, setting in declared.items() if setting.default is True}
    in_usage, known = {name for name in args if name.startswith("--")}, {*declared, *opposites, *OTHER_FLAGS}
    if in_usage != known:
        raise AssertionError(f"only the usage text or only the declarations know {sorted(in_usage ^ known)}")
