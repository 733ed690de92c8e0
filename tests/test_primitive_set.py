import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from strategies import DEFINITIONS, any_primitives

from symgrad import PrimitiveSet, Tree
from symgrad.language.primitive import FIRST_COMPOSED
from symgrad.language.primitive_set import MAX_COMPOSED, MAX_NESTING, PAPER
from symgrad.language.table import BUILTINS

X = np.array([[0.5, -1.5], [2.0, 3.0], [-0.25, 0.75]])


def values(formula, *definitions):
    return Tree.parse(formula, ["a", "b"], PrimitiveSet().extend(*definitions)).evaluate(X)


def test_the_default_is_every_built_in():
    assert PrimitiveSet().names == tuple(p.name for p in BUILTINS)


def test_the_papers_set():
    assert PrimitiveSet.paper().names == ("add", "sub", "mul", "div", "sin", "cos", "exp", "log")
    assert PrimitiveSet.paper() == PrimitiveSet(PAPER)


def test_names_signs_and_spaces_mean_the_same():
    assert PrimitiveSet(["+", "**", " sin "]) == PrimitiveSet(["add", "pow", "sin"])
    assert PrimitiveSet(["sin", "sin", "+", "add"]).names == ("sin", "add")


def test_order_is_kept():
    primitives = PrimitiveSet(["log", "f(x) = x^2", "+"])
    assert primitives.names == ("log", "f", "add")
    assert primitives.codes[1] == FIRST_COMPOSED
    assert [p.name for p in primitives] == ["log", "f", "add"]
    assert len(primitives) == 3
    assert "f" in primitives
    assert "+" in primitives
    assert "sin" not in primitives


@pytest.mark.parametrize(
    ("formula", "definitions", "expected"),
    [
        ("f(a)", ["f(x) = x^2 + 1"], lambda a, b: a**2 + 1),
        ("f(a, b)", ["f(u, v) = u - 2*v"], lambda a, b: a - 2 * b),
        ("f(b, a)", ["f(u, v) = u - 2*v"], lambda a, b: b - 2 * a),
        ("g(a)", ["f(x) = exp(-x*x)", "g(x) = f(x + 1)*f(x)"],
         lambda a, b: np.exp(-((a + 1) ** 2) - a**2)),
        ("h(a, b) + 1", ["f(x) = 2*x", "g(x, y) = f(y) - x", "h(p, q) = g(q, p)"],
         lambda a, b: 2 * a - b + 1),
        ("same(a)", ["same(x) = x"], lambda a, b: a),
        ("second(a, b)", ["second(x, y) = y + 0*x"], lambda a, b: b),
        ("f(f(f(a)))", ["f(x) = x*x"], lambda a, b: a**8),
        ("π2(a)", ["π2(x) = pi*x*2"], lambda a, b: 2 * np.pi * a),
    ],
)  # fmt: skip
def test_definitions_mean_what_they_say(formula, definitions, expected):
    assert np.allclose(values(formula, *definitions), expected(*X.T))


def test_definitions_may_use_primitives_outside_the_set():
    primitives = PrimitiveSet(["f(x) = sin(x)"])
    assert primitives.names == ("f",)
    assert np.allclose(Tree.parse("f(x0)", primitives=primitives).evaluate(X), np.sin(X[:, 0]))
    with pytest.raises(ValueError, match="unknown function 'sin'"):
        Tree.parse("sin(x0)", primitives=primitives)


@pytest.mark.parametrize(
    ("definitions", "reason"),
    [
        (["f(x) = y"], "unknown name 'y'"),
        (["f(x) = g(x)"], "unknown function 'g'"),
        (["f(x) = sin(x, x)"], "sin takes 1 argument and was given 2"),
        (["g(x) = x^2", "f(x) = g(x, x)"], "g takes 1 argument and was given 2"),
        (["f(x) = f(x - 1)"], "recursion is not allowed"),
        (["f(x) = g(x)", "g(x) = f(x)"], "unknown function 'g'"),
        (["f(x) = x", "f(x) = x + 1"], "taken by another primitive"),
        (["f(x) = x", "f(x, y) = x*y"], "taken by another primitive"),
        (["f(x, x) = x"], "must be distinct names"),
        (["f() = 1"], "must be distinct names"),
        (["f(x,) = x"], "must be distinct names"),
        (["f(1) = 1"], "must be distinct names"),
        (["f(x, y) = x"], "parameter 'y' is not used"),
        (["f(x) = 1"], "parameter 'x' is not used"),
        (["f(x, y, z) = x + y + z"], "1 or 2 parameters, not 3"),
        (["f(x) ="], "missing"),
        (["f(x) = x +"], "missing"),
        (["f(x) = (x"], "never closed"),
        (["f(x) = x == 1"], "unexpected character '='"),
        (["f(x) = x + 1/0"], "not a finite number"),
        (["f(x) = x + log(-1)"], "not a finite number"),
        (["f(x) = " + "+".join(["x"] * 600)], f"more than {MAX_COMPOSED} nodes"),
        (["f0(x) = x + x"] + [f"f{i + 1}(x) = f{i}(f{i}(x))" for i in range(12)],
         f"more than {MAX_COMPOSED} nodes"),
        (["f0(x) = x"] + [f"f{i + 1}(x) = f{i}(x)" for i in range(MAX_NESTING)],
         f"nested more than {MAX_NESTING} deep"),
        ([f"f{i}(x) = x" for i in range(MAX_COMPOSED + 1)], f"at most {MAX_COMPOSED} definitions"),
    ],
)  # fmt: skip
def test_bad_definitions_give_one_sentence(definitions, reason):
    with pytest.raises(ValueError, match=rf"^primitive '\w+' cannot be defined: .*{reason}") as e:
        PrimitiveSet(definitions)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("spec", ["f = x", "f(x = x", "=", "f(x)(y) = x", "2f(x) = x", "a+b = x"])
