"""Losses as functions of the scores: their value and its gradient."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from il_morph.transitions.systems import END, TransitionSystem

BEFORE_END, AT_END, END_COUNTS_TOO = range(3)  # masks


def masks(system: TransitionSystem, number: int, dtype) -> np.ndarray:
    """What is added to the scores: −∞ for actions that do not count."""
    table = np.full((3, number), -np.inf, dtype=dtype)
    for mask, at_end in ((BEFORE_END, False), (AT_END, True), (END_COUNTS_TOO, False)):
        table[mask, system.valid_actions(at_end, number)] = 0
    table[END_COUNTS_TOO, END] = 0
    return table


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Of each row, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


def negative_log_likelihoods(scores: np.ndarray, optimal: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """−log Σ_{a optimal} P(a) of each row, P = softmax(scores), and the gradients.

    With Q = P restricted to the optimal actions and normalised the gradient is P − Q.
    """
    sizes = [len(actions) for actions in optimal]
    rows = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.concatenate(optimal)
    starts = np.cumsum(sizes) - sizes
    log_p = log_softmax(scores)
    chosen = log_p[rows, columns]
    highest = np.maximum.reduceat(chosen, starts)
    q = np.exp(chosen - highest[rows])
    sums = np.add.reduceat(q, starts)
    gradients = np.exp(log_p)
    gradients[rows, columns] -= q / sums[rows]
    return -(highest + np.log(sums)), gradients


def squared_distance(scores: np.ndarray, targets: dict[int, float]) -> tuple[float, np.ndarray]:
    """The mean over some actions of (score − target)², and the gradient with respect to all scores."""
    actions = list(targets)
    distances = scores[actions] - np.array(list(targets.values()), dtype=scores.dtype)
    gradient = np.zeros_like(scores)
    gradient[actions] = 2 * distances / len(actions)
    return float(np.mean(distances ** 2)), gradient


def expected_risk(log_p: np.ndarray, risks: np.ndarray, alpha: float) -> tuple[float, np.ndarray]:
    """R = Σ Q_k risk_k, Q ∝ P^α, and its gradient with respect to −log P_k: −α Q_k (risk_k − R)."""
    powers = alpha * log_p
    q = np.exp(powers - powers.max())
    q /= q.sum()
    risk = float(q @ risks)
    return risk, -alpha * q * (risks - risk)
