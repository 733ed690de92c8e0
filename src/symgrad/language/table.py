"""The table of built-in primitives: one row each.

A row's position is its code in trees and in the native core. To add a primitive, append a row
here and the line of the same name to ``core/primitives.inc``; a test compares the two, value and
gradient, over the whole table. The rule for intervals is built from `language/interval.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symgrad.language import interval as iv
from symgrad.language.primitive import ATOM, Primitive

SMOOTHING = 1e-4
"""Added to squares where a smooth closure must not divide by zero."""

CAP = 10.0
"""Beyond this argument the smooth exponential goes on as its tangent."""


def _everywhere(xp: Any, *args: Any) -> Any:
    return xp.isfinite(sum(args))


def _smooth_exp(xp: Any, a: Any) -> Any:
    return xp.exp(xp.minimum(a, CAP)) * (1 + xp.maximum(a - CAP, 0.0))


def _smooth_log(xp: Any, a: Any) -> Any:
    return 0.5 * xp.log(a * a + SMOOTHING)


def _smooth_asin(xp: Any, a: Any) -> Any:
    return xp.atan(a / xp.sqrt(xp.maximum(1 - a * a, 0.0) + SMOOTHING))


def _pow_domain(xp: Any, a: Any, b: Any) -> Any:
    return (a > 0) | ((a == 0) & (b >= 0)) | ((a < 0) & (b == xp.floor(b)))


def _function(
    name: str,
    define: Callable[..., Any],
    interval: iv.Rule,
    smooth: Callable[..., Any] | None = None,
    domain: Callable[..., Any] = _everywhere,
    tex: str = "",
    **kwargs: Any,
) -> Primitive:
    """Return a row of one argument, written as a call unless told otherwise."""
    kwargs = {"text": f"{name}(#1)", "needs": (0,)} | kwargs
    tex = tex or rf"\{name}\left(#1\right)"
    return Primitive(name, 1, define, smooth or define, domain, interval, tex=tex, **kwargs)


def _operator(
    name: str,
    define: Callable[..., Any],
    interval: iv.Rule,
    smooth: Callable[..., Any] | None = None,
    domain: Callable[..., Any] = _everywhere,
    **kwargs: Any,
) -> Primitive:
    """Return a row of two arguments."""
    kwargs = {"text": f"{name}(#1, #2)", "needs": (0, 0)} | kwargs
    return Primitive(name, 2, define, smooth or define, domain, interval, **kwargs)


BUILTINS: tuple[Primitive, ...] = (
    _operator("add", lambda xp, a, b: a + b, interval=iv.add, symbol="+", commutative=True,
              text="#1 + #2", tex="#1 + #2", level=1, needs=(1, 2)),
    _operator("sub", lambda xp, a, b: a - b, interval=iv.subtract, diagonal=iv.zero, symbol="-",
              text="#1 - #2", tex="#1 - #2", level=1, needs=(1, 2)),
    _operator("mul", lambda xp, a, b: a * b, interval=iv.multiply, symbol="*", commutative=True,
              text="#1*#2", tex=r"#1 \cdot #2", level=2, needs=(2, 3)),
    _operator("div", lambda xp, a, b: a / b, interval=iv.divide, diagonal=iv.one, symbol="/",
              smooth=lambda xp, a, b: a * b / (b * b + SMOOTHING),
              domain=lambda xp, a, b: b != 0,
              text="#1/#2", tex=r"\frac{#1}{#2}", level=2, needs=(2, 3)),
    _function("sin", lambda xp, a: xp.sin(a), interval=iv.sin),
    _function("cos", lambda xp, a: xp.cos(a), interval=iv.cos),
    _function("exp", lambda xp, a: xp.exp(a), interval=iv.exp, smooth=_smooth_exp),
    _function("log", lambda xp, a: xp.log(a), interval=iv.log,
              smooth=_smooth_log, domain=lambda xp, a: a > 0),
    _function("neg", lambda xp, a: -a, interval=iv.negative,
              text="-#1", tex="-#1", level=3, needs=(4,)),
    _function("inv", lambda xp, a: 1 / a, interval=iv.invert,
              smooth=lambda xp, a: a / (a * a + SMOOTHING),
              domain=lambda xp, a: a != 0, text="1/#1", tex=r"\frac{1}{#1}", level=2, needs=(3,)),
    _function("square", lambda xp, a: a * a, interval=iv.square,
              text="#1^2", tex="#1^{2}", level=4, needs=(ATOM,)),
    _function("cube", lambda xp, a: a * a * a, interval=iv.cube,
              text="#1^3", tex="#1^{3}", level=4, needs=(ATOM,)),
    _function("sqrt", lambda xp, a: xp.sqrt(a), interval=iv.sqrt, domain=lambda xp, a: a >= 0,
              smooth=lambda xp, a: xp.sqrt(xp.sqrt(a * a + SMOOTHING)), tex=r"\sqrt{#1}"),
    _function("abs", lambda xp, a: xp.abs(a), interval=iv.absolute, tex=r"\left|#1\right|"),
    _function("tanh", lambda xp, a: xp.tanh(a), interval=iv.tanh),
    _function("sigmoid", lambda xp, a: 1 / (1 + xp.exp(-a)), interval=iv.sigmoid,
              tex=r"\sigma\left(#1\right)"),
    _operator("pow", lambda xp, a, b: xp.pow(a, b), interval=iv.power, symbol="^",
              domain=_pow_domain,
              smooth=lambda xp, a, b: _smooth_exp(xp, b * _smooth_log(xp, a)),
              text="#1^#2", tex="#1^{#2}", level=4, needs=(ATOM, 4)),
    _operator("min", lambda xp, a, b: xp.minimum(a, b), interval=iv.minimum, commutative=True,
              tex=r"\min\left(#1, #2\right)"),
    _operator("max", lambda xp, a, b: xp.maximum(a, b), interval=iv.maximum, commutative=True,
              tex=r"\max\left(#1, #2\right)"),
    _function("tan", lambda xp, a: xp.tan(a), interval=iv.tan,
              smooth=lambda xp, a: xp.sin(a) * xp.cos(a) / (xp.cos(a) * xp.cos(a) + SMOOTHING)),
    _function("asin", lambda xp, a: xp.asin(a), interval=iv.asin, smooth=_smooth_asin,
              domain=lambda xp, a: xp.abs(a) <= 1, tex=r"\arcsin\left(#1\right)"),
    _function("acos", lambda xp, a: xp.acos(a), interval=iv.acos,
              smooth=lambda xp, a: 0.5 * math.pi - _smooth_asin(xp, a),
              domain=lambda xp, a: xp.abs(a) <= 1, tex=r"\arccos\left(#1\right)"),
    _function("atan", lambda xp, a: xp.atan(a), interval=iv.atan, tex=r"\arctan\left(#1\right)"),
    _function("sinh", lambda xp, a: xp.sinh(a), interval=iv.sinh,
              smooth=lambda xp, a: 0.5 * (_smooth_exp(xp, a) - _smooth_exp(xp, -a))),
    _function("cosh", lambda xp, a: xp.cosh(a), interval=iv.cosh,
              smooth=lambda xp, a: 0.5 * (_smooth_exp(xp, a) + _smooth_exp(xp, -a))),
)  # fmt: skip

CODE_OF: dict[str, int] = {p.name: i for i, p in enumerate(BUILTINS)}
CODE_OF |= {p.symbol: i for i, p in enumerate(BUILTINS) if p.symbol}
"""Code by name and by operator sign."""
