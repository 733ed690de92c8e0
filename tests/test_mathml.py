import xml.etree.ElementTree as ET
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from strategies import trees

from symgrad import PrimitiveSet, Tree
from symgrad.language.primitive import CONSTANT
from symgrad.language.table import BUILTINS
from symgrad.tree.generate import generate
from symgrad.tree.names import FeatureNames


def parsed(tree, digits=4):
    return ET.fromstring(f"<div>{tree.mathml(digits)}</div>")


def words(text, names=None):
    return "".join(parsed(Tree.parse(text, names)).itertext()).replace("\u2061", "").split()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a + (b - c)", "a +b −c"),
        ("a - (b - c)", "a −(b−c)"),
        ("a + -2*b", "a −2⋅b"),
        ("a - -2*b", "a +2⋅b"),
        ("a + (-b + c)", "a +(−b+c)"),
        ("a*(b + c)", "a⋅(b +c)"),
        ("a*-b", "a⋅(−b)"),
        ("-(a + b)", "−(a+b)"),
        ("neg(neg(a))", "a"),
        ("sin(a + b)", "sin(a+b)"),
        ("max(a, b)", "max(a,b)"),
        ("(a + b)^2", "(a+b)2"),
        ("sin(a)^2", "sin(a)2"),
        ("1.5e-9*a", "1.5⋅10−9⋅a"),
        ("abs(a)", "|a|"),
    ],
)
def test_signs_and_parentheses(text, shown):
    assert words(text, ["a", "b", "c"]) == shown.split()


def test_fractions_roots_and_powers_are_drawn():
    tree = parsed(Tree.parse("sqrt(x0)/x1 + x2^(x0 + 1) + inv(x1)"))
    for tag in ("mfrac", "msqrt", "msup", "msub"):
        assert tree.find(f".//{tag}") is not None


def as_python(node):
    """Return what is seen as a Python expression: as in print, rows alone bind nothing."""
    signs = {"−": "-", "⋅": "*", "\u2061": ""}
    if len(node) == 0:
        return signs.get(node.text, node.text)
    parts = [as_python(child) for child in node]
    if node.tag == "mfrac":
        return f"(({parts[0]})/({parts[1]}))"
    if node.tag == "msup":
        return f"{parts[0]}**({parts[1]})"
    if node.tag == "msqrt":
        return f"sqrt({parts[0]})"
    if node.tag == "mrow" and parts[0] == "|":
        return f"abs({''.join(parts[1:-1])})"
    return "".join(parts)


def test_what_is_seen_is_what_is_meant():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.2, 1.5, size=(20, 4))
    forest = generate(rng, 400, n_features=4, primitives=PrimitiveSet(), max_depth=4)
    space = {p.name: partial(p.define, np) for p in BUILTINS}
    space |= {"sqrt": np.sqrt, "abs": np.abs} | {f"x{j}": X[:, j] for j in range(4)}
    compared = 0
    for tree in forest:
        constants = np.where(tree.code == CONSTANT, rng.normal(size=tree.size).round(2), 0.0)
        tree = Tree(tree.code, constants, tree.primitives, tree.names)
        expected = tree.evaluate(X)
        if np.isfinite(expected).all() and np.abs(expected).max() < 1e6:
            with np.errstate(all="ignore"):
                seen = eval(as_python(parsed(tree, None)), dict(space))
            np.testing.assert_allclose(seen + 0 * expected, expected, rtol=1e-6, atol=1e-9)
            compared += 1
    assert compared > 200


@given(trees())
def test_it_is_well_formed_for_any_names(tree):
    root = parsed(tree)
    for tag in ("mfrac", "msup", "msub"):
        assert all(len(node) == 2 for node in root.iter(tag))


def test_every_primitive_is_written():
    primitives = PrimitiveSet().extend("gauss(x) = exp(-x*x)")
    for primitive in primitives:
        arguments = ", ".join(["x0", "x1"][: primitive.arity])
        root = parsed(Tree.parse(f"{primitive.name}({arguments})", None, primitives))
        assert root.find("math") is not None


def test_names_are_text():
    hostile = [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "a&b",
        "\ud800\0\u202e",
    ]
    tree = Tree([~0, ~1, 0, ~2, 0, ~3, 0], np.zeros(7), None, FeatureNames(hostile))
    root = parsed(tree)
    assert {node.tag for node in root.iter()} <= {"div", "math", "mrow", "mo", "mtext"}
    shown = [node.text for node in root.iter("mtext")]
    assert shown == [*hostile[:3], "\ufffd\ufffd\ufffd"]


def test_lines_may_end_between_terms():
    assert len(parsed(Tree.parse("a + b - sin(c + a)", ["a", "b", "c"])).findall("math")) == 3
    assert len(parsed(Tree.parse("2*(a + b)", ["a", "b"])).findall("math")) == 2
