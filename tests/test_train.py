import jax
import numpy as np
import pytest
from gpu import LAYOUT, options_of, problem, trees
from scipy.special import softmax

from symgrad import Dataset, Forest, PrimitiveSet
from symgrad.dgp.optimization import Optimization, deviation, optimize
from symgrad.gpu import train as engine


def both(forest, data, o, limit=2**40, seed=3):
    """Return what the native core and the JAX engine make of the same."""
    rng = np.random.default_rng(1)
    want = optimize(rng, forest, data, o, details=True)
    order = np.random.default_rng(1).permutation(data.rows)
    weights = None if data.weights is None else data.weights[order]
    got = engine.train(
        forest, data.X[order], data.y[order], weights, deviation(data),
        options_of(o, forest, seed), LAYOUT, limit,
    )  # fmt: skip
    return want, got


def first_gradients(forest, data, o):
    """Return derivatives by all weights in the first epoch, in the core's layout."""
    order = np.random.default_rng(1).permutation(data.rows)
    options = options_of(o, forest)
    plan, tables, owns, settings, packed = engine.prepare(
        forest, data.features, deviation(data), options, LAYOUT
    )
    rows = engine.batches(
        data.X[order], data.y[order], None, data.rows, LAYOUT.block, plan.leaf_width
    )

    @jax.jit
    def work():
        weights = engine.begin(plan, tables, owns, settings).weights
        batch = tuple(r[0] for r in rows)
        return engine.derivatives(plan, tables, weights, batch, settings.deviation)

    found, factor, _, _ = work()
    width = len(plan.functions) + data.features + 2
    out = np.zeros((2, len(forest.code), width))
    for place, of in ((0, packed.leaf_of), (1, packed.added_of)):
        node = np.flatnonzero(of >= 0)
        # The step sees differences, and of an added leaf the features alone.
        shared = found.mass[:, None] if plan.leaf_functions and place == 0 else 0.0
        g = np.asarray((found.h + shared) * factor[tables.leaf_tree][:, None])
        given = data.features if place else plan.leaf_width
        out[place, node, :given] = g[of[node], :given]
    node = np.flatnonzero(packed.inner_of >= 0)
    g = np.asarray(found.w * factor[tables.inner_tree][:, None])
    out[0, node, : len(plan.functions) + 1] = g[packed.inner_of[node], : len(plan.functions) + 1]
    return out


@pytest.mark.parametrize(
    ("primitives", "scale", "leaf_functions"),
    [(PrimitiveSet.paper(), False, False), (PrimitiveSet.paper(), True, True),
     (PrimitiveSet(), False, False)],
    ids=["paper", "scaled", "all"],
)  # fmt: skip
def test_first_gradients_are_those_of_the_core(primitives, scale, leaf_functions):
    data, forest = problem(), trees(25, primitives=primitives)
    o = Optimization(epochs=1, added_leaf="uniform", scale=scale, leaf_functions=leaf_functions)
    got = first_gradients(forest, data, o)
    core = optimize(np.random.default_rng(1), forest, data, o, details=True)
    want = core.details.reshape(5, len(forest.code), -1)[[1, 3]]
    assert want.shape == got.shape
    size = np.abs(want).max(axis=2, keepdims=True)
    usual = (size[..., 0] > 0) & (size[..., 0] < 1e3)  # else of trees with huge values
    # Where large values cancel, float32 loses digits, and which ones depends on the processor.
    for tolerance, share in ((1e-4, 0.9), (1e-3, 0.98)):
        close = (np.abs(got - want) <= tolerance * size + 1e-6).all(axis=2)
        assert close[usual].mean() > share
    assert usual.mean() > 0.3


def test_training_is_that_of_the_core():
    """Up to derivatives near zero, which Adam's first steps take for one sign or the other."""
    want, got = both(trees(), problem(), Optimization(epochs=10, added_leaf="uniform", scale=True))
    np.testing.assert_allclose(got.loss, want.loss, rtol=0.02)
    assert np.median(np.abs(got.loss / want.loss - 1)) < 1e-4
    np.testing.assert_allclose(got.strength, want.strength, atol=0.02)
    assert (got.pick == want.pick).mean() > 0.99
    assert (np.abs(got.probability - want.probability) < 2e-3).mean() > 0.9


