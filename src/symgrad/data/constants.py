"""Constants of formulas, fitted to data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.arrays import threads
from symgrad.data.dataset import Dataset
from symgrad.tree.forest import Forest


def fit_constants(
    forest: Forest,
    dataset: Dataset,
    *,
    scale: bool = True,
    steps: int = 20,
    n_jobs: int | None = None,
) -> tuple[Forest, NDArray[np.float64]]:
    """Return the trees with their constants fitted, and their errors (1 - R2).

    Levenberg-Marquardt from the constants at hand; with `scale`, for the best line through each
    tree, whose two numbers are solved for on the way (variable projection). A tree never gets
    worse. Trees that are not finite on every row stay as they are, with an infinite error.

    Parameters
    ----------
    forest : Forest
        The trees.
    dataset : Dataset
        Data with a target.
    scale : bool
        Judge the best ``intercept + slope * tree`` instead of the tree as it is.
    steps : int
        Most steps; each costs a forward and a backward pass.
    n_jobs : int, optional
        Number of threads; by default all cores. It does not change the result.
    """
    if dataset.y is None:
        raise ValueError("the dataset has no target")
    if steps < 0:
        raise ValueError(f"steps must not be negative, got {steps}")
    weights = np.empty(0) if dataset.weights is None else dataset.weights
    core, columns = forest.bind(dataset.X)
    value, error = _core.fit_constants(
        core, columns, dataset.y, weights, scale, steps, threads(n_jobs)
    )
    return Forest(forest.code, value, forest.offset, forest.primitives, forest.names), error
