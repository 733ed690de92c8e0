import numpy as np
from scipy.sparse import csr_array

from symgrad import Dataset, Tree
from symgrad.model import Formula
from symgrad.outside import Box


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
    top, mean = X[:, 3].max(), X.mean(axis=0)

    def kept(row):  # between the nearest point and the one on the way to the mean
        inward = mean + (top - mean[3]) / (row[3] - mean[3]) * (row - mean)
        edge = np.array([[0, row[1], 0, top], inward])
        ends = np.sort(tree.evaluate(edge))
        return np.clip(np.clip(tree.evaluate(row[None])[0], *ends), data.y.min(), data.y.max())

    expected = [tree.evaluate(far)[0], kept(far[1]), kept(far[2])]
    np.testing.assert_allclose(box.kept(tree.evaluate(far), far, tree), expected)
    sparse = csr_array(far)
    np.testing.assert_allclose(box.kept(tree.evaluate(far), sparse, tree), expected)


def test_features_that_move_together_are_not_torn_apart():
    rng = np.random.default_rng(0)
    t = rng.normal(size=200)
    X = np.column_stack([t, t + 0.001 * rng.normal(size=200)])
    data = Dataset(X, 1000 * (X[:, 1] - X[:, 0]), dtype=np.float64)
    tree = Tree.parse("1000*x1 - 1000*x0")
    box = Box.of(data, Formula(tree, 0.1, 0.99, 0.0))
    rows = np.array([[4.5, 4.5], [4.5, 4.501], [-5.0, -5.001]])
    np.testing.assert_allclose(box.kept(tree.evaluate(rows), rows, tree), [0, 1, -1], atol=1e-9)
    unsure = Box.of(data, Formula(tree, 0.1, 0.5, 0.0)).kept(tree.evaluate(rows), rows, tree)
    assert (np.abs(unsure) <= np.abs([1e-9, 1, 1])).all()  # no further from the mean than there


def test_where_the_formula_is_undefined_at_one_point_of_the_edge_the_other_counts():
    X = np.column_stack([np.linspace(0, 1, 30), np.linspace(0, 1, 30)])
    data = Dataset(X, X[:, 0], dtype=np.float64)
    tree = Tree.parse("0.5 + 0.1*log(x1 - x0 + 0.58)")
    box = Box.of(data, Formula(tree, 0.1, 0.5, 0.0))
    row = np.array([[2.0, 0.4]])  # (1, 0.4) is the nearest, where it is log(-0.02)
    inward = 0.5 + (row - 0.5) / 3
    bare = tree.evaluate(row)
    assert np.isnan(tree.evaluate(np.array([[1.0, 0.4]])))[0]
    expected = tree.evaluate(inward)
    assert 0 < expected[0] < 0.5
    np.testing.assert_allclose(box.kept(np.nan_to_num(bare), row, tree), expected)
