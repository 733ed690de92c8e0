import numpy as np

from symgrad import DGPRegressor
from symgrad.dgp.optimization import Optimization
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.islands import Islands
from symgrad.history import COLUMNS


def data():
    X = np.random.default_rng(0).normal(size=(80, 4))
    return X, 10 * X[:, 0] * X[:, 1] + np.random.default_rng(1).normal(size=80)


def check(est, y):
    history = est.history_
    assert tuple(history.columns) == COLUMNS
    assert history["evaluations"].is_monotonic_increasing
    assert history["seconds"].is_monotonic_increasing
    assert history["error"].is_monotonic_decreasing
    assert history["evaluations"].iloc[-1] == est.n_evaluations_
    # The search judges in other units and precision than the table of formulas.
    assert abs(history["error"].iloc[-1] - est.equations_["loss"].min() / np.var(y)) < 0.02


def test_the_default_search_is_recorded():
    X, y = data()
    islands = Islands(islands=2, population=50, generations=3)
    check(DGPRegressor(max_evaluations=3000, random_state=0, islands=islands).fit(X, y), y)


def test_so_is_the_paper_preset_in_the_same_units():
    X, y = data()
    est = DGPRegressor(
        "paper",
        max_evaluations=1500,
        random_state=0,
        diversification=Diversification(population=100),
        optimization=Optimization(epochs=10, trees=10),
    )
    check(est.fit(X, y), y)
