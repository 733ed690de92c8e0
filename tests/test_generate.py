import numpy as np
import pytest
from strategies import DEFINITIONS

from symgrad import Forest, PrimitiveSet
from symgrad.language.primitive import CONSTANT
from symgrad.tree.generate import MAX_DEPTH, METHODS, generate


def rng(seed=0):
    return np.random.default_rng(seed)


def leaves(forest):
    return forest.code[forest.code < 0]


def leaf_depths(tree):
    """Depths of all leaves."""
    return tree.fold(
        variable=lambda _: [0],
        constant=lambda _: [0],
        function=lambda _, args: [d + 1 for a in args for d in a],
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_same_rng_gives_the_same_trees(method):
    one = generate(rng(1), 50, 5, method=method, p_constant=0.3)
    assert one == generate(rng(1), 50, 5, method=method, p_constant=0.3)
    assert one != generate(rng(2), 50, 5, method=method, p_constant=0.3)


def test_the_rng_moves_on():
    source = rng()
    assert generate(source, 20, 5) != generate(source, 20, 5)


def test_a_tree_depends_on_its_place_only():
    assert generate(rng(), 10, 5) == generate(rng(), 100, 5)[:10]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 3), (1, 1), (2, 5), (5, 5)])
def test_depth_bounds(method, low, high):
    forest = generate(rng(), 200, 3, method=method, min_depth=low, max_depth=high, p_leaf=0.4)
    depths = [t.depth for t in forest]
    assert len(forest) == 200
    assert min(depths) >= low
    assert max(depths) == high
    if method == "full":
        assert min(depths) == high
    elif high > low:
        assert min(depths) < high


def test_leaves_of_grown_trees_are_never_above_the_least_depth():
    for tree in generate(rng(), 100, 3, method="grow", min_depth=2, max_depth=5, p_leaf=0.9):
        assert min(leaf_depths(tree)) >= 2


def test_full_trees_are_full():
    for tree in generate(rng(), 50, 3, method="full", max_depth=5):
        assert set(leaf_depths(tree)) == {5}


def test_half_and_half_ramps_the_depth():
    forest = generate(rng(), 800, 3, method="half-and-half", min_depth=1, max_depth=4)
    full = [tree for tree in forest if len(set(leaf_depths(tree))) == 1]
    assert len(full) >= 400
    depths = np.bincount([t.depth for t in forest[1::2]])
    assert depths.tolist() == [0, 100, 100, 100, 100]


def test_the_deepest_trees():
    (tree,) = generate(rng(), 1, 2, method="full", max_depth=MAX_DEPTH)
    assert tree.depth == MAX_DEPTH


@pytest.mark.parametrize("p_leaf", [0.0, 1.0])
def test_leaf_probabilities_at_their_ends(p_leaf):
    forest = generate(rng(), 50, 3, method="grow", min_depth=1, max_depth=4, p_leaf=p_leaf)
    assert {t.depth for t in forest} == {4 if p_leaf == 0 else 1}


@pytest.mark.parametrize("p_leaf", [0.2, 0.5])
def test_share_of_single_leaves(p_leaf):
    forest = generate(rng(), 5000, 3, method="grow", min_depth=0, max_depth=3, p_leaf=p_leaf)
    share = (forest.sizes == 1).mean()
    assert abs(share - p_leaf) < 5 * np.sqrt(p_leaf * (1 - p_leaf) / 5000)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_share_of_constants(p):
    found = leaves(generate(rng(), 3000, 4, p_constant=p)) == CONSTANT
    assert abs(found.mean() - p) <= 5 * np.sqrt(p * (1 - p) / found.size)


def test_constants_are_normal():
    forest = generate(rng(), 5000, 4, p_constant=1, constant_scale=3.0)
    values = forest.value[forest.code == CONSTANT] / 3.0
    error = 5 / np.sqrt(values.size)
    assert abs(values.mean()) < error
    assert abs(values.std() - 1) < error
    assert abs((np.abs(values) < 1).mean() - 0.6827) < error
    assert np.unique(values).size == values.size


def test_features_are_uniform():
    count = np.bincount(~leaves(generate(rng(), 5000, 7)), minlength=7)
    expected = count.sum() / 7
    assert (np.abs(count - expected) < 5 * np.sqrt(expected)).all()


