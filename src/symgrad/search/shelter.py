"""Safe trees of the last population, for the case that the front's best are not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice

import numpy as np
from sklearn.linear_model import orthogonal_mp
from sklearn.preprocessing import scale

from symgrad.data.constants import fit_constants
from symgrad.data.dataset import BLOCK, Dataset
from symgrad.evolution.front import Entry
from symgrad.language.primitive import CONSTANT
from symgrad.search.base import State
from symgrad.search.guided import GuidedDGP
from symgrad.search.prune import length
from symgrad.search.safety import EXACT, box, credible, is_safe
from symgrad.tree.bounds import bounds
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

REACH = 100
"""How far a formula's values may lie beyond the target's range, in units of that range."""

TERMS, SCREENED = 8, 200
"""Most features in a sum, and how many are looked at, those that correlate most with the target."""

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
    if best is None or (best.loss < EXACT and credible(best.tree, data.rows)):
        return []
    if is_safe(best.tree, ranges):
        return []
    centre, reach = float(data.y.mean()), REACH * float(np.ptp(data.y))

    def safe(trees: list[Tree]) -> Iterator[Entry]:
        if not trees:
            return
        lines = fit_constants(Forest.of(trees), data, loss=loss, steps=0)
        for tree, error, *line in zip(
            trees, lines.error, lines.intercept, lines.slope, strict=True
        ):
            values = bounds(tree, *ranges, 1)
            if values is None:
                continue
            ends = line[0] + line[1] * np.array(values)
            if loss.row.log_link or np.abs(ends - centre).max() < reach:
                yield Entry(tree, float(error))

    known = np.flatnonzero(np.isfinite(state.loss)).tolist()
    trees = [Entry(state.population[t], float(state.loss[t])) for t in known]
    trees = sorted(trees, key=lambda e: length(e, data, loss))[:TRIED]
    found = list(islice(safe([e.tree for e in trees]), ENOUGH))
    if {"add", "mul"} <= set(search.primitives.functions):
        found += safe([t for t in sums(best.tree, data) if t.size <= search.islands.max_size])
    return found


def sums(like: Tree, data: Dataset) -> list[Tree]:
    """Return sums of features with their factors, of one feature up to `TERMS`."""
    assert data.y is not None
    functions = like.primitives.functions
    y, width = data.y - data.y.mean(), max(1, BLOCK // data.rows)
    parts = (data.columns(slice(j, j + width)) for j in range(0, data.features, width))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that hardly vary, or depend on each other
        near = np.concatenate([np.abs(y @ scale(part)) for part in parts])
        best = np.argsort(-near)[:SCREENED]
        columns = data.columns(best.tolist())
        terms = min(TERMS, len(best), data.rows - 1)
        path = orthogonal_mp(scale(columns), y, n_nonzero_coefs=terms, return_path=True)
    made = list[Tree]()
    for step in path.reshape(len(best), -1).T:
        code, value = list[int](), list[float]()
        for k in np.flatnonzero(step):
            more = [CONSTANT, ~int(best[k]), functions["mul"]] + [functions["add"]] * bool(code)
            code += more
            value += [float(step[k] / columns[:, k].std()), *[0.0] * (len(more) - 1)]
        if code:
            made.append(Tree(code, value, like.primitives, like.names))
    return made
