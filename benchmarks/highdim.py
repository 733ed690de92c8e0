"""Wide problems: which methods find the few features that matter, within how many seconds.

    python benchmarks/highdim.py --methods symgrad,operon,gplearn --seeds 5
    python benchmarks/highdim.py --only "product d=1000 *" --seeds 1
    python benchmarks/highdim.py --table

The problems are those of needles.py with a number of seconds each; every method gets these seconds
and two threads. A run has found the problem if its formula uses just the features that matter
(with rho: one of each's block); for noise, if it is a constant. R2 is that on 1,000 fresh rows
without noise. `seconds_taken` is the whole fit: Operon's includes the random forest that estimates
the noise, and gplearn's the start of its processes, which are not taken off their budgets (see
adapters.py). Operon's budget is whole seconds.

Rows are appended to results/highdim.csv, as peers.py does it: one process per run, runs that are
there are skipped, failed ones are rows too and tried again with --retry.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd
from adapters import BY_METHOD
from needles import parse
from peers import COLUMNS as PEERS_COLUMNS
from peers import jobs, last_rows, run
from problems import is_needles
from tables import as_markdown, ordered

COLUMNS = [*PEERS_COLUMNS, "used", "found"]
METHODS = "symgrad,operon,gplearn"
WIDTHS = {100: 1.0, 1000: 3.0, 10_000: 20.0}
"""Seconds by number of features, for the simplest problem."""

SUITE: dict[str, float] = {
    f"product d={d} n=200{noise}": seconds
    for noise in ("", " noise=0.1")
    for d, seconds in WIDTHS.items()
}
SUITE |= {
    f"{form} d={d} n=300": seconds
    for form in ("squares", "sine", "ratio", "triple")
    for d, seconds in ((1000, 20.0), (10_000, 60.0))
}
SUITE |= {
    "friedman d=1000 n=500 noise=0.1": 20.0,
    "friedman d=10000 n=500 noise=0.1": 60.0,
    "product d=100000 n=500": 300.0,
    "product d=1000 n=200 rho=0.9": 3.0,
    "friedman d=1000 n=500 noise=0.1 rho=0.9": 20.0,
    "noise d=10000 n=200": 10.0,
}
"""Seconds by problem."""


def chosen(pattern: str, seconds: float | None) -> list[tuple[str, float]]:
    """Return the problems of a pattern; with seconds, it may be a name beyond the suite."""
    found = [(name, seconds or s) for name, s in SUITE.items() if fnmatchcase(name, pattern)]
    if not found and seconds and is_needles(pattern) and "*" not in pattern:
        parse(pattern)
        return [(pattern, seconds)]
    if not found:
        raise SystemExit(f"no problem is {pattern!r}; the known ones are {', '.join(SUITE)}")
    return found


def counted(rows: pd.DataFrame) -> tuple[str, str, str]:
    """Return how many of the runs found it, median R2 and median seconds; failed ones count."""
    good = rows[rows["status"] == "ok"]
    found = int((good["found"].astype(str) == "True").sum())
    if good.empty:
        return f"0/{len(rows)}", "", ""
    median = good[["test_r2", "seconds_taken"]].astype(float).median()
    return f"{found}/{len(rows)}", f"{median['test_r2']:.3f}", f"{median['seconds_taken']:.1f}"


def by_problem(rows: pd.DataFrame) -> pd.DataFrame:
    """Return found, R2 and seconds of every problem and method."""
    methods = ordered(rows["method"].unique(), BY_METHOD)
    table: dict[str, dict[str, str]] = {}
    groups: Any = rows.groupby(["dataset", "seconds"])
    for (name, seconds), problem in groups:
        line = table.setdefault(f"{name}, {seconds:g} s", {})
        for method in methods:
            numbers = counted(problem[problem["method"] == method])
            for what, text in zip(("found", "R2", "s"), numbers, strict=True):
                line[f"{method} {what}"] = "" if numbers[0] == "0/0" else text
    known = [f"{name}, {seconds:g} s" for name, seconds in SUITE.items()]
    frame: pd.DataFrame = pd.DataFrame.from_dict(table, orient="index")
    full: pd.DataFrame = frame.reindex(ordered(table, known)).fillna("")
    return full


def by_width(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the same in one cell, by method and number of features, where there are several."""
    names = {name: parse(name) for name in rows["dataset"].unique()}
    rows = rows.assign(
        d=[int(names[n]["d"]) for n in rows["dataset"]],
        form=[" ".join(w for w in n.split() if w[:2] not in ("d=", "n=")) for n in rows["dataset"]],
    )
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


def parts(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield titles and tables."""
    seeds = rows["seed"].nunique()
    yield f"found of runs, median R2, median seconds; up to {seeds} seeds", by_problem(rows)
    growth = by_width(rows)
    if len(growth):
        yield "the same by number of features", growth


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="problems, by * and ?")
    parser.add_argument("--seconds", type=float, help="for all problems, instead of their own")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2, help="threads of one run")
    parser.add_argument("--processes", type=int, default=1, help="runs at the same time")
    parser.add_argument("--results", type=Path, default=Path("results/highdim.csv"))
    parser.add_argument("--retry", action="store_true", help="try failed runs again")
    parser.add_argument("--table", action="store_true", help="print the results and stop")
    parser.add_argument("--markdown", type=Path, help="write the results to a file and stop")
    return parser.parse_args()


def main() -> None:
    o = options()
    if o.table or o.markdown:
        rows = last_rows(o.results)
        if rows.empty:
            raise SystemExit(f"there are no results in {o.results}")
        tables = list(parts(rows))
        if o.table:
            print("\n\n".join(f"{title}\n{frame.to_string()}" for title, frame in tables))
        if o.markdown:
            text = "\n\n".join(as_markdown(title, frame) for title, frame in tables)
            o.markdown.write_text(text + "\n", encoding="utf-8")
        return
    run(jobs(o, chosen(o.only, o.seconds)), o.results, o.processes, COLUMNS)


if __name__ == "__main__":
    main()
