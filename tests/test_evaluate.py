"""Evaluation, gradients and scores of whole forests by the core."""

import os

import numpy as np
import pytest

from symgrad import Dataset, Forest, PrimitiveSet, Tree, _core
from symgrad.data.evaluate import Status, score
from symgrad.language.primitive import CONSTANT
from symgrad.tree.generate import generate

PRIMITIVES = PrimitiveSet(["+", "-", "*", "/", "sin", "cos", "exp", "log", "sqrt", "square", "tanh",
                           "gauss(x) = exp(-x*x)", "twice(x) = gauss(gauss(x) + x)"])  # fmt: skip


def some_trees(n=200, features=5, seed=0, **kwargs):
    kwargs = {"primitives": PRIMITIVES, "p_constant": 0.2, "max_depth": 5} | kwargs
    return generate(np.random.default_rng(seed), n, features, **kwargs)


def some_data(rows=300, features=5, seed=1):
    return np.random.default_rng(seed).uniform(0.3, 2.0, (rows, features))


def numpy_values(forest, X):
    def value(tree):
        result = tree.fold(
            variable=lambda j: X[:, j],
            constant=np.float64,
            function=lambda c, args: PRIMITIVES[c].define(np, *args),
        )
        return np.broadcast_to(result, len(X))

    with np.errstate(all="ignore"):
        return np.stack([value(t) for t in forest])


def assert_same_where_calm(got, want, rtol):
    """Compare values; chaotic formulas (sin of 1e10) may differ, but only few."""
    finite = np.isfinite(got) & np.isfinite(want)
    ordinary = np.abs(want) < 1e30  # float32 ends before float64
    assert (np.isfinite(got) == np.isfinite(want))[ordinary].mean() > 0.999
    error = np.abs(got[finite] - want[finite]) / (1 + np.abs(want[finite]))
    assert np.mean(error < rtol) > 0.995
    assert finite.mean() > 0.5


def test_core_agrees_with_the_numpy_fold():
    forest, X = some_trees(), some_data()
    want = numpy_values(forest, X)
    assert_same_where_calm(forest.evaluate(X), want, 1e-9)
    assert_same_where_calm(forest.evaluate(X.astype(np.float32)), want, 1e-3)


@pytest.mark.parametrize("rows", [1, 2, 15, 16, 17, 511, 512, 513, 1000, 8192, 8193, 20000])
def test_every_number_of_rows(rows):
    forest = Forest.from_strings(
        ["x0", "2.5", "x1*x0 + 3", "exp(x0)/x2", "2 - 3", "sin(4)", "3/x1"]
    )
    X = np.asfortranarray(some_data(rows, 3))
    x0, x1, x2 = X.T
    ones = np.ones(rows)
    want = [x0, 2.5 * ones, x1 * x0 + 3, np.exp(x0) / x2, -ones, np.sin(4) * ones, 3 / x1]
    np.testing.assert_allclose(forest.evaluate(X), want, rtol=1e-14)


def test_a_row_has_the_same_value_wherever_it_stands():
    forest = some_trees()
    X = np.asfortranarray(some_data(1000).astype(np.float32))
    whole = forest.evaluate(X)
    for first, last in ((0, 1), (3, 40), (17, 600), (990, 1000)):
        part = forest.evaluate(np.asfortranarray(X[first:last]))
        np.testing.assert_array_equal(part, whole[:, first:last])


@pytest.mark.parametrize("rows", [100, 30_000])
def test_same_bits_for_any_number_of_threads(rows):
    forest, X = some_trees(50), np.asfortranarray(some_data(rows).astype(np.float32))
    data = Dataset(X, X[:, 0] * X[:, 1])
    values, scores = forest.evaluate(X, n_jobs=1), score(forest, data, n_jobs=1)
    gradients = forest[:10].gradient(X, n_jobs=1)
    for jobs in (2, 3, 7):
        np.testing.assert_array_equal(forest.evaluate(X, n_jobs=jobs), values)
        np.testing.assert_array_equal(forest[:10].gradient(X, n_jobs=jobs), gradients)
        again = score(forest, data, n_jobs=jobs)
        for name in ("mse", "r2", "slope", "intercept", "status"):
            np.testing.assert_array_equal(getattr(again, name), getattr(scores, name))


@pytest.mark.parametrize("rows", [1000, 3000])
def test_columns_that_are_asked_for_ahead_change_nothing(rows):
    # The wide table does not fit into the cache: there, what comes next is asked for.
    forest, X = some_trees(20, features=2000), some_data(rows, 2000).astype(np.float32)
    is_feature = (forest.code < 0) & (forest.code != CONSTANT)
    used, place = np.unique(~forest.code[is_feature], return_inverse=True)
    code = forest.code.copy()
    code[is_feature] = ~place
    narrow = Forest(code, forest.value, forest.offset, forest.primitives)
    few = np.asfortranarray(X[:, used])
    assert few.nbytes < 2**21 < X.nbytes
    np.testing.assert_array_equal(forest.evaluate(X), narrow.evaluate(few))
    np.testing.assert_array_equal(
        score(forest, Dataset(X, X[:, 0])).mse, score(narrow, Dataset(few, X[:, 0])).mse
    )


