import time

import numpy as np
import pytest
import reference
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import DEFINITIONS, NASTY_NAMES, tame_constants, tame_rows, trees

from symgrad import PrimitiveSet, Tree
from symgrad.language.table import BUILTINS

EVERY = PrimitiveSet([p.name for p in BUILTINS] + list(DEFINITIONS))
a, b = sympy.symbols("a b")
X = np.array([[0.5, 0.25], [0.9, -0.3], [0.1, 2.5], [-0.7, 3.0], [2.0, -1.0]])


def numeric(expression, rows=X):
    with np.errstate(all="ignore"):
        value = sympy.lambdify((a, b), expression, "numpy")(*np.asarray(rows, complex).T)
    value = np.broadcast_to(np.asarray(value, complex), len(rows))
    return np.where(np.abs(value.imag) < 1e-12, value.real, np.nan)


@pytest.mark.parametrize("primitive", EVERY, ids=lambda p: p.name)
def test_every_primitive_means_the_same_in_sympy(primitive):
    tree = Tree.parse(f"{primitive.name}({', '.join('ab'[: primitive.arity])})", ["a", "b"], EVERY)
    values = tree.evaluate(X)
    finite = np.isfinite(values)
    function = sympy.lambdify((a, b), tree.sympy(), "numpy")
    with np.errstate(all="ignore"):
        assert np.allclose(function(*X.T)[finite], values[finite], rtol=1e-12)
    by_hand = [complex(tree.sympy().subs({a: x, b: y}).evalf()) for x, y in X[finite]]
    assert np.allclose(by_hand, values[finite], rtol=1e-12)
    assert finite.sum() >= 2


@pytest.mark.parametrize("primitive", EVERY, ids=lambda p: p.name)
def test_every_primitive_comes_back(primitive):
    tree = Tree.parse(f"{primitive.name}({', '.join('ab'[: primitive.arity])})", ["a", "b"], EVERY)
    back = Tree.from_sympy(tree.sympy(), ["a", "b"])
    finite = np.isfinite(tree.evaluate(X))
    assert np.allclose(back.evaluate(X)[finite], tree.evaluate(X)[finite], rtol=1e-12)


@pytest.mark.parametrize("name", [*NASTY_NAMES, "beta", "gamma", "zeta", "Symbol('x')", "Q", "O"])
def test_any_name_is_a_plain_symbol(name):
    tree = Tree.parse("x + 2*y", ["x", "y"])
    tree = Tree(tree.code, tree.value, feature_names=[name, "another name"])
    expression = tree.sympy()
    assert expression.free_symbols == {sympy.Symbol(name), sympy.Symbol("another name")}
    assert expression == sympy.Symbol(name) + 2 * sympy.Symbol("another name")
    assert Tree.from_sympy(expression, tree.names) == tree


small = trees(
    primitives=st.just(EVERY), names=st.just(["a", "b"]), numbers=tame_constants, steps=10
)


@given(small, tame_rows)
def test_export_keeps_the_value(tree, row):
    try:
        expected = float(reference.evaluate(tree, row, bound=1e4))
    except reference.IllConditionedError:
        assume(False)
    assume(not tree.sympy().has(sympy.zoo))  # 0^a is 1 at a = 0, and at no other place
    got = complex(tree.sympy().subs(dict(zip((a, b), row, strict=True))).evalf(30))
    assert got.real == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert abs(got.imag) < 1e-9


@given(small, tame_rows)
def test_there_and_back_keeps_the_value(tree, row):
    try:
        expected = reference.evaluate(tree, row, bound=1e4)
    except reference.IllConditionedError:
        assume(False)
    assume(not tree.sympy().has(sympy.zoo))
    back = Tree.from_sympy(tree.sympy(), tree.names)
    assert reference.close(expected, reference.evaluate(back, row))


