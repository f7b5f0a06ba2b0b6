"""Transduce a file with one or more trained models.

Usage:
  il-morph predict [options] MODEL INPUT [OUTPUT]
  il-morph predict [options] --input=FILE [--output=FILE] MODEL...

MODEL is the f.model of a training run, its results folder, or a folder with a results folder for each
seed; several models give one answer together. INPUT is a file in the format the model was trained on;
il-morph ignores its output column, which may be missing. OUTPUT is a file (default: standard output).
In place of a file, - is standard input or output. Files are checked first and decoded in bulk; lines
from a pipe or a terminal are answered as they come in. Of a spreadsheet (.xlsx, .ods), an OUTPUT that
ends with .xlsx is a copy with a new column.

The predictions have the columns of the input, those that are ignored included. If the columns of INPUT
are clearly in another order than in training, il-morph reads and writes them in that order. A warning
counts the features that the model does not know.

CoNLL-U is written as it is read, but for LEMMA (with --task=inflect: FORM). With --nbest MISC gets
LemmaCandidates=gitmek:0.97,git:0.02, in which % , : | and blanks are percent-encoded. Words of the
training data are looked up in the lexicon of the model first, if it has one; the first word of a
sentence also in lower case, if it is unknown as it is. Equal inputs are decoded once.

Options:
  --input=FILE         INPUT, if there are several models
  --output=FILE        OUTPUT, if there are several models
  --combine=HOW        vote: the most frequent output, a tie goes to the first model (the probability is the share
                       of the votes); average: one search with the mean of their probabilities (default vote)
  --beam-width=N       width of the beam; 1 or 0 is greedy search (default 4)
  --nbest=N            write the N best outputs for each input (at most the beam width), with two more columns:
                       rank and log probability
  --mass=X             write as many different outputs as it takes to reach this share of the probability (for
                       example 0.95), at most --nbest, with the same two columns; the beam widens up to 256 if needed
  --lexicon=WHICH      words of the training data that are looked up: off, unanimous (with one output), or frequent
                       (one output has more than half of the occurrences) (default unanimous if the model has a lexicon)
  --min-probability=P  write nothing (in CoNLL-U _) where the best output is less probable
  --format=NAME        tsv, or json: an object for each input with the output, probability, log probability and
                       actions of its predictions (default tsv)
  --actions            add a column with the edits: x copies, -x deletes, +x inserts, ~x substitutes (> moves on)
  --decbatch-size=N    inputs decoded at once (default 128)
  --jobs=N             processes that decode; the output is the same (default 1)
  --columns=LIST       the columns of INPUT, for example input,features,output; - skips one
  --unicode=FORM       as-is, nfc, nfd, or nfd-nfc (inputs nfd, outputs nfc): normalise the data (default:
                       as in the training of the model)
  --force              overwrite OUTPUT
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Callable, Optional

from il_morph.commands.arguments import Arguments, choice, integer, number, optional, parse_arguments, refuse_empty
from il_morph.commands.streams import AT_ONCE, answer, check, options_for
from il_morph.data.conllu import MISC, NOTHING, output_column, with_candidates
from il_morph.data.formats import Data, DataFormat, Sample, Treebank
from il_morph.data.office import with_column
from il_morph.data.streaming import DataStream
from il_morph.errors import InputError
from il_morph.files import STREAM, read_bytes, refuse_data_as_output, refuse_to_overwrite, written_output
from il_morph.model.answers import Answers, chosen_rule
from il_morph.model.combination import COMBINATIONS, VOTE, load_predictor, refuse_model_as_output
from il_morph.model.lexicon import LEXICON_RULES
from il_morph.model.parallel import DecodingPool
from il_morph.model.predictor import AnyPredictor, Prediction
from il_morph.model.search import BEAM_WIDTH
from il_morph.model.settings import MAX_BEAM_WIDTH
from il_morph.run_folder import RunFolder

MOST_JOBS = 256
PIECES_AHEAD = 3  # pieces of input to submit per additional process before waiting for the first answer


@dataclass(frozen=True)
class Request:
    """What to write for each input."""

    nbest: Optional[int]
    mass: Optional[float]
    beam_width: int
    batch_size: int
    layout: str
    actions: bool
    min_probability: float = 0.0

    @classmethod
    def of(cls, args: Arguments) -> Request:
        nbest = optional(integer, args, "--nbest", None, 1, MAX_BEAM_WIDTH)
        mass = optional(number, args, "--mass", None, 1e-6, 1.0)
        width = optional(integer, args, "--beam-width", max(BEAM_WIDTH, nbest or 0), 0, MAX_BEAM_WIDTH)
        if nbest and mass is None and nbest > max(1, width):
            raise InputError(f"--nbest={nbest} exceeds --beam-width={width}: widen the beam")
        return cls(nbest, mass, width, optional(integer, args, "--decbatch-size", 128, 1),
                   optional(choice, args, "--format", "tsv", ("tsv", "json")), args["--actions"],
                   optional(number, args, "--min-probability", 0.0, 0.0, 1.0))

    def answers(self, predictor: AnyPredictor, rule: str, pool: Optional[DecodingPool]) -> Answers:
        most = self.nbest or (1 if self.mass is None else None)
        return Answers(predictor, most, self.beam_width, self.mass, self.batch_size, rule, pool)

    def answered(self, answers: Answers, fmt: DataFormat, samples: Sequence[Sample]) -> Callable[[], list[str]]:
        """Start to answer some samples. The returned function waits for the answers and gives the output lines."""
        found = answers.ask(samples)
        return lambda: [line for sample, predictions in zip(samples, found())
                        for line in self.lines(fmt, sample, predictions)]

    def columns(self, answers: Answers, data: Data) -> Callable[[], list[dict[int, str]]]:
        """Start to answer the words of a treebank. The returned function gives the new columns of each word."""
        assert data.block is not None and isinstance(data.format, Treebank)
        if self.layout != "tsv" or self.actions:
            raise InputError("--format=json and --actions are about lines with columns, and "
                             f"{data.name} is CoNLL-U: leave them out")
        place, words = output_column(data.format), data.block.words
        found = answers.ask(data.samples, data.block.initial)
        return lambda: [self._word(place, word.fields[MISC], predictions) for word, predictions in zip(words, found())]

    def _word(self, place: int, misc: str, predictions: Sequence[Prediction]) -> dict[int, str]:
        columns = {place: self.certain(predictions[0]) or NOTHING}
        if self.nbest or self.mass:
            columns[MISC] = with_candidates(misc, [(each.output, each.probability) for each in predictions])
        return columns

    def certain(self, prediction: Prediction) -> str:
        """The output, or an empty string if it is not probable enough."""
        return prediction.output if prediction.probability >= self.min_probability else ""

    def lines(self, fmt: DataFormat, sample: Sample, predictions: Sequence[Prediction]) -> list[str]:
        if self.layout == "json":
            return [as_json(fmt, sample, predictions)]
        return [self._row(fmt.line(sample, self.certain(prediction)), rank, prediction)
                for rank, prediction in enumerate(predictions, start=1)]

    def _row(self, columns: str, rank: int, prediction: Prediction) -> str:
        ranked = [str(rank), f"{prediction.log_probability:.6f}"] if self.nbest or self.mass else []
        return "\t".join([columns, *ranked, *([prediction.actions] if self.actions else [])])


def as_json(fmt: DataFormat, sample: Sample, predictions: Sequence[Prediction]) -> str:
    features = {} if fmt.separator is None else {"features": sample.tag}
    found = [{"output": each.output, "probability": each.probability, "log_probability": each.log_probability,
              "actions": each.actions} for each in predictions]
    return json.dumps({"input": sample.input, **features, "predictions": found}, ensure_ascii=False, allow_nan=False)


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    request = Request.of(args)
    refuse_empty(args, "INPUT", "--input", "OUTPUT", "--output", advice="give a file, or - for a stream")
    source, target = args["INPUT"] or args["--input"], args["OUTPUT"] or args["--output"] or STREAM
    if target != STREAM:
        refuse_to_overwrite(target, args["--force"])
        refuse_model_as_output(target, args["MODEL"])
        refuse_data_as_output(target, [source])
        refuse_other_sheets(target)
    refuse_word(source, args)
    predictor = load_predictor(args["MODEL"], optional(choice, args, "--combine", VOTE, COMBINATIONS))
    rule = chosen_rule(predictor, optional(choice, args, "--lexicon", None, LEXICON_RULES))
    jobs = optional(integer, args, "--jobs", 1, 1, MOST_JOBS)
    stream = DataStream(source, options_for(args, predictor))
    if target.lower().endswith(".xlsx"):
        write_sheet(stream, target, predictor, request, request.answers(predictor, rule, None))
        return 0
    with DecodingPool(predictor, jobs) if jobs > 1 else nullcontext() as pool:
        answers = request.answers(predictor, rule, pool)
        answer(stream, target, predictor, partial(request.answered, answers), max(AT_ONCE, request.batch_size),
               partial(request.columns, answers), PIECES_AHEAD * (jobs - 1))
    return 0


def write_sheet(stream: DataStream, target: str, predictor: AnyPredictor, request: Request, answers: Answers) -> None:
    """Write a copy of a spreadsheet with a new column."""
    if not stream.is_sheet:
        raise InputError(f"{target} would be a spreadsheet, but {stream.name} is none: choose a name that ends "
                         "with .tsv")
    if request.nbest or request.mass or request.actions or request.layout != "tsv":
        raise InputError(f"{target}: a spreadsheet gets one column with the best output; leave out --nbest, --mass, "
                         "--actions and --format, or choose a name that ends with .tsv")
    check(stream, predictor)
    data = next(iter(stream))
    found = answers.ranked(data.samples)
    cells = {data.rows.line_of(index): request.certain(each[0]) for index, each in enumerate(found)}
    title = None if data.rows.header is None else "prediction"
    with written_output(target) as output:
        output.write(with_column(read_bytes(stream.path), stream.name, title, cells, data.first_line - 1))


def refuse_other_sheets(target: str) -> None:
    if target.lower().endswith((".ods", ".xls")):
        raise InputError(f"{target}: il-morph writes spreadsheets as .xlsx, and lines with tabs; choose a name that "
                         "ends with .xlsx or .tsv")


def refuse_word(source: str, args: Arguments) -> None:
    """Refuse a word in place of a file, and suggest `il-morph explain`, which takes words."""
    if source == STREAM or os.path.exists(source) or os.path.dirname(source) or os.path.splitext(source)[1]:
        return
    models = [model.path for model in RunFolder(args["MODEL"][0]).seeds() if model.model.exists()]
    asked = shlex.join(filter(None, ["il-morph", "explain", str([*models, args["MODEL"][0]][0]), source,
                                     args["OUTPUT"]]))
    raise InputError(f"cannot read {source}: No such file or directory; if it is a word, ask `{asked}`")
