import pickle
from dataclasses import replace

import numpy as np
import pytest

from symgrad import Dataset, Forest, PrimitiveSet
from symgrad.dgp.optimization import Optimization
from symgrad.evolution.islands import Islands
from symgrad.search.base import Budget, run
from symgrad.search.guided import GuidedDGP
from symgrad.search.safety import box, is_safe, safe_ones

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


def test_new_islands_explore_while_the_trees_of_old_ones_are_kept():
    often = GuidedDGP(islands=replace(SMALL.islands, restart=1000))
    states = []
    end = run(often, data(), Budget(evaluations=20_000), np.random.default_rng(0), states.append)
    exploring = [s for s in states if not s.merged]
    kept = [int(s.bounds[0]) for s in exploring]
    assert kept == sorted(kept)
    # Each exploration is twice as long as the one before: 1,000, 2,000 and 4,000 evaluations.
    starts = [s.evaluations for a, s in zip(kept, exploring[1:], strict=False) if s.bounds[0] > a]
    assert [round(np.log2(e / 1000 + 1)) for e in starts] == [1, 2, 3]
    last = exploring[-1]
    assert len(last.loss) == len(last.population) == last.bounds[-1]
    assert end.merged
    assert end.bounds[0] == 0
    merged = states[len(exploring)]
    assert merged.front.most_accurate.loss <= last.front.most_accurate.loss
    lonely = run(
        GuidedDGP(islands=replace(SMALL.islands, restart=None)), data(),
        Budget(evaluations=5000), np.random.default_rng(0),
    )  # fmt: skip
    assert lonely.bounds[0] == 0


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


@pytest.mark.parametrize("symbols", [["*", "sin"], ["-", "sin", "exp"]])
def test_nearly_exact_formulas_of_few_functions_are_found(symbols):
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, size=(300, 3))
    y = X[:, 0] * np.sin(3 * X[:, 1]) + 2e-3 * rng.normal(size=300)
    search = GuidedDGP(primitives=PrimitiveSet(symbols))
    table, budget = Dataset(X, y, dtype=np.float64), Budget(evaluations=60_000)
    state = run(search, table, budget, np.random.default_rng(0))
    assert state.laws is not None
    assert state.front.most_accurate.loss < 1e-3


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


def test_the_last_island_is_left_to_safe_trees_if_the_best_has_a_pole():
    table, budget = data(), Budget(iterations=100)
    ranges = box(table, 0.0)
    state = run(SMALL, table, Budget(iterations=4), np.random.default_rng(0))
    assert state.merged
    assert SMALL.safe_island(state, table) == (state, (None,))  # the best is safe
    pole = Forest.from_strings(["1/(x0 - x1)", "x0*x1"], table.names, state.population.primitives)
    n = len(state.population)
    state = replace(
        state,
        population=state.population + pole,
        loss=np.concatenate([state.loss, [1e-3, 0.5]]),
        bounds=np.array([0, n // 2, n + 2]),
    )
    state.front.offer(pole, np.array([1e-3, 0.5]))
    assert not is_safe(pole[0], ranges)
    kept, within = SMALL.safe_island(state, table)
    assert within[0] is None
    np.testing.assert_array_equal(within[1], ranges)
    assert kept.bounds[1] == n // 2
    assert "1/(x0 - x1)" not in [str(tree) for tree in kept.population]
    after = SMALL.step(state, table, budget)
    safe = set(safe_ones(after.population, ranges).tolist())
    assert set(range(after.bounds[1], after.bounds[2])) <= safe
    first = replace(state, merged=False)
    assert [r is None for r in SMALL.safe_island(first, table)[1]] == [True, False, True, True]
