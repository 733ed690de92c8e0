from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge

from symgrad import Dataset, DGPRegressor
from symgrad.data.loss import Loss
from symgrad.evolution.islands import Islands
from symgrad.search.advice import FEWEST, MOST, NUMBERS, ROWS, affordable, ask, in_units_of
from symgrad.search.base import Budget, run
from symgrad.search.checkpoint import Checkpoint
from symgrad.search.guided import COMPARED, GuidedDGP


def table(rows=150, features=4, noise=0.5, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    y = X[:, 0] + np.abs(X[:, 1]) + noise * rng.normal(size=rows)
    return Dataset(X, y, weights=weights, dtype=np.float64)


def test_rows_are_made_up_between_the_others():
    data = table()
    wider = ask(data, 0.5).data
    assert wider.rows == data.rows + FEWEST
    np.testing.assert_array_equal(wider.X[: data.rows], data.X)
    np.testing.assert_array_equal(wider.y[: data.rows], data.y)
    np.testing.assert_array_equal(wider.box, data.box)
    assert wider.weights[: data.rows].tolist() == [1.0] * data.rows
    assert wider.weights[data.rows :].sum() == pytest.approx(0.5 * data.rows)
    truth = wider.X[:, 0] + np.abs(wider.X[:, 1])
    made = slice(data.rows, None)
    assert np.corrcoef(wider.y[made], truth[made])[0, 1] > 0.9
    assert ask(table(rows=700), 0.5).data.rows == 1400
    assert ask(table(rows=1500), 0.5).data.rows == 1500 + MOST


def test_the_error_is_that_of_rows_that_were_not_seen():
    data, fresh = table(rows=400), table(rows=2000, seed=1)
    forest = ExtraTreesRegressor(random_state=1).fit(data.X, data.y).predict(fresh.X)
    line = Ridge().fit(data.X, data.y).predict(fresh.X)
    both = [np.mean((fresh.y - p) ** 2) / np.var(fresh.y) for p in (forest, line)]
    assert 0.8 * min(both) < ask(data, 0.5).error < 1.1 * min(both)
    noise = Dataset(data.X, np.random.default_rng(2).normal(size=400), dtype=np.float64)
    assert ask(noise, 0.5).error > 0.95


def test_rows_that_every_tree_was_grown_on_tell_nothing():
    """One row of three quarters of the weight is in every bag, so none of the trees predicts it."""
    data = table(weights=np.where(np.arange(150) == 7, 450.0, 1.0))
    moved = data.y.copy()
    moved[7] += 100
    plain, other = ask(data, 0.5).error, ask(data.with_target(moved), 0.5).error
    assert 0 < plain < 1
    assert 0 < other < 1


def test_weights_count_as_often_as_rows():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, size=150).astype(float)
    data = table(weights=weights)
    wider = ask(data, 1.0).data
    assert wider.weights[data.rows :].sum() == pytest.approx(weights.sum())
    changed = np.where(weights > 0, data.y, 1e6)
    other = ask(data.with_target(changed), 1.0)
    np.testing.assert_allclose(other.data.y[150:], wider.y[150:], rtol=1e-6)


def test_advice_is_the_same_for_any_number_of_threads():
    one, two = ask(table(), 0.5, 1), ask(table(), 0.5, 2)
    assert one.error == two.error
    np.testing.assert_array_equal(one.data.y, two.data.y)
    np.testing.assert_array_equal(one.data.X, two.data.X)


def test_it_comes_in_the_users_units():
    exact = table()
    exact = Dataset(1e4 * exact.X + 3e6, 1e-5 * exact.y + 7, dtype=np.float64)
    data = exact.standardize(gently=True).with_gentle_target()
    assert abs(data.y).max() < 100
    wider = in_units_of(ask(data, 0.5).data, data, exact)
    np.testing.assert_array_equal(wider.X[:150], exact.X)
    again = ask(exact, 0.5).data
    np.testing.assert_allclose(wider.X, again.X, rtol=1e-9)
    np.testing.assert_allclose(wider.y, again.y, rtol=1e-6)


