import numpy as np
import pytest

from symgrad import Dataset, DGPRegressor
from symgrad.data.counts import merge_rows, observations


def test_equal_rows_are_merged_in_sorted_order():
    X = np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    y = np.array([5.0, 3.0, 5.0, 3.0, 4.0])
    rows, target, weights = merge_rows(X, y, None)
    assert rows.tolist() == [[0, 1], [0, 1], [2, 1]]
    assert target.tolist() == [3, 4, 5]
    assert weights.tolist() == [2, 1, 2]
    rows, target, weights = merge_rows(X, y, np.array([1.0, 0.0, 0.5, 0.25, 0.0]))
    assert (target.tolist(), weights.tolist()) == ([3, 5], [0.25, 1.5])
    assert merge_rows(X[:2], y[:2], None)[2] is None


@pytest.mark.parametrize(
    ("weights", "count"),
    [
        ([1, 1, 1, 1], 4),
        ([1, 2, 3, 0], 6),  # counts
        ([2, 2, 2, 2], 4),  # no 1 among them: all the same
        ([0.5, 0.5, 1], 8 / 3),
        ([1, 1, 2.5], 4.5**2 / 8.25),
    ],
)
def test_whole_weights_are_counts_and_others_leave_fewer(weights, count):
    weights = np.array(weights, float)
    assert observations(weights) == pytest.approx(count)
    data = Dataset(np.ones((len(weights), 1)), weights, weights=weights)
    assert data.observations == pytest.approx(count)
    assert Dataset(np.ones((3, 1))).observations == 3


def test_a_law_is_believed_though_most_rows_are_equal():
    """Few different values: 400 rows, 139 different ones, by their weights worth 35."""
    X = np.round(np.random.default_rng(0).normal(size=(400, 6))).clip(0, 3)
    y = X[:, 0] * X[:, 1]
    est = DGPRegressor(max_evaluations=20_000, random_state=0).fit(X, y)
    assert set(est.tree_.features) == {"x0", "x1"}
    assert est.score(X, y) > 1 - 1e-9
