"""What else each node of a formula might be: the row of a relaxed tree's node matrix.

With h the value of a node, J the derivative of the formula f by it and u = f - J h, the formula
with another value v there is about u + J v. The R2 of the best line through that ranks all
features, functions and arguments at once. It is what guides the default search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from symgrad.data.dataset import BLOCK, Dataset
from symgrad.data.evaluate import score
from symgrad.data.loss import LEAST
from symgrad.evolution.constraints import indices
from symgrad.tree.forest import Forest
from symgrad.tree.layout import label
from symgrad.tree.tree import Tree

if TYPE_CHECKING:
    from symgrad.estimator import DGPRegressor

Floats = NDArray[np.float64]

FLAT = 1e-9
"""Variance, relative to the mean square, below which values count as constant."""

MOST_ROWS = 10_000
"""Of larger tables so many rows are taken, evenly."""

COLUMNS = ("node", "part", "now", "alternative", "current", "r2", "exact_r2", "weight")

SAME = 1e-12
"""Share of a changed formula that no line through the formula explains, if it is not the same."""


class Candidate(NamedTuple):
    """What might stand at a node, in words, and the R2 that the gradient expects of it."""

    tree: Tree
    words: str
    r2: float


def given(estimator: DGPRegressor, X: Any, y: Any) -> Dataset:
    """Return data for a fitted estimator, checked."""
    check_is_fitted(estimator)
    if X is None or y is None:
        raise ValueError("X and y must be given")
    X = validate_data(
        estimator, X, reset=False, dtype="numeric", ensure_all_finite=False,
        accept_sparse=("csc", "csr"),
    )  # fmt: skip
    return Dataset(X, y, feature_names=estimator.tree_.names, dtype=None)


def thinned(count: int, most: int) -> NDArray[np.int64]:
    """Return which of so many rows to take: all, or so many of them, evenly."""
    if count <= most:
        return np.arange(count)
    return np.linspace(0, count - 1, most).astype(np.int64)


def explain(estimator: DGPRegressor, X: Any, y: Any, top: int = 5) -> pd.DataFrame:
    """Return the alternatives to each node of the chosen formula; see `DGPRegressor.explain`."""
    data = given(estimator, X, y)
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top}")
    rules = estimator.constraints
    barred = indices(rules.exclude, data.names) if rules is not None else []
    return alternatives(estimator.tree_, data, top, barred)


def alternatives(
    tree: Tree, data: Dataset, top: int = 5, barred: list[int] | None = None
) -> pd.DataFrame:
    """Return what else each node of a tree might be, for the best line through it.

    Parameters
    ----------
    tree : Tree
        The formula.
    data : Dataset
        Rows on which it is not finite are left out; at most `MOST_ROWS` are used.
    top : int
        How many alternatives to a node are kept.
    barred : list of int, optional
        Features that may not be used.
    """
    slopes = _Slopes(tree, _rows(data, thinned(data.rows, MOST_ROWS)))
    leaves = np.flatnonzero(tree.code < 0)
    ranks = slopes.features(leaves)
    ranks[:, barred or []] = -np.inf
    rows, trees = [], []
    for node in range(tree.size):
        part = tree.subtree(node)
        now = Candidate(part, "as it is", slopes.r2(node, slopes.h[node]))
        if tree.code[node] < 0:
            r2 = ranks[int(np.searchsorted(leaves, node))]
            r2 = np.where(~np.arange(len(r2)) == tree.code[node], -np.inf, r2)  # that is itself
            found = [_feature(tree, j, r2[j]) for j in _first(r2, top)]
        else:
            others = list(_functions(tree, node, slopes))
            r2 = np.array([c.r2 for c in others])
            found = [others[k] for k in _first(r2, top)]
        fits = -0.5 * slopes.rows * np.log(np.maximum(1 - np.append(r2, now.r2), LEAST))
        total = np.logaddexp.reduce(fits)
        for candidate in [now, *found]:
            fit = -0.5 * slopes.rows * np.log(max(1 - candidate.r2, LEAST))
            place = (node, part.render(4), label(tree, node, 4))
            what = (candidate.words, candidate is now, candidate.r2, np.exp(fit - total))
            rows.append(place + what)
            trees.append(tree.splice(node, candidate.tree))
    exact = score(Forest.of(trees), slopes.data).r2
    table: pd.DataFrame = pd.DataFrame(rows, columns=[c for c in COLUMNS if c != "exact_r2"])
    table.insert(len(COLUMNS) - 2, "exact_r2", np.where(np.isfinite(exact), exact, np.nan))
    return table


def _rows(data: Dataset, taken: NDArray[np.int64]) -> Dataset:
    """Return some rows in full precision."""
    assert data.y is not None
    X, y = (data.X, data.y) if len(taken) == data.rows else (data.X[taken], data.y[taken])
    return Dataset(X, y, feature_names=data.names, dtype=np.float64)


class _Slopes:
    """Values of all nodes on the data, the derivatives of the tree by them, and R2 of changes."""

    def __init__(self, tree: Tree, data: Dataset):
        assert data.y is not None
        self.h = np.asarray(Forest.of([tree.subtree(k) for k in range(tree.size)]).evaluate(data.X))
        self.J = np.asarray(Forest.of([tree]).gradient(data.X))
        good = np.isfinite(self.h).all(axis=0) & np.isfinite(self.J).all(axis=0)
        if np.count_nonzero(good) < 2 or np.ptp(data.y[good]) == 0:
            raise ValueError("y is constant on the rows where the formula is defined")
        if not good.all():
            self.h, self.J = self.h[:, good], self.J[:, good]
            data = _rows(data, np.flatnonzero(good))
        self.data, self.rows = data, data.rows
        assert data.y is not None
        self.y = data.y - data.y.mean()
        self.yy = float(self.y @ self.y)
        with np.errstate(over="ignore", invalid="ignore"):
            u = self.h[-1] - self.J * self.h
            self.u = u - u.mean(axis=1, keepdims=True)

    def r2(self, node: int, v: Floats) -> float:
        """Return the R2 of the line through u + J v."""
        with np.errstate(all="ignore"):
            z = self.u[node] + self.J[node] * v
            size, z = z @ z, z - z.mean()
            if not np.isfinite(size):
                return -np.inf
            flat = not z @ z > FLAT**2 * size  # the mean took no digits here
            return 0.0 if flat else float(self._share(0.0, z @ self.y, z @ z))

    def same(self, node: int, v: Floats) -> bool:
        """Whether u + J v is the formula itself, up to a line."""
        with np.errstate(all="ignore"):
            z, f = self.u[node] + self.J[node] * v, self.h[-1] - self.h[-1].mean()
            z = z - z.mean()
            return bool((z @ z) * (f @ f) * (1 - SAME) <= (z @ f) ** 2)

    def features(self, nodes: NDArray[np.int64]) -> Floats:
        """Return the R2 of u + J x for some nodes and every feature x: sums, as matrix products.

        With m the mean of x, J x is J (x - m) + m J. Both parts are centered before they are
        squared, so that features far from 0 lose no digits.
        """
        J, u = self.J[nodes], self.u[nodes]
        out = np.empty((len(nodes), self.data.features))
        with np.errstate(all="ignore"):
            centered = J - J.mean(axis=1, keepdims=True)
            left = np.concatenate([J, J * self.y, J * u, J * centered])
            uy, cy = u @ self.y, centered @ self.y
            uu, cu, cc = ((a * b).sum(axis=1) for a, b in ((u, u), (u, centered), (centered,) * 2))
            width = max(1, BLOCK // self.rows)
            for first in range(0, self.data.features, width):
                x = self.data.columns(slice(first, first + width))
                m = x.mean(axis=0)
                x = x - m
                j1, jy, ju, jc = np.split(left @ x, 4)
                zz = uu[:, None] + 2 * m * cu[:, None] + m * m * cc[:, None]
                zz += 2 * (ju + m * jc) + (J * J) @ (x * x)
                zy = uy[:, None] + m * cy[:, None] + jy
                out[:, first : first + width] = self._share(j1, zy, zz)
        return out

    def _share(self, z1: Any, zy: Any, zz: Any) -> Any:
        spread = zz - z1 * z1 / self.rows
        r2 = np.where(spread > FLAT * zz, zy * zy / (spread * self.yy), 0.0)
        return np.where(np.isfinite(zz), np.clip(r2, 0.0, 1.0), -np.inf)


def _feature(tree: Tree, j: int, r2: float) -> Candidate:
    leaf = Tree([~j], [0.0], tree.primitives, tree.names)
    return Candidate(leaf, tree.names[j], float(r2))


def _functions(tree: Tree, node: int, slopes: _Slopes) -> Iterator[Candidate]:
    """Go through other functions of a node's arguments, and the arguments alone."""
    primitives, code = tree.primitives, int(tree.code[node])
    places = [node - 1]
    for _ in range(primitives.arity(code) - 1):
        places.insert(0, tree.span(places[0]).start - 1)
    letters = dict(zip(places, "ab", strict=False))
    for place in places:
        if not slopes.same(node, slopes.h[place]):
            r2 = slopes.r2(node, slopes.h[place])
            yield Candidate(tree.subtree(place), f"{letters[place]} alone", r2)
    for c in primitives.codes:
        if c == code or primitives.arity(c) > len(places):
            continue
        primitive = primitives[c]
        chosen = [places] if primitive.arity == len(places) else [[p] for p in places]
        for used in chosen:
            if all(not tree.subtree(p).feature_indices for p in used):
                continue  # a number, whatever the function
            with np.errstate(all="ignore"):
                v = np.asarray(primitive.define(np, *(slopes.h[p] for p in used)), float)
            if slopes.same(node, v):
                continue
            parts = [tree.subtree(p) for p in used]
            arrays = [np.concatenate([getattr(t, a) for t in parts]) for a in ("code", "value")]
            made = Tree([*arrays[0], c], [*arrays[1], 0.0], primitives, tree.names)
            words = primitive.text
            for k, p in enumerate(used):
                words = words.replace(f"#{k + 1}", letters[p])
            yield Candidate(made, words, slopes.r2(node, v))


def _first(r2: Floats, top: int) -> list[int]:
    """Return the places of the largest finite numbers, from the largest on."""
    order = np.argsort(-r2, kind="stable")[:top]
    return [int(k) for k in order if np.isfinite(r2[k])]
