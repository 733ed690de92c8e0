"""Sums of features with factors: the plainest formulas, which every other one has to beat."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import lasso_path, orthogonal_mp

from symgrad.data.dataset import BLOCK, Dataset
from symgrad.language.primitive import CONSTANT
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.tree import Tree

Array = NDArray[np.float64]
SCREENED = 200
"""How many features are looked at: those that correlate most with the target."""


class Sums(NamedTuple):
    """Sums of one feature, of two and so on.

    Attributes
    ----------
    features : array of int
        Those that were looked at.
    factors : array of shape (sums, features)
        Theirs, 0 where one is not in use.
    intercepts : array of shape (sums,)
        What is added.
    """

    features: NDArray[np.int64]
    factors: Array
    intercepts: Array

    def predict(self, data: Dataset) -> Array:
        """Return the values of all sums, in rows."""
        columns = data.columns(self.features.tolist())
        return np.asarray(self.intercepts[:, None] + self.factors @ columns.T)


def matching(data: Dataset, terms: int, shrinkage: Sequence[float] = (0.0,)) -> list[Sums]:
    """Return sums of one feature up to `terms`, each with one more, by orthogonal matching pursuit.

    There are fewer where features or rows are few, or nothing is left to explain.

    Parameters
    ----------
    data : Dataset
        The features and the target.
    terms : int
        Most features in a sum.
    shrinkage : sequence of float
        0 for sums that are fitted to the target. Otherwise they are fitted to what the lasso makes
        of it, with this part of the penalty that leaves nothing, and scaled to the target: less
        sure of single features where many have small effects.
    """
    assert data.y is not None
    weights = np.ones(data.rows) if data.weights is None else data.weights
    weights = weights / weights.sum()
    root, centre = np.sqrt(weights), float(weights @ data.y)
    y, width = root * (data.y - centre), max(1, BLOCK // data.rows)

    def centred(columns: Array) -> tuple[Array, Array, Array]:
        means = weights @ columns
        columns = columns - means
        deviations = np.sqrt(np.einsum("i,ij,ij->j", weights, columns, columns))
        deviations[deviations <= 1e-12 * np.abs(means)] = np.inf  # of columns that hardly vary
        return columns, means, deviations

    def correlations(columns: Array) -> Array:
        columns, _, deviations = centred(columns)
        return np.asarray(np.abs((root * y) @ columns) / deviations)

    parts = (data.columns(slice(j, j + width)) for j in range(0, data.features, width))
    near = np.concatenate([correlations(part) for part in parts])
    best = np.sort(np.argsort(-near, kind="stable")[:SCREENED])
    columns, means, deviations = centred(data.columns(best.tolist()))
    columns *= root[:, None] / deviations
    penalty = float(np.abs(y @ columns).max()) / data.rows
    count = min(terms, len(best), np.count_nonzero(weights) - 1)

    def sums_of(target: Array) -> Sums:
        path = np.zeros((len(best), 0))
        if count:
            path = orthogonal_mp(columns, target, n_nonzero_coefs=count, return_path=True)
        path = path.reshape(len(best), -1).T
        if target is not y:
            made = path @ columns.T
            path *= ((made @ y) / np.maximum(np.sum(made**2, axis=1), 1e-300))[:, None]
        factors = path / deviations
        return Sums(best, factors, centre - factors @ means)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that depend on each other
        return [
            sums_of(columns @ lasso_path(columns, y, alphas=[part * penalty])[1][:, 0])
            if part and penalty
            else sums_of(y)
            for part in shrinkage
        ]


def sums(primitives: PrimitiveSet, data: Dataset, terms: int, shrinkage: float = 0.0) -> list[Tree]:
    """Return sums of features with their factors as trees, without intercepts."""
    functions = primitives.functions
    made, found = list[Tree](), matching(data, terms, [shrinkage])[0]
    for factors in found.factors:
        code, value = list[int](), list[float]()
        for k in np.flatnonzero(factors):
            feature = ~int(found.features[k])
            more = [CONSTANT, feature, functions["mul"]] + [functions["add"]] * bool(code)
            code += more
            value += [float(factors[k]), *[0.0] * (len(more) - 1)]
        if code:
            made.append(Tree(code, value, primitives, data.names))
    return made
