import numpy as np
import pytest

from symgrad import Dataset, DGPRegressor, Forest, Tree
from symgrad.data import between as module
from symgrad.data.between import between
from symgrad.data.loss import Loss
from symgrad.model import Judge


def table(rows=200, features=3, seed=0, **kwargs):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (rows, features))
    return Dataset(X, np.sin(2 * X[:, 0]) + X[:, 1], dtype=np.float64, **kwargs)


@pytest.mark.parametrize("text", ["3*x0 - x2 + 1", "x0 + x1", "2.5"])
def test_straight_formulas_are_straight_between_rows(text):
    assert between(Tree.parse(text), table()) < 1e-20


def test_what_bends_as_the_data_do_is_nearly_straight_and_the_more_so_the_more_rows():
    tree = Tree.parse("sin(2*x0) + x1")
    few, many = between(tree, table(rows=100)), between(tree, table(rows=1000))
    assert many < few < 1e-3


def test_what_goes_up_and_down_between_rows_is_not():
    data = table()
    tree = Tree.parse("sin(2*x0) + x1 + 0.3*cos(500*x2)")
    # the middle against two ends, each with a variance of 0.3^2/2
    assert between(tree, data) == pytest.approx(1.5 * 0.3**2 / 2, rel=0.2)


def test_features_that_a_formula_lacks_do_not_matter():
    data, other = table(), table(seed=1)
    X = np.column_stack([other.X, data.X])
    wide = Dataset(X, data.y, dtype=np.float64)
    tree = Tree.parse("cos(9*x0)*x2")
    same = Tree.parse("cos(9*x3)*x5")
    assert between(tree, data) == pytest.approx(between(same, wide), rel=1e-12)


def test_units_do_not_matter():
    data = table()
    X = data.X * [1000, 1, 1]
    assert between(Tree.parse("exp(0.002*x0)"), Dataset(X, data.y)) == pytest.approx(
        between(Tree.parse("exp(2*x0)"), data), rel=1e-6
    )


def test_values_of_rows_that_are_the_same_do_not_matter():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)  # all neighbours are copies
    assert between(Tree.parse("cos(1000*x0)"), Dataset(X, X[:, 0])) == 0


@pytest.mark.parametrize("text", ["1/(x0 - 0.0001)", "log(x0)", "exp(exp(9*x0))"])
def test_values_that_are_far_off_or_missing_count_as_a_range_off(text):
    data = table()
    value = between(Tree.parse(text), data)
    assert 0 < value <= (3 * np.ptp(data.y)) ** 2


def test_weights_count_and_rows_of_none_do_not():
    data = table()
    half = data.X[:, 2] > 0
    tree = Tree.parse("max(x2, 0)*cos(300*x0)")
    rows = Dataset(data.X[half], data.y[half], dtype=np.float64)
    assert between(tree, table(weights=half.astype(float))) == between(tree, rows)
    assert between(tree, table(weights=1.0 + 9 * half)) > 1.3 * between(tree, data)


def test_features_with_many_rows_for_each_value_stay_as_they_are():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 8, 200).astype(float)
    X = np.column_stack([codes, rng.uniform(-1, 1, 200)])
    data = Dataset(X, X[:, 1], dtype=np.float64)
    assert between(Tree.parse("cos(40*x0) + x1"), data) < 1e-20
    assert between(Tree.parse("cos(40*x0) + cos(500*x1)"), data) > 0.1
    few = 8 * module.REPEATED - 1  # rows for so many values
    assert between(Tree.parse("cos(40*x0) + x1"), data.subset(np.arange(few))) > 0.1


def test_long_tables_are_not_looked_at_and_very_short_ones_cannot_be():
    tree = Tree.parse("cos(500*x0)")
    assert between(tree, table(rows=module.ROWS)) > 0
    assert between(tree, table(rows=module.ROWS + 1)) == 0
    assert between(tree, table(rows=3)) == 0


def test_wide_and_sparse_tables():
    from scipy.sparse import random as sparse

    X = sparse(100, 50_000, 0.01, format="csc", random_state=0)
    data = Dataset(X, np.arange(100.0))
    tree = Tree.parse("sin(800*x7) + x3")
    assert between(tree, data) >= 0


def test_it_counts_as_an_error_where_lengths_are_compared():
    data = table(rows=150)
    noisy = Dataset(data.X, data.y + 0.3 * np.random.default_rng(2).normal(size=150))
    judge = Judge(noisy, Loss())
    tree = Tree.parse("sin(2*x0) + x1 + 0.1*cos(500*x2)")
    mean = float(judge.of(Forest.of([tree]), noisy)[0])
    rough = between(tree, noisy)
    assert rough > 0.005
    assert judge.unseen(tree, mean) > mean + rough


def test_a_formula_that_says_anything_of_any_row_is_not_chosen(monkeypatch):
    # ages in whole years: cosines of them are as good as random numbers
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(20, 80, 120), rng.normal(size=120)]).astype(float)
    y = X[:, 1] + 0.8 * rng.normal(size=120)
    tree = Tree.parse("x1 + 0.3*cos(40*x0)")
    judge = Judge(Dataset(X, y, dtype=np.float64), Loss())
    formula = judge.formula(tree, tree)
    monkeypatch.setattr("symgrad.model.between", lambda tree, data: 0.0)
    assert judge.formula(tree, tree).length < formula.length - 5


def test_smooth_signals_are_found_as_before():
    rng = np.random.default_rng(4)
    X = rng.uniform(-3, 3, (200, 5))
    y = 3 * np.sin(2 * X[:, 1]) * X[:, 3] + 0.1 * rng.normal(size=200)
    est = DGPRegressor(max_evaluations=60_000, random_state=0).fit(X, y)
    assert est.tree_.features == ("x1", "x3")
    assert est.score(X, y) > 0.99
