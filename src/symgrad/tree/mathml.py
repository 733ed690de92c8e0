"""Trees as MathML, which browsers typeset without a library."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgrad.language.fold import fold
from symgrad.language.primitive import ATOM
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.names import visible
from symgrad.tree.render import number

SUM, PRODUCT, SIGN, POWER = 1, 2, 3, 4
"""Printing levels, as in the table of primitives."""

BREAK = "\0"
"""Where a line may end: between the terms of the outermost sum, or of a sum in its last factor."""

_INDEXED = re.compile(r"([A-Za-z])_?([0-9]+)\Z")
_MINUS = "<mo>\N{MINUS SIGN}</mo>"
_TIMES = '<mo lspace=".2em" rspace=".2em">\N{DOT OPERATOR}</mo>'


class Piece(NamedTuple):
    """A typeset part, its printing level, and the same without its leading minus, if it has one."""

    xml: str
    level: int
    negated: str | None = None


def mathml(
    code: NDArray[np.int32],
    value: NDArray[np.float64],
    primitives: PrimitiveSet,
    name: Callable[[int], str],
    digits: int | None = 4,
) -> str:
    """Return the formula as ``math`` elements, one for each part that may get a line of its own.

    Browsers break lines between elements, but not inside them.

    Parameters
    ----------
    code, value, primitives :
        The tree.
    name : callable
        The name of a feature, by index.
    digits : int, optional
        Significant digits of the constants; by default as many as it takes to be exact.
    """

    def function(c: int, args: Sequence[Piece]) -> Piece:
        primitive = primitives[c]
        write = _WRITTEN.get(primitive.name) if primitive.body is None else None
        return write(*args) if write else _call(primitive.name, args)

    whole = fold(
        code,
        value,
        primitives.arity,
        variable=lambda j: Piece(_name(name(j)), ATOM),
        constant=lambda v: _constant(v, digits),
        function=function,
    )
    return " ".join(f"<math>{part}</math>" for part in whole.xml.split(BREAK))


def _name(name: str) -> str:
    match = _INDEXED.match(name)
    if match:
        return f"<msub><mi>{match[1]}</mi><mn>{match[2]}</mn></msub>"
    if len(name) == 1 and name.isalpha():
        return f"<mi>{name}</mi>"
    return f"<mtext>{escape(visible(name))}</mtext>"


def _constant(v: float, digits: int | None) -> Piece:
    mantissa, _, exponent = number(abs(v), digits).partition("e")
    xml, level = f"<mn>{mantissa}</mn>", ATOM
    if exponent:
        power = int(exponent)
        sign = _MINUS if power < 0 else ""
        xml += f"{_TIMES}<msup><mn>10</mn><mrow>{sign}<mn>{abs(power)}</mn></mrow></msup>"
        level = PRODUCT
    return _negative(Piece(xml, level)) if np.signbit(v) else Piece(xml, level)


def _closed(piece: Piece, least: int, after: bool = False) -> str:
    """Return a part inside another one, in parentheses if its level is too low.

    A minus sign that follows an operator is put in parentheses, too.
    """
    xml = piece.xml.replace(BREAK, "")
    if piece.level >= least and not (after and piece.negated):
        return f"<mrow>{xml}</mrow>"
    return f"<mrow><mo>(</mo>{xml}<mo>)</mo></mrow>"


def _negative(piece: Piece) -> Piece:
    if piece.negated:
        return Piece(piece.negated, PRODUCT)
    inner = _closed(piece, PRODUCT)
    return Piece(f"<mrow>{_MINUS}{inner}</mrow>", SIGN, inner)


def _sum(left: Piece, right: Piece, minus: bool) -> Piece:
    if right.negated:
        term, minus = right.negated, not minus
    else:
        # Sums need no parentheses on the right of a plus: a + (b - c) is a + b - c.
        bare = not minus and right.level == SUM and not right.xml.startswith(f"<mrow>{_MINUS}")
        term = right.xml if bare else _closed(right, PRODUCT)
    sign = "\N{MINUS SIGN}" if minus else "+"
    return Piece(f'{left.xml}{BREAK}<mo form="infix">{sign}</mo>{term}', SUM)


def _product(left: Piece, right: Piece) -> Piece:
    after = _TIMES + _closed(right, PRODUCT, after=True)
    if right.level == SUM:  # lines may end inside the parentheses
        after = f'{_TIMES}<mo form="prefix">(</mo>{right.xml}<mo form="postfix">)</mo>'
    if left.negated:
        return Piece(left.xml + after, PRODUCT, left.negated + after)
    return Piece(_closed(left, PRODUCT) + after, PRODUCT)


def _fraction(top: Piece, bottom: Piece) -> Piece:
    low = _closed(bottom, 0)
    if top.negated:
        inner = f"<mfrac>{_row(top.negated)}{low}</mfrac>"
        return Piece(f"<mrow>{_MINUS}{inner}</mrow>", PRODUCT, inner)
    return Piece(f"<mfrac>{_closed(top, 0)}{low}</mfrac>", POWER)


def _row(xml: str) -> str:
    return f"<mrow>{xml.replace(BREAK, '')}</mrow>"


def _power(base: Piece, exponent: Piece) -> Piece:
    return Piece(f"<msup>{_closed(base, ATOM)}{_closed(exponent, 0)}</msup>", POWER)


def _call(name: str, args: Sequence[Piece]) -> Piece:
    inside = "<mo>,</mo>".join(_closed(a, 0) for a in args)
    applied = "<mo>\N{FUNCTION APPLICATION}</mo>"
    brackets = f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"
    return Piece(f"<mrow><mi>{escape(name)}</mi>{applied}{brackets}</mrow>", ATOM)


def _bars(a: Piece) -> Piece:
    bar = '<mo fence="true" stretchy="true">|</mo>'
    return Piece(f"<mrow>{bar}{_closed(a, 0)}{bar}</mrow>", ATOM)


_ONE, _TWO, _THREE = (Piece(f"<mn>{k}</mn>", ATOM) for k in (1, 2, 3))

_WRITTEN: dict[str, Callable[..., Piece]] = {
    "add": lambda a, b: _sum(a, b, minus=False),
    "sub": lambda a, b: _sum(a, b, minus=True),
    "mul": _product,
    "div": _fraction,
    "neg": _negative,
    "inv": lambda a: _fraction(_ONE, a),
    "square": lambda a: _power(a, _TWO),
    "cube": lambda a: _power(a, _THREE),
    "pow": _power,
    "sqrt": lambda a: Piece(f"<msqrt>{_closed(a, 0)}</msqrt>", ATOM),
    "abs": _bars,
}
"""What is not written as a call."""
