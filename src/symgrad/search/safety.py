"""Whether formulas are defined where there are data, and exact ones to be believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.data.dataset import Dataset
from symgrad.tree.bounds import bounds
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

EXACT = 1e-10
"""Error, relative to the best constant's, below which a formula is taken to be the law itself."""

ROWS_PER_NUMBER = 10
"""Rows it takes for each constant, the line's two included, to believe that it is exact."""

SPLITS = 64
"""How hard it is tried to show that a tree is safe."""

Ranges = tuple[NDArray[np.float64], NDArray[np.float64]]


def box(data: Dataset, margin: float) -> Ranges:
    """Return the ranges of the features, wider by a margin in parts of each."""
    low, high = data.box
    span = margin * (high - low)
    return low - span, high + span


def is_safe(tree: Tree, ranges: Ranges) -> bool:
    """Whether a tree is shown to be defined in the whole box."""
    return bounds(tree, *ranges, SPLITS) is not None


def safe_ones(forest: Forest, ranges: Ranges) -> NDArray[np.int64]:
    """Return which trees are safe; a single look at each, so that it may miss some."""
    low, high = (np.ascontiguousarray(end, np.float64) for end in ranges)
    return np.flatnonzero(_core.defined(forest._core, low, high))


def law(tree: Tree, error: float, rows: float) -> bool:
    """Whether a tree of such an error, relative to the best constant's, is the law itself."""
    return error < EXACT and credible(tree, rows)


def credible(tree: Tree, rows: float) -> bool:
    """Whether a tree that fits so many rows exactly is a law, and not just has enough constants."""
    decimals = int(np.count_nonzero(tree.constants != np.round(tree.constants)))
    return ROWS_PER_NUMBER * (decimals + 2) <= rows
