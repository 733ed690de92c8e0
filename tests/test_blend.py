"""Means of formulas: what they say, when they are made, and that they predict better."""

from dataclasses import replace

import numpy as np
import pytest

from symgrad import Dataset, DGPRegressor, PrimitiveSet, Tree
from symgrad.bench.size import size
from symgrad.blend import OWN, WORTH, blend, distances, taken, weighed
from symgrad.data.loss import Loss
from symgrad.evolution.constraints import Constraints
from symgrad.model import Formula, Judge
from symgrad.search.guided import GuidedDGP


def rows(n=200, features=4, seed=0):
    X = np.random.default_rng(seed).uniform(-1, 1, (n, features))
    return X, 0.2 * np.random.default_rng(seed + 1).normal(size=n)


def formula(text, data, unseen, **changes):
    tree = Tree.parse(text, data.names, PrimitiveSet.paper())
    made = Judge(data, Loss()).formula(tree, tree)
    return replace(made, unseen=unseen, words=changes.pop("words", 0.0), **changes)


def example(n=200):
    """Return a table, and two formulas that leave different parts of its target."""
    X, noise = rows(n)
    data = Dataset(X, np.sin(2 * X[:, 0]) + X[:, 1] + noise, dtype=np.float64)
    one = formula("sin(2*x0) + x1 + 0.4*x2", data, 0.2)
    other = formula("sin(2*x0) + x1 - 0.4*x2", data, 0.2)
    return data, one, other


def mixed(chosen, others, data, search=None):
    return blend(chosen, [chosen, *others], data, data, search or GuidedDGP(), None)


def test_a_mean_says_what_the_formulas_say_and_writes_common_terms_once():
    X, _ = rows()
    texts = ("2*x0 + 3*sin(x1) + 1", "4*x0 - x2*x3", "x0 + sin(x1)")
    trees = [Tree.parse(t, [f"x{j}" for j in range(4)]) for t in texts]
    weights = np.array([1.0, 2.0, 1.0])
    mean = weighed(trees, weights)
    expected = np.average([t.evaluate(X, dtype=np.float64) for t in trees], axis=0, weights=weights)
    np.testing.assert_allclose(mean.evaluate(X, dtype=np.float64), expected, rtol=1e-12)
    assert str(mean).count("x0") == 1
    assert str(mean).count("sin(x1)") == 1


def test_formulas_of_other_functions_go_together():
    names = ["a", "b"]
    one = Tree.parse("max(a, 0)", names, PrimitiveSet(["+", "*", "max"]))
    other = Tree.parse("bump(b)", names, PrimitiveSet(["+", "*", "bump(x) = x*x + x"]))
    mean = weighed([other, one], np.ones(2))
    np.testing.assert_allclose(mean.evaluate(np.array([[2.0, 3.0], [-2.0, 1.0]])), [7, 1])


def test_distances_are_mean_squares_in_parts_of_the_variance():
    X, noise = rows()
    weights = np.random.default_rng(3).uniform(size=len(X))
    data = Dataset(X, X[:, 0] + noise, weights=weights, dtype=np.float64)
    trees = [Tree.parse(t, data.names) for t in ("x0", "x0 + x1", "x2 - 1", "log(x0)")]
    apart = distances(trees, data)
    center = np.average(data.y, weights=weights)
    spread = np.average((data.y - center) ** 2, weights=weights)
    assert apart[0, 1] == pytest.approx(np.average(X[:, 1] ** 2, weights=weights) / spread)
    by_hand = np.average((X[:, 0] + X[:, 1] - X[:, 2] + 1) ** 2, weights=weights) / spread
    assert apart[1, 2] == apart[2, 1] == pytest.approx(by_hand)
    np.testing.assert_allclose(np.diag(apart), 0, atol=1e-12)
    assert (apart[3] == 0).all()  # nothing is known of it
    inside = distances(trees[:2], data.with_limits((-1.0, 1.0)))
    assert inside[0, 1] < apart[0, 1]


def test_the_error_of_a_mean_is_that_of_its_formulas_less_how_far_apart_they_are():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=5000)
    values = truth + rng.normal(size=(3, 5000)) * [[0.5], [0.6], [2.0]]
    errors = np.mean((values - truth) ** 2, axis=1)
    apart = np.mean((values[:, None] - values) ** 2, axis=2)
    means = list(taken(errors, apart, lambda counts, new: True))
    for mean in means:
        exact = np.mean((mean.counts @ values / mean.counts.sum() - truth) ** 2)
        assert mean.error == pytest.approx(exact)
    best = min(means, key=lambda m: m.error)
    assert best.counts[0] >= best.counts[1] > 4 * best.counts[2]
    assert best.error < 0.7 * errors[0]
    alone = list(taken(errors, apart, lambda counts, new: False))
    assert all(mean.counts[1:].sum() == 0 for mean in alone)
    order = [2, 0, 1]  # the chosen one seems to be the worst, and keeps its share all the same
    means = list(taken(errors[order], apart[np.ix_(order, order)], lambda counts, new: True))
    assert all(mean.counts[0] >= OWN * mean.counts.sum() for mean in means)
    assert means[-1].counts[1:].sum() > 0


