import numpy as np
import pytest

from symgrad import Dataset, DGPRegressor, Forest, PrimitiveSet
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.front import Front
from symgrad.evolution.islands import Islands
from symgrad.search.base import State
from symgrad.search.guided import GuidedDGP
from symgrad.search.shelter import ENOUGH, TERMS, shelter
from symgrad.search.sums import sums
from symgrad.tree.bounds import bounds

PAPER = PrimitiveSet.paper()


@pytest.fixture
def data():
    return Dataset(np.random.default_rng(0).uniform(-1, 1, size=(100, 3)), np.arange(100.0))


def state(front, population, losses, data):
    best = Front()
    best.offer(Forest.from_strings(front, data.names, PAPER), np.array([0.1] * len(front)))
    trees = Forest.from_strings(population, data.names, PAPER)
    return State(np.random.default_rng(0), trees, np.array(losses), best)


def test_safe_trees_stand_in_for_one_with_a_pole(data):
    trees = ["x0/x1", "x1*x2", "log(x0)", "x0 + x1", "x2/(x1*x1 + 2)"]
    losses = [0.1, 0.3, 0.1, 0.2, np.nan]
    found = shelter(state(["1/x0"], trees, losses, data), data, GuidedDGP())
    assert [str(e.tree) for e in found[:2]] == ["x0 + x1", "x1*x2"]
    assert all(bounds(e.tree, [-1] * 3, [1] * 3) is not None for e in found)


def test_none_is_needed_beside_a_safe_or_an_exact_tree(data):
    assert shelter(state(["x0*x1"], ["x0"], [0.2], data), data, GuidedDGP()) == []
    nothing = state(["x0*x1"], ["x0"], [np.nan], data)
    nothing.front.best.clear()
    assert shelter(nothing, data, GuidedDGP()) == []
    law = state(["1/x0"], ["x0"], [0.2], data)
    law.front.offer(Forest.from_strings(["x1/x0"], data.names, PAPER), np.array([1e-20]))
    assert shelter(law, data, GuidedDGP()) == []


def test_the_box_has_its_margin_and_few_are_kept(data):
    risky = state(["1/(x0 + 1.2)"], ["x0 + x1"] * 20, [0.5] * 20, data)
    assert shelter(risky, data, GuidedDGP()) == []
    found = shelter(risky, data, GuidedDGP(constraints=Constraints(margin=0.5)))
    assert [str(e.tree) for e in found].count("x0 + x1") == ENOUGH


def test_sums_of_features_are_the_last_resort():
    X = np.random.default_rng(0).uniform(1, 3, size=(200, 300))
    data = Dataset(X, 2 * X[:, 7] - X[:, 250] + 5, dtype=np.float64)
    made = sums(PAPER, data, TERMS)
    assert set(made[1].feature_indices) == {7, 250}
    np.testing.assert_allclose(made[1].evaluate(data.X) + 5, data.y, rtol=1e-6)
    risky = state(["1/(x0 - 2)"], ["1/(x0 - 2)"], [0.1], data)
    assert len(shelter(risky, data, GuidedDGP())) == len(made)
    few = shelter(risky, data, GuidedDGP(islands=Islands(max_size=8)))
    assert [e.tree for e in few] == made[:2]
    assert shelter(risky, data, GuidedDGP(primitives=PrimitiveSet(["/", "sin"]))) == []


def test_a_safe_formula_is_chosen_though_the_front_is_full_of_poles():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, size=(300, 2))
    X[:, 1] = X[:, 0] + rng.uniform(0.1, 0.5, size=300)  # the corner of equal values is empty
    y = 1 / (X[:, 1] - X[:, 0]) + 0.5 * rng.normal(size=300)
    est = DGPRegressor(max_evaluations=20_000, random_state=0).fit(X, y)
    assert bounds(est.tree_, X.min(axis=0), X.max(axis=0)) is not None
    assert est.tree_ in est.trees_
    sizes = est.equations_["size"]
    assert sizes.is_monotonic_increasing
    assert est.score(X, y) > 0.5
