"""How well the formulas of a front predict rows that their constants were not fitted to.

The rows are cut into five parts. Each in turn is predicted with constants that are fitted to the
other four; the shape of a formula stays as the search has found it on all rows. So the score is
less than R2 on the training rows where a formula has many constants for few rows, and it is still
too high by what the search has found in noise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symgrad.data.constants import fit_constants
from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.language.primitive import CONSTANT
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

FOLDS = 5
MOST_ROWS = 5000
STEPS = 5


def validation(
    trees: list[Tree], data: Dataset, loss: Loss | None, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the share of the best constant's loss that each formula explains on held-out rows.

    Parameters
    ----------
    trees : list of Tree
        Formulas in the units of the data.
    data : Dataset
        What they were found on; at most 5,000 rows are used, drawn at random.
    loss : Loss, optional
        By default squares, of formulas without constants.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    array
        NaN for losses with a log link, and where there are fewer than ten rows.
    """
    rule = loss or Loss()
    assert data.y is not None
    if rule.row.log_link or data.rows < 2 * FOLDS:
        return np.full(len(trees), np.nan)
    rows, fold = folds(data)
    forest, X = narrow(Forest.of(same(trees)), data, rows)
    y, weights = data.y[rows], np.ones(len(rows))
    if data.weights is not None:
        weights = data.weights[rows]
    ours, constant = np.zeros(len(forest)), 0.0
    for k in range(FOLDS):
        rest, held = fold != k, fold == k
        if not (weights[rest] > 0).any() or np.ptp(y[rest]) == 0:
            continue
        part = Dataset(X[rest], y[rest], weights=weights[rest], dtype=np.float64)
        one = Forest([CONSTANT], [0.0], [0, 1])
        centre = fit_constants(one, part, loss=rule, steps=0, n_jobs=1).intercept[0]
        predictions = predicted(forest, part, X[held], loss, n_jobs)
        predictions = np.where(np.isfinite(predictions), predictions, centre)
        ours += (rule.of(y[held], predictions) * weights[held]).sum(axis=1)
        constant += float(rule.of(y[held], np.full(held.sum(), centre)) @ weights[held])
    with np.errstate(all="ignore"):
        return 1 - ours / constant


def folds(data: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that are used, and to which part each of them belongs."""
    rows = np.random.default_rng(0).permutation(data.rows)[:MOST_ROWS]
    return rows, np.arange(len(rows)) % FOLDS


def same(trees: list[Tree]) -> list[Tree]:
    """Return the trees over one set of primitives, the largest of theirs."""
    most = max((t.primitives for t in trees), key=len)
    return [Tree.parse(t.render(), t.names, most) for t in trees]


def narrow(
    forest: Forest, data: Dataset, rows: NDArray[np.int64]
) -> tuple[Forest, NDArray[np.float64]]:
    """Return the forest and the data with the columns that are in use alone."""
    used = forest.feature_indices
    columns = used if used.size else np.zeros(1, np.int64)
    return forest.narrow(), data.columns(columns.tolist())[rows]


def predicted(
    forest: Forest, part: Dataset, X: NDArray[np.float64], loss: Loss | None, n_jobs: int | None
) -> NDArray[np.float64]:
    """Return the values of formulas, with their constants and lines fitted to a part."""
    if loss is None:
        return forest.evaluate(X, n_jobs)
    fitted = fit_constants(forest, part, loss=loss, steps=STEPS, dtype=np.float64, n_jobs=n_jobs)
    values = fitted.forest.evaluate(X, n_jobs)
    with np.errstate(all="ignore"):
        lines: NDArray[np.float64] = fitted.intercept[:, None] + fitted.slope[:, None] * values
    return lines
