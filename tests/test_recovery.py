import numpy as np
import pytest
import sympy

from symgrad import Tree
from symgrad.bench.problems import SYNTHETIC, load, truth
from symgrad.bench.recovery import same_formula, same_values, verdict


def judge(problem, text):
    expression = Tree.parse(text).sympy() if isinstance(text, str) else text
    fresh = load(problem, 0).X_test
    return verdict(expression, truth(problem).sympy(), fresh, SYNTHETIC[problem][1] >= 0, 20)


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        ("S1", "cos(x0)*sin(x0*x0) - x0/x0"),
        ("S1", "cos(0 - x0)*sin(x0*x0) - 1.0000000001"),
        ("S2", "log((x0 + 1)*(x0*x0 + 1))"),
        ("S2", "log(x0*x0*x0 + x0*x0 + x0 + 1)"),
        ("S2", "log(x0 + 1) - log(1/(1 + x0*x0))"),
        ("S3", "x0*(x0*(x0 + 1) + 1) + sin(x0) + sin(x0*x0)"),
        ("S4", "sin(x0) + sin(exp(log(x1) + log(x1)))"),
        ("S5", "x0*x0*x0/(1 + x1/x0)"),
        ("S6", "2*sin(x0 + x1) + 2*sin(x0 - x1)"),
        ("S6", "(sin(x0) + sin(x0))*(cos(x1) + cos(x1))"),
    ],
)
def test_other_spellings_are_the_formula(problem, text):
    assert judge(problem, text) == "yes"


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        ("S1", "sin(x0*x0)*cos(x0) - 0.99999"),
        ("S2", "log(x0 + 1) + log(x0*x0 + 1.0001)"),
        ("S3", "x0*x0*x0 + x0*x0 + x0 + sin(x0) + x0*x0"),
        ("S4", "sin(x1) + sin(x0*x0)"),
        ("S5", "x0*x0*x0*x0/(x0 + x1 + 0.000001)"),
        ("S6", "4*sin(x0)*cos(x1) + 0.0000001*x0"),  # rounding alone would hide it
        ("S6", "log(0 - x0)"),  # nowhere defined
        ("S6", "3"),
    ],
)
def test_what_is_near_is_not_the_formula(problem, text):
    assert judge(problem, text) == "no"


def test_what_sympy_cannot_show_is_said(monkeypatch):
    def fail(*_):
        raise TimeoutError

    monkeypatch.setattr("symgrad.bench.recovery.same_formula", fail)
    assert judge("S6", "4*sin(x0)*cos(x1)") == "values"


def test_formulas_and_values_are_judged_apart():
    x = sympy.Symbol("x0")
    near = x + sympy.Float(1e-9)
    assert same_formula(near, x)  # the number is rounded away
    assert same_values(near, x, np.ones((3, 1)))
    assert not same_formula(sympy.sqrt(x**2), x)
    assert same_formula(sympy.sqrt(x**2), x, positive=True)
