import numpy as np
import pytest
from scipy import sparse
from scipy.stats import zscore
from sklearn.linear_model import Lasso

from symgrad import Dataset, PrimitiveSet
from symgrad.search.sums import SCREENED, matching, sums

PAPER = PrimitiveSet.paper()


def table(rows=200, features=300, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 3, size=(rows, features))
    return X, 2 * X[:, 3] - X[:, -50 % features] + 5 + noise * rng.normal(size=rows)


def test_it_finds_the_terms_of_a_sum():
    X, y = table()
    found = matching(Dataset(X, y, dtype=np.float64), 5)[0]
    assert len(found.features) == SCREENED
    factors = dict(zip(found.features.tolist(), found.factors[1].tolist(), strict=True))
    assert {j: round(f, 9) for j, f in factors.items() if f} == {3: 2, 250: -1}
    np.testing.assert_allclose(found.predict(Dataset(X, dtype=np.float64))[1], y)


@pytest.mark.parametrize("make", [np.asarray, sparse.csc_matrix])
def test_every_sum_is_the_best_of_its_features(make):
    X, y = table(100, 6, noise=1.0)
    weights = np.random.default_rng(1).integers(1, 4, 100)
    found = matching(Dataset(make(X), y, weights=weights, dtype=np.float64), 6)[0]
    repeated = np.repeat(np.arange(100), weights)
    for factors, intercept in zip(found.factors, found.intercepts, strict=True):
        used = factors != 0
        columns = np.column_stack([np.ones(len(repeated)), X[repeated][:, found.features[used]]])
        best = np.linalg.lstsq(columns, y[repeated], rcond=None)[0]
        np.testing.assert_allclose([intercept, *factors[used]], best, rtol=1e-6)
    assert [int((f != 0).sum()) for f in found.factors] == [1, 2, 3, 4, 5, 6]


def test_nothing_to_explain_and_columns_that_do_not_vary():
    X, y = table(50, 5)
    assert len(matching(Dataset(X, np.zeros(50)), 3)[0].factors) == 0
    X[:, 0], X[:, 1] = 1e6, X[:, 2]
    found = matching(Dataset(X, y + X[:, 2], dtype=np.float64), 5)[0]
    assert np.isfinite(found.factors).all()
    assert not found.factors[:, 0].any()


def test_trees_are_the_sums_without_their_intercepts():
    X, y = table()
    data = Dataset(X, y, dtype=np.float64)
    trees, found = sums(PAPER, data, 3), matching(data, 3)[0]
    for tree, factors, intercept in zip(trees, found.factors, found.intercepts, strict=True):
        np.testing.assert_allclose(
            tree.evaluate(X) + intercept, X[:, found.features] @ factors + intercept, rtol=1e-5
        )
    assert [t.size for t in trees] == [3, 7, 11][: len(trees)]


def test_shrunk_sums_are_fitted_to_the_lasso_and_scaled_to_the_target():
    X, y = table(100, 30, noise=1.0)
    data = Dataset(X, y, dtype=np.float64)
    free, shrunk = matching(data, 30, [0.0, 0.1])
    lasso = Lasso(0.1 * np.abs(zscore(X).T @ (y - y.mean())).max() / 100).fit(zscore(X), y)
    used = shrunk.features[shrunk.factors[-1] != 0]
    assert set(used) == set(np.flatnonzero(lasso.coef_))
    assert len(shrunk.factors) < len(free.factors) == 30
    values = shrunk.predict(data)
    left = y - values
    np.testing.assert_allclose(left.mean(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose((left * values).mean(axis=1), 0, atol=1e-9)
    assert np.corrcoef(values[-1], lasso.predict(zscore(X)))[0, 1] > 0.999999
    assert len(matching(data, 0)[0].factors) == 0
