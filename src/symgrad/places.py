"""A formula with other columns in the places of its features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgrad.data.constants import fit_constants
from symgrad.data.dataset import BLOCK, Dataset
from symgrad.data.loss import Loss
from symgrad.language.primitive import CONSTANT
from symgrad.model import Judge
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

SHUFFLES = 5
"""Permutations of a column, over which its cost is averaged."""

MOST_TRIED = 1000
"""Most columns that are tried in a feature's place, those that correlate most."""

Floats = NDArray[np.float64]


class Near(NamedTuple):
    """Columns that correlate with a feature, and the lines that bring them to its scale."""

    column: int
    correlation: float
    slope: float
    intercept: float


class Places:
    """A formula whose features are replaced by other columns, on some data."""

    def __init__(self, tree: Tree, data: Dataset, loss: Loss, n_jobs: int | None):
        self.data, self.loss, self.n_jobs = data, loss, n_jobs
        self.tree = _unlinked(tree) if loss.row.log_link else tree
        self.features = self.tree.feature_indices
        self.used = data.columns(list(self.features))
        given = data.weights if data.weights is not None else np.ones(data.rows)
        self.weights: Floats = given / given.sum()
        self.mean = self.weights @ self.used

    def swapped(self, places: Sequence[int], columns: Sequence[Floats]) -> tuple[Forest, Dataset]:
        """Return the formula, then with each column in a feature's place, and data for them."""
        count, code = len(self.features), self.tree.code.copy()
        for i, j in enumerate(self.features):
            code[self.tree.code == ~j] = ~i
        codes = [code]
        for v, j in enumerate(places):
            codes.append(np.where(self.tree.code == ~j, ~(count + v), code))
        many, size = len(codes), self.tree.size
        forest = Forest(
            np.concatenate(codes),
            np.tile(self.tree.value, many),
            np.arange(many + 1) * size,
            self.tree.primitives,
        )
        X = np.column_stack([self.used, *columns])
        data = Dataset(X, self.data.y, weights=self.data.weights, dtype=np.float64)
        return forest, data

    def refitted(self, places: Sequence[int], columns: Sequence[Floats]) -> Floats:
        """Return R2 of the formula and of those with a column swapped in, constants fitted.

        It is never below 0: the best constant is always there.
        """
        forest, data = self.swapped(places, columns)
        fitted = fit_constants(forest, data, loss=self.loss, n_jobs=self.n_jobs)
        return np.maximum(0.0, 1 - fitted.error)

    def drops(self) -> dict[int, float]:
        """Return what R2 loses if a feature's mean stands in its place."""
        if not self.features:
            return {}
        means = [np.full(self.data.rows, m) for m in self.mean]
        own, *without = self.refitted(self.features, means).tolist()
        return {j: own - r2 for j, r2 in zip(self.features, without, strict=True)}

    def permuted(self, rng: np.random.Generator) -> dict[int, float]:
        """Return what R2 loses if a feature is shuffled, on average; constants stay."""
        if not self.features:
            return {}
        places = np.repeat(self.features, SHUFFLES).tolist()
        columns = [rng.permutation(c) for c in self.used.T for _ in range(SHUFFLES)]
        forest, data = self.swapped(places, columns)
        judge = Judge(data, self.loss)
        values = forest.evaluate(data.X, self.n_jobs)
        values = np.where(np.isfinite(values), values, judge.best_constant)
        r2 = 1 - judge.mean(values, data) / judge.worst
        drops = (r2[0] - r2[1:]).reshape(-1, SHUFFLES).mean(axis=1)
        return dict(zip(self.features, drops.tolist(), strict=True))

    def exchangeable(self, correlation: float, tolerance: float) -> dict[int, list[int]]:
        """Return the columns that could stand in each feature's place, the nearest first."""
        if not 0 < correlation <= 1:
            raise ValueError(f"correlation must be above 0 and at most 1, got {correlation}")
        if not tolerance >= 0:
            raise ValueError(f"tolerance must not be negative, got {tolerance}")
        near = self.near(correlation) if self.features else []
        return {
            j: self.passing(j, sorted(some, key=lambda n: -abs(n.correlation)), tolerance)
            for j, some in zip(self.features, near, strict=True)
        }

    def passing(self, j: int, near: list[Near], tolerance: float) -> list[int]:
        """Return those columns that can stand in the place of feature j."""
        width, found = max(1, BLOCK // self.data.rows), list[int]()
        for first in range(0, min(len(near), MOST_TRIED), width):
            some = near[:MOST_TRIED][first : first + width]
            table = self.data.columns([n.column for n in some])
            columns = [n.intercept + n.slope * x for n, x in zip(some, table.T, strict=True)]
            own, *swapped = self.refitted([j] * len(some), columns)
            good = (n.column for n, r2 in zip(some, swapped, strict=True) if r2 >= own - tolerance)
            found += good
        return found

    def near(self, least: float) -> list[list[Near]]:
        """Return for each feature the columns that correlate with it; one pass, in blocks."""
        w = self.weights
        centred = self.used - self.mean
        norms = np.sqrt(w @ centred**2)
        norms[norms == 0] = np.inf  # a constant is near nothing
        found: list[list[Near]] = [[] for _ in self.features]
        width = max(1, BLOCK // self.data.rows)
        for first in range(0, self.data.features, width):
            part = self.data.columns(slice(first, first + width))
            means = w @ part
            part = part - means
            norm = np.sqrt(w @ part**2)
            varies = norm > 1e-12 * np.abs(means)
            inverse = np.where(varies, 1 / np.where(varies, norm, 1.0), 0.0)
            moments = (centred * w[:, None]).T @ part
            slopes, matrix = moments * inverse**2, moments * inverse / norms[:, None]
            for i, k in zip(*np.nonzero(np.abs(matrix) >= least), strict=True):
                if first + k != self.features[i]:
                    slope = float(slopes[i, k])
                    line = (slope, float(self.mean[i] - slope * means[k]))
                    found[i].append(Near(int(first + k), float(matrix[i, k]), *line))
        return found


def _unlinked(tree: Tree) -> Tree:
    """Return the logarithm of a formula."""
    primitives = tree.primitives
    if tree.code[-1] == primitives.functions.get("exp", CONSTANT):
        return tree.subtree(tree.size - 2)
    primitives = primitives if "log" in primitives else primitives.extend("log")
    code = [*tree.code, primitives.functions["log"]]
    return Tree(code, [*tree.value, 0.0], primitives, tree.names)
