import pickle
from dataclasses import replace

import numpy as np
import pytest

from symgrad import Dataset
from symgrad.dgp.optimization import Optimization
from symgrad.evolution.islands import Islands
from symgrad.search.base import Budget, run
from symgrad.search.guided import GuidedDGP

SMALL = GuidedDGP(islands=Islands(islands=3, population=40, generations=2))


def data(rows=120, features=6, noise=0.1):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    y = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + noise * rng.normal(size=rows)
    return Dataset(X, y, dtype=np.float64)


def test_islands_come_together_when_exploration_is_over():
    counts = []
    run(
        SMALL,
        data(),
        Budget(iterations=6),
        np.random.default_rng(0),
        watch=lambda state: counts.append((len(state.bounds) - 1, state.merged)),
    )
    assert counts[0] == (3, False)
    assert counts[-1][1]
    assert sorted(merged for _, merged in counts) == [merged for _, merged in counts]


def test_a_state_can_be_stored_and_continued():
    rng = np.random.default_rng(0)
    half = run(SMALL, data(), Budget(iterations=2), rng)
    stored = pickle.loads(pickle.dumps(half))
    a, b = (run(SMALL, data(), Budget(iterations=4), s) for s in (half, stored))
    np.testing.assert_array_equal(a.population.code, b.population.code)
    np.testing.assert_array_equal(a.loss, b.loss)


def test_small_budgets_are_kept_approximately():
    state = run(SMALL, data(), Budget(evaluations=500), np.random.default_rng(0))
    assert 500 <= state.evaluations < 3000


def test_single_precision_until_formulas_are_nearly_exact():
    wide = data(rows=400, noise=0.0)
    first = SMALL.init(np.random.default_rng(0), wide, Budget())
    assert not SMALL.in_precision(first, wide).precise
    assert SMALL.in_precision(first, data()).precise  # few rows
    end = run(SMALL, wide, Budget(iterations=60), np.random.default_rng(0))
    assert end.iterations < 60  # an exact formula ends the search
    assert end.precise
    assert SMALL.found(end, wide)
    assert end.front.most_accurate.loss < 1e-20
    again = SMALL.in_precision(replace(end, precise=False), wide)
    assert np.isnan(again.loss).all()


@pytest.mark.parametrize("formula", ["x0*x1/(1 + x2^2)", "exp(-x0^2) + sin(2*x1)"])
def test_formulas_are_found(formula):
    from symgrad import Tree

    X = np.random.default_rng(1).normal(size=(200, 5))
    target = Tree.parse(formula).evaluate(X)
    search = GuidedDGP(islands=Islands(population=150))
    state = run(
        search, Dataset(X, target, dtype=np.float64), Budget(evaluations=300_000, target=1e-10),
        np.random.default_rng(0),
    )  # fmt: skip
    assert state.front.most_accurate.loss < 1e-6


def test_relaxation_is_one_more_operator():
    search = replace(SMALL, optimization=Optimization(trees=5, epochs=20))
    table, rng = data(), np.random.default_rng(0)
    state = search.step(search.init(rng, table, Budget(iterations=3)), table, Budget(iterations=3))
    new = np.isnan(state.loss)
    assert 0 < new.sum() <= 5
    assert new[-new.sum() :].all()
    assert state.bounds[-1] == len(state.population) == len(state.loss)
    after = search.step(state, table, Budget(iterations=3))
    assert after.front.most_accurate.loss <= state.front.most_accurate.loss
