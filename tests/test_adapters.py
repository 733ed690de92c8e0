"""Every method behind the same call: its formula is what it predicts."""

import warnings

import numpy as np
import pytest
import sympy

from symgrad.bench.adapters import ADAPTERS, BY_METHOD, chosen
from symgrad.bench.task import Limit, Task


@pytest.fixture(scope="module")
def task():
    X = np.random.default_rng(0).uniform(0.5, 2, size=(80, 3))
    return Task(X, 3 * X[:, 0] * X[:, 1] + 1, Limit(evaluations=2000))


def fit(method, task):
    pytest.importorskip(BY_METHOD[method].module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BY_METHOD[method].fit(task)


@pytest.mark.parametrize("method", ["symgrad", "gp", "dgp", "operon", "gplearn", "deap", "lasso"])
def test_the_formula_is_what_is_predicted(task, method):
    fresh = np.random.default_rng(1).uniform(0.5, 2, size=(50, 3))
    models = fit(method, task)
    assert tuple(models) == BY_METHOD[method].methods
    for model in models.values():
        expression = model.expression()
        symbols = sympy.symbols("x0:3")
        assert expression.free_symbols <= set(symbols)
        values = sympy.lambdify(symbols, expression, "numpy")(*fresh.T)
        np.testing.assert_allclose(
            model.predict(fresh), np.broadcast_to(values, 50), rtol=1e-3, atol=1e-3
        )
        if BY_METHOD[method].limited:
            assert model.evaluations > 0
            assert model.nodes >= 1


@pytest.mark.parametrize("method", ["forest", "boosting"])
def test_baselines_without_a_formula_predict(task, method):
    model = fit(method, task)[method]
    assert model.expression is None
    assert np.corrcoef(model.predict(task.X), task.y)[0, 1] > 0.9


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown method 'magic'; the known ones are symgrad, "):
        chosen(["symgrad", "magic"])


def test_one_fit_may_give_two_methods():
    assert chosen(["symgrad", "lasso", "symgrad"]) == [BY_METHOD["symgrad"], BY_METHOD["lasso"]]
    assert BY_METHOD["operon"] is BY_METHOD["operon accurate"]
    assert len(BY_METHOD) == sum(len(a.methods) for a in ADAPTERS)


def test_a_missing_peer_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="gplearn needs gplearn, which is not installed"):
        chosen(["gplearn"])
    with pytest.raises(ImportError, match=r'needs jax, .* pip install "symgrad\[gpu\]"'):
        chosen(["dgp on gpu"])
