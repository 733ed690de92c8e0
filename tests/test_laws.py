import numpy as np
import pytest
from scipy.sparse import csc_matrix

from symgrad import Dataset, DGPRegressor, Tree
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.front import Front
from symgrad.evolution.islands import Islands
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.laws import FEATURES, THIRDS, Laws
from symgrad.tree.forest import Forest

PAPER = PrimitiveSet.paper()


def data(formula, rows=40, features=1, low=0.0, high=2.0, dtype=np.float64, seed=0):
    X = np.random.default_rng(seed).uniform(low, high, size=(rows, features)).astype(dtype)
    return Dataset(X, Tree.parse(formula).evaluate(X.astype(np.float64)), dtype=dtype)


def laws_of(table, primitives=PAPER, steps=THIRDS):
    """Return what is found in some steps, up to the first one that finds something."""
    laws = Laws(list(range(table.features)))
    for _ in range(steps):
        found, _ = laws.step(table, primitives)
        if found or laws.over:
            return found
    return []


def error(tree, table):
    """Return 1 - R2 of the best line through a tree."""
    values = tree.evaluate(table.X.astype(np.float64))
    line = np.polyval(np.polyfit(values, table.y, 1), values)
    return np.sum((table.y - line) ** 2) / np.sum((table.y - table.y.mean()) ** 2)


@pytest.mark.parametrize(
    ("formula", "features", "low"),
    [
        ("log(x0 + 1) + log(x0*x0 + 1)", 1, 0.0),
        ("x0*x0*x0 + x0*x0 + x0 + sin(x0) + sin(x0*x0)", 1, -1.0),
        ("x0*exp(-x1) + x2", 3, -1.0),
        ("1/exp(x0*x0) + x0*sin(x0) + 2.5", 1, -2.0),
        ("3.7*x0*sin(x1)/(x0 + x1)", 2, 1.0),
        ("exp(x0*cos(x1) - sin(x0 + x1))", 2, 0.0),
        ("log(x1*(2 + sin(x0)))", 2, 1.0),
        ("x0 - 0.37*sin(x1)*exp(x1)", 2, 0.0),
        ("x0/(x0*x1 + exp(x1))", 2, 1.0),
        ("x0*x0*x0*x0 - x0*x0*x0 + x1*x1/2 - x1", 2, 0.0),
        ("x0*(x1*x1 + x2*x2 + x3*x3 - 3)", 4, 1.0),
        ("x0*exp(-x1*x2/x3)", 4, 1.0),
    ],
)
def test_sums_and_products_of_two_and_three_words_are_found(formula, features, low):
    table = data(formula, features=features, low=low)
    found = laws_of(table)
    assert found
    fresh = data(formula, features=features, low=low, seed=1)
    assert min(error(tree, fresh) for tree in found) < 1e-15


def test_single_precision_sparse_tables_and_weights_are_fine():
    formula = "x0*x0 + sin(x1)"
    assert laws_of(data(formula, features=2, dtype=np.float32))
    table = data(formula, features=2)
    X = np.where(np.random.default_rng(2).random(table.X.shape) < 0.5, table.X, 0.0)
    y = Tree.parse(formula).evaluate(X)
    assert laws_of(Dataset(csc_matrix(X), y, dtype=np.float64))
    weights = (np.arange(40) % 2).astype(float)
    y[weights == 0] = 7.0  # rows that do not count
    assert laws_of(Dataset(X, y, weights=weights, dtype=np.float64))


def test_nothing_is_found_in_noise_and_the_search_ends():
    table = data("x0 + x1*x1", features=2)
    noisy = Dataset(table.X, table.y + 1e-3 * np.random.default_rng(1).normal(size=40))
    laws, evaluations = Laws([0, 1]), 0
    while not laws.over:
        found, more = laws.step(noisy, PAPER)
        assert not found
        evaluations += more
    assert evaluations == len(laws.look.words.size)


def test_features_are_those_that_most_formulas_have():
    front = Front()
    texts = ["x7", "x7 + x1", "x7*x1 + x9", "+".join(f"x{j}" for j in (7, 1, 9, 12, 13, 14, 15))]
    for k, text in enumerate(texts):
        tree = Tree.parse(text, feature_names=[f"x{j}" for j in range(20)])
        front.offer(Forest.of([tree]), np.array([0.1 / (k + 1)]))
    features = Laws.of(front).features
    assert len(features) == FEATURES
    assert {1, 7, 9} <= set(features)


def test_functions_that_are_not_allowed_are_not_used():
    found = laws_of(data("x0*x0 + sin(x1)", features=2), PrimitiveSet(["sin"]))
    assert found
    assert {p for tree in found for p in tree.primitives.names} <= {"sin", "add", "mul"}


def test_a_fit_with_functions_of_two_arguments_alone_looks_for_laws_as_well():
    table = data("x0*x1/(x0 + x2) + x1", rows=60, features=3, low=1.0)
    est = DGPRegressor(primitives=["+", "*"], max_evaluations=60_000, random_state=0)
    assert est.fit(table.X, table.y).score(table.X, table.y) > 0.9999


def fitted(formula, features=1, n_jobs=1, **kwargs):
    table = data(formula, rows=20, features=features)
    est = DGPRegressor(max_evaluations=300_000, random_state=0, n_jobs=n_jobs, **kwargs)
    return est.fit(table.X, table.y), table


def test_a_law_that_approximations_hide_is_found():
    formula = "log(x0 + 1) + log(x0*x0 + 1)"
    est, _ = fitted(formula)
    fresh = np.linspace(0, 2, 50)[:, None]
    np.testing.assert_allclose(est.predict(fresh), Tree.parse(formula).evaluate(fresh), rtol=1e-9)
    assert est.tree_.size <= 12
    without, _ = fitted(formula, islands=Islands(laws=False))
    assert without.tree_.size > 12


def test_laws_keep_to_constraints():
    formula = "log(x0 + 1) + log(x0*x0 + 1)"
    est, _ = fitted(formula, constraints=Constraints(nesting={"log": ["*"]}))
    for tree in est.trees_:
        assert Constraints(nesting={"log": ["*"]}).allow(tree, np.ones((1, 1)))
    small, _ = fitted(formula, max_size=9)
    assert all(tree.size <= 15 for tree in small.trees_)  # a line may come to it


def test_numbers_are_looked_up_in_the_units_of_the_target():
    """A product and a number: with the target in other units, the number is none of the words."""
    x = np.random.default_rng(0).uniform(-1, 1, (40, 1))
    data = Dataset(x, 0.01 * (np.sin(x[:, 0] ** 2) * np.cos(x[:, 0])) - 1, dtype=np.float64)
    scaled = data.with_gentle_target()
    assert scaled.target_scale != 1
    laws, exact = Laws([0], most=2000), False
    for _ in range(4):
        for tree in laws.step(scaled, PrimitiveSet.paper())[0]:
            values = tree.evaluate(x, dtype=np.float64)
            exact = exact or abs(np.corrcoef(values, data.y)[0, 1]) > 1 - 1e-12
    assert exact