def test_gradients_agree_with_finite_differences():
    forest, X = some_trees(100, seed=3), some_data(20)
    gradients = forest.gradient(X)
    step = 1e-6
    checked = 0
    for t, tree in enumerate(forest):
        first = forest.offset[t]
        np.testing.assert_array_equal(gradients[forest.offset[t + 1] - 1], 1.0)
        for node in np.flatnonzero(tree.code == CONSTANT):

            def shifted(h, tree=tree, node=node):
                value = tree.value.copy()
                value[node] += h
                return Tree(tree.code, value, tree.primitives).evaluate(X)

            with np.errstate(all="ignore"):
                slope = (shifted(step) - shifted(-step)) / (2 * step)
            calm = np.isfinite(slope) & (np.abs(slope) < 1e3)
            got = gradients[first + node][calm]
            close = np.isclose(got, slope[calm], rtol=1e-4, atol=1e-4)
            checked += close.size
            assert close.mean() > 0.97 if close.size else True
    assert checked > 500


def test_gradient_of_features_is_the_sum_over_their_leaves():
    forest = Forest.from_strings(["x0*sin(x0) + x1^3"])
    X = some_data(50, 2)
    gradients = forest.gradient(X)
    x0, x1 = X.T
    leaves = {j: gradients[forest.code == ~j].sum(axis=0) for j in (0, 1)}
    np.testing.assert_allclose(leaves[0], np.sin(x0) + x0 * np.cos(x0))
    np.testing.assert_allclose(leaves[1], 3 * x1**2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [50, 9000])
def test_scores_are_least_squares(weighted, dtype, rows):
    X = some_data(rows)
    rng = np.random.default_rng(4)
    y = 1000 + np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=rows)
    w = rng.uniform(0, 2, rows) if weighted else None
    data = Dataset(X, y, weights=w, dtype=dtype)
    forest = some_trees(60, seed=5)
    values = forest.evaluate(data.X).astype(np.float64)
    scaled, plain = score(forest, data), score(forest, data, scale=False)
    weight = np.ones(rows) if w is None else w
    mean = np.average(y, weights=weight)
    for t, f in enumerate(values):
        if not np.isfinite(f).all():
            continue
        variance = np.average((y - mean) ** 2, weights=weight)
        mse = np.average((y - f) ** 2, weights=weight)
        assert plain.mse[t] == pytest.approx(mse, rel=1e-9)
        assert plain.r2[t] == pytest.approx(1 - mse / variance, rel=1e-9)
        assert (plain.slope[t], plain.intercept[t]) == (1, 0)
        rest = y - scaled.intercept[t] - scaled.slope[t] * f
        best = np.average(rest**2, weights=weight)
        assert scaled.mse[t] == pytest.approx(best, rel=1e-6, abs=1e-12 * variance)
        # No other line does better: the residual is orthogonal to the tree.
        spread = np.sqrt(np.average((f - np.average(f, weights=weight)) ** 2, weights=weight))
        assert (
            abs(np.average(rest * (f - f.mean()), weights=weight))
            <= 1e-5 * spread * best**0.5 + 1e-6
        )


def test_exact_fits_have_no_error():
    X = some_data(200)
    data = Dataset(X, 3 - 7 * np.exp(X[:, 0]) * X[:, 2], dtype=np.float64)
    s = score(Forest.from_strings(["exp(x0)*x2", "3 - 7*exp(x0)*x2"], data.names), data)
    assert s.mse == pytest.approx([0, 0], abs=1e-12)
    assert (s.slope[0], s.intercept[0]) == pytest.approx((-7, 3))
    assert s.r2 == pytest.approx([1, 1])


def test_trees_that_are_not_finite_are_invalid_with_the_reason():
    X = np.ones((2000, 2))
    X[1500, 0] = -1
    X[1700, 1] = 0
    data = Dataset(X, np.arange(2000.0), dtype=np.float64)
    names = data.names
    s = score(Forest.from_strings(["log(x0)", "1/x1", "x0*x1", "log(x0) + 1/x1", "1e200*x0*1e200"],
                                  names), data)  # fmt: skip
    reasons = [Status.NAN, Status.INFINITE, Status.VALID, Status.NAN, Status.INFINITE]
    assert s.status.tolist() == reasons
    assert s.valid.tolist() == [r == Status.VALID for r in reasons]
    assert np.isinf(s.mse[~s.valid]).all()
    assert (s.r2[~s.valid] == -np.inf).all()


def test_squares_beyond_the_range_are_invalid():
    data = Dataset(np.array([[1.0], [2.0]]), np.array([1.0, 3.0]), dtype=np.float64)
    s = score(Forest.from_strings(["1e200*x0"], data.names), data)
    assert s.status[0] == Status.INFINITE


