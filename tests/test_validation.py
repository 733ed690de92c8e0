import numpy as np
import pytest
from scipy import sparse

from symgrad import Dataset, DGPRegressor, Tree
from symgrad.data.loss import Loss
from symgrad.validation import MOST_ROWS, validation


def table(rows=200, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6))
    return X, 2 * X[:, 0] + X[:, 1] + noise * rng.normal(size=rows)


def trees(*formulas):
    return [Tree.parse(text, [f"x{j}" for j in range(6)]) for text in formulas]


def test_it_is_about_the_r2_of_fresh_rows():
    X, y = table(400)
    (got,) = validation(trees("2*x0 + x1"), Dataset(X, y, dtype=np.float64), Loss())
    fresh, target = table(20_000, seed=1)
    true = 1 - np.mean((target - 2 * fresh[:, 0] - fresh[:, 1]) ** 2) / target.var()
    assert got == pytest.approx(true, abs=0.03)


def test_a_constant_explains_nothing_and_many_constants_explain_less():
    X, y = table(30)
    few, many, none = validation(
        trees("2*x0 + x1", "1.9*x0 + 1.1*x1 + 0.3*x2 + 0.2*x3 - 0.3*x4 + 0.2*x5 + 0.1*x2*x3", "1"),
        Dataset(X, y, dtype=np.float64),
        Loss(),
    )
    assert none == pytest.approx(0, abs=1e-9)
    assert many < few


def test_constants_at_hand_do_not_matter():
    X, y = table()
    data = Dataset(X, y, dtype=np.float64)
    one, other = validation(trees("2*x0 + x1", "2.5*x0 + x1"), data, Loss())
    assert one == pytest.approx(other, abs=1e-4)


def test_sparse_and_long_tables_and_weights():
    X, y = table(MOST_ROWS + 500)
    formula = trees("2*x0 + x1")
    (dense,) = validation(formula, Dataset(X, y, dtype=np.float64), Loss())
    (thin,) = validation(formula, Dataset(sparse.csc_matrix(X), y, dtype=None), Loss())
    assert dense == pytest.approx(thin, abs=1e-4)
    weights = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    wrong = np.where(weights > 0, y, 1e3)
    (weighted,) = validation(formula, Dataset(X, wrong, weights=weights, dtype=np.float64), Loss())
    assert weighted == pytest.approx(dense, abs=0.05)


def test_where_there_is_none():
    X, y = table(8)
    assert np.isnan(validation(trees("x0"), Dataset(X, y, dtype=np.float64), Loss())).all()
    X, y = table()
    data = Dataset(X, np.exp(0.1 * y), dtype=np.float64)
    assert np.isnan(validation(trees("x0"), data, Loss("poisson"))).all()


@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile"])
def test_other_losses(loss):
    X, y = table()
    (got,) = validation(trees("2*x0 + x1"), Dataset(X, y, dtype=np.float64), Loss(loss))
    assert 0.3 < got < 0.9


def test_the_front_has_it():
    X, y = table(60)
    est = DGPRegressor(max_evaluations=5000, random_state=0).fit(X, y)
    scores = est.equations_["validation_r2"]
    assert scores.iloc[0] == pytest.approx(0, abs=1e-9)
    assert (scores < est.equations_["r2"] + 0.02).all()
    assert est.equations_["length"].idxmin() == est.equations_["chosen"].idxmax()