def real_expressions():
    leaves = st.one_of(
        st.sampled_from([a, b, sympy.pi, sympy.E, sympy.Rational(1, 3), sympy.GoldenRatio]),
        st.integers(-5, 5).map(sympy.Integer),
        st.floats(-4, 4).map(sympy.Float),
    )
    heads = [sympy.sin, sympy.cos, sympy.exp, sympy.Abs, sympy.atan, sympy.tanh, sympy.cosh]
    return st.recursive(
        leaves,
        lambda e: st.one_of(
            st.builds(lambda f, x: f(x), st.sampled_from(heads), e),
            st.builds(lambda *t: sympy.Add(*t), e, e, e),
            st.builds(lambda *t: sympy.Mul(*t), e, e),
            st.builds(lambda x, n: x if x.is_zero else x**n, e, st.integers(-4, 5)),
            st.builds(lambda x, y: x if y.is_zero else x / y, e, e),
            st.builds(lambda x: sympy.sqrt(1 + x**2), e),
            st.builds(lambda x, y: (1 + x**2) ** y, e, e),
            st.builds(lambda x, y: sympy.Max(x, y, 1), st.sampled_from([a, b]), st.just(a + b)),
        ),
        max_leaves=6,
    )


@given(real_expressions())
def test_import_keeps_the_value(expression):
    assume(not expression.has(sympy.zoo, sympy.nan, sympy.oo))
    constant = [e for e in sympy.preorder_traversal(expression) if e.is_number]
    assume(all(abs(complex(e.evalf())) < 1e300 for e in constant))  # Python's floats overflow
    expected = numeric(expression) if not expression.has(sympy.Max) else None
    assume(not expression.has(sympy.re, sympy.im, sympy.I))  # SymPy made the complex plane of it
    tree = Tree.from_sympy(expression, ["a", "b"])
    if expected is None:
        with np.errstate(all="ignore"):
            expected = sympy.lambdify((a, b), expression, "numpy")(*X.T)
        expected = np.broadcast_to(expected, len(X))
    values = tree.evaluate(X)
    good = np.isfinite(expected) & (np.abs(expected) < 1e6) & (np.abs(expected) > 1e-6)
    assert np.allclose(values[good], expected[good], rtol=1e-6)


@pytest.mark.parametrize(
    "names", [["+", "-", "*", "/"], ["+", "*", "inv"], ["+", "*", "^"], ["+", "*", "/", "^"]]
)
@pytest.mark.parametrize(
    "expression",
    [a - b, 1 / (a * b), a / b, 1 / a, -a, a / (b * (a + 3)), a**2 / b**3, 2 - a, -a - b, 1 / a**2],
    ids=str,
)
def test_import_makes_do_with_few_primitives(expression, names):
    tree = Tree.from_sympy(expression, ["a", "b"], PrimitiveSet(names))
    assert np.allclose(tree.evaluate(X), numeric(expression))


