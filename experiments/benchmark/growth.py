"""How the time grows with the length of words, the alphabet and the number of features: on generated data.

Models start with a liking for COPY and END, as a trained model has. Those of random weights would not do: a roll-out of
theirs ends after some steps or after 150, by chance, and that would be measured instead of what grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from speed import CA_D, CA_R, LONG, Bench, Cells, cpu_seconds, of_all, take_turns

from il_morph.data.formats import Sample
from il_morph.model.search import BEAM_WIDTH
from il_morph.transitions.actions import COPY, END

FORMAT = "sigmorphon2017"
INPUTS = 300  # to decode
LIKED = 8.0  # added to the scores of COPY and END


@dataclass(frozen=True)
class Size:
    length: int = 10
    symbols: int = 30
    features: int = 5


SIZES = {"length": (5, 10, 20, 40, 80), "symbols": (30, 1000, 3000), "features": (5, 80, 320)}


def generated(size: Size, number: int) -> list[Sample]:
    """Random words whose last character changes, each with one of the features."""
    random, alphabet = Random(1), symbols_of(size)
    words = ["".join(random.choices(alphabet, k=size.length)) for _ in range(number)]
    return [Sample(word, f"N;F{k % size.features}", word[:-1] + random.choice(alphabet))
            for k, word in enumerate(words)]


def all_seen(size: Size) -> list[Sample]:
    """Samples that have every symbol and every feature: the vocabulary knows them."""
    alphabet, features = symbols_of(size), ";".join(f"F{k}" for k in range(size.features))
    words = ["".join(alphabet[k:k + size.length]) for k in range(0, size.symbols, size.length)]
    return [Sample(word, f"N;{features}", word) for word in words]


def symbols_of(size: Size) -> list[str]:
    return [chr(0x4E00 + k) for k in range(size.symbols)]


def bench_of(size: Size, samples: int) -> Bench:
    """Trains on the generated samples alone, from weights that like to copy and to end."""
    train = generated(size, samples)
    bench = Bench(train + all_seen(size), generated(size, INPUTS), FORMAT)
    bench.train = bench.train[:samples]
    bench.weights["output.b"][[END, COPY]] += LIKED
    return bench


def training_by(quantity: str, values: Sequence[int], samples: int) -> dict[tuple[str, int], Cells]:
    """CA-D and CA-R with one quantity of all these sizes: one epoch, then the one that counts."""
    rows = {}
    for value in values:
        bench = bench_of(replace(Size(), **{quantity: value}), samples)
        cells = {name: {column: bench.timed(column, settings) for column in LONG}
                 for name, settings in (("CA-D", CA_D), ("CA-R", CA_R))}
        take_turns(of_all(cells), bench.train, range(2))
        rows.update({(name, value): row for name, row in cells.items()})
    return rows


def decoding_by_alphabet(values: Sequence[int]) -> dict[int, float]:
    """ms per input with a beam of 4."""
    return {value: decoding_time(replace(Size(), symbols=value)) for value in values}


def decoding_time(size: Size) -> float:
    bench = bench_of(size, 1)
    seconds, _ = cpu_seconds(lambda: bench.decode_in_bulk(bench.weights, BEAM_WIDTH))
    return 1000 * seconds / INPUTS
