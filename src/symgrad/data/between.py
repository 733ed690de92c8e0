"""What a formula does between neighbouring rows that neither of them shows.

The sine of a thousand times a feature can say anything of any row, and errors on rows that are left
out do not tell: one constant, or none, says it all. But between a row and its neighbour such a
formula goes up and down, where one that bends as the data do lies close to a straight line, the
closer, the shorter the way. What it says of new rows there is as far off.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.stats import rankdata

from symgrad.data.dataset import Dataset
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

ROWS = 2000
"""Rows up to which formulas are looked at: neighbours of many say enough."""

STARTS, NEIGHBOURS = 250, 3
"""Most rows to start from, and the neighbours of each."""

REPEATED = 5
"""Rows for each value of a feature from which it stays as it is: nothing lies in between."""


def between(tree: Tree, data: Dataset) -> float:
    """Return the mean square of how far a formula is from straight on the way to neighbours.

    Rows are neighbours if the features of the formula have nearly the same ranks. Of each way the
    first half is looked at, its middle against its two ends: a parabola bends there by a quarter of
    what it does on the whole way, and a formula that goes up and down as much as anywhere. Values
    further from the target's range than that is wide count as so far off. Features with many rows
    for each of their values, such as codes of categories, stay as they are.

    Parameters
    ----------
    tree : Tree
        The formula.
    data : Dataset
        What it was fitted to; 0 for more than `ROWS` rows.

    Examples
    --------
    >>> import numpy as np
    >>> from symgrad import Dataset, Tree
    >>> from symgrad.data.between import between
    >>> x = np.random.default_rng(0).uniform(0, 3, 100)
    >>> data = Dataset(x[:, None], np.sin(x))
    >>> print(f"{between(Tree.parse('sin(x0)'), data):.3f}")
    0.000
    >>> print(f"{between(Tree.parse('sin(1000*x0)'), data):.2f}")
    0.82
    """
    forest = Forest.of([tree])
    own, weights = forest.feature_indices.tolist(), data.weights
    used = np.arange(data.rows) if weights is None else np.flatnonzero(weights > 0)
    if not NEIGHBOURS < len(used) <= ROWS or not own:
        return 0.0
    assert data.y is not None
    forest, columns, y = forest.narrow(), data.columns(own)[used], data.y[used]
    places = rankdata(columns, axis=0)
    starts = np.random.default_rng(0).permutation(len(used))[:STARTS]
    others = KDTree(places).query(places[starts], NEIGHBOURS + 1)[1][:, 1:].T.ravel()
    starts = np.tile(starts, NEIGHBOURS)
    way, low, high = columns[others] - columns[starts], y.min(), y.max()
    way[:, [len(np.unique(column)) * REPEATED <= len(used) for column in columns.T]] = 0

    def at(part: float) -> NDArray[np.float64]:
        values = forest.evaluate(columns[starts] + part * way, 1, dtype=np.float64)[0]
        return np.clip(np.where(np.isnan(values), np.inf, values), 2 * low - high, 2 * high - low)

    off = at(0.25) - (at(0) + at(0.5)) / 2
    return float(np.average(off**2, weights=None if weights is None else weights[used][starts]))
