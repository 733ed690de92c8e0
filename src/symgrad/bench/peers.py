"""Other methods on real data at equal time: 10 s and 60 s a fit, two threads."""

from __future__ import annotations

from symgrad.bench.harness import Part
from symgrad.bench.task import Limit

METHODS = "symgrad,symgrad accurate,operon,operon accurate,gplearn,deap,lasso,forest,boosting"
SEEDS = 10


def times(quick: bool) -> str:
    """Return the seconds of a fit."""
    return "2" if quick else "10,60"


def datasets(quick: bool) -> str:
    """Return the data sets: the paper's eight, or two of them."""
    return "Fri_c0_50,Tecator" if quick else "paper"


def plan(problems: list[str], seconds: list[float], seeds: int) -> list[Part]:
    """Return every data set with every number of seconds."""
    return [Part(name, Limit(seconds=s), seeds) for s in seconds for name in problems]
