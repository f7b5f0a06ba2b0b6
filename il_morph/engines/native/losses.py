"""Losses as functions of the scores: their value and its gradient."""

from __future__ import annotations

import numpy as np


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The log softmax of each row, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


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
