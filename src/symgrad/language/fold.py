"""The one traversal of flat postfix expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from symgrad.language.primitive import CONSTANT

T = TypeVar("T")


def fold(
    code: NDArray[np.int32],
    value: NDArray[np.float64],
    arity: Callable[[int], int],
    *,
    variable: Callable[[int], T],
    constant: Callable[[float], T],
    function: Callable[[int, Sequence[T]], T],
) -> T:
    """Combine an expression bottom-up, without recursion.

    Parameters
    ----------
    code, value : arrays
        The expression in postfix order: ``code >= 0`` is a function, `CONSTANT` a constant
        whose number is in ``value``, any other negative code the variable ``~code``.
    arity : callable
        Number of arguments of a function code.
    variable, constant, function : callable
        What a leaf or a function becomes; ``function`` gets its code and its folded arguments.
    """
    stack: list[T] = []
    for c, v in zip(code.tolist(), value.tolist(), strict=True):
        if c >= 0:
            n = arity(c)
            args = stack[-n:]
            del stack[-n:]
            stack.append(function(c, args))
        elif c == CONSTANT:
            stack.append(constant(v))
        else:
            stack.append(variable(~c))
    (result,) = stack
    return result
