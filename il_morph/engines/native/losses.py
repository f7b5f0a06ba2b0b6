"""Losses as functions of the scores: their value and its gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Of each row, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


def negative_log_likelihoods(scores: np.ndarray, optimal: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """−log Σ_{a optimal} P(a) of each row, P = softmax(scores), and the gradients.

    With Q = P restricted to the optimal actions and normalised the gradient is P − Q.
    """
    sizes = np.array([len(actions) for actions in optimal], dtype=np.int64)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.array([action for actions in optimal for action in actions])
    starts = np.cumsum(sizes) - sizes
    scores -= scores.max(axis=1, keepdims=True)
    p = np.exp(scores)
    sums = p.sum(axis=1, keepdims=True)
    p /= sums
    chosen = scores[rows, columns]
    highest = np.maximum.reduceat(chosen, starts)
    q = np.exp(chosen - highest[rows])
    totals = np.add.reduceat(q, starts)
    p[rows, columns] -= q / totals[rows]
    return np.log(sums[:, 0]) - highest - np.log(totals), p


def squared_distance(scores: np.ndarray, support: np.ndarray, targets: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean over the actions of a support of (score − target)², and the gradient with respect to all scores."""
    distances = np.where(support, scores - targets, 0).astype(scores.dtype)
    number = np.count_nonzero(support)
    return float(np.sum(distances ** 2) / number), 2 * distances / number


def expected_risk(log_p: np.ndarray, risks: np.ndarray, alpha: float) -> tuple[float, np.ndarray]:
    """R = Σ Q_k risk_k, Q ∝ P^α, and its gradient with respect to −log P_k: −α Q_k (risk_k − R)."""
    powers = alpha * log_p
    q = np.exp(powers - powers.max())
    q /= q.sum()
    risk = float((q * risks).sum())
    return risk, -alpha * q * (risks - risk)
