import math

import pytest
from strategies import DEFINITIONS

from symgrad import PrimitiveSet, Tree
from symgrad.language.enclosure import MAX_FACTORS, Enclosure
from symgrad.language.table import BUILTINS

PRIMITIVES = PrimitiveSet([*(p.name for p in BUILTINS), *DEFINITIONS])


def enclosure(text):
    tree = Tree.parse(text, ["a", "b"], PRIMITIVES)
    return Enclosure(tree.code, tree.value, PRIMITIVES.__getitem__)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a*a", (0.0, 4.0)),
        ("-a*a", (-4.0, 0.0)),
        ("3*a*b*a", (0.0, 24.0)),
        ("a*a*a", (-1.0, 8.0)),
        ("a^2*a*a", (0.0, 16.0)),
        ("a^2*(-a)*(-b)", (-2.0, 16.0)),
        ("a - a", (0.0, 0.0)),
        ("b/b", (1.0, 1.0)),
        ("a/a", None),
        ("a + a", (-2.0, 4.0)),
        ("min(a, a)", (-1.0, 2.0)),
        ("a*b - b*a", (0.0, 0.0)),
        ("(a + 1)*(a + 1)", (0.0, 9.0)),
        ("(a + 1)*(a + 2)", (0.0, 12.0)),
        ("mix(a, a) - mix(a, a)", (0.0, 0.0)),
        ("log(a) - log(a)", None),
        ("2.5", (2.5, 2.5)),
        ("b", (1.0, 2.0)),
    ],
)
def test_parts_that_meet_themselves(text, want):
    assert enclosure(text)([(-1.0, 2.0), (1.0, 2.0)]) == want


def test_definitions_are_folded():
    low, high = PrimitiveSet(["gauss(x) = exp(-x*x)"])[64].interval((-2.0, 1.0))
    assert high == 1.0
    assert low == pytest.approx(math.exp(-4))
    ratio = PrimitiveSet(["ratio(a, b) = a/b"])[64]
    assert ratio.interval((1.0, 2.0), (1.0, 2.0)) == (0.5, 2.0)
    assert ratio.diagonal((1.0, 2.0)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a + b", ""),
        ("a*a + b", ""),
        ("-a*b*a", ""),
        ("a*b + a", "a"),
        ("(a + b)/(1 + (a + b))", "ab"),
        ("gauss(a) + b", "a"),
        ("sin(a) - sin(a) + b/b", ""),
        ("2 + 2", ""),
    ],
)
def test_repeated_variables(text, want):
    assert enclosure(text).repeated == {"ab".index(name) for name in want}


def test_long_products_are_left_as_they_are():
    names = [f"x{j}" for j in range(1, MAX_FACTORS + 1)]
    tree = Tree.parse("*".join(["x0", *names, "x0"]))
    box = [(-1.0, 2.0)] + [(1.0, 1.0)] * MAX_FACTORS
    assert Enclosure(tree.code, tree.value, tree.primitives.__getitem__)(box) == (-2.0, 4.0)
