"""Train a model, keep the one with the best dev accuracy, decode and score dev and test data.

Examples:
  il-morph train swedish.tsv results                             one file, split into 80, 10 and 10 percent
  il-morph train --test-path=test.tsv train.tsv dev.tsv results  your own split
  il-morph train --seeds=1-5 --jobs=2 train.tsv dev.tsv results  five models, two at a time, and their vote

Usage:
  il-morph train [options] TRAIN-PATH DEV-PATH RESULTS-PATH
  il-morph train [options] FILE RESULTS-PATH

The flags that matter most:
  --model=NAME              a preset of flags: ca-d, ca-r, ca-rm, ca, ha, ca-mrt, ha-mrt, ca-mrt-a; best: CA-R with
                            flags that depend on the size of the data, which the log names; g2p or segmentation; or a
                            cited system: ha-2017, soft, hacm, haem-2017, nwfst, med, lem; explicit flags win
                            (default ca-r)
  --test-path=FILE          decode this file, too; its outputs may be missing
  --seeds=LIST              train a model for each seed, for example 1-5, in RESULTS-PATH/1 and so on; RESULTS-PATH gets
                            their vote, mean and standard deviation. After an interruption the same command goes on
  --engine=NAME             dynet, or native: needs no DyNet, is several times as fast with Numba and goes on after an
                            interruption; one decoder layer, no --mlp (default dynet where it is installed)
  --epochs=N                maximum number of epochs (default 50)

Without flags it trains the paper's CA-R with the paper's settings. --no-... switches off what is on
by default: --no-pos-emb. RESULTS-PATH gets f.model, f.log, f.stats, f.greedy.{dev,test}.predictions,
f.beam4.{dev,test}.predictions and an .eval beside each, and the parts of FILE.

Options:
  --folds=N                 cross-validation for little data: FILE is cut into N parts, and each in turn is the dev data
                            of a model in RESULTS-PATH/1 and so on; RESULTS-PATH gets the mean, and the models vote
  --jobs=N                  with --seeds or --folds: trainings at a time (default the number of cores)
  --reload-path=PATH        start from this f.model (or results folder), with its network settings
  --force                   overwrite the results of a finished run
  --mode=MODE               il (imitation learning), mle (gold sequences of an aligner), mrt (minimum risk), rl
                            (REINFORCE), or eval (decode with the model of --reload-path) (default il)
  --verbose=LEVEL           1: show ten dev predictions after each epoch (default 0)

Engine:
  --dynet-seed=N            seed of everything random; drawn and recorded if not given
  --dynet-mem=MB            memory that DyNet allocates at the start (default 512)
  --dynet-autobatch=N       1: DyNet's automatic batching (default 0)

Data:
  --split-by=UNIT           how to split FILE: lemma (lines with the same input stay together), line, or sentence
                            (CoNLL-U); if not given, sentence for CoNLL-U, else lemma where inputs repeat, else line;
                            the parts with --test-path are 90 and 10 percent
  --split-seed=N            seed for splitting FILE (default 1)
  (default)                 il-morph recognises the columns of TRAIN-PATH and says how it reads them; it refuses
                            ambiguous data
  --sigm2017format          columns are input, output, features;separated;by;semicolons
  --no-feat-format          columns are input, anything, output, or input, output: no features
  --columns=LIST            the columns, for example lemma,features,form or -,input,output; - skips one
  --feature-separator=X     what separates features, for example ";" (recognised if not given)
  --task=NAME               CoNLL-U: lemmatize (FORM to LEMMA) or inflect (LEMMA to FORM) (default lemmatize)
  --conllu-features=LIST    CoNLL-U: none, upos, upos+feats or xpos (default upos+feats)
  --keep-lexicon            keep the training data in the model, for `il-morph predict --lexicon` (always with CoNLL-U)
  --unicode=FORM            as-is, or nfc or nfd: normalise all data to this form, and the inputs of `il-morph predict`
                            as well; nfd-nfc: inputs to nfd, outputs to nfc (default as-is)
  --input-separator=X       the separator between the symbols of inputs, for example " " in "t͡ʃ aː"; kept with the
                            model (default none, each character is a symbol)
  --output-separator=X      the separator between the symbols of outputs, for example phonemes (default none)
  --boundary=X              what stands between the segments of outputs, for example " @@" in "hund @@en": one symbol
                            among characters; scores include precision, recall and F1 of segments (default none)

Network:
  --architecture=NAME       transducer, as in the paper; or, with --mode=mle, a cited one: soft (soft
                            attention), hacm (hard attention that copies), haem-2017 (edits that read what was
                            written, deleted and done), nwfst (a lattice of edits with neural weights; no features, no
                            beam), med or lem (GRU encoder–decoders with attention) (default transducer)
  --transducer=NAME         transition system: haem (COPY, DELETE, INSERT, END), substitute (these and SUBSTITUTE) or
                            hard (STEP, write, END; not with --mode=il) (default haem)
  --input=N                 size of character embeddings (default 100)
  --feat-input=N            size of feature embeddings; 0 is a bag of features (default 20)
  --action-input=N          size of action embeddings; with --param-tying the same as --input (default 100)
  --pos-emb                 the first feature has its own embedding table (default, except with --no-feat-format)
  --no-pos-emb              treat the first feature like the rest
  --avm-feat-format         one slot for each attribute of attribute=value features
  --enc-hidden=N            size of each encoder LSTM (default 200)
  --dec-hidden=N            size of the decoder LSTM (default 200)
  --enc-layers=N            layers of each encoder LSTM (default 1)
  --dec-layers=N            layers of the decoder LSTM (default 1)
  --vanilla-lstm            DyNet's VanillaLSTM instead of the coupled LSTM with peepholes
  --mlp=N                   size of a hidden layer before the classifier; 0: no such layer (default 0)
  --nonlin=NAME             non-linearity of that layer: ReLU or tanh (default ReLU)
  --lucky-w=X               with --feat-input=0: weight of a feature that is present (default 55)
  --tag-wraps=WRAPS         both (BEGIN and END around the input) or close (END alone) (default both)
  --param-tying             characters and insertions share their embeddings (default)
  --no-param-tying          each has its own table

Training:
  --optimization=NAME       ADADELTA, ADAM, SGD, MOMENTUM or ADAGRAD (default ADADELTA)
  --learning-rate=X         learning rate; ADADELTA: a factor for its updates. 0: the optimiser's default (ADADELTA 1,
                            ADAM 0.0005, SGD 0.1, MOMENTUM 0.01, ADAGRAD 0.1) (default 0)
  --lr-schedule=NAME        constant; warmup-decay: the rate rises linearly, then falls with the square root of time; or
                            plateau: it falls when the dev accuracy stops improving (default constant)
  --lr-warmup=X             warmup-decay: epochs in which the rate rises (default 1)
  --lr-decay=X              plateau: factor of the rate (default 0.5)
  --lr-patience=N           plateau: epochs without improvement before the rate falls (default 5)
  --patience=N              stop after N epochs without improvement, not counting the model of --reload-path
                            (default 10)
  --pick-loss               keep the model with the lowest dev loss instead of the highest dev accuracy
  --pick-ties=NAME          of epochs with the same dev accuracy keep the earlier or the later one, or the one with the
                            lower dev loss: loss, which is taken if dev has fewer than 50 lines (default earlier)
  --trials=N                train N times from different seeds and keep the model that is best on dev data (default 1)
  --sample-order=NAME       shuffled in each epoch, or length: short inputs first (default shuffled)
  --batch-size=N            samples per update (default 1)
  --dropout=X               variational dropout in the decoder; the native engine has one mask for a batch (default 0)
  --l2=X                    penalty on the norms of the weight matrices (default 0)
  --augment=SCHEDULE        train on so many hallucinated samples in each epoch, too: 200, or fewer later, as in
                            200,100@10,0@20 (100 from epoch 10 on); `il-morph augment` shows some (default none)
  --average-weights=DECAY   evaluate and keep a moving average of the weights, for example 0.995; 0: the weights
                            themselves (default 0)

Decoding:
  --decbatch-size=N         inputs decoded at once (default 512)
  --beam-width=N            beam for dev accuracy after each epoch; 0: greedy (default 0)
  --beam-widths=N,N         beams for the final decoding; 0: greedy only (default 4)

Imitation learning:
  --il-loss=NAME            nll, softmax-margin or mse (default nll)
  --il-decay=NAME           roll-in schedule: inverse-sigmoid or exponential (default inverse-sigmoid)
  --il-k=X                  k of the schedule; between 0 and 1 for exponential (default 12, exponential 0.9)
  --il-tforcing-epochs=N    epochs of pure expert roll-ins before the schedule starts (default 0)
  --il-rules=NAME           paper, or program: with the four small rules that only the authors' program has
                            (default paper)
  --il-rollin=NAME          which optimal action to follow: best or uniform (default best)
  --il-beta=X               probability of expert roll-outs (default 0.5)
  --il-global-rollout       one draw for the whole sequence (default)
  --no-il-global-rollout    one draw for each step
  --il-rollout-loss=NAME    cost of a model roll-out: edits, or distance (5 x distance + edits) (default edits)
  --il-optimal-oracle       the expert remembers which characters of the output are errors (default)
  --no-il-optimal-oracle    its place in the target is the length of the output, right or wrong
  --il-bias-inserts         in half of the steps an insertion costs no more than the COPY it could replace
  --il-prefixes=NAME        where in the target the expert goes on: after the first prefix that the output contains, or
                            after all prefixes nearest to the output: first or all (default first)
  --il-costs=NAME           costs of the expert's edits: unit, or learnt from the training data by EM (stochastic edit
                            distance) (default unit)

Gold sequences (mle, mrt, and mle before other modes):
  --align-smart             Chinese-restaurant-process aligner (default)
  --align-cls               longest common substring in register
  --align-dumb              the shorter string padded on the right
  --iterations=N            iterations of --align-smart (default 150)
  --try-reverse             also align the reversed strings and keep the direction with more copies
  --mle-loss=NAME           loss of a sequence: mean or sum over its actions (default mean)
  --pretrain-epochs=N       train with mle for N epochs first
  --pretrain-until=X        train with mle first until this share (0 to 1) of training samples is right
  --pretrain-dropout=X      --dropout of that phase (default 0)

Minimum risk and REINFORCE:
  --sample-size=N           sequences sampled for each sample (default 20)
  --alpha=X                 mrt: sharpness of the distribution over sequences (default 1)
  --beta=X                  factor for the distance in the risk (mrt) or reward (rl) (default 1)
  --mrt-action-cost=X       mrt: share of the action cost in the risk, 0.2 in CA-MRT-A (default 0)
  --no-baseline             rl: centred and scaled rewards instead of the greedy baseline
  --scale-negative=X        rl: factor for negative advantages (default 1)
"""

