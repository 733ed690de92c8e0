from dataclasses import replace

import numpy as np
import pytest

from symgrad import Dataset, Forest, PrimitiveSet
from symgrad.data.evaluate import score
from symgrad.evolution.front import Front
from symgrad.evolution.islands import Islands, evolve
from symgrad.tree.generate import generate

PAPER = PrimitiveSet.paper()
SMALL = Islands(islands=2, population=40, generations=3)
WORDS = (7, 3, 2)


def data(rows=200, features=8, dtype=np.float64, weights=None):
    X = np.random.default_rng(0).normal(size=(rows, features))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])
    return Dataset(X, y, dtype=dtype, weights=weights)


def start(settings, features=8, primitives=PAPER, **kwargs):
    n = settings.islands * settings.population
    forest = generate(np.random.default_rng(1), n, features, primitives=primitives, **kwargs)
    return forest, np.full(n, np.nan), np.arange(settings.islands + 1) * settings.population


def grown(settings=SMALL, guided=(0.0, 0.3), dataset=None, seed=0, primitives=PAPER, **kwargs):
    dataset, settings = dataset or data(), replace(settings, guided=guided)
    first = start(settings, dataset.features, primitives)
    rng = np.random.default_rng(seed)
    return evolve(rng, *first, dataset, primitives, settings, **kwargs)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_belong_to_the_trees(dtype, weighted):
    weights = np.random.default_rng(2).uniform(size=200) if weighted else None
    dataset = data(dtype=dtype, weights=weights)
    result = grown(dataset=dataset)
    tolerance = 1e-9 if dtype == np.float64 else 1e-5
    for forest, error in ((result.population, result.error), (result.best, result.best_error)):
        np.testing.assert_allclose(error, 1 - score(forest, dataset).r2, rtol=1e-4, atol=tolerance)


def test_islands_keep_their_size_and_their_limits():
    result = grown(Islands(islands=2, population=40, generations=4, max_size=15, max_depth=4))
    assert (np.diff(result.bounds) <= 40).all()
    assert result.bounds[-1] == len(result.population)
    assert result.population.written(data().units).max() <= 15
    assert max(tree.depth for tree in result.population) <= 4
    assert result.evaluations >= 2 * 40 * 4


def test_no_two_members_are_the_same():
    result = grown()
    for first, last in zip(result.bounds[:-1], result.bounds[1:], strict=True):
        pairs = set(
            zip(
                result.population.sizes[first:last], result.error[first:last].round(12), strict=True
            )
        )
        assert len(pairs) == last - first


@pytest.mark.parametrize("written", [False, True])
def test_no_member_beats_the_best_that_are_as_small(written):
    result = grown(replace(SMALL, written=written), words=WORDS)
    count = Front(data().units if written else None, WORDS).sizes
    sizes = count(result.best)
    for size, error in zip(count(result.population), result.error, strict=True):
        assert result.best_error[sizes <= size].min() <= error * (1 + 1e-9)


def test_what_words_cost_decides_who_survives():
    """Where features cost much, formulas have fewer of them and more constants."""

    def per_constant(words):
        forest = grown(replace(SMALL, generations=20), words=words).population
        return forest.costs(1, 0, 0).sum() / forest.costs(0, 1, 0).sum()

    assert per_constant((20, 1, 1)) < per_constant((1, 20, 1)) / 2


def test_the_number_of_threads_does_not_matter_but_the_seed_does():
    a, b, c = grown(n_jobs=1), grown(n_jobs=2), grown(seed=5)
    np.testing.assert_array_equal(a.population.code, b.population.code)
    np.testing.assert_array_equal(a.population.value, b.population.value)
    np.testing.assert_array_equal(a.error, b.error)
    assert a.population != c.population


