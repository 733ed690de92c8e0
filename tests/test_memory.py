import numpy as np
import pytest

from symgrad import Forest, PrimitiveSet
from symgrad.gpu.memory import plan

FOREST = Forest.from_strings(
    ["x0 + x1", "sin(x0)", "2.5", "x0*x1*x0"], ["x0", "x1"], PrimitiveSet.paper()
)
LEAF = (6 * 10 + 2 * 50) * 4
"""Bytes of one leaf: 10 features, 50 rows."""


def test_leaves_and_added_leaves_are_counted():
    got = plan(FOREST, 10, 50, 10**9)
    assert got.bounds.tolist() == [0, 4]
    assert got.needed.tolist() == [7 * LEAF]


@pytest.mark.parametrize(
    ("leaves", "bounds"), [(6, [0, 3, 4]), (4, [0, 3, 4]), (3, [0, 1, 3, 4]), (1, [0, 1, 2, 4])]
)
def test_parts_fit(leaves, bounds):
    got = plan(FOREST, 10, 50, leaves * LEAF)
    assert got.bounds.tolist() == bounds
    assert np.sum(got.needed) == 7 * LEAF


def test_the_plan_is_told_in_words():
    assert str(plan(FOREST, 10, 50, 10**9)).startswith("4 trees in 1 part of at most 0.00 GB")
    assert "in 3 parts" in str(plan(FOREST, 10, 50, 3 * LEAF))
