"""Say which words to ask next: a sheet to fill in.

Usage:
  il-morph suggest [options] RESULTS [POOL]

Of the lines of POOL, writes those whose output the model is least sure of, spread over feature bundles
and inputs; a shorter sheet is the beginning of a longer one. Several models are less sure where they
disagree. Without POOL, asks inputs of the training data with bundles of their part of speech (the first
feature) that training did not show with them. What is in the training, dev or test data of the run is
not asked again.

The sheet has the columns of the training data, and an empty output. Fill it in, delete the lines that
stay empty, and train on both (join the files in a spreadsheet if the training data is CSV):

  il-morph suggest results --output=sheet.tsv
  cat train.tsv sheet.tsv > more.tsv
  il-morph train more.tsv dev.tsv results2

Arguments:
  RESULTS  the results folder of a training run, its f.model, or a folder of seeds
  POOL     a file in the format the model was trained on, whose outputs may be missing; - is standard
           input

Options:
  --n=N             number of questions [default: 50]
  --output=FILE     the sheet; - is standard output; a name that ends with .xlsx makes a spreadsheet
                    with a header row [default: -]
  --lemmas          POOL has lemmas alone: ask them with all bundles of the training data (see --pos)
  --pos=POS         only bundles with this part of speech (the first feature)
  --look-at=N       look at so many lines at most, drawn at random from more [default: 10000]
  --seed=N          seed of the draw [default: 1]
  --train=FILE      the training data, if it has moved or is not below the current folder
  --columns=LIST    the columns of POOL, for example input,features; - skips one
  --beam-width=N    width of the beam (default 4)
  --force           overwrite FILE
  -h --help         show this text
"""
from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Callable, Optional

from il_morph.commands.arguments import Arguments, integer, optional, parse_arguments, refuse_empty
from il_morph.commands.report import recorded_places
from il_morph.commands.streams import write_out
from il_morph.data.dataformat import IGNORED, INPUT, NO_FEATURES, OUTPUT
from il_morph.data.formats import Data, DataFormat, ReadOptions, Sample, Treebank, read_data
from il_morph.data.office import new_sheet
from il_morph.data.read_options import named_columns
from il_morph.data.splitting import NAMES
from il_morph.errors import InputError
from il_morph.files import STREAM, refuse_data_as_output, refuse_to_overwrite, write_output
from il_morph.model.combination import VotingPredictor, load_predictor, refuse_model_as_output
from il_morph.model.other_data import refuse_other_data
from il_morph.model.predictor import AnyPredictor, Predictor, names_of_pos
from il_morph.model.search import BEAM_WIDTH
from il_morph.model.settings import MAX_BEAM_WIDTH
from il_morph.model.suggestions import Pair, Suggestion, answered, combined, drawn, spread
from il_morph.report.finished import NEARBY, FinishedRun, is_nearby, read_part, read_run
from il_morph.run_folder import RunFolder

log = logging.getLogger(__name__)


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    refuse_empty(args, "POOL", "--output", "--train")
    number, most, seed = integer(args, "--n", 1), integer(args, "--look-at", 1), integer(args, "--seed", 0)
    width, target = optional(integer, args, "--beam-width", BEAM_WIDTH, 1, MAX_BEAM_WIDTH), args["--output"]
    if args["--lemmas"] and args["POOL"] is None:
        raise InputError("--lemmas is about POOL: give a file of lemmas, or leave the flag out")
    if target != STREAM:
        refuse_to_overwrite(target, args["--force"])
        refuse_model_as_output(target, [args["RESULTS"]])
    predictor = load_predictor([args["RESULTS"]])
    refuse_unasked(predictor, args["POOL"])
    known = Known.of(predictor, args["--train"], needed=args["POOL"] is None)
    refuse_data_as_output(target, [*known.paths, args["POOL"]])
    pairs, total = drawn(pairs_of(args, predictor, known), most, seed)
    if not pairs:
        raise InputError("there is nothing left to ask: the data of the run has everything; give a POOL with more")
    found = answered(predictor, [Sample(*pair, None) for pair in pairs], width)
    chosen = spread(found, number)
    write(target, predictor.format, chosen)
    log.info("%d of %s possible questions; the model gives its best output a probability of %.2f on average, of %.2f "
             "in %s", len(chosen), f"{total:,}", mean_probability(chosen), mean_probability(found),
             "all of them" if len(found) == total else f"{len(found):,} that were drawn")
    return 0


def mean_probability(found: Sequence[Suggestion]) -> float:
    return fmean(each.probability for each in found)


