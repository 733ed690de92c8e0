import numpy as np
import pytest
from scipy.sparse import csr_array

from symgrad import Dataset, Forest, Tree, model
from symgrad.data.loss import LOSSES, Loss
from symgrad.evolution.front import Front
from symgrad.model import Box, Formula, by_size, choose, formulas


def lines(rows=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 3, size=(rows, 2))
    return Dataset(X, 2 * X[:, 0] + 0.1 * rng.normal(size=rows) + 5, dtype=np.float64)


def front_of(*texts):
    front = Front()
    front.offer(Forest.from_strings(texts), np.linspace(0.9, 0.1, len(texts)))
    return front


def test_formulas_are_in_the_users_units_from_small_to_large():
    exact = lines()
    data = exact.standardize()
    found = formulas(front_of("x0", "x0 + 0.001*x1"), data, exact, Loss())
    assert [f.tree.size for f in found] == sorted(f.tree.size for f in found)
    assert found[0].constant
    assert found[0].tree.constants == pytest.approx([exact.y.mean()])
    assert found[0].r2 == 0
    line = found[1]
    assert line.tree.features == ("x0",)
    np.testing.assert_allclose(line.tree.evaluate(exact.X), exact.y, atol=0.5)
    assert line.loss == pytest.approx(np.mean((line.tree.evaluate(exact.X) - exact.y) ** 2))
    assert line.r2 == pytest.approx(1 - line.loss / exact.y.var())


def test_without_a_line_trees_stay_as_they_are():
    exact = lines()
    found = formulas(front_of("x0 + x0"), exact, exact, None)
    assert [str(f.tree) for f in found] == ["x0 + x0"]


