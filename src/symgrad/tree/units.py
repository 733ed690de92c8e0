"""A formula found in scaled features, written in the features' own units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symgrad.language.primitive import CONSTANT
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.tree import Tree

NEEDED = ("+", "*")
"""What writing a line takes."""

Code = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class _Sum:
    """A sum of weighted terms and a number; terms are postfix code, no weight is 0."""

    terms: dict[Code, float]
    number: float = 0.0

    def __post_init__(self) -> None:
        if 0.0 in self.terms.values():
            kept = {t: w for t, w in self.terms.items() if w}
            object.__setattr__(self, "terms", kept)

    def times(self, factor: float) -> _Sum:
        return _Sum({t: w * factor for t, w in self.terms.items()}, self.number * factor)

    def plus(self, other: _Sum) -> _Sum:
        terms = dict(self.terms)
        for t, w in other.terms.items():
            terms[t] = terms.get(t, 0.0) + w
        return _Sum(terms, self.number + other.number)

    @property
    def leading(self) -> float:
        """The factor to take out so that a term stands alone: the last one's weight."""
        return next(reversed(self.terms.values()))


def in_units(
    tree: Tree,
    center: NDArray[np.float64] | None = None,
    scale: NDArray[np.float64] | None = None,
    slope: float = 1.0,
    intercept: float = 0.0,
) -> Tree:
    """Return ``intercept + slope*tree``, each feature x of the tree written ``(x - center)/scale``.

    Sums are kept as weighted terms on the way, and factors are taken out of products, so that
    ``a*(x - c)/s + b`` ends as two constants.

    Parameters
    ----------
    tree : Tree
        The formula.
    center, scale : array, optional
        By feature; by default 0 and 1.
    slope, intercept : float
        The outer line.

    Raises
    ------
    OverflowError
        If a constant would be beyond the range of float64.
    """
    primitives = tree.primitives.extend(*(s for s in NEEDED if s not in tree.primitives))
    writer = _Writer(primitives)

    def variable(j: int) -> _Sum:
        c = 0.0 if center is None else float(center[j])
        s = 1.0 if scale is None else float(scale[j])
        return _Sum({((~j, 0.0),): 1 / s}, -c / s)

    whole = tree.fold(variable=variable, constant=lambda v: _Sum({}, v), function=writer.function)
    codes, values = zip(*writer.write(whole.times(slope).plus(_Sum({}, intercept))), strict=True)
    if not np.isfinite(values).all():
        raise OverflowError("the formula has no constants of finite size in these units")
    return Tree(codes, values, primitives, tree.names)


class _Writer:
    def __init__(self, primitives: PrimitiveSet):
        self.primitives = primitives
        self.codes = primitives.functions

    def write(self, s: _Sum) -> Code:
        """Return the postfix of a sum; a weight that many terms share is written once."""
        if not s.terms:
            return ((CONSTANT, s.number),)
        plain = self.joined(s.terms)
        sizes = [abs(w) for w in s.terms.values()]
        common = max(sizes, key=sizes.count)
        if common != 1 and sizes.count(common) > 1:
            inner = self.joined({t: w / common for t, w in s.terms.items()})
            factored = self.weighted(inner, common)
            plain = min(plain, factored, key=len)
        return self.appended(plain, ((CONSTANT, abs(s.number)),), s.number) if s.number else plain

    def joined(self, terms: dict[Code, float]) -> Code:
        """Return the sum of weighted terms, those with positive weights first."""
        out: Code = ()
        for term, weight in sorted(terms.items(), key=lambda item: item[1] < 0):
            if out:
                out = self.appended(out, self.weighted(term, abs(weight)), weight)
            else:
                out = self.weighted(term, weight)
        return out

    def appended(self, out: Code, part: Code, sign: float) -> Code:
        """Return ``out + part`` or ``out - part``."""
        if sign < 0 and "-" not in self.codes:
            part, sign = self.weighted(part, -1.0), 1.0
        return (*out, *part, (self.codes["-" if sign < 0 else "+"], 0.0))

    def weighted(self, term: Code, weight: float) -> Code:
        if weight == 1:
            return term
        if len(term) == 1 and term[0][0] == CONSTANT:
            return ((CONSTANT, weight * term[0][1]),)
        if term[0] == (CONSTANT, 1.0) and term[-1] == (self.codes.get("/"), 0.0):
            return ((CONSTANT, weight), *term[1:])  # 1/t
        if weight == -1 and "neg" in self.codes:
            return (*term, (self.codes["neg"], 0.0))
        return ((CONSTANT, weight), *term, (self.codes["*"], 0.0))

    def function(self, code: int, args: Sequence[_Sum]) -> _Sum:
        name = self.primitives[code].name
        a, b = args[0], args[-1]
        if name == "neg":
            return a.times(-1)
        if name in ("add", "sub"):
            return a.plus(b if name == "add" else b.times(-1))
        if name == "mul" and not (a.terms and b.terms):
            return b.times(a.number) if not a.terms else a.times(b.number)
        if name == "mul":
            return self.term(a.leading * b.leading, code, a, b)
        if name == "div" and not b.terms and b.number != 0:
            return a.times(1 / b.number)
        if name == "div" and b.terms and a.terms:
            return self.term(a.leading / b.leading, code, a, b)
        if name == "div" and b.terms:
            one = (CONSTANT, 1.0)
            return _Sum({(one, *self.monic(b), (code, 0.0)): a.number / b.leading})
        if name in ("square", "cube") and a.terms:
            return self.term(a.leading ** (2 if name == "square" else 3), code, a)
        written = tuple(node for arg in args for node in self.write(arg))
        return _Sum({(*written, (code, 0.0)): 1.0})

    def term(self, weight: float, code: int, *args: _Sum) -> _Sum:
        """Return a function of sums whose leading weights have been taken out."""
        written = tuple(node for arg in args for node in self.monic(arg))
        return _Sum({(*written, (code, 0.0)): weight})

    def monic(self, s: _Sum) -> Code:
        return self.write(s.times(1 / s.leading))
