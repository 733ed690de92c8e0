"""From the front of a search to formulas in the user's units, and the choice among them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from symgrad.data.alike import different
from symgrad.data.between import between
from symgrad.data.complexity import LEFT_OUT, bare_length, description_length
from symgrad.data.constants import fit_constants
from symgrad.data.dataset import Dataset
from symgrad.data.evidence import evidence
from symgrad.data.left_out import left_out
from symgrad.data.limits import NONE, kept_inside, told
from symgrad.data.loss import Loss
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.front import Entry
from symgrad.language.primitive import CONSTANT
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.safety import SPLITS, box, law
from symgrad.tree.bounds import bounds
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree
from symgrad.tree.units import in_units

CHOICES = ("balanced", "accurate", "simple")

ENOUGH = 0.95
"""Share of the balanced formula's R2 that the simple one must reach."""

LARGEST_WHOLE = 10
"""Constants up to this size are rounded to whole numbers where the data allow it."""

ROUNDING = 1e-14
"""Error, relative to the best constant's, below which no decimals are kept."""

ROUNDING_ROWS = 20_000
"""Rows on which it is tried which decimals are needed."""

POLISH = 10
"""Steps of fitting constants in full precision."""

FOUND_IN_NOISE = 0.5
"""By how much a formula's errors on left-out rows are too small, in nats of its words per row.

Of the chosen one alone `symgrad.rival` takes less: of many, the best has found more.
"""

REACH = 3
"""Ranges of the target by which a formula's values may lie beyond it, somewhere in the box."""


@dataclass(frozen=True)
class Formula:
    """A formula in the user's units.

    Attributes
    ----------
    tree : Tree
        The formula.
    loss : float
        Its mean loss on the training data.
    r2 : float
        The share of the best constant's loss that it explains: R2 for squares.
    length : float
        Its description length, for squares by the errors on rows that its constants were not
        fitted to.
    words : float
        What of the description length by its errors in training is not for these.
    constant : bool
        Whether it is the best constant.
    unseen : float
        What its squared error on new rows is expected to be, in parts of the best constant's.
    """

    tree: Tree
    loss: float
    r2: float
    length: float
    words: float = 0.0
    constant: bool = False
    unseen: float = 1.0


def formulas(
    front: Iterable[Entry],
    data: Dataset,
    exact: Dataset,
    loss: Loss | None,
    constraints: Constraints | None = None,
    n_jobs: int | None = None,
    wider: Dataset | None = None,
    steps: int = POLISH,
) -> list[Formula]:
    """Return the front in the units of `exact`, from small to large.

    Constants are fitted once more, in full precision, and lose the decimals that the data do not
    support; formulas that then are no better than a smaller one go. The best constant, which needs
    no formula, comes first. Trees that stand for themselves all stay.

    Parameters
    ----------
    front : Front, or list of Entry
        Trees found on `data`.
    data, exact : Dataset
        What was searched, and the same as the user gave it.
    loss : Loss, optional
        By what lines through trees were judged; None if trees stand for themselves, by squares.
    constraints : Constraints, optional
        What formulas must keep to in the end, too.
    n_jobs : int, optional
        Number of threads.
    wider : Dataset, optional
        `exact` with made-up rows, if the search had some: constants are fitted to these, too, and
        lengths told by them.
    steps : int
        Steps of fitting constants.
    """
    constraints = constraints or Constraints()
    judge = Judge(exact, loss or Loss(), fitted=loss is not None, wider=wider)
    if loss is None:
        found = []
        for entry in front:
            tree = entry.tree
            with contextlib.suppress(OverflowError):
                plain = tree if data.center is None else in_units(tree, data.center, data.scale)
                formula = judge.formula(plain, tree)
                found += [formula] if formula is not None else []
        found = found or [judge.constant(e.tree.primitives for e in front)]
        return sorted(found, key=lambda f: (f.tree.size, f.loss))
    trees, lifted = [], []
    for entry in front:
        with contextlib.suppress(OverflowError):
            lifted.append(in_units(entry.tree, data.center, data.scale))
            trees.append(entry.tree)
    found = [judge.constant(t.primitives for t in lifted)]
    if lifted:
        fitted = fit_constants(
            Forest.of(lifted), wider or exact, loss=loss, steps=steps, dtype=np.float64,
            n_jobs=n_jobs,
        )  # fmt: skip
        for k, tree in enumerate(fitted.forest):
            if not np.isfinite(fitted.error[k]):
                continue
            with contextlib.suppress(OverflowError):
                line = in_units(tree, None, None, fitted.slope[k], fitted.intercept[k]).simplify()
                rounded = judge.rounded(line)
                formula = judge.formula(rounded, trees[k]) or judge.formula(line, trees[k])
                if formula is not None and constraints.allow(formula.tree, exact.X):
                    found.append(formula)
    return by_size(found)


