import numpy as np
import pytest

from symgrad import Dataset, Forest, PrimitiveSet, Tree, _core
from symgrad.search.safety import box, credible, is_safe, safe_ones
from symgrad.tree.bounds import bounds
from symgrad.tree.generate import generate

ALL = PrimitiveSet([name for name, _ in _core.primitives()])


def ranges(low, high, features=3):
    return np.full(features, float(low)), np.full(features, float(high))


@pytest.mark.parametrize(("low", "high"), [(-2, 2), (0.5, 3), (-3, -0.1), (0, 1), (-0.9, 0.9)])
@pytest.mark.parametrize("seed", range(3))
def test_the_core_finds_what_single_intervals_show(low, high, seed):
    forest = generate(
        np.random.default_rng(seed), 400, 3, primitives=ALL, p_constant=0.3, max_depth=5
    )
    within = ranges(low, high)
    found = set(safe_ones(forest, within).tolist())
    assert 20 < len(found) < 380
    X = np.random.default_rng(seed).uniform(low, high, size=(200, 3))
    X[:8] = np.array(np.meshgrid(*[[low, high]] * 3)).reshape(3, 8).T
    for k, tree in enumerate(forest):
        if k in found:
            assert np.isfinite(tree.evaluate(X)).all(), str(tree)
        else:  # bounds knows more, of features that occur twice
            known = bounds(tree, *within, 0)
            assert known is None or len(set(tree.feature_indices)) < tree.size // 2, str(tree)


@pytest.mark.parametrize(
    ("text", "safe"),
    [("1/x0", False), ("1/(x0*x0 + 1)", True), ("log(x1)", False), ("log(x1 - x1 + 2)", True),
     ("x0/x0", False), ("exp(exp(exp(exp(x0))))", False), ("x0 + x1", True)],
)  # fmt: skip
def test_poles_holes_and_overflow(text, safe):
    forest = Forest.from_strings([text], ["x0", "x1"])
    within = ranges(-2, 2, 2)
    assert (len(safe_ones(forest, within)) == 1) is safe
    assert is_safe(forest[0], within) is safe


def test_functions_of_users():
    primitives = PrimitiveSet.paper().extend("hill(x, k) = x/(x*x + k)")
    forest = Forest.from_strings(["hill(x0, 1)", "hill(x0, x1)"], ["x0", "x1"], primitives)
    assert safe_ones(forest, ranges(-2, 2, 2)).tolist() == [0]
    assert safe_ones(forest, ranges(1, 2, 2)).tolist() == [0, 1]


def test_the_box_has_a_margin():
    data = Dataset(np.array([[0.0, 1.0], [2.0, 5.0]]), np.arange(2.0))
    low, high = box(data, 0.5)
    np.testing.assert_array_equal(low, [-1, -1])
    np.testing.assert_array_equal(high, [3, 7])


def test_ranges_must_cover_the_features():
    with pytest.raises(ValueError, match="per feature"):
        safe_ones(Forest.from_strings(["x0 + x1"], ["x0", "x1"]), ranges(0, 1, 1))


def test_constants_need_rows():
    tree = Tree.parse("2*x0 + 1.5*x1")
    assert not credible(tree, 29)
    assert credible(tree, 30)
