"""Charts as SVG text. Colours and fonts are those of ``report.css``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from symgrad.tree.layout import layout, spread
from symgrad.tree.names import shortened, visible
from symgrad.tree.tree import Tree

Floats = NDArray[np.float64]

WIDTH, HEIGHT = 440, 320
LEFT, RIGHT, TOP, BOTTOM = 58, 24, 12, 44
COLUMN, ROW = 46, 26
"""Pixels between columns and rows of a drawn tree."""


def text(words: str) -> str:
    """Return words as they stand between tags or in an attribute's quotes."""
    return escape(visible(words), quote=True)


def width(words: str) -> float:
    """Return how many pixels words take, at most: fonts differ."""
    return sum(
        13.0 if ord(c) > 0x2E80 else 9.6 if c.isupper() or c in "mw@%" else 8.0 for c in words
    )


class Scale:
    """From numbers to pixels, with ticks at round numbers.

    Parameters
    ----------
    low, high : float
        The range of the numbers; it is widened if it is empty.
    start, end : float
        Where it goes to.
    logs : bool
        Whether pixels are proportional to logarithms; numbers must be positive then.
    """

    def __init__(self, low: float, high: float, start: float, end: float, logs: bool = False):
        self.logs = logs
        if logs:
            low, high = math.log10(low), math.log10(high)
        if not high > low:
            half = abs(low) / 2 or 0.5
            low, high = low - half, high + half
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, values: float | Floats) -> Floats:
        """Return the pixels of numbers."""
        v = np.log10(values) if self.logs else np.asarray(values, float)
        share = v / (self.high - self.low) - self.low / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))

    def ticks(self, most: int = 6) -> list[float]:
        """Return round numbers inside the range."""
        if self.logs:
            first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
            if last > first:
                every = -(-(last - first) // (most - 1))
                return [10.0**k for k in range(first, last + 1, every)]
            found = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 3, 5)]
            return [v for v in found if self.low <= math.log10(v) <= self.high]
        rough = (self.high - self.low) / most
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def front(sizes: Sequence[int], errors: Floats, logs: bool, chosen: int, labels: list[str]) -> str:
    """Return the chart of error against size; each point is a link to its formula."""
    x = Scale(0, max(sizes) * 1.04, LEFT, WIDTH - RIGHT)
    y = _errors(errors, logs)
    at = list(zip(_pixels(x(np.array(sizes, float))), _pixels(y(errors)), strict=True))
    lowest = _pixels(y(np.minimum.accumulate(errors)))
    steps = "".join(f"H{a}V{b}" for (a, _), b in zip(at[1:], lowest[1:], strict=True))
    stairs = f"M{at[0][0]} {at[0][1]}{steps}"
    points = []
    for k, ((a, b), label) in enumerate(zip(at, labels, strict=True)):
        kind = "point chosen" if k == chosen else "point"
        mark = f'<circle cx="{a}" cy="{b}" r="{7 if k == chosen else 5}"/>'
        points.append(
            f'<a href="#formula-{k}" class="{kind}" data-formula="{k}" role="radio" '
            f'aria-checked="false" tabindex="-1" aria-label="{text(label)}">'
            f"<title>{text(label)}</title>"
            f'<circle class="reach" cx="{a}" cy="{b}" r="11"/>{mark}</a>'
        )
    inside = f'<path class="line" d="{stairs}"/>' + "".join(points)
    return _chart(inside, x, y, "size (nodes)", "error (1 − R²)", "radiogroup", "Formulas by size")


def scatter(actual: Floats, predicted: Floats) -> str:
    """Return the chart of predicted against actual values."""
    low, high = min(actual.min(), predicted.min()), max(actual.max(), predicted.max())
    edge = 0.03 * (high - low)
    low, high = low - edge, high + edge
    x, y = Scale(low, high, LEFT, WIDTH - RIGHT), Scale(low, high, HEIGHT - BOTTOM, TOP)
    dots = "".join(
        f"M{a} {b}h0" for a, b in zip(_pixels(x(actual)), _pixels(y(predicted)), strict=True)
    )
    a, b = _pixels(x(np.array([low, high]))), _pixels(y(np.array([low, high])))
    diagonal = f'<path class="line" d="M{a[0]} {b[0]}L{a[1]} {b[1]}"/>'
    return _chart(
        f'{diagonal}<path class="dots" d="{dots}"/>', x, y, "actual", "predicted",
        title="Predicted against actual values",
    )  # fmt: skip


def convergence(tried: NDArray[np.int64], errors: Floats, logs: bool) -> str:
    """Return the chart of the best error over formulas tried."""
    x, y = Scale(0, float(tried.max()), LEFT, WIDTH - RIGHT), _errors(errors, logs)
    at = list(zip(_pixels(x(tried.astype(float))), _pixels(y(errors)), strict=True))
    stairs = f"M{at[0][0]} {at[0][1]}" + "".join(f"H{a}V{b}" for a, b in at[1:])
    return _chart(
        f'<path class="course" d="{stairs}"/>', x, y, "formulas tried", "error of the best",
        title="Error of the best formula over the search",
    )  # fmt: skip


