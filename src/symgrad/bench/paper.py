"""The paper's study: eight data sets, six formulas, noise; tables as the paper's, ours beside them.

The data sets have 75/25 splits, 30 seeds and 100,000 evaluations; the formulas 20 points, 10 seeds
and 500,000 evaluations. X is standardised by the training part, which the paper leaves open. The
noise has levels from 0 to 0.1 of the root mean square of the training target. Sizes are nodes of
the programs as they were found, as the paper counts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from scipy.stats import ranksums

from symgrad.bench import published
from symgrad.bench.adapters import BY_METHOD
from symgrad.bench.harness import Part
from symgrad.bench.problems import REAL, SYNTHETIC
from symgrad.bench.summaries import ordered
from symgrad.bench.task import Limit

METHODS = "deap,gp,dgp"
STUDIES = ("real", "synthetic", "noise")
LEVELS = (0.02, 0.04, 0.06, 0.08, 0.1)
"""Noise; level 0 is the synthetic study."""

SEEDS = {"real": 30, "synthetic": 10, "noise": 10}
EVALUATIONS = {"real": 100_000, "synthetic": 500_000, "noise": 500_000}
QUICK_METHODS = "gp,dgp"
QUICK_SEEDS = 2
QUICK_EVALUATIONS = 10_000
QUICK_LEVELS = (0.05, 0.1)
SIGNIFICANT = 0.05
Tables = Iterator[tuple[str, pd.DataFrame]]


def plan(
    studies: list[str], problems: list[str] | None = None, standardized: str = "X",
    quick: bool = False, seeds: int | None = None, limit: Limit | None = None,
) -> list[Part]:  # fmt: skip
    """Return the problems of some studies with their limits and seeds; what is given counts."""
    for study in studies:
        if study not in STUDIES:
            raise ValueError(f"unknown study {study!r}; the known ones are {', '.join(STUDIES)}")
    for name in problems or ():
        if name not in (*REAL, *SYNTHETIC):
            known = ", ".join((*REAL, *SYNTHETIC))
            raise ValueError(f"unknown problem {name!r}; those of the paper are {known}")
    option = "" if standardized == "none" else f" standardized={standardized}"
    names = {
        "real": [(name, name + option) for name in REAL],
        "synthetic": [(name, name) for name in SYNTHETIC],
        "noise": [
            (name, f"{name} noise={level:g}")
            for level in (QUICK_LEVELS if quick else LEVELS) for name in SYNTHETIC
        ],
    }  # fmt: skip
    return [
        Part(
            full,
            limit or Limit(evaluations=QUICK_EVALUATIONS if quick else EVALUATIONS[study]),
            seeds or (QUICK_SEEDS if quick else SEEDS[study]),
        )
        for study in studies
        for name, full in names[study]
        if problems is None or name in problems
    ]


def mark(ours: Any, others: Any, more_is_better: bool = True) -> str:
    """Return - if ours are significantly better, + if worse, else =, as the paper marks them.

    The test is Wilcoxon's rank-sum test at 5 %.

    Examples
    --------
    >>> from symgrad.bench.paper import mark
    >>> mark([7, 8, 9, 10, 11], [1, 2, 3, 4, 5]), mark([1, 5, 9], [2, 4, 6])
    ('-', '=')
    """
    if len(ours) < 2 or len(others) < 2:
        return ""
    test = ranksums(ours, others)
    if not test.pvalue < SIGNIFICANT:
        return "="
    return "-" if (test.statistic > 0) == more_is_better else "+"


def tables(rows: pd.DataFrame, score: str) -> Tables:
    """Yield titles and tables of all studies."""
    rows = rows.assign(
        name=[p.partition(" ")[0] for p in rows["problem"]],
        option=[p.partition(" ")[2] for p in rows["problem"]],
    )
    budgets: Any = rows[rows["name"].isin(REAL)].groupby(["budget", "option"], sort=False)
    for (budget, option), group in budgets:
        yield from real(group, f"{budget}, {option or 'nothing standardized'}", score)
    budgets = rows[rows["name"].isin(SYNTHETIC)].groupby("budget", sort=False)
    for budget, group in budgets:
        clean = group[group["option"] == ""]
        if len(clean):
            yield from synthetic(clean, str(budget))
        if (group["option"] != "").any():
            yield f"{budget}: median test RMSE by noise", noise(group)


def real(rows: pd.DataFrame, given: str, score: str) -> Tables:
    """Yield R2, sizes and significance on the data sets."""
    good = rows[rows["status"] == "ok"]
    seeds = rows["seed"].nunique()
    label = score.replace("_", " ").replace("r2", "R2")
    names = ordered(rows["name"].unique(), REAL)
    methods = ordered(rows["method"].unique(), BY_METHOD)
    r2 = {m: {d: _spread(rows, m, d, score, 2) for d in names} for m in methods}
    r2 |= {f"{m} (published)": {d: published.R2[m][d] for d in names} for m in published.METHODS}
    yield (
        f"{given}: {label}, mean ± deviation, {seeds} seed{'s' * (seeds > 1)}",
        _frame(r2, names).T,
    )
    reference = next((m for m in methods if m.startswith("dgp")), methods[0])
    others = [m for m in methods if m != reference]
    marks: dict[str, dict[str, str]] = {}
    size_marks: dict[str, dict[str, str]] = {}
    for other in others:
        for name in names:
            pair = [
                good[(good["name"] == name) & (good["method"] == m)] for m in (reference, other)
            ]
            train, test = (mark(*(p[c] for p in pair)) for c in ("train_r2", score))
            marks.setdefault(f"vs {other}", {})[name] = f"({train}, {test})" * bool(train)
            own, theirs = (p["nodes"].dropna() for p in pair)
            sizes = mark(own, theirs, more_is_better=False)
            size_marks.setdefault(f"vs {other}", {})[name] = sizes
    beside = "DGP vs GP (published)"
    if others:
        marks[beside] = {d: published.MARKS[d] for d in names}
        size_marks[beside] = {d: published.SIZE_MARKS[d] for d in names}
        yield (
            f"{given}: significance of R2 (training, test), {reference} against",
            _frame(marks, names),
        )
    size = {m: {d: _spread(rows, m, d, "nodes", 0, 1) for d in names} for m in methods}
    size |= {
        f"{m} (published)": {d: published.SIZE[m][d] for d in names} for m in published.METHODS
    }
    yield f"{given}: nodes of the programs", _frame(size, names)
    if others:
        yield f"{given}: significance of the nodes, {reference} against", _frame(size_marks, names)


def synthetic(rows: pd.DataFrame, given: str) -> Tables:
    """Yield recovery rates and the sizes of what was recovered."""
    names = ordered(rows["name"].unique(), SYNTHETIC)
    methods = ordered(rows["method"].unique(), BY_METHOD)
    rates: dict[str, dict[str, str]] = {}
    for method in methods:
        own = rows[rows["method"] == method]
        shares = own["recovered"].eq("yes").groupby(own["name"]).mean()
        unproven = own["recovered"].eq("values").groupby(own["name"]).sum()
        rates[method] = {
            name: f"{100 * shares[name]:.0f}"
            + f" (+{unproven[name]} by values)" * bool(unproven[name])
            for name in shares.index
        }
        if len(shares) == len(SYNTHETIC):
            rates[method]["Average"] = f"{100 * shares.mean():.1f}"
    for method in published.METHODS:
        whole = published.RECOVERY[method]
        rates[f"{method} (published)"] = {name: whole[name] for name in names}
        if len(names) == len(SYNTHETIC):
            mean = sum(map(float, whole.values())) / len(whole)
            rates[f"{method} (published)"]["Average"] = f"{mean:.1f}"
    index = [*names, *(["Average"] if len(names) == len(SYNTHETIC) else [])]
    seeds = rows["seed"].nunique()
    yield f"{given}: recovery rate in %, {seeds} seed{'s' * (seeds > 1)}", _frame(rates, index)
    right = rows[rows["recovered"] == "yes"]
    size = {m: {s: _spread(right, m, s, "nodes", 0, 1) or "-" for s in names} for m in methods}
    size |= {
        f"{m} (published)": {s: published.RECOVERED_SIZE[m][s] for s in names}
        for m in published.METHODS
    }
    yield f"{given}: nodes of the programs that are the formula", _frame(size, names)


def noise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the median test RMSE of every formula and method by noise level."""
    medians = rmse(rows)
    lines = {
        f"{name}, {method}": {f"noise {level:g}": f"{v:.3g}" for level, v in own.items()}
        for name in SYNTHETIC
        for method in ordered(rows["method"].unique(), BY_METHOD)
        for _, own in medians[medians.index.isin([(name, method)])].iterrows()
    }
    full: pd.DataFrame = pd.DataFrame.from_dict(lines, orient="index").replace("nan", "")
    return full