def test_formulas_that_err_differently_become_a_mean():
    data, one, other = example()
    mean = mixed(one, [other], data)
    assert mean.loss < 0.6 * one.loss
    assert mean.unseen < 0.8 * one.unseen
    np.testing.assert_allclose(
        mean.tree.evaluate(data.X, dtype=np.float64),
        np.sin(2 * data.X[:, 0]) + data.X[:, 1],
        atol=0.05,
    )


def test_a_mean_must_be_worth_its_length():
    data, one, other = example()
    worse = replace(other, unseen=0.5)  # expected to be worse by more than it differs
    assert mixed(one, [worse], data) is one
    near = formula("sin(2*x0) + x1 + 0.35*x2 + 0.06*x3", data, 0.2)
    apart = distances([one.tree, near.tree], data)
    best = min(m.error for m in taken(np.full(2, 0.2), apart, lambda *_: True))
    assert WORTH < best / 0.2 < 1
    assert mixed(one, [near], data) is one
    assert mixed(one, [replace(other, unseen=0.3)], data) is not one
    few, one, other = example(20)  # rows that say little
    assert mixed(one, [replace(other, unseen=0.3)], few) is one


def test_a_mean_is_no_larger_than_formulas_may_be():
    data, one, _ = example()
    long = " + ".join(f"{0.02 + 0.01 * k}*sin({k + 1}*x2)" for k in range(8))
    other = formula(f"sin(2*x0) + x1 - 0.4*x2 + {long}", data, 0.2)
    mean = mixed(one, [other], data)
    assert size(mean.tree.sympy()) > 40
    search = GuidedDGP()
    small = replace(search, islands=replace(search.islands, max_size=40))
    assert mixed(one, [other], data, small) is one


def test_what_is_no_choice_by_itself_is_left_out():
    data, one, other = example()
    pole = formula("sin(2*x0) + x1 - 0.4*x2 + 0.0001/(x3 - 0.00012345)", data, 0.2)
    chance = replace(other, words=1e6)
    assert mixed(one, [pole], data) is one
    assert mixed(one, [chance], data) is one
    assert mixed(one, [pole, other], data) is not one
    rule = replace(GuidedDGP(), constraints=Constraints(monotone={"x1": -1}))
    assert mixed(one, [other], data, search=rule) is one


def test_constants_and_laws_stay_and_so_does_what_has_no_sums():
    data, one, other = example()
    constant = Formula(Tree.parse("0.5", data.names), 1.0, 0.0, 0.0, constant=True)
    assert mixed(constant, [other], data) is constant
    X, _ = rows()
    exact = Dataset(X, X[:, 0] + X[:, 1], dtype=np.float64)
    law = formula("x0 + x1", exact, 1e-20)
    assert mixed(law, [other], exact) is law
    plain = replace(GuidedDGP(), primitives=PrimitiveSet(["+", "sin"]))
    assert mixed(one, [other], data, search=plain) is one


def table(n, seed):
    """Return a table with a target that is no short formula."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    rng = np.random.default_rng(7)
    steps = np.tanh(1.5 * X @ rng.normal(size=(4, 8)) + rng.normal(size=8))
    return X, steps @ rng.normal(size=8) + 0.6 * np.random.default_rng(seed + 1).normal(size=n)


def test_the_accurate_formula_predicts_new_rows_better():
    X_test, y_test = table(3000, 99)
    gains, sizes = [], []
    for seed in range(6):
        X, y = table(150, seed)
        options = {"max_evaluations": 20_000, "random_state": seed}
        balanced = DGPRegressor(**options).fit(X, y)
        accurate = DGPRegressor(model_selection="accurate", **options).fit(X, y)
        gains.append(accurate.score(X_test, y_test) - balanced.score(X_test, y_test))
        sizes.append(size(accurate.sympy()))
        assert accurate.equations_["chosen"].sum() == 1
        np.testing.assert_allclose(accurate.predict(X), accurate.tree_.evaluate(X))
    assert np.mean(gains) > 0.004
    assert max(sizes) <= 75


@pytest.mark.parametrize(
    "changes",
    [{}, {"model_selection": "simple"}, {"model_selection": "accurate", "loss": "absolute"}],
)
def test_other_choices_and_losses_have_no_means(changes, monkeypatch):
    monkeypatch.setattr("symgrad.blend.blend", None)
    X, y = table(100, 0)
    est = DGPRegressor(max_evaluations=3000, random_state=0, **changes).fit(X, y)
    assert est.tree_.size > 1


def test_limits_hold_for_means():
    X, y = table(150, 1)
    y = np.clip(y, -1.0, 1.5)
    est = DGPRegressor(model_selection="accurate", max_evaluations=10_000, random_state=0)
    values = est.fit(X, y).tree_.evaluate(np.random.default_rng(5).normal(size=(500, 4)))
    assert est.score(X, y) > 0.4
    assert values.min() >= -1
    assert values.max() <= 1.5
