import math

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import ab, tame_constants, trees

from symgrad import PrimitiveSet, Tree
from symgrad.language.primitive import CONSTANT
from symgrad.language.table import CODE_OF
from symgrad.tree.bounds import bounds

numbers = st.one_of(st.integers(-4, 4).map(float), st.floats(-50, 50), st.floats(-1, 1))
ranges = st.tuples(numbers, numbers).map(sorted)


def of(text, *box, splits=256):
    low, high = zip(*box, strict=True)
    return bounds(Tree.parse(text), low, high, splits)


@given(
    trees(names=ab, numbers=tame_constants, steps=12),
    st.tuples(ranges, ranges),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=4, max_size=4),
)
def test_every_value_lies_inside(tree, box, shares):
    low, high = zip(*box, strict=True)
    result = bounds(tree, low, high, splits=16)
    if result is None:
        return
    for share in [(0, 0), (0, 1), (1, 0), (1, 1), *shares]:
        row = [min(a + s * (b - a), b) for s, (a, b) in zip(share, box, strict=True)]
        assert reference.lies_inside(tree, row, result), (str(tree), row)


@pytest.mark.parametrize(
    ("text", "box", "want"),
    [
        ("1/(1 + x0*x0)", [(-3, 3)], (0.1, 1)),
        ("log(x0)", [(0.1, 2)], (math.log(0.1), math.log(2))),
        ("x0/(x0 - 5)", [(0, 4)], (-4, 0)),
        ("sin(x0)", [(-50, 90)], (-1, 1)),
        ("sqrt(1 - x0^2)", [(-1, 1)], (0, 1)),
        ("asin(x0/2)", [(-2, 2)], (-math.pi / 2, math.pi / 2)),
        ("sqrt(16 - pow(x0, 4))", [(-2, 2)], (0, 4)),
        ("sqrt(-log(x0))", [(0.5, 1)], (0, math.sqrt(math.log(2)))),
        ("x0*x1", [(-1, 2), (3, 4)], (-4, 8)),
        ("exp(x0)/exp(x0)", [(-1, 1)], (1, 1)),
    ],
)
def test_bounds_of_formulas(text, box, want):
    assert of(text, *box, splits=0) == pytest.approx(want, abs=1e-14)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("1/x0", [(-1, 1)]),
        ("1/x0", [(0, 1)]),
        ("1/(x0 - 0.3) + x0", [(0, 1)]),
        ("exp(1000*x0)", [(0, 1)]),
        ("log(x0 - x1)", [(0, 1), (0.5, 2)]),
        ("1/(x0*x1 - x0 + 0.1)", [(0, 1), (0, 1)]),
        ("x0/x0", [(-1, 1)]),
        ("tan(x0*x0)", [(0, 2)]),
        ("pow(x0, x0)", [(-1, 1)]),
        ("log(0)", [(0, 1)]),
        ("log(x0)", [(0, 0)]),
    ],
)
def test_poles_are_seen(text, box):
    assert of(text, *box) is None


@pytest.mark.parametrize(
    ("text", "box", "want"),
    [
        ("1/(x0*x0 - 2*x0 + 3)", [(-3, 4)], (1 / 18, 0.5)),
        ("log(x0^2 - x0 + 1)", [(-3, 3)], (math.log(0.75), math.log(13))),
        ("1/(sin(x0)^2 + cos(x0)^2)", [(-5, 5)], (1, 1)),
        ("x0/(x0^2 - x0 - 1)", [(2, 4)], (4 / 11, 2)),
        ("1/(x0*x0 + x0*x1 + x1*x1 + 0.5)", [(-3, 3), (-3, 3)], (1 / 27.5, 2)),
        ("1/(x0*(1 - x0) + 1) + x1 + x2", [(0, 2), (-9, 9), (5, 5)], None),
        ("1/(x0^2 - 2*x0 + 3) + x1 + x2", [(-3, 4), (-9, 9), (5, 5)], (1 / 18 - 4, 14.5)),
    ],
)
def test_cutting_helps_where_a_feature_occurs_twice(text, box, want):
    assert of(text, *box, splits=0) is None
    result = of(text, *box)
    assert (result is None) == (want is None)
    if want is not None:
        assert result[0] <= want[0]
        assert want[1] <= result[1]


def test_definitions_are_looked_into():
    primitives = PrimitiveSet().extend("hill(x, k) = x/(x*x - x + k)")
    tree = Tree.parse("hill(x0, x1)", primitives=primitives)
    assert bounds(tree, [-3, 1], [3, 2]) is not None
    assert bounds(tree, [-3, 0], [3, 2]) is None


def test_only_features_in_use_matter():
    low, high = np.full(10_000, np.nan), np.full(10_000, -np.inf)
    low[[7, 9999]], high[[7, 9999]] = [1, 2], [3, 4]
    assert bounds(Tree.parse("x7*x9999"), low, high) == (2, 12)


def test_deep_and_wide_trees():
    size = 65_535
    half = size // 2
    chain = [~0] + [CODE_OF["sin"]] * (size - 1)
    low, high = bounds(Tree(chain, np.zeros(size)), [-1], [1])
    assert -1 <= low < 0 < high <= 1
    code = [~0] + [CONSTANT, CODE_OF["add"]] * half
    value = np.where(np.array(code) == CONSTANT, 2.0 ** -np.arange(size).clip(0, 20), 0.0)
    assert bounds(Tree(code, value), [0], [1]) is not None
    code = [~0] + [~0, CODE_OF["add"]] * half
    assert bounds(Tree(code, np.zeros(size)), [0], [1]) == (0, half + 1)
    code += [CODE_OF["inv"]]
    assert bounds(Tree(code, np.zeros(size + 1)), [-1], [1], splits=2) is None


@pytest.mark.parametrize(
    ("names", "low", "high", "message"),
    [
        (None, [0], [1, 1], r"low has 1 numbers, but feature 1 is in use"),
        (None, [0, 0], [1], r"high has 1 numbers, but feature 1 is in use"),
        (None, [0, 0], [1, 1, 1], r"the same length, got 2 and 3"),
        (["x0", "x1"], [0, 0, 0], [1, 1, 1], r"low has 3 numbers, but there are 2 features"),
        (None, 0, [1, 1], r"low must have 1 dimension, got 0"),
        (None, [[0, 0]], [[1, 1]], r"low must have 1 dimension, got 2"),
        (None, [0, np.nan], [1, 1], r"feature 'x1' must be finite .* got nan and 1.0"),
        (None, [0, 0], [1, np.inf], r"feature 'x1' must be finite .* got 0.0 and inf"),
        (None, [2, 0], [1, 1], r"feature 'x0' must be finite .* got 2.0 and 1.0"),
    ],
)
def test_errors_say_what_is_wrong(names, low, high, message):
    with pytest.raises(ValueError, match=message):
        bounds(Tree.parse("x0 + x1", names), low, high)