def rmse(rows: pd.DataFrame) -> pd.DataFrame:
    """Return median test RMSE: formulas and methods by noise level.

    The mean would be that of the one run whose tree has a pole beside a test point.
    """
    rows = rows.assign(
        name=[p.partition(" ")[0] for p in rows["problem"]],
        level=[float(p.partition("noise=")[2] or 0) for p in rows["problem"]],
    )
    good = rows[rows["status"] == "ok"]
    medians = good.groupby(["name", "method", "level"])["test_rmse"].median()
    table: pd.DataFrame = medians.unstack("level")  # noqa: PD010
    return table


def _spread(rows: pd.DataFrame, method: str, name: str, column: str, *digits: int) -> str:
    """Return mean ± deviation of a column, and the number of failed runs where there are any."""
    own = rows[(rows["method"] == method) & (rows["name"] == name)]
    values = own.loc[own["status"] == "ok", column].dropna()
    failed = int((own["status"] != "ok").sum())
    note = f" ({failed} of {len(own)} failed)" if failed else ""
    if values.empty:
        return note.strip()
    spread = (
        f" ± {values.std():.{digits[-1] if len(digits) > 1 else 3}f}" if len(values) > 1 else ""
    )
    return f"{values.mean():.{digits[0]}f}{spread}{note}"


def _frame(columns: dict[str, dict[str, str]], index: list[str]) -> pd.DataFrame:
    """Return texts by column and row; those that are not there are empty."""
    texts = {name: [cells.get(row, "") for row in index] for name, cells in columns.items()}
    frame: pd.DataFrame = pd.DataFrame(texts, index=index)
    return frame
