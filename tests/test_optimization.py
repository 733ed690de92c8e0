import numpy as np
import pytest

from symgrad import Dataset, Forest, PrimitiveSet
from symgrad.dgp.optimization import Optimization, deviation, optimize
from symgrad.tree.generate import generate


def problem(rows=200, features=6, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    return Dataset(X, X[:, 1] * 2 + X[:, 3], dtype=dtype)


def trees(n=40, features=6, seed=0):
    rng = np.random.default_rng(seed)
    return generate(rng, n, features, primitives=PrimitiveSet.paper())


def fields(result):
    return (result.pick, result.added, result.strength, result.probability, result.loss)


@pytest.mark.parametrize("rows", [7, 200, 700])
def test_same_bits_for_any_number_of_threads(rows):
    o = Optimization(epochs=15)
    one, two, five = (
        fields(optimize(np.random.default_rng(1), trees(), problem(rows), o, n_jobs=jobs))
        for jobs in (1, 2, 5)
    )
    for a, b, c in zip(one, two, five, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_a_seed_reproduces_and_another_differs():
    o = Optimization(epochs=15)
    a, b, c = (fields(optimize(np.random.default_rng(s), trees(), problem(), o)) for s in (1, 1, 2))
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert not np.array_equal(a[4], c[4])


def test_training_lowers_the_loss():
    got = optimize(np.random.default_rng(0), trees(), problem(), Optimization(epochs=200))
    first, last = got.loss
    assert np.median(last) < np.median(first)
    assert (last < first).mean() > 0.8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_leaf_finds_the_right_feature(dtype):
    """A sum with one wrong leaf: the gradient sees the right feature among many."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 30))
    data = Dataset(X, X[:, 7] + X[:, 21], dtype=dtype)
    forest = Forest.from_strings(["x7 + x3"], data.names, PrimitiveSet.paper())
    got = optimize(rng, forest, data, Optimization(epochs=1000))
    assert got.pick.tolist() == [7, 21, 0]
    assert got.probability.min() > 0.5


def test_overflow_does_not_spoil_training():
    X = np.full((50, 2), 80.0) + np.random.default_rng(0).normal(size=(50, 2))
    data = Dataset(X, X[:, 0])
    text = "exp(x0)*exp(x1)*exp(x0)*exp(x1)*exp(x0)*exp(x1)*exp(x0)*exp(x1)*exp(x0)*exp(x1)"
    forest = Forest.from_strings([f"({text})*({text})", "x1"], data.names, PrimitiveSet.paper())
    got = optimize(np.random.default_rng(0), forest, data, Optimization(epochs=50))
    assert np.isfinite(got.probability).all()
    assert np.isfinite(got.strength).all()
    assert got.loss[1, 1] < got.loss[0, 1]


def test_constants_stay():
    data = problem()
    forest = Forest.from_strings(["2.5 + x0"], data.names, PrimitiveSet.paper())
    got = optimize(np.random.default_rng(0), forest, data, Optimization(epochs=5))
    assert got.pick[0] == -1


def test_random_picks_follow_the_weights():
    data = problem()
    forest = Forest.from_strings(["x0"] * 2000, data.names, PrimitiveSet.paper())
    o = Optimization(epochs=0, start_probability=0.7)
    got = optimize(np.random.default_rng(0), forest, data, o, random_pick=True)
    assert (got.pick == 0).mean() == pytest.approx(0.7, abs=0.05)
    assert np.isin(got.pick, range(6)).all()


def test_weights_change_the_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    w = np.repeat([1.0, 0.0], 150)
    y = np.where(w > 0, X[:, 0], X[:, 1])
    forest = Forest.from_strings(["x0", "x1"], ["x0", "x1"], PrimitiveSet.paper())
    data = Dataset(X, y, weights=w, feature_names=["x0", "x1"])
    got = optimize(rng, forest, data, Optimization(epochs=1, batch_size=300, edge_strength=0.999))
    assert got.loss[0, 0] < got.loss[0, 1]
    assert deviation(data) == pytest.approx(X[:150, 0].std())


@pytest.mark.parametrize(
    ("name", "value"),
    [("epochs", -1), ("batch_size", 0), ("learning_rate", 0),
     ("edge_learning_rate", -1), ("start_probability", 1), ("edge_strength", 1),
     ("added_leaf", "none"), ("zero_one", -1), ("trees", 0)],
)  # fmt: skip
def test_bad_settings_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        Optimization(**{name: value})


def test_ctrl_c_is_answered_within_a_second(press_ctrl_c):
    since = press_ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        optimize(
            np.random.default_rng(0), trees(200), problem(500), Optimization(epochs=10**6), n_jobs=2
        )
    assert since() < 1.0
