"""Constants of formulas, fitted to data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.arrays import threads
from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.tree.forest import Forest


@dataclass(frozen=True)
class Fitted:
    """Trees with fitted constants, one entry per tree.

    Attributes
    ----------
    forest : Forest
        The trees.
    error : array
        Loss relative to that of the best constant (1 - R2 for squares); infinite for trees that
        are not finite on every row.
    slope, intercept : array
        The line that the error belongs to.
    """

    forest: Forest
    error: NDArray[np.float64]
    slope: NDArray[np.float64]
    intercept: NDArray[np.float64]


def fit_constants(
    forest: Forest,
    dataset: Dataset,
    *,
    scale: bool = True,
    loss: Loss | None = None,
    steps: int = 20,
    dtype: Any = None,
    n_jobs: int | None = None,
) -> Fitted:
    """Return the trees with their constants fitted.

    Levenberg-Marquardt from the constants at hand; with `scale`, for the best line through each
    tree, whose two numbers are solved for on the way (variable projection). A tree never gets
    worse. Trees that are not finite on every row stay as they are.

    Parameters
    ----------
    forest : Forest
        The trees.
    dataset : Dataset
        Data with a target.
    scale : bool
        Judge the best ``intercept + slope * tree`` instead of the tree as it is.
    loss : Loss, optional
        By default squares; others need `scale`.
    steps : int
        Most steps; each costs a forward and a backward pass.
    dtype : {float32, float64}, optional
        Type to work in; by default that of the data.
    n_jobs : int, optional
        Number of threads; by default all cores. It does not change the result.
    """
    if dataset.y is None:
        raise ValueError("the dataset has no target")
    if steps < 0:
        raise ValueError(f"steps must not be negative, got {steps}")
    loss = loss or Loss()
    loss.check(dataset.y)
    core, columns = forest.bind(dataset.X, dtype)
    value, *judged = _core.fit_constants(
        core,
        columns,
        dataset.y,
        dataset.core_weights,
        scale,
        loss.core(dataset.y, dataset.limits),
        steps,
        threads(n_jobs),
    )
    fitted = Forest(forest.code, value, forest.offset, forest.primitives, forest.names)
    return Fitted(fitted, *judged)
