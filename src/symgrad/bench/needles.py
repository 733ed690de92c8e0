"""Wide problems: a few features among many matter. Names say all: "product d=1000 n=200 noise=0.1".

The features that matter stand at random places, drawn by the seed. `noise` is the deviation of
the noise relative to that of the target. With `rho`, features come in blocks of ten (of d/5 in
narrow tables) that correlate by so much; one feature of a block at most matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]
BLOCK = 10
MOST = 5
"""Features that matter, at most."""
TEST_ROWS = 1000


def friedman(x: Array) -> Array:
    """Return Friedman's first function (1991), of five features from 0 to 1."""
    bent = 10 * np.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2
    return np.asarray(bent + 10 * x[3] + 5 * x[4])


FORMS: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "product": (3, lambda x: x[0] * x[1] + x[2]),
    "squares": (3, lambda x: x[0] ** 2 - x[1] ** 2 + x[2] / 2),
    "sine": (3, lambda x: np.sin(x[0] * x[1]) + x[2]),
    "ratio": (3, lambda x: x[0] / (1 + x[1] ** 2) + x[2]),
    "triple": (3, lambda x: x[0] * x[1] * x[2]),
    "friedman": (5, friedman),
    "noise": (0, lambda x: np.zeros(0)),
}
"""Number of features that matter, and the target as a function of them."""


class Needles(NamedTuple):
    """A problem: what is trained on, what is tested on, and the features that matter."""

    X: Array
    X_test: Array
    y: Array
    y_test: Array
    features: tuple[int, ...]


def parse(name: str) -> dict[str, Any]:
    """Return the form and the numbers in a problem's name."""
    form, *words = name.split()
    options = {"d": 1000.0, "n": 200.0, "noise": 0.0, "rho": 0.0}
    if form not in FORMS:
        raise ValueError(f"unknown form {form!r}; the known ones are {', '.join(FORMS)}")
    for word in words:
        key, _, value = word.partition("=")
        if key not in options:
            raise ValueError(
                f"unknown option {word!r} in {name!r}; the known ones are {', '.join(options)}"
            )
        try:
            options[key] = float(value)
        except ValueError:
            raise ValueError(f"{key} must be a number, got {value!r} in {name!r}") from None
    if (
        options["d"] < MOST
        or options["n"] < 2
        or options["noise"] < 0
        or not 0 <= options["rho"] < 1
    ):
        raise ValueError(
            f"d must be at least {MOST}, n at least 2, noise not negative, rho from 0 to below 1, "
            f"got {name!r}"
        )
    return {"form": form, **options}


def block(d: int) -> int:
    """Return how many features correlate with each other."""
    return min(BLOCK, d // MOST)


def make(name: str, seed: int) -> Needles:
    """Return the problem of a name and a seed."""
    o = parse(name)
    d, n = int(o["d"]), int(o["n"])
    count, target = FORMS[o["form"]]
    rng = np.random.default_rng([seed, d, n])
    rows, together = n + TEST_ROWS, block(d)
    uniform = o["form"] == "friedman"
    if o["rho"]:
        X = _blocks(rng, rows, d, together, o["rho"])
        X = ndtr(X) if uniform else X
        places = np.sort(rng.choice(d // together, count, replace=False))
        at = places * together + rng.integers(together, size=count)
    else:
        X = rng.uniform(size=(rows, d)) if uniform else rng.normal(size=(rows, d))
        at = np.sort(rng.choice(d, count, replace=False))
    at = rng.permutation(at)
    y = rng.normal(size=rows) if o["form"] == "noise" else target(X[:, at].T)
    y_train = y[:n] + o["noise"] * y[:n].std() * rng.normal(size=n)
    return Needles(X[:n], X[n:], y_train, y[n:], tuple(int(j) for j in at))


def _blocks(rng: np.random.Generator, rows: int, d: int, together: int, rho: float) -> Array:
    """Return normal features that correlate by rho within blocks."""
    shared = np.repeat(rng.normal(size=(rows, -(-d // together))), together, axis=1)[:, :d]
    return np.asarray(math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.normal(size=(rows, d)))


def found(name: str, wanted: tuple[int, ...], used: tuple[int, ...]) -> str:
    """Return "yes" if a formula uses just the features that matter, else "no".

    With rho it is "block" if it uses one feature of each of their blocks, but not the same ones.
    """
    if sorted(wanted) == sorted(used):
        return "yes"
    o = parse(name)
    together = block(int(o["d"]))
    same = sorted(j // together for j in wanted) == sorted(j // together for j in used)
    return "block" if o["rho"] and same else "no"
