"""How much a formula's values tell of a target whose errors may have heavy tails.

R2 is large as soon as a formula catches the few rows that hold most of the target's variance, and
with steep functions of many features it easily does: of a target with heavy tails a search explains
a lot by chance. What such an R2 is worth is seen by pairing the same values with the same targets
at random: how unlikely is a correlation as high? The answer is a bound by exponential tilting
(Chernoff), and it is given as the R2 that would be as unlikely with normal numbers. For these it is
R2 itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, ndtri
from scipy.stats import rankdata

from symgrad.data.counts import observations

ENDS, MIDDLE = 60, 60
"""Values at either end that are taken one by one, and groups of those between."""

DROPPED = (0.01, 0.03, 0.1, 0.3)
"""Shares of the most extreme rows that are left out in turn: what the others tell counts, too."""

Floats = NDArray[np.float64]


def evidence(
    values: Floats, y: Floats, weights: Floats | None = None, enough: float = np.inf
) -> float:
    """Return minus twice the log of how likely values that say nothing are paired so well with y.

    For normal numbers it is ``-n ln(1 - R2)``. It is the most of what the numbers tell, their
    ranks, and the numbers without the most extreme ones; once it is `enough`, no more is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from symgrad.data.evidence import evidence
    >>> x, y = np.random.default_rng(0).normal(size=(2, 100))
    >>> y[0] = 100.0
    >>> spike = np.arange(100) == 0
    >>> print(f"{np.corrcoef(spike, y)[0, 1] ** 2:.2f} {evidence(spike * 1.0, y):.0f}")
    0.99 12
    """
    p = np.ones(len(y)) if weights is None else weights
    given, most = p > 0, 0.0
    for f, g, w in _views(values[given], y[given], p[given]):
        rows = observations(w)
        most = max(most, -rows * float(np.log1p(-_surprise(f, g, w / w.sum()))))
        if most >= enough:
            break
    return most


def _views(values: Floats, y: Floats, p: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield values, targets and weights to look at, in standard units."""
    f, g = _standard(values, p), _standard(y, p)
    yield f, g, p
    yield _standard(_scores(values), p), _standard(_scores(y), p), p
    order = np.argsort(np.maximum(abs(f), abs(g)))
    for share in DROPPED:
        kept = order[: len(y) - round(share * len(y))]
        yield _standard(values[kept], p[kept]), _standard(y[kept], p[kept]), p[kept]


def _scores(values: Floats) -> Floats:
    """Return normal numbers of the same order."""
    scores: Floats = ndtri((rankdata(values) - 0.5) / len(values))
    return scores


def _surprise(f: Floats, g: Floats, p: Floats) -> float:
    """Return the R2 of normal numbers whose pairing is as unlikely as this one."""
    r = float(p @ (f * g))
    if r <= 0:
        return 0.0
    (a, of_a), (b, of_b) = _grouped(f, p), _grouped(g, p)
    products = np.outer(a, b)

    def lack(log_tilt: float) -> float:
        tilt = np.exp(log_tilt)
        return float(of_a @ logsumexp(tilt * products, b=of_b, axis=1) - tilt * r)

    found = minimize_scalar(lack, bounds=(-7.0, 7.0), method="bounded", options={"xatol": 0.02})
    return float(np.clip(-2 * found.fun, 0.0, min(r * r, 1 - 1e-15)))


def _grouped(values: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return the distribution of some values, those far from the ends in groups."""
    order, n = np.argsort(values), len(values)
    if n <= 2 * ENDS + MIDDLE:
        return values, p
    between = np.linspace(ENDS, n - ENDS, MIDDLE + 1).astype(int)
    first = np.concatenate([np.arange(ENDS), between[:-1], np.arange(n - ENDS, n)])
    total = np.add.reduceat(p[order], first)
    means = np.add.reduceat((p * values)[order], first) / np.where(total > 0, total, 1.0)
    return means, total


def _standard(values: Floats, p: Floats) -> Floats:
    """Return values of mean 0 and deviation 1, or all 0."""
    centred = values - p @ values / p.sum()
    deviation = float(np.sqrt(p @ centred**2 / p.sum()))
    standard: Floats = centred / deviation if deviation > 0 else centred * 0.0
    return standard
