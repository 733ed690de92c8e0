"""Fitted estimators for tests of what is shown."""

from functools import cache

import numpy as np
import pandas as pd

from symgrad import DGPRegressor
from symgrad.evolution.islands import Islands

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a$b$c_{", "</title></pre>`",
    "{{js}}", "\ud800\0\u202eleft", "line\nbreak", "ENSG00000100077 very long name of a probe " * 3,
]  # fmt: skip


@cache
def small():
    """A few plain columns; two formulas at least."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=["age", "dose (mg)", "x2", "t"])
    y = pd.Series(2 * X["age"] * X["t"] + X["dose (mg)"] + 0.2 * rng.normal(size=120), name="cost")
    return X, y, quick().fit(X, y)


@cache
def hostile():
    """Columns whose names try to be code."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, len(HOSTILE))), columns=HOSTILE)
    y = pd.Series(X.sum(axis=1), name="<script>alert(2)</script>")
    return X, y, quick(primitives=["+", "-", "*", "sin"]).fit(X, y)


@cache
def constant():
    """No formula but a number."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 300)), rng.normal(size=40)
    return X, y, quick().fit(X, y)


def quick(**changes):
    settings = {
        "max_evaluations": 4000,
        "random_state": 0,
        "islands": Islands(islands=2, population=100),
    }
    return DGPRegressor(**(settings | changes))
