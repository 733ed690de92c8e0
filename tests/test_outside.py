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
    at_the_edge = tree.evaluate(np.array([[0, 0.5, 0, X[:, 3].max()]]))[0]
    expected = [tree.evaluate(far)[0], *[np.clip(at_the_edge, data.y.min(), data.y.max())] * 2]
    np.testing.assert_allclose(box.kept(tree.evaluate(far), far, tree), expected)
    sparse = csr_array(far)
    np.testing.assert_allclose(box.kept(tree.evaluate(far), sparse, tree), expected)