def test_batches_and_weights_are_those_of_the_core():
    weights = np.random.default_rng(5).uniform(0.1, 3, size=150)
    o = Optimization(epochs=4, batch_size=64, added_leaf="uniform", scale=True)
    want, got = both(trees(), problem(150, weights=weights), o)
    np.testing.assert_allclose(got.loss, want.loss, rtol=1e-3)


def test_a_leaf_finds_the_right_feature():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 30))
    data = Dataset(X, X[:, 7] + X[:, 21])
    forest = Forest.from_strings(["x7 + x3"], data.names, PrimitiveSet.paper())
    _, got = both(forest, data, Optimization(epochs=1000))
    assert got.pick.tolist() == [7, 21, 0]


def test_trees_of_one_leaf_or_constant_are_trained_or_stay():
    data = problem(rows=60)
    forest = Forest.from_strings(["x0", "2.5", "2.5 + x0"], data.names, PrimitiveSet.paper())
    o = Optimization(epochs=60, learning_rate=0.5)
    data = Dataset(data.X, data.X[:, 1], feature_names=data.names)
    want, got = both(forest, data, o)
    assert got.pick.tolist() == want.pick.tolist()
    assert got.pick[:3].tolist() == [1, -1, -1]
    np.testing.assert_allclose(got.loss[:, 1], want.loss[:, 1], rtol=1e-5)


def test_overflow_does_not_spoil_training():
    X = np.full((50, 2), 80.0) + np.random.default_rng(0).normal(size=(50, 2))
    data = Dataset(X, X[:, 0])
    text = "*".join(["exp(x0)", "exp(x1)"] * 5)
    forest = Forest.from_strings([f"({text})*({text})", "x1"], data.names, PrimitiveSet.paper())
    _, got = both(forest, data, Optimization(epochs=50))
    assert np.isfinite(got.probability).all()
    assert np.isfinite(got.strength).all()
    assert got.loss[1, 1] < got.loss[0, 1]


def test_parts_that_fit_the_memory_give_the_same():
    data, forest = problem(), trees(12)
    o = Optimization(epochs=3, added_leaf="uniform", scale=True)
    whole, parts = (both(forest, data, o, limit)[1] for limit in (2**40, 2**16))
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_random_picks_follow_the_weights_and_the_seed():
    data = problem()
    forest = Forest.from_strings(["x0"] * 2000, data.names, PrimitiveSet.paper())
    o = Optimization(epochs=0, start_probability=0.7)

    def picks(seed):
        options = options_of(o, forest, seed)
        options.random = True
        made = engine.train(forest, data.X, data.y, None, 1.0, options, LAYOUT, 2**40)
        return made.pick

    assert (picks(1) == 0).mean() == pytest.approx(0.7, abs=0.05)
    assert np.isin(picks(1), range(6)).all()
    assert np.array_equal(picks(1), picks(1))
    assert not np.array_equal(picks(1), picks(2))


def test_wide_rows_are_trained_like_narrow_ones():
    """More than the limit from which first moments are bfloat16."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 600))
    data = Dataset(X, X[:, 599])
    forest = Forest.from_strings(["x3"], data.names, PrimitiveSet.paper())
    want, got = both(forest, data, Optimization(epochs=30, learning_rate=0.5))
    assert got.pick.tolist() == want.pick.tolist() == [599]
    np.testing.assert_allclose(got.loss, want.loss, rtol=0.02)


def test_softmax_of_the_start_is_the_start_probability():
    forest = trees(1)
    options = options_of(Optimization(start_probability=0.9), forest)
    logits = np.zeros(6)
    logits[2] = engine.start_logit(options, 6)
    assert softmax(logits)[2] == pytest.approx(0.9)
