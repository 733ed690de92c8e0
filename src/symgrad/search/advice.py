"""Rows made up between those of the data, with what other models expect there.

Among millions of formulas there are always some that follow the noise of the rows at hand and go
astray between them. A forest and a ridge regression make no formulas, but know what is to be
expected in between. As long as they predict rows that they have not seen better than formulas do,
the search asks them about points on the way from one row to another, and takes their answers for
rows of less weight.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from symgrad.arrays import threads
from symgrad.data.dataset import Dataset

FEWEST, MOST = 500, 1000
"""Rows that are made up: as many as there are, but no fewer and no more than that."""

ROWS = 2000
"""Rows up to which advice is asked for: more of them speak for themselves."""

NUMBERS, NUMBERS_PER_SECOND = 1_000_000, 20_000
"""Numbers in X up to which it is asked for, and for each second of the time limit."""

ALPHAS = np.logspace(-3, 5, 17)


class Advice(NamedTuple):
    """What other models say.

    Attributes
    ----------
    error : float
        Their error on rows that they have not seen, relative to that of the best constant.
    data : Dataset
        The data with made-up rows at the end.
    """

    error: float
    data: Dataset


def affordable(data: Dataset, seconds: float) -> bool:
    """Whether the table is short, and advice takes little of so many seconds."""
    numbers = data.rows * data.features
    few = numbers <= min(NUMBERS, NUMBERS_PER_SECOND * seconds)
    return few and data.rows <= ROWS and not data.sparse


def in_units_of(wider: Dataset, data: Dataset, exact: Dataset) -> Dataset:
    """Return the user's data, `exact`, with the rows that `wider` has beyond `data`."""
    assert wider.y is not None
    assert wider.weights is not None
    assert data.center is not None
    assert data.scale is not None
    made, y = slice(data.rows, None), data.target_scale * wider.y + data.target_center
    X = data.scale * np.asarray(wider.X[made], np.float64) + data.center
    return exact.extended(X, y[made], wider.weights[made])


def ask(data: Dataset, share: float, n_jobs: int | None = None) -> Advice:
    """Return the data with rows made up between them; always the same ones.

    The forest's trees predict the rows that they were not grown on, the regression those that it
    leaves out one by one; how much is made of each is found out there.

    Parameters
    ----------
    data : Dataset
        Dense, with a target that varies.
    share : float
        Weight of all made-up rows together, in parts of that of the data.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """
    from sklearn.ensemble import ExtraTreesRegressor  # here, as it takes a while

    assert data.y is not None
    weights = np.ones(data.rows) if data.weights is None else data.weights
    used = weights > 0
    X, y, weights = np.asarray(data.X[used], np.float64), data.y[used], weights[used]
    centre = np.average(y, weights=weights)
    forest = ExtraTreesRegressor(
        bootstrap=True, oob_score=True, random_state=0, n_jobs=threads(n_jobs)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows so heavy that every tree was grown on them
        forest.fit(X, y, weights)
    rows = np.arange(len(y))
    every = np.all([np.isin(rows, used) for used in forest.estimators_samples_], axis=0)
    ridge = RidgeCV(ALPHAS, scoring="neg_mean_squared_error", store_cv_results=True)
    line = make_pipeline(StandardScaler(), ridge).fit(X, y, ridgecv__sample_weight=weights)
    left_out = ridge.cv_results_[:, np.flatnonzero(ridge.alpha_ == ALPHAS)[0]]
    unseen = np.column_stack([forest.oob_prediction_, left_out]) - centre
    told = np.where(every, 0.0, weights)
    root = np.sqrt(told)
    parts = nnls(root[:, None] * unseen, root * (y - centre))[0]
    lost = (y - centre - unseen @ parts) ** 2
    error = float(told @ lost / (told @ (y - centre) ** 2))

    rng, count = np.random.default_rng(0), int(np.clip(data.rows, FEWEST, MOST))
    one, other = rng.choice(len(y), (2, count), p=weights / weights.sum())
    made = X[one] + rng.uniform(0, 0.5, (count, 1)) * (X[other] - X[one])
    forest.n_jobs = 1  # more would add up the trees in any order
    expected = np.column_stack([forest.predict(made), line.predict(made)]) - centre
    more = np.full(count, share * weights.sum() / count)
    return Advice(error, data.extended(made, centre + expected @ parts, more))
