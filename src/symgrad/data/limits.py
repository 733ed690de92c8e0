"""Targets that cannot go beyond a limit, and formulas that are kept inside.

Grades, shares, counts and whatever falls below what an instrument can tell pile up at an end of
their range. A row there does not say how far beyond the limit its features would take it, so a
formula may go on as it likes: what is predicted is the limit. Without that it has to bend, and
spends its terms on staying level where nothing more is to be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.data.counts import observations
from symgrad.language.primitive import CONSTANT
from symgrad.tree.tree import Tree

Limits = tuple[float, float]
NONE: Limits = (-np.inf, np.inf)

FEWEST, SHARE = 10, 0.02
"""Rows at an end of the target's range, and their share, from which it is taken for a limit."""


def found(y: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> Limits:
    """Return the ends of the target's range where rows pile up; infinity where they do not.

    Examples
    --------
    >>> import numpy as np
    >>> from symgrad.data.limits import found
    >>> found(np.maximum(np.linspace(-1, 9, 1001), 0.0))
    (0.0, inf)
    """
    given = np.ones(len(y)) if weights is None else weights
    ends = float(y[given > 0].min()), float(y[given > 0].max())
    at = [given[(y == end) & (given > 0)] for end in ends]
    piled = [observations(w) >= FEWEST and w.sum() >= SHARE * given.sum() for w in at]
    return (ends[0] if piled[0] else -np.inf), (ends[1] if piled[1] else np.inf)


def in_units(limits: Limits, center: float, scale: float) -> Limits:
    """Return the limits of a target that is moved and scaled."""
    return (limits[0] - center) / scale, (limits[1] - center) / scale


def seen(y: Any, p: Any, limits: Limits) -> NDArray[np.float64]:
    """Return predictions as rows can tell them: at a limit, those beyond it are as good as it."""
    y, p = np.asarray(y, np.float64), np.asarray(p, np.float64)
    beyond = ((y <= limits[0]) & (p < limits[0])) | ((y >= limits[1]) & (p > limits[1]))
    pulled: NDArray[np.float64] = np.where(beyond, y, p)
    return pulled


def told(gain: float, rows: float, share: float, nats: float) -> float:
    """Return what a gain in description length is worth, as rows at a limit tell less than others.

    How near a prediction comes can be told of a row inside. One at a limit only tells that it is
    there, so however many of these are met, that is worth no more than to say where rows are.

    Parameters
    ----------
    gain : float
        By errors alone: rows times the logarithm of how much smaller their squares are.
    rows : float
        How many there are.
    share, nats : float
        Of the rows at a limit, and for each row whether it is at one and which.
    """
    return (1 - share) * gain + min(share * gain, 2 * rows * nats)


def kept_inside(tree: Tree, values: Sequence[float] | NDArray[np.float64], limits: Limits) -> Tree:
    """Return a formula that keeps the limits which some of its values go beyond.

    Examples
    --------
    >>> from symgrad import Tree
    >>> from symgrad.data.limits import kept_inside
    >>> print(kept_inside(Tree.parse("2*x0 - 1", ["x0"]), [-1.0, 3.0], (0.0, 10.0)))
    max(2*x0 - 1, 0)
    """
    (least, greatest), (low, high) = (np.min(values), np.max(values)), limits
    for name, limit, beyond in (("min", high, greatest > high), ("max", low, least < low)):
        if beyond:
            primitives = tree.primitives
            primitives = primitives.extend(*(n for n in ("min", "max") if n not in primitives))
            code = [*tree.code, CONSTANT, primitives.functions[name]]
            tree = Tree(code, [*tree.value, limit, 0.0], primitives, tree.names)
    return tree


def let_free(tree: Tree, limits: Limits) -> Tree:
    """Return the formula without what keeps it inside the limits."""
    functions = tree.primitives.functions
    for name, limit in (("max", limits[0]), ("min", limits[1])):
        outer = tree.size > 2 and tree.code[-1] == functions.get(name, CONSTANT)
        if outer and tree.code[-2] == CONSTANT and tree.value[-2] == limit:
            tree = tree.subtree(tree.size - 3)
    return tree
