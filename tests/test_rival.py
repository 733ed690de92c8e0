"""Sums of features take the place of formulas that predict worse, and of no others."""

import numpy as np
import pytest

from symgrad import Dataset, DGPRegressor
from symgrad.estimator import contest
from symgrad.evolution.constraints import Constraints
from symgrad.rival import held_out


def small_effects(rows, features=30, seed=0):
    """Return a table of which all features have effects, most of them small."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    z = X @ np.random.default_rng(5).normal(size=features)
    return X, z + 0.5 * z.std() * rng.normal(size=rows)


def fitted(X, y, **changes):
    options = {"max_evaluations": 20_000, "random_state": 0, "n_jobs": 1} | changes
    return DGPRegressor(**options).fit(X, y)


def test_many_small_effects_are_summed(monkeypatch):
    X, y = small_effects(150)
    X_test, y_test = small_effects(1000, seed=1)
    est = fitted(X, y)
    assert est.tree_.size > 40
    assert est.equations_["chosen"].sum() == 1
    assert est.equations_.loc[est.equations_["chosen"], "formula"].item() == str(est.tree_)
    np.testing.assert_allclose(est.predict(X), est.tree_.evaluate(X))
    monkeypatch.setattr("symgrad.estimator.contest", lambda chosen, *_: chosen)
    alone = fitted(X, y)
    assert est.score(X_test, y_test) > alone.score(X_test, y_test) + 0.03


def test_formulas_that_predict_better_stay():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 10))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=150)
    assert set(fitted(X, y).tree_.features) == {"x0", "x1", "x2"}


def test_a_short_sum_stays_as_it_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = X[:, 0] + X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=300)
    est = fitted(X, y)
    assert (set(est.tree_.features), est.tree_.size) == ({"x0", "x1", "x2"}, 5)


def test_noise_is_a_constant():
    rng = np.random.default_rng(0)
    for _ in range(5):
        assert fitted(rng.normal(size=(60, 20)), rng.normal(size=60)).tree_.size == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"model_selection": "accurate"},
        {"model_selection": "simple"},
        {"loss": "absolute"},
        {"primitives": ["+", "sin"]},
        {"max_size": 2},
    ],
)
def test_where_there_is_no_contest(changes, monkeypatch):
    X, y = small_effects(150)
    seen = []

    def watched(chosen, *rest):
        seen.append((chosen, contest(chosen, *rest)))
        return seen[-1][1]

    monkeypatch.setattr("symgrad.estimator.contest", watched)
    fitted(X, y, max_evaluations=3000, **changes)
    assert len(seen) == ("model_selection" not in changes)
    assert all(before is after for before, after in seen)


def test_sums_keep_to_the_rules():
    X, y = small_effects(150)
    assert fitted(X, y, max_size=11).tree_.size <= 13
    left = [f"x{j}" for j in range(3, 30)]
    est = fitted(X, y, constraints=Constraints(exclude=("x0", "x1", "x2")))
    assert est.tree_.size > 40
    assert set(est.tree_.features) <= set(left)


def test_held_out_errors_are_those_of_fresh_rows():
    X, y = small_effects(2000, 10)
    count, error = held_out(Dataset(X, y, dtype=np.float64), 10)
    assert 5 <= count <= 10
    assert error == pytest.approx(0.2, abs=0.03)
    weights = np.random.default_rng(2).uniform(0.5, 1.5, size=2000)
    weighed = held_out(Dataset(X, y, weights=weights, dtype=np.float64), 10)
    assert weighed[1] == pytest.approx(0.2, abs=0.03)
    assert weighed[1] != error


def test_a_target_with_hardly_any_values():
    X = np.random.default_rng(0).normal(size=(40, 5))
    assert held_out(Dataset(X, np.zeros(40)), 3) == (0, 1.0)
    assert np.isfinite(held_out(Dataset(X, np.eye(40)[7]), 3)[1])
