"""Interval arithmetic: where the values of a function lie when its arguments lie in intervals.

A rule takes one interval per argument and returns one that holds every value, or None where some
value may be undefined or too large for a float. Ends are rounded outward. Fractions and roots are
compared in exact integers, so that an end that is a float stays as it is: ``1 - x^2`` does not
fall below 0 for x from -1 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps

Interval = tuple[float, float]
Point = Callable[..., Interval]
"""From numbers to an interval that holds the exact value."""
Rule = Callable[..., "Interval | None"]

INF = math.inf
ULPS = 8
"""More than a function of the C library or of the core is wrong by."""

TINY = 2.0**-1022
"""Smaller values may come out as 0."""

MAX_EXACT_POWER = 64
"""Largest whole exponent whose powers are compared in exact integers."""


def _rule(function: Rule) -> Rule:
    """Return a rule that answers None where a number is too large."""

    @wraps(function)
    def rule(*args: Interval) -> Interval | None:
        try:
            result = function(*args)
        except OverflowError:
            return None
        finite = result is not None and result[0] > -INF and result[1] < INF
        return result if finite else None

    return rule


def _hull(parts: Iterable[Interval]) -> Interval:
    lows, highs = zip(*parts, strict=True)
    return min(lows), max(highs)


def _fraction(top: int, bottom: int) -> Interval:
    """Return the floats around a fraction: one float twice where it is one."""
    nearest = top / bottom  # Python rounds it correctly
    n, d = nearest.as_integer_ratio()
    return _beside(nearest, (top * d - n * bottom) * (1 if bottom > 0 else -1))


def _beside(nearest: float, error: int) -> Interval:
    low = math.nextafter(nearest, -INF) if error < 0 else nearest
    high = math.nextafter(nearest, INF) if error > 0 else nearest
    return low, high


def _sum(a: float, b: float) -> Interval:
    (n, d), (m, e) = a.as_integer_ratio(), b.as_integer_ratio()
    return _fraction(n * e + m * d, d * e)


def _product(a: float, b: float) -> Interval:
    (n, d), (m, e) = a.as_integer_ratio(), b.as_integer_ratio()
    return _fraction(n * m, d * e)


def _quotient(a: float, b: float) -> Interval:
    (n, d), (m, e) = a.as_integer_ratio(), b.as_integer_ratio()
    return _fraction(n * e, d * m)


def _root(a: float) -> Interval:
    nearest = math.sqrt(a)
    (n, d), (m, e) = a.as_integer_ratio(), nearest.as_integer_ratio()
    return _beside(nearest, n * e * e - m * m * d)


def _whole_power(a: float, exponent: int) -> Interval:
    n, d = a.as_integer_ratio()
    if exponent < 0:
        n, d = d, n
    return _fraction(n ** abs(exponent), d ** abs(exponent))


def _power(a: float, b: float) -> Interval:
    if b.is_integer() and abs(b) <= MAX_EXACT_POWER:
        return _whole_power(a, int(b))
    if b == 0.5:
        return _root(a)
    value = math.pow(a, b)
    return (value, value) if a in (0.0, 1.0, -1.0) else _near(value)


def _near(value: float) -> Interval:
    """Return an interval around a result of the C library; its sign is right."""
    slack = ULPS * math.ulp(value) + TINY
    positive = math.copysign(1.0, value) > 0
    low = max(value - slack, 0.0) if positive else value - slack
    return low, value + slack if positive else min(value + slack, 0.0)


def library(
    function: Callable[[float], float],
    *,
    exact: float = 0.0,
    least: float = -INF,
    most: float = INF,
) -> Point:
    """Return a transcendental function as a point rule.

    Parameters
    ----------
    function : callable
        From float to float, right to a few units in the last place.
    exact : float
        The one float at which the value is a float.
    least, most : float
        Bounds of the function itself.
    """

    def point(a: float) -> Interval:
        value = function(a)
        low, high = (value, value) if a == exact else _near(value)
        return max(low, least), min(high, most)

    return point


def monotone(point: Point, least: float = -INF, most: float = INF) -> Rule:
    """Return the rule of a function that is monotone on its domain, from least to most."""

    def rule(a: Interval) -> Interval | None:
        return _hull(map(point, a)) if least <= a[0] and a[1] <= most else None

    return _rule(rule)


def even(rule: Rule) -> Rule:
    """Return the rule of a function of the absolute value."""
    return lambda a: rule(absolute(a))


def wave(point: Point, top: float) -> Rule:
    """Return the rule of a sine that is 1 at `top`."""

    def rule(a: Interval) -> Interval:
        low, high = _hull(map(point, a))
        if _meets(a, top - math.pi, 2 * math.pi):
            low = -1.0
        return low, 1.0 if _meets(a, top, 2 * math.pi) else high

    return _rule(rule)


def branches(point: Point, pole: float, period: float) -> Rule:
    """Return the rule of a function that is monotone between its poles."""
    between = monotone(point)
    return lambda a: None if _meets(a, pole, period) else between(a)


def _meets(a: Interval, first: float, period: float) -> bool:
    """Whether ``first + k*period`` may lie in an interval, for a whole number k."""
    low, high = ((end - first) / period for end in a)
    slack = 1e-15 * (1 + max(abs(low), abs(high)))
    return math.ceil(low - slack) <= math.floor(high + slack)


def _sigmoid(a: float) -> float:
    return 1 / (1 + math.exp(-a)) if a > -700 else math.exp(a)


@_rule
def add(a: Interval, b: Interval) -> Interval:
    """Enclose a sum."""
    return _sum(a[0], b[0])[0], _sum(a[1], b[1])[1]


def negative(a: Interval) -> Interval:
    """Enclose the opposite."""
    return -a[1], -a[0]


def subtract(a: Interval, b: Interval) -> Interval | None:
    """Enclose a difference."""
    return add(a, negative(b))


@_rule
def multiply(a: Interval, b: Interval) -> Interval:
    """Enclose a product."""
    return _hull(_product(x, y) for x in a for y in b)


@_rule
def divide(a: Interval, b: Interval) -> Interval | None:
    """Enclose a quotient."""
    if b[0] <= 0 <= b[1]:
        return None
    return _hull(_quotient(x, y) for x in a for y in b)


def invert(a: Interval) -> Interval | None:
    """Enclose a reciprocal."""
    return divide((1.0, 1.0), a)


@_rule
def power(a: Interval, b: Interval) -> Interval | None:
    """Enclose a power; of a negative number, with one whole exponent."""
    low, high = a
    if b[0] == b[1] and b[0].is_integer():
        if b[0] < 0 and low <= 0 <= high:
            return None
        turn = (0.0,) if low < 0 < high else ()
        return _hull(_power(x, b[0]) for x in (low, *turn, high))
    if low < 0 or (low == 0 and b[0] < 0):
        return None
    return _hull(_power(x, y) for x in a for y in b)


def absolute(a: Interval) -> Interval:
    """Enclose the absolute value."""
    low, high = a
    return (low, high) if low >= 0 else (max(0.0, -high), max(-low, high))


def minimum(a: Interval, b: Interval) -> Interval:
    """Enclose the smaller argument."""
    return min(a[0], b[0]), min(a[1], b[1])


def maximum(a: Interval, b: Interval) -> Interval:
    """Enclose the larger argument."""
    return max(a[0], b[0]), max(a[1], b[1])


def zero(a: Interval) -> Interval:
    """Enclose ``a - a``."""
    return 0.0, 0.0


def one(a: Interval) -> Interval | None:
    """Enclose ``a/a``."""
    return None if a[0] <= 0 <= a[1] else (1.0, 1.0)


square = even(monotone(lambda a: _whole_power(a, 2)))
cube = monotone(lambda a: _whole_power(a, 3))
sqrt = monotone(_root, least=0.0)
exp = monotone(library(math.exp))
log = monotone(library(math.log, exact=1.0), least=math.ulp(0.0))
sin = wave(library(math.sin, least=-1.0, most=1.0), top=0.5 * math.pi)
cos = wave(library(math.cos, least=-1.0, most=1.0), top=0.0)
tan = branches(library(math.tan), pole=0.5 * math.pi, period=math.pi)
asin = monotone(library(math.asin), least=-1.0, most=1.0)
acos = monotone(library(math.acos, exact=1.0), least=-1.0, most=1.0)
atan = monotone(library(math.atan))
sinh = monotone(library(math.sinh))
cosh = even(monotone(library(math.cosh, least=1.0)))
tanh = monotone(library(math.tanh, least=-1.0, most=1.0))
sigmoid = monotone(library(_sigmoid, most=1.0))
