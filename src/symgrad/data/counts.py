"""Equal rows, counted, and what weights leave of the number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def observations(weights: NDArray[np.float64]) -> float:
    """Return how many observations rows with some weights stand for.

    Whole weights with a 1 among them are counts, as of equal rows that were merged. Others leave
    fewer than there are rows, the more they vary.
    """
    given = weights[weights > 0]
    if given.min() == 1 and (given == np.round(given)).all():
        return float(given.sum())
    return float(given.sum() ** 2 / np.square(given).sum())


def merge_rows(
    X: NDArray[Any], y: Any, weights: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
    """Return the table with equal rows merged, rows of weight 0 removed, in sorted order.

    A search then does not depend on the order of the rows, and a row that occurs twice counts as
    one of weight 2.
    """
    given = np.ones(len(y)) if weights is None else np.asarray(weights, np.float64)
    keep = given > 0
    table = np.column_stack([y[keep], X[keep]])
    rows, where = np.unique(table, axis=0, return_inverse=True)
    total = np.zeros(len(rows))
    np.add.at(total, where.ravel(), given[keep])
    alike = bool((total == 1).all())
    return rows[:, 1:], rows[:, 0], None if alike else total
