"""Safe trees of the last population, for the case that the front's best are not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from symgrad.data.constants import fit_constants
from symgrad.data.dataset import Dataset
from symgrad.evolution.front import Entry
from symgrad.search.base import State
from symgrad.search.guided import GuidedDGP
from symgrad.search.prune import length
from symgrad.search.safety import box, law
from symgrad.search.sums import sums
from symgrad.tree.bounds import bounds
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

TERMS = 8
"""Most features in a sum."""

TRIED, ENOUGH = 1000, 8
"""Trees of the population that are looked at, shortest descriptions first, and that are kept."""


def shelter(state: State, data: Dataset, search: GuidedDGP) -> list[Entry]:
    """Return trees that are safe in the box of the data, if the front's best one is not.

    The front has the best tree of each size, and a single lucky one with a pole in an empty corner
    of the box leaves its mark on many sizes. The population has others that are nearly as good; if
    not, there are always sums of features.

    Parameters
    ----------
    state : State
        The last one, with errors relative to that of the best constant.
    data : Dataset
        What the trees were found on.
    search : GuidedDGP
        How they were found: by which loss, and what trees may be.
    """
    assert data.y is not None
    loss, ranges = search.loss, box(data, search.constraints.margin)
    best = min(state.front, key=lambda e: length(e, data, loss), default=None)
    if best is None or law(best.tree, best.loss, data.rows):
        return []

    def safe(trees: list[Tree]) -> Iterator[Entry]:
        if not trees:
            return
        lines = fit_constants(Forest.of(trees), data, loss=loss, steps=0)
        for tree, error in zip(trees, lines.error, strict=True):
            if bounds(tree, *ranges, 1) is not None:
                yield Entry(tree, float(error))

    if any(safe([best.tree])):
        return []
    known = np.flatnonzero(np.isfinite(state.loss)).tolist()
    trees = [Entry(state.population[t], float(state.loss[t])) for t in known]
    trees = sorted(trees, key=lambda e: length(e, data, loss))[:TRIED]
    found = list(islice(safe([e.tree for e in trees]), ENOUGH))
    if {"add", "mul"} <= set(search.primitives.functions):
        found += safe(
            [
                t
                for t in sums(best.tree.primitives, data, TERMS)
                if Forest.of([t]).written(data.units)[0] <= search.islands.max_size
            ]
        )
    return found
