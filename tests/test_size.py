import signal

import pytest
import sympy

from symgrad.bench.size import depth, measure, shorten, size

x = sympy.Symbol("x")


@pytest.mark.parametrize(
    ("expression", "nodes", "deep"),
    [
        (x, 1, 0),
        (1.0001 * x, 1, 0),
        (1.5 * x + 0.25, 5, 2),
        (0.0002 * x, 3, 1),  # small, but a term
        (x**2.0003, 3, 1),
        (x / sympy.sin(x), 6, 3),  # a product with a power of -1
    ],
)
def test_nodes_of_the_rounded_expression_are_counted(expression, nodes, deep):
    short = shorten(expression)
    assert size(short) == nodes
    assert depth(short) == deep


def test_a_formula_is_measured():
    assert measure(lambda: 1.23456 * x + sympy.Symbol("y"), 5) == {
        "size": 5,
        "depth": 2,
        "features": 2,
        "used": "x y",
        "expression": "1.235*x + y",
    }


def test_a_formula_that_takes_too_long_has_no_size():
    result = measure(signal.pause, 0.05)
    assert "size" not in result
    assert "TimeoutError" in result["error"]