def by_size(found: list[Formula]) -> list[Formula]:
    """Return the formulas, from small to large, that are better than all smaller ones."""
    kept: list[Formula] = []
    for f in sorted(found, key=lambda f: (f.tree.size, f.loss)):
        if not kept or f.loss < kept[-1].loss:
            kept.append(f)
    return kept


class Judge:
    """Losses and lengths of formulas on data; a log link's exponential is not part of trees."""

    def __init__(
        self, data: Dataset, loss: Loss, fitted: bool = True, wider: Dataset | None = None
    ):
        assert data.y is not None
        self.fitted, self.left_out = fitted, fitted and loss.name == "squared"
        self.data, self.loss, self.wider = data, loss, wider
        self.rows, self.few = data.observations, data.drawn(ROUNDING_ROWS)
        self.best_constant, self.worst = self.level(data)
        self.different = different(data) if self.left_out else data.features
        self.worst_seen = self.worst if wider is None else self.level(wider)[1]

    def level(self, data: Dataset) -> tuple[float, float]:
        """Return the best constant, and its mean loss."""
        one = Forest([CONSTANT], [0.0], [0, 1], None, data.names)
        best = fit_constants(one, data, loss=self.loss, steps=0, dtype=np.float64)
        constant = float(best.intercept[0])
        return constant, float(self.mean(np.full((1, data.rows), constant), data)[0])

    def mean(self, predictions: NDArray[np.float64], data: Dataset) -> NDArray[np.float64]:
        """Return the mean loss of each row of predictions; infinite if one is not finite."""
        assert data.y is not None
        with np.errstate(invalid="ignore"):
            losses = self.loss.of(data.y, predictions, data.limits)
        mean = np.average(losses, axis=1, weights=data.weights)
        return np.where(np.isfinite(predictions).all(axis=1) & np.isfinite(mean), mean, np.inf)

    def of(self, forest: Forest, data: Dataset) -> NDArray[np.float64]:
        """Return the mean loss of each tree."""
        return self.mean(forest.evaluate(data.X, dtype=np.float64), data)

    def formula(self, tree: Tree, found: Tree) -> Formula | None:
        """Return a tree, linked, with its loss and length; None if it is not finite."""
        if self.data.limits != NONE:
            values = tree.evaluate(self.data.X, dtype=np.float64)
            tree = kept_inside(tree, values, self.data.limits)
        mean = float(self.of(Forest.of([tree]), self.data)[0])
        if not np.isfinite(mean):
            return None
        rows, features = self.rows, self.data.features
        words = description_length(found, 0.0, rows, features)
        fit = self.loss.length(mean, self.worst, rows)
        length = words + fit if self.fitted else bare_length(found, fit, rows, features)
        if self.left_out:
            if not law(tree, mean / self.worst, rows):
                fit = self.loss.length(self.unseen(tree, mean), self.worst_seen, rows)
                fit = -told(-fit, rows, *self.data.at_limits)
            length = description_length(found, fit, rows, self.different, LEFT_OUT)
        unseen = math.exp(min(fit + FOUND_IN_NOISE * words, 0.0) / rows)
        return Formula(self.linked(tree), mean, 1 - mean / self.worst, length, words, unseen=unseen)

    def unseen(self, tree: Tree, mean: float) -> float:
        """Return the mean squared error on rows that are left out, or lie between others.

        It is made of that in training, which is given.
        """
        rough = between(tree, self.data)
        if self.wider is None:
            return mean * left_out(tree, self.few, self.data.rows) + rough
        known = float(self.of(Forest.of([tree]), self.wider)[0])
        return known * left_out(tree, self.wider) + rough

    def constant(self, primitives: Iterable[PrimitiveSet]) -> Formula:
        """Return the best constant."""
        tree = Tree([CONSTANT], [self.best_constant], next(iter(primitives), None), self.data.names)
        length = description_length(tree, 0.0, self.rows, self.data.features)
        return Formula(self.linked(tree), self.worst, 0.0, length, constant=True)

    def linked(self, tree: Tree) -> Tree:
        """Return what is predicted."""
        if not self.loss.row.log_link:
            return tree
        primitives = tree.primitives
        primitives = primitives if "exp" in primitives else primitives.extend("exp")
        code = [*tree.code, primitives.functions["exp"]]
        return Tree(code, [*tree.value, 0.0], primitives, tree.names).simplify()

    def rounded(self, tree: Tree) -> Tree:
        """Return the tree with whole numbers for the constants that do not need their decimals.

        Constants become the nearest whole numbers, all at once or those first that matter least,
        as long as the errors take no more than ln n longer to describe: what a single constant
        costs.
        """

        def length(mean: float) -> float:
            return self.loss.length(max(mean, ROUNDING * self.worst), self.worst, self.rows)

        limit = length(float(self.of(Forest.of([tree]), self.few)[0])) + np.log(self.rows)
        while True:
            whole = np.round(tree.value)
            spots = np.flatnonzero((tree.value != whole) & (np.abs(whole) <= LARGEST_WHOLE))
            if not spots.size:
                return tree
            count = len(spots) + 1  # each by itself, and all
            values = np.tile(tree.value, (count, 1))
            values[np.arange(count - 1), spots] = whole[spots]
            values[-1, spots] = whole[spots]
            tried = Forest(
                np.tile(tree.code, count),
                values.ravel(),
                np.arange(count + 1) * tree.size,
                tree.primitives,
                tree.names,
            )
            means = self.of(tried, self.few)
            best = count - 1 if length(float(means[-1])) <= limit else int(np.argmin(means))
            if not length(float(means[best])) <= limit:
                return tree
            tree = tried[best].simplify()


