import numpy as np
import pytest

from symgrad import Dataset, Forest, PrimitiveSet, Tree
from symgrad.data.constants import fit_constants
from symgrad.data.evaluate import score


def noisy(rows=300, dtype=np.float64, weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3))
    y = 4 * np.exp(-0.7 * X[:, 0] ** 2) + 2 * np.sin(1.7 * X[:, 1] + 0.3) + 0.5 * X[:, 2] - 3
    return Dataset(X, y, dtype=dtype, weights=weights)


START = "exp(-1*x0*x0)*1 + sin(1.5*x1 + 0.1)*1 + 1*x2"


@pytest.mark.parametrize("rows", [50, 3000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constants_are_found_and_the_line_is_free(rows, dtype):
    fitted = fit_constants(Forest.from_strings([START]), noisy(rows, dtype))
    assert fitted.error[0] < (1e-10 if dtype == np.float32 else 1e-20)
    a, b, c, d, e, f = fitted.forest[
        0
    ].constants  # of exp, its weight, of sin (two), its weight, of x2
    np.testing.assert_allclose([a, c, d], [-0.7, 1.7, 0.3], rtol=1e-3)
    np.testing.assert_allclose([b / f, e / f], [8, 4], rtol=1e-3)


def test_without_a_line_constants_do_all():
    data = noisy()
    start = Forest.from_strings([f"{START} + 0.1"])
    fitted = fit_constants(start, data, scale=False, steps=60)
    assert fitted.error[0] < 1e-15
    np.testing.assert_allclose(fitted.forest.evaluate(data.X)[0], data.y, atol=1e-6)


def test_the_error_is_that_of_scoring():
    data = noisy()
    forest = Forest.from_strings([START, "x0*2 + x1", "3", "x0"])
    fitted = fit_constants(forest, data, steps=2)
    scores = score(fitted.forest, data)
    np.testing.assert_allclose(fitted.error, 1 - scores.r2, rtol=1e-9)
    np.testing.assert_allclose(fitted.slope, scores.slope, rtol=1e-9)
    np.testing.assert_allclose(fitted.intercept, scores.intercept, rtol=1e-9)
    assert (fitted.error <= 1 - score(forest, data).r2 + 1e-12).all()


def test_weights_count_like_repeated_rows():
    rng = np.random.default_rng(1)
    X, times = rng.normal(size=(40, 1)), rng.integers(1, 5, 40)
    y = np.exp(1.5 * X[:, 0]) + rng.normal(size=40)
    forest = Forest.from_strings(["exp(1*x0)"])
    once = fit_constants(forest, Dataset(X, y, weights=times, dtype=np.float64))
    again = Dataset(np.repeat(X, times, 0), np.repeat(y, times), dtype=np.float64)
    repeated = fit_constants(forest, again)
    np.testing.assert_allclose(once.forest[0].constants, repeated.forest[0].constants, rtol=1e-6)


def test_what_cannot_be_fitted_stays():
    data = noisy()
    forest = Forest.from_strings(["log(x0)*2", "x0", "exp(1000*x1)"])
    fitted = fit_constants(forest, data)
    error = fitted.error
    assert fitted.forest == forest
    assert error[0] == error[2] == np.inf
    assert np.isfinite(error[1])


def test_what_varies_next_to_nothing_is_a_constant():
    X = np.random.default_rng(0).uniform(0.9, 1, size=(30, 1))
    data = Dataset(X, X[:, 0], dtype=np.float64)
    fitted = fit_constants(Forest.from_strings(["exp(-400*x0)", "x0*1e-25"]), data)
    assert fitted.error[0] == 1
    assert fitted.slope[0] == 0
    assert fitted.error[1] < 1e-12


def test_composed_primitives_and_any_number_of_threads():
    primitives = PrimitiveSet(["+", "*", "bell(x, s) = exp(-s*x*x)"])
    forest = Forest.of([Tree.parse("bell(x0, 2)", primitives=primitives)] * 5)
    data = Dataset(noisy().X, np.exp(-0.7 * noisy().X[:, 0] ** 2), dtype=np.float64)
    one = fit_constants(forest, data, n_jobs=1)
    many = fit_constants(forest, data, n_jobs=3)
    assert one.forest == many.forest
    assert one.forest[0].constants[0] == pytest.approx(0.7)


def test_bad_input():
    with pytest.raises(ValueError, match="no target"):
        fit_constants(Forest.from_strings(["x0"]), Dataset(np.ones((3, 1))))
    with pytest.raises(ValueError, match="steps"):
        fit_constants(Forest.from_strings(["x0"]), noisy(), steps=-1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("outer", ["3*({}) + 7", "-2*(1.5*({}) + 4) + 7"])
def test_constants_that_only_the_line_could_tell_are_no_hindrance(dtype, outer):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    data = Dataset(X, np.sin(1.3 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2], dtype=dtype)
    tree = Tree.parse(outer.format("sin(1*x0) + 0.2*(x1*x2)"))
    assert fit_constants(Forest.of([tree]), data, steps=50).error[0] < 1e-10


def test_there_may_be_dozens_of_constants():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    tree = Tree.parse(" + ".join(f"1*x{j}" for j in range(40)))
    data = Dataset(X, X @ rng.normal(size=40), dtype=np.float64)
    assert fit_constants(Forest.of([tree]), data).error[0] < 1e-12
