import numpy as np
import pandas as pd
import pytest

from symgrad import Dataset, DGPRegressor, Tree
from symgrad.data.evaluate import score
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.islands import Islands
from symgrad.explain import COLUMNS, MOST_ROWS, alternatives, thinned
from symgrad.tree.forest import Forest


def data(rows=60, features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 2, size=(rows, features))
    return Dataset(X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=rows), dtype=np.float64)


def of(table, node):
    return table[table["node"] == node]


def test_features_for_a_leaf_are_ranked_as_by_hand():
    d = data()
    tree = Tree.parse("x0*x1 + sin(x2)", d.names)
    table = of(alternatives(tree, d, top=10), 0)
    f, h, J = tree.evaluate(d.X), d.X[:, 0], d.X[:, 1]  # df/dx0 = x1
    for row in table.itertuples():
        v = d.X[:, 0 if row.current else int(row.alternative[1:])]
        assert row.r2 == pytest.approx(np.corrcoef(f - J * h + J * v, d.y)[0, 1] ** 2)
    assert len(table) == 6
    assert table["r2"].iloc[1:].is_monotonic_decreasing


def test_features_far_from_zero_are_ranked_too():
    d = data()
    far = Dataset(d.X + np.array([0, 0, 1e7, 0, 0, 1e9]), d.y, dtype=np.float64)
    for text in ("x0 + x1", "x0*x1"):
        tree = Tree.parse(text, d.names)
        near = of(alternatives(tree, d, top=10), 0).set_index("alternative")["r2"]
        moved = of(alternatives(tree, far, top=10), 0).set_index("alternative")["r2"]
        f, J = tree.evaluate(far.X), (far.X[:, 1] if "*" in text else 1.0)
        for name, r2 in moved.items():
            v = far.X[:, 0 if name == "as it is" else int(name[1:])]
            z = f - J * far.X[:, 0] + J * v
            assert r2 == pytest.approx(np.corrcoef(z, d.y)[0, 1] ** 2, abs=1e-6)
        if text == "x0 + x1":
            np.testing.assert_allclose(near, moved[near.index], atol=1e-6)


def test_functions_and_arguments_for_an_inner_node():
    d = data()
    tree = Tree.parse("exp(x0)*x1", d.names)
    table = of(alternatives(tree, d, top=100), 1)
    assert table["now"].unique().tolist() == ["exp"]
    assert {"sin(a)", "a alone", "a^2", "as it is"} <= set(table["alternative"])
    assert "exp(a)" not in set(table["alternative"])
    root = of(alternatives(tree, d, top=100), 3)
    assert {"a + b", "a - b", "a/b", "a alone", "b alone", "sin(b)"} <= set(root["alternative"])


def test_at_the_root_the_expectation_is_exact_and_lines_are_left_out():
    d = data()
    table = alternatives(Tree.parse("3 - 2*(x0 + x1)", d.names), d, top=100)
    for node in (4, 6):  # the outer line
        np.testing.assert_allclose(of(table, node)["r2"], of(table, node)["exact_r2"], atol=1e-9)
        own = of(table, node)["r2"].iloc[0]
        others = of(table, node)[~of(table, node)["current"]]
        assert not np.isclose(others["r2"], own, atol=1e-12).any()


def test_exact_r2_is_that_of_the_substituted_tree():
    d = data()
    tree = Tree.parse("sin(x0) + x1", d.names)
    table = of(alternatives(tree, d, top=100), 1)
    row = table[table["alternative"] == "cos(a)"].iloc[0]
    other = Forest.from_strings(["cos(x0) + x1"], d.names)
    assert row["exact_r2"] == pytest.approx(score(other, d).r2[0])
    undefined = of(alternatives(Tree.parse("(x0 - 9) + x1", d.names), d, top=100), 4)
    assert undefined["exact_r2"].isna().sum() < len(undefined)


def test_weights_are_a_row_of_a_node_matrix():
    d = data(rows=12)
    table = alternatives(Tree.parse("x0*x1", d.names), d, top=100)
    total = table.groupby("node")["weight"].sum()
    np.testing.assert_allclose(total, 1)
    leaf = of(table, 0)
    fits = np.log(leaf["weight"]) + 6 * np.log(1 - leaf["r2"])
    np.testing.assert_allclose(fits, fits.iloc[0])
    few = alternatives(Tree.parse("x0*x1", d.names), d, top=2)
    assert (few.groupby("node").size() == 3).all()
    assert (few.groupby("node")["weight"].sum() <= 1).all()


def test_a_copy_of_a_feature_has_the_same_weight():
    d = data()
    X = np.column_stack([d.X, d.X[:, 0]])
    table = alternatives(Tree.parse("x0*x1", Dataset(X).names), Dataset(X, d.y, dtype=np.float64))
    first = of(table, 0).iloc[:2]
    assert first["alternative"].tolist() == ["as it is", "x6"]
    assert first["weight"].tolist() == pytest.approx([0.5, 0.5], abs=1e-3)


def test_rows_where_the_formula_is_undefined_are_left_out():
    d = data()
    X = d.X.copy()
    X[0, 0] = -1
    spoiled = Dataset(X, d.y, dtype=np.float64)
    rest = Dataset(X[1:], d.y[1:], dtype=np.float64)
    tree = Tree.parse("log(x0) + x1", d.names)
    pd.testing.assert_frame_equal(alternatives(tree, spoiled), alternatives(tree, rest))
    with pytest.raises(ValueError, match="rows where the formula is defined"):
        alternatives(Tree.parse("log(-x0)", d.names), rest)


def test_a_constant_formula_has_alternatives():
    d = data()
    table = alternatives(Tree([-(2**31)], [3.0], None, d.names), d)
    assert table["alternative"].tolist()[:2] in (["as it is", "x0"], ["as it is", "x1"])
    assert table["r2"].iloc[0] == 0


def test_of_a_fitted_estimator_wide_and_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 3000)), columns=[f"gene {j}" for j in range(3000)])
    X["gene 9"] = X["gene 6"] = X["gene 7"]
    y = X["gene 7"] - 2 * X["gene 8"]
    rules = Constraints(exclude=["gene 9"])
    islands = Islands(islands=2, population=50)
    est = DGPRegressor(max_evaluations=3000, random_state=0, islands=islands, constraints=rules)
    est.fit(X, y)
    table = est.explain(X, y)
    assert tuple(table.columns) == COLUMNS
    assert {"gene 6", "gene 7"} & set(table["alternative"])
    assert "gene 9" not in set(table["alternative"])
    assert set(table["node"]) == set(range(est.tree_.size))
    with pytest.raises(ValueError, match="top must be at least 1, got 0"):
        est.explain(X, y, top=0)
    with pytest.raises(ValueError, match="X and y must be given"):
        est.explain(None, None)
    with pytest.raises(ValueError, match="feature"):
        est.explain(X.iloc[:, :5], y)


def test_large_tables_are_thinned_evenly():
    assert len(thinned(10, 20)) == 10
    rows = thinned(10_000, 500)
    assert len(set(rows)) == 500
    assert (rows[0], rows[-1]) == (0, 9999)
    d = data(rows=MOST_ROWS + 1000)
    table = alternatives(Tree.parse("x0*x1", d.names), d)
    assert table["r2"].iloc[0] == pytest.approx(0.78, abs=0.1)
