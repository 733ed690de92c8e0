import numpy as np
import pytest

from symgrad.bench.own import ADAPTERS, by_the_paper, searches
from symgrad.bench.task import Limit, Task
from symgrad.search.presets import preset


def test_variants_differ_from_what_they_vary():
    table = searches()
    assert table["dgp"] == preset("paper")
    for name, search in table.items():
        base = table[name.split()[0]]
        assert (search == base) == (name in ("gp", "dgp"))
    assert {a.methods[0] for a in ADAPTERS} == {"symgrad", "symgrad accurate", *table}


@pytest.mark.parametrize("methods", [("gp",), ("dgp", "dgp balanced")])
def test_the_paper_has_no_constants_and_at_most_50_nodes(methods):
    X = np.random.default_rng(0).normal(size=(60, 5))
    task = Task(X, X[:, 0] * X[:, 1] + 0.3, Limit(evaluations=3000))
    models = by_the_paper(methods, searches()[methods[0]])(task)
    assert tuple(models) == methods
    for model in models.values():
        assert 3000 <= model.evaluations < 4000
        assert model.nodes <= 50
        assert not model.expression().is_number


def test_the_balanced_tree_of_a_run_is_small_where_more_is_chance():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 300))
    task = Task(X, X[:, 0] + X[:, 1] + rng.normal(size=40), Limit(evaluations=20_000))
    models = by_the_paper(("dgp", "dgp balanced"), searches()["dgp"])(task)
    accurate, balanced = models.values()
    assert balanced.nodes < 15 < accurate.nodes


def test_a_found_formula_ends_the_search():
    X = np.random.default_rng(0).uniform(size=(20, 2))
    task = Task(X, np.sin(X[:, 0]) + X[:, 1], Limit(evaluations=500_000), synthetic=True)
    model = by_the_paper(("gp",), searches()["gp"])(task)["gp"]
    assert model.evaluations < 500_000
    np.testing.assert_allclose(model.predict(X), task.y, atol=1e-11)
