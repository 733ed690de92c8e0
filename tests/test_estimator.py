import pickle

import numpy as np
import pandas as pd
import pytest
import sympy
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from symgrad import DGPRegressor, PrimitiveSet
from symgrad.data.loss import Loss
from symgrad.dgp.optimization import Optimization
from symgrad.estimator import EQUATIONS
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.islands import Islands


def quick(**changes):
    settings = {
        "max_evaluations": 1500,
        "random_state": 0,
        "islands": Islands(islands=2, population=50),
    }
    return DGPRegressor(**(settings | changes))


def paper(**changes):
    settings = {
        "preset": "paper",
        "max_evaluations": 1500,
        "random_state": 0,
        "diversification": Diversification(population=100),
        "optimization": Optimization(epochs=10, trees=10),
    }
    return DGPRegressor(**(settings | changes))


def table(rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["BRCA1 (log2)", "N", "<b>"])
    return X, 3 * X["N"] * X["<b>"] + 1


@pytest.mark.filterwarnings("ignore:no formula was finite")
@parametrize_with_checks([quick(), paper()])
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
    noise = np.random.default_rng(1).normal(size=len(y))
    est = quick(model_selection="accurate").fit(X, y + noise)
    assert list(est.equations_.columns) == EQUATIONS
    assert [t is est.tree_ for t in est.trees_] == est.equations_["chosen"].tolist()
    assert est.equations_["chosen"].sum() == 1
    errors = (y + noise - est.predict(X)) ** 2
    chosen = est.equations_[est.equations_["formula"] == str(est.tree_)].iloc[0]
    assert chosen["loss"] == pytest.approx(np.mean(errors))
    assert chosen["r2"] == pytest.approx(est.score(X, y + noise))
    assert est.equations_["size"].is_monotonic_increasing
    assert est.equations_["size"].is_unique
    assert est.equations_["loss"].is_monotonic_decreasing
    assert est.n_evaluations_ >= 1500
    assert est.n_iter_ >= 1
    for size, tree in zip(est.equations_["size"], est.trees_, strict=True):
        assert tree.size == size
        np.testing.assert_array_equal(est.predict(X, size=size), tree.evaluate(X.to_numpy()))
    assert est.predict(X, size=10**6) == pytest.approx(est.trees_[-1].evaluate(X))
    with pytest.raises(ValueError, match="smallest formula has size 1"):
        est.predict(X, size=0)


def test_choices_of_the_model():
    X, y = table(200)
    y = y + 0.3 * np.random.default_rng(1).normal(size=len(y))
    fits = {
        how: quick(max_evaluations=20_000, model_selection=how).fit(X, y)
        for how in ("simple", "balanced", "accurate", None)
    }
    sizes = [fits[how].tree_.size for how in ("simple", "balanced", "accurate")]
    assert sizes == sorted(sizes)
    assert fits[None].tree_ == fits["balanced"].tree_
    assert fits["balanced"].tree_.features == ("N", "<b>")
    assert fits["accurate"].score(X, y) >= fits["balanced"].score(X, y)


def test_other_losses():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    signal = X[:, 0] * X[:, 1]
    settings = {"max_evaluations": 20_000}
    spoiled = signal + np.where(rng.uniform(size=300) < 0.1, 5.0, 0.0)
    for loss in ("absolute", "huber", "log_cosh"):
        est = quick(loss=loss, **settings).fit(X, spoiled)
        assert np.median(np.abs(est.predict(X) - signal)) < 0.25
    high = quick(loss=Loss("quantile", 0.9), **settings).fit(X, signal + rng.normal(size=300))
    assert 0.8 < np.mean(signal + rng.normal(size=300) < high.predict(X)) < 0.97
    counts = rng.poisson(np.exp(1 + 0.5 * signal)).astype(float)
    rates = quick(loss="poisson", islands=None, **settings).fit(X, counts)
    assert rates.tree_.feature_indices == (0, 1)
    off = np.abs(rates.predict(X) / np.exp(1 + 0.5 * signal) - 1)
    assert np.quantile(off, 0.95) < 0.3
    with pytest.raises(ValueError, match="never negative"):
        quick(loss="poisson").fit(X, signal)


@pytest.mark.parametrize("features", [10, 1000])
def test_no_formula_from_noise(features):
    rng = np.random.default_rng(features)
    for seed in range(3):
        X, y = rng.normal(size=(100, features)), rng.normal(size=100)
        est = quick(max_evaluations=10_000, random_state=seed).fit(X, y)
        assert est.tree_.size == 1
        np.testing.assert_allclose(est.predict(X), y.mean())


def test_same_seed_same_result_for_any_number_of_threads():
    X, y = table()
    y = y + np.random.default_rng(1).normal(size=len(y))
    a, b, c = (quick(n_jobs=n, random_state=s).fit(X, y) for n, s in ((1, 3), (2, 3), (1, 4)))
    assert np.array_equal(a.tree_.code, b.tree_.code)
    assert np.array_equal(a.tree_.value, b.tree_.value)
    assert a.equations_.equals(b.equations_)
    assert not a.equations_.equals(c.equations_)


def test_in_pipelines_grids_and_cross_validation():
    X, y = table()
    pipe = make_pipeline(StandardScaler(), quick())
    assert cross_val_score(pipe, X, y, cv=2).shape == (2,)
    grid = GridSearchCV(quick(), {"max_size": [7, 30]}, cv=2).fit(X, y)
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