from __future__ import annotations

import os
from typing import Any

from il_morph.commands.arguments import Arguments, integer, optional, parse_arguments, refuse_empty, usage_error
from il_morph.runs.asked import make_spec, seeds_of
from il_morph.runs.folds import MOST_FOLDS
from il_morph.runs.seeds import carry_out
from il_morph.runs.spec import RunSpec

OF_ALL_SEEDS = {"--seeds", "--folds", "--jobs"}  # apply to several runs together; all other flags to each run


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, with_level(argv))
    if args["FILE"] and os.path.isfile(args["RESULTS-PATH"]):
        raise usage_error(__doc__, f"{args['RESULTS-PATH']} is a file, but the last path is that of the results "
                                   "folder: give that, too")
    jobs = optional(integer, args, "--jobs", None, 1)
    seeds = None if args["--seeds"] is None else seeds_of(args["--seeds"])
    folds = optional(integer, args, "--folds", None, 2, MOST_FOLDS)
    return carry_out(spec_of(args), seeds, jobs, ["il-morph", *argv], folds)


def spec_of(args: Arguments) -> RunSpec:
    """The specification of the run that the arguments ask for."""
    refuse_empty(args, "FILE", advice="give a path")
    return make_spec(args["FILE"] or args["TRAIN-PATH"], args["DEV-PATH"], args["RESULTS-PATH"], asked(args))


def asked(args: Arguments) -> dict[str, Any]:
    """The flags that are given, under their Python names."""
    return {name[2:].replace("-", "_"): value for name, value in args.items()
            if name.startswith("--") and name not in OF_ALL_SEEDS and value is not None and value is not False}


def with_level(argv: list[str]) -> list[str]:
    """Replace `--verbose` without a level by `--verbose=1`."""
    levels = [following.isdecimal() for following in argv[1:]] + [False]
    return ["--verbose=1" if argument == "--verbose" and not level else argument
            for argument, level in zip(argv, levels)]
