"""Words seen in training: (input, features) → outputs with counts, kept in the model.

In the model file, the lexicon is `lexicon.tsv`: each line has an input, features, an output and its count.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Optional

from il_morph.data.formats import Sample

OFF, UNANIMOUS, FREQUENT = "off", "unanimous", "frequent"
LEXICON_RULES = (OFF, UNANIMOUS, FREQUENT)
Key = tuple[str, str]  # input and features
SMALL = {"I": ("ı", "i"), "İ": ("i",)}  # capitals whose small letter depends on the language


@dataclass
class Lexicon:
    """The number of times that each output of an input with features occurred in training."""

    entries: dict[Key, dict[str, int]] = field(default_factory=dict)

    def add(self, samples: Sequence[Sample], counts: Optional[Sequence[int]] = None) -> Lexicon:
        """Add samples with their counts; without counts, each counts once."""
        for sample, count in zip(samples, counts or [1] * len(samples)):
            outputs = self.entries.setdefault((sample.input, sample.tag), {})
            outputs[sample.target] = outputs.get(sample.target, 0) + count
        return self

    @cached_property
    def inputs(self) -> dict[str, dict[str, int]]:
        """Each input with its feature bundles and their counts."""
        found: dict[str, dict[str, int]] = {}
        for (text, tag), outputs in self.entries.items():
            found.setdefault(text, {})[tag] = sum(outputs.values())
        return found

    def usual_features(self, text: str, initial: bool = False) -> Optional[str]:
        """The most frequent features of an input; the first word of a sentence is also tried in lower case."""
        known = next((self.inputs[each] for each in (text, *(in_lower_case(text) if initial else ()))
                      if each in self.inputs), None)
        return max(known, key=known.__getitem__) if known else None

    def found(self, sample: Sample, rule: str, initial: bool = False) -> Optional[dict[str, float]]:
        """The outputs with their shares, most frequent first, if the rule trusts the first one.

        The first word of a sentence is tried in lower case if it never occurred in training as it is.
        """
        outputs = self._outputs(sample, initial)
        if not outputs or rule == OFF:
            return None
        total, most = sum(outputs.values()), max(outputs.values())
        if most < total if rule == UNANIMOUS else 2 * most <= total:
            return None
        return {output: count / total for output, count in sorted(outputs.items(), key=lambda item: -item[1])}

    def _outputs(self, sample: Sample, initial: bool) -> Optional[dict[str, int]]:
        if not initial or sample.input in self.inputs:
            return self.entries.get((sample.input, sample.tag))
        small = (self.entries.get((text, sample.tag)) for text in in_lower_case(sample.input))
        return next((outputs for outputs in small if outputs), None)

    def as_text(self) -> str:
        return "".join(f"{text}\t{tag}\t{output}\t{count}\n" for (text, tag), outputs in self.entries.items()
                       for output, count in outputs.items())

    @classmethod
    def from_text(cls, text: str) -> Lexicon:
        """Read the lexicon of a model file. Raise a ValueError if no training could have produced it."""
        lexicon = cls()
        for line in text.split("\n")[:-1]:
            fields = line.split("\t")
            if len(fields) != 4 or not fields[3].isascii() or not fields[3].isdecimal() or len(fields[3]) > 12:
                raise ValueError("a line of its lexicon is not input, features, output and count")
            lexicon.add([Sample(fields[0], fields[1], fields[2])], [int(fields[3])])
        if lexicon.as_text() != text or any(not count for each in lexicon.entries.values() for count in each.values()):
            raise ValueError("its lexicon is not as il-morph writes it")
        return lexicon


def in_lower_case(text: str) -> Iterator[str]:
    """The text with its first letter in lower case, if that is a capital; I and İ also have Turkish small letters."""
    first = text[:1]
    for small in SMALL.get(first, (first.lower(),)):
        if small != first:
            yield small + text[1:]