def test_without_constants_a_feature_again_is_preferred_to_another():
    """exp(1 - x0) needs a 1: cos of a feature of many is nearer by chance, cos(cos(x0)) is free."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 1000))
    exact = Dataset(X, np.exp(1 - X[:, 0]) + 3 * rng.normal(size=100), dtype=np.float64)
    others = [f"exp(cos(x{j}) - x0)" for j in range(1, 1000)]
    forest = Forest.from_strings([*others, "exp(cos(cos(x0)) - x0)"])
    errors = np.mean((forest.evaluate(X, dtype=np.float64) - exact.y) ** 2, axis=1)
    front = Front()
    front.offer(forest, errors)
    assert errors.min() < errors[-1]
    found = formulas(front.lean(), exact, exact, None)
    assert len(by_size(found)) < len(found)
    assert choose(found, "accurate", exact).loss == pytest.approx(errors.min())
    assert str(choose(found, "balanced", exact).tree) == "exp(cos(cos(x0)) - x0)"


def test_nothing_valid_leaves_the_mean():
    exact = lines()
    (only,) = formulas(front_of("log(-x0)"), exact, exact, None)
    assert only.constant
    assert only.tree.size == 1


def test_constants_lose_decimals_that_the_data_do_not_support():
    X = np.random.default_rng(0).normal(size=(80, 2))
    exact = Dataset(X, X[:, 0] * X[:, 1] + 2 * X[:, 0], dtype=np.float64)
    front = front_of("1.0000000001*x0*x1 + 1.9999999999*x0 + 1e-10*x1")
    found = formulas(front, exact, exact, Loss())
    assert found[-1].tree.size == Tree.parse("x0*x1 + 2*x0").size
    assert found[-1].loss < 1e-30
    rough = Tree.parse("1.3*x0*x1 + 2*x0")
    other = exact.with_target(rough.evaluate(X))
    found = formulas(front_of("1.3*x0*x1 + 2*x0"), other, other, Loss())
    assert found[-1].tree.size == rough.size


def test_decimals_are_tried_on_some_rows_and_judged_on_all(monkeypatch):
    monkeypatch.setattr(model, "ROUNDING_ROWS", 10)
    exact = lines()
    judge = model.Judge(exact, Loss())
    assert (judge.few.rows, judge.data.rows) == (10, 100)
    assert str(judge.rounded(Tree.parse("2.001*x0 + 5.0001"))) == "2*x0 + 5"
    pole = Tree.parse("1/0 + x0")  # if other rows do not bear what was tried
    monkeypatch.setattr(model.Judge, "rounded", lambda self, tree: pole)
    found = formulas(front_of("x0"), exact, exact, Loss())
    assert found[-1].r2 > 0.9


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_has_its_line_and_its_share(name):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 2, size=(300, 2))
    y = rng.poisson(np.exp(0.5 + X[:, 0])).astype(float)
    exact = Dataset(X, y, dtype=np.float64)
    loss = Loss(name)
    mean, line = formulas(front_of("x0"), exact, exact, loss)
    assert mean.constant
    assert 0 < line.r2 < 1
    assert line.length < mean.length
    predicted = line.tree.evaluate(X)
    if loss.row.log_link:
        assert (predicted > 0).all()
        predicted = np.log(predicted)
    assert line.loss == pytest.approx(loss.of(y, predicted).mean())


def formula(text, loss, length):
    return Formula(Tree.parse(text), loss, 1 - loss, length)


def test_the_three_choices():
    found = [
        formula("3", 1.0, 5.0),
        formula("x0", 0.12, -80.0),
        formula("x0 + x1", 0.1, -90.0),
        formula("x0 + x1 + sin(x0)", 0.09, -70.0),
    ]
    data = lines()
    assert choose(found, "balanced", data) is found[2]
    assert choose(found, "accurate", data) is found[3]
    assert choose(found, "simple", data) is found[1]


@pytest.mark.parametrize("text", ["1/(x0 - 2.01)", "log(x0 - 1.5)", "exp(9*x0) - exp(8*x1)"])
def test_poles_holes_and_spikes_inside_the_box_are_not_chosen(text):
    found = [formula("x0", 0.2, -10.0), formula(text, 0.1, -90.0)]
    assert choose(found, "balanced", lines()) is found[0]
    assert choose(found[1:], "balanced", lines()) is found[1]


def test_the_margin_widens_the_box():
    found = [formula("x0", 0.2, -10.0), formula("1/(x0 - 0.5)", 0.1, -90.0)]
    assert choose(found, "balanced", lines()) is found[1]
    assert choose(found, "balanced", lines(), margin=0.5) is found[0]


def test_formulas_are_trusted_outside_the_data_as_far_as_they_explain_them():
    X = np.linspace(0, 1, 20)[:, None]
    data = Dataset(X, np.linspace(2, 4, 20), dtype=np.float64)
    tree = Tree.parse("3 + x0^5")
    X = np.array([[0.5], [1.1], [9.0], [-0.5]])
    inside, bare = tree.evaluate(X)[0], tree.evaluate(X)
    box = Box.of(data, Formula(tree, 0.1, 0.5, 0.0))
    np.testing.assert_allclose(box.kept(bare, X, tree), [inside, 4, 4, 3])
    box = Box.of(data, Formula(tree, 0.1, 0.97, 0.0))  # from there on by 2 for each width of 1
    np.testing.assert_allclose(box.kept(bare, X, tree), [inside, 4.2, 6, bare[3]])
    undefined = np.full(4, np.inf)
    np.testing.assert_allclose(box.kept(undefined, X, tree), [np.inf, 4.2, 6, 4])
    assert Box.of(data, Formula(tree, 0.0, 1.0, 0.0)) is None


def test_outside_the_data_only_the_features_in_use_count():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(50, 4))
    data = Dataset(X, X[:, 1] + X[:, 3], dtype=np.float64)
    tree = Tree.parse("x1 + x3 + 1/(x3 - 2)")
    box = Box.of(data, Formula(tree, 0.1, 0.5, 0.0))
    far = np.array([[99, 0.5, 99, 0.5], [0.5, 0.5, 0.5, 1.999], [0.5, 0.5, 0.5, 3.0]])
    at_the_edge = tree.evaluate(np.array([[0, 0.5, 0, X[:, 3].max()]]))[0]
    expected = [tree.evaluate(far)[0], *[np.clip(at_the_edge, data.y.min(), data.y.max())] * 2]
    np.testing.assert_allclose(box.kept(tree.evaluate(far), far, tree), expected)
    sparse = csr_array(far)
    np.testing.assert_allclose(box.kept(tree.evaluate(far), sparse, tree), expected)


def test_many_constants_through_few_rows_are_not_a_law():
    x = np.linspace(-1, 1, 25)[:, None]
    data = Dataset(x, np.exp(x[:, 0]), dtype=np.float64)
    exact = Formula(Tree.parse("exp(x0)"), 0.0, 1.0, 10.0)
    bent = Formula(Tree.parse("1.01 + 1.02*x0 + 0.51*x0*x0 + 1e-9/(x0 - 1.001)"), 0.0, 1.0, 5.0)
    assert Box.of(data, exact) is None
    assert Box.of(data, bent).greatest < 10
    split = Formula(Tree.parse("1.01 + 1.02*x0 + 0.51*x0*x0 + 1e-9/(x0 - 0.001)"), 0.0, 1.0, 5.0)
    assert choose([split, exact], "balanced", data) is exact
