"""Which of two models is better? Paired bootstrap and McNemar's exact test on the same lines."""
from __future__ import annotations

import math
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import accumulate
from typing import Any


@dataclass(frozen=True)
class Comparison:
    """The second model compared with the first; the difference and its interval are in percentage points."""

    lines: int
    only_first: int  # lines that only the first gets right
    only_second: int
    difference: float
    low: float  # ends of the bootstrap's 95% interval of the difference
    high: float
    bootstrap_p: float
    mcnemar_p: float
    resamples: int
    seed: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def as_text(self) -> str:
        lines = f"{self.lines} line{'s' * (self.lines > 1)}"
        rows = [("difference (second - first)", f"{self.difference:+.4f}"),
                ("95% interval (bootstrap)", f"{self.low:+.4f} to {self.high:+.4f}"),
                ("p (paired bootstrap)", f"{p_in_words(self.bootstrap_p, 2 / self.resamples)}  ({self.resamples:,} "
                                         f"resamples, seed {self.seed})"),
                ("p (McNemar, exact)", p_in_words(self.mcnemar_p)),
                ("right in the first alone", f"{self.only_first} of {lines}"),
                ("right in the second alone", f"{self.only_second} of {lines}")]
        width = max(len(label) for label, _ in rows) + 2
        return "".join(f"{label:<{width}}{value}\n" for label, value in rows)


def p_in_words(p: float, least: float = 0.0) -> str:
    """p as text, never 0: `< 0.0001` instead, or `<` the smallest p that the resamples can show."""
    least = max(least, 0.0001)
    return f"< {least:.4f}" if p < least else f"{p:.4f}"


def compare(first: Sequence[bool], second: Sequence[bool], resamples: int = 10_000, seed: int = 1) -> Comparison:
    """Compare two models by the lines they get right."""
    only_first = sum(one and not other for one, other in zip(first, second))
    only_second = sum(other and not one for one, other in zip(first, second))
    lines = len(first)
    drawn = bootstrap(lines, only_first, only_second, resamples, seed)
    below, above = sum(each <= 0 for each in drawn), sum(each >= 0 for each in drawn)
    return Comparison(
        lines, only_first, only_second, difference=100 * (only_second - only_first) / lines,
        low=100 * quantile(drawn, 0.025) / lines, high=100 * quantile(drawn, 0.975) / lines,
        bootstrap_p=min(1.0, 2 * min(below, above) / resamples), mcnemar_p=mcnemar(only_first, only_second),
        resamples=resamples, seed=seed)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided: the probability of an at least equally uneven split of the lines on which the models differ."""
    total, fewer = only_first + only_second, min(only_first, only_second)
    divisions = so_far = 1  # with `number` lines on the smaller side, computed from one line fewer; integers are exact
    for number in range(1, fewer + 1):
        divisions = divisions * (total - number + 1) // number
        so_far += divisions
    return min(1.0, 2 * so_far / 2**total)


def bootstrap(lines: int, only_first: int, only_second: int, resamples: int, seed: int) -> list[int]:
    """The sorted differences, in lines, of `resamples` samples with replacement.

    Only two numbers of a resample matter, so we draw these and not its lines: on how many lines the models differ,
    and on how many of those the second is right. Both are binomial."""
    differ = only_first + only_second
    if not differ:
        return [0] * resamples
    chance = random.Random(seed)

    @cache
    def second_among(number: int) -> list[float]:
        return cumulative_binomial(number, only_second / differ)

    numbers = cumulative_binomial(lines, differ / lines)
    drawn = []
    for _ in range(resamples):
        number = bisect(numbers, chance.random())
        drawn.append(2 * bisect(second_among(number), chance.random()) - number)
    return sorted(drawn)


def cumulative_binomial(number: int, probability: float) -> list[float]:
    """P(X <= k) for k below `number`. Bisecting the list with a uniform draw gives a binomial draw."""
    if probability in (0.0, 1.0):
        return [1.0 - probability] * number
    logs = (math.lgamma(number + 1) - math.lgamma(k + 1) - math.lgamma(number - k + 1)
            + k * math.log(probability) + (number - k) * math.log1p(-probability) for k in range(number))
    return list(accumulate(map(math.exp, logs)))


def quantile(ordered: Sequence[int], share: float) -> int:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
