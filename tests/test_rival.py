"""Sums of features take the place of formulas that predict worse, and of no others."""

import numpy as np
import pytest

from symgrad import Dataset, DGPRegressor, Tree
from symgrad.bench.size import size
from symgrad.evolution.constraints import Constraints
from symgrad.model import Formula
from symgrad.rival import HeldOut, contest, held_out
from symgrad.search.guided import GuidedDGP


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
    monkeypatch.setattr("symgrad.blend.contest", lambda chosen, *_: chosen)
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
        {"model_selection": "simple"},
        {"loss": "absolute"},
        {"primitives": ["+", "sin"]},
    ],
)
def test_where_there_is_no_contest(changes, monkeypatch):
    X, y = small_effects(150)
    seen = []

    def watched(chosen, *rest):
        seen.append((chosen, contest(chosen, *rest)))
        return seen[-1][1]

    monkeypatch.setattr("symgrad.blend.contest", watched)
    fitted(X, y, max_evaluations=3000, **changes)
    assert len(seen) == (changes.keys() == {"primitives"})
    assert all(before is after for before, after in seen)


def test_sums_keep_to_the_rules():
    X, y = small_effects(150)
    assert size(fitted(X, y, max_size=11).sympy()) <= 11
    left = [f"x{j}" for j in range(3, 30)]
    est = fitted(X, y, constraints=Constraints(exclude=("x0", "x1", "x2")))
    assert est.tree_.size > 40
    assert set(est.tree_.features) <= set(left)


def relative(found, target):
    """Return errors in parts of those of the mean."""
    return found.weights @ found.errors / (found.weights.sum() * np.var(target))


def test_held_out_errors_are_those_of_fresh_rows():
    X, y = small_effects(2000, 10)
    found = held_out(Dataset(X, y, dtype=np.float64), None, 10, True)
    assert 4 <= found.terms <= 10
    assert relative(found, y) == pytest.approx(0.2, abs=0.03)
    weights = np.random.default_rng(2).uniform(0.5, 1.5, size=2000)
    weighed = held_out(Dataset(X, y, weights=weights, dtype=np.float64), None, 10, True)
    assert relative(weighed, y) == pytest.approx(0.2, abs=0.03)
    assert relative(weighed, y) != relative(found, y)


def test_a_formula_is_told_from_what_it_leaves():
    X, y = small_effects(500, 10)
    data = Dataset(X, np.exp(X[:, 0]) + 0.2 * y, dtype=np.float64)
    base = Tree.parse("2*exp(1*x0)", data.names)
    alone, added = (held_out(data, b, 10, True) for b in (None, base))
    assert added.terms >= 4
    assert added.gain(added.before) > 5
    assert added.gain(alone.errors) > 3
    assert alone.gain(added.errors) == -added.gain(alone.errors)


def test_a_target_with_hardly_any_values():
    X = np.random.default_rng(0).normal(size=(40, 5))
    none = held_out(Dataset(X, np.zeros(40)), None, 3, True)
    assert (none.terms, none.errors.max(), none.gain(none.before)) == (0, 0.0, 0.0)
    assert np.isfinite(held_out(Dataset(X, np.eye(40)[7]), None, 3, True).errors).all()
    assert held_out(Dataset(X, X[:, 0]), None, 0, True).terms == 0


def test_a_sum_that_all_rows_have_no_use_for_is_not_added(monkeypatch):
    x = np.linspace(-1, 1, 40)
    left = np.cos(np.pi * x) - np.cos(np.pi * x).mean()  # x tells nothing of it
    data = Dataset(x[:, None], np.exp(x) + left, dtype=np.float64)
    chosen = Formula(Tree.parse("exp(x0)", data.names), 0.5, 0.5, -10.0, 10.0)
    errors = np.linspace(0.1, 0.2, 40)
    pays = HeldOut(1, 0.3, errors, 2 * errors, np.ones(40))
    monkeypatch.setattr("symgrad.rival.held_out", lambda *_: pays)
    assert contest(chosen, data, data, GuidedDGP(), None, False) is chosen


def test_small_effects_are_added_to_a_formula(monkeypatch):
    def table(rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 40))
        return X, 0.25 * X[:, 5:30].sum(axis=1) + 2 * X[:, 0] * X[:, 1] + rng.normal(size=rows)

    X, y = table(200, 0)
    X_test, y_test = table(1000, 1)
    est = fitted(X, y)
    monkeypatch.setattr("symgrad.blend.contest", lambda chosen, *_: chosen)
    alone = fitted(X, y)
    assert {"x0", "x1"} <= set(est.tree_.features)
    assert len(est.tree_.features) > len(alone.tree_.features) + 5
    assert est.score(X_test, y_test) > alone.score(X_test, y_test) + 0.05


def test_effects_of_which_none_is_sure_and_all_are_certain():
    def table(rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 100))
        return X, 0.2 * X[:, :40].sum(axis=1) + 0.8 * rng.normal(size=rows)

    X, y = table(400, 0)
    X_test, y_test = table(1000, 1)
    est = fitted(X, y)
    assert est.score(X_test, y_test) > 0.5
    assert est.tree_.size > 120  # nothing bounds it
    assert size(fitted(X, y, max_size=80).sympy()) <= 80


def test_a_row_that_stands_for_many_counts_as_many(monkeypatch):
    x = np.linspace(-1, 1, 40)
    weights = np.r_[1.0, np.full(39, 50.0)]
    data = Dataset(np.column_stack([x, x**2]), np.exp(x), weights=weights, dtype=np.float64)
    chosen = Formula(Tree.parse("exp(x1)", data.names), 0.5, 0.5, -10.0, 100.0)
    errors = np.linspace(0.1, 0.11, 40)
    own, alone = (
        HeldOut(terms, 0.0, part * errors, errors, weights) for terms, part in ((0, 1), (1, 1.1))
    )
    monkeypatch.setattr("symgrad.rival.held_out", lambda data, base, *_: own if base else alone)
    assert contest(chosen, data, data, GuidedDGP(), None, False) is chosen
    few = data.with_weights(weights / 50)
    assert contest(chosen, few, few, GuidedDGP(), None, False) is not chosen
