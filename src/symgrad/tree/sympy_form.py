"""Trees to SymPy and back, by way of the primitives' own definitions.

Symbols are made by name and never read as expressions, so any column name is safe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from symgrad.language.fold import fold
from symgrad.language.grammar import MAX_NODES
from symgrad.language.primitive import CONSTANT, Primitive
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.language.table import BUILTINS
from symgrad.tree.names import FeatureNames

_LARGEST_EXACT = 1000
_RECIPROCALS = {
    sympy.cot: sympy.tan,
    sympy.sec: sympy.cos,
    sympy.csc: sympy.sin,
    sympy.coth: sympy.tanh,
    sympy.sech: sympy.cosh,
    sympy.csch: sympy.sinh,
}
"""SymPy makes cot(x) of tan(pi/2 - x)."""


class Namespace:
    """SymPy's functions under the names of the array standard."""

    sin, cos, tan, exp, log, sqrt = (
        sympy.sin, sympy.cos, sympy.tan, sympy.exp, sympy.log, sympy.sqrt,
    )  # fmt: skip
    asin, acos, atan = sympy.asin, sympy.acos, sympy.atan
    sinh, cosh, tanh = sympy.sinh, sympy.cosh, sympy.tanh
    abs, minimum, maximum, floor = sympy.Abs, sympy.Min, sympy.Max, sympy.floor

    @staticmethod
    def exact(value: float) -> sympy.Number:
        """Return an exact SymPy number: an integer where the float is one."""
        if value.is_integer() and abs(value) < 2**53:
            return sympy.Integer(int(value))
        return sympy.Float(value)  # also NaN and infinity

    @staticmethod
    def pow(a: Any, b: Any) -> Any:
        """Return a to the power of b."""
        return a**b


def write(
    code: NDArray[np.int32],
    value: NDArray[np.float64],
    primitives: PrimitiveSet,
    names: FeatureNames,
) -> sympy.Expr:
    """Return the expression of a tree.

    It is built with real symbols, lest SymPy thinks of complex features, and handed out with
    plain ones, which are what users make.
    """
    symbols: dict[sympy.Symbol, sympy.Symbol] = {}

    def real(j: int) -> sympy.Symbol:
        symbol = sympy.Symbol(names[j], real=True)
        symbols[symbol] = sympy.Symbol(names[j])
        return symbol

    def function(c: int, args: Sequence[tuple[Any, bool]]) -> tuple[Any, bool]:
        expressions = [e for e, _ in args]
        if sympy.nan in expressions:
            return sympy.nan, True
        if not all(constant for _, constant in args):
            return primitives[c].define(Namespace, *expressions), False
        result = _rounded(primitives[c], expressions)
        if result is None:
            result = primitives[c].define(Namespace, *expressions)
        return sympy.nan if result.is_extended_real is False else result, True

    expression = fold(
        code,
        value,
        primitives.arity,
        variable=lambda j: (real(j), False),
        constant=lambda v: (Namespace.exact(v), True),
        function=function,
    )[0]
    return expression.xreplace(symbols)


def _rounded(primitive: Primitive, args: Sequence[Any]) -> sympy.Number | None:
    """Return a function of numbers as a float where SymPy must not work it out exactly.

    Exact integers would grow without bound (9^9^9), and complex values are not meant (log(-1)).
    """
    if not all(isinstance(a, sympy.Number) for a in args):
        return None
    numbers = [np.float64(float(a)) for a in args]
    with np.errstate(all="ignore"):
        result = float(primitive.define(np, *numbers))
    small = all(abs(n) <= _LARGEST_EXACT for n in (result, *numbers))  # not so for NaN
    plain = primitive.body is None  # a step inside a definition may divide by a float zero
    if plain and small and (result == 0 or abs(result) >= 1 / _LARGEST_EXACT):
        return None
    return Namespace.exact(result)


@cache
def _heads() -> dict[Any, str]:
    """Return the SymPy classes that are a built-in primitive as they stand."""
    a, b = sympy.Dummy("a"), sympy.Dummy("b")
    heads = {}
    for primitive in BUILTINS:
        args = (a, b)[: primitive.arity]
        expression = primitive.define(Namespace, *args)
        if set(expression.args) == set(args) and not isinstance(expression, sympy.Add | sympy.Mul):
            heads[expression.func] = primitive.name
    heads.pop(sympy.Pow, None)
    return heads


