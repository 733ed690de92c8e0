"""How many different features a table has: those that can stand for each other count as one.

Naming one of d features takes ln d nats, and the best of d is found in noise the better, the larger
d is. Neighbouring channels of a spectrum, or a column that is there twice, are no choice: whichever
is taken, the formula is about the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symgrad.data.dataset import BLOCK, Dataset

SAME = 0.95
"""Correlation from which features can stand for each other."""

ROUNDING = 1e-12
"""Deviation, in parts of the mean, up to which a column does not vary."""

ROWS, LOOKED_AT, WORK = 1000, 200, 1e9
"""Most rows that are asked, most features that the others are compared with, most products."""


def different(data: Dataset) -> float:
    """Return how many features there are, each counted in parts of all that it correlates with.

    In large tables the others are compared with some features, drawn at random, always the same.

    Parameters
    ----------
    data : Dataset
        The features.

    Examples
    --------
    >>> import numpy as np
    >>> from symgrad import Dataset
    >>> from symgrad.data.alike import different
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> different(Dataset(np.column_stack([X, X[:, 0], -2 * X[:, 0]])))
    3.0
    """
    data, features = data.drawn(ROWS), data.features
    weights = np.ones(data.rows) if data.weights is None else data.weights
    weights = weights / weights.sum()

    def standard(columns: NDArray[np.float64]) -> NDArray[np.float64]:
        means = weights @ columns
        columns = np.sqrt(weights)[:, None] * (columns - means)
        norms = np.sqrt(np.sum(columns**2, axis=0))
        return columns / np.where(norms > ROUNDING * np.abs(means), norms, np.inf)

    some = int(np.clip(WORK / (data.rows * features), 1, min(LOOKED_AT, features)))
    chosen = np.random.default_rng(0).permutation(features)[:some]
    own = standard(data.columns(chosen.tolist()))
    alike, width = np.zeros(some), max(1, BLOCK // data.rows)
    for j in range(0, features, width):
        others = standard(data.columns(slice(j, j + width)))
        alike += np.count_nonzero(np.abs(own.T @ others) >= SAME, axis=1)
    return float(features * np.mean(1 / np.maximum(alike, 1)))
