"""A text in CoNLL-U, filled with the outputs of a model."""
from __future__ import annotations

from typing import Optional

from il_morph.data.conllu import NOTHING, conllu_block, output_column
from il_morph.data.encodings import split_lines
from il_morph.data.formats import Data, ReadOptions, Treebank
from il_morph.data.office import kind_of_sheet
from il_morph.data.reading import reads_treebank, words_of
from il_morph.errors import InputError
from il_morph.model.answers import Answers
from il_morph.model.predictor import AnyPredictor
from il_morph.model.search import BEAM_WIDTH


def reading_options(predictor: AnyPredictor) -> ReadOptions:
    """Options for reading data in the same way as the training data of the model."""
    return ReadOptions(expected=predictor.format, because="the model was trained on", unicode=predictor.unicode,
                       separators=predictor.separators)


def read_words(content: bytes, name: str, predictor: AnyPredictor) -> Optional[Data]:
    """The words of CoNLL-U content; None if the content is a table of samples instead."""
    options = reading_options(predictor)
    if kind_of_sheet(content) or not reads_treebank(split_lines(content, name), name, options):
        return None
    data = words_of(conllu_block(content, name), options)
    if not data.samples:
        raise InputError(f"{name} has no words: give CoNLL-U with at least one")
    return data


def filled(predictor: AnyPredictor, data: Data, rule: str, beam_width: int = BEAM_WIDTH) -> tuple[str, list[str]]:
    """The text filled with the model's outputs, and the outputs themselves."""
    assert data.block is not None and isinstance(data.format, Treebank)
    found = Answers(predictor, beam_width=beam_width, rule=rule).ranked(data.samples, data.block.initial)
    outputs = [predictions[0].output for predictions in found]
    place = output_column(data.format)
    return data.block.filled([{place: output or NOTHING} for output in outputs]), outputs
