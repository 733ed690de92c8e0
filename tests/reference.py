"""A slow, exact evaluation of trees that tells rounding errors from wrong algebra."""

import mpmath
import numpy as np

from symgrad.language.fold import fold

DIGITS = 50


class IllConditionedError(Exception):
    """A value is undefined, or so large or small that rounding would show."""


def _pow(a, b):
    if a == 0 and b < 0:
        raise IllConditionedError
    return mpmath.power(a, b)


FUNCTIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "inv": lambda a: 1 / a,
    "square": lambda a: a**2,
    "cube": lambda a: a**3,
    "abs": abs,
    "sigmoid": lambda a: 1 / (1 + mpmath.exp(-a)),
    "pow": _pow,
    "min": min,
    "max": max,
} | {
    name: getattr(mpmath, name)
    for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "asin", "acos", "atan")
} | {"sinh": mpmath.sinh, "cosh": mpmath.cosh}  # fmt: skip


def evaluate(tree, row, bound=None):
    """Return the exact value at a row.

    With a bound, every step of it must be 0 or between 1/bound and bound in size.
    """

    def check(v):
        if isinstance(v, mpmath.mpc) or not mpmath.isfinite(v):
            raise IllConditionedError
        if bound is not None and v != 0 and not 1 / bound <= abs(v) <= bound:
            raise IllConditionedError
        return v

    def apply(c, args):
        primitive = tree.primitives[c]
        if primitive.body is not None:
            return run(primitive.body.code, primitive.body.value, args)
        if primitive.name in ("exp", "sinh", "cosh") and abs(args[0]) > 10**6:
            raise IllConditionedError
        try:
            return check(FUNCTIONS[primitive.name](*args))
        except (ZeroDivisionError, ValueError, OverflowError):
            raise IllConditionedError from None

    def run(code, value, args):
        return fold(
            code,
            value,
            tree.primitives.arity,
            variable=lambda j: check(args[j]),
            constant=lambda v: check(mpmath.mpf(v)),
            function=apply,
        )

    with mpmath.workdps(DIGITS):
        return run(tree.code, tree.value, [mpmath.mpf(x) for x in row])


def close(a, b, tolerance=1e-6):
    return abs(a - b) <= tolerance * (1e-3 + abs(a))


def lies_inside(tree, row, interval):
    """Whether the exact value at a row is defined and lies in an interval."""
    try:
        value = evaluate(tree, row)
    except IllConditionedError:  # exp of -1e7, too, which is defined
        value = tree.evaluate(np.array([row]))[0]
    slack = 1e-40 * abs(value)
    return interval[0] - slack <= value <= interval[1] + slack
