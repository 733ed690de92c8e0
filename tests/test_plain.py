import numpy as np

from symgrad import Dataset, DGPRegressor, Tree
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.front import Front
from symgrad.evolution.islands import Islands
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.plain import step
from symgrad.tree.forest import Forest

SETTINGS = Islands(plain=3, population=60, generations=4)


def data(formula="x1 + x4*x4", rows=30, features=2000):
    X = np.random.default_rng(0).uniform(0.5, 2, size=(rows, features))
    return Dataset(X, Tree.parse(formula).evaluate(X), dtype=np.float64)


def front_of(*formulas, table):
    front = Front()
    for text in formulas:
        names = list(table.names.names)
        front.offer(Forest.of([Tree.parse(text, feature_names=names)]), np.array([0.1]))
    return front


def stepped(plain, table, front, seed=0):
    return step(
        np.random.default_rng(seed), plain, front, table, PrimitiveSet.paper(), SETTINGS,
        Constraints(), np.inf, 1,
    )  # fmt: skip


def test_constants_are_whole_and_trees_stand_for_themselves():
    table = data()
    _, evolved = stepped(None, table, front_of("x1 + x4", table=table))
    exact = 0
    for tree, error in zip(evolved.population, evolved.error, strict=True):
        values = tree.evaluate(table.X)
        left = np.sum((values - table.y) ** 2) / np.sum((table.y - table.y.mean()) ** 2)
        assert error <= left * (1 + 1e-9)  # equal, or that of the best line
        exact += abs(left - error) <= 1e-9 * max(1, error)
        assert tree.size <= SETTINGS.plain_size
    assert exact > 0.5 * len(evolved.population)


def test_random_trees_use_the_features_of_the_front():
    table = data()
    _, evolved = stepped(None, table, front_of("x1 + x4", table=table))
    used = [j for tree in evolved.population for j in tree.feature_indices]
    assert np.mean(np.isin(used, [1, 4])) > 0.5  # two of 2,000


def test_islands_that_stand_still_start_anew():
    table = data("sin(x1*x4)*exp(x9)")
    front = front_of("x1 + x4", table=table)
    plain, _ = stepped(None, table, front)
    assert np.isfinite(plain.best).all()
    counts = []
    for seed in range(12):
        plain, _ = stepped(plain, table, front, seed)
        counts.append(int(np.isinf(plain.best).sum()))
    assert sum(counts) > 0
    assert counts.count(3) < len(counts)


def test_a_law_that_approximations_hide_is_found():
    X = np.random.default_rng(3).uniform(0, 2, size=(20, 1))
    fresh = np.linspace(0, 2, 50)[:, None]
    truth = Tree.parse("log(x0 + 1) + log(x0*x0 + 1)")
    off = []
    for seed in range(3):
        est = DGPRegressor(max_evaluations=400_000, random_state=seed).fit(X, truth.evaluate(X))
        off.append(np.abs(est.predict(fresh) - truth.evaluate(fresh)).max())
    assert min(off) < 1e-9
