import numpy as np
import pytest

from symgrad import Dataset, Tree, places
from symgrad.data.loss import Loss
from symgrad.places import Places


def make(text, X, y, loss=None, weights=None):
    data = Dataset(X, y, weights=weights, dtype=np.float64)
    return Places(Tree.parse(text, data.names), data, loss or Loss(), None)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 7))


@pytest.mark.parametrize("weighted", [False, True])
def test_correlations_are_those_of_numpy_in_any_blocks(table, weighted, monkeypatch):
    weights = np.random.default_rng(1).integers(1, 4, size=80) if weighted else np.ones(80, int)
    at = make("x1*x4", table, table[:, 0], weights=weights if weighted else None)
    whole = at.near(1e-9)
    monkeypatch.setattr(places, "BLOCK", 2 * 80)
    assert [len(n) for n in whole] == [6, 6]
    for near, again in zip(whole, at.near(1e-9), strict=True):
        np.testing.assert_allclose(near, again)
    expected = np.corrcoef(np.repeat(table, weights, axis=0).T)
    for feature, near in zip((1, 4), whole, strict=True):
        for n in near:
            assert n.correlation == pytest.approx(expected[feature, n.column])


def test_constant_columns_are_near_nothing(table):
    table[:, 3] = 1e6
    assert all(n.column != 3 for n in make("x1", table, table[:, 1]).near(1e-9)[0])
    assert make("x3 + x1", table, table[:, 1]).near(0.5) == [[], []]


def test_a_column_passes_by_correlation_and_by_accuracy(table):
    table[:, 5] = 100 - 7 * table[:, 1] + 0.01 * table[:, 6]  # another unit
    table[:, 6] = table[:, 1] + 0.4 * table[:, 3]
    y = np.sin(table[:, 1]) * table[:, 2]
    at = make("sin(x1)*x2", table, y)
    assert at.exchangeable(0.9, 0.02) == {1: [5], 2: []}
    assert at.exchangeable(0.9, 1.0) == {1: [5, 6], 2: []}
    assert at.exchangeable(0.99999, 1.0) == {1: [5], 2: []}


def test_no_more_columns_are_tried_than_allowed(table, monkeypatch):
    near = table[:, [1]] + np.linspace(0.01, 0.1, 6) * table[:, [0]]
    X = np.column_stack([table, near])
    at = make("x1 + x2", X, X[:, 1] + X[:, 2])
    assert at.exchangeable(0.9, 0.1)[1] == [7, 8, 9, 10, 11, 12]
    monkeypatch.setattr(places, "MOST_TRIED", 4)
    monkeypatch.setattr(places, "BLOCK", 3 * 80)
    assert at.exchangeable(0.9, 0.1)[1] == [7, 8, 9, 10]


def test_what_is_undefined_at_the_mean_loses_all(table):
    table[:, 1] = np.tile([1.0, -1.0], 40)  # 1/x1 has its pole at the mean
    drops = make("x0/x1", table, table[:, 0] / table[:, 1]).drops()
    assert drops[1] == pytest.approx(1)


def test_a_log_link_is_taken_off(table):
    y = np.exp(table[:, 1])
    for text in ("exp(x1)", "exp(x1)*1"):
        at = make(text, table, y, Loss("poisson"))
        assert at.refitted([], [])[0] == pytest.approx(1)
        np.testing.assert_allclose(at.tree.evaluate(table), table[:, 1])