def test_guidance_finds_the_features_among_many():
    """At equal evaluations, islands with guided edits reach a product among 300 features."""
    X = np.random.default_rng(3).normal(size=(200, 300))
    dataset = Dataset(X, X[:, 7] * X[:, 200] + X[:, 50], dtype=np.float64)
    settings = Islands(islands=1, population=100, generations=10)
    blind = grown(settings, (0.0,), dataset)
    guided = grown(settings, (0.3,), dataset)
    assert guided.best_error.min() < 1e-9
    assert blind.best_error.min() > 0.1


def test_the_gradient_takes_the_missing_part_from_other_trees():
    """By crossover alone, a part that one tree in fifty has is soon where it is missing."""
    X = np.random.default_rng(4).normal(size=(200, 8))
    dataset = Dataset(X, np.sin(3 * X[:, 0]) * X[:, 1] + np.cos(X[:, 2] * X[:, 3]))
    whole = "sin(3*x0)*x1 + {}"
    texts = [whole.format(f"x{k % 8}*x{k // 8}") for k in range(49)] + ["x4/cos(x2*x3)"]
    forest = Forest.from_strings(texts, dataset.names, PAPER)
    first = forest, np.full(50, np.nan), np.array([0, 50])

    def found(parts: bool) -> int:
        settings = Islands(
            islands=1, population=50, generations=3, crossover=1.0, guided=(0.0,), parts=parts
        )
        return sum(
            evolve(np.random.default_rng(seed), *first, dataset, PAPER, settings).best_error.min()
            < 1e-9
            for seed in range(40)
        )

    assert found(True) > 2 * found(False)


def test_without_constants_there_are_none():
    settings = Islands(islands=1, population=50, generations=5, constants=(0.0,))
    result = grown(settings, (0.3,))
    leaves = result.population.code[result.population.code < 0]
    assert (leaves != -(2**31)).all()


def test_only_allowed_functions_are_drawn():
    primitives = PrimitiveSet(["+", "*", "tanh", "bump(x) = exp(-x*x)"])
    result = grown(primitives=primitives)
    used = {
        result.population.primitives[c].name for c in np.unique(result.population.code) if c >= 0
    }
    assert used <= {"add", "mul", "tanh", "bump"}
    assert "bump" in used


def test_credit_is_kept_of_every_kind_of_offspring_and_moves_the_shares():
    settings = Islands(islands=2, population=100, generations=5, guided=(0.0, 0.3), pairs=0.1)
    result = grown(settings, (0.0, 0.3))
    work, paid = result.credit[:, :4], result.credit[:, 4:]
    assert (work[0, :2] == 0).all()  # no products and no guided edits on this island
    assert (work[0, 2:] > 0).all()
    assert (work[1] > 0).all()
    assert paid.sum() > 0
    adapting = grown(replace(settings, adapt=True), (0.0, 0.3))
    assert not np.array_equal(adapting.credit, result.credit)


def test_time_ends_it():
    settings = Islands(islands=1, population=100, generations=10**6)
    assert grown(settings, (0.1,), seconds=0.2).evaluations > 100


def test_ctrl_c(press_ctrl_c):
    settings = Islands(islands=2, population=100, generations=10**6)
    since = press_ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        grown(settings, (0.1, 0.2))
    assert since() < 1


def test_all_invalid_first_trees_leave_something():
    primitives = PrimitiveSet(["log", "+", "*"])
    dataset = Dataset(-np.ones((5, 1)) * [[1], [2], [3], [4], [5]], np.arange(5.0))
    forest = Forest.from_strings(["log(x0)"] * 4, primitives=primitives)
    settings = Islands(islands=1, population=4, generations=1)
    rng = np.random.default_rng(0)
    result = evolve(
        rng, forest, np.full(4, np.nan), np.array([0, 4]), dataset, primitives, settings
    )
    assert len(result.population) >= 1
    assert result.best is None


@pytest.mark.parametrize(
    "settings",
    [{"islands": 0}, {"population": 1}, {"crossover": 2}, {"guided": ()}, {"guided": (2.0,)},
     {"constants": ()}, {"fit_steps": -1}, {"explore": -0.1}],
)  # fmt: skip
def test_bad_settings_are_named(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Islands(**settings)
