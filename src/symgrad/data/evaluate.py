"""Scores of whole forests, and the one policy for values that are not finite.

A tree whose value is NaN or infinite on any row of the data is invalid: its error is infinite,
its R2 minus infinity, and its status says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.arrays import threads
from symgrad.data.dataset import Dataset
from symgrad.tree.forest import Forest


class Status(IntEnum):
    """Why a tree is or is not valid on the data."""

    VALID = 0
    NAN = 1
    INFINITE = 2


@dataclass(frozen=True)
class Scores:
    """Scores of a forest, one entry per tree.

    Attributes
    ----------
    mse : array
        Weighted mean squared error; infinite for invalid trees.
    r2 : array
        Coefficient of determination; minus infinity for invalid trees.
    slope, intercept : array
        The scaling ``intercept + slope * tree`` that the error belongs to; NaN for invalid trees.
    status : array of int8
        `Status` of each tree.
    """

    mse: NDArray[np.float64]
    r2: NDArray[np.float64]
    slope: NDArray[np.float64]
    intercept: NDArray[np.float64]
    status: NDArray[np.int8]

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Which trees are finite on every row."""
        valid: NDArray[np.bool_] = self.status == Status.VALID
        return valid


def score(
    forest: Forest, dataset: Dataset, *, scale: bool = True, n_jobs: int | None = None
) -> Scores:
    """Return the scores of all trees without storing their predictions.

    Parameters
    ----------
    forest : Forest
        The trees.
    dataset : Dataset
        Data with a target.
    scale : bool
        Score the best ``intercept + slope * tree`` (closed form) instead of the tree as it is.
    n_jobs : int, optional
        Number of threads; by default all cores. It does not change the result.
    """
    if dataset.y is None:
        raise ValueError("the dataset has no target")
    core, columns = forest.bind(dataset.X)
    out = np.empty((len(forest), 5))
    _core.score(core, columns, dataset.y, dataset.core_weights, scale, out, threads(n_jobs))
    mse, r2, slope, intercept, status = np.ascontiguousarray(out.T)
    return Scores(mse, r2, slope, intercept, status.astype(np.int8))
