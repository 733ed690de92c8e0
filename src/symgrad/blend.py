"""Means of formulas, which predict new rows better than any of them.

Where data are few or noisy, many formulas fit about as well, and each has something that only
these rows have. Their mean has less of it: its squared error is the mean of theirs, less the mean
square of how far they are from it. Both can be told: what errors on new rows are from lengths, and
how far apart formulas are from their values. So it is known beforehand about what a mean is worth,
and one that is worth little is left alone, as it is longer.
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
from symgrad.rival import Rivals
from symgrad.search.guided import GuidedDGP
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree
from symgrad.tree.units import in_units

Array = NDArray[np.float64]
STEPS = 30
"""Formulas that are taken one after the other, again and again the same ones: their weights."""

READABLE, WORTH, SURE = 40, 0.98, 6.0
"""Most nodes of a mean that is the balanced formula, the part of the error that it may leave, and
by how much description lengths must be shorter for that: 20 to 1 that it is better."""

MOST_PLAIN = 0.5
"""Most that sums of features may make up: how good they are is seen on left-out rows, and how good
formulas are only expected, on average right."""

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
        See `choose`. For squared loss the balanced one is contested by sums of features, and then
        it may become a mean; the accurate one is that with others, whatever they do for its size.
    whole, exact, search, wider, bounded
        See `Rivals`.
    """
    margin, loss = search.constraints.margin, search.loss
    if how == "simple" or loss.name != "squared":
        return choose(found, how, whole, margin, loss)
    rivals = Rivals(whole, exact, search, wider, bounded)
    chosen = rivals.contest(choose(found, "balanced", whole, margin, loss))
    return blend(chosen, found, rivals, how)


def blend(chosen: Formula, found: list[Formula], rivals: Rivals, how: str = "balanced") -> Formula:
    """Return a mean of the chosen formula and others, if that is expected to predict better.

    There is none of constants, so that nothing is made of noise, and none of laws.

    Parameters
    ----------
    chosen : Formula
        In the user's units.
    found : list of Formula
        The others. Those that are not safe, or by chance, are left out.
    rivals : Rivals
        Sums of features, which make up half of a mean at most.
    how : {"balanced", "accurate"}
        Whether the mean must be `READABLE` and worth its length, or only no larger than formulas
        may be.
    """
    whole, exact, search = rivals.whole, rivals.exact, rivals.search
    if chosen.constant or is_law(chosen, whole) or not rivals.allowed:
        return chosen
    sums = rivals.formulas()
    # Features that a sum would find again without some of the rows are not found by chance.
    same = [f.unseen for f in sums if set(f.tree.features) == set(chosen.tree.features)]
    error = min([chosen.unseen, *same])
    most, limit = rivals.largest, error
    if how == "balanced":
        most = min(READABLE, most)
        limit *= min(WORTH, math.exp(-SURE / whole.observations))
    others = [f for f in found if not f.constant and f.tree is not chosen.tree]
    members = [chosen, *sorted(others, key=lambda f: f.unseen), *sums]
    trees = [let_free(f.tree, exact.limits).renamed(exact.names) for f in members]
    errors = np.array([error, *(f.unseen for f in members[1:])])
    plain = np.arange(len(members)) > len(others)
    choice = Choice(whole, search.constraints.margin, search.loss)

    def mean(counts: Array) -> Tree:
        return weighed([trees[k] for k in np.flatnonzero(counts)], counts[counts > 0])

    def fits(counts: Array, new: int) -> bool:
        try:
            size = int(Forest.of([mean(counts)]).written(exact.units)[0])
        except OverflowError:
            return False
        formula = members[new]
        if size > most or choice.safe(formula) is not formula:
            return False
        return bool(plain[new]) or choice.telling(formula)

    apart = distances(trees, exact.drawn(ROWS))
    best = min(taken(errors, apart, plain, fits), key=lambda m: m.error)
    if not best.error < limit:
        return chosen
    tree = mean(best.counts)
    formula = Judge(exact, search.loss, wider=rivals.wider).formula(tree, tree)
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


def taken(
    errors: Array, apart: Array, plain: NDArray[np.bool_], fits: Callable[[Array, int], bool]
) -> Iterator[Mean]:
    """Return means of more and more formulas: always the one next that is expected to help most.

    Parameters
    ----------
    errors : array
        Squared errors that are expected of the formulas. The first one is taken first.
    apart : array
        Mean squares of their differences.
    plain : array
        Which are sums of features.
    fits : callable
        Whether a formula that is new may be taken, given what is taken then.
    """
    one = np.eye(len(errors))
    counts, refused = one[0], np.zeros(len(errors), bool)
    for _ in range(STEPS):
        while True:
            shares = (counts + one) / (counts.sum() + 1)
            expected = shares @ errors - np.einsum("ki,ij,kj->k", shares, apart, shares) / 2
            many = shares @ plain > MOST_PLAIN
            new = int(np.argmin(np.where(refused | many, np.inf, expected)))
            if counts[new] or fits(counts + one[new], new):
                break
            refused[new] = True
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
