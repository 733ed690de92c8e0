import numpy as np
import pytest

from symgrad import Tree
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.words import Powers, Words

PAPER = PrimitiveSet.paper()


def test_words_are_all_small_trees_that_differ():
    X = np.random.default_rng(0).uniform(0.5, 1.5, size=(16, 1))
    words = Words(X, [3], PrimitiveSet(["+", "*", "sin"]), most=200)
    assert len(words.value) == len(words.size) == len(words.part) == 200
    texts = [Tree(*zip(*words.written(k), strict=True), words.primitives) for k in range(60)]
    x = np.zeros((16, 4))
    x[:, 3] = X[:, 0]
    for k, tree in enumerate(texts):
        np.testing.assert_allclose(tree.evaluate(x), words.value[k], rtol=1e-12)
        assert tree.size == words.size[k]
    assert [str(t) for t in texts[:2]] == ["x3", "1"]
    assert {str(t) for t in texts if t.size == 2} == {"sin(x3)"}
    assert {str(t) for t in texts if t.size == 3} == {
        "sin(sin(x3))", "x3 + x3", "x3*x3", "x3 + 1",
    }  # fmt: skip
    for a in range(200):
        same = np.isclose(words.value[a], words.value[a + 1 :], rtol=1e-9, atol=0).all(axis=1)
        assert not same.any()


@pytest.mark.parametrize("symbols", [["+", "*"], ["+", "-", "*", "/"], ["sin"]])
def test_any_functions_make_words(symbols):
    X = np.random.default_rng(0).uniform(0.5, 1.5, size=(16, 2))
    words = Words(X, [0, 1], PrimitiveSet(symbols), most=500)
    odd = set(range(1, 2 * len(words.size), 2))
    assert words.size.max() >= 5
    assert "sin" in symbols or set(words.size.tolist()) <= odd


@pytest.mark.parametrize(
    ("formula", "free", "size"),
    [
        ("x0*x1 - x1*x1/3 + 2*x0 - 1", "", 15),
        ("x0*x1 - x1*x1/3 + 2*x0 - 1", "sum", 13),
        ("0.7*x0*x1 - 1.4*x1", "product", 5),
        ("x0*x0*x1 + x0*x1 + x0", "", 9),
        ("0.7*x0*x1 - 1.4*x1", "", None),  # 7 tenths are no twelfths
        ("x0*x1*x0", "", None),  # a product of words
        ("sin(x0) + x1", "", None),
        ("1000*x0 + x1", "", None),
    ],
)
def test_polynomials_of_simple_fractions_are_told(formula, free, size):
    X = np.random.default_rng(0).uniform(0, 2, size=(48, 2))
    y = Tree.parse(formula).evaluate(X)
    law = Powers(X, [0, 1], PAPER).polynomial(y, free, 1e-9)
    assert (law is None) == (size is None)
    if law is not None:
        tree = Tree(*zip(*law, strict=True), PAPER)
        np.testing.assert_allclose(np.corrcoef(tree.evaluate(X), y)[0, 1] ** 2, 1, atol=1e-14)
        assert tree.size <= size
        assert "product" in free or np.ptp(y - tree.evaluate(X)) < 1e-9
        assert free or np.abs(y - tree.evaluate(X)).max() < 1e-9


def test_few_rows_and_many_features_leave_few_terms():
    X = np.random.default_rng(0).normal(size=(20, 6))
    assert len(Powers(X, list(range(6)), PAPER).terms) == 7
    assert len(Powers(X[:, :1], [0], PAPER).terms) == 7
    assert len(Powers(X[:3], list(range(6)), PAPER).terms) == 1
