import itertools
import math

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import DEFINITIONS

from symgrad import PrimitiveSet, Tree
from symgrad.language.table import BUILTINS

PRIMITIVES = PrimitiveSet([*(p.name for p in BUILTINS), *DEFINITIONS])
RULE = {p.name: p.interval for p in PRIMITIVES}
BOXES = [(-3.0, -2.0), (-2.0, 2.0), (-1.0, 1.0), (-1.0, 0.0), (0.0, 1.0), (0.3, 0.9), (1.0, 4.5),
         (0.0, 20.0), (0.0, 0.0), (2.0, 2.0), (-3.0, -3.0), (0.5, 0.5)]  # fmt: skip
each = pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)

ends = st.one_of(
    st.integers(-6, 6).map(float),
    st.floats(-2, 2),
    st.floats(-1000, 1000),
    st.sampled_from([1e-310, -1e-310, 1e-200, 1e5, -1e5, math.pi, math.pi / 2, -math.pi, 710.0]),
)
intervals = st.one_of(
    st.tuples(ends, ends).map(lambda ab: (min(ab), max(ab))),
    ends.map(lambda a: (a, a)),
    ends.map(lambda a: (a, math.nextafter(a, math.inf))),
)
shares = st.lists(st.floats(0, 1), min_size=2, max_size=2)


def call(primitive):
    args = ", ".join(["x0", "x1"][: primitive.arity])
    return Tree.parse(f"{primitive.name}({args})", primitives=PRIMITIVES)


def inside(a, share):
    return min(max(a[0] + share * (a[1] - a[0]), a[0]), a[1])


@each
@given(data=st.data())
def test_every_exact_value_lies_inside(primitive, data):
    args = [data.draw(intervals) for _ in range(primitive.arity)]
    result = primitive.interval(*args)
    if result is None:
        return
    assert all(math.isfinite(end) for end in result)
    tree = call(primitive)
    rows = list(itertools.product(*args))
    rows += [[inside(a, s) for a, s in zip(args, data.draw(shares), strict=False)] for _ in "abc"]
    for row in rows:
        assert reference.lies_inside(tree, row, result), row


@each
def test_bounds_are_tight_and_none_means_undefined(primitive):
    answers = 0
    for box in itertools.product(BOXES, repeat=primitive.arity):
        grid = np.meshgrid(*(np.unique(np.linspace(*a, 101)) for a in box))
        with np.errstate(all="ignore"):
            values = primitive.define(np, *grid)
            defined = bool(np.all(primitive.domain(np, *grid)))
        poles = primitive.name == "tan" and np.abs(values).max() > 20
        result = primitive.interval(*box)
        assert (result is not None) == (defined and not poles), box
        if result is None or primitive.body is not None:
            continue
        answers += 1
        scale = 1 + np.abs(values).max()
        assert result[0] <= values.min() <= result[0] + 1e-3 * scale, box
        assert result[1] - 1e-3 * scale <= values.max() <= result[1], box
    assert answers > 3 or primitive.body is not None


@pytest.mark.parametrize(
    ("name", "args", "want"),
    [
        ("add", [(0.0, 1.0), (2.0, 3.0)], (2.0, 4.0)),
        ("mul", [(-2.0, 3.0), (-5.0, 7.0)], (-15.0, 21.0)),
        ("div", [(1.0, 2.0), (-4.0, -2.0)], (-1.0, -0.25)),
        ("inv", [(0.5, 4.0)], (0.25, 2.0)),
        ("square", [(-3.0, 2.0)], (0.0, 9.0)),
        ("cube", [(-3.0, 2.0)], (-27.0, 8.0)),
        ("sqrt", [(0.0, 9.0)], (0.0, 3.0)),
        ("abs", [(-3.0, 2.0)], (0.0, 3.0)),
        ("neg", [(-3.0, 2.0)], (-2.0, 3.0)),
        ("exp", [(0.0, 0.0)], (1.0, 1.0)),
        ("log", [(1.0, 1.0)], (0.0, 0.0)),
        ("cosh", [(0.0, 0.0)], (1.0, 1.0)),
        ("acos", [(1.0, 1.0)], (0.0, 0.0)),
        ("sigmoid", [(0.0, 0.0)], (0.5, 0.5)),
        ("sin", [(-100.0, 100.0)], (-1.0, 1.0)),
        ("sin", [(1e20, 1e21)], (-1.0, 1.0)),
        ("cos", [(-4.0, 0.0)], (-1.0, 1.0)),
        ("pow", [(-2.0, 3.0), (4.0, 4.0)], (0.0, 81.0)),
        ("pow", [(-2.0, -1.0), (-3.0, -3.0)], (-1.0, -0.125)),
        ("pow", [(0.0, 4.0), (0.5, 2.0)], (0.0, 16.0)),
        ("pow", [(0.0, 0.5), (0.0, 1.0)], (0.0, 1.0)),
        ("pow", [(-2.0, 2.0), (0.0, 0.0)], (1.0, 1.0)),
        ("min", [(0.0, 3.0), (1.0, 2.0)], (0.0, 2.0)),
        ("max", [(0.0, 3.0), (1.0, 2.0)], (1.0, 3.0)),
    ],
)
def test_ends_that_are_floats_are_kept(name, args, want):
    assert RULE[name](*args) == want


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("div", [(1.0, 1.0), (0.0, 1.0)]),
        ("div", [(0.0, 0.0), (-1.0, 1.0)]),
        ("inv", [(-1.0, 0.0)]),
        ("inv", [(1e-310, 1.0)]),
        ("log", [(0.0, 1.0)]),
        ("sqrt", [(-5e-324, 1.0)]),
        ("asin", [(0.0, math.nextafter(1, 2))]),
        ("acos", [(-1.5, 0.0)]),
        ("tan", [(1.0, 2.0)]),
        ("tan", [(0.0, 100.0)]),
        ("exp", [(0.0, 1000.0)]),
        ("cosh", [(-1000.0, 0.0)]),
        ("square", [(0.0, 1e200)]),
        ("add", [(0.0, 1.7e308), (0.0, 1.7e308)]),
        ("pow", [(0.0, 1.0), (-1.0, 1.0)]),
        ("pow", [(-1.0, 1.0), (0.5, 0.5)]),
        ("pow", [(-2.0, -1.0), (1.0, 2.0)]),
        ("pow", [(-1.0, 1.0), (-2.0, -2.0)]),
        ("pow", [(2.0, 3.0), (1e300, 1e300)]),
    ],
)
def test_none_where_undefined_or_too_large(name, args):
    assert RULE[name](*args) is None


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-300, max_value=1e300))
def test_one_number_stays_narrow(x):
    for name in ("sin", "log", "atan", "tanh", "sqrt", "neg", "abs"):
        low, high = RULE[name]((x, x))
        assert high - low <= 20 * math.ulp(max(abs(low), abs(high))) + 1e-300 or name == "sin"


def test_every_row_has_a_rule_of_its_own():
    assert len({p.interval for p in BUILTINS}) == len(BUILTINS)