def test_what_does_not_look_like_a_definition(spec):
    with pytest.raises(ValueError, match="must look like"):
        PrimitiveSet([spec])


def test_other_errors():
    with pytest.raises(ValueError, match="'sin' cannot be defined: its name is taken"):
        PrimitiveSet(["sin(x) = x"])
    with pytest.raises(ValueError, match="unknown primitive 'sine'; the built-in ones are add, "):
        PrimitiveSet(["sine"])
    with pytest.raises(ValueError, match="at least one primitive"):
        PrimitiveSet([])
    with pytest.raises(TypeError, match="got one string"):
        PrimitiveSet("sin")
    with pytest.raises(TypeError, match="given as a string, got 3"):
        PrimitiveSet([3])


def test_a_feature_must_not_have_the_name_of_a_definition():
    primitives = PrimitiveSet(["+", "f(x) = x^2"])
    with pytest.raises(ValueError, match="primitive 'f' has the name of a feature"):
        Tree.parse("f(a)", ["a", "f"], primitives)
    primitives.check_features(["add", "a"])


@given(any_primitives)
def test_pickling_and_copying_keep_the_set(primitives):
    for other in (pickle.loads(pickle.dumps(primitives)), copy.deepcopy(primitives)):
        assert other == primitives
        assert hash(other) == hash(primitives)
        assert other.names == primitives.names
        assert other.codes == primitives.codes


def test_equality_is_by_meaning():
    one = PrimitiveSet(["+", "f(x) = x*2"])
    assert one == PrimitiveSet(["add", " f( y )=y * 2.0"])
    assert one != PrimitiveSet(["+", "f(x) = x*3"])
    assert one != PrimitiveSet(["+", "g(x) = x*2"])
    assert one != PrimitiveSet(["f(x) = x*2", "+"])
    assert one != PrimitiveSet(["+"])
    assert one != "+"


def test_extend_leaves_the_original_alone():
    small = PrimitiveSet(["+"])
    assert small.extend("f(x) = x + 1", "sin").names == ("add", "f", "sin")
    assert small.names == ("add",)


def test_domain_of_a_composed_primitive_is_all_of_its_steps():
    primitives = PrimitiveSet(["half(x) = sqrt(x) - 1", "f(x) = 1/half(x)"])
    f = primitives[FIRST_COMPOSED + 1]
    x = np.array([-1.0, 0.0, 0.5, 1.0, 4.0])
    with np.errstate(all="ignore"):
        assert f.domain(np, x).tolist() == [False, True, True, False, True]
        assert np.isfinite(f.smooth(np, x)).all()


def test_inner_steps_count_for_the_domain_even_if_the_value_is_finite():
    # exp(-1/x^2) is 0 at x = 0 in floating point, by way of an infinity
    f = PrimitiveSet(["f(x) = exp(-(1/x^2))"])[FIRST_COMPOSED]
    with np.errstate(divide="ignore"):
        assert f.domain(np, np.array([0.0, 1.0])).tolist() == [False, True]


def test_arities_of_codes():
    primitives = PrimitiveSet(["+", "sin", *DEFINITIONS[:2]])
    code = np.array([-1, *primitives.codes], np.int32)
    assert primitives.arities(code).tolist() == [0, 2, 1, 1, 2]
    for unknown in (2, 25, 63, FIRST_COMPOSED + 2, 2**31 - 1):
        with pytest.raises(ValueError, match=f"code {unknown} is no function"):
            primitives.arities(np.array([-1, unknown], np.int32))


def test_the_deepest_nesting_works():
    specs = ["f1(x) = x + 1"] + [f"f{i + 1}(x) = f{i}(x) + 1" for i in range(1, MAX_NESTING)]
    tree = Tree.parse(f"f{MAX_NESTING}(x0)", primitives=PrimitiveSet(specs))
    assert np.allclose(tree.evaluate(X), X[:, 0] + MAX_NESTING)
    assert tree == tree.subtree(1)
    assert tree.sympy().subs({"x0": 2}) == MAX_NESTING + 2


def test_a_thousand_definitions_work():
    specs = ["f0(x) = x + 1"] + [f"f{i}(x) = x + {i}" for i in range(1, MAX_COMPOSED)]
    tree = Tree.parse(f"f{MAX_COMPOSED - 1}(x0)", primitives=PrimitiveSet(specs))
    assert np.allclose(tree.evaluate(X), X[:, 0] + MAX_COMPOSED - 1)