def test_long_tables_and_short_times_do_without():
    assert affordable(table(), np.inf)
    assert not affordable(table(rows=ROWS + 1), np.inf)
    assert not affordable(table(rows=ROWS, features=1 + NUMBERS // ROWS), np.inf)
    assert not affordable(table(), 0.01)


def advised(data, search=None, **bounds):
    """Return the last state, and all that `advised` was."""
    seen = []
    search = search or GuidedDGP(islands=Islands(population=50))
    rng = np.random.default_rng(0)
    state = run(search, data, Budget(**bounds), rng, lambda s: seen.append(s.advised))
    return state, list(dict.fromkeys(seen))


def test_noisy_rows_get_advice_and_laws_do_not():
    state, seen = advised(table(noise=1.5), evaluations=20_000)
    assert seen == [None, True]
    assert state.advice.data.rows == 150 + FEWEST
    X = np.random.default_rng(0).normal(size=(150, 4))
    law = Dataset(X, X[:, 0] * X[:, 1] + X[:, 2], dtype=np.float64)
    assert advised(law, evaluations=20_000)[1][-1] is not True
    noise = table().with_target(np.random.default_rng(3).normal(size=150))
    assert advised(noise, evaluations=10_000)[1] == [None, False]
    none = GuidedDGP(islands=Islands(population=50, advice=0.0))
    assert advised(table(noise=1.5), none, evaluations=10_000)[1] == [None, False]
    absolute = GuidedDGP(islands=Islands(population=50), loss=Loss("absolute"))
    assert advised(table(noise=1.5), absolute, evaluations=10_000)[1] == [None, False]


def test_made_up_rows_go_once_a_formula_is_better():
    data = table(noise=0.1)
    search = GuidedDGP(islands=Islands(population=50))
    state, _ = advised(data, search, iterations=3)
    budget = Budget(iterations=4)
    good = ask(data, 0.5)._replace(error=0.0)
    state, wide = search.with_advice(replace(state, advised=None, advice=good), data, budget)
    assert state.advised
    assert wide is good.data
    assert np.isnan(state.loss).all()
    bad = good._replace(error=2.0)
    for iterations in (COMPARED + 1, 2 * COMPARED - 1):
        kept, wide = search.with_advice(
            replace(state, advice=bad, iterations=iterations), data, budget
        )
        assert kept.advised
        assert wide is bad.data
    state = replace(state, advice=bad, iterations=2 * COMPARED)
    state, alone = search.with_advice(state, data, budget)
    assert state.advised is False
    assert state.advice is None
    assert alone is data
    errors = {len(e.tree.code): e.loss for e in state.front}
    again = {len(e.tree.code): e.loss for e in search.fitted(state.front, data, steps=0)}
    assert errors == pytest.approx(again, rel=1e-9)  # by the data alone


class KilledError(Exception):
    pass


def test_a_search_with_advice_goes_on_bit_for_bit(tmp_path):
    data, settings = table(noise=1.5), {"random_state": 0, "islands": Islands(population=50)}
    whole = DGPRegressor(max_evaluations=20_000, **settings).fit(data.X, data.y)
    file = tmp_path / "run.ckpt"

    def written(self, state):
        self.write(state)
        if state.advised and state.evaluations > 8_000:
            raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "__call__", written)
        with pytest.raises(KilledError):
            DGPRegressor(max_evaluations=20_000, **settings).fit(data.X, data.y, checkpoint=file)
    again = DGPRegressor(max_evaluations=20_000, **settings).fit(data.X, data.y, checkpoint=file)
    assert again.equations_.equals(whole.equations_)


def test_what_is_told_of_formulas_is_by_the_rows_themselves():
    data = table(noise=1.5)
    est = DGPRegressor(max_evaluations=20_000, random_state=0, islands=Islands(population=50))
    est.fit(data.X, data.y)
    chosen = est.equations_[est.equations_["chosen"]].iloc[0]
    assert chosen["r2"] == pytest.approx(est.score(data.X, data.y), rel=1e-6)
    assert chosen["loss"] == pytest.approx(np.mean((data.y - est.predict(data.X)) ** 2), rel=1e-6)
