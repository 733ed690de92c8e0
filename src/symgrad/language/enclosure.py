"""Interval arithmetic over whole expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.language import interval as iv
from symgrad.language.fold import fold
from symgrad.language.interval import Interval, Rule
from symgrad.language.primitive import Primitive

MAX_FACTORS = 8
"""Longer products are not searched for equal factors."""


class Enclosure:
    """An expression made ready for many boxes.

    Equal parts are one step and computed once. A part that meets itself is bounded more tightly:
    ``x - x`` is 0, and the product ``-x*y*x`` is ``-1*x^2*y``.

    Parameters
    ----------
    code, value : arrays
        The expression in postfix order.
    lookup : callable
        The primitive of a function code.
    """

    def __init__(
        self,
        code: NDArray[np.int32],
        value: NDArray[np.float64],
        lookup: Callable[[int], Primitive],
    ):
        self._slots: dict[tuple[Any, ...], int] = {}
        self._factors: dict[int, Counter[int]] = {}
        composed: set[int] = set()

        def function(c: int, args: Sequence[int]) -> int:
            primitive = lookup(c)
            made = self._function(primitive, args)
            if primitive.body is not None:
                composed.add(made)
            return made

        root = fold(
            code,
            value,
            lambda c: lookup(c).arity,
            variable=lambda j: self._slot(None, j),
            constant=lambda v: self._slot(None, v, v),
            function=function,
        )
        self._steps = [(key[0], key[1:]) for key in self._slots][: root + 1]
        self._uses = [0] * root + [1]
        for i in reversed(range(root + 1)):
            rule, args = self._steps[i]
            # the body of a definition may use its arguments more than once
            times = 2 * self._uses[i] if i in composed else self._uses[i]
            for a in args if rule is not None else ():
                self._uses[a] = min(2, self._uses[a] + times)

    def _slot(self, rule: Rule | None, *args: Any) -> int:
        """Return the number of a step, a new one if it is new."""
        return self._slots.setdefault((rule, *args), len(self._slots))

    def _function(self, primitive: Primitive, args: Sequence[int]) -> int:
        if primitive.diagonal is not None and args[0] == args[1]:
            return self._slot(primitive.diagonal, args[0])
        rule = primitive.interval
        factors = Counter[int]()
        if rule in (iv.multiply, iv.negative, iv.square, iv.cube):
            times = {iv.square: 2, iv.cube: 3}.get(rule, 1)
            for a in args:
                for factor, n in self._factors.get(a, {a: 1}).items():
                    factors[factor] += n * times
            if rule is iv.negative:
                factors[self._slot(None, -1.0, -1.0)] += 1
        if rule is iv.multiply and max(factors.values()) > 1:
            powers = [self._whole_power(a, n) for a, n in sorted(factors.items())]
            made = reduce(lambda a, b: self._slot(iv.multiply, a, b), powers)
        else:
            made = self._slot(rule, *(sorted(args) if primitive.commutative else args))
        if 0 < len(factors) <= MAX_FACTORS:
            self._factors[made] = factors
        return made

    def _whole_power(self, a: int, n: int) -> int:
        if n < 4:
            return a if n == 1 else self._slot(iv.square if n == 2 else iv.cube, a)
        return self._slot(iv.power, a, self._slot(None, float(n), float(n)))

    def __call__(self, box: Any) -> Interval | None:
        """Return where the values lie.

        Parameters
        ----------
        box : sequence or mapping
            The interval of each variable.
        """
        results: list[Any] = []
        for (rule, args), uses in zip(self._steps, self._uses, strict=True):
            if not uses:
                result = None
            elif rule is None:
                result = args if len(args) == 2 else box[args[0]]
            else:
                result = rule(*[results[a] for a in args])
                if result is None:
                    return None
            results.append(result)
        answer: Interval = results[-1]
        return answer

    @property
    def repeated(self) -> frozenset[int]:
        """Variables that occur more than once; for all others the bounds are as tight as can be."""
        leaves = zip(self._steps, self._uses, strict=True)
        return frozenset(
            args[0] for (rule, args), uses in leaves if rule is None and len(args) == 1 and uses > 1
        )
