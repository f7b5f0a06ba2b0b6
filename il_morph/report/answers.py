"""Answers to the questions of the served page: data in, data out, no HTTP."""
from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from il_morph.data.conllu import is_conllu
from il_morph.data.formats import Data, parse_data
from il_morph.errors import InputError
from il_morph.model.answers import chosen_rule
from il_morph.model.other_data import refuse_other_data
from il_morph.model.predictor import Predictor
from il_morph.model.search import BEAM_WIDTH
from il_morph.model.treebank_text import filled, read_words, reading_options
from il_morph.report.characters import direction
from il_morph.report.finished import short_names
from il_morph.report.sentence import lemmatized_sentence, lemmatizes_text
from il_morph.report.trace import trace
from il_morph.report.words import remarks, sample_for
from il_morph.run_folder import RunFolder

MOST_ANSWERS = 20
MOST_LINES = 20_000  # of a file: they take at most half a minute
PREVIEW = 50  # lines of a file that the page shows
AT_ONCE = 4  # computations; the rest wait for their turn


class Answers:
    """Answers questions about some models. Many threads may call it at once."""

    def __init__(self, models: Mapping[str, Predictor]):
        self.predictors = dict(models)
        self.turns = threading.BoundedSemaphore(AT_ONCE)

    @classmethod
    def load(cls, paths: Sequence[str]) -> Answers:
        return cls(dict(zip(model_names(paths), map(Predictor.load, paths))))

    def models(self) -> dict[str, Any]:
        """The descriptions of the models for the page."""
        return {"models": [self._description(name, predictor) for name, predictor in self.predictors.items()]}

    def _description(self, name: str, predictor: Predictor) -> dict[str, Any]:
        vocabulary = predictor.vocabulary
        has_features = vocabulary.format.separator is not None
        bundles = sorted(vocabulary.bundles.items(), key=lambda item: (-item[1], item[0]))
        return {"name": name, "separator": vocabulary.format.separator, "text": lemmatizes_text(predictor),
                "pos": vocabulary.pos.symbols[1:] if vocabulary.pos is not None and has_features else [],
                "features": vocabulary.features.symbols[1:] if has_features else [], "bundles": bundles,
                "columns": vocabulary.format.described(len(vocabulary.format.columns)),
                "direction": direction("".join(vocabulary.letters))}

    def predict(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The n best outputs for a word, each with its steps."""
        predictor = self._predictor(question)
        number = question.get("n", BEAM_WIDTH)
        if not isinstance(number, int) or not 1 <= number <= MOST_ANSWERS:
            raise InputError(f"n must be a whole number from 1 to {MOST_ANSWERS}, not {number!r}")
        sample = sample_for(predictor, _text(question, "input"), _text(question, "features"),
                            _text(question, "gold") or None)
        started = time.perf_counter()
        with self.turns:
            found = predictor.hypotheses([sample], max(number, BEAM_WIDTH))[0][:number]
            traces = trace(predictor, [sample] * len(found), found, [sample.output] * len(found))
        return {"answers": [each.as_dict() for each in traces], "remarks": remarks(predictor.vocabulary, sample),
                "milliseconds": 1000 * (time.perf_counter() - started)}

    def paradigm(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The form of a lemma for each feature bundle of the training data."""
        predictor = self._predictor(question)
        sample = sample_for(predictor, _text(question, "input"))
        with self.turns:
            forms = predictor.paradigm(sample.input, _text(question, "pos") or None)
        return {"forms": [{"features": form.features, "output": form.output, "probability": form.probability,
                           "count": form.count} for form in forms], "direction": direction(sample.input)}

    def file(self, question: Mapping[str, Any], content: bytes) -> dict[str, Any]:
        """Predictions for the lines of a file, in its columns."""
        predictor, name = self._predictor(question), _text(question, "name") or "the file"
        words = read_words(content, name, predictor)
        data = words or parse_data(content, name, reading_options(predictor))
        refuse_other_data(data, predictor)
        if len(data.samples) > MOST_LINES:
            raise InputError(f"{name} has {len(data.samples):,} lines, but the page takes at most {MOST_LINES:,}: use "
                             "`il-morph predict` for longer files")
        with self.turns:
            text, outputs = filled(predictor, words, chosen_rule(predictor, None)) if words else _lines(predictor, data)
        rows = list(zip(data.samples, outputs))
        return {"predictions": text, "conllu": bool(words),
                "lines": len(rows), "read": data.description, "accuracy": _accuracy(data, outputs),
                "remarks": [*data.warnings(), *predictor.warnings([data.samples])],
                "preview": [[sample.input, sample.tag, output, sample.output] for sample, output in rows[:PREVIEW]]}

    def sentence(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Lemmas of the words of a sentence, or of CoNLL-U that was typed in."""
        predictor, text, given = self._predictor(question), _text(question, "text"), question.get("features")
        if not lemmatizes_text(predictor):
            raise InputError("the model does not lemmatize a treebank: ask about single words")
        if is_conllu(text.splitlines()):
            return self.file({**question, "name": "the text"}, text.encode("utf-8", "surrogatepass"))
        if given is not None and not (isinstance(given, list) and all(each is None or isinstance(each, str)
                                                                      for each in given)):
            raise InputError(f"features must be a list of strings and null, not {given!r}")
        with self.turns:
            return lemmatized_sentence(predictor, text, given)

    def _predictor(self, question: Mapping[str, Any]) -> Predictor:
        name = _text(question, "model") or next(iter(self.predictors))
        if name not in self.predictors:
            raise InputError(f"there is no model {name!r}; choose one of {', '.join(self.predictors)}")
        return self.predictors[name]


def model_names(paths: Sequence[str]) -> list[str]:
    """The names of the models on the page; a model called f.model has the name of its folder."""
    usual = RunFolder(".").model.name
    return short_names([str(Path(path).parent) if Path(path).name == usual else path for path in paths])


def _text(question: Mapping[str, Any], key: str) -> str:
    value = question.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{key} must be a string, not {value!r}")
    return value


def _lines(predictor: Predictor, data: Data) -> tuple[str, list[str]]:
    """The predictions in the columns of the data, and the outputs alone."""
    outputs = [found[0].output for found in predictor.hypotheses(data.samples)]
    return "".join(data.format.line(*each) + "\n" for each in zip(data.samples, outputs)), outputs


def _accuracy(data: Data, outputs: Sequence[str]) -> Optional[float]:
    """The accuracy in percent, if the file has outputs. In a treebank, single words may lack an output."""
    judged = [(sample.output, output) for sample, output in zip(data.samples, outputs) if sample.output is not None]
    return 100 * sum(gold == output for gold, output in judged) / len(judged) if judged else None
