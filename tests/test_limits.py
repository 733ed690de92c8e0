import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from symgrad import Dataset, DGPRegressor, Forest, PrimitiveSet, Tree, _core
from symgrad.data.constants import fit_constants
from symgrad.data.limits import FEWEST, NONE, found, in_units, kept_inside, let_free, seen, told
from symgrad.data.loss import Loss
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.islands import Islands
from symgrad.search.guided import GuidedDGP

numbers = st.floats(-5, 5)
QUICK = {"max_evaluations": 20_000, "random_state": 0}


def clipped(rows=400, noise=0.0, seed=0, low=0.0, high=2.0, weights=None):
    """Return a product and a term, kept between limits, and two features that do not matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    y = X[:, 0] * X[:, 1] - X[:, 2] + 0.5 + noise * rng.normal(size=rows)
    data = Dataset(X, np.clip(y, low, high), weights=weights, dtype=np.float64)
    return data.with_limits((low, high))


def test_limits_are_where_rows_pile_up():
    y = np.concatenate([np.zeros(FEWEST), np.linspace(0.1, 1, 100)])
    assert found(y) == (0.0, np.inf)
    assert found(-y) == (-np.inf, 0.0)
    assert found(y[1:]) == NONE  # too few
    many = np.concatenate([np.zeros(FEWEST), np.linspace(0.1, 1, 10_000)])
    assert found(many) == NONE  # too small a share
    assert found(np.arange(100.0) % 2) == (0.0, 1.0)
    assert found(y, np.where(y == 0, 0.1, 1.0)) == NONE  # a share by weights
    assert found(y, np.where(y == 0, 0.0, 1.0)) == NONE
    assert in_units((-3.0, np.inf), 1.0, 2.0) == (-2.0, np.inf)


@given(st.sampled_from([-1.0, 0.3, 2.0]), numbers)
def test_beyond_a_limit_a_prediction_is_as_good_as_the_limit(y, p):
    limits = (-1.0, 2.0)
    free = (y == -1.0 and p < -1.0) or (y == 2.0 and p > 2.0)
    expected = 0.0 if free else (y - p) ** 2
    assert float(Loss().of(y, p, limits)) == pytest.approx(expected)
    assert float(seen(y, p, NONE)) == p
    core = Loss().core(np.array([0.0, 1.0]), limits)
    value, gradient, curvature = _core.loss_at(core, y, p)
    assert value == pytest.approx(expected)
    assert (gradient, curvature) == pytest.approx((0, 0) if free else (-2 * (y - p), 2))


def test_formulas_are_kept_inside_only_where_they_leave():
    tree = Tree.parse("3*x0", ["x0"], PrimitiveSet.paper())
    assert kept_inside(tree, [0.5, 1.0], (0.0, 2.0)) is tree
    assert str(kept_inside(tree, [-1.0, 1.0], (0.0, 2.0))) == "max(3*x0, 0)"
    both = kept_inside(tree, [-1.0, 3.0], (0.0, 2.0))
    assert both.evaluate(np.array([[-1.0], [0.5], [1.0]])).tolist() == [0, 1.5, 2]
    assert let_free(both, (0.0, 2.0)) == let_free(tree, (0.0, 2.0)) == tree.subtree(tree.size - 1)
    assert str(let_free(both, (1.0, 2.0))) == str(both)
    own = Tree.parse("max(x0, x1)", ["x0", "x1"])
    assert let_free(own, (0.0, 1.0)) is own


def test_rows_at_limits_tell_only_where_they_are():
    assert told(500.0, 100, 0.0, 0.0) == 500
    assert told(500.0, 100, 1.0, np.log(2)) == pytest.approx(200 * np.log(2))
    assert told(10.0, 100, 1.0, np.log(2)) == 10
    assert told(-10.0, 100, 0.4, 0.5) == -10
    half = Dataset(np.ones((4, 1)), [0.0, 1.0, 2.0, 2.0]).with_limits((-np.inf, 2.0))
    assert half.at_limits == pytest.approx((0.5, np.log(2)))
    assert half.with_weights(np.array([3.0, 3.0, 1.0, 1.0])).at_limits[0] == 0.25
    assert half.inside.y.tolist() == [0, 1]
    assert half.inside.limits == NONE
    assert half.inside.inside.at_limits == (0, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_line_is_the_best_there_is(dtype, weighted):
    weights = np.random.default_rng(1).uniform(0.1, 2, 700) if weighted else None
    data = clipped(700, noise=0.5, weights=weights)
    forest = Forest.from_strings(["x0*x1 - x2", "100 + x0", "sin(x2)*5", "x0*x0*x1"])
    fitted = fit_constants(forest, data, steps=0, dtype=dtype)
    mean = np.average(data.y, weights=weights)
    worst = np.average((data.y - mean) ** 2, weights=weights)
    for k, values in enumerate(forest.evaluate(data.X, dtype=np.float64)):

        def loss(line, values=values):
            return np.average(
                Loss().of(data.y, line[0] + line[1] * values, data.limits), weights=weights
            )

        best = minimize(loss, [mean - values.mean(), 1.0], method="Nelder-Mead",
                        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 5000})  # fmt: skip
        line = fitted.intercept[k], fitted.slope[k]
        assert loss(line) <= best.fun * (1 + 1e-4)
        assert fitted.error[k] == pytest.approx(loss(line) / worst, rel=1e-4)


@pytest.mark.parametrize("rows", [60, 3000])
def test_constants_are_fitted_to_what_can_be_seen(rows):
    data = clipped(rows)
    start = Forest.from_strings(["x0*x1 - 0.5*x2"])
    fitted = fit_constants(start, data)
    np.testing.assert_allclose(fitted.forest[0].constants, [1.0], rtol=1e-6)
    np.testing.assert_allclose([fitted.slope[0], fitted.intercept[0]], [1, 0.5], rtol=1e-6)
    plain = fit_constants(start, data.with_limits(NONE))
    assert fitted.error[0] < 1e-12 < 0.05 < plain.error[0]


def test_trees_that_are_not_finite_are_invalid():
    data = clipped()
    fitted = fit_constants(Forest.from_strings(["log(x0)", "1/(x0 - x0)", "3", "x0"]), data)
    assert np.isinf(fitted.error[:2]).all()
    assert fitted.error[2] == pytest.approx(1)
    assert 0 < fitted.error[3] < 1


@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (-np.inf, 2.0), (0.0, 2.0)])
def test_a_law_beyond_its_limits_is_found(low, high):
    data = clipped(300, low=low, high=high)
    est = DGPRegressor(max_evaluations=60_000, random_state=0).fit(data.X, data.y)
    assert set(est.tree_.features) == {"x0", "x1", "x2"}
    assert est.tree_.size <= 7 + 2 * np.isfinite([low, high]).sum()
    fresh = clipped(1000, low=low, high=high, seed=5)
    np.testing.assert_allclose(est.tree_.evaluate(fresh.X, dtype=np.float64), fresh.y, atol=1e-6)


def test_what_is_told_of_a_formula_is_of_what_it_predicts():
    data = clipped(300, noise=0.5)
    est = DGPRegressor(**QUICK).fit(data.X, data.y)
    for row, tree in zip(est.equations_.itertuples(), est.trees_, strict=True):
        values = tree.evaluate(data.X, dtype=np.float64)
        assert row.loss == pytest.approx(np.mean((values - data.y) ** 2))
        assert row.r2 == pytest.approx(1 - row.loss / data.y.var())
        assert 0 <= values.min() <= values.max() <= 2
        assert row.validation_r2 < row.r2 + 0.01
    assert est.score(data.X, data.y) > 0.7
    again = DGPRegressor(**QUICK, n_jobs=1).fit(data.X, data.y)
    assert again.equations_.equals(est.equations_)


def test_limits_may_be_given_or_left_out():
    data = clipped(300, noise=0.5)
    free = DGPRegressor(**QUICK, constraints=Constraints(limits=(None, None)))
    assert free.fit(data.X, data.y).tree_.evaluate(data.X).min() < 0
    wide = DGPRegressor(**QUICK, constraints=Constraints(limits=(-1.0, None)))
    wide.fit(data.X, data.y)
    assert wide.tree_.evaluate(data.X).min() >= -1
    assert wide.tree_.evaluate(data.X).max() > 2


@pytest.mark.parametrize(
    ("limits", "loss", "message"),
    [
        ((0.1, None), None, "limits must hold the target, which goes from 0 to 2"),
        ((None, 1), None, "limits must hold the target"),
        ((0, None), "absolute", "limits are for squared loss only, got loss 'absolute'"),
    ],
)
def test_limits_that_do_not_fit_are_refused(limits, loss, message):
    data = clipped(50)
    est = DGPRegressor(constraints=Constraints(limits=limits), loss=loss, max_evaluations=100)
    with pytest.raises(ValueError, match=message):
        est.fit(data.X, data.y)


@pytest.mark.parametrize("limits", [(1, 0), (0, 0), (0,), (0, 1, 2)])
def test_limits_are_a_least_and_a_greatest_value(limits):
    with pytest.raises(ValueError, match="a least and a greatest value"):
        Constraints(limits=limits)


def test_other_losses_have_no_limits_of_their_own():
    data = clipped(200)
    assert GuidedDGP().limits(data) == (0, 2)
    assert GuidedDGP(loss=Loss("absolute")).limits(data) == NONE


@pytest.mark.parametrize("seed", range(3))
def test_few_rows_of_two_classes_are_no_evidence(seed):
    """A thousand features separate any hundred rows, exactly."""
    rng = np.random.default_rng(1000 * seed)
    X, y = rng.normal(size=(100, 1000)), (rng.normal(size=100) > 0.5) * 1.0
    est = DGPRegressor(max_evaluations=15_000, random_state=seed).fit(X, y)
    assert est.tree_.size == 1


def test_two_classes_that_follow_a_rule_are_told_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] + X[:, 1] > 0) * 1.0
    est = DGPRegressor(**QUICK).fit(X, y)
    fresh = rng.normal(size=(1000, 6))
    told_apart = (est.predict(fresh) > 0.5) == (fresh[:, 0] + fresh[:, 1] > 0)
    assert set(est.tree_.features) == {"x0", "x1"}
    assert told_apart.mean() > 0.97


def test_small_effects_are_added_inside_the_limits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 40))
    z = 1 + X[:, :12] @ rng.uniform(0.2, 0.5, 12) + 0.3 * rng.normal(size=600)
    y = np.maximum(z, 0)
    est = DGPRegressor(max_evaluations=10_000, random_state=0).fit(X[:300], y[:300])
    assert est.tree_.evaluate(X).min() >= 0
    assert est.score(X[300:], y[300:]) > 0.8


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_no_advice_lies_beyond_a_limit(seed):
    data = clipped(80, noise=1.0, seed=seed)
    more = data.extended(data.X[:20], np.linspace(-3, 5, 20), np.ones(20))
    assert more.limits == data.limits
    assert (more.y.min(), more.y.max()) == (0, 2)


def test_the_search_has_the_limits_in_its_own_units():
    data = clipped(300)
    far = Dataset(data.X, 1e6 + 1e3 * data.y, dtype=np.float64).with_limits((1e6, 1e6 + 2e3))
    gentle = far.with_gentle_target()
    assert gentle.limits == (gentle.y.min(), gentle.y.max())
    est = DGPRegressor(**QUICK, islands=Islands(advice=0)).fit(far.X, far.y)
    assert est.score(far.X, far.y) > 0.99
