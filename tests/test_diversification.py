import numpy as np
import pytest

from symgrad import Forest, PrimitiveSet
from symgrad.evolution.diversification import Diversification, breed
from symgrad.tree.generate import generate

PAPER = PrimitiveSet.paper()


def population(n=100, features=5, seed=0, **kwargs):
    return generate(np.random.default_rng(seed), n, features, primitives=PAPER, **kwargs)


def young(forest, loss=None, seed=1, **settings):
    loss = np.arange(len(forest), dtype=float) if loss is None else loss
    return breed(np.random.default_rng(seed), forest, loss, 5, Diversification(**settings))


def test_a_seed_reproduces_and_another_differs():
    forest = population()
    a, b, c = (young(forest, seed=s).forest for s in (1, 1, 2))
    assert np.array_equal(a.code, b.code)
    assert not np.array_equal(a.code, c.code)


def test_without_operators_offspring_are_their_parents():
    forest = population()
    got = young(forest, crossover=0, mutation=0)
    assert not got.changed.any()
    assert got.forest == forest[got.parent]


def test_unchanged_means_equal_to_the_parent():
    forest = population()
    got = young(forest)
    same = np.flatnonzero(~got.changed)
    assert got.forest[same] == forest[got.parent[same]]
    assert 0.6 < got.changed.mean() < 0.9  # one minus a half times a half


def test_elites_come_first_and_unchanged():
    forest = population()
    loss = np.random.default_rng(0).uniform(size=100)
    got = young(forest, loss, elites=3)
    assert got.parent[:3].tolist() == np.argsort(loss)[:3].tolist()
    assert not got.changed[:3].any()
    assert len(got.forest) == 100


@pytest.mark.parametrize("size", [1, 3, 10])
def test_tournaments_prefer_low_loss_and_pass_over_invalid_trees(size):
    forest = population(1000)
    loss = np.arange(1000.0)
    loss[500:] = np.inf
    got = young(forest, loss, tournament=size, elites=0, crossover=0, mutation=0)
    # The winner's expected quantile is 1 / (size + 1); half of the trees are equally hopeless.
    assert (got.parent < 500).mean() == pytest.approx(1 - 0.5**size, abs=0.05)


def test_crossover_takes_subtrees_of_both_parents():
    left = Forest.from_strings(["sin(x0)"] * 50, primitives=PAPER)
    right = Forest.from_strings(["exp(x1)"] * 50, primitives=PAPER)
    got = young(left + right, np.zeros(100), crossover=1, mutation=0, elites=0)
    texts = {str(t) for t in got.forest}
    assert {"sin(x1)", "exp(x0)", "sin(exp(x1))"} <= texts
    pieces = {"sin(x0)", "exp(x1)", "x0", "x1"}
    assert texts <= pieces | {f"{f}({p})" for f in ("sin", "exp") for p in pieces}


def test_mutations_insert_full_trees_of_the_given_depths():
    forest = Forest.from_strings(["x0"] * 200, primitives=PAPER)
    got = young(forest, np.zeros(200), crossover=0, mutation=1, elites=0, mutation_depth=(1, 2))
    assert {t.depth for t in got.forest} == {1, 2}


def test_limits_hold():
    forest = population(200, max_depth=6)
    forest = forest[forest.sizes <= 20]
    for _ in range(5):
        got = young(forest, max_size=20, max_depth=5, elites=0)
        fresh = got.forest[np.flatnonzero(got.changed)]
        assert fresh.sizes.max() <= 20
        assert max(t.depth for t in fresh) <= 5


@pytest.mark.parametrize(
    ("name", "value"),
    [("crossover", 1.5), ("mutation", -0.1), ("generations", -1), ("elites", -1),
     ("tournament", 0), ("max_depth", 0), ("max_size", 0), ("mutation_depth", (2, 1)),
     ("restart", 0)],
)  # fmt: skip
def test_bad_settings_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        Diversification(**{name: value})
