import numpy as np
import pytest

from symgrad import Dataset, Forest
from symgrad.data.evaluate import score
from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.evolution.diversification import Diversification
from symgrad.search.base import Budget, run
from symgrad.search.dgp import DGP
from symgrad.search.gp import GP


def sums(rows=150, features=30, seed=0):
    X = np.random.default_rng(seed).normal(size=(rows, features))
    return Dataset(X, X[:, 0] + X[:, 1] + X[:, 2])


def small(**changes):
    settings = {
        "diversification": Diversification(population=60),
        "optimization": Optimization(epochs=60),
    }
    return DGP(**(settings | changes))


def test_losses_belong_to_the_population():
    data = sums()
    state = run(small(), data, Budget(iterations=2), np.random.default_rng(0))
    np.testing.assert_array_equal(state.loss, score(state.population, data, scale=False).mse)


def test_an_iteration_without_any_sampled_tree_of_allowed_size_goes_on(monkeypatch):
    data = sums()
    large = " + ".join(data.names)
    monkeypatch.setattr(
        "symgrad.search.dgp.sample",
        lambda relaxed, settings: Forest.from_strings([large] * 60, data.names),
    )
    state = run(small(), data, Budget(iterations=2), np.random.default_rng(0))
    assert state.iterations == 2
    assert state.population.sizes.max() <= small().diversification.max_size < 59


def test_accepting_only_what_is_better_never_makes_a_tree_worse():
    data = sums()
    search = small(optimization=Optimization(distinct=False))
    state = search.init(np.random.default_rng(0), data, Budget())
    chosen = search.chosen(state)
    sampled = state.population[np.random.default_rng(1).permutation(len(chosen))]
    loss = score(sampled, data, scale=False).mse
    after = search.accept(state, chosen, sampled, loss)
    assert (after.loss <= state.loss).all()
    assert (after.loss < state.loss).any()
    always = small(sampling=Sampling(accept="always")).accept(state, chosen, sampled, loss)
    np.testing.assert_array_equal(always.loss, loss)
    joined = small(sampling=Sampling(accept="join")).accept(state, chosen, sampled, loss)
    everything = np.sort(np.concatenate([state.loss, loss]))
    np.testing.assert_array_equal(joined.loss, everything[: len(state.loss)])
    np.testing.assert_array_equal(joined.loss, score(joined.population, data, scale=False).mse)


def test_training_helps_where_features_are_many():
    """From the same first populations and at equal evaluations, gradients find more."""
    data = sums()
    gains = []
    for seed in range(3):
        start = Diversification(population=100)
        budget = Budget(evaluations=3000)
        dgp = DGP(diversification=start, optimization=Optimization(epochs=400))
        with_gradient = run(dgp, data, budget, np.random.default_rng(seed))
        without = run(GP(diversification=start), data, budget, np.random.default_rng(seed))
        gains.append(without.front.most_accurate.loss - with_gradient.front.most_accurate.loss)
    assert np.mean(gains) > 0


def test_only_the_best_are_trained_on_request():
    search = small(optimization=Optimization(epochs=1, trees=7))
    state = search.init(np.random.default_rng(0), sums(), Budget())
    chosen = search.chosen(state)
    assert len(chosen) == 7
    assert state.loss[chosen].max() <= np.unique(state.loss)[6]


def test_of_equal_trees_one_is_trained():
    search, all_alike = small(), small(optimization=Optimization(distinct=False))
    state = search.init(np.random.default_rng(0), sums(), Budget())
    state.loss[:4] = [3.0, np.inf, 3.0, np.inf]
    np.testing.assert_array_equal(all_alike.chosen(state), np.arange(60))
    chosen = search.chosen(state)
    assert {0, 1, 3} <= set(chosen)
    assert 2 not in chosen
    finite = state.loss[chosen][np.isfinite(state.loss[chosen])]
    assert len(np.unique(finite)) == len(finite)


def test_sampled_trees_keep_to_the_size_limit():
    limits = Diversification(population=60, first_depth=(1, 2), generations=0, max_size=5)
    search = small(
        optimization=Optimization(epochs=100, learning_rate=0.5, leaf_functions=True),
        sampling=Sampling(accept="always"),
        diversification=limits,
    )
    data = sums()
    before = search.init(np.random.default_rng(0), data, Budget())
    large = {e.tree.size for e in before.front if e.tree.size > 5}
    after = search.step(before, data, Budget())
    assert {e.tree.size for e in after.front if e.tree.size > 5} <= large


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_number_of_threads_does_not_matter(jobs):
    a, b = (
        run(small(n_jobs=n), sums(), Budget(iterations=2), np.random.default_rng(1))
        for n in (1, jobs)
    )
    np.testing.assert_array_equal(a.population.code, b.population.code)
    np.testing.assert_array_equal(a.loss, b.loss)


def test_the_literal_reading_runs():
    search = small(optimization=Optimization.literal(epochs=5), sampling=Sampling.literal())
    state = run(search, sums(60, 4), Budget(iterations=2), np.random.default_rng(0))
    assert np.isfinite(state.front.most_accurate.loss)
