"""Budgets, the loop, and states that can be stored and continued."""

import pickle

import numpy as np
import pytest

from symgrad import Dataset
from symgrad.evolution.diversification import Diversification
from symgrad.search.base import Budget, Stop, run
from symgrad.search.gp import GP


def data(rows=100):
    X = np.random.default_rng(0).normal(size=(rows, 4))
    return Dataset(X, X[:, 0] * X[:, 1] + X[:, 2])


SMALL = GP(diversification=Diversification(population=50))


@pytest.mark.parametrize(
    ("name", "value"),
    [("evaluations", 0), ("seconds", -1), ("iterations", 0), ("target", -1), ("reserve", -1)],
)
def test_bad_budgets_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        Budget(**{name: value})


def test_each_bound_ends_the_search():
    rng = np.random.default_rng
    assert 500 <= run(SMALL, data(), Budget(evaluations=500), rng(0)).evaluations < 550
    assert run(SMALL, data(), Budget(iterations=2), rng(0)).iterations == 2
    assert 0.1 < run(SMALL, data(), Budget(seconds=0.1), rng(0)).seconds < 5
    found = run(SMALL, data(), Budget(target=0.9, evaluations=10**5), rng(0))
    assert found.front.most_accurate.loss <= 0.9
    assert found.evaluations < 10**5


def test_a_stored_state_goes_on_as_if_nothing_had_happened():
    whole = run(SMALL, data(), Budget(iterations=4), np.random.default_rng(5))
    half = run(SMALL, data(), Budget(iterations=2), np.random.default_rng(5))
    stored = pickle.dumps(half)
    again = run(SMALL, data(), Budget(iterations=4), pickle.loads(stored))
    np.testing.assert_array_equal(again.population.code, whole.population.code)
    np.testing.assert_array_equal(again.loss, whole.loss)
    assert again.evaluations == whole.evaluations


def test_every_state_is_shown():
    seen = []
    run(SMALL, data(), Budget(iterations=3), np.random.default_rng(0), seen.append)
    assert [s.iterations for s in seen] == [0, 1, 2, 3]
    best = [s.front.most_accurate.loss for s in seen]
    assert best == sorted(best, reverse=True)


def test_a_stop_keeps_the_last_whole_state():
    whole = run(SMALL, data(), Budget(iterations=2), np.random.default_rng(5))

    def watch(state):
        if state.iterations == 2:
            raise Stop

    stopped = run(SMALL, data(), Budget(iterations=9), np.random.default_rng(5), watch)
    np.testing.assert_array_equal(stopped.population.code, whole.population.code)
    assert stopped.iterations == 2


def test_a_stop_within_a_step_returns_the_state_before_it():
    class Interrupted(GP):
        def step(self, state, data, budget):
            if state.iterations == 1:
                raise Stop
            return super().step(state, data, budget)

    search = Interrupted(diversification=Diversification(population=50))
    assert run(search, data(), Budget(iterations=9), np.random.default_rng(0)).iterations == 1


def test_a_stop_before_there_is_anything_is_a_keyboard_interrupt():
    class Interrupted(GP):
        def init(self, rng, data, budget):
            raise Stop

    with pytest.raises(KeyboardInterrupt):
        run(Interrupted(), data(), Budget(iterations=1), np.random.default_rng(0))