def refuse_unasked(predictor: AnyPredictor, pool: Optional[str]) -> None:
    """Refuse models for which il-morph cannot make questions."""
    if isinstance(predictor.format, Treebank):
        raise InputError("the model was trained on CoNLL-U, and a sheet has words without sentences: annotate more "
                         "sentences")
    if pool is None and predictor.format.separator is None:
        raise InputError("the model has no features, so all that could be asked of its inputs is known: give a POOL")


# Known data

@dataclass
class Known:
    """The data of the runs, as far as it can be found."""

    train: list[Sample] = field(default_factory=list)
    pairs: set[Pair] = field(default_factory=set)
    paths: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, predictor: AnyPredictor, given: Optional[str], needed: bool) -> Known:
        """Read the training data `given` and the data recorded by the runs.

        If `needed`, training data that cannot be found is an error instead of a warning.
        """
        known = cls()
        if given is not None:
            known.add(given, read_data(given, options_of(predictor)), is_train=True)
        members = predictor.members if isinstance(predictor, VotingPredictor) else [predictor]
        for folder in dict.fromkeys(Path(member.name).parent for member in members if isinstance(member, Predictor)):
            if RunFolder(folder).finished or needed and given is None:
                known.add_run(read_run(str(folder), str(folder)), given is not None, needed)
        return known

    def add_run(self, run: FinishedRun, has_train: bool, needed: bool) -> None:
        places = replace(recorded_places(run), recorded=frozenset(NAMES))
        for part in NAMES[has_train:]:
            path, is_train = places.of(part), part == "train"
            if path is None or path in self.paths:
                continue
            if is_nearby(path, run.folder) or is_train and needed:
                self.add(path, read_part(run, places, part), is_train)
            else:
                log.warning("the %s data of %s is not found %s: its words may be asked again", part, run.name, NEARBY)

    def add(self, path: str, data: Data, is_train: bool) -> None:
        self.paths.append(path)
        self.pairs.update((sample.input, sample.tag) for sample in data.samples)
        if is_train:
            self.train += data.samples


def options_of(predictor: AnyPredictor) -> ReadOptions:
    return ReadOptions(expected=predictor.format, because="the model was trained on", unicode=predictor.unicode,
                       separators=predictor.separators)


# Possible questions

def pairs_of(args: Arguments, predictor: AnyPredictor, known: Known) -> Callable[[], Iterator[Pair]]:
    """A function that iterates over the pairs of input and features that are not known yet."""
    if args["POOL"] is not None and not args["--lemmas"]:
        listed = pairs_in(args, predictor)
        return lambda: (pair for pair in listed if pair not in known.pairs)
    bundles, fmt = predictor.bundles(args["--pos"]), predictor.format
    one_feature = bool(fmt.remarks(list(predictor.bundles())))  # one per bundle, which is not a part of speech

    def part_of_speech(tag: str) -> str:
        return "" if one_feature else fmt.features(tag)[0]

    inputs: dict[str, set[str]] = {}
    if args["POOL"] is not None:
        lemmas = read_data(args["POOL"], replace(options_of(predictor), format=NO_FEATURES, expected=None))
        inputs.update((sample.input, set()) for sample in lemmas.samples)
    for sample in known.train if args["POOL"] is None else ():
        inputs.setdefault(sample.input, set()).add(part_of_speech(sample.tag))
    return partial(combined, inputs, bundles, part_of_speech, known.pairs)


def pairs_in(args: Arguments, predictor: AnyPredictor) -> list[Pair]:
    """The distinct pairs in a pool."""
    columns = named_columns(args["--columns"], need_output=False)
    data, pos = read_data(args["POOL"], replace(options_of(predictor), columns=columns)), args["--pos"]
    refuse_other_data(data, predictor, columns is not None)
    for warning in predictor.warnings([data.samples]):
        log.warning("%s", warning)
    chosen = [sample for sample in data.samples
              if pos is None or pos in names_of_pos(predictor.format.features(sample.tag)[0])]
    if not chosen:
        raise InputError(f"{data.name} has no part of speech {pos!r}: give another one, or leave --pos out")
    return list(dict.fromkeys((sample.input, sample.tag) for sample in chosen))


# The sheet

def write(target: str, fmt: DataFormat, chosen: Sequence[Suggestion]) -> None:
    if fmt is NO_FEATURES:
        fmt = replace(fmt, columns=(INPUT, OUTPUT))
    lines = [fmt.line(Sample(each.input, each.features, None), "") for each in chosen]
    if target.lower().endswith(".xlsx"):
        header = ["note" if column == IGNORED else column for column in fmt.columns]
        write_output(target, new_sheet([header, *(line.split("\t") for line in lines)]))
    elif target == STREAM:
        write_out("".join(line + "\n" for line in lines))
    else:
        write_output(target, "".join(line + "\n" for line in lines))
