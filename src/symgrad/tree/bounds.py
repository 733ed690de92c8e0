"""Bounds of a formula over a box of feature ranges: whether a pole can lie inside."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.language.enclosure import Enclosure
from symgrad.language.interval import Interval
from symgrad.tree.tree import Tree

Box = dict[int, Interval]


def bounds(tree: Tree, low: Any, high: Any, splits: int = 256) -> Interval | None:
    """Return an interval that holds every value of a formula, or None.

    None means that some value may be undefined or too large: a pole, a logarithm of 0. A result
    is a proof that there is none, in exact mathematics. Where a feature occurs more than once,
    the first answer may be None for no reason; the box is then cut into smaller ones.

    Parameters
    ----------
    tree : Tree
        The formula.
    low, high : array of shape (n_features,)
        The range of each feature, ends included. Only features in use are looked at.
    splits : int
        How often a box may be cut in two. Time grows with it, and with the size of the tree.

    Examples
    --------
    >>> from symgrad import Tree
    >>> from symgrad.tree.bounds import bounds
    >>> bounds(Tree.parse("1/(1 + x0*x0)"), [-3], [3])
    (0.09999999999999999, 1.0)
    >>> bounds(Tree.parse("1/x0"), [-1], [1]) is None
    True
    """
    box = _box(tree, low, high)
    enclose = Enclosure(tree.code, tree.value, tree.primitives.__getitem__)
    whole = enclose(box)
    if whole is not None:
        return whole[0] + 0.0, whole[1] + 0.0  # no -0.0
    widths = {j: width for j in sorted(enclose.repeated) if (width := _width(box[j])) > 0}
    if not widths:
        return None
    lows, highs, undecided = [], [], deque([box])
    while undecided:
        # Each box needs one cut at least. One undefined point decides.
        if len(undecided) > splits:
            return None
        splits -= 1
        box = undecided.popleft()
        middle = _middle(box)
        if enclose(middle) is None:
            return None
        j = max(widths, key=lambda j: _width(box[j]) / widths[j])
        (start, end), at = box[j], middle[j][0]
        if not start < at < end:
            return None
        for part in ((start, at), (at, end)):
            result = enclose(box | {j: part})
            if result is None:
                undecided.append(box | {j: part})
            else:
                lows.append(result[0])
                highs.append(result[1])
    return min(lows) + 0.0, max(highs) + 0.0


def _width(a: Interval) -> float:
    """Return half the width of an interval, which cannot overflow."""
    return 0.5 * a[1] - 0.5 * a[0]


def _middle(box: Box) -> Box:
    """Return the box of one point, the middle."""
    return {j: (0.5 * a + 0.5 * b,) * 2 for j, (a, b) in box.items()}


def _box(tree: Tree, low: Any, high: Any) -> Box:
    """Return the checked ranges of the features in use."""
    known = tree.names.names
    largest = max(tree.feature_indices, default=-1)
    arrays: list[NDArray[np.float64]] = []
    for name, given in (("low", low), ("high", high)):
        array = np.asarray(given, dtype=np.float64)
        if array.ndim != 1:
            raise ValueError(f"{name} must have 1 dimension, got {array.ndim}")
        if known is not None and len(array) != len(known):
            raise ValueError(
                f"{name} has {len(array)} numbers, but there are {len(known)} features"
            )
        if len(array) <= largest:
            raise ValueError(f"{name} has {len(array)} numbers, but feature {largest} is in use")
        arrays.append(array)
    if len(arrays[0]) != len(arrays[1]):
        raise ValueError(
            f"low and high must have the same length, got {len(arrays[0])} and {len(arrays[1])}"
        )
    box = {j: (float(arrays[0][j]), float(arrays[1][j])) for j in tree.feature_indices}
    for j, (start, end) in box.items():
        if not -np.inf < start <= end < np.inf:
            raise ValueError(
                f"the range of feature {tree.names[j]!r} must be finite numbers with "
                f"low <= high, got {start} and {end}"
            )
    return box