class Choice:
    """What speaks against a formula, whatever its length.

    A formula is safe if interval arithmetic shows it to be defined in the whole box that the
    data spans, not only at its rows. Where its values may be further from the target's range than
    `REACH` times that range, as in an empty corner of the box, they are kept inside the range; the
    formula says so. A formula that is `EXACT`, with ten rows and more for each of its constants,
    may have its poles.

    Of the squared loss a few rows can make up most. A formula that explains these alone is taken
    to be found by chance, however large its R2: its `evidence` must be worth its words.

    Parameters
    ----------
    data : Dataset
        The training data.
    margin : float
        How far the box reaches beyond the data, in parts of each feature's range.
    loss : Loss, optional
        What was minimised, if lengths are to be trusted.
    """

    def __init__(self, data: Dataset, margin: float = 0.0, loss: Loss | None = None):
        self.data, self.loss, self.ranges = data, loss, box(data, margin)

    def first(self, order: list[Formula], by_chance: bool = False) -> Formula:
        """Return the first that nothing speaks against, or else the first as it is."""
        for formula in order:
            kept = formula if formula.constant else self.safe(formula)
            if kept is not None and (kept.constant or by_chance or self.telling(kept)):
                return kept
        return order[0]

    def safe(self, formula: Formula) -> Formula | None:
        """Return a formula, kept inside the target's range if need be; None if it is not safe."""
        data, loss = self.data, self.loss
        assert data.y is not None
        if is_law(formula, data):
            return formula
        values = bounds(formula.tree, *self.ranges, SPLITS)
        if values is None:
            return None
        y = data.y
        low, high, reach = float(y.min()), float(y.max()), REACH * float(np.ptp(y))
        far = values[0] < low - reach, values[1] > high + reach
        if not any(far):
            return formula
        if loss is None:
            return None
        limits = (low if far[0] else -np.inf), (high if far[1] else np.inf)
        tree = kept_inside(formula.tree, values, limits)
        predictions = tree.evaluate(data.X, dtype=np.float64)
        if loss.row.log_link:
            with np.errstate(divide="ignore"):
                predictions = np.log(predictions)
        mean = float(np.average(loss.of(y, predictions), weights=data.weights))
        less = mean / formula.loss if formula.loss else 1.0
        return replace(formula, tree=tree, loss=mean, r2=1 - (1 - formula.r2) * less)

    def telling(self, formula: Formula) -> bool:
        """Whether a formula says more than what a few extreme rows do by chance."""
        data = self.data
        assert data.y is not None
        if self.loss is None or self.loss.name != "squared":
            return True
        needed = formula.words - float(np.log(data.observations))
        values = formula.tree.evaluate(data.X, dtype=np.float64)
        gain = evidence(values, data.y, data.weights, np.inf if data.at_limits[0] else needed)
        return told(gain, data.observations, *data.at_limits) >= needed


def choose(
    found: list[Formula], how: str, data: Dataset, margin: float = 0.0, loss: Loss | None = None
) -> Formula:
    """Return the formula that becomes the model: the first that nothing speaks against.

    Parameters
    ----------
    found : list of Formula
        The front.
    how : {"balanced", "accurate", "simple"}
        Least description length; least error, by chance or not; or the smallest that explains
        `ENOUGH` of what the balanced one does.
    data, margin, loss
        See `Choice`.
    """
    choice = Choice(data, margin, loss)
    if how == "accurate":
        return choice.first(sorted(found, key=lambda f: (f.loss, f.tree.size)), by_chance=True)
    balanced = choice.first(sorted(found, key=lambda f: f.length))
    if how == "balanced":
        return balanced
    return choice.first(
        sorted((f for f in found if f.r2 >= ENOUGH * balanced.r2), key=lambda f: f.tree.size)
    )


def is_law(formula: Formula, data: Dataset) -> bool:
    """Whether a formula is exact, and there are rows enough to tell."""
    return law(formula.tree, 1 - formula.r2, data.observations)