def features(names: list[str], table: NDArray[np.int64], sizes: Sequence[int], chosen: int) -> str:
    """Return which formula uses which feature: a row for each feature, a dot for each use."""
    short = shortened(names, 26)
    left = 12 + max((width(short[n]) for n in names), default=0)
    step = 16.0
    whole, height = left + len(sizes) * step + 10, 34 + len(names) * 20
    parts = [
        f'<rect class="column" x="{left + chosen * step:.1f}" y="4" width="{step}" '
        f'height="{len(names) * 20}"/>'
    ]
    for i, name in enumerate(names):
        middle = 14 + 20 * i
        parts.append(
            f'<g><title>{text(name)}</title><text x="{left - 8:.1f}" y="{middle + 4}" '
            f'class="end">{text(short[name])}</text>'
            f'<path class="grid" d="M{left:.1f} {middle}H{whole - 10:.1f}"/></g>'
        )
        for k in np.flatnonzero(table[i]):
            radius = min(6.5, 3 + 0.9 * (table[i, k] - 1))
            kind = ' class="chosen"' if k == chosen else ' class="mark"'
            at = left + (k + 0.5) * step
            parts.append(f'<circle{kind} cx="{at:.1f}" cy="{middle}" r="{radius:.1f}"/>')
    for n in range(0, len(sizes), 2 if len(sizes) > 3 else 1):
        at = left + (n + 0.5) * step
        parts.append(f'<text class="middle" x="{at:.1f}" y="{height - 12}">{sizes[n]}</text>')
    return _svg("".join(parts), whole, height, "Features in use, by size of the formula", True)


def tree(formula: Tree) -> str:
    """Return the tree of a formula, from left to right."""
    places = layout(formula)
    short = shortened(formula.features, 32)
    words = [short[p.label] if p.feature else visible(p.label) for p in places]
    wide = [width(w) + 12 for w in words]
    columns = spread(places, wide, COLUMN)
    spots = [(6 + columns[p.column], 16 + p.row * ROW) for p in places]
    lines, nodes, right = [], [], 0.0
    for p, w, long, (x, y) in zip(places, words, wide, spots, strict=True):
        if p.parent >= 0:
            a, b = spots[p.parent]
            lines.append(f"M{a:.0f} {b:.1f}L{x:.0f} {y:.1f}")
        start = x - COLUMN / 5 if p.leaf else x - long / 2
        right = max(right, start + long)
        kind = "feature" if p.feature else "number" if p.leaf else "function"
        title = f"<title>{text(p.label)}</title>" if w != p.label else ""
        nodes.append(
            f'<g class="node {kind}">{title}<rect x="{start:.1f}" y="{y - 10:.1f}" '
            f'width="{long:.1f}" height="20" rx="4"/>'
            f'<text class="middle" x="{start + long / 2:.1f}" y="{y + 4.5:.1f}">'
            f"{text(w)}</text></g>"
        )
    height = (max(p.row for p in places) + 1) * ROW + 6
    edges = f'<path class="line" d="{"".join(lines)}"/>' if lines else ""
    return _svg(edges + "".join(nodes), right + 6, height, "The formula as a tree", True)


def _errors(errors: Floats, logs: bool) -> Scale:
    low = float(errors.min()) / 1.3 if logs else 0.0
    return Scale(low, 1.3 if logs else 1.05, HEIGHT - BOTTOM, TOP, logs)


def _pixels(values: Floats) -> list[str]:
    return [f"{v:.1f}".removesuffix(".0") for v in values.tolist()]


def _tick(value: float, logs: bool, step: float) -> str:
    if logs and not 0.001 <= value < 1000:
        mantissa, exponent = f"{value:.0e}".split("e")
        raised = f'<tspan dy="-4" class="raised">{int(exponent)}</tspan>'.replace(">-", ">−")
        return f"{'' if mantissa == '1' else mantissa + '·'}10{raised}"
    if logs or not math.isfinite(step):
        return f"{value:g}"
    if max(abs(value), step) >= 1e6 or step < 1e-4:
        return f"{value:.3g}".replace("-", "−")
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value + 0.0:,.{places}f}".replace("-", "−")


def _axis(scale: Scale, most: int) -> Iterable[tuple[str, str]]:
    ticks = scale.ticks(most)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else math.inf
    for value in ticks:
        yield f"{float(scale(value)):.1f}", _tick(value, scale.logs, step)


def _chart(
    inside: str, x: Scale, y: Scale, below: str, beside: str, role: str = "img", title: str = ""
) -> str:
    """Return axes around what is drawn."""
    floor, side = HEIGHT - BOTTOM, LEFT
    parts = [f'<path class="axis" d="M{side} {TOP}V{floor}H{WIDTH - RIGHT}"/>']
    for at, words in _axis(x, 5):
        parts.append(f'<path class="axis" d="M{at} {floor}v4"/>')
        parts.append(f'<text class="middle" x="{at}" y="{floor + 18}">{words}</text>')
    for at, words in _axis(y, 6):
        parts.append(f'<path class="grid" d="M{side} {at}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="end" x="{side - 7}" y="{float(at) + 4:.1f}">{words}</text>')
    middle = (TOP + floor) / 2
    parts.append(
        f'<text class="middle name" x="{(side + WIDTH) / 2}" y="{HEIGHT - 8}">{below}</text>'
    )
    parts.append(
        f'<text class="middle name" transform="translate(13 {middle}) rotate(-90)">{beside}</text>'
    )
    return _svg("".join(parts) + inside, WIDTH, HEIGHT, title, role=role)


def _svg(
    inside: str, width: float, height: float, title: str, natural: bool = False, role: str = "img"
) -> str:
    """Return the whole element; natural ones keep their size, others fill their box."""
    size = f' width="{width:.0f}" height="{height:.0f}" class="natural"' if natural else ""
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}"{size} role="{role}" '
        f'aria-label="{text(title)}">{inside}</svg>'
    )
