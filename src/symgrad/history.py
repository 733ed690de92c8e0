"""How a search went: one row for each iteration."""

from __future__ import annotations

import numpy as np
import pandas as pd

from symgrad.data.dataset import Dataset
from symgrad.search.base import Search, State

COLUMNS = ("evaluations", "seconds", "error", "size")


class History:
    """Watches a search.

    Parameters
    ----------
    search : Search
        What is watched.
    data : Dataset
        The data it sees.
    rows : list of tuples, optional
        Where to take it down: a list that may hold what was before, and grows.

    Examples
    --------
    >>> import numpy as np
    >>> from symgrad import DGPRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> est = DGPRegressor(max_evaluations=2000, random_state=0).fit(X, X[:, 0] - X[:, 2])
    >>> list(est.history_.columns)
    ['evaluations', 'seconds', 'error', 'size']
    """

    def __init__(
        self,
        search: Search,
        data: Dataset,
        rows: list[tuple[int, float, float, int]] | None = None,
    ):
        assert data.y is not None
        self.rows = [] if rows is None else rows
        mean = np.average(data.y, weights=data.weights)
        variance = float(np.average((data.y - mean) ** 2, weights=data.weights))
        self.worst = 1.0 if search.scale else variance  # scaled errors are relative already

    def __call__(self, state: State) -> None:
        """Take down a state, if it has a formula."""
        best = state.front.most_accurate
        if best is not None:
            error = best.loss / self.worst
            self.rows.append((state.evaluations, state.seconds, error, best.tree.size))

    @property
    def table(self) -> pd.DataFrame:
        """Formulas scored, seconds, error of the best (1 - R2 for squares) and its size."""
        return frame(self.rows)


def frame(rows: list[tuple[int, float, float, int]]) -> pd.DataFrame:
    """Return the rows as a table."""
    types = {"evaluations": np.int64, "seconds": float, "error": float, "size": np.int64}
    table: pd.DataFrame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(types)
    return table
