import numpy as np
import pytest

from symgrad import Dataset, Forest, Tree
from symgrad.data.constants import fit_constants
from symgrad.data.left_out import left_out


def sums(rows=40, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    return Dataset(X, X @ [2.0, 1.0] + rng.normal(size=rows), weights=weights, dtype=np.float64)


def line(data, rows, values):
    """Return the predictions for some values by a line fitted to some rows."""
    w = np.ones(data.rows) if data.weights is None else data.weights
    slope, intercept = np.polyfit(values[rows], data.y[rows], 1, w=np.sqrt(w[rows]))
    return slope * values + intercept


@pytest.mark.parametrize("weighted", [False, True])
def test_of_a_line_it_is_what_fits_without_each_row_give(weighted):
    weights = np.random.default_rng(1).uniform(0.5, 2, 40) if weighted else None
    data = sums(weights=weights)
    w, x = np.ones(40) if weights is None else weights, data.X[:, 0]
    slope, intercept = np.polyfit(x, data.y, 1, w=np.sqrt(w))
    tree = Tree.parse(f"{float(slope)!r}*x0 + {float(intercept)!r}")
    without = [line(data, np.arange(40) != i, x)[i] for i in range(40)]
    wanted = w @ (data.y - without) ** 2 / (w @ (data.y - line(data, slice(None), x)) ** 2)
    assert left_out(tree, data) == pytest.approx(wanted, rel=1e-6)


def test_inner_constants_count_as_well():
    data = sums()
    (tree,) = fit_constants(Forest.from_strings(["sin(0.7*x0 + 0.2) + 0.5*x1"]), data).forest
    plain = Tree.parse("x0 + x1")
    assert left_out(tree, data) > left_out(plain, data) > 1


def test_a_constant_that_follows_one_row_costs_more_than_one_that_follows_many():
    data = sums()
    spike = np.where(np.arange(40) == 7, 5.0, 0.1 * data.X[:, 0])
    both = Dataset(np.column_stack([data.X, spike]), data.y, dtype=np.float64)
    texts = ["2*x0 + 1*x2 + 0.1", "2*x0 + 1*x1 + 0.1"]
    one, many = (left_out(Tree.parse(text), both) for text in texts)
    assert one > many


def test_the_more_rows_the_less():
    few, many = sums(20), sums(2000)
    tree = Tree.parse("2*x0 + x1 + 0.1")
    assert left_out(tree, few) > 1.1
    assert left_out(tree, many) < 1.01
    assert left_out(tree, few, rows=2000) == pytest.approx(left_out(tree, many), abs=0.01)


def test_exact_and_undefined_ones_have_an_answer():
    X = np.linspace(0, 2, 30)[:, None]
    exact = Dataset(X, X[:, 0] + 1, dtype=np.float64)
    assert left_out(Tree.parse("x0 + 1"), exact) == 1
    infinite_slope = Tree.parse("sqrt(1*x0 + 0) + 0.5")
    assert 1 < left_out(infinite_slope, exact) < 2
    steep = Tree.parse("x0 + 0.5 + 0*exp(300*x0)*exp(300*x0)")
    assert 1 < left_out(steep, exact) < 2


def test_a_row_that_settles_a_constant_by_itself_is_as_far_off_as_any():
    data = sums()
    X = np.column_stack([data.X, np.arange(40) == 7, np.ones(40)])
    both = Dataset(X, data.y, dtype=np.float64)
    a, b, c, d = np.linalg.lstsq(X, data.y)[0].tolist()
    tree = Tree.parse(f"{a!r}*x0 + {b!r}*x1 + {c!r}*x2 + {d!r}")
    errors = (data.y - tree.evaluate(X, dtype=np.float64)) ** 2
    assert errors[7] < 1e-20
    farthest = np.max((data.y - data.y.mean()) ** 2)
    rest = np.arange(40) != 7
    others = errors[rest].sum() * left_out(tree.simplify(), both)
    leverage = np.einsum("ij,ji->i", X[rest], np.linalg.pinv(X[rest]))
    assert others == pytest.approx(farthest + np.sum(errors[rest] / (1 - leverage) ** 2))