def test_functions_are_uniform():
    primitives = PrimitiveSet(["+", "sin", "/", *DEFINITIONS[:2]])
    forest = generate(rng(), 3000, 2, primitives=primitives, method="full", max_depth=1)
    roots = forest.code[forest.offset[1:] - 1]
    count = np.array([(roots == c).sum() for c in primitives.codes])
    assert count.sum() == 3000
    assert (np.abs(count - 600) < 5 * np.sqrt(600)).all()


@pytest.mark.parametrize(
    "weights", [[0, 1, 3, 0], [1, 0, 0, 0], [0, 0, 0, 5], [1e308] * 4, [1e-300] * 4]
)
def test_feature_weights(weights):
    weights = np.array(weights, float)
    count = np.bincount(~leaves(generate(rng(), 3000, 4, feature_weights=weights)), minlength=4)
    expected = count.sum() * (weights / weights.max()) / (weights / weights.max()).sum()
    assert (count[weights == 0] == 0).all()
    assert (np.abs(count - expected) <= 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("method", METHODS)
def test_shapes_do_not_depend_on_the_number_of_features(method):
    n = 4000
    few, many = (
        np.bincount(generate(rng(seed), n, d, method=method).sizes, minlength=64)[:64].cumsum() / n
        for seed, d in [(1, 10), (2, 10_000)]
    )
    # Kolmogorov and Smirnov's distance, at a level of 1e-4
    assert np.abs(few - many).max() < 2.2 * np.sqrt(2 / n)


def test_thousands_of_features_are_all_within_reach():
    used = generate(rng(), 20_000, 10_000).feature_indices
    assert used[0] < 10
    assert used[-1] > 9_990
    assert used.size > 9_000


def test_names_and_primitives_are_those_given():
    primitives = PrimitiveSet(["+", DEFINITIONS[0]])
    forest = generate(rng(), 30, primitives=primitives, feature_names=["a b", "c"])
    assert isinstance(forest, Forest)
    assert forest.primitives == primitives
    assert forest.names.names == ("a b", "c")
    assert set(forest.code[forest.code >= 0]) <= set(primitives.codes)
    assert forest.feature_indices.tolist() == [0, 1]


def test_fewer_features_than_names_are_the_first_ones():
    assert generate(rng(), 50, 2, feature_names=["a", "b", "c"]).feature_indices.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n_trees": 0}, "must be positive, got 0, 3"),
        ({"n_trees": -1}, "must be positive"),
        ({"n_trees": 2.5}, "n_trees must be an integer, got 2.5"),
        ({"n_features": 0}, "must be positive"),
        ({"n_features": 2.0}, "n_features must be an integer"),
        ({"n_features": None}, "n_features or feature_names must be given"),
        ({"n_features": 2**31}, "features must be"),
        ({"n_features": 3, "feature_names": ["a"]}, "n_features is 3, but there are 1 names"),
        ({"method": "bushy"}, "method must be one of grow, full, half-and-half, got 'bushy'"),
        ({"min_depth": -1}, "got -1 and 4"),
        ({"min_depth": 5}, "got 5 and 4"),
        ({"max_depth": 17}, "got 1 and 17"),
        ({"max_depth": 2.5}, "max_depth must be an integer"),
        ({"min_depth": 0.5}, "min_depth must be an integer"),
        ({"p_leaf": 1.5}, "p_leaf must be a probability, got 1.5"),
        ({"p_leaf": np.nan}, "p_leaf must be a probability"),
        ({"p_constant": -0.1}, "p_constant must be a probability, got -0.1"),
        ({"constant_scale": -1.0}, "constant_scale must be finite and not negative, got -1.0"),
        ({"constant_scale": np.inf}, "constant_scale must"),
        ({"constant_scale": np.nan}, "constant_scale must"),
        ({"feature_weights": [1, 2]}, r"feature_weights must have shape \(3,\), got \(2,\)"),
        ({"feature_weights": [0, 0, 0]}, "not all zero"),
        ({"feature_weights": [1, -1, 1]}, "not negative"),
        ({"feature_weights": [1, np.nan, 1]}, "finite"),
        ({"feature_weights": [1, np.inf, 1]}, "finite"),
    ],
)
def test_errors(change, reason):
    with pytest.raises(ValueError, match=reason):
        generate(rng(), **({"n_trees": 5, "n_features": 3} | change))


@pytest.mark.parametrize("source", [None, 0, np.random])
def test_randomness_is_a_generator(source):
    with pytest.raises(TypeError, match="rng must be a numpy"):
        generate(source, 5, 3)
