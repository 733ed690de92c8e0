"""The size of a formula, counted the same way for every method.

Size is the number of nodes of the SymPy expression (its preorder traversal), with constants, and
with the scaling of the formula where a method has one. Nothing is simplified beyond what SymPy
does when it builds an expression. Numbers are rounded to three decimals first, as SRBench does,
so that 1.0004*x counts as x. Those that would become zero keep three digits instead: 0.0002*x is
a term if x is large.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sympy

DECIMALS = 3


def rounded(number: sympy.Float) -> sympy.Number:
    """Return a number with three decimals, or three digits if it is small."""
    value = float(number)
    short = round(value, DECIMALS) or float(f"{value:.{DECIMALS}g}")
    return sympy.Integer(int(short)) if short.is_integer() else sympy.Float(short)


def shorten(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression with all its numbers rounded."""
    finite = [f for f in expression.atoms(sympy.Float) if f.is_finite]
    return expression.xreplace({f: rounded(f) for f in finite})


def size(expression: sympy.Expr) -> int:
    """Return the number of nodes."""
    return sum(1 for _ in sympy.preorder_traversal(expression))


def depth(expression: sympy.Expr) -> int:
    """Return the number of edges from the root to the deepest leaf."""
    deepest, level = 0, [expression]
    while level := [argument for node in level for argument in node.args]:
        deepest += 1
    return deepest


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after some seconds (in the main thread, not on Windows)."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def measure(expression: Callable[[], sympy.Expr], seconds: float) -> dict[str, Any]:
    """Return size, depth, features and text of a formula; only an error if it takes too long."""
    try:
        with limit(seconds):
            short = shorten(expression())
            return {
                "size": size(short),
                "depth": depth(short),
                "features": len(short.free_symbols),
                "used": " ".join(sorted(s.name for s in short.free_symbols)),
                "expression": str(short),
            }
    except Exception as e:
        return {"error": " ".join(f"no size: {type(e).__name__}: {e}".split())}
