"""The chosen formula against sums of features, and with one more, on rows they are not fitted to.

Where many features have small effects, none may be worth its words, and the formula of least
description length leaves out what together matters. Sums are plain enough to be tried without a
search: whatever rows are left out, a new one is made of the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

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
"""By how much a formula's errors on left-out rows are too small, in nats of its words per row."""

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

TERMS = (1, 2, 4, 8, 12, 16, 20)
"""Of sums that means may be made of."""

SHRINKAGE = (0.0, 0.01, 0.03, 0.1, 0.3)
"""How sums are fitted; see `symgrad.search.sums.matching`."""


class Rivals:
    """Sums of features, by what they do on rows that they are not fitted to.

    Parameters
    ----------
    whole, exact : Dataset
        As the user gave it, and with the features that may be used.
    search : GuidedDGP
        What formulas may be.
    wider : Dataset, optional
        `exact` with made-up rows, if the search had some.
    bounded : bool
        Whether the user has set the size of formulas.

    Attributes
    ----------
    allowed : bool
        Whether formulas have sums and products.
    possible : bool
        Whether rows can be left out: not of very large tables, and not if there are hardly any.
    """

    def __init__(
        self,
        whole: Dataset,
        exact: Dataset,
        search: GuidedDGP,
        wider: Dataset | None,
        bounded: bool,
    ):
        self.whole, self.exact, self.wider = whole, exact, wider
        self.search, self.bounded = search, bounded
        self.largest = search.islands.max_size
        self.allowed = {"add", "mul"} <= set(search.primitives.functions)
        fits = exact.rows * exact.features <= LARGE and exact.rows >= 2 * FOLDS
        self.possible = self.allowed and fits

    @cached_property
    def alone(self) -> Tried:
        """What sums by themselves do."""
        most = (self.largest - OF_A_LINE) // OF_A_TERM
        return tried(self.exact, None, most, self.bounded)

    def formulas(self) -> list[Formula]:
        """Return sums of so many `TERMS`, no larger than formulas may be, and what they leave."""
        if not self.possible:
            return []
        exact, means, primitives = self.exact, self.alone.means, self.search.primitives
        most = min(max(TERMS), self.alone.most)
        made = matching(exact, most, SHRINKAGE)
        found = []
        for terms in TERMS:
            if terms > min(most, *(len(way.factors) for way in made)):
                break
            which = int(means[:, terms].argmin())
            if not made[which].factors[terms - 1].any():
                break
            unseen = float(means[which, terms] / means[0, 0])
            tree = made[which].tree(terms - 1, primitives, exact.names, intercept=True)
            tree = tree.renamed(self.whole.names)
            found.append(Formula(tree, unseen, 1 - unseen, 0.0, unseen=unseen))
        return found

    def made(self, base: Tree | None, terms: int, shrinkage: float) -> Formula | None:
        """Return a sum of features, added to a formula or alone, fitted to all rows."""
        exact, search = self.exact, self.search
        left, primitives = exact, search.primitives
        if base is not None:
            assert exact.y is not None
            known = base.evaluate(exact.X, dtype=np.float64)
            left = exact.with_target(exact.y - seen(exact.y, known, exact.limits))
            primitives = base.primitives
        found = sums(primitives, left, terms, shrinkage)
        if not found:  # all rows together leave nothing to explain
            return None
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
            self.wider,
            0,
        )[-1]
        if formula.constant:
            return None
        return replace(formula, tree=formula.tree.renamed(self.whole.names))

    def contest(self, chosen: Formula) -> Formula:
        """Return the chosen formula, one with a sum of features added, or such a sum alone.

        Of five parts of the rows each is predicted by what is made of the other four: sums,
        features and factors, and the formula with its constants. What predicts best is taken; the
        shape of the formula, which comes from all rows, is charged with what a search finds in
        noise. Sums make formulas no larger than the search does, unless that leaves out a lot.
        Laws are not contested.
        """
        if not self.possible or is_law(chosen, self.whole):
            return chosen
        exact, alone, worst = self.exact, self.alone.best, float(self.alone.means[0, 0])

        def made(base: Tree | None, how: HeldOut, charge: float = 1.0) -> Formula:
            formula = self.made(base, how.terms, how.shrinkage)
            return chosen if formula is None else replace(formula, unseen=charge * how.mean / worst)

        if chosen.constant:
            sure = alone.terms and alone.gain(alone.before) > CERTAIN
            return made(None, alone) if sure else chosen
        tree = let_free(chosen.tree, exact.limits).renamed(exact.names)
        room = max(0, self.largest - int(Forest.of([tree]).written(exact.units)[0]))
        most = room // OF_A_TERM
        added = tried(exact, tree, most, self.bounded, self.search.n_jobs).best
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


@dataclass(frozen=True)
class Tried:
    """What all sums do on rows that they are not fitted to.

    Attributes
    ----------
    errors : array of shape (ways of fitting, terms + 1, rows)
        Squared errors, with no term and more and more of them.
    weights : array
        Of the rows.
    most : int
        Terms of a sum of usual size. There are more only if nothing bounds them.
    """

    errors: Array
    weights: Array
    most: int

    @cached_property
    def means(self) -> Array:
        """Means of the errors."""
        return np.asarray(self.errors @ self.weights / self.weights.sum())

    @cached_property
    def best(self) -> HeldOut:
        """The best of them, of no more terms than usual unless it is much better."""
        errors, means, weights = self.errors, self.means, self.weights
        if means.min() > LONGER * means[:, : self.most + 1].min():
            errors, means = errors[:, : self.most + 1], means[:, : self.most + 1]
        which, best = np.unravel_index(means.argmin(), means.shape)
        errors, means = errors[which], means[which]
        more = errors - errors[best]
        noise = np.sqrt(more**2 @ weights / weights.sum() / len(weights))
        terms = int(np.argmax(means - means.min() <= SHORTER * noise))
        return HeldOut(terms, SHRINKAGE[which], errors[terms], errors[0], weights)


def tried(
    data: Dataset, base: Tree | None, most: int, bounded: bool, n_jobs: int | None = None
) -> Tried:
    """Return what sums do on rows that they are not fitted to, added to a formula or alone."""
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
    return Tried(errors, weights, most)


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
