"""Nodes of formulas as they are written, against SymPy's."""

import pickle

import numpy as np
import pytest

from symgrad import Dataset, Forest, Tree
from symgrad.bench.size import shorten, size
from symgrad.tree.generate import generate
from symgrad.tree.units import in_units

PLAIN = Dataset(np.zeros((1, 9))).units
CENTER, SCALE = np.array([0.0, 0, 0, 0, 0, 0, 0, 70, 30]), np.array([1.0, 1, 1, 1, 1, 16, 16, 8, 2])
rows = np.random.default_rng(0).normal(size=(100, 9))
STANDARD = Dataset(CENTER + SCALE * rows, dtype=np.float64).standardize()
STANDARD.center, STANDARD.scale = CENTER, SCALE


def by_sympy(tree, units):
    center, scale = (None, None) if units is PLAIN else (CENTER, SCALE)
    return size(shorten(in_units(tree, center, scale, 1.2345, 6.789).sympy()))


@pytest.mark.parametrize(
    ("formula", "nodes"),
    [
        ("x0", 5),  # a*x0 + b
        ("x0 + x1", 8),
        ("x0 + 2.5*x1 + 0.5*x2", 11),  # a number before each term, whatever it is
        ("x0 - x1", 8),
        ("x0*x1*x2*x3", 8),
        ("2.5*x0*sin(x1)", 7),
        ("x0/x1", 8),
        ("sin(x0)", 6),
        ("sin(2.5*x0)", 8),
        ("sin(x0 + x1)", 8),
        ("sin(x0 - x1)", 10),
        ("sin(-x0)", 8),
        ("1/(x0 + 2.5)", 9),
        ("exp(x0)*(x1 + 2.5)", 9),
        ("(x0 + x1)*(x2 + x3)", 10),
        ("max(x0, 2.5*x1)", 9),
    ],
)
def test_formulas_in_plain_units(formula, nodes):
    tree = Tree.parse(formula)
    assert Forest.of([tree]).written(PLAIN).tolist() == [nodes]
    if "-x0" not in formula:  # for which SymPy writes -sin(x0)
        assert by_sympy(tree, PLAIN) == nodes


@pytest.mark.parametrize(
    ("formula", "nodes"),
    [
        ("x5", 5),  # the line has room for units
        ("x5 + x6", 8),
        ("x5 + x0", 8),
        ("sin(x5)", 8),
        ("sin(2.5*x5)", 8),
        ("sin(x5 + x6)", 12),
        ("sin(x5 + x0)", 10),
        ("x5*x6", 6),
        ("x5/x6", 8),
        ("x7", 5),
        ("sin(x7)", 10),
        ("sin(x7 + 2.5)", 10),
        ("x7*x8", 10),
        ("x7 + x8 + x0", 11),
    ],
)
def test_units_are_written(formula, nodes):
    tree = Tree.parse(formula)
    assert Forest.of([tree]).written(STANDARD.units).tolist() == [nodes]
    assert by_sympy(tree, STANDARD.units) == nodes


@pytest.mark.parametrize("units", [PLAIN, STANDARD.units], ids=["plain", "standard"])
def test_random_trees_are_counted_nearly_as_sympy_does(units):
    forest = generate(np.random.default_rng(3), 200, 9, p_constant=0.2)
    ratio = forest.written(units) / [by_sympy(tree, units) for tree in forest]
    assert 0.97 < np.median(ratio) < 1.03
    assert np.mean(np.abs(ratio - 1) < 0.15) > 0.7


def test_units_are_checked_and_can_be_stored():
    forest = Forest.from_strings(["x8"])
    with pytest.raises(ValueError, match="units must have a number per feature"):
        forest.written(Dataset(np.ones((2, 1))).standardize().units)
    stored = pickle.loads(pickle.dumps(STANDARD.units))
    assert stored.scale == SCALE.tolist()
    assert forest.written(stored) == forest.written(STANDARD.units)
