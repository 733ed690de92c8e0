import numpy as np
import pytest

from symgrad import Dataset
from symgrad.data.evaluate import score
from symgrad.evolution.diversification import Diversification
from symgrad.search.base import Budget, run
from symgrad.search.gp import GP


def product(rows=200, features=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(rows, features))
    return Dataset(X, X[:, 0] * X[:, 1])


def test_it_finds_a_product():
    state = run(GP(), product(), Budget(evaluations=30_000, target=1e-10), np.random.default_rng(0))
    assert state.front.most_accurate.loss < 1e-6
    assert set(state.front.most_accurate.tree.feature_indices) == {0, 1}


def test_losses_belong_to_the_population():
    data = product()
    state = run(GP(), data, Budget(iterations=2), np.random.default_rng(0))
    np.testing.assert_array_equal(state.loss, score(state.population, data, scale=False).mse)


@pytest.mark.parametrize("jobs", [2, 5])
def test_the_number_of_threads_does_not_matter(jobs):
    a, b = (
        run(GP(n_jobs=n), product(), Budget(evaluations=5000), np.random.default_rng(1))
        for n in (1, jobs)
    )
    np.testing.assert_array_equal(a.population.code, b.population.code)
    np.testing.assert_array_equal(a.loss, b.loss)


def test_a_population_of_one_is_refused():
    with pytest.raises(ValueError, match="population"):
        Diversification(population=1)


def test_a_new_population_takes_over_and_the_best_trees_are_kept():
    data, sizes, best = product(), [], []

    def watch(state):
        sizes.append(state.population.sizes.mean())
        best.append(state.front.most_accurate.loss)

    def spent(restart):
        sizes.clear()
        search = GP(diversification=Diversification(population=100, restart=restart))
        return run(search, data, Budget(iterations=9), np.random.default_rng(3), watch)

    state = spent(4000)
    new = np.flatnonzero(np.diff(sizes) < -5) + 1  # trees grow; first ones are small
    assert len(new) == state.evaluations // 4000 == 3
    assert np.max(np.array(sizes)[new]) < 2 * sizes[0]
    assert np.all(np.diff(best) <= 0)
    np.testing.assert_array_equal(state.loss, score(state.population, data, scale=False).mse)
    spent(None)
    assert sizes[-1] > 2 * sizes[0]


def test_what_is_over_does_not_start_anew():
    search = GP(diversification=Diversification(population=100, restart=2000))
    state = run(search, product(), Budget(evaluations=2000), np.random.default_rng(3))
    assert state.evaluations < 2100
