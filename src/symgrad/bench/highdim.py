"""Wide problems: which methods find the few features that matter, within how many seconds.

Six forms, d = 10 to 10,000 features (100,000 once), independent ones and blocks that correlate by
0.9, 200 and 1,000 rows, no noise and 10 %; see needles.py. Every method gets the seconds that go
with d. A run has found the problem if its formula uses just the features that matter; with rho,
those of which it uses others of their blocks are counted beside. R2 is that on 1,000 fresh rows
without noise. The seconds taken are the whole fit: Operon's include the random forest that
estimates the noise, and gplearn's the start of its processes, which are not taken off their
budgets (see adapters.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from symgrad.bench.adapters import BY_METHOD
from symgrad.bench.harness import Part
from symgrad.bench.needles import FORMS, parse
from symgrad.bench.summaries import ordered
from symgrad.bench.task import Limit

METHODS = "symgrad,operon,gplearn"
SEEDS = 3
SECONDS = {10: 2.0, 100: 5.0, 1000: 20.0, 10_000: 60.0, 100_000: 300.0}
"""Seconds of a fit by number of features."""

SHAPES = ("product", "squares", "triple", "ratio", "sine", "friedman")
SUITE: tuple[str, ...] = (
    *(
        f"{form} d={d} n={n}{noise}{rho}"
        for d in (10, 100, 1000, 10_000)
        for form in SHAPES
        for rho in ("", " rho=0.9")
        for noise in ("", " noise=0.1")
        for n in (200, 1000)
    ),
    "product d=100000 n=1000",
)
QUICK = "product d=10 n=200,product d=100 n=200,product d=1000 n=200,triple d=1000 n=200"


def plan(problems: str, seconds: float | None, seeds: int) -> list[Part]:
    """Return the problems of a list of names and patterns; names may be beyond the suite."""
    names: list[str] = []
    for pattern in (text.strip() for text in problems.split(",")):
        found = [name for name in SUITE if fnmatchcase(name, pattern)]
        if not found and pattern.split(" ")[0] in FORMS and not set("*?[") & set(pattern):
            parse(pattern)
            found = [pattern]
        if not found:
            known = f"those of the forms {', '.join(FORMS)}, such as {SUITE[0]!r}"
            raise ValueError(f"no problem is {pattern!r}; the known ones are {known}")
        names += found
    return [Part(n, Limit(seconds=seconds or allowed(n)), seeds) for n in dict.fromkeys(names)]


def allowed(name: str) -> float:
    """Return the seconds of a fit: those of the next width that the suite has."""
    d = parse(name)["d"]
    return next((s for width, s in SECONDS.items() if d <= width), SECONDS[100_000])


def counted(rows: pd.DataFrame) -> tuple[str, str, str]:
    """Return how many of the runs found it, median R2 and median seconds; failed ones count."""
    good = rows[rows["status"] == "ok"]
    blocks = int(good["found"].eq("block").sum())
    found = f"{good['found'].eq('yes').sum()}/{len(rows)}" + f" (+{blocks})" * bool(blocks)
    if good.empty:
        return found, "", ""
    median = good[["test_r2", "seconds"]].astype(float).median()
    return found, f"{median['test_r2']:.3f}", f"{median['seconds']:.1f}"


def by_problem(rows: pd.DataFrame) -> pd.DataFrame:
    """Return found, R2 and seconds of every problem and method."""
    methods = ordered(rows["method"].unique(), BY_METHOD)
    table: dict[str, dict[str, str]] = {}
    groups: Any = rows.groupby(["problem", "budget"])
    for (name, budget), problem in groups:
        line = table.setdefault(f"{name}, {budget}", {})
        for method in methods:
            numbers = counted(problem[problem["method"] == method])
            for what, text in zip(("found", "R2", "s"), numbers, strict=True):
                line[f"{method} {what}"] = "" if numbers[0] == "0/0" else text
    known = [f"{name}, {Limit(seconds=allowed(name))}" for name in SUITE]
    frame: pd.DataFrame = pd.DataFrame.from_dict(table, orient="index")
    full: pd.DataFrame = frame.reindex(ordered(table, known)).fillna("")
    return full


def by_budget(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows with the seconds of the suite, and those of each other budget by its name."""
    usual = [str(Limit(seconds=allowed(name))) for name in rows["problem"]]
    rows = rows.assign(other=rows["budget"].where(rows["budget"] != usual, ""))
    for other in sorted(rows["other"].unique()):
        yield str(other), rows[rows["other"] == other]


def with_options(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with form, d, n, noise and rho as columns."""
    names = {name: parse(name) for name in rows["problem"].unique()}
    options = pd.DataFrame([names[n] for n in rows["problem"]], index=rows.index)
    full: pd.DataFrame = rows.assign(**options.to_dict("series"))
    return full


def by_width(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the same in one cell, by method and number of features, where there are several."""
    rows = with_options(rows)
    rows["d"] = rows["d"].astype(int)
    kept = ([w for w in n.split() if w[:2] != "d="] for n in rows["problem"])
    rows["form"] = [" ".join(words) for words in kept]
    several = rows.groupby("form")["d"].transform("nunique") > 1
    table: dict[str, dict[str, str]] = {}
    groups: Any = rows[several].groupby(["form", "method", "d"])
    for (form, method, d), group in groups:
        found, r2, seconds = counted(group)
        cell = f"{found}, R2 {r2}, {seconds} s" if r2 else f"{found}, failed"
        table.setdefault(f"{form}, {method}", {})[f"d = {d:,}"] = cell
    columns = [f"d = {d:,}" for d in sorted(rows.loc[several, "d"].unique())]
    order = [f"{f}, {m}" for f in dict.fromkeys(rows["form"]) for m in BY_METHOD]
    frame: pd.DataFrame = pd.DataFrame.from_dict(table, orient="index")
    full: pd.DataFrame = frame.reindex(index=ordered(table, order), columns=columns).fillna("")
    return full


def tables(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield titles and tables."""
    seeds = rows["seed"].nunique()
    title = "found of runs (+ right blocks), median R2, median seconds"
    for budget, own in by_budget(rows):
        growth = by_width(own)
        if len(growth):
            yield f"{title} by features" + f", {budget} a fit" * bool(budget), growth
    yield f"{title} by problem, up to {seeds} seed{'s' * (seeds > 1)}", by_problem(rows)