@pytest.mark.parametrize(
    "function", [sympy.cot, sympy.sec, sympy.csc, sympy.coth, sympy.sech, sympy.csch]
)
@pytest.mark.parametrize(
    "primitives", [None, [*PrimitiveSet().names[:9], "tan", "tanh", "sinh", "cosh"]]
)
def test_import_of_reciprocal_functions(function, primitives):
    chosen = primitives and PrimitiveSet(primitives)
    tree = Tree.from_sympy(b * function(a), ["a", "b"], chosen)
    assert np.allclose(tree.evaluate(X), numeric(b * function(a)))
    back = Tree.parse("tan(acos(0) - a)", ["a", "b"]).sympy()  # SymPy makes cot(a) of it
    assert np.allclose(Tree.from_sympy(back, ["a", "b"]).evaluate(X), 1 / np.tan(X[:, 0]))


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (sympy.gamma(a), "cannot express gamma"),
        (sympy.Function("f")(a), "cannot express f"),
        (sympy.I * a, "cannot express ImaginaryUnit"),
        (sympy.zoo, "cannot express ComplexInfinity"),
        (sympy.oo, "cannot express Infinity"),
        (sympy.nan, "cannot express NaN"),
        (a < b, "cannot express StrictLessThan"),
        (sympy.Eq(a, b), "cannot express Equality"),
        (sympy.true, "cannot express BooleanTrue"),
        (sympy.Piecewise((a, a > 0), (b, True)), "cannot express Piecewise"),
        (sympy.Integral(sympy.exp(-(a**2)), a), "cannot express Integral"),
        (sympy.Tuple(a, b), "cannot express Tuple"),
        (sympy.Symbol("c") + a, "unknown feature 'c'"),
        (sympy.Integer(10) ** 400, "too large"),
        (sympy.Float("1e400") * a, "too large"),
    ],
    ids=str,
)
def test_what_cannot_be_imported_is_named(expression, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        Tree.from_sympy(expression, ["a", "b"])
    assert "\n" not in str(caught.value)


def test_import_wants_sympy_and_the_needed_primitives():
    with pytest.raises(TypeError, match="expected a SymPy expression, got str"):
        Tree.from_sympy("a + b", ["a", "b"])
    with pytest.raises(ValueError, match="needs 'mul', which is not in the primitive set"):
        Tree.from_sympy(a * b, ["a", "b"], PrimitiveSet(["+"]))


def test_import_is_bounded():
    expression = a + 1
    for _ in range(6):
        expression = expression**13 + 1
    with pytest.raises(ValueError, match="more than 65536 nodes"):
        Tree.from_sympy(expression, ["a"], PrimitiveSet(["+", "*"]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9^9^9^9", sympy.oo),
        ("0.5^(9^9^9)", 0),
        ("exp(exp(exp(10.5)))", sympy.oo),
        ("(0 - 3)^(9^9)", -sympy.oo),
        ("log(-1)", sympy.nan),
        ("min(log(-1), a)", sympy.nan),
        ("asin(2) + a", sympy.nan),
        ("sqrt(0 - exp(1))", sympy.nan),
        ("1/0", sympy.oo),
        ("sin(1/0)", sympy.nan),
        ("1/3*a", a / 3),
        ("a^(1/2)", sympy.sqrt(a)),
        ("abs(exp(a))", sympy.exp(a)),
        ("sqrt(2)*a", sympy.sqrt(2) * a),
    ],
)
def test_numbers_are_those_of_real_floats_and_small_ones_exact(text, expected):
    started = time.perf_counter()
    assert Tree.parse(text, ["a"]).sympy() == expected
    assert time.perf_counter() - started < 2


def test_numbers_inside_definitions_may_be_zero():
    chosen = PrimitiveSet().extend("f(x) = atan(1/(x - 0.5))")
    assert float(Tree.parse("f(0.5)", primitives=chosen).sympy()) == pytest.approx(np.pi / 2)


def test_repeated_squares_do_not_explode():
    text = "9999991"
    for _ in range(60):
        text = f"square({text})"
    assert Tree.parse(text).sympy() == sympy.oo


@settings(max_examples=30)
@given(trees(steps=10))
def test_any_tree_can_be_exported(tree):
    assert isinstance(tree.sympy(), sympy.Basic)


def test_integers_stay_integers_and_floats_are_exact():
    assert Tree.parse("a^5 + 3", ["a"]).sympy() == a**5 + 3
    x = 0.1234567890123456789
    (number,) = Tree.parse(f"a + {x!r}", ["a"]).sympy().atoms(sympy.Float)
    assert float(number) == x


def test_ten_thousand_names_are_fast():
    names = [f"gene {i}" for i in range(10_000)]
    started = time.perf_counter()
    tree = Tree.parse("`gene 9999`*`gene 5`", names)
    assert Tree.from_sympy(tree.sympy(), tree.names) == tree
    assert time.perf_counter() - started < 2
