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
    low, high, center : array
        Of each feature: the ends, and the mean.
    least, greatest : float
        Of predictions outside.
    reach : float
        By how much a prediction may differ from those at the edge of the box, where a feature is
        as far outside as its range is wide; where several are, the distances add up.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    center: NDArray[np.float64]
    least: float
    greatest: float
    reach: float

    @classmethod
    def of(cls, data: Dataset, formula: Formula) -> Box | None:
        """Return the box of some data for a formula, or None if it is a law.

        Predictions outside lie between those at two points of the edge, and in the range of the
        target. One point is the nearest. But features that move together, such as channels of a
        spectrum, come apart there; so the other is on the way to the mean of the data, which
        keeps what is linear between them. Predictions of a formula that is `TRUSTED` may go on as
        steeply as a line from corner to corner would, and leave the range by as much as it is wide.
        """
        assert data.y is not None
        if is_law(formula, data):
            return None
        low, high = float(data.y.min()), float(data.y.max())
        reach = high - low if formula.r2 >= TRUSTED else 0.0
        with np.errstate(over="ignore"):
            mean = np.asarray(data.X.mean(axis=0, dtype=np.float64)).ravel()
        return cls(*data.box, mean, low - reach, high + reach, reach)

    def kept(self, values: NDArray[np.float64], X: Any, tree: Tree) -> NDArray[np.float64]:
        """Return predictions of a formula with those of rows outside the box kept near it."""
        features = list(tree.feature_indices)
        used, low, high = X[:, features], self.low[features], self.high[features]
        used = used.toarray() if is_sparse(used) else used
        outside = ((used < low) | (used > high)).any(axis=1)
        if not outside.any():
            return values
        used, center = np.asarray(used[outside], np.float64), self.center[features]
        nearest, width, away = np.clip(used, low, high), high - low, used - center
        share = np.divide(nearest - center, away, out=np.ones_like(used), where=away != 0)
        inward = np.clip(center + share.min(axis=1, keepdims=True) * away, low, high)
        ranges = np.divide(
            np.abs(used - nearest), width, out=np.zeros_like(used), where=width > 0
        ).sum(axis=1)
        far = self.reach * ranges if np.isfinite(self.reach) else np.inf
        edge = tree.renamed(FeatureNames(tree.features))
        ends = [edge.evaluate(points, dtype=np.float64) for points in (nearest, inward)]
        ends = [np.where(np.isfinite(e), e, o) for e, o in zip(ends, ends[::-1], strict=True)]
        bare = values[outside]
        between = np.clip(bare, np.minimum(*ends) - far, np.maximum(*ends) + far)
        kept = np.array(values)
        kept[outside] = np.clip(
            np.where(np.isfinite(ends[0]), between, bare), self.least, self.greatest
        )
        return kept
