"""SHRINK, REPLACE and EXPAND, from picks set by hand."""

import numpy as np
import pytest

from symgrad import Dataset, Forest, PrimitiveSet
from symgrad.dgp.optimization import Optimization, Optimized, optimize
from symgrad.dgp.sampling import Sampling, sample
from symgrad.tree.generate import generate

PAPER = PrimitiveSet.paper()
PASS = len(PAPER)


def draw(text, picks, added=None, strength=None, features=4, **settings):
    """The tree that comes out when the nodes of a formula, in postfix order, become `picks`."""
    forest = Forest.from_strings([text], primitives=PAPER)
    n = len(forest.code)
    codes = [PAPER.names.index(p) if isinstance(p, str) and p != "pass" else p for p in picks]
    codes = [PASS if p == "pass" else p for p in codes]
    optimized = Optimized(
        forest,
        np.array(codes, np.int32),
        np.array(added or [-1] * n, np.int32),
        np.array(strength or [0.5] * n),
        np.ones(n),
        np.zeros((2, 1)),
        features,
    )
    return str(sample(optimized, Sampling(**settings))[0])


@pytest.mark.parametrize(
    ("text", "picks", "options", "want"),
    [
        # REPLACE: as many arguments as before
        ("x0 + x1", [2, 1, "mul"], {}, "x2*x1"),
        ("sin(x0)", [0, "cos"], {}, "cos(x0)"),
        # EXPAND: a unary node becomes binary with its added leaf; a leaf a function of itself
        ("sin(x0)", [0, "div"], {"added": [-1, 3]}, "x0/x3"),
        ("x1", [4 + 4], {}, "sin(x1)"),
        ("x1", [4 + 2], {}, "x1*x1"),
        # SHRINK: a binary node becomes a function of the child with the stronger edge ...
        ("x0 + x1", [0, 1, "sin"], {"strength": [0.2, 0.7, 1]}, "sin(x1)"),
        ("x0 + x1", [0, 1, "sin"], {"strength": [0.7, 0.2, 1]}, "sin(x0)"),
        # ... or, by the letter, that child
        ("x0 + x1", [0, 1, "sin"], {"strength": [0.2, 0.7, 1], "shrink": "delete"}, "x1"),
        # pass removes the node
        ("x0 + x1", [0, 1, "pass"], {"strength": [0.2, 0.7, 1]}, "x1"),
        ("exp(sin(x0))", [0, "pass", "exp"], {}, "exp(x0)"),
        ("2.5 + x0", [-1, 1, "sub"], {}, "2.5 - x1"),
    ],
)
def test_one_node(text, picks, options, want):
    assert draw(text, picks, **options) == want


def test_untrained_trees_come_back_as_they_were():
    rng = np.random.default_rng(0)
    forest = generate(rng, 100, 5, primitives=PAPER, p_constant=0.2)
    X = rng.normal(size=(20, 5))
    relaxed = optimize(rng, forest, Dataset(X, X[:, 0]), Optimization(epochs=0))
    assert sample(relaxed, Sampling()) == forest


@pytest.mark.parametrize("leaf_functions", [False, True])
def test_drawn_trees_are_valid_whatever_was_drawn(leaf_functions):
    rng = np.random.default_rng(1)
    forest = generate(rng, 100, 5, primitives=PAPER, p_constant=0.2)
    X = rng.normal(size=(20, 5))
    o = Optimization(epochs=0, start_probability=0.2, leaf_functions=leaf_functions)
    relaxed = optimize(rng, forest, Dataset(X, X[:, 0]), o, random_pick=True)
    for settings in (Sampling(), Sampling.literal()):
        drawn = sample(relaxed, settings)
        assert len(drawn) == len(forest)
        assert drawn != forest
        assert drawn.evaluate(X).shape == (100, 20)


@pytest.mark.parametrize("name", ["method", "shrink", "accept"])
def test_bad_settings_are_named(name):
    with pytest.raises(ValueError, match=name):
        Sampling(**{name: "maybe"})
