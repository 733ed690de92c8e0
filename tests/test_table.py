"""The native half of the primitive table is the same functions as the Python rows."""

import math

import mpmath
import numpy as np
import pytest
import sympy

from symgrad import Forest, PrimitiveSet, Tree, _core
from symgrad.language.table import BUILTINS, CODE_OF
from symgrad.tree.sympy_form import Namespace

NASTY = [0.0, -0.0, 1e-12, -1e-12, 1.0, -1.0, 1e8, -1e8]
COMPOSED = ["gauss(x) = exp(-x*x)", "mix(a, b) = gauss(a)*sin(b) + a/(1 + b^2)"]
PRIMITIVES = PrimitiveSet().extend(*COMPOSED)
ROWS = [pytest.param(p, smooth, id=f"{p.name}{'-smooth' * smooth}")
        for p in PRIMITIVES for smooth in (False, True)]  # fmt: skip


def forest_of(primitive):
    args = ", ".join(f"x{k}" for k in range(primitive.arity))
    return Forest.of([Tree.parse(f"{primitive.name}({args})", primitives=PRIMITIVES)])


def points(primitive, dtype):
    rng = np.random.default_rng(0)
    some = np.concatenate([NASTY, rng.normal(size=60) * 3, rng.uniform(-0.99, 0.99, 30)])
    if primitive.arity == 1:
        return np.asfortranarray(some[:, None], dtype=dtype)
    grid = np.stack(np.meshgrid(some[:30], some[:30]), axis=-1).reshape(-1, 2)
    return np.asfortranarray(grid, dtype=dtype)


def exact(primitive, smooth):
    """The row's value and partial derivatives in 50 digits, by SymPy's calculus."""
    symbols = sympy.symbols("a b", real=True)[: primitive.arity]
    expression = (primitive.smooth if smooth else primitive.define)(Namespace, *symbols)
    parts = [expression, *(sympy.diff(expression, s) for s in symbols)]
    steps = {"Heaviside": lambda x, *_: 1.0 if x > 0 else 0.0, "sign": lambda x: mpmath.sign(x)}
    functions = [sympy.lambdify(symbols, p, [steps, "mpmath"]) for p in parts]

    def number(function, row):
        try:
            with mpmath.workdps(50):
                value = function(*(mpmath.mpf(float(x)) for x in row))
            return float(value) if mpmath.im(value) == 0 else math.nan
        except (ZeroDivisionError, ValueError, OverflowError):
            return math.nan

    return lambda row: [number(f, row) for f in functions]


def test_core_lists_the_same_primitives_in_the_same_order():
    assert _core.primitives() == [(p.name, p.arity) for p in BUILTINS]
    assert all(BUILTINS[code].name == name or BUILTINS[code].symbol == name
               for name, code in CODE_OF.items())  # fmt: skip


@pytest.mark.parametrize(("primitive", "smooth"), ROWS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_those_of_the_row(primitive, smooth, dtype):
    X = points(primitive, dtype)
    got = forest_of(primitive).evaluate(X, smooth=smooth)[0]
    define = primitive.smooth if smooth else primitive.define
    with np.errstate(all="ignore"):
        want = define(np, *X.T.astype(np.float64)).astype(dtype)
    tolerance = 50 * np.finfo(dtype).eps
    if smooth or primitive.body is not None or dtype == np.float32:
        tolerance *= 100  # several rounded steps, or a row evaluated in another precision
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("primitive", "smooth"), ROWS)
def test_gradients_are_those_of_the_row(primitive, smooth):
    X = points(primitive, np.float64)
    if primitive.name in ("min", "max"):
        X = np.asfortranarray(X[X[:, 0] != X[:, 1]])  # any choice is right where they are equal
    got = forest_of(primitive).gradient(X, smooth=smooth)
    reference = exact(primitive, smooth)
    compared = 0
    for i, row in enumerate(X):
        value, *slopes = reference(row)
        if not np.isfinite(value) or (primitive.name == "abs" and row[0] == 0):
            continue
        for k, slope in enumerate(slopes):
            if np.isfinite(slope):
                assert got[k, i] == pytest.approx(slope, rel=1e-6, abs=1e-9), row
                compared += 1
    assert compared > 30


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_smooth_closures_are_finite_with_finite_gradients_everywhere(primitive, dtype):
    X = points(primitive, dtype)
    if primitive.body is None:
        values = forest_of(primitive).evaluate(X, smooth=True)
        assert np.isfinite(values).all()
        assert np.isfinite(forest_of(primitive).gradient(X, smooth=True)).all()


@pytest.mark.parametrize("primitive", BUILTINS, ids=lambda p: p.name)
def test_smooth_closures_are_close_inside_the_domain(primitive):
    rng = np.random.default_rng(1)
    X = rng.uniform(0.3, 0.9, (200, primitive.arity))
    forest = forest_of(primitive)
    np.testing.assert_allclose(forest.evaluate(X, smooth=True), forest.evaluate(X), rtol=2e-2)


def test_exact_mathematics():
    cases = {"log(x0)": [-1.0, np.nan], "1/x0": [0.0, np.inf], "x0/x0": [0.0, np.nan],
             "sqrt(x0)": [-1.0, np.nan], "log(x0 + 0)": [0.0, -np.inf], "exp(x0)": [1e4, np.inf],
             "pow(x0, 0.5)": [-4.0, np.nan], "pow(x0, 3)": [-2.0, -8.0]}  # fmt: skip
    for text, (x, want) in cases.items():
        for dtype in (np.float32, np.float64):
            got = Tree.parse(text).evaluate(np.full((1, 1), x, dtype))
            np.testing.assert_array_equal(got, np.array([want], dtype))


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "tanh", "tan", "sigmoid"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vector_math_is_accurate_to_a_few_ulp(name, dtype):
    rng = np.random.default_rng(2)
    scales = (1e-6, 1.0, 30.0, 3e3, 1e5, 1e7, 1e12)
    x = np.concatenate([rng.normal(size=3000) * s for s in scales]).astype(dtype)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, np.finfo(dtype).max], dtype)
    x = np.asfortranarray(np.concatenate([x, special])[:, None])
    got = Tree.parse(f"{name}(x0)").evaluate(x)
    row = BUILTINS[CODE_OF[name]]
    with np.errstate(all="ignore"):
        want = row.define(np, x[:, 0].astype(np.longdouble)).astype(dtype)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    finite = np.isfinite(want) & (np.abs(want) > np.finfo(dtype).tiny)
    ulp = np.spacing(np.abs(want[finite]))
    if name == "sigmoid":  # 1 + exp(-x) overflows before the true value underflows
        finite_got = got[finite]
        assert np.max(np.abs(finite_got - want[finite])) < 4 * np.finfo(dtype).eps
    else:
        assert np.max(np.abs(got[finite] - want[finite]) / ulp) <= 4
    np.testing.assert_array_equal(got[np.isinf(want)], want[np.isinf(want)])


def test_float_power_has_the_special_cases_of_the_library():
    values = np.array([0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 2.5, 1e-3, 1e20, -1e20, np.inf,
                       -np.inf, np.nan], np.float32)  # fmt: skip
    a, b = (g.ravel() for g in np.meshgrid(values, values))
    X = np.asfortranarray(np.stack([a, b], axis=1))
    with np.errstate(all="ignore"):
        want = np.power(a, b)
    got = Tree.parse("pow(x0, x1)").evaluate(X)
    plain = np.isfinite(a) & np.isfinite(b)
    np.testing.assert_allclose(got[plain], want[plain], rtol=1e-6)
