import numpy as np
import pytest
from gpu import LAYOUT, problem, trees

from symgrad import Dataset, Forest, PrimitiveSet
from symgrad.data.evaluate import Status
from symgrad.data.evaluate import score as native
from symgrad.gpu import score as engine

ODD = np.array([0.0, 1e-12, -1e-12, 1.0, -1.0, 0.5, -2.0, 3.0, 30.0, -30.0, 1e8, -1e8], np.float32)


def test_every_primitive_is_that_of_the_core():
    primitives = PrimitiveSet().extend("gauss(x) = exp(-x*x)")
    names = ["a", "b"]
    texts = [f"{p.name}(a)" if p.arity == 1 else f"{p.name}(a, b)" for p in primitives]
    forest = Forest.from_strings(texts, names, primitives)
    a, b = (grid.ravel() for grid in np.meshgrid(ODD, ODD))
    X = np.stack([a, b], axis=1)
    got, want = engine.evaluate(forest, X, LAYOUT), forest.evaluate(X)
    large = np.abs(a) > 1e6  # where sine and cosine depend on the reduction
    for text, g, w in zip(texts, got, want, strict=True):
        keep = ~large if text[:3] in ("sin", "cos", "tan") else slice(None)
        np.testing.assert_allclose(g[keep], w[keep], rtol=1e-5, atol=1e-6, err_msg=text)


def test_random_forests_are_those_of_the_core():
    forest = trees(150, primitives=PrimitiveSet(), max_depth=6, p_constant=0.2)
    X = np.asarray(problem(70).X)
    got, want = engine.evaluate(forest, X, LAYOUT), forest.evaluate(X)
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    usual = np.isfinite(want) & (np.abs(want) < 1e4)
    error = np.abs(got[usual] - want[usual]) / (1e-3 + np.abs(want[usual]))
    assert np.quantile(error, 0.99) < 1e-5  # the rest: sines of large numbers


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_the_core(scale, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    weights = rng.uniform(0.1, 2, size=150) if weighted else None
    data = Dataset(X, X[:, 0] * X[:, 1] + 1000, weights=weights)
    forest = trees(80, max_depth=5)
    got = engine.score(forest, data, scale=scale, layout=LAYOUT)
    want = native(forest, data, scale=scale)
    assert got.valid.sum() > 20
    assert {Status.VALID, Status.NAN} <= set(want.status.tolist())
    np.testing.assert_array_equal(got.valid, want.valid)
    v = want.valid
    for name in ("mse", "r2", "slope", "intercept"):
        a, b = getattr(got, name)[v], getattr(want, name)[v]
        close = np.isclose(a, b, rtol=2e-5, atol=1e-5)
        assert close.mean() > 0.9, name  # all but trees with huge values
    np.testing.assert_allclose(got.r2[v], want.r2[v], rtol=1e-4, atol=1e-4)


def test_the_reason_why_a_tree_is_invalid_is_told():
    X = np.array([[1.0, 0.0], [2.0, 3.0], [-1.0, 2.0]])
    data = Dataset(X, [1.0, 2.0, 3.0])
    forest = Forest.from_strings(["log(x0)", "x0/x1", "x0"], ["x0", "x1"], PrimitiveSet.paper())
    got = engine.score(forest, data, scale=True, layout=LAYOUT)
    assert got.status.tolist() == [Status.NAN, Status.INFINITE, Status.VALID]
    assert got.mse[:2].tolist() == [np.inf, np.inf]
    assert np.isnan(got.slope[:2]).all()
