import numpy as np
import pytest

from symgrad import DGPRegressor, PrimitiveSet, Tree
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.islands import Islands
from symgrad.tree.names import FeatureNames

NAMES = FeatureNames(["a", "b", "c"])


def fitted(y, X, constraints, **kwargs):
    settings = {"max_evaluations": 15_000, "random_state": 0, "model_selection": "accurate"}
    est = DGPRegressor(
        islands=Islands(islands=2, population=60), constraints=constraints, **(settings | kwargs)
    )
    return est.fit(X, y)


def sample(rows=150):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(rows, 3))
    return X, np.sin(X[:, 0] + np.sin(3 * X[:, 1])) + 0.1 * rng.normal(size=rows)


def nested(tree, outer, inner):
    """Whether `inner` occurs inside `outer`."""
    name = tree.primitives.__getitem__

    def function(code, args):
        inside = set().union(*(a[0] for a in args))
        bad = any(a[1] for a in args) or (name(code).name == outer and inside & set(inner))
        return inside | {name(code).name}, bool(bad)

    nothing = (set(), False)
    return tree.fold(variable=lambda _: nothing, constant=lambda _: nothing, function=function)[1]


def test_functions_are_not_nested_against_the_rule():
    X, y = sample()
    free = fitted(y, X, None)
    assert any(nested(t, "sin", ["sin", "cos"]) for t in free.trees_)
    ruled = fitted(y, X, Constraints(nesting={"sin": ["sin", "cos"]}))
    assert not any(nested(t, "sin", ["sin", "cos"]) for t in ruled.trees_)
    assert any("sin" in str(t) for t in ruled.trees_)


def test_costs_make_functions_rare():
    X, y = sample()
    limits = {"max_size": 10}
    dear = fitted(y, X, Constraints(costs={"sin": 11, "cos": 11, "exp": 11, "log": 11}), **limits)
    assert not any(f in str(t) for t in dear.trees_ for f in ("sin", "cos", "exp", "log"))


def test_features_left_out_and_required():
    X, y = sample()
    est = fitted(y, X, Constraints(exclude=["x1"], require=["x2"]))
    used = [t.features for t in est.trees_ if t.size > 1]
    assert used
    assert all("x2" in f and "x1" not in f for f in used)
    assert est.tree_.names.names == ("x0", "x1", "x2")
    np.testing.assert_allclose(est.predict(X), est.tree_.evaluate(X))


@pytest.mark.parametrize("direction", [1, -1])
def test_directions(direction):
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(200, 2))
    y = direction * X[:, 0] + 0.7 * np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=200)
    free, bound = (fitted(y, X, c) for c in (None, Constraints(monotone={"x0": direction})))

    rule = Constraints(monotone={"x0": direction})
    assert not all(rule.allow(t, X) for t in free.trees_)
    assert len(bound.trees_) > 2
    assert all(rule.allow(t, X) for t in bound.trees_)


def test_a_direction_is_that_of_the_derivative():
    X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 6.0]])
    rises = Constraints(monotone={"a": 1})
    for text, answer in {"a*a": True, "-a": False, "b": True, "a - 0.9*a": True}.items():
        assert rises.allow(Tree.parse(text, NAMES), X) is answer
    assert not Constraints(require=["c"]).allow(Tree.parse("a + b", NAMES), X)
    rule = Constraints(nesting={"sin": ["exp"]})
    assert not rule.allow(Tree.parse("sin(a + exp(b))", NAMES), X)
    assert rule.allow(Tree.parse("exp(sin(a)) + exp(b)", NAMES), X)


def test_what_makes_no_sense_is_named():
    with pytest.raises(ValueError, match="monotone must be 1 or -1"):
        Constraints(monotone={"a": 0})
    with pytest.raises(ValueError, match="costs must be positive"):
        Constraints(costs={"sin": 0})
    with pytest.raises(ValueError, match="'a' is excluded and asked for"):
        Constraints(exclude=["a"], require=["a"])
    with pytest.raises(TypeError, match="list of features"):
        Constraints(require="a")
    with pytest.raises(ValueError, match="margin"):
        Constraints(margin=-1)
    with pytest.raises(ValueError, match="no feature 'd'"):
        Constraints(require=["d"]).rules(PrimitiveSet.paper(), NAMES)
    with pytest.raises(ValueError, match="'tanh' is not among the primitives"):
        Constraints(nesting={"tanh": ["sin"]}).rules(PrimitiveSet.paper(), NAMES)
