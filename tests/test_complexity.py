import numpy as np
import pytest

from symgrad import PrimitiveSet, Tree
from symgrad.data.complexity import LEFT_OUT, description_length, word_costs
from symgrad.data.loss import Loss

PAPER = PrimitiveSet.paper()


def length(text, error, rows=200, features=10):
    fit = Loss().length(error, 1.0, rows)
    return description_length(Tree.parse(text, primitives=PAPER), fit, rows, features)


def test_better_fits_and_smaller_formulas_are_shorter():
    assert length("x0", 0.1) < length("x0", 0.2)
    assert length("x0", 0.1) < length("x0 + x1", 0.1) < length("x0 + 2*x1", 0.1)
    assert length("x0 + x1", 0.1, features=10) < length("x0 + x1", 0.1, features=10_000)


def test_by_hand():
    words = 2 * np.log(10) + 1.5 * np.log(3) + np.log(8)
    expected = 200 * np.log(0.25) + 2 * np.log(200) + 2 * words
    assert length("x0 + x1", 0.25) == pytest.approx(expected)


def test_a_function_used_before_costs_less():
    """With half a count for each of the eight: 1/8, then 1.5/5 for the same and 0.5/5 else."""
    once, same, other = (length(text, 0.25) for text in ("x0 + x1", "x0 + x1 + x2", "(x0 + x1)*x2"))
    leaf = 2 * (np.log(10) + np.log(3))
    assert same - once == pytest.approx(leaf - 2 * np.log(1.5 / 5))
    assert other - once == pytest.approx(leaf - 2 * np.log(0.5 / 5))


def test_words_for_features_and_others_have_shares():
    tree = Tree.parse("x0 + 2*x1", primitives=PAPER)
    parts = [description_length(tree, 0.0, 200, 10, shares) for shares in ((1, 0), (0, 1))]
    assert parts[0] == pytest.approx(4 * np.log(10))
    assert sum(parts) == pytest.approx(length("x0 + 2*x1", 1.0))
    assert LEFT_OUT[0] >= 1 > LEFT_OUT[1], "left-out rows tell about constants, not about features"


def test_a_constant_says_nothing():
    assert length("3", 1.0) == pytest.approx(np.log(200))


def test_an_exact_fit_is_finite():
    assert np.isfinite(length("x0", 0.0))


@pytest.mark.parametrize("features", [10, 100, 10_000])
def test_the_best_of_many_noise_features_is_not_worth_its_words(features):
    """The largest of d chance correlations explains about 2 ln(d) / n."""
    rng = np.random.default_rng(features)
    found = 0
    for _ in range(20):
        y, X = rng.normal(size=100), rng.normal(size=(100, features))
        best = np.max(np.square((y - y.mean()) @ (X - X.mean(0)) / 100 / y.std() / X.std(0)))
        found += length("x0", 1 - best, 100, features) < length("1", 1.0, 100, features)
    assert found <= 1


def test_a_feature_may_be_told_once():
    def once(text):
        return description_length(Tree.parse(text, primitives=PAPER), 0.0, 200, 10, once=True)

    assert once("x0 + x1") == pytest.approx(length("x0 + x1", 1.0))
    again, other = once("x0 + x1 + x0"), once("x0 + x1 + x2")
    assert other - again == pytest.approx(2 * np.log(10) - 2 * np.log(2))
    assert once("x0 + x0") == pytest.approx(length("x0 + x1", 1.0) - 2 * np.log(10))


@pytest.mark.parametrize(("rows", "features"), [(50, 2), (400, 30), (5000, 10_000)])
def test_costs_of_words_are_what_they_add_to_lengths(rows, features):
    def of(text):
        tree = Tree.parse(text, primitives=PAPER)
        return description_length(tree, 0.0, rows, features, LEFT_OUT)

    feature, constant, function = word_costs(rows, features)
    assert of("x0 + x1 + x2") - of("x0 + x1") == pytest.approx(feature + function, abs=2)
    assert of("x0*x1 + 2*x2 + sin(x0)") - of("x0*x1 + x2 + sin(x0)") == pytest.approx(
        constant + function, abs=2
    )


def test_costs_of_words_for_the_smallest_table():
    assert word_costs(2, 1) == (1, 1, 2)
