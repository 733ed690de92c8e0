"""The chosen formula against sums of features, and with one more, on rows they are not fitted to.

Where many features have small effects, none may be worth its words, and the formula of least
description length leaves out what together matters. Sums are plain enough to be tried without a
search: whatever rows are left out, a new one is made of the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from symgrad.data.dataset import Dataset
from symgrad.data.limits import let_free, seen
from symgrad.data.loss import Loss
from symgrad.evolution.front import Entry
from symgrad.model import Formula, formulas, is_law
from symgrad.search.guided import GuidedDGP
from symgrad.search.sums import matching, sums
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree
from symgrad.validation import FOLDS, folds, narrow, predicted

Array = NDArray[np.float64]
LARGE = 20_000_000
"""Numbers in X from which there is no contest."""

FOUND_IN_NOISE = 0.4
"""By how much the chosen formula's errors on left-out rows are too small, in nats of its words
per row."""

SURE = 1.5
"""Standard errors by which a formula must be better with a sum, or a sum alone than a formula."""

CERTAIN = 4.0
"""Standard errors by which it must be better than the best constant."""

SHORTER = 1.0
"""A shorter sum is taken if its errors are larger by less than so many standard errors."""

LONGEST = 60
"""Most terms of a sum, where nothing bounds the size of formulas."""

LONGER = 0.95
"""Part of the errors of a sum of usual size that a longer one may have left."""

OF_A_TERM, OF_A_LINE = 3, 2
"""Nodes of a feature with its factor, and of the sum that it stands in, with the number added."""

SHRINKAGE = (0.0, 0.01, 0.03, 0.1, 0.3)
"""How sums are fitted; see `symgrad.search.sums.matching`."""


def contest(
    chosen: Formula,
    whole: Dataset,
    exact: Dataset,
    search: GuidedDGP,
    wider: Dataset | None,
    bounded: bool,
) -> Formula:
    """Return the chosen formula, one with a sum of features added, or such a sum alone.

    Of five parts of the rows each is predicted by what is made of the other four: sums, features
    and factors, and the formula with its constants. What predicts best is taken; the shape of the
    formula, which comes from all rows, is charged with what a search finds in noise. Sums make
    formulas no larger than the search does, unless that leaves out a lot. Laws, and losses other
    than squares, are not contested.

    Parameters
    ----------
    chosen : Formula
        In the units of `whole`.
    whole, exact : Dataset
        As the user gave it, and with the features that may be used.
    search : GuidedDGP
        What formulas may be.
    wider : Dataset, optional
        `exact` with made-up rows, if the search had some.
    bounded : bool
        Whether the user has set the size of formulas.
    """
    largest, has_sums = search.islands.max_size, {"add", "mul"} <= set(search.primitives.functions)
    if is_law(chosen, whole) or search.loss.name != "squared" or not has_sums:
        return chosen
    if exact.rows * exact.features > LARGE or exact.rows < 2 * FOLDS:
        return chosen
    tree = let_free(chosen.tree, exact.limits).renamed(exact.names)
    alone = held_out(exact, None, (largest - OF_A_LINE) // OF_A_TERM, bounded)
    worst = float(np.average(alone.before, weights=alone.weights))

    def made(base: Tree | None, how: HeldOut, charge: float = 1.0) -> Formula:
        left, primitives = exact, search.primitives
        if base is not None:
            assert exact.y is not None
            known = base.evaluate(exact.X, dtype=np.float64)
            left = exact.with_target(exact.y - seen(exact.y, known, exact.limits))
            primitives = base.primitives
        found = sums(primitives, left, how.terms, how.shrinkage)
        if not found:  # all rows together leave nothing to explain
            return chosen
        more = found[-1]
        if base is not None:
            code = [*base.code, *more.code, base.primitives.functions["add"]]
            more = Tree(code, [*base.value, *more.value, 0.0], base.primitives, base.names)
        formula = formulas(
            [Entry(more, 0.0)],
            exact,
            exact,
            search.loss,
            search.constraints,
            search.n_jobs,
            wider,
            0,
        )[-1]
        if formula.constant:
            return chosen
        unseen = charge * how.mean / worst
        return replace(formula, tree=formula.tree.renamed(whole.names), unseen=unseen)

    if chosen.constant:
        return made(None, alone) if alone.terms and alone.gain(alone.before) > CERTAIN else chosen
    room = max(0, largest - int(Forest.of([tree]).written(exact.units)[0]))
    added = held_out(exact, tree, room // OF_A_TERM, bounded, search.n_jobs)
    pays = added.terms and added.gain(added.before) > SURE
    own = added.errors if pays else added.before
    charge = math.exp(FOUND_IN_NOISE * chosen.words / exact.observations)
    if alone.terms and alone.gain(charge * own) > SURE:
        formula = made(None, alone)
        if alone.gain(own) > SURE or set(formula.tree.features) != set(chosen.tree.features):
            return formula
    return made(tree, added, charge) if pays else chosen


@dataclass(frozen=True)
class HeldOut:
    """What sums do on rows that they are not fitted to.

    Attributes
    ----------
    terms : int
        How many are needed.
    shrinkage : float
        How they are fitted.
    errors, before : array
        Squared errors by row, with these terms and with none.
    weights : array
        Of the rows.
    """

    terms: int
    shrinkage: float
    errors: Array
    before: Array
    weights: Array

    @property
    def mean(self) -> float:
        """The mean of the errors."""
        return float(np.average(self.errors, weights=self.weights))

    def gain(self, others: Array) -> float:
        """Return how much smaller the errors are than others, in standard errors of that."""
        more = others - self.errors
        mean = self.weights @ more / self.weights.sum()
        noise = np.sqrt(self.weights @ (more - mean) ** 2 / self.weights.sum() / len(more))
        return float(mean / noise) if noise > 0 else 0.0


def held_out(
    data: Dataset, base: Tree | None, most: int, bounded: bool, n_jobs: int | None = None
) -> HeldOut:
    """Return what sums do best on rows that they are not fitted to, added to a formula or alone.

    There are more terms than `most` only if nothing bounds them, and these do much better.
    """
    longest = most if bounded else max(most, LONGEST)
    rows, fold = folds(data)
    data = data.subset(rows)
    assert data.y is not None
    weights = np.ones(data.rows) if data.weights is None else data.weights
    errors = np.zeros((len(SHRINKAGE), longest + 1, data.rows))
    for k in range(FOLDS):
        held = fold == k
        rest = data.with_weights(np.where(held, 0.0, weights))
        known = explained(base, rest, n_jobs)
        left = data.y - seen(data.y, known, data.limits)
        found = matching(rest.with_target(left), longest, SHRINKAGE)
        for how, made in zip(errors, found, strict=True):
            values = np.concatenate([known[None], known + made.predict(data)])
            lost = (np.clip(values, *data.limits) - data.y) ** 2
            how[:, held] = np.pad(lost[:, held], ((0, longest + 1 - len(lost)), (0, 0)), "edge")
    means = errors @ weights / weights.sum()
    if means.min() > LONGER * means[:, : most + 1].min():
        errors, means = errors[:, : most + 1], means[:, : most + 1]
    which, best = np.unravel_index(means.argmin(), means.shape)
    errors, means = errors[which], means[which]
    more = errors - errors[best]
    noise = np.sqrt(more**2 @ weights / weights.sum() / data.rows)
    terms = int(np.argmax(means - means.min() <= SHORTER * noise))
    return HeldOut(terms, SHRINKAGE[which], errors[terms], errors[0], weights)


def explained(base: Tree | None, data: Dataset, n_jobs: int | None) -> Array:
    """Return what a formula says of all rows, fitted to those of weight; None is their mean."""
    assert data.y is not None
    assert data.weights is not None
    mean = float(np.average(data.y, weights=data.weights))
    if base is None:
        return np.full(data.rows, mean)
    forest, X = narrow(Forest.of([base]), data, np.arange(data.rows))
    used = data.weights > 0
    part = Dataset(X[used], data.y[used], weights=data.weights[used], dtype=np.float64)
    values = predicted(forest, part.with_limits(data.limits), X, Loss(), n_jobs)[0]
    with np.errstate(over="ignore"):
        return np.where(np.isfinite(values**2), values, mean)