def test_a_row_of_weight_zero_must_still_be_finite():
    data = Dataset(np.array([[1.0], [0.0], [2.0]]), [1.0, 2.0, 3.0], weights=[1, 0, 1])
    assert score(Forest.from_strings(["1/x0"], data.names), data).status[0] == Status.INFINITE


def test_constant_trees_score_as_the_mean():
    data = Dataset(some_data(), some_data()[:, 0])
    s = score(Forest.from_strings(["2.5", "x0 - x0 + 1e3"], data.names), data)
    assert s.r2 == pytest.approx([0, 0])
    assert s.slope.tolist() == [0, 0]
    assert s.intercept == pytest.approx([data.y.mean()] * 2)


def test_score_needs_a_target():
    data = Dataset(some_data())
    with pytest.raises(ValueError, match="no target"):
        score(Forest.from_strings(["x0"], data.names), data)


def test_the_core_refuses_what_does_not_fit():
    forest = Forest.from_strings(["x0 + x3"])
    X = np.asfortranarray(some_data(10, 4))
    out = np.empty((1, 10))
    core, _ = forest.bind(X)
    narrow = np.asfortranarray(X[:, :3])
    with pytest.raises(ValueError, match="fewer columns"):
        _core.evaluate(core, narrow, out, False, 1)
    with pytest.raises(ValueError, match="shape"):
        _core.evaluate(core, X, out[:, :5].copy(), False, 1)
    with pytest.raises(TypeError):
        _core.evaluate(core, np.ascontiguousarray(X), out, False, 1)  # row-major
    with pytest.raises(TypeError):
        _core.evaluate(core, X.astype(np.int64), out, False, 1)
    with pytest.raises(ValueError, match="no rows"):
        _core.evaluate(core, X[:0], out[:, :0].copy(), False, 1)
    with pytest.raises(ValueError, match="one value per row"):
        _core.score(core, X, np.ones(9), np.empty(0), True, np.empty((1, 5)), 1)


@pytest.mark.parametrize(
    ("code", "offset", "message"),
    [
        ([0], [0, 1], "lacks arguments"),
        ([-1, -2], [0, 2], "leaves 2 values"),
        ([-1, 63], [0, 2], "unknown code"),
        ([-1, 64], [0, 2], "unknown code"),
        ([-1], [0, 2], "span"),
        ([-1, -1], [0, 2, 1], "span"),
        ([-1, -1], [0, 0, 2], "increasing"),
        ([-1], [1, 1], "span"),
    ],
)
def test_the_core_refuses_corrupt_forests(code, offset, message):
    none = (np.empty(0, np.int32), np.empty(0), np.zeros(1, np.int64), [])
    with pytest.raises(ValueError, match=message):
        _core.Forest(
            np.array(code, np.int32), np.zeros(len(code)), np.array(offset, np.int64), *none
        )


def test_ctrl_c_is_answered_within_a_second(press_ctrl_c):
    forest = some_trees(2000)
    X = np.asfortranarray(some_data(20_000).astype(np.float32))
    data = Dataset(X, X[:, 0])
    big = Forest.of(list(forest) * 25)
    since = press_ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        score(big, data, n_jobs=2)
    assert since() < 1.0


def test_memory_is_bounded_by_blocks_not_by_predictions():
    resource = pytest.importorskip("resource")
    forest = some_trees(2000)
    X = np.asfortranarray(some_data(20_000).astype(np.float32))
    data = Dataset(X, X[:, 0])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    score(forest, data, n_jobs=2)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    predictions = 4 * len(forest) * data.rows / 1024
    assert grown < 0.1 * predictions


def test_deep_and_wide_trees():
    deep = Tree.parse("sin(" * 5000 + "x0" + ")" * 5000)
    wide = Tree.parse(" + ".join(["x0*x1"] * 5000))
    X = some_data(100, 2)
    want = X[:, 0]
    for _ in range(5000):
        want = np.sin(want)
    np.testing.assert_allclose(deep.evaluate(X), want, rtol=1e-9)
    np.testing.assert_allclose(wide.evaluate(X), 5000 * X[:, 0] * X[:, 1])


def test_all_instruction_sets_agree():
    import subprocess
    import sys

    program = (
        "import numpy as np; from symgrad.tree.generate import generate; from symgrad import _core;"
        "f = generate(np.random.default_rng(0), 50, 3, p_constant=.2);"
        "X = np.random.default_rng(1).uniform(.3, 2, (300, 3));"
        "v = f.evaluate(X); print(_core.isa(), repr(np.nansum(np.tanh(v))), np.isfinite(v).sum())"
    )
    seen = {}
    for isa in ("baseline", "avx2", ""):
        env = {**os.environ, "SYMGRAD_ISA": isa}
        run = [sys.executable, "-W", "ignore", "-c", program]
        name, total, finite = subprocess.check_output(run, env=env, text=True).split()
        seen[name] = (float(total.removeprefix("np.float64(").rstrip(")")), int(finite))
    totals = list(seen.values())
    assert all(t == pytest.approx(totals[0], rel=1e-9) for t in totals)
