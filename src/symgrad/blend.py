"""Means of formulas, which often predict new rows better than any of them.

Where data are few or noisy, many formulas fit about as well, and each has something that only
these rows have. Their mean has less of it: its squared error is the mean of theirs, less the mean
square of how far they are from it. Both can be told: what errors on new rows are from those on
left-out ones and the words, and how far apart formulas are from their values. So it is known
beforehand about what a mean is worth, and one that is worth little is left alone, as it is longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgrad.data.dataset import Dataset
from symgrad.data.limits import let_free
from symgrad.language.primitive import CONSTANT
from symgrad.model import Choice, Formula, Judge, choose, is_law
from symgrad.rival import contest
from symgrad.search.guided import GuidedDGP
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree
from symgrad.tree.units import in_units

Array = NDArray[np.float64]
STEPS = 30
"""Formulas that are taken one after the other, again and again the same ones: their weights."""

OWN = 0.5
"""Least share of the chosen formula: what others are worth is less certain."""

WORTH, SURE = 0.98, 10.0
"""The part of the error that a mean may leave, and how many nats less all errors must take."""

ROWS = 20_000
"""Rows that tell how far apart formulas are."""


class Mean(NamedTuple):
    """How often each formula is taken, and the squared error that is expected of that."""

    counts: Array
    error: float


def decide(
    found: list[Formula],
    how: str,
    whole: Dataset,
    exact: Dataset,
    search: GuidedDGP,
    wider: Dataset | None,
    bounded: bool,
) -> Formula:
    """Return the formula that becomes the model.

    Parameters
    ----------
    found : list of Formula
        What there is to choose from, in the units of `whole`.
    how : {"balanced", "accurate", "simple"}
        See `choose`. For squared loss the balanced one is contested by sums of features, and the
        accurate one is a mean of that and others.
    whole, exact, search, wider, bounded
        See `contest`.
    """
    margin, loss = search.constraints.margin, search.loss
    if how == "simple" or loss.name != "squared":
        return choose(found, how, whole, margin, loss)
    chosen = choose(found, "balanced", whole, margin, loss)
    chosen = contest(chosen, whole, exact, search, wider, bounded)
    return blend(chosen, found, whole, exact, search, wider) if how == "accurate" else chosen


def blend(
    chosen: Formula,
    found: list[Formula],
    whole: Dataset,
    exact: Dataset,
    search: GuidedDGP,
    wider: Dataset | None,
) -> Formula:
    """Return a mean of the chosen formula and others, if that is expected to predict better.

    It is no larger than formulas may be. There is none of laws.

    Parameters
    ----------
    chosen : Formula
        In the units of `whole`.
    found : list of Formula
        The others. Those that are not safe, or by chance, are left out.
    whole, exact, search, wider
        See `contest`.
    """
    largest = search.islands.max_size
    if chosen.constant or is_law(chosen, whole):
        return chosen
    if not {"add", "mul"} <= set(search.primitives.functions):
        return chosen
    limit = chosen.unseen * min(WORTH, math.exp(-SURE / whole.observations))
    others = [f for f in found if not f.constant and f is not chosen]
    members = [chosen, *sorted(others, key=lambda f: f.unseen)]
    trees = [let_free(f.tree, exact.limits).renamed(exact.names) for f in members]
    apart = distances(trees, exact.drawn(ROWS))
    errors = np.array([f.unseen for f in members])
    choice = Choice(whole, search.constraints.margin, search.loss)

    def mean(counts: Array) -> Tree:
        return weighed([trees[k] for k in np.flatnonzero(counts)], counts[counts > 0])

    def fits(counts: Array, new: int) -> bool:
        try:
            size = int(Forest.of([mean(counts)]).written(exact.units)[0])
        except OverflowError:
            return False
        if size > largest:
            return False
        formula = members[new]
        return choice.safe(formula) is formula and choice.telling(formula)

    best = min(taken(errors, apart, fits), key=lambda m: m.error, default=None)
    if best is None or not best.error < limit:
        return chosen
    tree = mean(best.counts)
    formula = Judge(exact, search.loss, wider=wider).formula(tree, tree)
    if formula is None or not search.constraints.allow(formula.tree, exact.X):
        return chosen
    return replace(formula, tree=formula.tree.renamed(whole.names), unseen=best.error)


def distances(trees: list[Tree], data: Dataset) -> Array:
    """Return mean squares of how far apart formulas are, in parts of the target's variance."""
    assert data.y is not None
    weights = np.ones(data.rows) if data.weights is None else data.weights
    center = np.average(data.y, weights=weights)
    with np.errstate(all="ignore"):
        values = [np.clip(t.evaluate(data.X, dtype=np.float64), *data.limits) for t in trees]
        known = np.sqrt(weights) * (np.stack([data.y, *values]) - center)
        products = known @ known.T
        squares = np.diag(products)
        apart = (squares[:, None] + squares - 2 * products)[1:, 1:] / squares[0]
    return np.asarray(np.where(np.isfinite(apart), np.maximum(apart, 0.0), 0.0))


def taken(errors: Array, apart: Array, fits: Callable[[Array, int], bool]) -> Iterator[Mean]:
    """Return means of more and more formulas: always the one next that is expected to help most.

    Parameters
    ----------
    errors : array
        Squared errors that are expected of the formulas. The first is the chosen one.
    apart : array
        Mean squares of their differences.
    fits : callable
        Whether a formula that is new may be taken, given what is taken then.
    """
    one = np.eye(len(errors))
    counts = one[0]
    left = np.ones(len(errors), bool)
    for _ in range(STEPS):
        while True:
            shares = (counts + one) / (counts.sum() + 1)
            expected = shares @ errors - np.einsum("ki,ij,kj->k", shares, apart, shares) / 2
            new = int(np.argmin(np.where(left & (shares[:, 0] >= OWN), expected, np.inf)))
            if counts[new] or fits(counts + one[new], new):
                break
            left[new] = False
        counts = counts + one[new]
        yield Mean(counts, float(expected[new]))


def weighed(trees: list[Tree], weights: Array) -> Tree:
    """Return the weighted mean of formulas as one: what they have in common is written once."""
    primitives = reduce(
        lambda known, tree: known.extend(*(p.name for p in tree.primitives if p.name not in known)),
        trees[1:],
        trees[0].primitives,
    )
    code, value = list[int](), list[float]()
    for tree, weight in zip(trees, weights / weights.sum(), strict=True):
        plus = [primitives.functions["add"]] * bool(code)
        code += [*tree.code, CONSTANT, primitives.functions["mul"], *plus]
        value += [*tree.value, weight, 0.0, *[0.0] * len(plus)]
    return in_units(Tree(code, value, primitives, trees[0].names), None, None).simplify()
