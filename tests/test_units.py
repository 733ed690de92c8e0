import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tame_constants, trees

from symgrad import PrimitiveSet, Tree
from symgrad.tree.units import in_units

CENTER, SCALE = np.array([0.5, -1.0, 2.0]), np.array([2.0, 0.25, 3.0])


def test_a_line_in_standard_units_is_a_line_in_the_users():
    tree = Tree.parse("3*x0 - x1 + 1")
    plain = in_units(tree, CENTER, SCALE, 2.0, 5.0)
    assert plain == Tree.parse("3*x0 - 8*x1 - 2.5")


def test_factors_leave_products_and_quotients():
    assert in_units(Tree.parse("(2*x0)*(3*x1)")) == Tree.parse("6*(x0*x1)")
    assert in_units(Tree.parse("(2*x0)/(4*x1)")) == Tree.parse("0.5*(x0/x1)")
    assert in_units(Tree.parse("3/(6*x1)")) == Tree.parse("0.5/x1")
    assert in_units(Tree.parse("square(2*x0)")) == Tree.parse("4*square(x0)")
    assert in_units(Tree.parse("x0 + 2*x1 - x0")) == Tree.parse("2*x1")


def test_a_shared_weight_is_written_once():
    plain = in_units(Tree.parse("x0 + x1 - x2"), slope=0.3, intercept=2.0)
    assert plain == Tree.parse("0.3*(x0 + x1 - x2) + 2")
    assert in_units(Tree.parse("x0 + 2*x1"), slope=0.5) == Tree.parse("0.5*x0 + x1")


def test_sums_need_no_minus():
    primitives = PrimitiveSet(["+", "*", "sin"])
    tree = Tree.parse("sin(x0) + -2*x1", primitives=primitives)
    assert in_units(tree, slope=-1.0, intercept=-3.0).primitives == primitives
    lone = Tree.parse("sin(x0)", primitives=PrimitiveSet(["sin"]))
    assert in_units(lone, slope=2.0, intercept=1.0).names is lone.names


@given(
    trees(names=st.just(["a", "b", "c"]), numbers=tame_constants),
    st.floats(-3, 3),
    st.floats(-3, 3),
)
def test_values_are_kept(tree, slope, intercept):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with np.errstate(all="ignore"):
        expected = slope * tree.evaluate((X - CENTER) / SCALE) + intercept
        try:
            values = in_units(tree, CENTER, SCALE, slope, intercept).evaluate(X)
        except OverflowError:
            return
        # How much rounding of the argument may change the value.
        nudged = slope * tree.evaluate((X * (1 + 1e-12) - CENTER) / SCALE) + intercept
        tolerance = 1e-7 * np.abs(expected) + 1e3 * np.abs(nudged - expected) + 1e-7
        close = np.abs(values - expected) <= tolerance
    assert close[np.isfinite(expected) & np.isfinite(nudged) & np.isfinite(values)].all()


def test_the_units_do_not_matter_for_a_constant():
    assert in_units(Tree.parse("2 + 3"), CENTER, SCALE, 2.0, 1.0) == Tree.parse("11")
    assert in_units(Tree.parse("x0"), slope=0.0, intercept=4.0) == Tree.parse("4")
    with pytest.raises(IndexError):
        in_units(Tree.parse("x9"), CENTER, SCALE)
