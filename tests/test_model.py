import numpy as np
import pytest

from symgrad import Dataset, Forest, Tree, model
from symgrad.data.loss import LOSSES, Loss
from symgrad.evolution.front import Front
from symgrad.model import REACH, Formula, Judge, by_size, choose, formulas
from symgrad.outside import Box


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


def test_errors_on_new_rows_are_expected_to_be_larger_the_more_words_a_formula_has():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    exact = Dataset(X, X[:, 0] + 0.5 * rng.normal(size=60), dtype=np.float64)
    short = formulas(front_of("x0"), exact, exact, Loss())[-1]
    wordy = Tree.parse("x0 + 0.01*x1*x2 + 0.01*sin(x3)", exact.names)
    long = Judge(exact, Loss()).formula(short.tree, wordy)
    assert long.loss == pytest.approx(short.loss)
    assert long.unseen > short.unseen > short.loss / exact.y.var()
    fresh = rng.normal(size=(5000, 6))
    y = fresh[:, 0] + 0.5 * rng.normal(size=5000)
    error = np.mean((short.tree.evaluate(fresh, dtype=np.float64) - y) ** 2) / y.var()
    assert short.unseen == pytest.approx(error, rel=0.4)


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


@pytest.mark.parametrize("text", ["1/(x0 - 2.01)", "log(x0 - 1.5)", "sin(x0)/(x1*x1 - 4.01)"])
def test_poles_and_holes_inside_the_box_are_not_chosen(text):
    found = [formula("x0", 0.2, -10.0), formula(text, 0.1, -90.0)]
    assert choose(found, "balanced", lines()) is found[0]
    assert choose(found[1:], "balanced", lines()) is found[1]


@pytest.mark.parametrize("loss", [Loss(), Loss("absolute"), Loss("poisson")])
def test_values_far_off_in_an_empty_corner_are_kept_in_the_targets_range(loss):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]  # empty off the diagonal
    data = Dataset(X, np.exp(3 * X[:, 1] - 3 * X[:, 0]) + 0.1 * rng.uniform(size=200))
    steep = Tree.parse("exp(9*x1 - 9*x0)")
    values = np.log(steep.evaluate(X)) if loss.row.log_link else steep.evaluate(X)
    mean = float(loss.of(data.y, values).mean())
    found = Formula(steep, mean, 1 - mean, -900.0)
    corner = np.array([[X[:, 0].min(), X[:, 1].max()]])
    assert steep.evaluate(corner)[0] > data.y.max() + REACH * np.ptp(data.y)
    kept = choose([found, formula("x1", 2 * mean, -10.0)], "balanced", data, loss=loss)
    assert str(kept.tree).startswith("min(exp(9*x1 - 9*x0), ")
    assert kept.tree.evaluate(corner)[0] == data.y.max()
    predicted = kept.tree.evaluate(X)
    predicted = np.log(predicted) if loss.row.log_link else predicted
    assert kept.loss == pytest.approx(loss.of(data.y, predicted).mean(), rel=1e-6)
    assert kept.loss <= found.loss
    assert kept.r2 == pytest.approx(1 - kept.loss)
    mild = Formula(Tree.parse("exp(0.5*x1 - 0.5*x0)"), mean, 1 - mean, -900.0)
    assert choose([mild], "balanced", data, loss=loss) is mild


def test_the_margin_widens_the_box():
    found = [formula("x0", 0.2, -10.0), formula("1/(x0 - 0.5)", 0.1, -90.0)]
    assert choose(found, "balanced", lines()) is found[1]
    assert choose(found, "balanced", lines(), margin=0.5) is found[0]


def test_many_constants_through_few_rows_are_not_a_law():
    x = np.linspace(-1, 1, 25)[:, None]
    data = Dataset(x, np.exp(x[:, 0]), dtype=np.float64)
    exact = Formula(Tree.parse("exp(x0)"), 0.0, 1.0, 10.0)
    bent = Formula(Tree.parse("1.01 + 1.02*x0 + 0.51*x0*x0 + 1e-9/(x0 - 1.001)"), 0.0, 1.0, 5.0)
    assert Box.of(data, exact) is None
    assert Box.of(data, bent).greatest < 10
    split = Formula(Tree.parse("1.01 + 1.02*x0 + 0.51*x0*x0 + 1e-9/(x0 - 0.001)"), 0.0, 1.0, 5.0)
    assert choose([split, exact], "balanced", data) is exact
