"""Show what a model is taught: alignments and gold action sequences, or the expert's own sequences.

Usage:
  il-morph align [options] FILE

FILE is training data; - is standard input. Actions are written as in `il-morph predict --actions`:
x copies, -x deletes, +x inserts, ~x substitutes. With --transducer=hard, +x writes and > moves on.
␣ is a blank, 〰 a gap.

Options:
  --align-smart         Chinese-restaurant-process aligner (default)
  --align-cls           longest common substring in register
  --align-dumb          pad the shorter string on the right
  --align-expert        show the expert's optimal sequences instead of an alignment
  --reload-path=PATH    with --align-expert: the expert of this f.model (or results folder), with its learnt costs,
                        symbols and transition system
  --most=N              with --align-expert: show at most N sequences for each pair (default 5)
  --iterations=N        iterations of --align-smart (default 150)
  --try-reverse         align the reversed strings too and keep the direction with more copies
  --dynet-seed=N        seed of --align-smart, as in `il-morph train` (default 1)
  --transducer=NAME     show the actions of this system: haem, substitute or hard (default haem)
  --sigm2017format      columns are input, output, features;separated;by;semicolons
  --no-feat-format      columns are input, anything, output, or input, output: no features
  --columns=LIST        the columns, for example input,features,output; - skips one; without these flags
                        il-morph recognises the columns
  --feature-separator=X  the separator between features, for example ";" (default: recognised)
  --input-separator=X   the separator between the symbols of inputs, for example " " (default: none, characters)
  --output-separator=X  the separator between the symbols of outputs
  --boundary=X          what stands between the segments of outputs, for example " @@": one symbol
  --format=NAME         text, or tsv: input, output, features, aligned input, aligned output, actions
                        (with --align-expert: input, output, features, number of sequences, actions) (default text)
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from il_morph.commands.arguments import (
    Arguments,
    choice,
    chosen_aligner,
    integer,
    optional,
    parse_arguments,
    read_options_of,
)
from il_morph.data.formats import Sample, read_data
from il_morph.data.symbols import Symbols
from il_morph.errors import InputError
from il_morph.model.modelfile import load_model
from il_morph.model.search import describe
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Instance, Vocabulary
from il_morph.transitions.aligners import make_aligner
from il_morph.transitions.expert import optimal_sequences
from il_morph.transitions.systems import SYSTEMS

MOST = 1_000_000


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    tsv = optional(choice, args, "--format", "text", ("text", "tsv")) == "tsv"
    transducer = optional(choice, args, "--transducer", ModelSettings.transducer, tuple(SYSTEMS))
    aligner_name = chosen_aligner(args, "expert") or "smart"
    refuse_what_has_no_effect(args, aligner_name, transducer)
    most = optional(integer, args, "--most", 5, 1, MOST)
    aligner = make_aligner(aligner_name, optional(integer, args, "--iterations", 150, 1, MOST),
                           optional(integer, args, "--dynet-seed", 1, 0), args["--try-reverse"])
    vocabulary, samples = (model_vocabulary if args["--reload-path"] else own_vocabulary)(args, transducer)
    instances = [vocabulary.instance(sample) for sample in samples]
    if args["--align-expert"]:
        rows = expert_rows(instances, vocabulary, most)
    else:
        rows = aligned_rows(instances, vocabulary, aligner)
    sys.stdout.writelines(("\t".join(row) + "\n" for row in rows) if tsv else as_text(rows))
    return 0


def own_vocabulary(args: Arguments, transducer: str) -> tuple[Vocabulary, list[Sample]]:
    """The vocabulary of the data alone, and its samples."""
    options = read_options_of(args)
    data = read_data(args["FILE"], options, need_output=True)
    separators = options.separators
    return Vocabulary.build(data.samples, ModelSettings(
        format=data.format.name, transducer=transducer, input_separator=separators.input,
        output_separator=separators.output, boundary=separators.boundary)), data.samples


def model_vocabulary(args: Arguments, _: str) -> tuple[Vocabulary, list[Sample]]:
    """The vocabulary of a trained model and the samples, read according to the settings of the model."""
    vocabulary = load_model(args["--reload-path"]).vocabulary
    if not vocabulary.system.has_expert:
        raise InputError(f"--reload-path: {args['--reload-path']} has a transition system without an expert: give a "
                         "model that was trained by imitation learning")
    settings = vocabulary.settings
    options = replace(read_options_of(args), expected=vocabulary.format, because="the model was trained on",
                      unicode=settings.unicode, separators=settings.separators)
    samples = read_data(args["FILE"], options, need_output=True).samples
    return vocabulary.recoded(vocabulary.symbols.covering(samples)), samples


def refuse_what_has_no_effect(args: Arguments, aligner: str, transducer: str) -> None:
    if args["--align-expert"] and not SYSTEMS[transducer].has_expert:
        raise InputError("--align-expert shows sequences of COPY, DELETE, INSERT, SUBSTITUTE and END: leave out "
                         f"--transducer={transducer}")
    if args["--align-expert"] and args["--try-reverse"]:
        raise InputError("--align-expert aligns nothing, so --try-reverse has no effect: leave out one of them")
    for flag in ("--transducer", "--input-separator", "--output-separator", "--boundary"):
        if args["--reload-path"] and args[flag] is not None:
            raise InputError(f"--reload-path takes {flag} from the model: leave {flag} out")
    if args["--reload-path"] and not args["--align-expert"]:
        raise InputError("--reload-path needs --align-expert: add it, or leave out --reload-path")
    if args["--most"] and not args["--align-expert"]:
        raise InputError("--most needs --align-expert: add it, or leave out --most")
    for flag in ("--iterations", "--dynet-seed"):
        if args[flag] is not None and (aligner != "smart" or args["--align-expert"]):
            raise InputError(f"{flag} only affects --align-smart: leave it out")


def aligned_rows(instances: Sequence[Instance], vocabulary: Vocabulary, aligner) -> Iterator[list[str]]:
    pairs = [(instance.sample.input, instance.sample.target) for instance in instances]
    for instance, aligned in zip(instances, aligner(pairs)):
        yield [*head(instance), *in_symbols(aligned, instance.symbols),
               describe(vocabulary.gold_actions(aligned), instance, vocabulary)]


def in_symbols(aligned: tuple[str, str], symbols: Symbols) -> tuple[str, str]:
    """An aligned pair as text; a side without a separator uses the separator of the other side."""
    separators = symbols.separators
    source, target = (map(symbols.symbol, text) for text in aligned)
    return ((separators.input or separators.output).join(source), (separators.output or separators.input).join(target))


def expert_rows(instances: Sequence[Instance], vocabulary: Vocabulary, most: int) -> Iterator[list[str]]:
    """A row for each optimal sequence (at most `most` per pair), with the total number of optimal sequences."""
    for instance in instances:
        expert = vocabulary.expert(instance.sample)
        number = str(expert.number_of_optimal_sequences())
        for actions in islice(optimal_sequences(expert), most):
            yield [*head(instance), number, describe(actions, instance, vocabulary)]


def head(instance: Instance) -> list[str]:
    sample, symbols = instance.sample, instance.symbols
    return [symbols.input(sample.input), symbols.output(sample.target), sample.tag]


def as_text(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    above = ""
    for row in rows:
        title, (*middle, actions) = title_of(row), row[3:]
        of_expert = len(middle) == 1  # expert rows: all sequences for a pair go under one title
        if title != above or not of_expert:
            yield f"{title}\n"
        yield "".join(f"  {line}\n" for line in ([] if of_expert else middle) + [actions])
        above = title


def title_of(row: Sequence[str]) -> str:
    source, target, tag, *middle, _ = row
    number = f" ({middle[0]} optimal sequence{'s' if middle[0] != '1' else ''})" if len(middle) == 1 else ""
    return (f"{source} + {tag} → {target}" if tag else f"{source} → {target}") + number
