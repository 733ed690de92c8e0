"""Trees as text and as LaTeX, with as few parentheses as the grammar allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from symgrad.language.fold import fold
from symgrad.language.grammar import quote
from symgrad.language.primitive import ATOM, Primitive
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.names import FeatureNames

Piece = tuple[str, int]
"""A rendered part and its printing level."""

_SLOT = re.compile(r"(.?)#([1-9])", re.DOTALL)
_INDEXED = re.compile(r"([A-Za-z])_?([0-9]+)\Z")
_TEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
} | {c: "\\" + c for c in "{}$&#_%"}
_SIGN, _FRACTION = 3, 4


def text(
    code: NDArray[np.int32],
    value: NDArray[np.float64],
    primitives: PrimitiveSet,
    names: FeatureNames,
    digits: int | None = None,
) -> str:
    """Return the formula in the grammar of `symgrad.language.grammar`."""

    def reserved(name: str) -> bool:
        return name in primitives or name == "pi"

    def constant(v: float) -> Piece:
        return number(v, digits), _SIGN if v < 0 or str(v)[0] == "-" else ATOM

    def function(c: int, args: Sequence[Piece]) -> Piece:
        primitive = primitives[c]
        if _ambiguous(primitive, args, primitives):
            return f"{primitive.name}({', '.join(a for a, _ in args)})", ATOM
        return _fill(primitive.text, primitive, args, "({})"), primitive.level

    return _render(
        code, value, primitives, lambda j: (quote(names[j], reserved), ATOM), constant, function
    )


def latex(
    code: NDArray[np.int32],
    value: NDArray[np.float64],
    primitives: PrimitiveSet,
    names: FeatureNames,
    digits: int | None = 4,
) -> str:
    """Return the formula as LaTeX."""

    def constant(v: float) -> Piece:
        written = number(v, digits)
        level = _SIGN if v < 0 else ATOM
        if "e" in written:
            mantissa, exponent = written.split("e")
            return rf"{mantissa} \cdot 10^{{{int(exponent)}}}", min(level, 2)
        return written, level

    def function(c: int, args: Sequence[Piece]) -> Piece:
        primitive = primitives[c]
        whole = primitive.level == ATOM or r"\frac" in primitive.tex
        body = _fill(primitive.tex, primitive, args, r"\left({}\right)")
        return body, _FRACTION if whole else primitive.level

    return _render(
        code, value, primitives, lambda j: (_tex_name(names[j]), ATOM), constant, function
    )


def _render(
    code: NDArray[np.int32],
    value: NDArray[np.float64],
    primitives: PrimitiveSet,
    variable: Callable[[int], Piece],
    constant: Callable[[float], Piece],
    function: Callable[[int, Sequence[Piece]], Piece],
) -> str:
    return fold(
        code, value, primitives.arity, variable=variable, constant=constant, function=function
    )[0]


def _fill(template: str, primitive: Primitive, args: Sequence[Piece], brackets: str) -> str:
    """Put the arguments into a template, in brackets where their level asks for them."""

    def slot(match: re.Match[str]) -> str:
        k = int(match[2]) - 1
        body, level = args[k]
        bare = match[1] == "{" or level >= primitive.needs[k]
        if match[1] != "{" and primitive.level < ATOM:
            second = k > 0 or primitive.name in ("inv", "neg")
            literal = primitive.name == "neg" and level == ATOM and body[0] in "0123456789"
            bare = bare and not (second and body.startswith("-")) and not literal
        return match[1] + (body if bare else brackets.format(body))

    return _SLOT.sub(slot, template)


def _ambiguous(primitive: Primitive, args: Sequence[Piece], primitives: PrimitiveSet) -> bool:
    """Whether the parser would read the short form as another primitive."""
    if primitive.name == "pow":
        return {"2": "square", "3": "cube"}.get(args[1][0]) in primitives
    return primitive.name == "div" and args[0][0] == "1" and "inv" in primitives


def number(value: float, digits: int | None) -> str:
    """Return a constant as text; None is as many digits as it takes to be exact."""
    written = repr(value) if digits is None else f"{value:.{digits}g}"
    if np.isinf(float(written)):  # rounded up beyond the largest float
        written = repr(value)
    return written[:-2] if written.endswith(".0") else written


def _tex_name(name: str) -> str:
    match = _INDEXED.match(name)
    if match:
        return f"{match[1]}_{{{match[2]}}}"
    if len(name) == 1 and name.isalpha():
        return name
    escaped = "".join(_TEX_SPECIAL.get(c, c) for c in name)
    return rf"\text{{{escaped}}}"
