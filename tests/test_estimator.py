import pickle

import numpy as np
import pandas as pd
import pytest
import sympy
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from symgrad import DGPRegressor, PrimitiveSet
from symgrad.dgp.optimization import Optimization
from symgrad.evolution.diversification import Diversification
from symgrad.search.gp import Initialization


def quick(**changes):
    settings = {
        "max_evaluations": 1500,
        "random_state": 0,
        "initialization": Initialization(population=100),
        "optimization": Optimization(epochs=20, trees=10, scale=True),
    }
    return DGPRegressor(**(settings | changes))


def table(rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["BRCA1 (log2)", "N", "<b>"])
    return X, 3 * X["N"] * X["<b>"] + 1


@pytest.mark.filterwarnings("ignore:no formula was finite")
@parametrize_with_checks([quick()])
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


def test_a_formula_in_the_users_names_and_units():
    X, y = table()
    est = quick(max_evaluations=20_000).fit(X, y)
    assert est.score(X, y) == pytest.approx(1, abs=1e-9)
    assert est.tree_.features == ("N", "<b>")
    expression = est.sympy()
    assert expression.free_symbols == {sympy.Symbol("N"), sympy.Symbol("<b>")}
    values = sympy.lambdify([sympy.Symbol("N"), sympy.Symbol("<b>")], expression)
    assert values(X["N"].to_numpy(), X["<b>"].to_numpy()) == pytest.approx(est.predict(X), rel=1e-6)
    assert "N" in str(est)
    assert r"\text" in est.latex()


def test_the_table_of_equations():
    X, y = table()
    est = quick().fit(X, y)
    assert list(est.equations_.columns) == ["size", "loss", "r2", "formula"]
    assert est.equations_["loss"].min() == pytest.approx(np.mean((y - est.predict(X)) ** 2))
    assert est.equations_["r2"].max() == pytest.approx(est.score(X, y))
    assert est.equations_["size"].is_monotonic_increasing
    assert est.equations_["size"].is_unique
    assert est.equations_["loss"].is_monotonic_decreasing
    assert est.n_evaluations_ >= 1500
    assert est.n_iter_ >= 1


def test_same_seed_same_result_for_any_number_of_threads():
    X, y = table()
    a, b, c = (quick(n_jobs=n, random_state=s).fit(X, y) for n, s in ((1, 3), (2, 3), (1, 4)))
    assert np.array_equal(a.tree_.code, b.tree_.code)
    assert np.array_equal(a.tree_.value, b.tree_.value)
    assert a.equations_.equals(b.equations_)
    assert not a.equations_.equals(c.equations_)


def test_in_pipelines_grids_and_cross_validation():
    X, y = table()
    pipe = make_pipeline(StandardScaler(), quick())
    assert cross_val_score(pipe, X, y, cv=2).shape == (2,)
    sizes = [Diversification(max_size=s) for s in (7, 30)]
    grid = GridSearchCV(quick(), {"diversification": sizes}, cv=2).fit(X, y)
    assert grid.best_estimator_.tree_.size > 0


def test_clones_and_pickles():
    X, y = table()
    est = quick(primitives=["+", "*", "gauss(x) = exp(-x*x)"]).fit(X, y)
    again = pickle.loads(pickle.dumps(est))
    np.testing.assert_array_equal(again.predict(X), est.predict(X))
    assert clone(est).get_params()["primitives"] == est.primitives


def test_weights_matter():
    X, _ = table(200)
    w = np.repeat([1.0, 0.0], 100)
    y = np.where(w > 0, X["N"] ** 2, 100.0)
    est = quick(max_evaluations=5000).fit(X, y, sample_weight=w)
    assert est.score(X[:100], y[:100]) > 0.99


def test_the_paper_preset_has_no_constants():
    X, y = table(60)
    est = quick(preset="paper", optimization=Optimization(epochs=10)).fit(X, y)
    assert est.tree_.size < 1000
    assert est.n_evaluations_ >= 1500


BAD = {
    "NaN": (lambda X, y: (X.assign(N=np.nan), y), "'N' contains NaN"),
    "infinite": (lambda X, y: (X.assign(N=np.inf), y), "'N' contains infinity"),
    "text": (lambda X, y: (X.assign(N="a"), y), "'N' is not numeric"),
    "one row": (lambda X, y: (X[:1], y[:1]), "1 sample"),
    "constant": (lambda X, y: (X, y * 0 + 2), "y is constant"),
    "no features": (lambda X, y: (X[[]], y), "0 feature"),
    "lengths": (lambda X, y: (X, y[:5]), "inconsistent numbers of samples"),
    "NaN target": (lambda X, y: (X, y * np.nan), "y contains NaN"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_named(name):
    spoil, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        quick().fit(*spoil(*table()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"preset": "fast"}, "preset must be one of"),
        ({"max_evaluations": -5}, "max_evaluations must be positive"),
        ({"time_limit": 0}, "time_limit must be positive"),
        ({"primitives": ["sine"]}, "unknown primitive 'sine'"),
        ({"primitives": ["+", "N(x) = x*x"]}, "'N' has the name of a feature"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        quick(**settings).fit(*table())


def test_not_fitted():
    for call in (lambda e: e.predict(table()[0]), lambda e: e.sympy(), lambda e: e.latex()):
        with pytest.raises(NotFittedError):
            call(quick())
    assert "DGPRegressor" in str(quick())


def test_without_any_valid_formula_the_model_is_the_mean():
    X = pd.DataFrame({"a": [-1.0, -2.0, -3.0, -4.0]})
    y = np.array([1.0, 2.0, 3.0, 6.0])
    est = quick(primitives=PrimitiveSet(["log"]), max_evaluations=200)
    est.initialization = Initialization(population=50, min_depth=1)
    est.diversification = Diversification(generations=1, mutation_depth=(1, 2), crossover=0)
    with pytest.warns(ConvergenceWarning, match="mean of y"):
        est.fit(X, y)
    np.testing.assert_allclose(est.predict(X), 3.0)
    assert est.tree_.size == 1


def test_undefined_rows_are_predicted_by_the_mean():
    X = pd.DataFrame({"a": np.linspace(1, 5, 50)})
    y = np.log(X["a"])
    est = quick(primitives=["log"], optimization=Optimization(epochs=1, trees=2)).fit(X, y)
    beyond = est.predict(pd.DataFrame({"a": [-1.0]}))
    np.testing.assert_allclose(beyond, y.mean())


def test_time_limit():
    X, y = table()
    est = quick(max_evaluations=None, time_limit=0.3).fit(X, y)
    assert est.n_evaluations_ > 100
