"""Input and output of commands that ask a model: files are checked first, streams are answered line by line."""
from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Callable, Optional

from il_morph.bars import meter
from il_morph.commands.arguments import Arguments, choice, optional
from il_morph.data.conllu import ConlluBlock
from il_morph.data.dataformat import INPUT, NO_FEATURES, OUTPUT
from il_morph.data.formats import Data, DataFormat, ReadOptions, Sample
from il_morph.data.read_options import named_columns
from il_morph.data.spelling import FORMS
from il_morph.data.streaming import DataStream
from il_morph.errors import InputError
from il_morph.files import STREAM, written_output
from il_morph.model.other_data import refuse_other_data
from il_morph.model.predictor import AnyPredictor

AT_ONCE = 1024  # samples between two updates of the progress bar

# These functions start the work and return a function that waits for the result: other processes may decode meanwhile.
Answer = Callable[[DataFormat, Sequence[Sample]], Callable[[], Sequence[str]]]  # the lines for some samples
WordAnswer = Callable[[Data], Callable[[], Sequence[Mapping[int, str]]]]  # new columns of each word of a treebank

log = logging.getLogger(__name__)


def options_for(args: Arguments, predictor: AnyPredictor) -> ReadOptions:
    """How to read the data: as the model does, unless the columns are clearly in another order."""
    return ReadOptions(columns=named_columns(args["--columns"], need_output=False), expected=predictor.format,
                       because="the model was trained on", separators=predictor.separators,
                       unicode=optional(choice, args, "--unicode", predictor.unicode, FORMS), some_outputs=True)


def answer(stream: DataStream, target: str, predictor: AnyPredictor, lines_for: Answer, at_once: int = AT_ONCE,
           columns_for: Optional[WordAnswer] = None, ahead: int = 0) -> None:
    """Write the lines for all samples. CoNLL-U is written as it is read, with new values in some columns.

    `ahead` is the number of answers that may be pending while more input is read.
    """
    number = check(stream, predictor) if stream.is_file else None
    with writer(target) as write:
        pieces = text_for(stream, lines_for, columns_for, at_once)
        answered = answer_blocks(stream, predictor, pieces, write, number, ahead)
        if number is not None and answered != number:
            raise InputError(f"{stream.name} had {number:,} lines and now has {answered:,}: "
                             "do not change it while il-morph reads it")


@dataclass
class Survey:
    """The result of a first pass over a file, before anything is written."""

    first: Optional[Data] = None
    lines: int = 0
    warnings: Sequence[str] = ()

    def blocks(self, stream: DataStream, predictor: AnyPredictor) -> Iterator[list[Sample]]:
        for data in stream:
            if self.first is None:
                self.first = data
                refuse_other_data(data, predictor, stream.options.columns is not None)
            self.lines += len(data.samples)
            self.warnings = self.warnings or data.warnings()
            yield data.samples


def check(stream: DataStream, predictor: AnyPredictor) -> int:
    """Log how a file is read, with warnings; return the number of its lines."""
    survey = Survey()
    unknown = predictor.warnings(survey.blocks(stream, predictor))
    assert survey.first is not None, "an empty file is an error"
    log.info("%s: %s", stream.name, survey.first.described(survey.lines))
    for warning in [*survey.warnings, *unknown]:
        log.warning("%s", warning)
    return survey.lines


Piece = tuple[Callable[[], str], int]  # a function that waits for a piece of text, and the number of its samples
TextFor = Callable[[Data], Iterator[Piece]]


def text_for(stream: DataStream, lines_for: Answer, columns_for: Optional[WordAnswer], at_once: int) -> TextFor:
    """A function that turns a block of data into the pieces of text to write."""
    def pieces(data: Data) -> Iterator[Piece]:
        fmt = format_to_write(data)
        if data.block is None:
            for start in range(0, len(data.samples), at_once):
                samples = data.samples[start:start + at_once]
                yield partial(text_of_lines, lines_for(fmt, samples)), len(samples)
        elif columns_for is None:
            raise InputError(f"{stream.name} is CoNLL-U: give lines with columns here")
        else:
            yield partial(text_of_words, data.block, columns_for(data)), len(data.samples)

    return pieces


def format_to_write(data: Data) -> DataFormat:
    """The format of the data, except that two columns without features stay two."""
    two = data.format is NO_FEATURES and len(data.rows.rows[0]) == 2
    return replace(data.format, columns=(INPUT, OUTPUT)) if two else data.format


def text_of_lines(lines: Callable[[], Sequence[str]]) -> str:
    return "".join(line + "\n" for line in lines())


def text_of_words(block: ConlluBlock, columns: Callable[[], Sequence[Mapping[int, str]]]) -> str:
    return block.filled(columns())


def answer_blocks(stream: DataStream, predictor: AnyPredictor, pieces: TextFor, write: Callable[[str], None],
                  number: Optional[int], ahead: int) -> int:
    """Answer all samples and return their number. `number` is the number of lines if a file was checked, else None."""
    done, pending = 0, deque[Piece]()
    with meter(number, "answered", "line") as moved:
        def write_all_but(most: int) -> None:
            while len(pending) > most:
                text, answered = pending.popleft()
                write(text())
                moved.update(answered)

        for data in stream:
            if number is None:
                tell(data, stream, predictor, first=not done)
            for piece in pieces(data):
                pending.append(piece)
                write_all_but(ahead)
            if number is None and not stream.has_more():
                write_all_but(0)
            done += len(data.samples)
        write_all_but(0)
    return done


def tell(data: Data, stream: DataStream, predictor: AnyPredictor, first: bool) -> None:
    """Log how a block of a stream is read, and its warnings; log nothing if all is as expected.

    Unknown characters are reported for files only: a line that has just come in has too few characters.
    """
    if first:
        refuse_other_data(data, predictor, stream.options.columns is not None)
    if first and (data.rows.remarks or data.format != stream.options.expected):
        log.info("%s: %s", stream.name, data.described(None))
    for warning in [*data.warnings(), *predictor.warnings([data.samples], characters=False)]:
        log.warning("%s", warning)


@contextmanager
def writer(target: str) -> Iterator[Callable[[str], None]]:
    """A function that writes text: at once to standard output, or to a file that gets its name at the end."""
    if target == STREAM:
        yield write_out
        return
    with written_output(target) as stream:
        def write(text: str) -> None:
            stream.write(text.encode("utf-8"))
            if not stream.seekable():
                stream.flush()

        yield write


def write_out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
