"""How much larger a formula's errors are on rows that its constants were not fitted to.

Leaving out one row after the other would take as many fits as there are rows. But near its best
constants a formula is linear in them, and for a linear model the answer is known: the error of a
row that is left out is the error at hand, divided by one minus the row's leverage. A constant that
follows many rows costs next to nothing that way; one that follows a few extreme rows costs much of
what it seems to explain. A row that settles a constant all by itself is met exactly, and tells
nothing: without it nobody knows, and the error may be as large as any.
"""

from __future__ import annotations

import numpy as np

from symgrad.data.dataset import Dataset
from symgrad.language.primitive import CONSTANT
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

ALONE = 0.9999
"""Leverage from which a row settles a constant by itself."""

NOTHING = 1e-10
"""Part of the largest eigenvalue below which constants stand for each other."""


def left_out(tree: Tree, data: Dataset, rows: float | None = None) -> float:
    """Return the mean squared error on left-out rows, in parts of that on the rows at hand.

    Parameters
    ----------
    tree : Tree
        A formula with its constants fitted to the data, those of an outer line among them.
    data : Dataset
        What they were fitted to, or rows drawn from that.
    rows : float, optional
        How many rows there were to fit to, if not those of `data`.
    """
    assert data.y is not None
    weights = np.ones(data.rows) if data.weights is None else data.weights
    values = tree.evaluate(data.X, dtype=np.float64)
    with np.errstate(all="ignore"):
        slopes = Forest.of([tree]).gradient(data.X)[tree.code == CONSTANT].astype(np.float64)
    columns = np.stack([np.ones(data.rows), values, *slopes], axis=1)
    columns = np.sqrt(weights)[:, None] * columns[:, np.isfinite(columns).all(axis=0)]
    with np.errstate(over="ignore"):  # what is too steep to square becomes 0
        columns /= np.sqrt(np.mean(columns**2, axis=0)) + np.finfo(float).tiny
    squares, turned = np.linalg.eigh(columns.T @ columns)
    kept = squares > NOTHING * squares[-1]
    leverage = np.sum((columns @ turned[:, kept]) ** 2 / squares[kept], axis=1)
    leverage = np.minimum(leverage * data.rows / (rows or data.rows), 1.0)
    errors = (data.y - values) ** 2
    largest = np.maximum(errors, np.max((data.y - np.average(data.y, weights=weights)) ** 2))
    known = leverage < ALONE
    others = errors / np.where(known, 1 - leverage, 1.0) ** 2
    others = np.where(known, np.minimum(others, largest), largest)
    total = weights @ errors
    return float(weights @ others / total) if total > 0 else 1.0
