"""Whether a formula is the formula that was looked for.

First its values on fresh points are compared, then SymPy is asked whether the difference of the two
formulas is zero, numbers rounded to six decimals. The verdict is "yes" if both say so, "no" if the
values differ, and "values" if they agree but SymPy cannot show it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy

from symgrad.bench.size import limit
from symgrad.bench.task import Array

TOLERANCE = 1e-8
"""Difference of values up to which they agree, relative to values above 1."""

DECIMALS = 6


def same_values(expression: sympy.Expr, wanted: sympy.Expr, X: Array) -> bool:
    """Whether two formulas in x0, x1, ... have the same values on all rows."""
    symbols = [sympy.Symbol(f"x{j}") for j in range(X.shape[1])]
    found, expected = (_values(e, symbols, X) for e in (expression, wanted))
    with np.errstate(all="ignore"):
        off = np.abs(found - expected) / np.maximum(1, np.abs(expected))
    return bool(np.all(off < TOLERANCE))  # NaN is not below


def same_formula(expression: sympy.Expr, wanted: sympy.Expr, positive: bool = False) -> bool:
    """Whether SymPy finds the difference of two formulas to be zero, over real or positive numbers.

    Examples
    --------
    >>> from symgrad import Tree
    >>> from symgrad.bench.recovery import same_formula
    >>> a, b = (Tree.parse(t).sympy() for t in ("sin(x0)*sin(x0)", "1 - cos(x0)*cos(x0)"))
    >>> same_formula(a, b), same_formula(a, a + 1)
    (True, False)
    """
    names = sorted((expression.free_symbols | wanted.free_symbols), key=lambda s: str(s.name))
    known = {s: sympy.Symbol(s.name, real=True, positive=positive or None) for s in names}
    difference = (_exact(expression) - _exact(wanted)).xreplace(known)
    ways: tuple[Callable[[sympy.Expr], sympy.Expr], ...] = (
        sympy.expand,
        lambda d: sympy.expand(sympy.expand_log(d, force=True)),
        lambda d: sympy.expand(sympy.expand_log(sympy.factor(d), force=True)),
        lambda d: sympy.simplify(sympy.logcombine(d, force=True)),
    )
    return any(way(difference) == 0 for way in ways)


def verdict(
    expression: sympy.Expr, wanted: sympy.Expr, X: Array, positive: bool, seconds: float
) -> str:
    """Return "yes", "values" or "no"; SymPy has some seconds."""
    if not same_values(expression, wanted, X):
        return "no"
    try:
        with limit(seconds):
            return "yes" if same_formula(expression, wanted, positive) else "values"
    except Exception:  # of whatever kind: SymPy could not show it
        return "values"


def _values(expression: sympy.Expr, symbols: list[sympy.Symbol], X: Array) -> Array:
    with np.errstate(all="ignore"):
        made = sympy.lambdify(symbols, expression, "numpy")(*X.T)
        return np.broadcast_to(np.asarray(made, np.complex128), len(X))


def _exact(expression: sympy.Expr) -> sympy.Expr:
    """Return the formula with its numbers as fractions of six decimals."""
    short = {
        f: sympy.Rational(str(round(float(f), DECIMALS))) for f in expression.atoms(sympy.Float)
    }
    return expression.xreplace(short)