def read(
    expression: Any, primitives: PrimitiveSet, names: FeatureNames
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the postfix arrays of a SymPy expression."""
    if not isinstance(expression, sympy.Basic):
        raise TypeError(f"expected a SymPy expression, got {type(expression).__name__}")
    return _Reader(primitives, names).run(expression)


class _Reader:
    """Writes postfix from an explicit stack of expressions and function names."""

    def __init__(self, primitives: PrimitiveSet, names: FeatureNames):
        self.functions = primitives.functions
        self.names = names
        self.code: list[int] = []
        self.value: list[float] = []

    def run(self, expression: sympy.Basic) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        todo: list[sympy.Basic | str] = [expression]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                self.emit(self.functions[item])
            elif not self.leaf(item):
                todo.extend(reversed(self.parts(item)))
        return np.array(self.code, np.int32), np.array(self.value, np.float64)

    def emit(self, code: int, value: float = 0.0) -> None:
        if len(self.code) >= MAX_NODES:
            raise ValueError(f"the expression needs more than {MAX_NODES} nodes")
        self.code.append(code)
        self.value.append(value)

    def leaf(self, e: sympy.Basic) -> bool:
        if isinstance(e, sympy.Symbol):
            index = self.names.index(e.name)
            if index is None:
                raise ValueError(f"unknown feature {e.name!r} in the SymPy expression")
            self.emit(~index)
            return True
        if isinstance(e, sympy.Number | sympy.NumberSymbol) and e.is_finite:
            try:
                value = float(e)
            except OverflowError:  # of a large integer; a large Float becomes infinite
                value = math.inf
            if math.isinf(value):
                raise ValueError("the SymPy expression holds a number that is too large")
            self.emit(CONSTANT, value)
            return True
        return False

    def have(self, name: str) -> str:
        if name not in self.functions:
            raise ValueError(f"the expression needs {name!r}, which is not in the primitive set")
        return name

    def parts(self, e: sympy.Basic) -> list[sympy.Basic | str]:
        """Return an expression in postfix, one level deep."""
        if isinstance(e, sympy.Add):
            return self.sum(e.args)
        if isinstance(e, sympy.Mul):
            return self.product(e)
        if isinstance(e, sympy.Pow):
            return self.power(*e.args)
        if e.func in _RECIPROCALS:
            return self.inverse(_RECIPROCALS[e.func](*e.args))
        name = _heads().get(e.func)
        if name is None:
            raise ValueError(f"cannot express {e.func.__name__} with the built-in primitives")
        parts: list[sympy.Basic | str] = [e.args[0]]
        if len(e.args) == 1:
            parts.append(self.have(name))
        for argument in e.args[1:]:
            parts += [argument, self.have(name)]
        return parts

    def sum(self, terms: Sequence[sympy.Expr]) -> list[sympy.Basic | str]:
        ordered = sorted(terms, key=lambda t: t.could_extract_minus_sign())  # positive first
        parts: list[sympy.Basic | str] = [ordered[0]]
        for term in ordered[1:]:
            if term.could_extract_minus_sign() and "sub" in self.functions:
                parts += [-term, "sub"]
            else:
                parts += [term, self.have("add")]
        return parts

    def product(self, e: sympy.Mul) -> list[sympy.Basic | str]:
        if e.args[0] == -1 and "neg" in self.functions:
            return [sympy.Mul(*e.args[1:]), "neg"]
        over = [f for f in e.args if not self.inverted(f)]
        under = [1 / f for f in e.args if self.inverted(f)]
        if not over:
            return self.inverse(sympy.Mul(*under))
        parts: list[sympy.Basic | str] = [over[0]]
        for factor in over[1:]:
            parts += [factor, self.have("mul")]
        if under and "div" in self.functions:
            parts += [sympy.Mul(*under), "div"]
        elif under:
            parts += [*self.inverse(sympy.Mul(*under)), self.have("mul")]
        return parts

    def inverted(self, factor: sympy.Expr) -> bool:
        """Whether a factor belongs below the fraction bar."""
        negative = isinstance(factor, sympy.Pow) and factor.exp.is_number and factor.exp.is_negative
        return bool(negative) and ("div" in self.functions or "inv" in self.functions)

    def inverse(self, e: sympy.Expr) -> list[sympy.Basic | str]:
        if "inv" in self.functions:
            return [e, "inv"]
        return [sympy.Integer(1), e, self.have("div")]

    def power(self, base: sympy.Expr, exponent: sympy.Expr) -> list[sympy.Basic | str]:
        if self.inverted(sympy.Pow(base, exponent, evaluate=False)):
            return self.inverse(sympy.Pow(base, -exponent))
        short = {2: "square", 3: "cube", sympy.Rational(1, 2): "sqrt", 0.5: "sqrt"}.get(exponent)
        if short in self.functions:
            return [base, short]
        if exponent.is_Integer and 2 <= int(exponent) <= 16 and "pow" not in self.functions:
            return [base] + [base, self.have("mul")] * (int(exponent) - 1)
        return [base, exponent, self.have("pow")]
