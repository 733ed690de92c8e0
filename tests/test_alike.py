import numpy as np
import pytest

from symgrad import Dataset
from symgrad.data import alike
from symgrad.data.alike import different


def table(rows=200, blocks=6, copies=5, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(rows, blocks)), copies, axis=1)
    return X + noise * rng.normal(size=X.shape)


def test_features_of_their_own_are_all_different():
    X = np.random.default_rng(0).normal(size=(60, 40))
    assert different(Dataset(X)) == pytest.approx(40)


@pytest.mark.parametrize(("noise", "count"), [(0.0, 6), (0.05, 6), (1.0, 30)])
def test_those_that_correlate_count_as_one(noise, count):
    X = table(noise=noise) * np.linspace(-3, 8, 30) + 100  # units and signs do not matter
    assert different(Dataset(X)) == pytest.approx(count)


def test_columns_that_do_not_vary_are_alike_to_none():
    assert different(Dataset(np.column_stack([table(), np.ones((200, 2))]))) == pytest.approx(8)


def test_rows_without_weight_say_nothing():
    X, weights = table(), np.ones(200)
    X[:20] = np.random.default_rng(1).normal(size=(20, 30))
    weights[:20] = 0
    assert different(Dataset(X)) > 20
    assert different(Dataset(X, weights=weights)) == pytest.approx(6)


def test_large_and_sparse_tables_are_told_by_a_part(monkeypatch):
    import scipy.sparse

    X = table(rows=3000, blocks=20, copies=10)
    assert different(Dataset(scipy.sparse.csc_array(X))) == pytest.approx(20)
    monkeypatch.setattr(alike, "WORK", 1000 * 200 * 15)
    assert different(Dataset(X)) == pytest.approx(20)
