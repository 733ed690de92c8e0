"""What a primitive is: one row, from which every other part of the library reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONSTANT = -(2**31)
"""Code of a constant leaf; its number stands in the parallel `value` array."""

FIRST_COMPOSED = 64
"""Codes below are rows of the built-in table; from here on, a primitive set's own."""

ATOM = 5
"""Printing level of what never needs parentheses."""


@dataclass(frozen=True, eq=False)
class Body:
    """A composed primitive's definition: flat postfix, argument k is the leaf `~k`."""

    code: NDArray[np.int32]
    value: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Primitive:
    """One function of the language.

    Parameters
    ----------
    name : str
        How it is called in text: ``name(a, b)``.
    arity : int
        Number of arguments, 1 or 2 for built-ins.
    define : callable
        ``define(xp, *args)``: exact mathematics over an array namespace ``xp`` (NumPy, a
        SymPy namespace, JAX): NaN outside the domain, infinity at poles.
    smooth : callable
        Same signature: finite with finite gradients for every finite input, close to
        ``define`` inside its domain. Used for the gradients of relaxed trees only.
    domain : callable
        ``domain(xp, *args)``: true where ``define`` is a real number (overflow aside).
    interval : callable
        From the intervals of the arguments, pairs (low, high), to one that holds every value,
        or None where some value may be undefined or too large.
    text, tex : str
        Templates with ``#1``, ``#2`` for the arguments.
    level : int
        Printing level of ``text``: 1 sum, 2 product, 3 sign, 4 power, 5 atom.
    needs : tuple of int
        The least level at which each argument stands without parentheses.
    commutative : bool
        Whether the arguments may be swapped.
    symbol : str
        The operator sign that names it as well (``+``), if any.
    diagonal : callable, optional
        The same as ``interval`` for two equal arguments: one interval, tighter bounds.
    body : Body, optional
        Set for composed primitives only.
    """

    name: str
    arity: int
    define: Callable[..., Any]
    smooth: Callable[..., Any]
    domain: Callable[..., Any]
    interval: Callable[..., Any]
    text: str
    tex: str
    level: int = ATOM
    needs: tuple[int, ...] = ()
    commutative: bool = False
    symbol: str = ""
    diagonal: Callable[..., Any] | None = None
    body: Body | None = None

    def __repr__(self) -> str:
        return f"<Primitive {self.name}/{self.arity}>"
