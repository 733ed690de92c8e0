"""From the front of a search to formulas in the user's units, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from symgrad.data.complexity import description_length
from symgrad.data.dataset import Dataset
from symgrad.data.evaluate import score
from symgrad.evolution.front import Front
from symgrad.language.primitive import CONSTANT
from symgrad.tree.bounds import bounds
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree
from symgrad.tree.units import in_units

ENOUGH = 0.95
"""Share of the balanced formula's R2 that the simple one must reach."""

EXACT = 1e-10
"""Error, relative to the variance of y, below which a formula is taken to be the law itself."""

LARGEST_WHOLE = 10
"""Constants up to this size are rounded to whole numbers where the data allow it."""

ROUNDING = 1e-14
"""Error, relative to the variance of y, below which no decimals are kept."""

REACH = 100
"""How far a formula's values may lie beyond the target's range, in units of that range."""


@dataclass(frozen=True)
class Formula:
    """A formula in the user's units, with its error and length."""

    tree: Tree
    loss: float
    r2: float
    length: float
    valid: bool = True


def formulas(front: Front, data: Dataset, exact: Dataset, scale: bool) -> list[Formula]:
    """Return the front in the units of `exact`, from small to large, each better than all before.

    The mean of y, which needs no formula, comes first where lines are allowed.

    Parameters
    ----------
    front : Front
        Trees found on `data`.
    data, exact : Dataset
        What was searched, and the same as the user gave it.
    scale : bool
        Whether a tree stands for the best line through it.
    """
    assert exact.y is not None
    rows = float(exact.rows)
    if exact.weights is not None:
        rows = float(exact.weights.sum() ** 2 / np.square(exact.weights).sum())
    found = [f for e in front if (f := _formula(e.tree, data, exact, scale, rows)) is not None]
    mean = float(np.average(exact.y, weights=exact.weights))
    if scale or not found:
        primitives = found[0].tree.primitives if found else None
        tree = Tree([CONSTANT], [mean], primitives, exact.names)
        loss = float(np.average((exact.y - mean) ** 2, weights=exact.weights))
        length = description_length(tree, 1.0, rows, exact.features)
        found.append(Formula(tree, loss, 0.0, length, valid=scale))
    found.sort(key=lambda f: (f.tree.size, f.loss))
    kept: list[Formula] = []
    for f in found:
        if not kept or f.loss < kept[-1].loss:
            kept.append(f)
    return kept


def _formula(tree: Tree, data: Dataset, exact: Dataset, scale: bool, rows: float) -> Formula | None:
    try:
        plain = in_units(tree, data.center, data.scale) if scale else tree
        scores = score(Forest.of([plain]), exact, scale=scale)
        if not scores.valid[0]:
            return None
        if scale:
            line = float(scores.slope[0]), float(scores.intercept[0])
            plain = in_units(tree, data.center, data.scale, *line)
    except OverflowError:
        return None
    length = description_length(tree, 1 - float(scores.r2[0]), rows, exact.features)
    plain, loss = rounded(plain.simplify(), exact, rows) if scale else (plain, scores.mse[0])
    return Formula(plain, float(loss), 1 - float(loss) / variance(exact), length)


def variance(data: Dataset) -> float:
    """Return the weighted variance of the target."""
    assert data.y is not None
    mean = np.average(data.y, weights=data.weights)
    return float(np.average((data.y - mean) ** 2, weights=data.weights))


def rounded(tree: Tree, data: Dataset, rows: float) -> tuple[Tree, float]:
    """Return the formula with whole numbers for the constants that do not need their decimals.

    A constant becomes the nearest whole number if the data are described no worse, counting half
    a log of the number of rows for each number that is spared. Also returns the error.
    """
    loss = float(score(Forest.of([tree]), data, scale=False).mse[0])
    floor = ROUNDING * variance(data)
    while True:
        whole = np.round(tree.value)
        spots = np.flatnonzero((tree.value != whole) & (np.abs(whole) <= LARGEST_WHOLE))
        if not spots.size:
            return tree, loss
        values = np.tile(tree.value, (len(spots), 1))
        values[np.arange(len(spots)), spots] = whole[spots]
        offset = np.arange(len(spots) + 1) * tree.size
        tried = Forest(np.tile(tree.code, len(spots)), values.ravel(), offset, tree.primitives,
                       tree.names)  # fmt: skip
        losses = score(tried, data, scale=False).mse
        best = int(np.argmin(losses))
        if not rows * np.log(max(losses[best], floor) / max(loss, floor)) <= np.log(rows):
            return tree, loss
        tree = tried[best].simplify()
        loss = float(score(Forest.of([tree]), data, scale=False).mse[0])


def choose(found: list[Formula], how: str, data: Dataset, margin: float = 0.0) -> Formula:
    """Return the formula that becomes the model: the first choice that is safe.

    A formula is safe if interval arithmetic shows it to be defined in the whole box that the
    data spans, not only at its rows, and its values there to be no further from the target's
    range than `REACH` times that range: spikes that catch a single row are not. A formula that is
    `EXACT` may have its poles. If none is safe, the first choice is taken as it is.

    Parameters
    ----------
    found : list of Formula
        The front.
    how : {"balanced", "accurate", "simple"}
        Least description length, least error, or the smallest that explains `ENOUGH` of what
        the balanced one does.
    data : Dataset
        The training data.
    margin : float
        How far the box reaches beyond the data, in parts of each feature's range.
    """
    order = CHOICES[how](found)
    low, high = data.X.min(axis=0).astype(float), data.X.max(axis=0).astype(float)
    span = margin * (high - low)

    def safe(formula: Formula) -> bool:
        assert data.y is not None
        if 1 - formula.r2 < EXACT:
            return True
        values = bounds(formula.tree, low - span, high + span)
        reach = REACH * np.ptp(data.y)
        return (
            values is not None
            and values[0] >= data.y.min() - reach
            and values[1] <= data.y.max() + reach
        )

    return next((f for f in order if safe(f)), order[0])


def _balanced(found: list[Formula]) -> list[Formula]:
    return sorted(found, key=lambda f: f.length)


def _accurate(found: list[Formula]) -> list[Formula]:
    return sorted(found, key=lambda f: (f.loss, f.tree.size))


def _simple(found: list[Formula]) -> list[Formula]:
    balanced = _balanced(found)
    enough = [f for f in found if f.r2 >= ENOUGH * balanced[0].r2]
    return sorted(enough, key=lambda f: f.tree.size) + balanced


CHOICES: dict[str, Callable[[list[Formula]], list[Formula]]] = {
    "balanced": _balanced,
    "accurate": _accurate,
    "simple": _simple,
}
