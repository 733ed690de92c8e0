"""What is predicted where there were no data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.arrays import is_sparse
from symgrad.data.dataset import Dataset
from symgrad.model import Formula, is_law
from symgrad.tree.names import FeatureNames
from symgrad.tree.tree import Tree

TRUSTED = 0.95
"""R2 on the training data from which a formula is trusted beyond them, up to a point."""


@dataclass(frozen=True)
class Box:
    """The ranges of the training data, and what is predicted outside them.

    Attributes
    ----------
    low, high : array
        Of each feature.
    least, greatest : float
        Of predictions outside.
    reach : float
        By how much a prediction may differ from the one at the nearest point of the box, where a
        feature is as far outside as its range is wide; where several are, the distances add up.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    least: float
    greatest: float
    reach: float

    @classmethod
    def of(cls, data: Dataset, formula: Formula) -> Box | None:
        """Return the box of some data for a formula, or None if it is a law.

        Predictions outside are those at the nearest point of the box, and in the range of the
        target. Those of a formula that is `TRUSTED` may go on as steeply as a line from corner to
        corner would, and leave the range by as much as it is wide.
        """
        assert data.y is not None
        if is_law(formula, data):
            return None
        low, high = float(data.y.min()), float(data.y.max())
        reach = high - low if formula.r2 >= TRUSTED else 0.0
        return cls(*data.box, low - reach, high + reach, reach)

    def kept(self, values: NDArray[np.float64], X: Any, tree: Tree) -> NDArray[np.float64]:
        """Return predictions of a formula with those of rows outside the box kept near it."""
        features = list(tree.feature_indices)
        used, low, high = X[:, features], self.low[features], self.high[features]
        used = used.toarray() if is_sparse(used) else used
        outside = ((used < low) | (used > high)).any(axis=1)
        if not outside.any():
            return values
        used = np.asarray(used[outside], np.float64)
        nearest, width = np.clip(used, low, high), high - low
        there = tree.renamed(FeatureNames(tree.features)).evaluate(nearest, dtype=np.float64)
        ranges = np.divide(
            np.abs(used - nearest), width, out=np.zeros_like(used), where=width > 0
        ).sum(axis=1)
        far = self.reach * ranges if np.isfinite(self.reach) else np.inf
        bare = values[outside]
        near = np.where(np.isfinite(there), np.clip(bare, there - far, there + far), bare)
        kept = np.array(values)
        kept[outside] = np.clip(near, self.least, self.greatest)
        return kept