def test_the_paper_preset_is_in_the_users_units():
    X, y = table(60)
    X = X * 100 + 7
    est = paper(max_size=20).fit(X, y)
    assert est.n_evaluations_ >= 1500
    loss = est.equations_["loss"].min()
    assert np.mean((est.predict(X) - y) ** 2) == pytest.approx(loss)


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
        ({"time_limit": "10"}, "time_limit must be positive, got '10'"),
        ({"model_selection": "best"}, "model_selection must be one of"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"loss": "absolute", "preset": "paper", "islands": None}, "squared loss only"),
        ({"max_size": 0}, "max_size must be positive"),
        ({"max_size": 4}, r"max_size must be at least 5, the nodes of a\*x \+ b, got 4"),
        ({"max_size": 1.5}, "max_size must be a whole number, got 1.5"),
        ({"diversification": Diversification()}, "the default preset has no diversification"),
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
    est = paper(
        primitives=PrimitiveSet(["log"]),
        max_evaluations=200,
        diversification=Diversification(
            population=50, generations=1, mutation_depth=(1, 2), crossover=0
        ),
    )
    with pytest.warns(ConvergenceWarning, match="mean of y"):
        est.fit(X, y)
    np.testing.assert_allclose(est.predict(X), 3.0)
    assert est.tree_.size == 1


def test_undefined_rows_are_predicted_by_the_mean():
    X = pd.DataFrame({"a": np.linspace(1, 5, 50)})
    y = np.log(X["a"])
    est = quick(primitives=["log"]).fit(X, y)
    beyond = est.predict(pd.DataFrame({"a": [-1.0]}))
    np.testing.assert_allclose(beyond, y.mean())


def test_predictions_outside_the_data_are_those_at_its_edge():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(100, 2))
    y = X[:, 0] + X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=100)
    far = np.array([[30.0, 40.0], [0.1, 0.2], [-50.0, 0.0]])
    est = quick().fit(X, y)
    bare = est.tree_.evaluate(far)
    assert bare[0] > y.max()
    edge = est.tree_.evaluate(np.clip(far, X.min(axis=0), X.max(axis=0)))
    assert est.predict(far)[0] == pytest.approx(min(edge[0], y.max()))
    assert y.min() <= est.predict(far)[2] <= y.max()
    np.testing.assert_allclose(est.predict(far)[1], bare[1])
    np.testing.assert_array_equal(est.predict(X), est.tree_.evaluate(X))
    free = quick(constraints=Constraints(extrapolate=True)).fit(X, y)
    np.testing.assert_array_equal(free.predict(far), free.tree_.evaluate(far))
    exact = quick().fit(X, X[:, 0] * X[:, 1])
    np.testing.assert_allclose(exact.predict(far), far[:, 0] * far[:, 1])


def test_time_limit():
    X, y = table()
    est = quick(max_evaluations=None, time_limit=0.3).fit(X, y)
    assert est.n_evaluations_ > 100


@pytest.mark.parametrize(
    ("limit", "searching"), [(None, np.inf), (1.0, 0.85), (100, 99.0), (np.inf, np.inf)]
)
def test_some_of_the_time_is_left_for_what_comes_after_the_search(limit, searching):
    assert quick(time_limit=limit)._budget().searching == pytest.approx(searching)


def test_of_long_tables_the_search_sees_some_rows_and_constants_are_fitted_to_all(monkeypatch):
    from symgrad import estimator

    seen = []

    def watched(search, data, *rest):
        seen.append(data.rows)
        return run(search, data, *rest)

    run = estimator.watched
    monkeypatch.setattr(estimator, "watched", watched)
    monkeypatch.setattr(estimator, "LONG", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = 1.7 * X[:, 0] * X[:, 1] + 0.3 + 0.1 * rng.normal(size=2000)
    est = DGPRegressor(max_evaluations=20_000, random_state=0).fit(X, y)
    assert seen == [100]
    assert est.tree_.features == ("x0", "x1")
    best = np.polyfit(X[:, 0] * X[:, 1], y, 1)
    np.testing.assert_allclose(est.predict(X), np.polyval(best, X[:, 0] * X[:, 1]), rtol=1e-6)


def test_sparse_and_large_tables_give_the_formula_of_dense_ones(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.where(rng.uniform(size=(300, 40)) < 0.5, rng.integers(1, 9, (300, 40)), 0).astype(float)
    y = X[:, 3] * X[:, 17] + 2 * X[:, 30]
    options = {"max_evaluations": 30_000, "random_state": 0}
    from symgrad import estimator

    kept = sparse.csr_matrix(X)
    monkeypatch.setattr(estimator, "MERGE_LIMIT", 100)
    thin = DGPRegressor(**options).fit(kept, y)
    assert set(thin.tree_.features) == {"x3", "x17", "x30"}
    assert thin.score(X, y) > 1 - 1e-12
    np.testing.assert_array_equal(thin.predict(kept), thin.predict(X))
    monkeypatch.setattr(estimator, "LARGE", 100)
    large = DGPRegressor(**options).fit(X.astype(np.float32), y)
    assert set(large.tree_.features) == {"x3", "x17", "x30"}
    with pytest.raises(ValueError, match="relaxed trees cannot"):
        DGPRegressor("paper").fit(kept, y)
